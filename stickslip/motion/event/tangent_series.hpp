// SPDX-License-Identifier: Apache-2.0
// Derivatives of an exact flow (taylor_flow.hpp) over one of its segments, as series in the same s = (t - t0)/h.
//
//   X(t) = Φ(t) X(t0) + ∂φ/∂p            φ the motion from the same start, Φ its linear part
//
// Φ X(t0): the same recursion without known forces. ∂φ/∂p_j: the weighted sum of the series of the neighbouring systems
// from the same start; the start cancels. Neighbours whose forces jump at other times begin at the time that lies
// between their jumps as t0 does between ours; the response to -(f', w') times that shift takes it off again.
#pragma once

#include <memory>
#include <vector>

#include "stickslip/motion/event/mode_neighbourhood.hpp"
#include "stickslip/motion/event/taylor_flow.hpp"

namespace stickslip {

class TangentSeries {
 public:
  /// The neighbourhood must outlive this object; TaylorFlow::takes() must hold for all of its systems.
  TangentSeries(ModeNeighbourhood& neighbourhood, const std::vector<double>& breakpoints, TimeSpan span);
  /// X: derivatives of (q, v) at t0, one column per unknown.
  void begin(double t0, double h, const Vector& q, const Vector& v, const std::vector<Mode>& modes,
             const DenseMatrix& X);
  void evaluate(double t, DenseMatrix& X) const;

 private:
  ModeNeighbourhood& neighbourhood_;
  TaylorFlow response_;
  std::vector<std::vector<std::unique_ptr<TaylorFlow>>> beside_;  // as in the neighbourhood
  std::vector<DenseMatrix> series_;                               // per unknown: rows q, v; one column per power of s
  double t0_ = 0, h_ = 1;
};

}  // namespace stickslip
