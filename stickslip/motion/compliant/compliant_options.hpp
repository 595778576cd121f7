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
  bool quasistatic = false;  ///< inertia dropped (quasistatic.hpp)
  bool locate_switches = true;
  /// Of contacts without compliance and of friction laws: K = m/ε [s²]. 0: √ε is the power of ten below a hundredth of
  /// the time that the motion needs for its own size (CompliantDynamics::natural_time).
  double epsilon = 0;
  double absolute_tolerance = 0;  ///< 0: a thousandth of the tolerance
  void validate() const;
  bool fixed_step() const { return integrator == CompliantIntegrator::heun || integrator == CompliantIntegrator::rk4; }
};

SchemeDescription compliant_description();

}  // namespace stickslip
