// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/position_function.hpp"

#include <fmt/format.h>

#include "stickslip/common/error.hpp"
#include "stickslip/model/function_shape.hpp"

namespace stickslip {

void require_position_function(const StateFunction& f, const std::string& what, const Kinematics& kinematics) {
  const Index nq = kinematics.nq(), nv = kinematics.nv();
  if (nq == nv) return require_arguments(f, what, Arguments::time_position, kinematics.coordinates());
  if (f.is_constant()) return;
  if (f.table()) throw InputError(fmt::format("{} cannot be a table over time; give an expression", what));
  require_sizes(f, what, nq, nv);
  for (const Index slot : f.variables_used())
    if (slot > nq)
      throw InputError(fmt::format(
          "{} depends on {}; it may depend on t, the coordinates and parameters only", what,
          slot > nq + nv ? "the index i" : "v_" + kinematics.velocities()[static_cast<std::size_t>(slot - 1 - nq)]));
}

}  // namespace stickslip
