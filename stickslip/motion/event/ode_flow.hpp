// SPDX-License-Identifier: Apache-2.0
// Flow of any system in one mode by an integrator with error control and dense output (common/ode.hpp).
//
//   y = (q, v, d),   y' = (T(q) v, v'(t, q, v, d), d')      v' and d' of mode_dynamics.hpp; d: springs in series
//
// Events: along the dense output of every step the monitors are sampled at Chebyshev points and replaced by their
// interpolation polynomial; where its last coefficients are not small the step is halved for this purpose. The state at
// an event is not read off the dense output, which is of lower order: the step is repeated up to the event and the
// event's time corrected with the result until it stays.
//
// Numbers of q that must obey a condition of their own (unit quaternions) are integrated as they are, and put back on
// it in every state that is handed out.
//
// After every step constraints and closed contacts are projected back onto their rows (position and velocity).
//
// Laws with two tangents: the direction of slip turns as fast as 1/|u|. While |u| falls, a step covers at most half of
// the time that is left until |u| would be 0, so the zero is approached and never stepped over; at 1e-11 of the largest
// speed since the slip began the law has stopped. A law that has just broken away keeps its first direction up to
// the speed that friction alone makes in 1e-8 of the run: below that the direction is not a number that means anything.
//
// A step is no longer than functions of time are polynomials of degree 7 to a hundredth of their largest value nearby
// (time_resolution.hpp): the error control sees every pulse, at its own scale.
//
// At a breakpoint forces are evaluated on the side of the segment.
#pragma once

#include <memory>

#include "stickslip/common/ode.hpp"
#include "stickslip/common/polynomial.hpp"
#include "stickslip/model/time_resolution.hpp"
#include "stickslip/motion/event/flow.hpp"
#include "stickslip/motion/integrator_kind.hpp"

namespace stickslip {

struct OdeFlowOptions {
  IntegratorKind integrator = IntegratorKind::dormand_prince;
  double relative_tolerance = 1e-9;
  double absolute_tolerance = 1e-12;  ///< of what a component is, or becomes in a hundredth of the run, at the start
  StopRequest stop = nullptr;
};

class OdeFlow final : public Flow {
 public:
  OdeFlow(ModeDynamics& dynamics, const OdeFlowOptions& options, std::vector<double> breakpoints, TimeSpan span);
  StepOutcome begin(double t, const Vector& q, const Vector& v, const std::vector<Mode>& modes,
                    const std::vector<LawStart>& start, double t_limit, bool continued) override;
  void sample(double t, FlowSample& sample) override;
  const OdeCounters& counters() const { return integrator_->counters(); }

 private:
  static constexpr double kMoment = 1e-2;  ///< of the run's length: what velocities become in it is their scale
  Vector largest_acceleration(const Vector& q, const Vector& v);
  void make_integrator(const Vector& q, const Vector& v);
  bool rate(double t, const Vector& y, Vector& dydt);
  void place(double t, const Vector& y);
  // Positions where the rows of constraints lose rank (ode_flow_passing.cpp).
  bool rate_on_rows(double t, const Vector& y, Vector& dydt);
  double time_to_singular_position(double t);
  double pass_singular_position(double t, double limit);
  bool ends_beside_singular_position(double stretch);
  double part_of_creep();
  void allow_for_round_off();
  void set_creeping(std::size_t law, bool creeping);
  double longest_step(double t, const Vector& y, std::string& stopped);
  double shortest_rebound(const std::vector<LawStart>& start, double longest) const;
  bool is_flight(const Monitor& monitor) const { return monitor.trigger == Trigger::touch && monitor.zeros > 0; }
  bool flight_is_round_off(const Monitor& monitor) const;
  void find_events(const std::vector<LawStart>& start, double h);
  bool is_singular(double t, const Monitor& monitor);
  void find_between(double from, double to, int depth, bool at_start);
  void polish(double h);
  bool falls_in_noise(double t) const;
  bool ends_at_a_limit(const std::vector<LawStart>& start);
  StepOutcome no_step(double t) const;

  ModeDynamics& dynamics_;
  OdeFlowOptions options_;
  std::vector<double> breakpoints_;
  std::unique_ptr<OdeIntegrator> integrator_;  // made at the first state, which has the scales
  PolynomialFit fit_{8};
  TimeResolution resolution_;
  std::vector<Mode> modes_;
  Vector q_, v_, qdot_, y_, event_y_;
  bool on_rows_ = false;  // stages are brought back onto the constraints: near positions where these lose rank
  Vector stage_, start_q_, start_v_;
  Vector scale_, loose_;                 // of the errors of (q, v); the same near such a position
  std::vector<double> samples_, found_;  // of find_between(): monitors at its points, their roots
  std::vector<double> largest_speed_;    // per law, since its slip began
  std::vector<char> creeping_;
  double after_ = 0, before_ = 0;  // forces are evaluated within
  bool at_event_ = false;
  bool unsolved_ = false;  // a stage of the step had no reactions in these modes
  bool curved_ = false;    // friction is no constant on the way to u = 0
  std::string refusal_;    // of the model, at the last state that could not be evaluated
  Index n_ = 0, nq_ = 0, springs_ = 0;
  Vector d_;
};

}  // namespace stickslip
