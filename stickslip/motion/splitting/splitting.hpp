// SPDX-License-Identifier: Apache-2.0
// Operator splitting with a friction multiplier: paper 1 (Glowinski, Shiau, Kuo, Nasser 2004), equations (2.3)-(2.7),
// (3.12).
//
// Lie step of size τ, n = 0..N-1 (the paper's loop starts at 1, which does not fit its initial data):
//   friction  (F)  P substeps of size τ_f = τ/P:   M V⁺ = M V + τ_f C γ(V) + τ_f f + W p,   -u(V⁺) ∈ N_{τ_f C}(p)
//                  V^{n+1/2} = V⁺ of the last substep; positions are held
//   elastic   (E)  M X'' + B X' + K X = 0 over τ, centred (implicit midpoint):
//                  (M + τ/2 B + τ²/4 K) V_m = M V^{n+1/2} - τ/2 K X^n,   X^{n+1} = X^n + τ V_m,   V^{n+1} = 2 V_m -
//                  V^{n+1/2}
// γ is evaluated at the start of each friction substep, as printed. f at the end of the substep as printed (`end`), or
// its mean. Damping, which the paper does not have, is part of the elastic step.
//
// Variants: `lie` = F then E; `symmetrised` = E/2 F E/2; `friction_first` = F/2 E F/2. All have order 1 in X and V: the
// symmetrised ones have smaller constants but the same creep in stick. λ converges in L2 with order 1/2 only, because
// it jumps; away from events with order 1.
//
// Friction with a spring in series (friction_element.hpp) is part of the elastic step: its force at the middle,
//   r = -k (d + τ/2 (u_m - u_s)),   -u_s ∈ N_C(r),    u_m = Wᵀ V_m - w
// makes the step a problem (*) for V_m and the sliders' velocities u_s, which are coordinates without mass there:
//   [A + κ W Wᵀ, -κ W; -κ Wᵀ, κ] (V_m, u_s) = (b - W g_s, g_s + p),   κ = τ² k/4,  g_s = τ k/2 d - κ w,  p = τ/2 r
// with A V_m = b the step without it; d at the end by return mapping (elastic_friction.hpp). Order 2 in itself.
//
// In stick the elastic half leaves V^{n+1} = -τ M⁻¹ K X, not 0, and moves X by O(τ²) per step: V^{n+1/2}
// (OutputRow::friction_velocity) is the velocity that obeys the law, and modes and events are read off it.
//
// Energy: work is counted with the mean velocity of each substep, so the balance of step.hpp closes to round-off (K
// symmetric); what the implicit friction step dissipates beyond the law at its end velocity is part of friction_loss.
//
// friction = "exact": problem (*) by the active set, to round-off. "multiplier": the paper's iteration (4.14)-(4.16),
// with the bound of Theorem 4.1 computed and enforced (solvers/projected_iteration.hpp); rho in the paper's units.
#pragma once

#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/motion/elastic_friction.hpp"
#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/force_sampler.hpp"
#include "stickslip/motion/friction_assembly.hpp"
#include "stickslip/motion/scheme.hpp"
#include "stickslip/motion/splitting/splitting_options.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip {

class SplittingScheme final : public Scheme {
 public:
  SplittingScheme(const System& system, const SplittingOptions& options, std::vector<double> breakpoints, TimeSpan run);
  void start(StepRecord& record) override;
  StepOutcome step(double t_end, StepRecord& record) override;
  bool exchange(Memory& memory) override;
  void add_to_row(OutputRow& row) const override;
  std::vector<AuditPart*> audit_parts() override { return {&momentum_, &stick_}; }
  /// Iterations of all friction problems so far (the paper counts them per step).
  long iterations() const { return iterations_; }

 private:
  StepOutcome friction_flow(double t0, double duration, StepRecord& record);
  StepOutcome elastic_flow(double t0, double tau, StepRecord& record);
  void start_springs(StepRecord& record);
  StepOutcome stretch_springs(double t0, double tau, StepRecord& record);
  void set_spring_problem(double tau);
  void record_springs(double t1, double tau, StepRecord& record);
  void set_elastic_matrix(double tau);
  void record_modes(double t0, double t1, StepRecord& record);

  const System& system_;
  const LinearPart& linear_;
  SplittingOptions options_;
  FrictionAssembly laws_;
  ElasticFriction springs_{laws_};
  PrimalProblem spring_problem_;  // of V_m and the sliders
  PrimalWorkspace spring_solver_;
  InclusionSolution spring_solution_;
  SystemMatrix spring_matrix_;
  std::vector<Index> sliders_;  // component of each among those of the laws
  Vector slider_stiffness_;
  double spring_tau_ = -1;
  ForceSampler forces_;
  SystemWorkspace workspace_;
  SystemMatrix damping_;
  MatrixSum elastic_matrix_;
  PinnedFactor elastic_factor_;
  std::vector<char> nothing_pinned_;
  double tau_ = -1, elastic_tau_ = -1;
  PrimalProblem problem_;
  PrimalWorkspace solver_;
  InclusionSolution solution_;
  SolveOptions solve_options_;
  std::vector<char> released_, at_rest_;
  Vector f_, w_, u_, weakening_, scratch_, mean_v_;
  Vector friction_velocity_;  // V^{n+1/2}
  ResidualWorkspace residuals_;
  MomentumAudit momentum_;
  StickAudit stick_;
  long iterations_ = 0;
  bool damped_ = false;
};

}  // namespace stickslip
