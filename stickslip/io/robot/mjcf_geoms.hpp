// SPDX-License-Identifier: Apache-2.0
// What the parts of the MJCF reader share: the file, its settings and what is written; frames of elements; geoms.
#pragma once

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <string>
#include <vector>

#include "stickslip/io/robot/mjcf_defaults.hpp"
#include "stickslip/io/robot/robot_file.hpp"
#include "stickslip/model/collision/shape.hpp"

namespace stickslip::robot {

/// A frame in another one.
struct FramePlace {
  Eigen::Vector3d position = Eigen::Vector3d::Zero();
  Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();
  FramePlace at(const FramePlace& inner) const {
    return {position + orientation * inner.position, orientation * inner.orientation};
  }
};

/// The file and what <compiler> says.
class MjcfFile {
 public:
  MjcfFile(const XmlElement& root, const XmlSource& source, const RobotOptions& options, const MeshReader& mesh);

  /// pos, and quat, euler or axisangle.
  FramePlace place_of(const XmlElement& element) const;
  /// As many numbers as there are.
  std::vector<double> numbers(const XmlAttribute& attribute) const;

  const XmlElement& root;
  const XmlSource& source;
  const RobotOptions& options;
  const MeshReader& mesh;
  RobotWriter writer;
  MjcfDefaults defaults;
  double angle;  ///< radians per unit of angles
  std::string euler_sequence = "xyz", mesh_folder = {};
  bool inertia_from_geom = false;

 private:
  Eigen::Quaterniond orientation_of(const XmlElement& element) const;
};

/// Mass, centre and inertia of the geoms of a body.
struct GeomMasses {
  bool any = false;
  MassProperties sum{};  ///< volume: mass
  void add(MassProperties part, double density);
};

class MjcfGeoms {
 public:
  explicit MjcfGeoms(MjcfFile& file) : file_(file) {}
  /// A geom with its defaults as a [[shape]]; its mass into `masses`, if not null.
  void write(const XmlElement& geom, const std::string& body, GeomMasses* masses);
  /// One [[contact]] for all that touch, if there can be any.
  void write_contact();

 private:
  Shape shape_of(const XmlElement& geom, FramePlace& place) const;
  std::vector<Eigen::Vector3d> points_of(const XmlElement& geom) const;
  void note_friction(const XmlElement& geom);

  MjcfFile& file_;
  double largest_friction_ = 0;
  bool mixed_ = false;
  int touching_ = 0;
};

}  // namespace stickslip::robot
