// SPDX-License-Identifier: Apache-2.0
// Bilateral constraints: one row each, redundant ones allowed.
//
//   holonomic      g(t, q) = 0,          A = ∂g/∂q · T(q),    rate = -∂g/∂t
//   nonholonomic   a(t, q)·v = β(t, q),  A = a,               rate = β
//
//   A v = rate                           velocity level                                     (m rows over nv velocities)
//   A v' = -bias                         acceleration level, bias = d/dt(A v - rate) at constant v
//   M v' = h + Aᵀ λ                      λ is the force on the system along the row, positive as a reaction r
//                                        (papers 2 and 4 and the IVP test set write -Gᵀ Λ: Λ = -λ)
//
// `viscoelastic` replaces the row by a stiff spring-damper, Λ = (c/ε) z + (d/ε^κ) z', z' = A v - rate (paper 4, eq. 5,
// κ = `exponent`); schemes that treat constraints as ideal leave it alone. With a `limit` the force stays within it and
// z slips (laws/viscoelastic_law.hpp); two rows with the same word `disk` share the limit of the first, |(Λ_1, Λ_2)| <=
// limit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stickslip/common/vector.hpp"
#include "stickslip/model/state_function.hpp"

namespace stickslip {

/// Units with z in metres: c [N/m], d [N s/m]; ε and κ have none.
struct ViscoelasticConstraint {
  double stiffness = 1;                               ///< c > 0
  double damping = 0;                                 ///< d >= 0
  double epsilon = 1e-4;                              ///< ε > 0
  double exponent = 0.5;                              ///< κ >= 0
  bool prepared = true;                               ///< z(0) = ε Λ(0)/c with the ideal Λ(0); false: z(0) = 0
  std::optional<StateFunction> limit = std::nullopt;  ///< of |Λ|, of t, q, v, >= 0 [N]; none: a constraint
  std::string disk = {};                              ///< rows of the same disk share one limit; empty: a row by itself
};

struct ConstraintElement {
  std::string name = {};
  bool holonomic = true;
  std::optional<ViscoelasticConstraint> viscoelastic = std::nullopt;
};

/// Throws InputError naming the constraint, the key and the value that is out of range.
void validate(const ConstraintElement& element);

/// All rows of one configuration. Memory is kept from call to call.
struct ConstraintRows {
  DenseMatrix A;    ///< m × nv
  Vector rate;      ///< A v = rate
  Vector position;  ///< g; 0 where nonholonomic
};

}  // namespace stickslip
