// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/mapped_tree.hpp"

#include "stickslip/model/multibody/flexible_body.hpp"

namespace stickslip {

namespace {

/// The state of the tree behind a free one, and memory for slopes.
struct MappedState {
  Vector X, V, b, F;
  DenseMatrix G, rate, product, by_q, by_v, curvature;
  void place(const TreeMap& map, const Vector& q, const Vector& v) {
    map.positions(q, X);
    map.velocities(q, v, V);
  }
};

/// Adds Gᵀ A B to a full n × n matrix at `numbers`.
void add_product(const DenseMatrix& G, const Eigen::Map<const DenseMatrix>& A, const DenseMatrix& B,
                 DenseMatrix& memory, double factor, double* numbers) {
  memory.noalias() = A * B;
  Eigen::Map<DenseMatrix>(numbers, G.cols(), G.cols()).noalias() += factor * (G.transpose() * memory);
}

}  // namespace

struct MappedInertia::Memory final : Scratch {
  explicit Memory(const Tree& of) : tree(of) {}
  TreeScratch tree;
  MappedState state;
  DenseMatrix tree_mass;
  SystemMatrix mass;
};

MappedInertia::MappedInertia(std::shared_ptr<const TreeMap> map)
    : map_(std::move(map)), full_(map_->outer(), all_entries(map_->outer())) {}

std::unique_ptr<Scratch> MappedInertia::make_scratch() const { return std::make_unique<Memory>(map_->tree()); }

void MappedInertia::tree_mass(Memory& memory) const {
  const Tree& tree = map_->tree();
  place_links(tree, memory.state.X.data(), memory.tree.motion);
  place_inertia(tree, memory.tree.motion);
  memory.tree_mass.setZero(tree.nv(), tree.nv());
  mass_entries(tree, memory.tree,
               [&](Index i, Index j, double value) { memory.tree_mass(i, j) = memory.tree_mass(j, i) = value; });
}

const SystemMatrix& MappedInertia::mass(const Vector& q, SystemWorkspace& workspace) const {
  auto& memory = static_cast<Memory&>(*workspace.inertia);
  map_->positions(q, memory.state.X);
  map_->matrix(q, memory.state.G);
  tree_mass(memory);
  double* const numbers = full_.clear(memory.mass);
  const Index n = map_->inner();
  add_product(memory.state.G, Eigen::Map<const DenseMatrix>(memory.tree_mass.data(), n, n), memory.state.G,
              memory.state.product, 1.0, numbers);
  return memory.mass;
}

double MappedInertia::kinetic_energy(const Vector& q, const Vector& v) const {
  Vector X, V;
  map_->positions(q, X);
  map_->velocities(q, v, V);
  return stickslip::kinetic_energy(map_->tree(), X, V, thread_scratch(map_->tree()));
}

void MappedInertia::add_velocity_force(const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const {
  auto& memory = static_cast<Memory&>(*workspace.inertia);
  MappedState& state = memory.state;
  state.place(*map_, q, v);
  map_->bias(v, state.b);
  inverse_dynamics<double>(map_->tree(), state.X.data(), state.V.data(), state.b.data(), Eigen::Vector3d::Zero(),
                           memory.tree.motion, memory.tree.tau.data());
  map_->pull(q, memory.tree.tau, state.F);
  h -= state.F;
}

void MappedInertia::add_velocity_slopes(const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                        SystemMatrix& by_q, SystemMatrix& by_v) const {
  auto& memory = static_cast<Memory&>(*workspace.inertia);
  MappedState& state = memory.state;
  state.place(*map_, q, v);
  map_->bias(v, state.b);
  map_->matrix(q, state.G);
  map_->rate_matrix(v, state.rate);
  const Index N = map_->inner(), n = map_->outer();
  state.by_q.setZero(N, N);
  state.by_v.setZero(N, N);
  inverse_dynamics_slopes(map_->tree(), state.X, state.V, state.b.data(), Eigen::Vector3d::Zero(), 1.0, memory.tree,
                          state.by_q.data(), state.by_v.data());
  const Eigen::Map<const DenseMatrix> tau_q(state.by_q.data(), N, N), tau_v(state.by_v.data(), N, N);
  double *const dq = MatrixLayout::numbers(by_q), *const dv = MatrixLayout::numbers(by_v);
  state.F = memory.tree.tau;
  add_product(state.G, tau_q, state.G, state.product, -1.0, dq);
  add_product(state.G, tau_v, state.rate, state.product, -1.0, dq);
  add_product(state.G, tau_v, state.G, state.product, -1.0, dv);
  // b = v_ηᵀ Q v_η: ∂b/∂v = 2 G'(v)
  tree_mass(memory);
  add_product(state.G, Eigen::Map<const DenseMatrix>(memory.tree_mass.data(), N, N), state.rate, state.product, -2.0,
              dv);
  state.curvature.setZero(n, n);
  map_->add_curvature(state.F, -1.0, state.curvature);
  Eigen::Map<DenseMatrix>(dq, n, n) += state.curvature;
}

struct MappedForces::Memory final : Scratch {
  explicit Memory(const Tree& tree) : workspace(tree.nq(), tree.nv()) {}
  SystemWorkspace workspace;
  MappedState state;
  SystemMatrix by_q, by_v;
};

MappedForces::MappedForces(std::unique_ptr<Forces> inner, std::shared_ptr<const TreeMap> map)
    : inner_(std::move(inner)), map_(std::move(map)), full_(map_->outer(), all_entries(map_->outer())) {}

std::unique_ptr<Scratch> MappedForces::make_scratch() const {
  auto memory = std::make_unique<Memory>(map_->tree());
  memory->workspace.forces = inner_->make_scratch();
  return memory;
}

void MappedForces::total(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const {
  auto& memory = static_cast<Memory&>(*workspace.forces);
  memory.state.place(*map_, q, v);
  inner_->total(t, memory.state.X, memory.state.V, memory.workspace, memory.state.F);
  map_->pull(q, memory.state.F, h);
  for (const Tree::Modal& modal : map_->tree().modal) {
    const Index first = map_->free_velocity(modal.first), at = map_->free_position(modal.first),
                n = modal.body->modes();
    h.segment(first, n).noalias() -=
        modal.body->stiffness * q.segment(at, n) + modal.body->damping * v.segment(first, n);
  }
}

void MappedForces::applied(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& f) const {
  auto& memory = static_cast<Memory&>(*workspace.forces);
  memory.state.place(*map_, q, v);
  inner_->applied(t, memory.state.X, memory.state.V, memory.workspace, memory.state.F);
  map_->pull(q, memory.state.F, f);
}

double MappedForces::potential_energy(const Vector& q) const {
  Vector X;
  map_->positions(q, X);
  double energy = inner_->potential_energy(X);
  for (const Tree::Modal& modal : map_->tree().modal) {
    const auto eta = q.segment(map_->free_position(modal.first), modal.body->modes());
    energy += 0.5 * eta.dot(modal.body->stiffness * eta);
  }
  return energy;
}

double MappedForces::damper_power(const Vector& q, const Vector& v) const {
  Vector X, V;
  map_->positions(q, X);
  map_->velocities(q, v, V);
  double power = inner_->damper_power(X, V);
  for (const Tree::Modal& modal : map_->tree().modal) {
    const auto rate = v.segment(map_->free_velocity(modal.first), modal.body->modes());
    power += rate.dot(modal.body->damping * rate);
  }
  return power;
}

void MappedForces::map_slopes(const Vector& q, const Vector& v, Memory& memory, double* dq, double* dv) const {
  MappedState& state = memory.state;
  map_->matrix(q, state.G);
  map_->rate_matrix(v, state.rate);
  const Index N = map_->inner(), n = map_->outer();
  const Eigen::Map<const DenseMatrix> F_q(MatrixLayout::numbers(memory.by_q), N, N),
      F_v(MatrixLayout::numbers(memory.by_v), N, N);
  add_product(state.G, F_q, state.G, state.product, 1.0, dq);
  add_product(state.G, F_v, state.rate, state.product, 1.0, dq);
  add_product(state.G, F_v, state.G, state.product, 1.0, dv);
  state.curvature.setZero(n, n);
  map_->add_curvature(state.F, 1.0, state.curvature);
  Eigen::Map<DenseMatrix>(dq, n, n) += state.curvature;
}

void MappedForces::slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                          SystemMatrix& by_v) const {
  auto& memory = static_cast<Memory&>(*workspace.forces);
  MappedState& state = memory.state;
  state.place(*map_, q, v);
  inner_->slopes(t, state.X, state.V, memory.workspace, memory.by_q, memory.by_v);
  inner_->total(t, state.X, state.V, memory.workspace, state.F);
  double *const dq = full_.clear(by_q), *const dv = full_.clear(by_v);
  map_slopes(q, v, memory, dq, dv);
  const Index n = map_->outer();
  Eigen::Map<DenseMatrix> to_q(dq, n, n), to_v(dv, n, n);
  for (const Tree::Modal& modal : map_->tree().modal) {
    const Index first = map_->free_velocity(modal.first), count = modal.body->modes();
    to_q.block(first, first, count, count) -= modal.body->stiffness;
    to_v.block(first, first, count, count) -= modal.body->damping;
  }
}

void MappedForces::applied_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                  SystemMatrix& by_q, SystemMatrix& by_v) const {
  auto& memory = static_cast<Memory&>(*workspace.forces);
  MappedState& state = memory.state;
  state.place(*map_, q, v);
  inner_->applied_slopes(t, state.X, state.V, memory.workspace, memory.by_q, memory.by_v);
  inner_->applied(t, state.X, state.V, memory.workspace, state.F);
  double *const dq = full_.clear(by_q), *const dv = full_.clear(by_v);
  map_slopes(q, v, memory, dq, dv);
}

}  // namespace stickslip
