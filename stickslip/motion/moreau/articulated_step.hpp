// SPDX-License-Identifier: Apache-2.0
// A step of moreau where bodies hang on each other like a tree and friction acts on single velocities, in O(n) per
// iteration (articulation.hpp): neither M nor the Delassus matrix, which is M⁻¹ here, is formed.
//
//   a = (v1 - v0)/h,   v_θ = v0 + θ h a,   q_θ = q0 + θ h v_θ
//   R(a) = M(q_θ) a - h(t, q_θ, v_θ) = r,     r_i = 0 without a law,   -v1_i ∈ N_[-c_i, c_i](r_i) with one
//
// Unknown are a and the set of velocities that are held (v1_i = 0, then r_i = R_i is what holds it). Both are iterated
// together: e = r - R over the velocities that are not held, a += (M + diag(d))⁻¹ e with the factor of the first
// iteration; a law that would need more than c is let go, one that would turn around is held, and the factor is made anew
// (principal pivoting: Murty, Opsearch 11, 1974).
// It contracts by about (ω h/2)² + |v| h/2; where it does not, status not_converged leaves the step to Newton's method.
//
// With `locate`, laws that move at the start keep the direction of their reaction, and the earliest of them to come to rest
// ends the step: its length h is then an unknown of the same iteration, h = -v0_i/a_i. (moreau.hpp, locate_reversals.)
#pragma once

#include <vector>

#include "stickslip/common/status.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/friction_assembly.hpp"
#include "stickslip/motion/memory.hpp"

namespace stickslip {

struct ArticulatedOptions {
  double theta = 0.5;
  double tolerance = 1e-14;  ///< of the velocities, of what is left to change
  int max_iterations = 60;   ///< and as many more as there are velocities
};

class ArticulatedStep {
 public:
  /// Both must outlive it.
  ArticulatedStep(const System& system, const FrictionAssembly& laws, const ArticulatedOptions& options);
  /// The system has an articulation and laws that this step knows: one component on a velocity of its own, surface at rest,
  /// one limit of time alone, neither viscous nor weakening nor elastic; forces that do not depend on time.
  bool possible() const { return possible_; }

  /// From (q0, v0) at t0 over h; limits are those of the laws now.
  Status solve(double t0, double h, const Vector& q0, const Vector& v0, bool locate, SystemWorkspace& workspace);
  /// The step was taken: its acceleration serves the next one.
  void keep();
  void exchange(Memory& memory);

  double length() const { return h_; }  ///< of the step, which ends before h where a law comes to rest
  bool shortened() const { return h_ < asked_; }
  Index stopped() const { return stop_law_; }  ///< the law that did, or -1
  const Vector& velocity() const { return v1_; }     ///< v1
  const Vector& mean_velocity() const { return v_theta_; }
  const Vector& middle() const { return q_theta_; }
  double reaction(Index law) const { return r_[coordinate_[static_cast<std::size_t>(law)]]; }  ///< mean [N, N m]
  Index coordinate(Index law) const { return coordinate_[static_cast<std::size_t>(law)]; }
  /// max |e_i| D_i^(-1/2) and max load_i D_i^(-1/2) of the last iteration, D the pivots of the factor: e is what the
  /// balance was off before the last correction. Times h: momenta.
  double residual() const { return residual_; }
  double terms() const { return terms_; }
  int iterations() const { return iterations_; }
  /// T and U at the end of the step.
  Energies energies(const Vector& q1, const Vector& v1);

 private:
  bool laws_are_simple() const;
  void begin(bool locate);
  void predict();
  void weigh();
  bool states_change();
  void exchange_state(Index i);
  double correct();
  double adjust_length();
  Index earliest_stop() const;
  bool choose_stop();
  void finish();

  const System& system_;
  const FrictionAssembly& laws_;
  const Articulation* articulation_;
  ArticulatedOptions options_;
  bool possible_ = false;
  std::unique_ptr<Scratch> scratch_;
  std::vector<Index> coordinate_;  // of each law
  std::vector<int> law_of_;        // of each velocity, -1: none
  double t0_ = 0, h_ = 0, whole_ = 0, asked_ = 0;
  const Vector *q0_ = nullptr, *v0_ = nullptr;
  Vector a_, e_, R_, r_, load_, limit_, sign_, diagonal_, inverse_pivot_, q_theta_, v_theta_, v1_;
  std::vector<char> held_, loose_;  // loose: may change between rest and slip in the step
  Index stop_ = -1, stop_law_ = -1;
  double residual_ = 0, terms_ = 0;
  int iterations_ = 0;
  double last_change_ = 0;    // of the iteration
  bool checked_ = false;      // the states of the laws were, in this iteration
  bool may_shorten_ = false;  // the earliest stop is looked for while iterating
  bool sure_ = false;         // some law stops in the whole step, which was solved
  int exchanges_ = 0;
  Index worst_ = -1, last_wrong_ = -1;  // laws in the wrong state
  // Accelerations of steps before without a change of modes between them, the newest first, at the middles of the steps.
  static constexpr int kHistory = 3;
  Vector past_a_[kHistory];
  double past_time_[kHistory] = {};
  int past_count_ = 0;
  bool modes_changed_ = false;
  std::vector<char> held_before_;
};

}  // namespace stickslip
