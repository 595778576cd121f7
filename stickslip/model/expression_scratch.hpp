// SPDX-License-Identifier: Apache-2.0
// Scratch space of systems whose forces or laws are expressions, kept in SystemWorkspace::own. All arrays follow the
// layout of StateFunction: (t, q, v, i).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/model/system.hpp"

namespace stickslip {

struct ExpressionScratch {
  std::vector<double> values;      ///< where expressions are evaluated
  std::vector<double> direction;   ///< along which they are differentiated
  std::vector<SecondDual> second;  ///< the same for second derivatives
  std::vector<double> entries;     ///< of one row over v
  DenseMatrix cholesky;
  PinnedFactor factor;

  explicit ExpressionScratch(const SystemInfo& info) {
    const auto slots = static_cast<std::size_t>(2 + info.nq() + info.nv());
    values.assign(slots, 0.0);
    direction.assign(slots, 0.0);
    second.assign(slots, SecondDual(0.0));
    entries.assign(static_cast<std::size_t>(info.nv()), 0.0);
  }
  void set_position(double t, const Vector& q) {
    values[0] = t;
    for (Index k = 0; k < q.size(); ++k) values[static_cast<std::size_t>(1 + k)] = q[k];
  }
};

/// Made at the first call; the workspace must be used with one system only.
inline ExpressionScratch& expression_scratch(SystemWorkspace& workspace, const SystemInfo& info) {
  if (!workspace.own) workspace.own = std::make_shared<ExpressionScratch>(info);
  return *static_cast<ExpressionScratch*>(workspace.own.get());
}

}  // namespace stickslip
