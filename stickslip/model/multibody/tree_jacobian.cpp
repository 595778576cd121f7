// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/tree_jacobian.hpp"

#include <algorithm>

namespace stickslip {

using Eigen::Vector3d;

TreePoint tree_point(const TreeMotion<double>& motion, int link, const Vector3d& at, bool moving) {
  TreePoint point{link, at, Vector3d::Zero(), Vector3d::Zero(), Vector3d::Zero(), Vector3d::Zero()};
  if (link < 0) return point;
  const LinkPlace<double>& place = motion.place[static_cast<std::size_t>(link)];
  const Vector3d arm = place.R * at;
  point.P = place.o + arm;
  if (!moving) return point;
  const LinkMotion<double>& it = motion.motion[static_cast<std::size_t>(link)];
  point.w = it.w;
  point.v = it.v + it.w.cross(arm);
  point.alpha = it.alpha;
  point.a = it.a + it.alpha.cross(arm) + it.w.cross(Vector3d(it.w.cross(arm)));
  return point;
}

std::vector<std::vector<Index>> velocity_paths(const Tree& tree) {
  std::vector<std::vector<Index>> paths(tree.links.size() + 1);  // the last one: of the ground
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    if (link.parent >= 0) paths[i] = paths[static_cast<std::size_t>(link.parent)];
    for (int k = 0; k < link.velocities(); ++k) paths[i].push_back(link.v + k);
  }
  return paths;
}

const std::vector<Index>& velocities_above(const std::vector<std::vector<Index>>& paths, int link) {
  return link < 0 ? paths.back() : paths[static_cast<std::size_t>(link)];
}

Vector3d axis_of(const Tree& tree, const TreeMotion<double>& motion, Index k) {
  const auto i = static_cast<std::size_t>(tree.velocity[static_cast<std::size_t>(k)].link);
  const Link& link = tree.links[i];
  return link.kind == JointKind::ball ? Vector3d(motion.place[i].R.col(k - link.v)) : motion.place[i].axis;
}

Vector3d point_column(const Tree& tree, const TreeMotion<double>& motion, Index k, const Vector3d& P) {
  const TreeVelocity& velocity = tree.velocity[static_cast<std::size_t>(k)];
  const Vector3d axis = axis_of(tree, motion, k);
  if (!velocity.rotation) return axis;
  return axis.cross(Vector3d(P - motion.place[static_cast<std::size_t>(velocity.link)].o));
}

Vector3d spin_column(const Tree& tree, const TreeMotion<double>& motion, Index k) {
  if (!tree.velocity[static_cast<std::size_t>(k)].rotation) return Vector3d::Zero();
  return axis_of(tree, motion, k);
}

Vector3d point_slope(const Tree& tree, const TreeMotion<double>& motion, Index k, const TreePoint& point) {
  const TreeVelocity& velocity = tree.velocity[static_cast<std::size_t>(k)];
  const int parent = tree.links[static_cast<std::size_t>(velocity.link)].parent;
  Vector3d wp = Vector3d::Zero(), vp = Vector3d::Zero();
  if (parent >= 0) {
    const LinkMotion<double>& above = motion.motion[static_cast<std::size_t>(parent)];
    wp = above.w;
    vp = above.v + wp.cross(Vector3d(point.P - motion.place[static_cast<std::size_t>(parent)].o));
  }
  Vector3d slope = wp.cross(point_column(tree, motion, k, point.P));
  if (velocity.rotation) slope += axis_of(tree, motion, k).cross(Vector3d(point.v - vp));
  return slope;
}

Vector3d spin_slope(const Tree& tree, const TreeMotion<double>& motion, Index k, const TreePoint& point) {
  const TreeVelocity& velocity = tree.velocity[static_cast<std::size_t>(k)];
  if (!velocity.rotation) return Vector3d::Zero();
  const int parent = tree.links[static_cast<std::size_t>(velocity.link)].parent;
  const Vector3d wp = parent >= 0 ? motion.motion[static_cast<std::size_t>(parent)].w : Vector3d(Vector3d::Zero());
  return axis_of(tree, motion, k).cross(Vector3d(point.w - wp));
}

SecondColumn second_column(const Tree& tree, const TreeMotion<double>& motion, Index i, Index j, const Vector3d& P) {
  const int link_i = tree.velocity[static_cast<std::size_t>(i)].link,
            link_j = tree.velocity[static_cast<std::size_t>(j)].link;
  SecondColumn second{Vector3d::Zero(), Vector3d::Zero()};
  if (link_j <= link_i) {  // both lie on one way up: j turns all of i
    const Vector3d turn = spin_column(tree, motion, j);
    second.point = turn.cross(point_column(tree, motion, i, P));
    second.spin = turn.cross(spin_column(tree, motion, i));
  } else {
    second.point = spin_column(tree, motion, i).cross(point_column(tree, motion, j, P));
  }
  return second;
}

}  // namespace stickslip
