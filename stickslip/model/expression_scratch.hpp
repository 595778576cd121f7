// SPDX-License-Identifier: Apache-2.0
// Scratch space of parts whose functions are expressions. All arrays follow the layout of StateFunction: (t, q, v, i).
#pragma once

#include <algorithm>
#include <vector>

#include "stickslip/common/dual.hpp"
#include "stickslip/model/workspace.hpp"

namespace stickslip {

struct ExpressionScratch final : Scratch {
  std::vector<double> values;      ///< where expressions are evaluated
  std::vector<double> direction;   ///< along which they are differentiated
  std::vector<SecondDual> second;  ///< the same for second derivatives
  std::vector<double> entries;     ///< of one row over v, or of one displacement by q
  Vector qdot, gradient, row;      ///< q', slopes of one displacement by q and over v
  DenseMatrix hessian;             ///< by q

  ExpressionScratch(Index nq, Index nv) {
    const auto slots = static_cast<std::size_t>(2 + nq + nv);
    values.assign(slots, 0.0);
    direction.assign(slots, 0.0);
    second.assign(slots, SecondDual(0.0));
    entries.assign(static_cast<std::size_t>(std::max(nq, nv)), 0.0);
    qdot.setZero(nq);
    gradient.setZero(nq);
    row.setZero(nv);
  }
  void set_position(double t, const Vector& q) {
    values[0] = t;
    for (Index k = 0; k < q.size(); ++k) values[static_cast<std::size_t>(1 + k)] = q[k];
  }
};

}  // namespace stickslip
