// SPDX-License-Identifier: Apache-2.0
// A property of some systems: their bodies hang on each other like a tree, so that M(q) can be applied and solved with
// in O(n), without its matrix, also while some velocities are held.
//
//   imbalance   r = M(q) a - h(t, q, v)                    h: all forces, velocity terms of the inertia included
//   factor      of M(q) + diag(d) over the velocities that are not held, at the q of the last imbalance()
//   solve       A = M + diag(d): x_f ← A_ff⁻¹ (x_f - A_fh x_h), x_h ← (A x)_h: accelerations of what is held become
//   forces
//
// q' = v and q ⊕ δ = q + δ. d: what h gives back per acceleration along single axes, springs and dampers there; nothing
// else of the slopes of h, so that an iteration with it converges where h changes little within a step.
#pragma once

#include <memory>
#include <vector>

#include "stickslip/model/workspace.hpp"

namespace stickslip {

struct Energies {
  double kinetic = 0, potential = 0;  ///< [J]
};

class Articulation {
 public:
  virtual ~Articulation() = default;
  virtual std::unique_ptr<Scratch> make_scratch() const = 0;
  /// load: of what size the terms of r are, one by one. [N, N m]
  virtual void imbalance(double t, const Vector& q, const Vector& v, const Vector& a, SystemWorkspace& workspace,
                         Scratch& scratch, Vector& r, Vector& load) const = 0;
  /// d = damping times that of the axes plus stiffness times that of the axes.
  virtual void diagonal(double damping, double stiffness, Vector& d) const = 0;
  /// False: not positive definite. inverse_pivots: per velocity, over the inertia of what it moves while all below it
  /// that is not held gives way.
  virtual bool factor(const std::vector<char>& held, const Vector& d, Scratch& scratch,
                      Vector& inverse_pivots) const = 0;
  virtual void solve(Scratch& scratch, Vector& x) const = 0;
  /// T and U as inertia and forces have them; what imbalance() and factor() left in the scratch space is gone.
  virtual Energies energies(const Vector& q, const Vector& v, Scratch& scratch) const = 0;
};

}  // namespace stickslip
