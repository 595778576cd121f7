// SPDX-License-Identifier: Apache-2.0
// Friction limits that follow reactions of the same instant: c = f(t, q, v, R), R the reactions of contacts and
// constraints (LawSet::reaction_count). [N, N m]
//
// The law of a contact is r_N >= 0: a trial value below 0, of modes that are not admissible or of a step that reaches
// beyond a lift-off, is read as that of an open contact, r = 0.
#pragma once

#include <vector>

#include "stickslip/common/dual.hpp"
#include "stickslip/model/system.hpp"

namespace stickslip {

/// The laws with such a limit or static limit, at one (t, q, v).
class FollowingLimits {
 public:
  /// The system must outlive this object.
  explicit FollowingLimits(const System& system);

  bool empty() const { return laws_.empty(); }
  const std::vector<std::size_t>& laws() const { return laws_; }  ///< numbers of friction laws, ascending
  bool follows(std::size_t law) const { return law < follows_.size() && follows_[law] != 0; }
  Index reactions() const { return reactions_; }
  const std::string& name(std::size_t law) const { return (*elements_)[law].name; }

  void place(double t, const Vector& q, const Vector& v) { variables_.set(t, q, v); }
  /// The limit at R and its slope along dR.
  Dual along(std::size_t law, const Vector& R, const Vector& dR);
  /// Likewise the static limit, or the dynamic one where there is none.
  Dual static_along(std::size_t law, const Vector& R, const Vector& dR);
  /// Both throw InputError naming the law where the limit is negative, not finite, or static < dynamic.
  double limit(std::size_t law, const Vector& R);
  double static_limit(std::size_t law, const Vector& R);
  /// The law's limits name this reaction.
  bool names(std::size_t law, Index reaction) const;

 private:
  const std::vector<FrictionElement>* elements_;
  std::vector<std::size_t> laws_;
  std::vector<char> follows_;
  Dual along(const StateFunction& f, const Vector& R, const Vector& dR);
  /// Reactions as the limits read them, and their slope along dR.
  void read(const Vector& R);
  void read(const Vector& R, const Vector& dR);
  struct Contact {
    Index first, size;  ///< among the reactions, the normal first
  };

  std::vector<Contact> contacts_;
  Index reactions_;
  Variables variables_;
  Vector direction_;  // in the layout of the variables
};

}  // namespace stickslip
