// SPDX-License-Identifier: Apache-2.0
// Which rows are kept of the steps of a run, and what they hold (simulate.hpp says what the rows are).
#pragma once

#include "stickslip/motion/multiples.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

class Recorder {
 public:
  /// All but the grid's step are kept by reference.
  Recorder(const System& system, const SimulationOptions& options, double grid_step, const Scheme& scheme,
           const SimulationHooks& hooks, Simulation& result);
  /// The row at the start, where one is due.
  void start(const StepRecord& record);
  /// Rows up to the checkpoint exist already.
  void go_on(const StepRecord& record);
  /// Sums of a step that is under way, and the start of what rows are interpolated in.
  void exchange(Memory& memory);
  /// One part of a step: rows that fall inside it are interpolated here, between the two states where nothing jumps.
  void part_done(const StepRecord& record, bool first, bool last);
  /// Over the step so far; zero before the first.
  const Vector& mean_reaction(const StepRecord& record);

 private:
  void prepare(const StepRecord& record);
  void add_part(const StepRecord& record, bool first, bool last);
  void join(const Vector& laws, const Vector& constraints, double factor, Vector& out) const;
  void skip_rows_up_to(double t);
  void look_at_row(std::size_t next);
  void write(const StepRecord& record, double t);
  void interpolate(const StepRecord& record, double t0, double h, double t);
  void differentiate(const StepRecord& record, double s);
  void finish(const StepRecord& record);

  const System& system_;
  const SimulationOptions& options_;
  double step_, margin_;
  Multiples multiples_;
  const Scheme& scheme_;
  const SimulationHooks& hooks_;
  Simulation& result_;
  bool every_step_ = true, whole_ = false, stepped_ = false;
  std::size_t next_ = 0;
  double due_ = HUGE_VAL;  // time of row next_
  double t_ = 0, duration_ = 0;
  Index constraints_ = 0;  // components of the rows that are reactions of constraints; they come last
  Vector q_, v_, reaction_, smooth_, mean_, column_, tangent_, rate_;
  DenseMatrix sensitivity_;
  OutputRow row_;
};

}  // namespace stickslip
