// SPDX-License-Identifier: Apache-2.0
// Robot files (URDF, MJCF) as entries of a model file: [[body]], [[hinge]], [[shape]], [[friction]], [[coupling]],
// [[motor]]. What follows (checks, --set, `stickslip check`) is that of every model; a message about an entry names the
// robot file and the line it comes from.
#pragma once

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stickslip/io/robot/xml_document.hpp"
#include "stickslip/io/toml_document.hpp"

namespace stickslip::robot {

/// How a model takes a robot in.
struct RobotOptions {
  std::string prefix = {};                             ///< put before all names
  bool free_base = false;                              ///< the first link is free; else it is fixed to the ground
  Eigen::Vector3d position = Eigen::Vector3d::Zero();  ///< of the first link, at the start if it is free [m]
  Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();
  int file = 0;  ///< TomlPlace::file of what is made
};

struct RobotFile {
  std::string name;
  TomlTable sections;  ///< lists of tables; and gravity, run where the file has them
  std::vector<std::string> notes;
};

/// Corners of the mesh that an attribute names; mistakes name the line.
using MeshReader = std::function<std::vector<Eigen::Vector3d>(const XmlAttribute&)>;

/// URDF, as of ROS: links, joints (revolute, continuous, prismatic, fixed, floating, planar) with limits, damping,
/// friction and mimic, inertias, collision shapes (of links without any: primitive visual ones, that nothing touches).
///
///   link    [[body]] with the same frame; without <inertial> it has no mass
///   joint   [[hinge]] whose frame in the parent is <origin>; along x, y, z the axes are rx ry rz or tx ty tz, else the
///   frame is
///           turned so that the axis is rz or tz. Limits of position are stops, damping is the hinge's, friction is a
///           [[friction]] of the joint's name, mimic a [[coupling]] <joint>_mimic
///   names   what cannot stand in a name becomes _
RobotFile read_urdf(const XmlElement& root, const XmlSource& source, const RobotOptions& options,
                    const MeshReader& mesh);

/// MJCF's common subset: worldbody with nested bodies, joints (hinge, slide, ball, free; several per body), geoms
/// (plane, sphere, capsule, cylinder, box, mesh), inertial, defaults with classes, actuators motor, position and
/// velocity, equality joint; frictionloss, damping, armature 0, stiffness, springref, ref 0, range. Angles as
/// <compiler> says.
RobotFile read_mjcf(const XmlElement& root, const XmlSource& source, const RobotOptions& options,
                    const MeshReader& mesh);

/// What both readers write with.
class RobotWriter {
 public:
  explicit RobotWriter(const RobotOptions& options) : options_(options) {}

  TomlPlace place(int line) const { return {line, 0, -1, options_.file}; }
  TomlNode value(double number, int line) const { return {number, place(line)}; }
  TomlNode value(const std::string& text, int line) const { return {text, place(line)}; }
  TomlNode value(const std::vector<std::string>& texts, int line) const;
  TomlNode value(const Eigen::Vector3d& x, int line) const;
  TomlNode value(const Eigen::Quaterniond& q, int line) const;  ///< w, x, y, z
  TomlNode value(const Eigen::Matrix3d& m, int line) const;
  TomlNode value(const std::vector<Eigen::Vector3d>& points, int line) const;

  template <class Value>
  void set(TomlTable& table, const char* key, const Value& given, int line) const {
    table.push_back({key, place(line), value(given, line)});
  }
  /// Only where they say anything.
  void set_pose(TomlTable& table, const char* position, const Eigen::Vector3d& x, const char* orientation,
                const Eigen::Quaterniond& q, int line) const;
  /// One more [[section]].
  void add(const char* section, TomlTable table, int line);

  /// A name that can stand in a model file: with the prefix, other characters as _, and not used before in this list.
  std::string name_for(const std::string& list, const std::string& given);
  void note(std::string text) { notes_.push_back(std::move(text)); }
  /// Counts what is passed over, with the line of the first.
  void unused(const std::string& what, int line);
  /// Attributes that nobody asks for.
  void expect(const XmlElement& element, std::initializer_list<std::string_view> known);

  RobotFile finish(std::string name, const XmlSource& source);

 private:
  RobotOptions options_;
  TomlTable sections_;
  std::vector<std::string> notes_, renamed_;
  std::map<std::string, std::set<std::string>> taken_;
  std::map<std::string, std::pair<int, int>> unused_;  ///< count, first line
};

/// A hinge axis as a letter and the turn of the frame that brings the letter's axis onto `direction` (not zero). Exact
/// along the axes, also backwards.
struct AxisFrame {
  char letter;
  Eigen::Quaterniond turn;
};
AxisFrame axis_frame(const Eigen::Vector3d& direction);

/// Rotation by roll, pitch, yaw about the fixed axes x, y, z, in this order.
Eigen::Quaterniond from_rpy(const Eigen::Vector3d& rpy);

}  // namespace stickslip::robot
