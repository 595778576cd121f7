// SPDX-License-Identifier: Apache-2.0
// Positions, velocities and inverse dynamics of a tree, for double and for dual numbers.
//
// Vectors have the axes of the world; those of a link are taken at its own origin o, so that nothing is measured from
// far away. r = o - o_parent, c mass centre from o, h = m c, I inertia about o, p: parent.
//
//   w  = w_p + axis q'                      v  = v_p + w_p × r  (+ axis q')                   rotation (translation)
//   α  = α_p + axis q'' + w_p × axis q'     a  = a_p + α_p × r + w_p × (w_p × r)  (+ axis q'' + 2 w_p × axis q')
//   f  = m a + α × h + w × (w × h)          n  = I α + h × a + w × I w                        force, moment about o
//   f_p += f,  n_p += n + r × f             τ  = axis · n  (axis · f)                         (Newton, Euler)
//
// A ball is a rotation about three axes, the columns of R. Gravity is an acceleration of the ground by -g.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "stickslip/model/multibody/tree.hpp"

namespace stickslip {

template <class S>
using Vec3 = Eigen::Matrix<S, 3, 1>;
template <class S>
using Mat3 = Eigen::Matrix<S, 3, 3>;

/// Where a link is.
template <class S>
struct LinkPlace {
  Mat3<S> R;           ///< link to world
  Vec3<S> o, r, axis;  ///< origin; from the parent's origin; axis of the joint (not of a ball)
};

/// How it moves.
template <class S>
struct LinkMotion {
  Vec3<S> w, v;      ///< spin; velocity of the origin
  Vec3<S> alpha, a;  ///< their rates
  Vec3<S> n, f;      ///< what the joint carries: moment about o, force
};

/// What moves with a link, in the axes of the world.
template <class S>
struct LinkInertia {
  S m;
  Vec3<S> h;
  Mat3<S> I;
};

template <class S>
struct TreeMotion {
  std::vector<LinkPlace<S>> place;
  std::vector<LinkMotion<S>> motion;
  std::vector<LinkInertia<S>> inertia;
  void resize(const Tree& tree) {
    place.resize(tree.links.size());
    motion.resize(tree.links.size());
    inertia.resize(tree.links.size());
  }
};

/// Rotation of the unit quaternion w, x, y, z.
template <class S>
Mat3<S> rotation_of(const S* r) {
  const S w = r[0], x = r[1], y = r[2], z = r[3], one(1.0), two(2.0);
  Mat3<S> R;
  R(0, 0) = one - two * (y * y + z * z);
  R(0, 1) = two * (x * y - w * z);
  R(0, 2) = two * (x * z + w * y);
  R(1, 0) = two * (x * y + w * z);
  R(1, 1) = one - two * (x * x + z * z);
  R(1, 2) = two * (y * z - w * x);
  R(2, 0) = two * (x * z - w * y);
  R(2, 1) = two * (y * z + w * x);
  R(2, 2) = one - two * (x * x + y * y);
  return R;
}

/// R turned by the angle about its own axis k.
template <class S>
void turn_about(Mat3<S>& R, int k, const S& angle) {
  using std::cos, std::sin;
  const S c = cos(angle), s = sin(angle);
  const int i = (k + 1) % 3, j = (k + 2) % 3;
  const Vec3<S> x = R.col(i), y = R.col(j);
  R.col(i) = c * x + s * y;
  R.col(j) = c * y - s * x;
}

/// Places of all links at q (nq numbers).
template <class S>
void place_links(const Tree& tree, const S* q, TreeMotion<S>& tree_motion) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    LinkPlace<S>& it = tree_motion.place[i];
    if (link.parent >= 0) {
      const LinkPlace<S>& parent = tree_motion.place[static_cast<std::size_t>(link.parent)];
      it.r = parent.R * link.offset.template cast<S>();
      it.o = parent.o + it.r;
      if (link.turned) {
        it.R = parent.R * link.turn.template cast<S>();
      } else {
        it.R = parent.R;
      }
    } else {
      it.r = link.offset.template cast<S>();
      it.o = it.r;
      it.R = link.turn.template cast<S>();
    }
    if (link.kind == JointKind::ball) {
      it.R = it.R * rotation_of(q + link.q);
      it.axis.setZero();
      continue;
    }
    it.axis = it.R.col(link.axis);
    if (link.kind == JointKind::rotation) {
      turn_about(it.R, link.axis, q[link.q]);
    } else {
      const Vec3<S> shift = it.axis * q[link.q];
      it.r += shift;
      it.o += shift;
    }
  }
}

/// Mass properties of all links in the axes of the world; after place_links().
template <class S>
void place_inertia(const Tree& tree, TreeMotion<S>& tree_motion) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    LinkInertia<S>& it = tree_motion.inertia[i];
    it.m = S(link.mass);
    if (link.mass == 0) {
      it.h.setZero();
      it.I.setZero();
      continue;
    }
    const Mat3<S>& R = tree_motion.place[i].R;
    it.h = R * link.moment.template cast<S>();
    const Mat3<S> turned = R * link.inertia.template cast<S>();
    it.I = turned * R.transpose();
  }
}

/// Spins and velocities; after place_links().
template <class S>
void move_links(const Tree& tree, const S* v, TreeMotion<S>& tree_motion) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    const LinkPlace<S>& at = tree_motion.place[i];
    LinkMotion<S>& it = tree_motion.motion[i];
    if (link.parent >= 0) {
      const LinkMotion<S>& parent = tree_motion.motion[static_cast<std::size_t>(link.parent)];
      it.w = parent.w;
      it.v = parent.v + parent.w.cross(at.r);
    } else {
      it.w.setZero();
      it.v.setZero();
    }
    if (link.kind == JointKind::rotation) {
      it.w += at.axis * v[link.v];
    } else if (link.kind == JointKind::translation) {
      it.v += at.axis * v[link.v];
    } else {
      it.w += at.R * Eigen::Map<const Vec3<S>>(v + link.v);
    }
  }
}

/// Their rates with q'' = a (null: 0) while the ground has the acceleration `ground`; after move_links().
template <class S>
void accelerate_links(const Tree& tree, const S* v, const S* a, const Eigen::Vector3d& ground,
                      TreeMotion<S>& tree_motion) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    const LinkPlace<S>& at = tree_motion.place[i];
    LinkMotion<S>& it = tree_motion.motion[i];
    Vec3<S> wp = Vec3<S>::Zero();
    if (link.parent >= 0) {
      const LinkMotion<S>& parent = tree_motion.motion[static_cast<std::size_t>(link.parent)];
      wp = parent.w;
      it.alpha = parent.alpha;
      it.a = parent.a + parent.alpha.cross(at.r) + wp.cross(Vec3<S>(wp.cross(at.r)));
    } else {
      it.alpha.setZero();
      it.a = ground.template cast<S>();
    }
    if (link.kind == JointKind::rotation) {
      const Vec3<S> relative = at.axis * v[link.v];
      it.alpha += wp.cross(relative);
      if (a) it.alpha += at.axis * a[link.v];
    } else if (link.kind == JointKind::translation) {
      const Vec3<S> relative = at.axis * (S(2.0) * v[link.v]);
      it.a += wp.cross(relative);
      if (a) it.a += at.axis * a[link.v];
    } else {
      const Vec3<S> relative = at.R * Eigen::Map<const Vec3<S>>(v + link.v);
      it.alpha += wp.cross(relative);
      if (a) it.alpha += at.R * Eigen::Map<const Vec3<S>>(a + link.v);
    }
  }
}

/// Forces that the motion asks of the joints (n, f of each link), and τ along the velocities; after accelerate_links()
/// and place_inertia().
template <class S>
void carry_forces(const Tree& tree, TreeMotion<S>& tree_motion, S* tau) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    LinkMotion<S>& it = tree_motion.motion[i];
    const LinkInertia<S>& body = tree_motion.inertia[i];
    if (tree.links[i].mass == 0) {
      it.n.setZero();
      it.f.setZero();
      continue;
    }
    it.f = body.m * it.a + it.alpha.cross(body.h) + it.w.cross(Vec3<S>(it.w.cross(body.h)));
    it.n = body.I * it.alpha + body.h.cross(it.a) + it.w.cross(Vec3<S>(body.I * it.w));
  }
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const Link& link = tree.links[i];
    const LinkPlace<S>& at = tree_motion.place[i];
    const LinkMotion<S>& it = tree_motion.motion[i];
    if (link.kind == JointKind::rotation) {
      tau[link.v] = at.axis.dot(it.n);
    } else if (link.kind == JointKind::translation) {
      tau[link.v] = at.axis.dot(it.f);
    } else {
      Eigen::Map<Vec3<S>>(tau + link.v) = at.R.transpose() * it.n;
    }
    if (link.parent < 0) continue;
    LinkMotion<S>& parent = tree_motion.motion[static_cast<std::size_t>(link.parent)];
    parent.f += it.f;
    parent.n += it.n + at.r.cross(it.f);
  }
}

/// τ = M(q) a - c(q, v) - gravity: what has to act along the velocities (a null: 0).
template <class S>
void inverse_dynamics(const Tree& tree, const S* q, const S* v, const S* a, const Eigen::Vector3d& gravity,
                      TreeMotion<S>& tree_motion, S* tau) {
  place_links(tree, q, tree_motion);
  place_inertia(tree, tree_motion);
  move_links(tree, v, tree_motion);
  accelerate_links(tree, v, a, Eigen::Vector3d(-gravity), tree_motion);
  carry_forces(tree, tree_motion, tau);
}

}  // namespace stickslip
