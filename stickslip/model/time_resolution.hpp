// SPDX-License-Identifier: Apache-2.0
// How long a step may be so that no function of time hides a feature inside it.
//
// Every part of a model's expressions that depends on time and not on the state (and on nothing that contains it: the
// largest such parts) is enclosed over a stretch of time by interval arithmetic, with its derivative of order n
// (interval.hpp). On a step of length h inside
//
//   |f - its polynomial of degree n - 1| <= sup |f⁽ⁿ⁾|/n! hⁿ <= accuracy · max(sup |f| on the stretch, tiny · sup |f|
//   of the run)
//
// holds for all of them: a proof, not a sample. A pulse 1e-6 of the run long is found, however long the steps before it
// are. What depends on time only together with the state (sin(5 t + x)) is not covered: its parts of time alone are.
// The index i counts as each of its values. Where a function is not smooth the stretch shrinks to round-off of t.
#pragma once

#include <memory>
#include <vector>

#include "stickslip/common/interval_series.hpp"
#include "stickslip/model/expression_tree.hpp"
#include "stickslip/model/state_function.hpp"
#include "stickslip/model/system.hpp"

namespace stickslip {

/// For integrators with error control: steps on which functions of time are polynomials of degree 7 to a hundredth.
inline constexpr int kResolvedOrder = 8;
inline constexpr double kResolvedAccuracy = 1e-2;

class TimeResolution {
 public:
  /// For runs in [from, to]. 2 <= order <= 24.
  TimeResolution(const System& system, double from, double to, int order, double accuracy);
  /// The largest t1 <= t_limit for which the above holds on [t, t1], nearly. `stuck` is set where functions change
  /// faster than t can be resolved, for longer than a kink.
  double until(double t, double t_limit);
  bool stuck() const;
  /// The longest step for which the above holds wherever it lies in [from, to], as one enclosure tells; 0: none known,
  /// negative: a function may even be without bound there.
  double longest_step(double from, double to) const;
  std::size_t parts() const { return parts_.size(); }

 private:
  struct Part {
    expression_detail::Tree tree;
    double floor = 0;                       // of |f|: below that nothing matters
    double from = 0, to = -1, longest = 0;  // a stretch, and the longest step on it
    int unresolved = 0;                     // stretches in a row that are as short as can be
  };
  void enclose(Part& part, double t, double t_limit);

  std::vector<Part> parts_;
  mutable std::vector<IntervalSeries> stack_;  // of an evaluation; kept for its memory
  double last_index_;
  int order_;
  double accuracy_;
};

}  // namespace stickslip
