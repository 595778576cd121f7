// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/robot/robot_file.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::robot {

namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

struct Place {
  Vector3d position = Vector3d::Zero();
  Quaterniond orientation = Quaterniond::Identity();
};

struct Joint {
  const XmlElement* element;
  std::string name, type;
  std::size_t parent, child;
};

class UrdfReader {
 public:
  UrdfReader(const XmlElement& root, const XmlSource& source, const RobotOptions& options, const MeshReader& mesh)
      : root_(root), source_(source), options_(options), mesh_(mesh), writer_(options) {}

  RobotFile read() {
    writer_.expect(root_, {"name", "version", "xmlns:xacro"});
    for (const XmlElement& element : root_.children) {
      if (element.name.starts_with("xacro:"))
        source_.fail(element.line, fmt::format("<{}> is a macro; expand the file first: xacro {} > robot.urdf",
                                               element.name, source_.path()));
      if (element.name == "link") {
        remember(links_, link_names_, element, "link");
      } else if (element.name == "joint") {
        remember(joint_elements_, joint_names_, element, "joint");
      } else if (element.name != "material") {
        writer_.unused("<" + element.name + ">", element.line);
      }
    }
    if (links_.empty()) source_.fail(root_.line, "the robot has no <link>");
    for (const XmlElement* element : joint_elements_) connect(*element);
    const std::size_t base = find_base();
    for (std::size_t k = 0; k < links_.size(); ++k) bodies_.push_back(writer_.name_for("body", link_names_[k]));
    for (const Joint& joint : joints_) hinges_.push_back(writer_.name_for("hinge", joint.name));
    for (std::size_t k = 0; k < links_.size(); ++k) write_link(k, k == base);
    write_base(base);
    for (std::size_t k = 0; k < joints_.size(); ++k) write_joint(k);
    const XmlAttribute* name = root_.find("name");
    return writer_.finish(name ? name->value : "robot", source_);
  }

 private:
  void remember(std::vector<const XmlElement*>& list, std::vector<std::string>& names, const XmlElement& element,
                const char* what) {
    const std::string& name = source_.require(element, "name").value;
    for (std::size_t k = 0; k < names.size(); ++k)
      if (names[k] == name)
        source_.fail(element.line,
                     fmt::format("two {}s are named {}, the other in line {}", what, in_quotes(name), list[k]->line));
    list.push_back(&element);
    names.push_back(name);
  }

  std::size_t link_of(const XmlElement& joint, const char* which) const {
    const XmlElement& element =
        source_.require_child(joint, which, fmt::format("name the link, as in <{} link=\"..\"/>", which));
    const XmlAttribute& name = source_.require(element, "link");
    for (std::size_t k = 0; k < links_.size(); ++k)
      if (link_names_[k] == name.value) return k;
    source_.fail(name.line,
                 fmt::format("there is no link {}{}", in_quotes(name.value), name_hint(name.value, link_names_)));
  }

  void connect(const XmlElement& element) {
    static const std::vector<std::string> kTypes{"revolute", "continuous", "prismatic", "fixed", "floating", "planar"};
    Joint joint{&element, element.find("name")->value, source_.require(element, "type").value, 0, 0};
    if (std::find(kTypes.begin(), kTypes.end(), joint.type) == kTypes.end())
      source_.fail(element.find("type")->line,
                   fmt::format("joint {}: unknown type {}{}; one of {}", in_quotes(joint.name), in_quotes(joint.type),
                               name_hint(joint.type, kTypes), fmt::join(kTypes, ", ")));
    joint.parent = link_of(element, "parent");
    joint.child = link_of(element, "child");
    if (joint.parent == joint.child)
      source_.fail(element.line, fmt::format("joint {} joins link {} to itself", in_quotes(joint.name),
                                             in_quotes(link_names_[joint.child])));
    for (const Joint& other : joints_)
      if (other.child == joint.child)
        source_.fail(
            element.line,
            fmt::format(
                "link {} is the child of two joints, {} (line {}) and {}; a robot file holds a tree: close the circle "
                "by a [[loop]] in a model that names the file",
                in_quotes(link_names_[joint.child]), in_quotes(other.name), other.element->line,
                in_quotes(joint.name)));
    joints_.push_back(std::move(joint));
  }

  const Joint* above(std::size_t link) const {
    const auto it =
        std::find_if(joints_.begin(), joints_.end(), [&](const Joint& joint) { return joint.child == link; });
    return it == joints_.end() ? nullptr : &*it;
  }

  /// The link that hangs on nothing.
  std::size_t find_base() const {
    std::vector<std::size_t> first;
    for (std::size_t k = 0; k < links_.size(); ++k) {
      std::size_t at = k, steps = 0;
      while (const Joint* joint = above(at)) {
        at = joint->parent;
        if (++steps > links_.size())
          source_.fail(above(k)->element->line,
                       fmt::format("joint {} belongs to a circle of joints that hangs on nothing; one of them must go",
                                   in_quotes(above(k)->name)));
      }
      if (at == k) first.push_back(k);
    }
    if (first.size() > 1)
      source_.fail(
          links_[first[1]]->line,
          fmt::format(
              "the robot falls apart: no joint leads to link {}, nor to {} (line {}); join one of them to the rest",
              in_quotes(link_names_[first[1]]), in_quotes(link_names_[first[0]]), links_[first[0]]->line));
    return first[0];
  }

  Place origin(const XmlElement& element) {
    Place place;
    const XmlElement* given = element.child("origin");
    if (!given) return place;
    writer_.expect(*given, {"xyz", "rpy"});
    if (const XmlAttribute* xyz = given->find("xyz")) place.position = source_.vector3(*xyz);
    if (const XmlAttribute* rpy = given->find("rpy")) {
      const Vector3d angles = source_.vector3(*rpy);
      if (!angles.isZero(0.0)) place.orientation = from_rpy(angles);
    }
    return place;
  }

  void write_link(std::size_t k, bool base) {
    const XmlElement& link = *links_[k];
    TomlTable body;
    writer_.set(body, "name", bodies_[k], link.line);
    if (const XmlElement* inertial = link.child("inertial")) {
      write_inertial(*inertial, link_names_[k], body);
    } else {
      writer_.set(body, "mass", 0.0, link.line);
    }
    if (base && options_.free_base) {
      writer_.set_pose(body, "position_0", options_.position, "orientation_0", options_.orientation, link.line);
    }
    writer_.add("body", std::move(body), link.line);
    write_shapes(link, k);
    for (const XmlElement& child : link.children)
      if (child.name != "inertial" && child.name != "collision" && child.name != "visual")
        writer_.unused(fmt::format("<{}> of links", child.name), child.line);
  }

  void write_inertial(const XmlElement& inertial, const std::string& link, TomlTable& body) {
    const XmlElement& mass = source_.require_child(inertial, "mass", "as in <mass value=\"1.0\"/>");
    writer_.set(body, "mass", source_.number(source_.require(mass, "value")), mass.line);
    if (source_.number(*mass.find("value")) < 0)
      source_.fail(mass.line,
                   fmt::format("link {}: mass = {} must be >= 0", in_quotes(link), mass.find("value")->value));
    const Place place = origin(inertial);
    if (!place.position.isZero(0.0)) writer_.set(body, "center", place.position, inertial.line);
    const XmlElement& given =
        source_.require_child(inertial, "inertia", "all zero is a point mass: <inertia ixx=\"0\" ixy=\"0\" ...");
    writer_.expect(given, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"});
    const auto entry = [&](const char* name) { return source_.number(source_.require(given, name)); };
    Matrix3d inertia;
    inertia << entry("ixx"), entry("ixy"), entry("ixz"), 0, entry("iyy"), entry("iyz"), 0, 0, entry("izz");
    inertia = Matrix3d(inertia.selfadjointView<Eigen::Upper>());
    if (!place.orientation.vec().isZero(0.0)) {
      const Matrix3d turn = place.orientation.toRotationMatrix();
      inertia = turn * inertia * turn.transpose();
      inertia = Matrix3d(inertia.selfadjointView<Eigen::Upper>());
    }
    if (source_.number(*mass.find("value")) > 0 || !inertia.isZero(0.0))
      writer_.set(body, "inertia", inertia, given.line);
  }

  /// Collision shapes; of a link without any, primitive visual ones, to be seen.
  void write_shapes(const XmlElement& link, std::size_t k) {
    const bool solid = link.child("collision") != nullptr;
    for (const XmlElement& child : link.children) {
      if (child.name == "collision") write_shape(child, k, true);
      if (child.name != "visual") continue;
      const XmlElement* geometry = child.child("geometry");
      if (geometry && geometry->child("mesh")) {
        writer_.unused("visual meshes", child.line);
      } else if (!solid) {
        write_shape(child, k, false);
      }
    }
  }

  void write_shape(const XmlElement& element, std::size_t k, bool solid) {
    const XmlElement& geometry =
        source_.require_child(element, "geometry", "as in <geometry><sphere radius=\"0.1\"/></geometry>");
    if (geometry.children.empty())
      source_.fail(geometry.line, "<geometry> is empty; give box, cylinder, sphere, capsule or mesh");
    const XmlElement& given = geometry.children.front();
    TomlTable shape;
    const XmlAttribute* name = element.find("name");
    writer_.set(shape, "name",
                writer_.name_for("shape", name ? name->value : link_names_[k] + (solid ? "_shape" : "_visual")),
                element.line);
    writer_.set(shape, "body", bodies_[k], element.line);
    writer_.set(shape, "kind", std::string(given.name == "mesh" ? "hull" : given.name), given.line);
    const auto length = [&](const char* key) {
      writer_.set(shape, key, source_.number(source_.require(given, key)), given.line);
    };
    if (given.name == "box") {
      writer_.set(shape, "size", source_.vector3(source_.require(given, "size")), given.line);
    } else if (given.name == "sphere") {
      length("radius");
    } else if (given.name == "cylinder" || given.name == "capsule") {
      length("radius");
      length("length");
    } else if (given.name == "mesh") {
      std::vector<Vector3d> points = mesh_(source_.require(given, "filename"));
      if (const XmlAttribute* scale = given.find("scale")) {
        const Vector3d factor = source_.vector3(*scale);
        for (Vector3d& x : points) x = x.cwiseProduct(factor);
      }
      writer_.set(shape, "points", points, given.line);
    } else {
      source_.fail(given.line,
                   fmt::format("unknown geometry <{}>; box, cylinder, sphere, capsule or mesh", given.name));
    }
    if (!solid) shape.push_back({"touches", writer_.place(given.line), {false, writer_.place(given.line)}});
    const Place place = origin(element);
    writer_.set_pose(shape, "position", place.position, "orientation", place.orientation, element.line);
    writer_.add("shape", std::move(shape), element.line);
  }

  void write_base(std::size_t base) {
    const int line = links_[base]->line;
    if (options_.free_base) return;
    TomlTable hinge;
    writer_.set(hinge, "name", writer_.name_for("hinge", link_names_[base] + "_weld"), line);
    writer_.set(hinge, "parent", std::string("ground"), line);
    writer_.set(hinge, "child", bodies_[base], line);
    writer_.set(hinge, "axes", std::vector<std::string>{}, line);
    writer_.set_pose(hinge, "position", options_.position, "orientation", options_.orientation, line);
    writer_.add("hinge", std::move(hinge), line);
    if (links_[base]->child("inertial") && !joints_.empty())
      writer_.note(
          fmt::format("{}: the first link {} is fixed to the ground; urdf = {{ file = .., base = \"free\" }} frees it",
                      source_.path(), in_quotes(link_names_[base])));
  }

  static std::vector<std::string> axes_of(const std::string& type, char letter) {
    if (type == "fixed") return {};
    if (type == "floating") return {"free"};
    if (type == "planar") return {"tx", "ty", "rz"};
    return {std::string(type == "prismatic" ? "t" : "r") + letter};
  }

  AxisFrame axis_of(const Joint& joint) {
    if (joint.type == "fixed" || joint.type == "floating") return {'z', Quaterniond::Identity()};
    Vector3d axis = Vector3d::UnitX();
    if (const XmlElement* given = joint.element->child("axis")) {
      const XmlAttribute& xyz = source_.require(*given, "xyz");
      axis = source_.vector3(xyz);
      if (axis.isZero(0.0))
        source_.fail(xyz.line, fmt::format("joint {}: the axis has length 0; give a direction, as in xyz=\"0 0 1\"",
                                           in_quotes(joint.name)));
    }
    if (joint.type != "planar") return axis_frame(axis);
    const AxisFrame frame = axis_frame(axis);
    if (frame.letter == 'z') return frame;
    return {'z', Quaterniond::FromTwoVectors(Vector3d::UnitZ(), axis.normalized())};
  }

  void write_joint(std::size_t k) {
    const Joint& joint = joints_[k];
    const XmlElement& element = *joint.element;
    const AxisFrame frame = axis_of(joint);
    const std::vector<std::string> axes = axes_of(joint.type, frame.letter);
    const Place place = origin(element);
    TomlTable hinge;
    writer_.set(hinge, "name", hinges_[k], element.line);
    writer_.set(hinge, "parent", bodies_[joint.parent], element.line);
    writer_.set(hinge, "child", bodies_[joint.child], element.line);
    writer_.set(hinge, "axes", axes, element.line);
    writer_.set_pose(hinge, "position", place.position, "orientation", place.orientation * frame.turn, element.line);
    writer_.set_pose(hinge, "child_position", Vector3d::Zero(), "child_orientation", frame.turn, element.line);
    const bool single = axes.size() == 1 && joint.type != "floating";
    const XmlElement* mimic = element.child("mimic");
    if (mimic && !single) source_.fail(mimic->line, "a joint that follows another one has a single axis");
    write_limits(joint, single, mimic != nullptr, hinge);
    write_dynamics(joint, hinges_[k] + "." + (axes.empty() ? "" : axes[0]), single, hinge);
    writer_.add("hinge", std::move(hinge), element.line);
    if (mimic) write_mimic(*mimic, k, axes[0]);
    static constexpr std::array<std::string_view, 7> kKnown{"origin", "parent",   "child", "axis",
                                                            "limit",  "dynamics", "mimic"};
    for (const XmlElement& child : element.children)
      if (std::find(kKnown.begin(), kKnown.end(), child.name) == kKnown.end())
        writer_.unused(fmt::format("<{}> of joints", child.name), child.line);
  }

  void write_limits(const Joint& joint, bool single, bool follows, TomlTable& hinge) {
    const XmlElement* limit = joint.element->child("limit");
    const bool needed = joint.type == "revolute" || joint.type == "prismatic";
    if (needed && !limit)
      source_.fail(
          joint.element->line,
          fmt::format("joint {} is {} and needs <limit lower=\"..\" upper=\"..\" effort=\"..\" velocity=\"..\"/>{}",
                      in_quotes(joint.name), joint.type,
                      joint.type == "revolute" ? "; without stops its type is \"continuous\"" : ""));
    if (!limit) return;
    writer_.expect(*limit, {"lower", "upper", "effort", "velocity"});
    for (const char* key : {"effort", "velocity"})
      if (limit->find(key)) writer_.unused(fmt::format("limits of {}", key), limit->line);
    if (!needed) {
      if (limit->find("lower") || limit->find("upper"))
        writer_.unused(fmt::format("limits of position of {} joints", joint.type), limit->line);
      return;
    }
    const double lower = source_.number_or(*limit, "lower", 0), upper = source_.number_or(*limit, "upper", 0);
    if (!(lower < upper))
      source_.fail(limit->line,
                   fmt::format("joint {}: lower = {} must be below upper = {}; a joint that cannot move is \"fixed\"{}",
                               in_quotes(joint.name), lower, upper,
                               joint.type == "revolute" ? ", one without stops \"continuous\"" : ""));
    if (!single) return;
    writer_.set(hinge, "lower", lower, limit->line);
    writer_.set(hinge, "upper", upper, limit->line);
    if (follows || (lower <= 0 && upper >= 0)) return;
    const double start = lower > 0 ? lower : upper;
    writer_.set(hinge, "position_0", start, limit->line);
    writer_.note(fmt::format("{}: joint {} starts at its stop {}, for 0 lies beyond it", source_.path(),
                             in_quotes(joint.name), start));
  }

  void write_dynamics(const Joint& joint, const std::string& on, bool single, TomlTable& hinge) {
    const XmlElement* dynamics = joint.element->child("dynamics");
    if (!dynamics) return;
    writer_.expect(*dynamics, {"damping", "friction"});
    const double damping = source_.number_or(*dynamics, "damping", 0),
                 friction = source_.number_or(*dynamics, "friction", 0);
    for (const char* key : {"damping", "friction"})
      if (const XmlAttribute* given = dynamics->find(key); given && source_.number(*given) < 0)
        source_.fail(given->line,
                     fmt::format("joint {}: {} = {} must be >= 0", in_quotes(joint.name), key, given->value));
    if (!single) {
      if (damping > 0 || friction > 0)
        writer_.unused(fmt::format("<dynamics> of {} joints", joint.type), dynamics->line);
      return;
    }
    if (damping > 0) writer_.set(hinge, "damping", damping, dynamics->line);
    if (!(friction > 0)) return;
    TomlTable law;
    writer_.set(law, "name", on.substr(0, on.find('.')), dynamics->line);
    writer_.set(law, "on", on, dynamics->line);
    writer_.set(law, "limit", friction, dynamics->line);
    writer_.add("friction", std::move(law), dynamics->line);
  }

  void write_mimic(const XmlElement& mimic, std::size_t k, const std::string& axis) {
    writer_.expect(mimic, {"joint", "multiplier", "offset"});
    const XmlAttribute& name = source_.require(mimic, "joint");
    const auto it =
        std::find_if(joints_.begin(), joints_.end(), [&](const Joint& joint) { return joint.name == name.value; });
    if (it == joints_.end())
      source_.fail(name.line,
                   fmt::format("there is no joint {}{}", in_quotes(name.value), name_hint(name.value, joint_names_)));
    const auto leader = static_cast<std::size_t>(it - joints_.begin());
    if (leader == k) source_.fail(name.line, fmt::format("joint {} follows itself", in_quotes(name.value)));
    const std::vector<std::string> axes = axes_of(it->type, axis_of(*it).letter);
    if (axes.size() != 1 || it->type == "floating")
      source_.fail(name.line,
                   fmt::format("joint {} has no single axis that another one could follow", in_quotes(name.value)));
    TomlTable coupling;
    writer_.set(coupling, "name", hinges_[k] + "_mimic", mimic.line);
    writer_.set(coupling, "on", std::vector<std::string>{hinges_[k] + "." + axis, hinges_[leader] + "." + axes[0]},
                mimic.line);
    writer_.set(coupling, "ratio", source_.number_or(mimic, "multiplier", 1), mimic.line);
    writer_.set(coupling, "offset", source_.number_or(mimic, "offset", 0), mimic.line);
    writer_.add("coupling", std::move(coupling), mimic.line);
  }

  const XmlElement& root_;
  const XmlSource& source_;
  const RobotOptions& options_;
  const MeshReader& mesh_;
  RobotWriter writer_;
  std::vector<const XmlElement*> links_, joint_elements_;
  std::vector<std::string> link_names_, joint_names_;
  std::vector<Joint> joints_;
  std::vector<std::string> bodies_, hinges_;  ///< names in the model
};

}  // namespace

RobotFile read_urdf(const XmlElement& root, const XmlSource& source, const RobotOptions& options,
                    const MeshReader& mesh) {
  return UrdfReader(root, source, options, mesh).read();
}

}  // namespace stickslip::robot
