// SPDX-License-Identifier: Apache-2.0
// The motion of the event scheme over one period, as a map of states: y = (q, v, z) at t0 to y at t0 + T, through all
// events in between, with its derivative; z: lengths of springs in series with friction.
//
// Directions: at the start laws that stick hold their velocities and closed contacts their gaps, so y moves only along
//   Z = { (δq, δv, δz): normal rows of closed contacts and holonomic constraints · δq = 0; those, nonholonomic
//   constraints
//         and rows of laws that stick · δv = 0; sliders that slip: along their springs δz = 0 }
// Springs of sliders that stick are free: their lengths must come back. Where a slider is held for the whole period its
// place is given, and its spring follows, δz = row · δq. Along what is left out the map is constant: multipliers 0.
//
// The derivative is carried along the motion, through every event with its saltation (motion/event/event_tangent.hpp).
// Where that has none (grazing, two events at one instant) central differences of the motion stand in, with every
// number over its scale: each neighbour passes the events at its own times, so jumps of the derivative are part of
// them.
#pragma once

#include <functional>
#include <vector>

#include "stickslip/motion/event/event.hpp"
#include "stickslip/motion/sensitivity.hpp"
#include "stickslip/motion/step.hpp"
#include "stickslip/periodic/period_map_options.hpp"

namespace stickslip {

/// Empty, or why the event scheme does not take the system.
std::string event_refusal(const System& system);

class PeriodMap {
 public:
  /// The system must outlive this. Scales of q and v, > 0.
  PeriodMap(const System& system, double t0, Vector q_scale, Vector v_scale, const PeriodMapOptions& options);

  /// Seen after every part of the motion: a step to a requested time, or an event before it.
  using Watch = std::function<void(const StepRecord&)>;
  /// From `state` (its t counts) to t_end. `times`, ascending, are stopped at. False: `message` says why.
  bool flow(State state, double t_end, const std::vector<double>& times, const Watch& watch, StepRecord& record,
            const Variations* variations = nullptr);

  /// Directions at a state whose modes are known (nv rows for q, nv for v, those for z; scaled by the scales).
  /// `held`: laws whose positions are left out beside their velocities.
  DenseMatrix directions(const State& state, const std::vector<std::size_t>& held = {});
  /// ∂y(t0 + T)/∂y(t0) along the columns of Z, in scaled numbers. False where a neighbour cannot be followed.
  bool derivative(const State& start, double T, const DenseMatrix& Z, DenseMatrix& D);
  /// The last derivative was carried, not differenced.
  bool carried() const { return carried_; }
  bool difference_derivative(const State& start, double T, const DenseMatrix& Z, DenseMatrix& D);
  /// y of `to` over that of `from` in scaled numbers, and back.
  Vector difference(const State& to, const State& from) const;
  void displace(const Vector& scaled_step, State& state);

  const std::string& message() const { return message_; }
  bool exact() const { return exact_; }
  const System& system() const { return system_; }
  double t0() const { return t0_; }

 private:
  const std::vector<double>& breakpoints(double from, double to);
  void scale_springs();
  Vector scales() const;
  bool carried_derivative(const State& start, double T, const DenseMatrix& Z, DenseMatrix& D);

  const System& system_;
  double t0_;
  Vector q_scale_, v_scale_, z_scale_;
  PeriodMapOptions options_;
  ModeDynamics dynamics_;
  bool exact_ = false, carried_ = false, elastic_ = false;
  std::string message_;
  std::vector<double> breakpoints_;
  double searched_from_ = 0, searched_to_ = -1;
};

}  // namespace stickslip
