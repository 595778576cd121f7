// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/tree_articulation.hpp"

#include <cmath>

namespace stickslip {

struct TreeArticulation::Memory final : Scratch {
  TreeSweeps::Memory at;
  Vector force;
};

TreeArticulation::TreeArticulation(const Tree& tree, const TreeForces& forces)
    : forces_(forces), sweeps_(tree, forces.gravity()), n_(tree.nv()), weight_alone_(forces.weight_alone()) {}

std::unique_ptr<Scratch> TreeArticulation::make_scratch() const {
  auto memory = std::make_unique<Memory>();
  memory->at = sweeps_.make_memory();
  memory->force.setZero(n_);
  return memory;
}

void TreeArticulation::imbalance(double t, const Vector& q, const Vector& v, const Vector& a,
                                 SystemWorkspace& workspace, Scratch& scratch, Vector& r, Vector& load) const {
  auto& memory = static_cast<Memory&>(scratch);
  r.resize(n_);
  load.resize(n_);
  sweeps_.place(q.data(), memory.at);
  sweeps_.imbalance(v.data(), a.data(), memory.at, r.data(), load.data());
  if (weight_alone_) return;
  forces_.beside_gravity(t, q, v, workspace, memory.force);
  for (Index i = 0; i < n_; ++i) {
    r[i] -= memory.force[i];
    load[i] += std::abs(memory.force[i]);
  }
}

void TreeArticulation::diagonal(double damping, double stiffness, Vector& d) const {
  d.setZero(n_);
  if (!weight_alone_) forces_.add_axis_slopes(damping, stiffness, d);
}

bool TreeArticulation::factor(const std::vector<char>& held, const Vector& d, Scratch& scratch,
                              Vector& inverse_pivots) const {
  auto& memory = static_cast<Memory&>(scratch);
  if (!sweeps_.factor(held.data(), d.data(), memory.at)) return false;
  sweeps_.inverse_pivots(memory.at, inverse_pivots.data());
  return true;
}

void TreeArticulation::solve(Scratch& scratch, Vector& x) const {
  sweeps_.solve(static_cast<Memory&>(scratch).at, x.data());
}

Energies TreeArticulation::energies(const Vector& q, const Vector& v, Scratch& scratch) const {
  auto& memory = static_cast<Memory&>(scratch);
  sweeps_.place(q.data(), memory.at);
  const TreeEnergies tree = sweeps_.energies(v.data(), memory.at);
  // Springs are asked for beside: their potential is that of all but gravity.
  return {tree.kinetic, tree.potential + (weight_alone_ ? 0.0 : forces_.spring_energy(q))};
}

}  // namespace stickslip
