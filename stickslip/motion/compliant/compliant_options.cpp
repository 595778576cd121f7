// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/compliant_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/words.hpp"

namespace stickslip {

namespace {
constexpr Words<CompliantIntegrator, 5> kIntegrators{"integrator", {"automatic", "explicit", "stiff", "heun", "rk4"}};
}  // namespace

std::string_view to_string(CompliantIntegrator integrator) { return kIntegrators.of(integrator); }
CompliantIntegrator compliant_integrator_from(std::string_view name) { return kIntegrators.from(name); }

void CompliantOptions::validate() const {
  if (!(epsilon >= 0) || !std::isfinite(epsilon))
    throw InputError(fmt::format("run.compliant.epsilon = {} must be > 0 [s^2], or 0: chosen", epsilon));
  if (!(absolute_tolerance >= 0) || !std::isfinite(absolute_tolerance))
    throw InputError(fmt::format("run.compliant.absolute_tolerance = {} must be >= 0", absolute_tolerance));
}

}  // namespace stickslip
