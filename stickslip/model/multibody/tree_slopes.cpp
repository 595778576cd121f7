// SPDX-License-Identifier: Apache-2.0
// Slopes of inverse dynamics (tree_dynamics.hpp).
#include "stickslip/model/multibody/body_pose.hpp"
#include "stickslip/model/multibody/tree_dynamics.hpp"

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;  // motions (w, v), forces (n, f)
using Matrix6 = Eigen::Matrix<double, 6, 6>;

Vector6 cross(const Vector6& a, const Vector6& b) {
  Vector6 c;
  c.head<3>() = a.head<3>().cross(b.head<3>());
  c.tail<3>() = a.head<3>().cross(b.tail<3>()) + a.tail<3>().cross(b.head<3>());
  return c;
}

/// a ×* f
Vector6 cross_force(const Vector6& a, const Vector6& f) {
  Vector6 c;
  c.head<3>() = a.head<3>().cross(f.head<3>()) + a.tail<3>().cross(f.tail<3>());
  c.tail<3>() = a.head<3>().cross(f.tail<3>());
  return c;
}

Matrix6 motion_matrix(const Vector6& a) {
  Matrix6 X = Matrix6::Zero();
  X.topLeftCorner<3, 3>() = X.bottomRightCorner<3, 3>() = cross_matrix(a.head<3>());
  X.bottomLeftCorner<3, 3>() = cross_matrix(a.tail<3>());
  return X;
}

/// m ↦ m ×* f
Matrix6 bar_matrix(const Vector6& f) {
  Matrix6 X = Matrix6::Zero();
  X.topLeftCorner<3, 3>() = -cross_matrix(f.head<3>());
  X.topRightCorner<3, 3>() = X.bottomLeftCorner<3, 3>() = -cross_matrix(f.tail<3>());
  return X;
}

Matrix6 spatial(const LinkInertia<double>& body) {
  Matrix6 I;
  const Matrix3d H = cross_matrix(body.h);
  I.topLeftCorner<3, 3>() = body.I;
  I.topRightCorner<3, 3>() = H;
  I.bottomLeftCorner<3, 3>() = -H;
  I.bottomRightCorner<3, 3>() = body.m * Matrix3d::Identity();
  return I;
}

/// A force of link i seen at the origin of its parent, r away.
void move_up(const Vector3d& r, Vector6& f) { f.head<3>() += r.cross(f.tail<3>()); }

/// parent += Xᵀ A X, X: motion at the parent to motion here.
void add_moved(const Matrix6& A, const Vector3d& r, Matrix6& parent) {
  const Matrix3d X = cross_matrix(r);
  Matrix6 moved = A;
  moved.leftCols<3>() -= A.rightCols<3>() * X;
  const Eigen::Matrix<double, 3, 6> lower = moved.bottomRows<3>();
  moved.topRows<3>() += X * lower;
  parent += moved;
}

/// Velocity and acceleration of the parent's motion, at the origin of link i.
struct Above {
  Vector6 v = Vector6::Zero(), a = Vector6::Zero();
};

Above above(const Tree& tree, std::size_t i, const TreeScratch& s, const Vector3d& ground) {
  Above it;
  if (tree.links[i].parent < 0) {
    it.a.tail<3>() = ground;
    return it;
  }
  const auto p = static_cast<std::size_t>(tree.links[i].parent);
  const Vector3d& r = s.motion.place[i].r;
  it.v = s.spatial_v[p];
  it.v.tail<3>() += it.v.head<3>().cross(r);
  it.a = s.spatial_a[p];
  it.a.tail<3>() += it.a.head<3>().cross(r);
  return it;
}

Vector6 motion_of(const Tree& tree, std::size_t i, int k, const TreeScratch& s) {
  const LinkPlace<double>& at = s.motion.place[i];
  Vector6 S = Vector6::Zero();
  if (tree.links[i].kind == JointKind::rotation) S.head<3>() = at.axis;
  if (tree.links[i].kind == JointKind::translation) S.tail<3>() = at.axis;
  if (tree.links[i].kind == JointKind::ball) S.head<3>() = at.R.col(k);
  return S;
}

}  // namespace

void inverse_dynamics_slopes(const Tree& tree, const Vector& q, const Vector& v, const double* a,
                             const Vector3d& gravity, double factor, TreeScratch& s, double* by_q, double* by_v) {
  const Vector3d ground = -gravity;
  inverse_dynamics(tree, q.data(), v.data(), a, gravity, s.motion, s.tau.data());
  const Index n = tree.nv();
  const std::size_t links = tree.links.size();
  for (std::size_t i = 0; i < links; ++i) {
    const LinkMotion<double>& it = s.motion.motion[i];
    s.spatial_v[i] << it.w, it.v;
    s.spatial_a[i] << it.alpha, it.a - it.w.cross(it.v);
    s.spatial_f[i] << it.n, it.f;
    const Matrix6 I = s.composite6[i] = spatial(s.motion.inertia[i]);
    const Vector6 momentum = I * s.spatial_v[i];
    const Matrix6 X = motion_matrix(s.spatial_v[i]);
    s.twice_B[i].noalias() = -X.transpose() * I;
    s.twice_B[i].noalias() -= I * X;
    s.twice_B[i] += bar_matrix(momentum);
  }
  for (std::size_t i = links; i-- > 0;) {
    const Link& link = tree.links[i];
    const Above up = above(tree, i, s, ground);
    for (int k = 0; k < link.velocities(); ++k) {
      const Vector6 S = motion_of(tree, i, k, s);
      const Vector6 psi = cross(up.v, S);
      const Vector6 phi = cross(up.a, S) + cross(up.v, psi);
      const Vector6 sigma = cross(s.spatial_v[i], S);
      // Forces of this column on what is above, and of this row on the motions of what is above.
      Vector6 by_turn = s.twice_B[i] * psi + s.composite6[i] * phi;
      Vector6 by_speed = s.twice_B[i] * S + s.composite6[i] * (psi + sigma);
      Vector6 weight = s.composite6[i] * S, twist = s.twice_B[i].transpose() * S;
      const Index me = link.v + k;
      for (std::size_t j = i;;) {
        const Link& other = tree.links[j];
        const Above beyond = j == i ? up : above(tree, j, s, ground);
        for (int c = 0; c < other.velocities(); ++c) {
          const Vector6 T = j == i && c == k ? S : motion_of(tree, j, c, s);
          const Vector6 psi_T = cross(beyond.v, T);
          const Vector6 phi_T = cross(beyond.a, T) + cross(beyond.v, psi_T);
          const Index it = other.v + c;
          by_q[it * n + me] += factor * (twist.dot(psi_T) + weight.dot(phi_T));  // row me, column it
          if (by_v) by_v[it * n + me] += factor * (twist.dot(T) + weight.dot(psi_T + cross(s.spatial_v[j], T)));
          if (j == i) continue;
          by_q[me * n + it] += factor * T.dot(by_turn);
          if (by_v) by_v[me * n + it] += factor * T.dot(by_speed);
        }
        if (other.parent < 0) break;
        if (j == i) by_turn += cross_force(S, s.spatial_f[i]);  // for all that does not turn with it
        for (Vector6* f : {&by_turn, &by_speed, &weight, &twist}) move_up(s.motion.place[j].r, *f);
        j = static_cast<std::size_t>(other.parent);
      }
    }
    if (link.parent < 0) continue;
    const auto p = static_cast<std::size_t>(link.parent);
    add_moved(s.composite6[i], s.motion.place[i].r, s.composite6[p]);
    add_moved(s.twice_B[i], s.motion.place[i].r, s.twice_B[p]);
  }
}

}  // namespace stickslip
