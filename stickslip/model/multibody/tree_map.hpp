// SPDX-License-Identifier: Apache-2.0
// What moves a tree with flexible bodies: x ↦ X(x), from the free coordinates x (those of hinges, and η) to all
// coordinates X of the links, of which some follow η (DrivenVelocity).
//
//   V = G(x) v,   G_ij = linear + quadratic η where i is driven, else 1 where i is j          (N × n)
//   V' = G v' + b(v),   b_i = v_ηᵀ quadratic v_η
//   forces f = Gᵀ F;   along δ: ∂f = Gᵀ (F_X G + F_V G'(v)) + Σ_i F_i quadratic_i,   G'(v)_i = (quadratic_i v_η)ᵀ;
//   ∂f/∂v = Gᵀ F_V G
#pragma once

#include <memory>

#include "stickslip/model/multibody/tree.hpp"

namespace stickslip {

class TreeMap {
 public:
  explicit TreeMap(std::shared_ptr<const Tree> tree);

  const Tree& tree() const { return *tree_; }
  /// The free coordinates as links, for TreeKinematics: no masses, no places.
  const std::shared_ptr<const Tree>& free() const { return free_; }
  Index inner() const { return tree_->nv(); }
  Index outer() const { return free_->nv(); }
  /// Free velocity that velocity k of the tree is; -1: it is driven.
  Index free_velocity(Index k) const { return outer_of_[static_cast<std::size_t>(k)]; }

  /// Its first free position; -1.
  Index free_position(Index k) const { return position_of_[static_cast<std::size_t>(k)]; }
  Vector free_positions(const Vector& X) const;
  Vector free_velocities(const Vector& V) const;
  /// X(x)
  void positions(const Vector& x, Vector& X) const;
  /// G at x, in place (N × n, dense).
  void matrix(const Vector& x, DenseMatrix& G) const;
  /// V = G v, b(v), and G'(v).
  void velocities(const Vector& x, const Vector& v, Vector& V) const;
  void bias(const Vector& v, Vector& b) const;
  void rate_matrix(const Vector& v, DenseMatrix& rate) const;
  /// f = Gᵀ F
  void pull(const Vector& x, const Vector& F, Vector& f) const;
  /// by_q += factor Σ_i F_i quadratic_i
  void add_curvature(const Vector& F, double factor, DenseMatrix& by_q) const;

 private:
  /// η of a driven velocity, in x.
  auto modal(const DrivenVelocity& it, const Vector& x) const {
    return x.segment(position_of_[static_cast<std::size_t>(it.first)], it.linear.size());
  }
  std::shared_ptr<const Tree> tree_, free_;
  std::vector<Index> outer_of_;     // per velocity of the tree
  std::vector<Index> position_of_;  // per velocity of the tree: first free position of its link, -1
};

}  // namespace stickslip
