// SPDX-License-Identifier: Apache-2.0
// The energetic impact law along its path (impact.hpp).
//
// One contact: the normal impulse p_N is the parameter.
//   u_T ≠ 0   dp_T/dp_N = -μ u_T/|u_T|
//   u_T = 0   dp_T/dp_N = argmin over |a| <= μ of ½ a·D_TT a + D_TN·a: it sticks where that stops u_T, and slips on, in
//             another direction, where it does not (slip reversal inside the impact)
//   W = ∫ u_N dp_N falls while u_N < 0 (compression) and rises afterwards; the impact ends when e² of what it fell by
//   has come back. While u_N < 0 the energy ½ u·D⁻¹ u falls at the rate |u_N| + μ|u_T|, so compression ends even where
//   friction presses the contact in (jam: D_NN - μ D_NT·u_T/|u_T| < 0 until the slip stops).
// With one tangent the path is made of at most a few straight pieces: solved in closed form.
//
// Several contacts: a law has to say how their normal impulses grow together. Here each is a spring of vanishing length
// that unloads with a stiffness 1/e² times that of loading, so that it gives back e² of its work (the bistiffness of
// Liu, Zhao and Brogliato 2008), and all have the same natural frequency (stiffness 1/D_NN): the answer does not depend
// on units or on how a gap is scaled.
//   dp_N/dτ = F,   dF/dτ = -u_N/D_NN (u_N < 0),   -u_N/(e² D_NN) (u_N > 0, F > 0);    F >= 0;   e = 0: F drops to 0
// A contact may be loaded again. The impact is over when no F is left and no contact approaches. For one contact the
// parameter does not matter: the path is that above. Integrated by Dormand and Prince 8(5,3) with every change of phase
// and every stop of a slip made the end of a step.
//
// Accuracy 1e-11 of the velocities (in units of sqrt(D_ii)) for one contact. Several: 1e-9; with two tangents 1e-4 in
// the direction in which a contact begins to slip that stuck before (a slow slip is taken along its acceleration).
// Restitution below 1e-6 counts as 0 where a path is integrated.
#pragma once

#include <array>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/status.hpp"
#include "stickslip/common/vector.hpp"
#include "stickslip/laws/set.hpp"

namespace stickslip {

/// One contact with at most one tangent. D: size × size, row-major; u before, p the impulse. False: no impulse ends the
/// impact (D singular, and no motion that it allows leaves).
bool solve_planar_energetic(double mu, double restitution, int size, const double* D, const double* u, double* p);

/// Any number of contacts with half_line and friction_cone sets, in any dimension. Memory is kept from call to call.
class EnergeticPath {
 public:
  void start(const DenseMatrix& D, const Vector& u);
  /// One after the other, in the order of the rows.
  void add(const Set& set, double restitution);
  /// success, not_converged or interrupted. p: the impulses.
  Status follow(double max_seconds, StopRequest stop, Vector& p);
  /// Did not end by itself: impacts repeat without end, weaker and weaker (below 1e-9 of the approach), or bodies are
  /// caught between contacts that load one another (5000 steps). What approaches still is for the caller to end without
  /// restitution.
  bool collapsed() const { return collapsed_; }

 private:
  enum class Phase : unsigned char { open, loads, unloads };
  struct Contact {
    int first = 0, tangents = 0;  ///< row of the normal; number of rows with friction
    double mu = 0;                ///< of the scaled components
    double slope = 1;             ///< stiffness of unloading; 0: e = 0
    Phase phase = Phase::open;
    bool stuck = false;
    double peak_u = 0, peak_F = 0;  ///< largest in this phase: what is small beside them is 0
  };
  void scale_rows();
  void velocity(const Vector& y, Vector& u) const;
  double force(std::size_t contact, const Vector& y) const;
  double slip_speed(const Contact& c, const Vector& u) const;
  void rate(const Vector& y, Vector& dy);
  void hold_stuck(const Vector& y, Vector& dp);
  double at_rest() const;
  void change_slip(Contact& c, double F) const;
  bool change_phase(std::size_t contact);
  /// False: nothing is left to happen. Leaves the rates at y in k_[0].
  bool settle_phases();
  bool only_echoes() const;
  double longest_step() const;
  double try_step(double h);
  bool overshoots();

  DenseMatrix D_;
  Vector scale_, u0_, y_, trial_, u_, u_rate_, u_trial_, u_stage_;
  std::array<Vector, 13> k_;
  std::vector<Contact> contacts_;
  int rows_ = 0;
  double speed_ = 0, approach_ = 0;  // largest before the impact: what velocities are measured by
  double size_ = 0;                  // of the terms that velocities are sums of: what round-off is measured by
  bool collapsed_ = false;
};

}  // namespace stickslip
