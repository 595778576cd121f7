// SPDX-License-Identifier: Apache-2.0
// One combination of modes of problem (V) (mode_decision.hpp): which rows hold, and the reactions and accelerations
// that belong to it.
//
//   u' = b + D r,   D = VᵀU      rows that hold: u' = 0; r there unknown; r of laws that slip known, with their limits
//
// Limits that follow reactions are those of the reactions found: of laws that slip there may be several
// (limit_loop.hpp), of laws that stick they are the border of the set. Reactions that are not unique are the smallest
// ones within their sets (held_reactions.hpp).
#pragma once

#include <vector>

#include "stickslip/motion/event/held_reactions.hpp"
#include "stickslip/motion/event/limit_loop.hpp"
#include "stickslip/motion/event/mode_decision.hpp"

namespace stickslip {

/// +1 or -1 of a slip along one tangent, else 0.
double slip_sign(Mode mode);

class ModeCombination {
 public:
  /// The problem must outlive this. tolerance: DecisionOptions::tolerance.
  ModeCombination(const DecisionProblem& problem, double tolerance);
  /// How far reactions may be outside their sets, of the largest force; the tolerance at first.
  double outside;

  void pose(const std::vector<Mode>& modes);
  /// Limits of the laws that slip and follow reactions: one vector per solution; an empty one where there are none.
  const std::vector<Vector>& find_limits();
  /// Reactions and accelerations with these limits; false where there are none.
  bool solve(const Vector& limits);
  /// What was solved obeys the conditions of its modes. Reactions that were chosen within their sets are in them, to
  /// round-off of the largest force in the metric of the mass, which may be more than round-off of a small limit beside
  /// it.
  bool admissible() const;

  Index first(std::size_t law) const { return first_[law]; }  ///< component
  const Vector& b_size() const { return b_size_; }
  const std::vector<Mode>& modes() const { return modes_; }
  const std::vector<std::size_t>& looped() const { return looped_; }  ///< laws that the limits of solve() belong to
  const std::vector<double>& limit() const { return limit_; }         ///< per law
  const std::vector<double>& static_limit() const { return static_limit_; }
  const Vector& reaction() const { return r_; }
  const Vector& acceleration() const { return a_; }
  const Vector& scale() const { return scale_; }  ///< terms of the acceleration
  const Vector& unknowns() const { return x_; }
  std::size_t unknown_rows() const { return rows_.size(); }
  const HeldReactions& held() const { return held_; }
  const std::vector<ReactionBound>& bounds() const { return bounds_; }  ///< of the unknowns

 private:
  void add_unknown(Index i, Index column);
  void slip_force(std::size_t l, double c, Vector& r) const;
  Vector held_response(const Vector& b, const Vector& fixed);
  void set_limits(const Vector& c);
  Vector fixed_forces() const;
  bool solve_mode();
  bool choose_reactions(const Vector& fixed);
  /// Limits at x, and their tangents there.
  void follow_choice(const Vector& fixed, const Vector& x);
  bool follow();
  void collect_bounds();

  const DecisionProblem& problem_;
  double tolerance_;
  std::vector<Index> first_, rows_;
  std::vector<Mode> modes_;
  std::vector<double> limit_, static_limit_;
  LimitLoop loop_;
  std::vector<std::size_t> looped_;  // laws of the problem, in the order of the loop
  std::vector<Vector> roots_;
  DenseMatrix columns_, V_, U_;
  Vector r_, a_, scale_, b_size_, x_;
  HeldReactions held_;
  std::vector<ReactionBound> bounds_;
  bool within_ = false;  // redundant reactions were chosen in their sets, to `outside`, in weights of their own
};

}  // namespace stickslip
