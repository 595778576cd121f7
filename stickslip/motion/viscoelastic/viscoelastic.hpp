// SPDX-License-Identifier: Apache-2.0
// Constraints as stiff spring-dampers (paper 4), dry friction as the same law with a limit.
//
//   Λ = (c/ε) z + (d/ε^κ) z',   z' = A v - rate,   M v' = h - Aᵀ Λ                          viscoelastic_dynamics.hpp
//
//   start     z(0) = ε Λ0/c with the ideal Λ0 ("prepared"), which removes the leading layer; z(0) = 0 as printed where
//             `prepared` is false
//   order     kappa = 1/2, prepared: q, v and, after the layer, Λ within O(ε) of the exact motion; Λ within O(√ε) of it
//             everywhere. z(0) = 0: v within O(√ε), Λ is off by |Λ0(0)| at t = 0+ whatever ε is
//             Friction: within O(ε) too, until a slip reverses or a sudden force starts one from rest; the spring then
//             has to be wound the other way, which takes a time of size √ε, and q and v stay off by O(√ε)
//   integrator  Radau IIA of order 5 with the analytic Jacobian, in scaled variables: its cost hardly grows as ε → 0.
//             dormand_prince: explicit, cost proportional to ε^(-1/2); it is there to be compared with
//
// Rows between the ends of steps are steps of their own from the last end (order 5), not the dense output of Radau,
// which is of order 3. Work and impulses are summed at the nodes of the method, with its order.
//
// Source: Fidlin, Deppler, Braun (paper 4). Departures: prepared start; any κ >= 0; holonomic constraints as well (then
// z = g + z(0)); limits. Rows must be independent (the source assumes it).
#pragma once

#include <memory>

#include "stickslip/common/radau.hpp"
#include "stickslip/model/time_resolution.hpp"
#include "stickslip/motion/scheme.hpp"
#include "stickslip/motion/smooth_stretch.hpp"
#include "stickslip/motion/viscoelastic/viscoelastic_dynamics.hpp"
#include "stickslip/motion/viscoelastic/viscoelastic_options.hpp"

namespace stickslip {

class ViscoelasticScheme final : public Scheme {
 public:
  /// The system must outlive the scheme. A stop request ends a step where the integrator has come to.
  ViscoelasticScheme(const System& system, const ViscoelasticOptions& options, double tolerance, TimeSpan span,
                     std::vector<double> breakpoints, StopRequest stop = nullptr);
  ~ViscoelasticScheme() override;
  /// Throws InputError naming the constraint where the start violates one, or rows depend on one another.
  void start(StepRecord& record) override;
  StepOutcome step(double t_end, StepRecord& record) override;
  /// The sums of work and impulse. The integrator begins anew: the motion agrees to the tolerance.
  bool exchange(Memory& memory) override;
  std::vector<AuditPart*> audit_parts() override { return {&audit_}; }

  /// Takes the integrator's own next step if it is not inside one; own_step_end() is its end, and step() up to there
  /// costs a row and no more. These steps resolve every layer: errors are measured on them.
  StepOutcome take_own_step(StepRecord& record);
  double own_step_end() const { return integrator_->t(); }

  /// Smallest b so far: eigenvalue of (d²/c) A M⁻¹ Aᵀ.
  double lowest_damping() const { return audit_.lowest_damping; }
  const OdeCounters& counters() const { return integrator_->counters(); }
  /// Λ at the state of the last record, constraints first.
  const Vector& force() const { return force_; }

 private:
  void begin(double t);
  void require_fast_springs(double start) const;
  StepOutcome advance(StepRecord& record, double row);
  bool find_changes(const StepRecord& record);
  bool slips_within();
  double excess_at(double t, std::size_t law);
  bool explained(const StepRecord& record);
  double energy_of(const Vector& y);
  void note_changes(StepRecord& record);
  void sample(double t, StepRecord& record);
  void reach(double t, Vector& y, Vector& sum);
  Mode mode_of_block(std::size_t block) const;

  const System& system_;
  ViscoelasticOptions options_;
  double tolerance_ = 0;
  TimeSpan span_;
  SmoothStretch stretch_;
  StopRequest stop_ = nullptr;
  TimeResolution resolution_;  // no pulse of a force between two steps
  ViscoelasticDynamics dynamics_;
  std::unique_ptr<OdeIntegrator> integrator_;
  std::unique_ptr<Radau> rows_integrator_;  // for times within its steps, where it is implicit
  std::string refusal_;
  bool in_step_ = false, restart_ = true;
  bool springs_ =
      false;  // in series with some slider, which relax far faster than anything moves: every step is checked
  bool switched_ = false;  // a law changed its branch within the last step
  struct ChangedMode {
    std::size_t block;
    Mode after;
  };
  std::vector<ChangedMode> changed_;  // in the last step
  std::vector<std::size_t> near_;     // laws that stick at its ends and are near their limits there
  State row_;
  ViscoelasticScales scales_;
  Vector scale_, q_start_, rate_, y_, force_, powers_, sum_, base_, reached_;
  /// How far the springs let the motion off the constraints on the way, and what that cost.
  struct Audit final : public AuditPart {
    const OdeIntegrator* integrator = nullptr;
    double position = 0, velocity = 0;  ///< largest violations
    double lowest_damping = kNoLimit;
    long evaluations = 0, seen = 0;  ///< of the steps that count; of the integrator when the last was counted
    void account(const AuditLedger& run) override;
    void exchange(Memory& memory) override;
    void add_items(const AuditLedger& run, const AuditLimits& limits, std::vector<AuditItem>& items) const override;
  } audit_;
};

}  // namespace stickslip
