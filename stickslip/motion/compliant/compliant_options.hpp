// SPDX-License-Identifier: Apache-2.0
// Options of the scheme `compliant` (compliant.hpp, quasistatic.hpp), and its description.
#pragma once

#include <string_view>

namespace stickslip {

struct SchemeDescription;

enum class CompliantIntegrator { automatic, explicit_, stiff, heun, rk4 };
std::string_view to_string(CompliantIntegrator integrator);
/// Throws InputError naming the known words.
CompliantIntegrator compliant_integrator_from(std::string_view name);

/// Field names are the keys of [run.compliant].
struct CompliantOptions {
  CompliantIntegrator integrator = CompliantIntegrator::automatic;
  bool quasistatic = false;       ///< inertia dropped (quasistatic.hpp)
  bool locate_switches = false;
  double epsilon = 1e-6;          ///< of contacts without compliance: K = m/ε [s²]
  double absolute_tolerance = 0;  ///< 0: a thousandth of the tolerance
  void validate() const;
  bool fixed_step() const { return integrator == CompliantIntegrator::heun || integrator == CompliantIntegrator::rk4; }
};

SchemeDescription compliant_description();

}  // namespace stickslip
