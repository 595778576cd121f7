// SPDX-License-Identifier: Apache-2.0
// The contacts of cases beside the one that runs, along every unknown: what a number of the model changes in the data
// of the contacts and in the balance of forces at a state, the forces, deformations and pieces staying as they are.
//
//   ∂F/∂p = Σ weight · F(neighbour)
//
// Where an unknown moves the times b_i at which forces jump or bend, a neighbour is asked at the time τ of its own that
// lies between its breakpoints as t does between those of the case (piecewise linear, ends of the run fixed). The sum
// is then ∂F/∂p + φ ∂F/∂t with the shift φ(t) = Σ weight · τ(neighbour): a derivative along the shifted time, for which
// breakpoints rest. S̃ = ∂x/∂p + φ x' is smooth over them; ∂x/∂p jumps by (x'⁻ - x'⁺) db_i/dp.
#pragma once

#include <memory>
#include <vector>

#include "stickslip/motion/compliant/compliant_dynamics.hpp"
#include "stickslip/motion/sensitivity.hpp"
#include "stickslip/motion/time_span.hpp"

namespace stickslip {

class CompliantNeighbours {
 public:
  /// Both must outlive this object. variations may be null: no unknowns.
  CompliantNeighbours(CompliantDynamics& dynamics, const Variations* variations)
      : dynamics_(dynamics), variations_(variations) {}

  Index unknowns() const { return variations_ ? variations_->size() : 0; }
  /// At the start; epsilon: of laws without a compliance of their own.
  void make(const State& start, double epsilon);
  /// After make(): times of the case that the neighbours have as well, each at its own; others are not shifted.
  void follow_breakpoints(const std::vector<double>& times, TimeSpan run);
  /// φ(t), and its slope in the stretch that holds t.
  struct Shift {
    double value = 0, slope = 0;
  };
  Shift shift(double t, Index unknown) const;
  /// It moves some breakpoint.
  bool shifts(Index unknown) const;
  /// After the slots of the contacts have changed; after what they hold has.
  void follow();
  void share_holds();
  /// Law whose coefficient of friction the unknown is, of contacts that stay (law_number.hpp); -1: it is none. Its
  /// slope is known without neighbours.
  int coefficient_of(Index unknown) const { return coefficients_[static_cast<std::size_t>(unknown)]; }
  /// Slopes by the unknown at the placed state. Null: nothing but the start depends on it.
  CompliantDynamics::DataChange* slope(double t, Index unknown);
  /// Σ weight f(contacts) with the neighbours placed at the state of the dynamics and δ, on the pieces given, if any.
  template <class F>
  double sum(double t, Index unknown, const Vector& delta, const std::vector<ContactPieces>& pieces, F&& f);

 private:
  struct Neighbour {
    std::unique_ptr<CompliantContacts> contacts;
    double weight = 0;
    const System* system = nullptr;
    SystemWorkspace* workspace = nullptr;
    std::vector<double> knots = {};  // ends of the run and its breakpoints; empty: time is not shifted
  };
  void set_coefficient(int law);
  std::size_t stretch_of(double t) const;
  double own_time(const Neighbour& near, double t) const;
  CompliantDynamics& dynamics_;
  const Variations* variations_;
  std::vector<std::vector<Neighbour>> neighbours_;  // per unknown
  std::vector<int> coefficients_;
  std::vector<double> knots_;  // of the case
  CompliantDynamics::DataChange data_, base_, change_;
};

template <class F>
double CompliantNeighbours::sum(double t, Index unknown, const Vector& delta, const std::vector<ContactPieces>& pieces,
                                F&& f) {
  double sum = 0;
  for (Neighbour& near : neighbours_[static_cast<std::size_t>(unknown)]) {
    near.contacts->swap_holds(dynamics_.contacts().slots());
    if (!pieces.empty()) near.contacts->keep_pieces(pieces);
    if (near.contacts->place(own_time(near, t), dynamics_.q(), dynamics_.v(), delta, *near.workspace))
      sum += near.weight * f(*near.contacts);
    near.contacts->let_go();
  }
  return sum;
}

}  // namespace stickslip
