// SPDX-License-Identifier: Apache-2.0
// One run, or one part of a run between two times, as a function of the unknowns and of the state that it starts from.
//
//   x, s  ↦  columns at the times asked for (column_layout.hpp), state at the end
//
//   x   values of the unknowns: numbers of the case, and the end time
//   s   state at the start of the part; that of the case where none is given
//
// Reactions of a row are means over a step. A scheme that chooses its own steps has none of its own: there they are
// means since the time before, or, with short_means, over a thousandth of the part before the row (kReactionPart).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stickslip/boundary/column_layout.hpp"
#include "stickslip/boundary/unknown.hpp"
#include "stickslip/motion/case.hpp"
#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

constexpr double kReactionPart = 1e-3;

/// When a part begins and ends, and when it is looked at. May depend on the unknowns: the end time is one.
struct SegmentPlan {
  double start_time = 0, end_time = 0;  ///< [s]
  std::vector<double> times = {};       ///< in [start_time, end_time], ascending; equal ones are possible
  bool reactions = false;               ///< they are used
  bool short_means = false;             ///< and wanted as means over a short time before each of `times`
};
using SegmentPlanOf = std::function<SegmentPlan(const Vector& unknowns)>;

struct SampledRun {
  Status status = Status::success;
  std::string message;
  std::vector<Vector> rows;  ///< one per time of the plan, in the order of the layout
  State final;
  /// A run that failed its audit has values all the same.
  bool usable() const { return status == Status::success || status == Status::audit_failed; }
};

/// What simulate() is handed.
struct SegmentInput {
  Case model;
  State start;
  SimulationOptions options;
};

class Segment {
 public:
  /// All must outlive it. `stop` is heard inside every run.
  Segment(const Case& base, const std::vector<Unknown>& unknowns, const ColumnLayout& layout, StopRequest stop)
      : base_(&base), unknowns_(&unknowns), layout_(&layout), stop_(stop) {}

  /// The rows as they come, the run as it ended.
  struct RawRun {
    std::vector<OutputRow> rows;
    Simulation simulation;
  };
  /// Throws InputError.
  RawRun simulate_rows(const SegmentPlan& plan, const SegmentInput& input, const Variations* variations) const;
  /// Of the rows of a run, the one at time t.
  static const OutputRow& row_at(const std::vector<OutputRow>& rows, double t);

  /// `start`: empty for that of the case. What the model does not take is a run that was refused, not an exception.
  SampledRun run(const SegmentPlan& plan, const Vector& unknowns, const std::optional<State>& start) const;
  /// Throws InputError where the model does not take the values. The options keep the output of the case.
  SegmentInput input(const SegmentPlan& plan, const Vector& unknowns, const std::optional<State>& start) const;

  const std::vector<Unknown>& unknowns() const { return *unknowns_; }
  const ColumnLayout& layout() const { return *layout_; }
  const Case& base() const { return *base_; }
  StopRequest stop() const { return stop_; }
  long runs() const { return runs_; }
  /// A run that was made elsewhere.
  void count_run() const { ++runs_; }

 private:
  const Case* base_;
  const std::vector<Unknown>* unknowns_;
  const ColumnLayout* layout_;
  StopRequest stop_;
  mutable long runs_ = 0;
};

/// s moved by p = (δq, δv, δz) in the tangent space, and the p from one state to another.
State moved_state(const Kinematics& kinematics, const State& state, const Vector& p);
Vector state_difference(const Kinematics& kinematics, const State& to, const State& from);

}  // namespace stickslip
