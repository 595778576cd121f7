// SPDX-License-Identifier: Apache-2.0
// A tree of single axes, by sweeps over its links (tree_sweeps.hpp), with the forces that act on it beside gravity.
#pragma once

#include <memory>

#include "stickslip/model/articulation.hpp"
#include "stickslip/model/multibody/tree_forces.hpp"
#include "stickslip/model/multibody/tree_sweeps.hpp"

namespace stickslip {

class TreeArticulation final : public Articulation {
 public:
  /// Both must outlive it. The tree has no balls.
  TreeArticulation(const Tree& tree, const TreeForces& forces);
  std::unique_ptr<Scratch> make_scratch() const override;
  void imbalance(double t, const Vector& q, const Vector& v, const Vector& a, SystemWorkspace& workspace,
                 Scratch& scratch, Vector& r, Vector& load) const override;
  void diagonal(double damping, double stiffness, Vector& d) const override;
  bool factor(const std::vector<char>& held, const Vector& d, Scratch& scratch, Vector& inverse_pivots) const override;
  void solve(Scratch& scratch, Vector& x) const override;
  Energies energies(const Vector& q, const Vector& v, Scratch& scratch) const override;

 private:
  struct Memory;
  const TreeForces& forces_;
  TreeSweeps sweeps_;
  Index n_;
  bool weight_alone_;  ///< gravity is the only force
};

}  // namespace stickslip
