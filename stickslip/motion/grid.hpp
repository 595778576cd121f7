// SPDX-License-Identifier: Apache-2.0
// When the steps of a run end: t_n = start + n h, the last one at end_time.
#pragma once

#include <vector>

#include "stickslip/motion/multiples.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

/// Ends of the steps. Schemes that choose their own steps are asked for the times of the output alone.
class Grid {
 public:
  explicit Grid(const SimulationOptions& options);
  long steps() const { return steps_; }
  double step() const { return step_; }
  double end(long n) const {
    if (n + 1 >= steps_) return end_;
    return times_.empty() ? start_ + multiples_(static_cast<double>(n + 1)) : times_[static_cast<std::size_t>(n)];
  }
  /// The step that is under way at time t; steps() if there is none.
  long step_at(double t) const;

 private:
  double start_, end_, step_ = 0;
  long steps_ = 0;
  std::vector<double> times_;
  Multiples multiples_{1};
};

}  // namespace stickslip
