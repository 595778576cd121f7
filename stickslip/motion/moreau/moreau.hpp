// SPDX-License-Identifier: Apache-2.0
// Velocity-level time stepping with elasticity, damping and friction in one inclusion per step (paper 1's idea,
// unsplit).
//
//   v_θ = θ v1 + (1-θ) v0,   q1 = q0 + h v_θ,   q_θ = q0 + θ h v_θ
//   M (v1 - v0) = h [ f̄ - B v_θ - K q_θ + W (c γ(u_θ) - viscous u_θ) ] + W p,     u = Wᵀ v - w
//   -u1 ∈ N_{hC}(p)                                                                                             (step)
//
// i.e. problem (*) in primal form with A = M + hθ B' + h²θ² K, B' = B + Σ viscous W Wᵀ. p: impulse of the step [N s].
//   - The law holds at the END velocity u1. With the mean velocity instead, V and X keep their order but the multiplier
//     rings (total variation 75 to 467 where the exact one is 4.5).
//   - γ, state-dependent limits and state-dependent forces are iterated to convergence around (step); the slope of the
//     forces is part of A, so a stiff spring given as an expression converges as well.
//   - A stuck coordinate has v = w exactly, and q is constant to the last bit when the surface is at rest.
//
// Order: 2 in q and v for θ = 1/2 where f̄ is the exact mean and jumps of the force are step ends; reaction against its
// mid-step value 2 away from events; in L2 3/2 if all events are step ends, else 1/2 (one step holds a mixed mean).
// Natural velocity reversals inside a step reduce the order to 1; with locate_reversals the step is split consistently
// with the inclusion and order 2 holds through all events:
//
//   If u_i ≠ 0 at the start and u_i stops or changes sign over the step, find x in (0, h] with ψ_i(x) = 0, ψ_i(x) the
//   end velocity of law i after the same step with size x, its reaction frozen at -c_i sgn(u_i) and all other laws
//   solving their inclusion. Take the smallest x, set u_i = 0 exactly, go on with h - x. No split for i if ψ_i(h) has
//   not changed sign. Break-away at equal limits needs no treatment: the force is continuous there and the error O(h²).
//
// With static > dynamic limit the force jumps at break-away, so that is located too: the x at which the reaction of the
// held law, extrapolated to the end of the step from its means over both halves, reaches static_limit. Planar friction
// is not located and takes its direction from the end velocity: order 1 where the direction turns.
//
// Static > dynamic limit: a law at rest at the start of a (sub)step holds up to static_limit; where it gives way, the
// step is solved again with its limit lowered to `limit`. A law that comes to rest at a located reversal is at rest.
//
// Energy (θ = 1/2): the balance of step.hpp closes to round-off, because v_θ is the mean velocity of the step.
#pragma once

#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/force_sampler.hpp"
#include "stickslip/motion/friction_assembly.hpp"
#include "stickslip/motion/scheme.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip {

/// How a contact enters a step (moreau_contact.hpp).
enum class ContactRule { stabilised, velocity };
std::string_view to_string(ContactRule rule);
/// Throws InputError naming the known words.
ContactRule contact_rule_from(std::string_view name);

/// Times the tolerance: a step that ends there is counted by the audit and not repeated.
inline constexpr double kNearMiss = 100;

struct MoreauOptions {
  double theta = 0.5;            ///< in [1/2, 1]; 1/2 is order 2 and conserves energy
  bool locate_reversals = true;  ///< split steps at velocity reversals of one-component laws
  ForceSampling force = ForceSampling::mean;
  SolveOptions solver;
  double fixed_point_tolerance = 1e-14;  ///< change of v at which the iteration around (step) ends (VelocityIteration)
  int max_fixed_point = 200;
  /// Of the inclusion of a step with contacts, instead of solver.tolerance: velocity error at a contact over the
  /// fastest velocity that the contacts would have without reactions (moreau_contact.hpp). The scheme is of order 1 in
  /// h.
  double contact_tolerance = 1e-6;
  /// A step above its tolerance ends the run. false: up to kNearMiss times it goes on and is counted, above it is
  /// retried with smaller steps.
  bool strict = false;
  ContactRule contact_rule = ContactRule::stabilised;
  /// Largest penetration at the start that is corrected instead of refused [m]; 0: 1e-5 of the smallest shape or, where
  /// the gap is an expression, 5e-3 of its terms.
  double start_penetration = 0;
  int max_splits = 0;  ///< per step; 0: 20 + 10 per law
  void validate() const;
};

class MoreauScheme final : public Scheme {
 public:
  /// The system must outlive the scheme. `breakpoints`: times at which forces jump, ascending.
  MoreauScheme(const System& system, const MoreauOptions& options, std::vector<double> breakpoints, TimeSpan run);
  void start(StepRecord& record) override;
  StepOutcome step(double t_end, StepRecord& record) override;
  bool exchange(Memory& memory) override;

 private:
  /// A law with a reaction that is known (slipping in direction `sign`), or that is held whatever it takes.
  struct Frozen {
    Index law = -1;  ///< none
    double sign = 0;
    bool held = false;
  };
  void set_step_matrix(double h);
  void load_start_of_substep(const State& state);
  StepOutcome attempt(double h, Frozen frozen);
  StepOutcome solve_with_static_limits(double h, Frozen frozen);
  bool stopped_or_reversed(Index law) const;
  double end_velocity(double h, Index law, StepOutcome& outcome);
  /// static_limit minus the reaction of the held law at the end of a step of size h.
  double margin_to_break_away(double h, Index law, StepOutcome& outcome);
  /// Laws that may reverse, stop or break away from a static limit in the attempt just made; false if there are none.
  bool collect_candidates(double h);
  bool may_give_way(Index law, double h) const;
  void evaluate_limits_at(double share, double h);
  /// The earliest of their events in (0, h], or h and no law.
  std::pair<double, Frozen> earliest_event(double h, StepOutcome& outcome);
  void commit(double h, Frozen frozen, StepRecord& record);
  void record_modes(double t0, double t1, Frozen frozen, StepRecord& record);
  void record_energy(double h, StepRecord& record);

  const System& system_;
  const LinearPart& linear_;
  MoreauOptions options_;
  FrictionAssembly laws_;
  ForceSampler forces_;
  SystemWorkspace workspace_;

  SystemMatrix damping_;  // B' = B + viscous part of the laws
  SystemMatrix force_by_q_, force_by_v_;
  MatrixSum step_matrix_;
  double matrix_h_ = -1, sets_h_ = -1;
  unsigned long version_ = 0;
  bool iterates_ = false, nonlinear_ = false, circulatory_ = false, damped_ = false, damped_by_model_ = false;

  PrimalProblem problem_;
  PrimalWorkspace solver_;
  InclusionSolution solution_;

  // Start of the (sub)step.
  double t0_ = 0;
  const State* start_ = nullptr;  // the state of the record, until commit() changes it
  Vector Mv0_, w0_, u0_;
  std::vector<char> at_rest_, released_;
  std::vector<char> breaking_;  // a located break-away ended the last part: the limit is the dynamic one from here on
  std::vector<double> held_mean_;  // mean reaction of the last part in which the law was held; NaN otherwise
  std::vector<Index> reversing_, giving_way_;  // candidates of the attempt
  std::vector<double> stop_time_;              // of a law brought to rest at a located reversal; NaN otherwise

  // The attempt.
  Vector base_, f_, v_theta_, q_theta_, w1_, w_theta_, u_theta_, weakening_, previous_v_, scratch_;
  double f_h_ = -1, f_t_ = 0;  // the step that f_ belongs to
  ResidualWorkspace residuals_;
  VelocityIteration iteration_;
  int problems_ = 0;
  int splits_ = 0;  // of the step under way
};

}  // namespace stickslip
