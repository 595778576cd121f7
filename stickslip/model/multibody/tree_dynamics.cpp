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
  articulated.resize(n);
  U.resize(n);
  D_inverse.resize(n);
  for (auto* list : {&u, &pn, &pf}) list->resize(n);
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

namespace {

/// What a joint gives up of the articulated body, and the rest moved to the parent's origin.
void reduce_rotation(const Vector3d& axis, const Vector3d& bias_alpha, const Vector3d& bias_a, double tau,
                     ArticulatedInertia& A, Eigen::Matrix<double, 6, 3>& U, double& D_inverse, double& u, Vector3d& pn,
                     Vector3d& pf) {
  const Vector3d Un = A.I * axis, Uf = A.H.transpose() * axis;
  D_inverse = 1 / axis.dot(Un);
  u = tau - axis.dot(pn);
  U.col(0) << Un, Uf;
  const Vector3d kn = D_inverse * Un, kf = D_inverse * Uf;
  A.I.noalias() -= kn * Un.transpose();
  A.H.noalias() -= kn * Uf.transpose();
  A.M.noalias() -= kf * Uf.transpose();
  pn += A.I * bias_alpha + A.H * bias_a + kn * u;
  pf += A.H.transpose() * bias_alpha + A.M * bias_a + kf * u;
}

void reduce_translation(const Vector3d& axis, const Vector3d& bias_alpha, const Vector3d& bias_a, double tau,
                        ArticulatedInertia& A, Eigen::Matrix<double, 6, 3>& U, double& D_inverse, double& u,
                        Vector3d& pn, Vector3d& pf) {
  const Vector3d Un = A.H * axis, Uf = A.M * axis;
  D_inverse = 1 / axis.dot(Uf);
  u = tau - axis.dot(pf);
  U.col(0) << Un, Uf;
  const Vector3d kn = D_inverse * Un, kf = D_inverse * Uf;
  A.I.noalias() -= kn * Un.transpose();
  A.H.noalias() -= kn * Uf.transpose();
  A.M.noalias() -= kf * Uf.transpose();
  pn += A.I * bias_alpha + A.H * bias_a + kn * u;
  pf += A.H.transpose() * bias_alpha + A.M * bias_a + kf * u;
}

void reduce_ball(const Matrix3d& R, const Vector3d& bias_alpha, const Vector3d& bias_a, const Vector3d& tau,
                 ArticulatedInertia& A, Eigen::Matrix<double, 6, 3>& U, Matrix3d& D_inverse, Vector3d& u, Vector3d& pn,
                 Vector3d& pf) {
  const Matrix3d Un = A.I * R, Uf = A.H.transpose() * R;
  D_inverse = (R.transpose() * Un).inverse();
  u = tau - R.transpose() * pn;
  U << Un, Uf;
  const Matrix3d kn = Un * D_inverse, kf = Uf * D_inverse;
  A.I -= kn * Un.transpose();
  A.H -= kn * Uf.transpose();
  A.M -= kf * Uf.transpose();
  pn += A.I * bias_alpha + A.H * bias_a + kn * u;
  pf += A.H.transpose() * bias_alpha + A.M * bias_a + kf * u;
}

/// The same body seen from a point r farther up: n' = n + r × f, a = a' + α × r.
void add_moved(const ArticulatedInertia& A, const Vector3d& r, ArticulatedInertia& parent) {
  const Matrix3d X = cross_matrix(r);
  const Matrix3d XM = X * A.M, HX = A.H * X;
  parent.M += A.M;
  parent.H += A.H + XM;
  // a = a' - r × α: I' = I - H X + X Hᵀ - X M X
  parent.I += A.I - HX - HX.transpose() - XM * X;
}

}  // namespace

void forward_dynamics(const Tree& tree, const Vector& q, const Vector& v, const Vector& tau,
                      const Vector3d& gravity, TreeScratch& s, Vector& a) {
  TreeMotion<double>& m = s.motion;
  place_links(tree, q.data(), m);
  place_inertia(tree, m);
  move_links(tree, v.data(), m);
  const std::size_t n = tree.links.size();
  for (std::size_t i = 0; i < n; ++i) {
    const LinkInertia<double>& body = m.inertia[i];
    ArticulatedInertia& A = s.articulated[i];
    A.I = body.I;
    A.H = cross_matrix(body.h);
    A.M.setZero();
    A.M.diagonal().setConstant(body.m);
    const Vector3d& w = m.motion[i].w;
    s.pn[i] = w.cross(Vector3d(body.I * w));
    s.pf[i] = w.cross(Vector3d(w.cross(body.h)));
  }
  for (std::size_t i = n; i-- > 0;) {
    const Link& link = tree.links[i];
    const LinkPlace<double>& at = m.place[i];
    // What the joint's own velocity and the turning of the parent do to its acceleration; kept for the way down.
    Vector3d& bias_alpha = m.motion[i].alpha;
    Vector3d& bias_a = m.motion[i].a;
    bias_alpha.setZero();
    bias_a.setZero();
    if (link.parent >= 0) {
      const Vector3d& wp = m.motion[static_cast<std::size_t>(link.parent)].w;
      bias_a = wp.cross(Vector3d(wp.cross(at.r)));
      if (link.kind == JointKind::rotation) bias_alpha = wp.cross(Vector3d(at.axis * v[link.v]));
      if (link.kind == JointKind::translation) bias_a += 2 * wp.cross(Vector3d(at.axis * v[link.v]));
      if (link.kind == JointKind::ball) bias_alpha = wp.cross(Vector3d(at.R * v.segment<3>(link.v)));
    }
    if (link.kind == JointKind::rotation) {
      reduce_rotation(at.axis, bias_alpha, bias_a, tau[link.v], s.articulated[i], s.U[i], s.D_inverse[i](0, 0),
                      s.u[i][0], s.pn[i], s.pf[i]);
    } else if (link.kind == JointKind::translation) {
      reduce_translation(at.axis, bias_alpha, bias_a, tau[link.v], s.articulated[i], s.U[i], s.D_inverse[i](0, 0),
                         s.u[i][0], s.pn[i], s.pf[i]);
    } else {
      reduce_ball(at.R, bias_alpha, bias_a, tau.segment<3>(link.v), s.articulated[i], s.U[i], s.D_inverse[i], s.u[i],
                  s.pn[i], s.pf[i]);
    }
    if (link.parent < 0) continue;
    const auto p = static_cast<std::size_t>(link.parent);
    add_moved(s.articulated[i], at.r, s.articulated[p]);
    s.pf[p] += s.pf[i];
    s.pn[p] += s.pn[i] + at.r.cross(s.pf[i]);
  }
  a.resize(tree.nv());
  for (std::size_t i = 0; i < n; ++i) {
    const Link& link = tree.links[i];
    const LinkPlace<double>& at = m.place[i];
    Vector3d alpha = m.motion[i].alpha, acceleration = m.motion[i].a;
    if (link.parent >= 0) {
      const LinkMotion<double>& parent = m.motion[static_cast<std::size_t>(link.parent)];
      alpha += parent.alpha;
      acceleration += parent.a + parent.alpha.cross(at.r);
    } else {
      acceleration -= gravity;
    }
    if (link.kind == JointKind::ball) {
      const Vector3d given = s.u[i] - s.U[i].topRows<3>().transpose() * alpha -
                             s.U[i].bottomRows<3>().transpose() * acceleration;
      const Vector3d rate = s.D_inverse[i] * given;
      a.segment<3>(link.v) = rate;
      alpha += at.R * rate;
    } else {
      const double rate = s.D_inverse[i](0, 0) * (s.u[i][0] - s.U[i].col(0).head<3>().dot(alpha) -
                                                  s.U[i].col(0).tail<3>().dot(acceleration));
      a[link.v] = rate;
      (link.kind == JointKind::rotation ? alpha : acceleration) += at.axis * rate;
    }
    m.motion[i].alpha = alpha;
    m.motion[i].a = acceleration;
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
