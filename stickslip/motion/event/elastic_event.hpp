// SPDX-License-Identifier: Apache-2.0
// Scheme `event` where every friction law has a spring in series (elastic dry friction, Jenkins): the deformations d are
// states, and the motion is an ordinary differential equation whose right side changes its form at located events.
//
//   M v' = h(t, q, v) + W r,  q' = v,   r = -k d                        of every law, one component
//   stick   d' = u = Wᵀ v - w,   |k d| <= c        until k |d| = c:     slip
//   slip    d = ±c/k,            ± u > 0           until u = 0:         stick
//
// r is continuous, so no mode has to be decided: the one after an event is the other one. By an integrator with error
// control (Dormand-Prince, order 8); events along its dense output, the step repeated up to the event.
//
// Energy: ½ k d² counts as potential; what the sliders take is the friction loss.
//
// Taken: laws with a constant limit, no weakening, no viscous part, no static limit; positions that are numbers; no
// contacts, no constraints, no rigid friction beside them (`moreau` takes all of these).
#pragma once

#include <memory>
#include <optional>

#include "stickslip/common/dormand_prince.hpp"
#include "stickslip/motion/event/mode_dynamics.hpp"
#include "stickslip/motion/scheme.hpp"
#include "stickslip/motion/time_span.hpp"

namespace stickslip {

bool has_elastic_friction(const System& system);
/// Empty, or why a system with elastic friction is not taken.
std::string elastic_event_refusal(const System& system);

class ElasticEventScheme final : public Scheme {
 public:
  /// The system must outlive the scheme. tolerance: relative, of the integrator.
  ElasticEventScheme(const System& system, double tolerance, TimeSpan span, std::vector<double> breakpoints,
                     StopRequest stop);
  void start(StepRecord& record) override;
  StepOutcome step(double t_end, StepRecord& record) override;

 private:
  struct Law {
    double k = 0, c = 0;  ///< stiffness, limit
  };
  bool rate(double t, const Vector& y, Vector& dydt);
  /// Falls below 0 where the mode of law j ends.
  double monitor(std::size_t j, double t, const Vector& y);
  double velocity(std::size_t j, double t, const Vector& y);
  void make_integrator(const State& state);
  /// First event of the step just made; its law. Shortens the step to it.
  std::optional<std::size_t> find_event(double& t, Vector& y);
  void change_mode(std::size_t j, double t, Vector& y, StepRecord& record);
  void accumulate(double from, double to, StepRecord& record);
  void energies(StepRecord& record);
  void store(double t, const Vector& y, StepRecord& record) const;

  const System& system_;
  ModeDynamics dynamics_;
  double tolerance_;
  TimeSpan span_;
  std::vector<double> breakpoints_;
  StopRequest stop_;
  std::vector<Law> laws_;
  std::vector<Mode> modes_;
  Index n_;
  double after_ = 0, before_ = 0;  ///< forces are evaluated between these: on the side of the segment
  bool restart_ = true;
  std::unique_ptr<DormandPrince> integrator_;
  Vector y_, q_, v_, f_, w_, node_, trial_;
};

}  // namespace stickslip
