// SPDX-License-Identifier: Apache-2.0
// Trees that several tests use.
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "stickslip/model/rigid_bodies.hpp"

namespace stickslip::test {

/// N boxes of 0.1 x 0.02 x 0.02 m and 0.1 kg in a row, hinges with axes y, z, y, ... at their ends; q_i = 0.3 sin(1 +
/// i).
inline BodyModel chain_model(int links, double limit = 0) {
  BodyModel model;
  model.gravity = {0, 0, -9.81};
  const double m = 0.1, long_ = 0.1, thin = 0.02;
  for (int i = 0; i < links; ++i) {
    const double across = m * (long_ * long_ + thin * thin) / 12;
    RigidBody body;
    body.name = fmt::format("link{}", i);
    body.mass = m;
    body.center = {0.05, 0, 0};
    body.inertia = Eigen::Vector3d(m * 2 * thin * thin / 12, across, across).asDiagonal();
    model.bodies.push_back(body);
    Hinge hinge;
    hinge.name = fmt::format("h{}", i);
    hinge.parent = i - 1;
    hinge.child = i;
    if (i > 0) hinge.position = {long_, 0, 0};
    hinge.axes = {i % 2 == 0 ? HingeAxis::ry : HingeAxis::rz};
    hinge.position_0 = {0.3 * std::sin(1.0 + i)};
    model.hinges.push_back(hinge);
    if (limit > 0) model.friction.push_back({.name = fmt::format("f{}", i), .directions = {on(i)}, .limit = limit});
  }
  return model;
}

/// A tree with every kind of joint, branches, a weld, turned frames and a free root.
inline BodyModel mixed_tree() {
  BodyModel model;
  model.gravity = {0.3, -0.4, -9.81};
  for (int i = 0; i < 7; ++i) {
    RigidBody body;
    body.name = fmt::format("b{}", i);
    body.mass = 0.7 + 0.3 * i;
    body.center = {0.05 * i, 0.1 - 0.02 * i, 0.03};
    Eigen::Matrix3d J;
    J << 0.05 + 0.01 * i, 0.004, -0.003, 0.004, 0.06, 0.002, -0.003, 0.002, 0.04 + 0.005 * i;
    body.inertia = J;
    model.bodies.push_back(body);
  }
  const auto turned = [](double a, double b) {
    return Eigen::Quaterniond(Eigen::AngleAxisd(a, Eigen::Vector3d(1, 2, -1).normalized())) *
           Eigen::Quaterniond(Eigen::AngleAxisd(b, Eigen::Vector3d::UnitY()));
  };
  const auto hinge = [&](const char* name, int parent, int child, std::vector<HingeAxis> axes) {
    Hinge it;
    it.name = name;
    it.parent = parent;
    it.child = child;
    it.axes = std::move(axes);
    it.position = {0.2, 0.1 * child, -0.1};
    it.orientation = turned(0.4 * child, 0.3);
    it.child_position = {-0.1, 0.05, 0.02 * child};
    it.child_orientation = turned(-0.2, 0.1 * child);
    model.hinges.push_back(it);
  };
  hinge("base", kGround, 0, {HingeAxis::free});
  hinge("shoulder", 0, 1, {HingeAxis::ball});
  hinge("elbow", 1, 2, {HingeAxis::rz, HingeAxis::ry, HingeAxis::rz});
  model.hinges.back().position_0 = {0.2, 0.9, -0.3};
  hinge("slide", 0, 3, {HingeAxis::tx, HingeAxis::rx});
  hinge("weld", 3, 4, {});
  hinge("wrist", 4, 5, {HingeAxis::tz, HingeAxis::ball});
  return model;  // b6 is free
}

}  // namespace stickslip::test
