// SPDX-License-Identifier: Apache-2.0
// Loops and contacts of a tree with flexible bodies, over its free coordinates (mapped_tree.hpp).
#include <cmath>

#include "stickslip/model/multibody/mapped_tree.hpp"

namespace stickslip {

namespace {

/// A workspace of the tree, its state, and memory.
struct LawScratch final : Scratch {
  explicit LawScratch(const Tree& tree) : workspace(tree.nq(), tree.nv()) {}
  SystemWorkspace workspace;
  Vector X, V, b, F, part;
  DenseMatrix G, rate, by_q, product;
  ConstraintRows rows;
  ContactPoints found;
};

}  // namespace

MappedConstraints::MappedConstraints(std::unique_ptr<ConstraintSource> inner, std::shared_ptr<const TreeMap> map)
    : inner_(std::move(inner)), map_(std::move(map)) {}

std::unique_ptr<Scratch> MappedConstraints::make_scratch() const {
  auto memory = std::make_unique<LawScratch>(map_->tree());
  memory->workspace.constraints = inner_->make_scratch();
  return memory;
}

void MappedConstraints::evaluate(double t, const Vector& q, SystemWorkspace& workspace, ConstraintRows& rows) const {
  auto& memory = static_cast<LawScratch&>(*workspace.constraints);
  map_->positions(q, memory.X);
  map_->matrix(q, memory.G);
  inner_->evaluate(t, memory.X, memory.workspace, memory.rows);
  rows.A.noalias() = memory.rows.A * memory.G;
  rows.rate = memory.rows.rate;
  rows.position = memory.rows.position;
}

void MappedConstraints::bias(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                             Vector& bias) const {
  auto& memory = static_cast<LawScratch&>(*workspace.constraints);
  map_->positions(q, memory.X);
  map_->velocities(q, v, memory.V);
  map_->bias(v, memory.b);
  inner_->bias(t, memory.X, memory.V, memory.workspace, bias);
  inner_->evaluate(t, memory.X, memory.workspace, memory.rows);
  bias.noalias() += memory.rows.A * memory.b;
}

void MappedConstraints::force_slopes(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                                     DenseMatrix& by_q) const {
  auto& memory = static_cast<LawScratch&>(*workspace.constraints);
  map_->positions(q, memory.X);
  map_->matrix(q, memory.G);
  inner_->force_slopes(t, memory.X, lambda, memory.workspace, memory.by_q);
  inner_->evaluate(t, memory.X, memory.workspace, memory.rows);
  memory.product.noalias() = memory.by_q * memory.G;
  by_q.noalias() = memory.G.transpose() * memory.product;
  memory.F.noalias() = memory.rows.A.transpose() * lambda;
  map_->add_curvature(memory.F, 1.0, by_q);
}

void MappedConstraints::velocity_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                        DenseMatrix& by_q) const {
  auto& memory = static_cast<LawScratch&>(*workspace.constraints);
  map_->positions(q, memory.X);
  map_->velocities(q, v, memory.V);
  map_->matrix(q, memory.G);
  map_->rate_matrix(v, memory.rate);
  inner_->velocity_slopes(t, memory.X, memory.V, memory.workspace, memory.by_q);
  inner_->evaluate(t, memory.X, memory.workspace, memory.rows);
  by_q.noalias() = memory.by_q * memory.G;
  by_q.noalias() += memory.rows.A * memory.rate;
}

MappedContacts::MappedContacts(std::unique_ptr<ContactSource> inner, std::shared_ptr<const TreeMap> map)
    : inner_(std::move(inner)), map_(std::move(map)) {}

std::unique_ptr<Scratch> MappedContacts::make_scratch() const {
  auto memory = std::make_unique<LawScratch>(map_->tree());
  memory->workspace.contacts = inner_->make_scratch();
  return memory;
}

void MappedContacts::find(double t, const Vector& q, double margin, SystemWorkspace& workspace,
                          ContactPoints& found) const {
  auto& memory = static_cast<LawScratch&>(*workspace.contacts);
  map_->positions(q, memory.X);
  map_->matrix(q, memory.G);
  inner_->find(t, memory.X, margin, memory.workspace, memory.found);
  found = memory.found;
  memory.product.noalias() = memory.found.Wt * memory.G;
  found.Wt = memory.product.sparseView(0.0, 0.0);
}

void MappedContacts::surface(double t, const Vector& q, SystemWorkspace& workspace, const ContactPoints& found,
                             Vector& w) const {
  auto& memory = static_cast<LawScratch&>(*workspace.contacts);
  map_->positions(q, memory.X);
  inner_->surface(t, memory.X, memory.workspace, found, w);
}

double MappedContacts::speed_bound(const Vector& v) const {
  const Tree& tree = map_->tree();
  thread_local Vector V;
  V.setZero(map_->inner());
  for (Index k = 0; k < map_->inner(); ++k)
    if (const Index free = map_->free_velocity(k); free >= 0) V[k] = v[free];
  for (const DrivenVelocity& it : tree.driven) {
    const auto rate = v.segment(map_->free_velocity(it.first), it.linear.size());
    V[it.velocity] = std::abs(it.linear.dot(rate));
    if (it.quadratic.size() > 0) V[it.velocity] += tree.length * it.quadratic.lazyProduct(rate).norm();
  }
  return inner_->speed_bound(V);
}

double MappedContacts::spin(const Vector& q, const Vector& v, const ContactSite& site) const {
  Vector X, V;
  map_->positions(q, X);
  map_->velocities(q, v, V);
  return inner_->spin(X, V, site);
}

void MappedContacts::bias(double t, const Vector& q, const Vector& v, double margin, SystemWorkspace& workspace,
                          Vector& bias) const {
  auto& memory = static_cast<LawScratch&>(*workspace.contacts);
  map_->positions(q, memory.X);
  map_->velocities(q, v, memory.V);
  map_->bias(v, memory.b);
  inner_->find(t, memory.X, margin, memory.workspace, memory.found);
  inner_->bias(t, memory.X, memory.V, margin, memory.workspace, bias);
  memory.part = memory.found.Wt * memory.b;
  bias += memory.part;
}

}  // namespace stickslip
