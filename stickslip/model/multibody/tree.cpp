// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "stickslip/model/multibody/flexible_body.hpp"
#include "stickslip/model/multibody/part_error.hpp"
#include "stickslip/model/rigid_bodies.hpp"

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

namespace {

/// The hinge that a body without one has: its frame stands at the mass centre, so that positions and velocities are
/// those of free bodies (rigid_bodies.hpp).
Hinge free_hinge(const RigidBody& body, int index) {
  Hinge hinge;
  hinge.name = body.name;
  hinge.child = index;
  hinge.child_position = body.center;
  hinge.axes = {HingeAxis::free};
  const Quaterniond r = body.orientation.normalized();
  const Vector3d x = body.position + r * body.center;
  hinge.position_0 = {x.x(), x.y(), x.z(), r.w(), r.x(), r.y(), r.z()};
  hinge.velocity_0 = {body.velocity.x(), body.velocity.y(), body.velocity.z(),
                      body.spin.x(),     body.spin.y(),     body.spin.z()};
  return hinge;
}

void require_counts(const Hinge& hinge) {
  const auto require = [&](const char* key, std::size_t given, Index needed, const char* what) {
    if (given == 0 || static_cast<Index>(given) == needed) return;
    throw PartError(
        "hinge", hinge.name, key,
        fmt::format("hinge '{}': {} has {} numbers, but there are {} {}", hinge.name, key, given, needed, what));
  };
  const auto axes = static_cast<Index>(hinge.axes.size());
  require("stiffness", hinge.stiffness.size(), axes, "axes");
  require("damping", hinge.damping.size(), axes, "axes");
  require("rest", hinge.rest.size(), axes, "axes");
  require("force", hinge.force.size(), axes, "axes");
  require("position_0", hinge.position_0.size(), hinge.positions(), "positions");
  require("velocity_0", hinge.velocity_0.size(), hinge.velocities(), "velocities");
  for (const auto* list : {&hinge.stiffness, &hinge.damping})
    for (const double value : *list)
      if (!(value >= 0) || !std::isfinite(value))
        throw PartError("hinge", hinge.name, list == &hinge.stiffness ? "stiffness" : "damping",
                        fmt::format("hinge '{}': {} = {} must be finite and >= 0", hinge.name,
                                    list == &hinge.stiffness ? "stiffness" : "damping", value));
  for (std::size_t k = 0; k < hinge.axes.size(); ++k) {
    if (!(hinge.axes[k] == HingeAxis::ball || hinge.axes[k] == HingeAxis::free)) continue;
    const bool asked = (!hinge.stiffness.empty() && hinge.stiffness[k] != 0) ||
                       (!hinge.damping.empty() && hinge.damping[k] != 0) ||
                       (!hinge.force.empty() && !(hinge.force[k].is_constant() && hinge.force[k]({}) == 0));
    if (asked)
      throw PartError(
          "hinge", hinge.name, "axes",
          fmt::format(
              "hinge '{}': stiffness, damping and force belong to single axes, not to '{}'; give the rotation as "
              "[\"rx\", \"ry\", \"rz\"], or a [[spring]] or [[load]] on the bodies",
              hinge.name, to_string(hinge.axes[k])));
  }
}

/// A node is welded to its body; where, its station says.
Hinge node_hinge(const BodyModel& model, int index) {
  const RigidBody& node = model.bodies[static_cast<std::size_t>(index)];
  const auto body = std::find_if(model.bodies.begin(), model.bodies.end(),
                                 [&](const RigidBody& it) { return it.name == node.node_of; });
  if (body == model.bodies.end() || !body->flexible)
    throw PartError("body", node.node_of, "flexible", fmt::format("there is no flexible body '{}'", node.node_of));
  Hinge hinge;
  hinge.name = node.name;
  hinge.parent = static_cast<int>(body - model.bodies.begin());
  hinge.child = index;
  return hinge;
}

/// Hinges so that parents come first; a body that nothing leads to from the ground belongs to a circle.
std::vector<Hinge> ordered_hinges(const BodyModel& model) {
  std::vector<Hinge> hinges = model.hinges;
  for (std::size_t k = 0; k < model.bodies.size(); ++k)
    if (!model.bodies[k].node_of.empty()) hinges.push_back(node_hinge(model, static_cast<int>(k)));
  const auto bodies = static_cast<int>(model.bodies.size());
  const auto name = [&](int body) {
    return body == kGround ? std::string("ground") : model.bodies[static_cast<std::size_t>(body)].name;
  };
  std::vector<int> own(static_cast<std::size_t>(bodies), -1);
  for (std::size_t k = 0; k < hinges.size(); ++k) {
    const Hinge& hinge = hinges[k];
    if (hinge.child < 0 || hinge.child >= bodies || hinge.parent < kGround || hinge.parent >= bodies)
      throw InputError(fmt::format("hinge '{}': there is no such body", hinge.name));
    if (hinge.child == hinge.parent)
      throw PartError("hinge", hinge.name, "child",
                      fmt::format("hinge '{}' joins body '{}' to itself", hinge.name, name(hinge.child)));
    int& mine = own[static_cast<std::size_t>(hinge.child)];
    if (mine >= 0)
      throw PartError("hinge", hinge.name, "child",
                      fmt::format("body '{}' is the child of the hinges '{}' and '{}'; a tree has one way to each "
                                  "body: close the circle with a [[loop]] in place of one of them",
                                  name(hinge.child), hinges[static_cast<std::size_t>(mine)].name, hinge.name));
    mine = static_cast<int>(k);
    require_counts(hinge);
  }
  std::vector<Hinge> ordered;
  std::vector<char> placed(static_cast<std::size_t>(bodies), 0);
  for (int b = 0; b < bodies; ++b) {
    std::vector<int> way;  // up to the ground, or to what is placed
    for (int at = b; at != kGround && !placed[static_cast<std::size_t>(at)];) {
      if (std::find(way.begin(), way.end(), at) != way.end()) {
        std::string circle;
        for (auto it = std::find(way.begin(), way.end(), at); it != way.end(); ++it) circle += name(*it) + " - ";
        throw PartError("hinge", hinges[static_cast<std::size_t>(own[static_cast<std::size_t>(at)])].name, "",
                        fmt::format("hinges form a circle that nothing joins to the ground: {}{}; make one of them a "
                                    "[[loop]]",
                                    circle, name(at)));
      }
      way.push_back(at);
      const int mine = own[static_cast<std::size_t>(at)];
      at = mine < 0 ? kGround : hinges[static_cast<std::size_t>(mine)].parent;
    }
    for (auto it = way.rbegin(); it != way.rend(); ++it) {
      const int mine = own[static_cast<std::size_t>(*it)];
      ordered.push_back(mine < 0 ? free_hinge(model.bodies[static_cast<std::size_t>(*it)], *it)
                                 : hinges[static_cast<std::size_t>(mine)]);
      placed[static_cast<std::size_t>(*it)] = 1;
    }
  }
  return ordered;
}

class TreeBuilder {
 public:
  explicit TreeBuilder(const BodyModel& model) : model_(model) { tree_.bodies.resize(model.bodies.size()); }

  Tree build() {
    for (const Hinge& hinge : ordered_hinges(model_)) add(hinge);
    for (std::size_t k = 0; k < model_.bodies.size(); ++k) add_mass(k);
    std::set<std::string> names;
    for (const auto* list : {&tree_.coordinates, &tree_.velocities}) {
      names.clear();
      for (const std::string& name : *list)
        if (!names.insert(name).second) throw InputError(fmt::format("two hinges have a coordinate '{}'", name));
    }
    set_length();
    return std::move(tree_);
  }

 private:
  void add(const Hinge& hinge) {
    const auto held = static_cast<Index>(hinge.held.size());
    for (const std::string& name : position_names(hinge.held)) {
      tree_.held.push_back(tree_.nv());
      tree_.coordinates.push_back(hinge.name + "." + name);
      tree_.velocities.push_back(hinge.name + "." + name);
    }
    tree_.hinge_q.push_back(tree_.nq());
    tree_.hinge_v.push_back(tree_.nv());
    tree_.hinge_link.push_back(static_cast<Index>(tree_.links.size()) + held);
    tree_.hinges.push_back(hinge);
    for (const std::string& name : position_names(hinge.axes)) tree_.coordinates.push_back(hinge.name + "." + name);
    for (const std::string& name : velocity_names(hinge.axes)) tree_.velocities.push_back(hinge.name + "." + name);
    // Where the hinge frame of the parent stands in the frame that moves with the last link.
    Tree::Body at;
    at.position = hinge.position;
    at.turn = hinge.orientation.normalized().toRotationMatrix();
    if (hinge.parent != kGround) {
      const Tree::Body& parent = tree_.bodies[static_cast<std::size_t>(hinge.parent)];
      at.link = parent.link;
      at.position = parent.position + parent.turn * at.position;
      at.turn = parent.turn * at.turn;
    }
    const auto joint = [&](JointKind kind, int axis) { add_joint(kind, axis, at); };
    for (const HingeAxis axis : hinge.held) joint(JointKind::translation, static_cast<int>(axis));
    for (const HingeAxis axis : hinge.axes) {
      if (axis == HingeAxis::free)
        for (int k = 0; k < 3; ++k) joint(JointKind::translation, k);
      if (axis == HingeAxis::free || axis == HingeAxis::ball) joint(JointKind::ball, 0);
      if (is_translation(axis)) joint(JointKind::translation, static_cast<int>(axis));
      if (is_rotation(axis)) joint(JointKind::rotation, static_cast<int>(axis) - 3);
    }
    const RigidBody& child = model_.bodies[static_cast<std::size_t>(hinge.child)];
    Tree::Body& body = tree_.bodies[static_cast<std::size_t>(hinge.child)];
    if (!child.node_of.empty()) {
      const auto node = nodes_.find(child.node_of + "." + child.node);
      if (node == nodes_.end())
        throw PartError("body", child.node_of, "flexible",
                        fmt::format("body '{}' has no node '{}'", child.node_of, child.node));
      body = node->second;
      return;
    }
    body.link = at.link;
    const Matrix3d back = hinge.child_orientation.normalized().toRotationMatrix().transpose();
    body.turn = at.turn * back;
    body.position = at.position - body.turn * hinge.child_position;
    if (child.flexible) add_stations(child, body);
  }

  /// A link behind the frame `at`, which moves with it from then on.
  void add_joint(JointKind kind, int axis, Tree::Body& at) {
    Link next;
    next.parent = at.link;
    next.kind = kind;
    next.axis = axis;
    next.offset = at.position;
    next.turn = at.turn;
    next.turned = at.turn != Matrix3d::Identity();
    next.q = q_;
    next.v = v_;
    at.link = static_cast<int>(tree_.links.size());
    for (int k = 0; k < next.velocities(); ++k) tree_.velocity.push_back({at.link, kind != JointKind::translation});
    q_ += kind == JointKind::ball ? 4 : 1;
    v_ += next.velocities();
    tree_.flat &= kind != JointKind::ball;
    tree_.links.push_back(next);
    at.position.setZero();
    at.turn.setIdentity();
  }

  void add_name(const std::string& name) {
    tree_.coordinates.push_back(name);
    tree_.velocities.push_back(name);
  }

  /// Modal coordinates, and links for the stations that follow them.
  void add_stations(const RigidBody& body, const Tree::Body& frame) {
    const FlexibleBody& flexible = *body.flexible;
    const Index first = v_;
    tree_.modal.push_back({body.flexible, first});
    for (Index m = 0; m < flexible.modes(); ++m) {
      Tree::Body ground;
      add_name(fmt::format("{}.m{}", body.name, m + 1));
      add_joint(JointKind::translation, 0, ground);
    }
    for (std::size_t s = 0; s < flexible.stations.size(); ++s) {
      const FlexibleStation& station = flexible.stations[s];
      const std::string name =
          station.node.empty() ? fmt::format("{}.{}", body.name, s + 1) : fmt::format("{}.{}", body.name, station.node);
      Tree::Body at = frame;
      at.position = frame.position + frame.turn * station.position;
      const auto drive = [&](JointKind kind, int axis, const Vector& linear, const DenseMatrix& quadratic) {
        if (linear.isZero(0.0) && quadratic.size() == 0) return;
        tree_.driven.push_back({v_, first, linear, quadratic});
        add_name(fmt::format("{}.{}", name,
                             to_string(static_cast<HingeAxis>(axis + (kind == JointKind::rotation ? 3 : 0)))));
        add_joint(kind, axis, at);
      };
      for (int c = 0; c < 3; ++c)
        drive(JointKind::translation, c, station.shift.row(c).transpose(),
              station.shortening[static_cast<std::size_t>(c)]);
      if (station.turn.size() > 0)
        for (int c = 0; c < 3; ++c) drive(JointKind::rotation, c, station.turn.row(c).transpose(), DenseMatrix());
      at.mass = station.mass;
      if (!station.node.empty()) nodes_[name] = at;
      add_mass(at, station.mass, station.inertia);
    }
  }

  void add_mass(std::size_t k) {
    const RigidBody& body = model_.bodies[k];
    Tree::Body& place = tree_.bodies[k];
    if (body.flexible || !body.node_of.empty()) return;
    place.center = body.center;
    place.mass = body.mass;
    add_mass(place, body.mass, *body.inertia);
  }

  /// At the centre of `place`.
  void add_mass(const Tree::Body& place, double mass, const Matrix3d& inertia) {
    if (place.link < 0) return;
    Link& link = tree_.links[static_cast<std::size_t>(place.link)];
    const Vector3d c = place.position + place.turn * place.center;
    link.mass += mass;
    link.moment += mass * c;
    link.inertia += place.turn * inertia * place.turn.transpose() +
                    mass * (c.squaredNorm() * Matrix3d::Identity() - c * c.transpose());
  }

  void set_length() {
    for (const Link& link : tree_.links) {
      tree_.length = std::max(tree_.length, link.offset.norm());
      if (link.mass > 0) tree_.length = std::max(tree_.length, link.moment.norm() / link.mass);
    }
  }

  const BodyModel& model_;
  Tree tree_;
  std::map<std::string, Tree::Body> nodes_;  // "<body>.<node>"
  Index q_ = 0, v_ = 0;
};

}  // namespace

Tree make_tree(const BodyModel& model) { return TreeBuilder(model).build(); }

Vector start_positions(const Tree& tree) {
  Vector q = Vector::Zero(tree.nq());
  for (std::size_t k = 0; k < tree.hinges.size(); ++k) {
    const Hinge& hinge = tree.hinges[k];
    Index at = tree.hinge_q[k];
    for (std::size_t j = 0; j < hinge.position_0.size(); ++j) q[at + static_cast<Index>(j)] = hinge.position_0[j];
    for (const HingeAxis axis : hinge.axes) {
      at += positions_of(axis);
      if (axis != HingeAxis::ball && axis != HingeAxis::free) continue;
      auto quaternion = q.segment<4>(at - 4);
      if (hinge.position_0.empty()) quaternion[0] = 1;
      if (quaternion.isZero(0.0))
        throw PartError("hinge", hinge.name, "position_0",
                        fmt::format("hinge '{}': the quaternion of position_0 is zero", hinge.name));
      quaternion /= quaternion.cwiseAbs().maxCoeff();  // squares of huge and tiny numbers are none
      quaternion.normalize();
    }
  }
  return q;
}

Vector start_velocities(const Tree& tree) {
  Vector v = Vector::Zero(tree.nv());
  for (std::size_t k = 0; k < tree.hinges.size(); ++k)
    for (std::size_t j = 0; j < tree.hinges[k].velocity_0.size(); ++j)
      v[tree.hinge_v[k] + static_cast<Index>(j)] = tree.hinges[k].velocity_0[j];
  return v;
}

}  // namespace stickslip
