// SPDX-License-Identifier: Apache-2.0
// The friction laws of a system at one instant: numbers in, sets and smooth forces out. Shared by the fixed-step
// schemes.
//
//   u = Wᵀ v - w(t)        c_k, c_s,k (limit and static limit) and w at given (t, q, v)
//   smooth force per component:  c γ(u) u/|u| for planar laws, c γ(u) for one component, minus viscous u
#pragma once

#include <vector>

#include "stickslip/model/system.hpp"
#include "stickslip/motion/state.hpp"

namespace stickslip {

class FrictionAssembly {
 public:
  explicit FrictionAssembly(const System& system);

  Index components() const { return Wt_.rows(); }
  Index laws() const { return static_cast<Index>(elements_->size()); }
  const SparseMatrix& Wt() const { return Wt_; }
  const FrictionElement& element(Index k) const { return (*elements_)[k]; }
  Index first(Index k) const { return first_[k]; }
  int size(Index k) const { return size_[k]; }
  double viscous(Index k) const { return viscous_[k]; }

  /// Limits at (t, q, v). Throws InputError naming the law where a limit is negative, not finite, or static < dynamic.
  /// `following` = false leaves out those that depend on reactions.
  void evaluate_limits(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, bool following = true);
  /// Surface velocities at (t, q, v).
  void evaluate_surface(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& w) const;
  double limit(Index k) const { return limit_[k]; }
  double static_limit(Index k) const { return static_limit_[k]; }

  bool limits_vary() const { return limits_vary_; }
  bool limits_depend_on_state() const { return limits_depend_on_state_; }  ///< or on reactions
  /// Those are read from the workspace's variables.
  bool limits_depend_on_reactions() const { return limits_depend_on_reactions_; }
  bool follows_reactions(Index k) const { return follows_[k] != 0; }
  bool has_static() const { return has_static_; }
  bool has_weakening() const { return has_weakening_; }
  bool has_viscous() const { return has_viscous_; }
  bool surface_moves() const { return surface_moves_; }

  /// u = Wᵀ v - w
  void relative_velocity(const Vector& v, const Vector& w, Vector& u) const;
  /// g += W r
  void add_reactions(double factor, const Vector& r, Vector& g) const;
  /// Weakening part of the smooth force at u, times `factor`.
  void weakening_force(const Vector& u, double factor, Vector& force) const;
  /// Σ viscous W Wᵀ, to be treated implicitly with the damping matrix.
  SparseMatrix viscous_matrix() const;
  Mode mode(Index k, const Vector& u) const;

 private:
  const std::vector<FrictionElement>* elements_;
  SparseMatrix Wt_;
  std::vector<Index>
      first_;  // apart from the elements: a loop over 10,000 laws must not drag their names through the cache
  std::vector<char> size_, follows_;
  std::vector<double> viscous_;
  std::vector<int> coordinate_;  // of each component, if every one acts on a coordinate; else empty
  Vector limit_, static_limit_;
  Index index_slot_;
  bool limits_vary_ = false, limits_depend_on_state_ = false, limits_depend_on_reactions_ = false, has_static_ = false,
       has_weakening_ = false, has_viscous_ = false, surface_moves_ = false, limits_known_ = false;
};

}  // namespace stickslip
