// SPDX-License-Identifier: Apache-2.0
// Inertia of a tree: M(q) by composite bodies, all velocity terms c by inverse dynamics without acceleration
// (tree_dynamics.hpp), with exact slopes.
#pragma once

#include <memory>

#include "stickslip/model/inertia.hpp"
#include "stickslip/model/matrix_layout.hpp"
#include "stickslip/model/multibody/tree_dynamics.hpp"

namespace stickslip {

class TreeInertia final : public Inertia {
 public:
  explicit TreeInertia(std::shared_ptr<const Tree> tree);
  std::unique_ptr<Scratch> make_scratch() const override;
  bool constant() const override { return false; }
  const SystemMatrix& mass(const Vector& q, SystemWorkspace& workspace) const override;
  double kinetic_energy(const Vector& q, const Vector& v) const override;
  bool has_velocity_force() const override { return true; }
  void add_velocity_force(const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const override;
  void add_velocity_slopes(const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                           SystemMatrix& by_v) const override;
  /// Throws InputError naming a coordinate whose motion carries no mass at q.
  void require_definite(const Vector& q) const;

 private:
  struct Memory;
  std::shared_ptr<const Tree> tree_;
  MatrixLayout layout_;
  /// Of M_ij and M_ji, in the order of mass_entries().
  std::vector<std::pair<Index, Index>> places_;
};

}  // namespace stickslip
