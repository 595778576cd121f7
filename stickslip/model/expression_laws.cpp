// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/expression_laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stickslip/common/error.hpp"
#include "stickslip/model/function_shape.hpp"

namespace stickslip {

void check_coordinates(const std::vector<std::string>& coordinates) {
  if (coordinates.empty()) throw InputError("the model has no coordinates");
  if (std::set<std::string>(coordinates.begin(), coordinates.end()).size() != coordinates.size())
    throw InputError("coordinates: two of them have the same name");
}

namespace {

/// What needs no state to be seen.
void check_limits(const FrictionElement& element) {
  const auto constant = [&](const StateFunction& limit, const char* key) {
    if (!limit.is_constant()) return 0.0;
    const double value = limit({});
    if (!(value >= 0) || !std::isfinite(value))
      throw InputError(fmt::format("friction '{}': {} = {} must be a finite number >= 0", element.name, key, value));
    return value;
  };
  const double limit = constant(element.limit, "limit");
  if (!element.static_limit) return;
  const double held = constant(*element.static_limit, "static_limit");
  if (element.limit.is_constant() && element.static_limit->is_constant() && held < limit)
    throw InputError(fmt::format("friction '{}': static_limit = {} must be >= limit = {}", element.name, held, limit));
}

}  // namespace

void check_laws(const std::vector<FrictionElement>& friction, const std::vector<ExpressionContact>& contacts,
                const std::vector<ExpressionConstraint>& constraints, Index coordinates) {
  std::set<std::string> names;
  const auto add_name = [&](const std::string& name) {
    if (!names.insert(name).second) throw InputError(fmt::format("two laws are named '{}'", name));
  };
  for (const FrictionElement& element : friction) {
    add_name(element.name);
    if (element.directions.empty() || element.directions.size() > 2)
      throw InputError(fmt::format("friction '{}' acts on {} directions; one or two are possible", element.name,
                                   element.directions.size()));
    for (const Direction& direction : element.directions)
      for (const auto& [coordinate, coefficient] : direction)
        if (coordinate < 0 || coordinate >= coordinates || !std::isfinite(coefficient))
          throw InputError(fmt::format("friction '{}': direction entry {} of coordinate {} is out of range",
                                       element.name, coefficient, coordinate));
    if (!(element.viscous >= 0) || !std::isfinite(element.viscous))
      throw InputError(fmt::format("friction '{}': viscous = {} must be >= 0", element.name, element.viscous));
    validate(element.weakening);
    check_limits(element);
    if (!(element.stiffness >= 0) || !std::isfinite(element.stiffness))
      throw InputError(fmt::format("friction '{}': stiffness = {} must be a finite number >= 0; 0: a rigid law",
                                   element.name, element.stiffness));
    if (element.elastic() && (element.static_limit || element.weakening.shape != WeakeningShape::none))
      throw InputError(
          fmt::format("friction '{}': a law with stiffness (spring and slider in series) takes one constant or varying "
                      "limit, no static_limit and no weakening; leave these out",
                      element.name));
    require_sizes(element.limit, fmt::format("friction '{}': limit", element.name), coordinates, coordinates);
    if (element.static_limit)
      require_sizes(*element.static_limit, fmt::format("friction '{}': static_limit", element.name), coordinates,
                    coordinates);
    for (const StateFunction& w : element.surface_velocity)
      require_sizes(w, fmt::format("friction '{}': surface_velocity", element.name), coordinates, coordinates);
  }
  for (const ExpressionContact& contact : contacts) add_name(contact.law.name);
  for (const ExpressionConstraint& constraint : constraints) add_name(constraint.element.name);
}

LawSet expression_laws(std::vector<FrictionElement> friction, std::vector<ExpressionContact> contacts,
                       std::vector<ExpressionConstraint> constraints, const Kinematics& kinematics) {
  std::unique_ptr<ContactSource> contact_source;
  std::unique_ptr<ConstraintSource> constraint_source;
  if (!contacts.empty()) contact_source = std::make_unique<ExpressionContacts>(std::move(contacts), kinematics);
  if (!constraints.empty())
    constraint_source = std::make_unique<ExpressionConstraints>(std::move(constraints), kinematics);
  return LawSet(kinematics.nv(), std::move(friction), std::move(contact_source), std::move(constraint_source));
}

}  // namespace stickslip
