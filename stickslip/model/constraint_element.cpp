// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/constraint_element.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"

namespace stickslip {

void validate(const ConstraintElement& element) {
  if (!element.viscoelastic) return;
  const ViscoelasticConstraint& soft = *element.viscoelastic;
  const auto require = [&](bool holds, const char* key, double value, const char* range) {
    if (!holds || !std::isfinite(value))
      throw InputError(
          fmt::format("constraint '{}': viscoelastic.{} = {} must be {}", element.name, key, value, range));
  };
  require(soft.stiffness > 0, "stiffness", soft.stiffness, "> 0");
  require(soft.damping >= 0, "damping", soft.damping, ">= 0");
  require(soft.epsilon > 0, "epsilon", soft.epsilon, "> 0");
  require(soft.exponent >= 0, "exponent", soft.exponent, ">= 0");
}

}  // namespace stickslip
