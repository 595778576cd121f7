// SPDX-License-Identifier: Apache-2.0
// A body with several joints becomes a chain of bodies without mass, one joint each, all with the frame of the body.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/robot/mjcf_geoms.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::robot {

namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

/// What a joint is called in the file and in the model.
struct JointName {
  std::string given, hinge, axis;
};

class MjcfReader {
 public:
  MjcfReader(const XmlElement& root, const XmlSource& source, const RobotOptions& options, const MeshReader& mesh)
      : file_(root, source, options, mesh), geoms_(file_) {}

  RobotFile read() {
    static constexpr std::array<std::string_view, 9> kKnown{"compiler", "option",   "default", "asset",  "worldbody",
                                                            "actuator", "equality", "contact", "include"};
    for (const XmlElement& element : file_.root.children) {
      if (element.name == "include")
        file_.source.fail(element.line, "<include> is not followed; put the files together first");
      if (std::find(kKnown.begin(), kKnown.end(), element.name) == kKnown.end())
        file_.writer.unused("<" + element.name + ">", element.line);
    }
    const XmlElement& world = file_.source.require_child(file_.root, "worldbody", "it holds the bodies");
    for (const XmlElement& child : world.children) {
      if (child.name == "geom")
        geoms_.write(file_.defaults.complete(child, "main"), "ground", nullptr);
      else if (child.name == "body")
        write_body(child, "ground", "main", {file_.options.position, file_.options.orientation});
      else
        file_.writer.unused(fmt::format("<{}>", child.name), child.line);
    }
    geoms_.write_contact();
    if (const XmlElement* actuator = file_.root.child("actuator"))
      for (const XmlElement& child : actuator->children) write_actuator(file_.defaults.complete(child, "main"));
    if (const XmlElement* equality = file_.root.child("equality"))
      for (const XmlElement& child : equality->children) write_equality(child);
    if (const XmlElement* contact = file_.root.child("contact"))
      for (const XmlElement& child : contact->children)
        file_.writer.unused(fmt::format("<{}> of <contact>", child.name), child.line);
    const XmlAttribute* name = file_.root.find("model");
    RobotFile file = file_.writer.finish(name ? name->value : "model", file_.source);
    add_options(file);
    return file;
  }

 private:
  void add_options(RobotFile& file) const {
    const XmlElement* option = file_.root.child("option");
    Vector3d gravity(0, 0, -9.81);
    double step = 0.002;
    const int line = option ? option->line : file_.root.line;
    if (option) {
      if (const XmlAttribute* given = option->find("gravity")) gravity = file_.source.vector3(*given);
      step = file_.source.number_or(*option, "timestep", step);
    }
    const TomlPlace place = file_.writer.place(line);
    file.sections.push_back(
        {"gravity", place, {TomlTable{{"vector", place, file_.writer.value(gravity, line)}}, place}});
    file.sections.push_back({"run",
                             place,
                             {TomlTable{{"scheme", place, file_.writer.value(std::string("moreau"), line)},
                                        {"step", place, file_.writer.value(step, line)},
                                        {"end_time", place, file_.writer.value(10.0, line)}},
                              place}});
  }

  void write_body(const XmlElement& element, const std::string& parent, std::string group, const FramePlace& world) {
    file_.writer.expect(element, {"name", "pos", "quat", "euler", "axisangle", "childclass"});
    if (const XmlAttribute* own = element.find("childclass")) group = own->value;
    const XmlAttribute* given = element.find("name");
    const std::string name = file_.writer.name_for("body", given ? given->value : fmt::format("body{}", ++unnamed_));
    const FramePlace here = file_.place_of(element);
    GeomMasses masses;
    std::vector<XmlElement> joints;
    bool free = false;
    for (const XmlElement& child : element.children) {
      if (child.name == "geom") geoms_.write(file_.defaults.complete(child, group), name, &masses);
      if (child.name == "joint") joints.push_back(file_.defaults.complete(child, group));
      if (child.name == "freejoint") free = true;
      if (child.name != "geom" && child.name != "joint" && child.name != "freejoint" && child.name != "body" &&
          child.name != "inertial")
        file_.writer.unused(fmt::format("<{}>", child.name), child.line);
    }
    for (const XmlElement& joint : joints) free |= joint.find("type") && joint.find("type")->value == "free";
    if (free && (joints.size() > 1 || parent != "ground"))
      file_.source.fail(element.line,
                        fmt::format("body '{}': a free joint stands alone, on a body of the world", name));
    TomlTable body;
    file_.writer.set(body, "name", name, element.line);
    const XmlElement* inertial = element.child("inertial");
    if (inertial && !file_.inertia_from_geom)
      write_inertial(*inertial, body);
    else
      write_masses(masses, element.line, body);
    if (free)
      file_.writer.set_pose(body, "position_0", world.at(here).position, "orientation_0", world.at(here).orientation,
                            element.line);
    file_.writer.add("body", std::move(body), element.line);
    if (!free) write_joints(joints, element, name, parent, parent == "ground" ? world.at(here) : here);
    for (const XmlElement& child : element.children)
      if (child.name == "body") write_body(child, name, group, {});
  }

  void write_inertial(const XmlElement& inertial, TomlTable& body) {
    const FramePlace place = file_.place_of(inertial);
    file_.writer.set(body, "mass", file_.source.number(file_.source.require(inertial, "mass")), inertial.line);
    if (!place.position.isZero(0.0)) file_.writer.set(body, "center", place.position, inertial.line);
    Matrix3d J = Matrix3d::Zero();
    if (const XmlAttribute* full = inertial.find("fullinertia")) {
      const std::vector<double> f = file_.source.numbers(*full, 6);
      J << f[0], f[3], f[4], f[3], f[1], f[5], f[4], f[5], f[2];
    } else {
      J.diagonal() = file_.source.vector3(file_.source.require(inertial, "diaginertia"));
    }
    if (!place.orientation.vec().isZero(0.0)) {
      const Matrix3d turn = place.orientation.toRotationMatrix();
      J = turn * J * turn.transpose();
      J = Matrix3d(J.selfadjointView<Eigen::Upper>());
    }
    file_.writer.set(body, "inertia", J, inertial.line);
  }

  void write_masses(const GeomMasses& masses, int line, TomlTable& body) {
    file_.writer.set(body, "mass", masses.any ? masses.sum.volume : 0.0, line);
    if (!masses.any || masses.sum.volume == 0) return;
    if (!masses.sum.center.isZero(0.0)) file_.writer.set(body, "center", Vector3d(masses.sum.center), line);
    file_.writer.set(body, "inertia", Matrix3d(masses.sum.inertia.selfadjointView<Eigen::Upper>()), line);
  }

  /// Joint by joint, with bodies without mass between them.
  void write_joints(const std::vector<XmlElement>& joints, const XmlElement& element, const std::string& body,
                    const std::string& parent, const FramePlace& here) {
    std::string below = parent;
    FramePlace place = here;
    for (std::size_t k = 0; k < std::max<std::size_t>(joints.size(), 1); ++k) {
      const bool last = k + 1 >= joints.size();
      std::string child = body;
      if (!last) {
        child = file_.writer.name_for("body", fmt::format("{}_part{}", body, k + 1));
        TomlTable frame;
        file_.writer.set(frame, "name", child, element.line);
        file_.writer.set(frame, "mass", 0.0, element.line);
        file_.writer.add("body", std::move(frame), element.line);
      }
      if (joints.empty())
        write_weld(element, body, below, place);
      else
        write_joint(joints[k], body, below, child, place);
      below = child;
      place = {};
    }
  }

  void write_weld(const XmlElement& element, const std::string& body, const std::string& parent,
                  const FramePlace& place) {
    TomlTable hinge;
    file_.writer.set(hinge, "name", file_.writer.name_for("hinge", body + "_weld"), element.line);
    file_.writer.set(hinge, "parent", parent, element.line);
    file_.writer.set(hinge, "child", body, element.line);
    file_.writer.set(hinge, "axes", std::vector<std::string>{}, element.line);
    file_.writer.set_pose(hinge, "position", place.position, "orientation", place.orientation, element.line);
    file_.writer.add("hinge", std::move(hinge), element.line);
  }

  void write_joint(const XmlElement& joint, const std::string& body, const std::string& parent,
                   const std::string& child, const FramePlace& place) {
    file_.writer.expect(joint, {"name", "class", "type", "pos", "axis", "range", "limited", "frictionloss", "damping",
                                "stiffness", "springref", "ref", "group"});
    const XmlAttribute* given = joint.find("name");
    const std::string type = joint.find("type") ? joint.find("type")->value : "hinge";
    if (type != "hinge" && type != "slide" && type != "ball")
      file_.source.fail(joint.line, fmt::format("unknown joint type '{}'; hinge, slide, ball or free", type));
    if (file_.source.number_or(joint, "ref", 0) != 0)
      file_.source.fail(joint.find("ref")->line, "ref must be 0; other references are not available");
    const std::string name = file_.writer.name_for("hinge", given ? given->value : body + "_joint");
    Vector3d direction = Vector3d::UnitZ(), at = Vector3d::Zero();
    if (const XmlAttribute* axis = joint.find("axis")) direction = file_.source.vector3(*axis);
    if (direction.isZero(0.0))
      file_.source.fail(joint.find("axis")->line, "the axis has length 0; give a direction, as in axis=\"0 0 1\"");
    if (const XmlAttribute* pos = joint.find("pos")) at = file_.source.vector3(*pos);
    const AxisFrame frame = type == "ball" ? AxisFrame{'z', Quaterniond::Identity()} : axis_frame(direction);
    const std::string axis = type == "ball" ? "ball" : std::string(type == "slide" ? "t" : "r") + frame.letter;
    const double unit = type == "slide" ? 1.0 : file_.angle;
    joints_.push_back({given ? given->value : "", name, axis});
    TomlTable hinge;
    file_.writer.set(hinge, "name", name, joint.line);
    file_.writer.set(hinge, "parent", parent, joint.line);
    file_.writer.set(hinge, "child", child, joint.line);
    file_.writer.set(hinge, "axes", std::vector<std::string>{axis}, joint.line);
    file_.writer.set_pose(hinge, "position", place.position + place.orientation * at, "orientation",
                          place.orientation * frame.turn, joint.line);
    file_.writer.set_pose(hinge, "child_position", at, "child_orientation", frame.turn, joint.line);
    if (type != "ball")
      write_joint_laws(joint, name, axis, unit, hinge);
    else if (joint.find("damping") || joint.find("frictionloss") || joint.find("range"))
      file_.writer.unused("limits, damping and friction of ball joints", joint.line);
    file_.writer.add("hinge", std::move(hinge), joint.line);
  }

  void write_joint_laws(const XmlElement& joint, const std::string& name, const std::string& axis, double unit,
                        TomlTable& hinge) {
    for (const char* key : {"damping", "stiffness"})
      if (const double value = file_.source.number_or(joint, key, 0); value != 0)
        file_.writer.set(hinge, key, value, joint.line);
    if (const double rest = unit * file_.source.number_or(joint, "springref", 0); rest != 0)
      file_.writer.set(hinge, "rest", rest, joint.line);
    const XmlAttribute *range = joint.find("range"), *limited = joint.find("limited");
    if (range && !(limited && limited->value == "false")) {
      const std::vector<double> ends = file_.source.numbers(*range, 2);
      if (!(ends[0] < ends[1]))
        file_.source.fail(
            range->line, fmt::format("range = {}: the first number must be below the second", in_quotes(range->value)));
      const double lower = unit * ends[0], upper = unit * ends[1];
      file_.writer.set(hinge, "lower", lower, range->line);
      file_.writer.set(hinge, "upper", upper, range->line);
      if (lower > 0 || upper < 0) {
        file_.writer.set(hinge, "position_0", lower > 0 ? lower : upper, range->line);
        file_.writer.note(
            fmt::format("{}: joint '{}' starts at its stop, for 0 lies beyond it", file_.source.path(), name));
      }
    }
    const double friction = file_.source.number_or(joint, "frictionloss", 0);
    if (!(friction > 0)) return;
    TomlTable law;
    file_.writer.set(law, "name", name, joint.line);
    file_.writer.set(law, "on", name + "." + axis, joint.line);
    file_.writer.set(law, "limit", friction, joint.line);
    file_.writer.add("friction", std::move(law), joint.line);
  }

  const JointName& joint_of(const XmlElement& element, const char* attribute) const {
    const XmlAttribute& name = file_.source.require(element, attribute);
    std::vector<std::string> known;
    for (const JointName& joint : joints_) {
      if (joint.given == name.value) return joint;
      known.push_back(joint.given);
    }
    file_.source.fail(name.line,
                      fmt::format("there is no joint {}{}", in_quotes(name.value), name_hint(name.value, known)));
  }

  void write_actuator(const XmlElement& element) {
    if (element.name != "motor" && element.name != "position" && element.name != "velocity") {
      file_.writer.unused(fmt::format("<{}> of <actuator>", element.name), element.line);
      return;
    }
    if (!element.find("joint")) {
      file_.writer.unused(fmt::format("<{}> without a joint", element.name), element.line);
      return;
    }
    file_.writer.expect(element, {"name", "class", "joint", "kp", "kv", "gear", "forcerange", "forcelimited"});
    const JointName& joint = joint_of(element, "joint");
    double gear = 1;
    if (const XmlAttribute* given = element.find("gear"))
      if (const std::vector<double> values = file_.numbers(*given); !values.empty()) gear = values[0];
    const XmlAttribute* name = element.find("name");
    TomlTable motor;
    file_.writer.set(motor, "name", file_.writer.name_for("motor", name ? name->value : "motor_" + joint.hinge),
                     element.line);
    file_.writer.set(motor, "on", joint.hinge + "." + joint.axis, element.line);
    file_.writer.set(motor, element.name == "motor" ? "force" : element.name.c_str(), 0.0, element.line);
    const double kp = file_.source.number_or(element, "kp", 1),
                 kv = file_.source.number_or(element, "kv", element.name == "velocity" ? 1 : 0);
    if (element.name == "position") file_.writer.set(motor, "stiffness", kp * gear * gear, element.line);
    if (element.name != "motor" && kv > 0) file_.writer.set(motor, "damping", kv * gear * gear, element.line);
    if (const XmlAttribute* range = element.find("forcerange")) {
      const std::vector<double> ends = file_.source.numbers(*range, 2);
      if (ends[0] != -ends[1]) file_.source.fail(range->line, "forcerange must be symmetric, as in \"-10 10\"");
      if (element.name != "motor")
        file_.writer.set(motor, "limit", std::abs(gear) * ends[1], range->line);
      else
        file_.writer.unused("forcerange of motors", range->line);
    }
    file_.writer.add("motor", std::move(motor), element.line);
    if (motors_++ == 0)
      file_.writer.note(fmt::format(
          "{}: controls are 0; --set motor.NAME.position=.. (velocity, force) gives one, also as an expression of t",
          file_.source.path()));
  }

  void write_equality(const XmlElement& element) {
    const XmlAttribute* active = element.find("active");
    if (element.name != "joint" || !element.find("joint2") || (active && active->value == "false")) {
      file_.writer.unused(fmt::format("<{}> of <equality>", element.name), element.line);
      return;
    }
    file_.writer.expect(element, {"name", "class", "joint1", "joint2", "polycoef", "active"});
    const JointName &first = joint_of(element, "joint1"), &second = joint_of(element, "joint2");
    std::vector<double> poly{0, 1, 0, 0, 0};
    if (const XmlAttribute* given = element.find("polycoef")) poly = file_.source.numbers(*given, 5);
    if (poly[2] != 0 || poly[3] != 0 || poly[4] != 0)
      file_.source.fail(element.line, "only linear couplings are available: polycoef = \"a b 0 0 0\"");
    TomlTable coupling;
    const XmlAttribute* name = element.find("name");
    file_.writer.set(coupling, "name", file_.writer.name_for("coupling", name ? name->value : first.hinge + "_mimic"),
                     element.line);
    file_.writer.set(coupling, "on",
                     std::vector<std::string>{first.hinge + "." + first.axis, second.hinge + "." + second.axis},
                     element.line);
    file_.writer.set(coupling, "ratio", poly[1], element.line);
    file_.writer.set(coupling, "offset", poly[0], element.line);
    file_.writer.add("coupling", std::move(coupling), element.line);
  }

  MjcfFile file_;
  MjcfGeoms geoms_;
  std::vector<JointName> joints_;
  int unnamed_ = 0, motors_ = 0;
};

}  // namespace

RobotFile read_mjcf(const XmlElement& root, const XmlSource& source, const RobotOptions& options,
                    const MeshReader& mesh) {
  return MjcfReader(root, source, options, mesh).read();
}

}  // namespace stickslip::robot
