// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/function_shape.hpp"

#include <fmt/format.h>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

const char* describe(Arguments allowed) {
  switch (allowed) {
    case Arguments::position:
      return "the coordinates and parameters";
    case Arguments::time_position:
      return "t, the coordinates and parameters";
    case Arguments::position_velocity:
      return "the coordinates, their velocities and parameters";
    case Arguments::time_position_velocity:
      return "t, the coordinates, their velocities and parameters";
  }
  return "";
}

}  // namespace

void require_sizes(const StateFunction& f, const std::string& what, Index nq, Index nv) {
  const StateCallable* function = f.callable();
  if (function && !function->fits(nq, nv))
    throw InputError(fmt::format("{} is a function of {} positions and {} velocities, but the system has {} and {}",
                                 what, function->nq(), function->nv(), nq, nv));
}

void require_arguments(const StateFunction& f, const std::string& what, Arguments allowed,
                       const std::vector<std::string>& coordinates) {
  if (f.is_constant()) return;
  const Index n = static_cast<Index>(coordinates.size());
  const bool time = allowed == Arguments::time_position || allowed == Arguments::time_position_velocity;
  const bool velocity = allowed == Arguments::position_velocity || allowed == Arguments::time_position_velocity;
  const auto refuse = [&](const std::string& argument) {
    throw InputError(fmt::format("{} depends on {}; it may depend on {} only", what, argument, describe(allowed)));
  };
  if (f.table()) {
    if (!(time && velocity)) throw InputError(fmt::format("{} cannot be a table over time; give an expression", what));
    return;
  }
  require_sizes(f, what, n, n);
  for (const Index slot : f.variables_used()) {
    if (slot == 0 && !time) refuse("t");
    if (slot > n && slot <= 2 * n && !velocity) refuse("v_" + coordinates[static_cast<std::size_t>(slot - 1 - n)]);
    if (slot > 2 * n) refuse("the index i");
  }
}

}  // namespace stickslip
