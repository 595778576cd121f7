// SPDX-License-Identifier: Apache-2.0
// A step of moreau where bodies hang on each other like a tree and friction acts on single velocities, in O(n) per
// iteration (articulation.hpp): neither M nor the Delassus matrix, which is M⁻¹ here, is formed.
//
//   a = (v1 - v0)/h,   v_θ = v0 + θ h a,   q_θ = q0 + θ h v_θ
//   R(a) = M(q_θ) a - h(t, q_θ, v_θ) = r,     r_i = 0 without a law,   -v1_i ∈ N_[-c_i, c_i](r_i) with one
//
// An iteration evaluates R at a and solves R + (M + diag(d)) δ = r with the laws for δ, a ← a + δ. Of that linear
// problem (positive definite: one solution) the velocities that are held, v1_i = 0, are unknown too: beginning with
// those of the last iteration, laws that would need more than c are let go and those that would turn around are held,
// all at once as long as they become fewer, else one by one, the last first, which ends (block principal pivoting:
// Júdice, Pires, Comput. Oper. Res. 21, 1994; Murty, Opsearch 11, 1974). Mostly nothing changes, and the factor of the
// first iteration serves all. The iteration contracts by about (ω h/2)² + |v| h/2; where it does not, status
// not_converged leaves the step to Newton's method with its matrix.
//
// With `locate`, laws that move at the start keep the direction of their reaction, and the earliest of them to come to
// rest ends the step: its length h is then an unknown of the same iteration, h = -v0_i/a_i. Where that does not settle,
// h is the root of min_i v1_i(h)/v0_i, bracketed. Laws that stop and go on in the step count too; with the matrix they
// do not.
#pragma once

#include <memory>
#include <vector>

#include "stickslip/common/status.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/force_sampler.hpp"
#include "stickslip/motion/friction_assembly.hpp"
#include "stickslip/motion/memory.hpp"

namespace stickslip {

struct ArticulatedOptions {
  double theta = 0.5;
  ForceSampling force = ForceSampling::mean;
  double tolerance = 1e-14;  ///< of the velocities, of what is left to change
  int max_iterations = 60;
};

class ArticulatedStep {
 public:
  /// All must outlive it.
  ArticulatedStep(const System& system, const FrictionAssembly& laws, ForceSampler& forces,
                  const ArticulatedOptions& options);
  /// The system has an articulation, no constraints, and laws that this step knows: one component on a velocity of its
  /// own, surface at rest, one limit of time alone, neither viscous nor weakening nor elastic. Contacts are not looked
  /// at.
  bool possible() const { return possible_; }

  /// From (q0, v0) at t0 over h; limits are those of the laws now.
  Status solve(double t0, double h, const Vector& q0, const Vector& v0, bool locate, SystemWorkspace& workspace);
  /// Along some velocity the step goes back after `before`, the increment of the one before it, and dampers or motors
  /// there may take more than all momentum: the step with its matrix takes them later (moreau_damping.cpp).
  bool may_swing(const Vector& before);
  /// The step was taken: its acceleration serves the next one.
  void keep();
  /// Another step was taken instead.
  void forget() { past_count_ = 0; }
  void exchange(Memory& memory);

  double length() const { return h_; }  ///< of the step, which ends before h where a law comes to rest
  bool shortened() const { return h_ < asked_; }
  Index stopped() const { return stop_law_; }     ///< the law that did, or -1
  const Vector& velocity() const { return v1_; }  ///< v1
  const Vector& mean_velocity() const { return v_theta_; }
  const Vector& middle() const { return q_theta_; }
  double reaction(Index law) const { return r_[coordinate_[static_cast<std::size_t>(law)]]; }  ///< mean [N, N m]
  Index coordinate(Index law) const { return coordinate_[static_cast<std::size_t>(law)]; }
  /// max |e_i| D_i^(-1/2) and max load_i D_i^(-1/2) of the last iteration, D the pivots of the factor: e is what the
  /// balance was off before the last correction. Times h: momenta.
  double residual() const { return residual_; }
  double terms() const { return terms_; }
  /// T and U at the end of the step.
  Energies energies(const Vector& q1, const Vector& v1);

 private:
  bool laws_are_simple() const;
  void begin(bool locate);
  void predict();
  void evaluate();
  bool correct(double& change);
  bool solve_linear();
  void accelerate();
  int find_wrong();
  void exchange_state(Index i);
  bool settle(bool shorten);
  bool locate_stop();
  Index earliest_stop() const;
  double least_left(Index& law) const;
  double at_once() const;
  bool choose_stop();
  double adjust_length();
  void finish();

  const System& system_;
  const FrictionAssembly& laws_;
  ForceSampler& forces_;
  const Articulation* articulation_;
  ArticulatedOptions options_;
  bool possible_ = false, by_mean_ = false;
  std::unique_ptr<Scratch> scratch_;
  SystemWorkspace* workspace_ = nullptr;
  std::vector<Index> coordinate_;  // of each law
  std::vector<int> law_of_;        // of each velocity, -1: none
  double t0_ = 0, h_ = 0, asked_ = 0;
  const Vector *q0_ = nullptr, *v0_ = nullptr;
  Vector a_, x_, last_a_, last_x_, R_, r_, load_, limit_, sign_, diagonal_, inverse_pivot_, q_theta_, v_theta_, v1_,
      applied_, mean_;
  std::vector<char> held_, loose_;  // loose: may change between rest and slip in the step
  std::vector<Index> wrong_;        // velocities whose laws are in the wrong state
  Index stop_ = -1, stop_law_ = -1;
  bool factored_ = false, exchanged_ = false, compares_ = false;
  bool lost_ = false;  // the law that was to stop does not
  double residual_ = 0, terms_ = 0;
  // Accelerations of steps before without a change of modes between them, the newest first, at the middles of the
  // steps.
  static constexpr int kHistory = 3;
  Vector past_a_[kHistory];
  double past_time_[kHistory] = {};
  int past_count_ = 0;
  bool modes_changed_ = false;
  std::vector<char> held_before_;
};

}  // namespace stickslip
