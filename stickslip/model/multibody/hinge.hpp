// SPDX-License-Identifier: Apache-2.0
// Hinges between bodies as plain data.
//
//   world ← parent body ← (position, orientation) ← motion of the axes ← (child_position, child_orientation)⁻¹ ← child
//
// The hinge frame of the parent stands at `position` with `orientation` in the frame of the parent body, that of the
// child at `child_position` with `child_orientation` in the frame of the child. The axes carry the one to the other,
// one after the other, each about or along the axis of the frame that the ones before it have reached:
//
//   tx ty tz   translation [m]         rx ry rz   rotation [rad]        any sequence; [] is a weld
//   ball       unit quaternion w, x, y, z (child frame to parent frame); velocities ω in the child's hinge frame
//   [rad/s] free       tx, ty, tz, ball: position of the child's hinge frame in the parent's, then the quaternion
//
// Coordinates are called <hinge>.<axis>; the second rz is rz_2. Of a ball <hinge>.qw .. .qz with velocities <hinge>.wx
// .. .wz; of a free hinge <hinge>.x .y .z .qw .. .qz with velocities <hinge>.vx .. .wz.
#pragma once

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/model/state_function.hpp"

namespace stickslip {

enum class HingeAxis : unsigned char { tx, ty, tz, rx, ry, rz, ball, free };
std::string_view to_string(HingeAxis axis);
/// Throws InputError naming the known words.
HingeAxis hinge_axis_from(std::string_view word);
inline bool is_translation(HingeAxis axis) { return axis <= HingeAxis::tz; }
inline bool is_rotation(HingeAxis axis) { return axis >= HingeAxis::rx && axis <= HingeAxis::rz; }
/// Numbers of positions and velocities of one axis.
inline Index positions_of(HingeAxis axis) { return axis == HingeAxis::ball ? 4 : axis == HingeAxis::free ? 7 : 1; }
inline Index velocities_of(HingeAxis axis) { return axis == HingeAxis::ball ? 3 : axis == HingeAxis::free ? 6 : 1; }

/// Index of "ground" where a body is asked for (collision/collision_scene.hpp has the same).
inline constexpr int kGroundBody = -1;

struct Hinge {
  std::string name = {};
  int parent = kGroundBody, child = 0;
  Eigen::Vector3d position = Eigen::Vector3d::Zero();               ///< in the parent [m]
  Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();  ///< in the parent
  Eigen::Vector3d child_position = Eigen::Vector3d::Zero();         ///< in the child [m]
  Eigen::Quaterniond child_orientation = Eigen::Quaterniond::Identity();
  std::vector<HingeAxis> axes = {};
  /// Translations that the bearing holds at 0, before the axes: coordinates with a row each (held_axes.hpp), so that
  /// its load is known. Those that `axes` does not move; empty: the load is not asked for.
  std::vector<HingeAxis> held = {};
  // Of every single axis (not ball, not free); empty: 0 everywhere.
  std::vector<double> stiffness = {}, damping = {};  ///< >= 0 [N/m, N m/rad; N s/m, N m s/rad]
  std::vector<double> rest = {};                     ///< where the spring has no force [m, rad]
  std::vector<StateFunction> force = {};             ///< along the axis, of t, q, v [N, N m]
  // At the start; empty: 0, quaternions 1.
  std::vector<double> position_0 = {};  ///< all positions of the axes, in order
  std::vector<double> velocity_0 = {};  ///< all velocities

  Index positions() const;
  Index velocities() const;
};

/// What the bearing of a hinge with one single axis or a ball holds: the other translations. Throws PartError for
/// others.
std::vector<HingeAxis> bearing_axes(const Hinge& hinge);

/// Names of the positions and velocities of a hinge, without "<hinge>.".
std::vector<std::string> position_names(const std::vector<HingeAxis>& axes);
/// A velocity of a single axis is named like its position.
std::vector<std::string> velocity_names(const std::vector<HingeAxis>& axes);

/// Where two bodies stay together although the tree does not say so. Between frame a (point_a, orientation_a in body_a)
/// and frame b the `axes` are free, the other motions are held:
///
///   translations k not free   e_k · (P_b - P_a) = 0              e_k axes of frame a            <loop>.tx ...
///   no rotation free          y_a·z_b = z_a·x_b = x_a·y_b = 0                                   <loop>.rx .ry .rz
///   one, k                    i_a·k_b = j_a·k_b = 0              i, j the axes after k          <loop>.r<i>, .r<j>
///   two, k then l             k_a·l_b = 0                                                       <loop>.r<the third>
///   three, or "ball"          nothing
///
/// Rows may depend on each other: the schemes find the rank.
struct Loop {
  std::string name = {};
  int body_a = kGroundBody, body_b = kGroundBody;
  Eigen::Vector3d point_a = Eigen::Vector3d::Zero(), point_b = Eigen::Vector3d::Zero();  ///< in the bodies [m]
  Eigen::Quaterniond orientation_a = Eigen::Quaterniond::Identity(), orientation_b = Eigen::Quaterniond::Identity();
  std::vector<HingeAxis> axes = {};  ///< that stay free; not `free`
};

/// Names of the rows of all loops, in order: "<loop>.tx" ...
std::vector<std::string> loop_row_names(const std::vector<Loop>& loops);

/// A force and a torque on a body, of t, q, v.
struct PointLoad {
  std::string name = {};
  int body = 0;
  Eigen::Vector3d point = Eigen::Vector3d::Zero();     ///< in the body [m]
  bool turns = false;                                  ///< components along the axes of the body; false: of the world
  std::vector<StateFunction> force = {}, torque = {};  ///< three, or none [N, N m]
};

}  // namespace stickslip
