// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/tree_dynamics.hpp"

#include "stickslip/model/multibody/body_pose.hpp"

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Vector3d;

TreeScratch::TreeScratch(const Tree& tree) {
  const std::size_t n = tree.links.size();
  motion.resize(tree);
  composite.resize(n);
  composite6.resize(n);
  twice_B.resize(n);
  for (auto* list : {&spatial_v, &spatial_a, &spatial_f}) list->resize(n);
  tau.resize(tree.nv());
}

TreeScratch& thread_scratch(const Tree& tree) {
  thread_local std::unique_ptr<TreeScratch> scratch;
  thread_local const Tree* of = nullptr;
  if (of != &tree || scratch->motion.place.size() != tree.links.size() || scratch->tau.size() != tree.nv()) {
    scratch = std::make_unique<TreeScratch>(tree);
    of = &tree;
  }
  return *scratch;
}

namespace tree_detail {

void compose(const Tree& tree, TreeScratch& scratch) {
  scratch.composite = scratch.motion.inertia;
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const Link& link = tree.links[i];
    if (link.parent < 0) continue;
    const LinkInertia<double>& it = scratch.composite[i];
    LinkInertia<double>& parent = scratch.composite[static_cast<std::size_t>(link.parent)];
    const Vector3d& r = scratch.motion.place[i].r;
    parent.m += it.m;
    parent.h += it.h + it.m * r;
    // I + 2 (h·r) 1 - h rᵀ - r hᵀ + m (r² 1 - r rᵀ), with s = h + m r / 2 in the place of h
    const Vector3d s = it.h + 0.5 * it.m * r;
    const Matrix3d product = s * r.transpose();
    parent.I += it.I - product - product.transpose();
    parent.I.diagonal().array() += 2 * s.dot(r);
  }
}

}  // namespace tree_detail

std::vector<Index> velocity_parents(const Tree& tree) {
  std::vector<Index> parents(static_cast<std::size_t>(tree.nv()), -1);
  for (const Link& link : tree.links) {
    Index above = -1;
    if (link.parent >= 0) {
      const Link& parent = tree.links[static_cast<std::size_t>(link.parent)];
      above = parent.v + parent.velocities() - 1;
    }
    for (int k = 0; k < link.velocities(); ++k)
      parents[static_cast<std::size_t>(link.v + k)] = k == 0 ? above : link.v + k - 1;
  }
  return parents;
}

bool factor_tree(const std::vector<Index>& parents, DenseMatrix& M) {
  for (Index k = M.rows() - 1; k >= 0; --k) {
    const double pivot = M(k, k);
    if (!(pivot > 0)) return false;
    for (Index i = parents[static_cast<std::size_t>(k)]; i >= 0; i = parents[static_cast<std::size_t>(i)]) {
      const double a = M(k, i) / pivot;
      for (Index j = i; j >= 0; j = parents[static_cast<std::size_t>(j)]) M(i, j) -= a * M(k, j);
      M(k, i) = a;
    }
  }
  return true;
}

void solve_tree(const std::vector<Index>& parents, const DenseMatrix& factor, Vector& x) {
  const Index n = factor.rows();
  for (Index k = n - 1; k >= 0; --k)
    for (Index i = parents[static_cast<std::size_t>(k)]; i >= 0; i = parents[static_cast<std::size_t>(i)])
      x[i] -= factor(k, i) * x[k];
  for (Index k = 0; k < n; ++k) {
    x[k] /= factor(k, k);
    for (Index i = parents[static_cast<std::size_t>(k)]; i >= 0; i = parents[static_cast<std::size_t>(i)])
      x[k] -= factor(k, i) * x[i];
  }
}

double kinetic_energy(const Tree& tree, const Vector& q, const Vector& v, TreeScratch& s) {
  place_links(tree, q.data(), s.motion);
  place_inertia(tree, s.motion);
  move_links(tree, v.data(), s.motion);
  double twice = 0;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const LinkInertia<double>& body = s.motion.inertia[i];
    const LinkMotion<double>& it = s.motion.motion[i];
    if (tree.links[i].mass == 0) continue;
    twice += body.m * it.v.squaredNorm() + 2 * it.v.dot(it.w.cross(body.h)) + it.w.dot(body.I * it.w);
  }
  return 0.5 * twice;
}

double gravity_potential(const Tree& tree, const Vector& q, const Vector3d& gravity, TreeScratch& s) {
  place_links(tree, q.data(), s.motion);
  double sum = 0;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    if (link.mass == 0) continue;
    sum -= gravity.dot(link.mass * s.motion.place[i].o + s.motion.place[i].R * link.moment);
  }
  return sum;
}

}  // namespace stickslip
