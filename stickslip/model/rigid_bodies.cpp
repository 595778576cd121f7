// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/rigid_bodies.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <set>

#include "stickslip/common/error.hpp"
#include "stickslip/model/multibody/body_contacts.hpp"
#include "stickslip/model/multibody/body_forces.hpp"
#include "stickslip/model/multibody/body_inertia.hpp"
#include "stickslip/model/multibody/body_kinematics.hpp"
#include "stickslip/model/multibody/body_pose.hpp"
#include "stickslip/model/multibody/flexible_body.hpp"
#include "stickslip/model/multibody/held_axes.hpp"
#include "stickslip/model/multibody/joined_laws.hpp"
#include "stickslip/model/multibody/mapped_tree.hpp"
#include "stickslip/model/multibody/part_error.hpp"
#include "stickslip/model/multibody/tree_articulation.hpp"
#include "stickslip/model/multibody/tree_forces.hpp"
#include "stickslip/model/multibody/tree_inertia.hpp"
#include "stickslip/model/multibody/tree_kinematics.hpp"
#include "stickslip/model/multibody/tree_loops.hpp"
#include "stickslip/model/multibody/tree_map.hpp"

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

namespace {

/// So that their inverses, and products with a velocity, are numbers. [kg m²], and [kg] for masses
constexpr double kSmallestInertia = 1e-150, kLargestInertia = 1e150;

/// `thin`: a moment may be 0 (a rod about its axis): hinges hold the rest.
void require_inertia(const RigidBody& body, bool thin) {
  const Matrix3d& J = *body.inertia;
  const auto refuse = [&](const std::string& why) {
    throw PartError("body", body.name, "inertia", fmt::format("body '{}': inertia {}", body.name, why));
  };
  if (!J.allFinite()) refuse("has an entry that is not finite");
  constexpr double kRounded = 1e-12;  // of the largest entry: an inertia that was computed
  if ((J - J.transpose()).cwiseAbs().maxCoeff() > kRounded * J.cwiseAbs().maxCoeff()) refuse("is not symmetric");
  const Vector3d moments = Eigen::SelfAdjointEigenSolver<Matrix3d>(J, Eigen::EigenvaluesOnly).eigenvalues();
  constexpr double kRoundOff = 1e-12;
  if (thin ? moments[0] < -kRoundOff * moments[2] : !(moments[0] > 0))
    refuse(fmt::format("has the principal moment {:.6g}; all three must be {} 0", moments[0], thin ? ">=" : ">"));
  if ((!thin && moments[0] < kSmallestInertia) || moments[2] > kLargestInertia)
    refuse(fmt::format("has the principal moments {:.6g} to {:.6g} kg m²; from {:g} to {:g} are possible", moments[0],
                       moments[2], kSmallestInertia, kLargestInertia));
  if (moments[0] + moments[1] < moments[2] * (1 - 1e-9))
    refuse(
        fmt::format("has the principal moments {:.6g}, {:.6g}, {:.6g}; of a real body each is at most the sum of the "
                    "other two",
                    moments[0], moments[1], moments[2]));
}

std::optional<MassProperties> filled_shapes(const BodyModel& model, int body) {
  std::optional<MassProperties> sum;
  for (const Shape& shape : model.shapes) {
    if (shape.body != body || shape.kind == ShapeKind::plane || is_surface(shape.kind) || !shape.touches) continue;
    const MassProperties part = moved(mass_properties(make_geometry(shape)), shape.pose);
    sum = sum ? joined(*sum, part) : part;
  }
  return sum;
}

/// Of the shapes of a body filled with its mass, about its mass centre.
Matrix3d inertia_of_shapes(const BodyModel& model, int body) {
  const std::optional<MassProperties> sum = filled_shapes(model, body);
  const RigidBody& it = model.bodies[static_cast<std::size_t>(body)];
  if (!sum)
    throw PartError("body", it.name, "",
                    fmt::format("body '{}' has neither inertia nor a shape to compute it from", it.name));
  const Vector3d offset = sum->center - it.center;
  const double density = it.mass / sum->volume;
  return density * sum->inertia + it.mass * (offset.squaredNorm() * Matrix3d::Identity() - offset * offset.transpose());
}

Pose pose_of(const Tree::Body& body, const TreeMotion<double>& motion) {
  if (body.link < 0) return {body.position, Quaterniond(body.turn)};
  const LinkPlace<double>& at = motion.place[static_cast<std::size_t>(body.link)];
  return {at.o + at.R * body.position, Quaterniond(Matrix3d(at.R * body.turn)).normalized()};
}

void require_body(const BodyModel& model, const std::string& what, const std::string& name) {
  if (name == "*" || name == "ground") return;
  for (const RigidBody& body : model.bodies)
    if (body.name == name || body.group == name) return;
  throw InputError(fmt::format("{}: there is no body '{}'", what, name));
}

Tree make_completed_tree(BodyModel model) {
  complete_inertia(model);
  return make_tree(model);
}

/// Those of a flexible model without what follows from others.
Vector free_positions(Tree tree) {
  const Vector all = start_positions(tree);
  return tree.driven.empty() ? all : TreeMap(std::make_shared<const Tree>(std::move(tree))).free_positions(all);
}

Vector free_velocities(Tree tree) {
  const Vector all = start_velocities(tree);
  return tree.driven.empty() ? all : TreeMap(std::make_shared<const Tree>(std::move(tree))).free_velocities(all);
}

}  // namespace

Vector start_positions(const BodyModel& model) {
  if (model.is_tree()) return free_positions(make_completed_tree(model));
  Vector q(7 * static_cast<Index>(model.bodies.size()));
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    const RigidBody& body = model.bodies[k];
    const Quaterniond r = body.orientation.normalized();
    q.segment<3>(7 * static_cast<Index>(k)) = body.position + r * body.center;
    set_orientation(q, static_cast<Index>(k), r);
  }
  return q;
}

Vector start_velocities(const BodyModel& model) {
  if (model.is_tree()) return free_velocities(make_completed_tree(model));
  Vector v(6 * static_cast<Index>(model.bodies.size()));
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    v.segment<3>(6 * static_cast<Index>(k)) = model.bodies[k].velocity;
    v.segment<3>(6 * static_cast<Index>(k) + 3) = model.bodies[k].spin;
  }
  return v;
}

std::vector<StartOverlap> start_overlaps(const BodyModel& model, double depth) {
  CollisionScene scene = make_scene(model);
  std::vector<Pose> poses;
  if (model.is_tree()) {
    const Tree tree = make_completed_tree(model);
    body_poses(model, &tree, start_positions(tree), poses);
  } else {
    for (const RigidBody& body : model.bodies) poses.push_back({body.position, body.orientation.normalized()});
  }
  std::vector<ContactPoint> points;
  scene.find(poses, 0.0, points);
  std::map<std::pair<int, int>, StartOverlap> deepest;
  for (const ContactPoint& point : points) {
    if (!(point.gap < -depth)) continue;
    const int a = model.shapes[static_cast<std::size_t>(point.shape_a)].body,
              b = model.shapes[static_cast<std::size_t>(point.shape_b)].body;
    StartOverlap& overlap = deepest[{a, b}];
    if (-point.gap > overlap.depth) overlap = {point.law, a, b, -point.gap};
  }
  std::vector<StartOverlap> found;
  for (const auto& entry : deepest) found.push_back(entry.second);
  return found;
}

Vector3d center_of_shapes(const BodyModel& model, int body) {
  const std::optional<MassProperties> sum = filled_shapes(model, body);
  if (!sum) throw InputError("there is no shape to compute it from; give the body one, or its centre as [x, y, z]");
  return sum->center;
}

void complete_inertia(BodyModel& model) {
  std::set<int> hinged;
  for (const Hinge& hinge : model.hinges) hinged.insert(hinge.child);
  std::set<std::string> names{"ground"};
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    RigidBody& body = model.bodies[k];
    if (!names.insert(body.name).second) throw InputError(fmt::format("two bodies are named '{}'", body.name));
    if (body.flexible) body.flexible->validate();
    if (body.flexible || !body.node_of.empty()) continue;
    if (body.mass == 0 && model.is_tree()) {
      if (body.inertia && !body.inertia->isZero(0.0))
        throw PartError("body", body.name, "mass",
                        fmt::format("body '{}' has moments of inertia but no mass; give it a mass", body.name));
      body.inertia = Matrix3d::Zero();
      continue;
    }
    if (!(body.mass > 0) || !std::isfinite(body.mass))
      throw PartError("body", body.name, "mass",
                      fmt::format("body '{}': mass = {} must be finite and > 0", body.name, body.mass));
    if (body.mass < kSmallestInertia || body.mass > kLargestInertia)
      throw PartError("body", body.name, "mass",
                      fmt::format("body '{}': mass = {} kg is out of range; from {:g} to {:g} kg are possible",
                                  body.name, body.mass, kSmallestInertia, kLargestInertia));
    if (!within_range(body.position) || !within_range(body.center))
      throw PartError("body", body.name, "position_0",
                      fmt::format("body '{}' starts at ({:g}, {:g}, {:g}) m; coordinates must be below {:g} m. Choose "
                                  "another unit of length",
                                  body.name, body.position.x(), body.position.y(), body.position.z(), kLargestLength));
    if (!(body.orientation.norm() > 0))
      throw PartError("body", body.name, "orientation_0",
                      fmt::format("body '{}': the quaternion of its orientation is zero", body.name));
    if (!body.inertia) body.inertia = inertia_of_shapes(model, static_cast<int>(k));
    require_inertia(body, hinged.contains(static_cast<int>(k)));
  }
}

void body_poses(const BodyModel& model, const Tree* tree, const Vector& q, std::vector<Pose>& poses) {
  poses.resize(model.bodies.size());
  if (!tree) {
    for (std::size_t k = 0; k < poses.size(); ++k) {
      const Quaterniond r = orientation_of(q, static_cast<Index>(k));
      poses[k] = {position_of(q, static_cast<Index>(k)) - r * model.bodies[k].center, r};
    }
    return;
  }
  TreeMotion<double>& motion = thread_scratch(*tree).motion;
  if (q.size() == tree->nq()) {
    place_links(*tree, q.data(), motion);
  } else {
    Vector all;
    TreeMap(std::shared_ptr<const Tree>(std::shared_ptr<void>(), tree)).positions(q, all);
    place_links(*tree, all.data(), motion);
  }
  for (std::size_t k = 0; k < poses.size(); ++k) poses[k] = pose_of(tree->bodies[k], motion);
}

namespace {

/// Names of all laws differ.
void check_names(const BodyModel& model) {
  std::set<std::string> laws;
  for (const BodyContact& contact : model.contacts) {
    validate(contact.law);
    if (!laws.insert(contact.law.name).second)
      throw InputError(fmt::format("two laws are named '{}'", contact.law.name));
    for (const std::string& name : {contact.first, contact.second})
      require_body(model, fmt::format("contact '{}'", contact.law.name), name);
  }
}

/// Laws on coordinates act on the free ones, contacts and loops on all links.
std::unique_ptr<System> make_flexible_system(BodyModel model, const std::shared_ptr<const Tree>& tree) {
  const auto map = std::make_shared<const TreeMap>(tree);
  check_laws(model.friction, model.stops, model.constraints, map->outer());
  auto kinematics = std::make_unique<TreeKinematics>(map->free());
  std::vector<std::unique_ptr<ContactSource>> contacts;
  if (!model.contacts.empty())
    contacts.push_back(std::make_unique<MappedContacts>(std::make_unique<BodyContacts>(model, tree), map));
  if (!model.stops.empty())
    contacts.push_back(std::make_unique<ExpressionContacts>(std::move(model.stops), *kinematics));
  std::vector<std::unique_ptr<ConstraintSource>> constraints;
  constraints.push_back(std::make_unique<MappedConstraints>(std::make_unique<TreeLoops>(model.loops, tree), map));
  if (!tree->held.empty())
    constraints.push_back(std::make_unique<MappedConstraints>(std::make_unique<HeldAxes>(tree), map));
  if (!model.constraints.empty())
    constraints.push_back(std::make_unique<ExpressionConstraints>(std::move(model.constraints), *kinematics));
  LawSet laws(map->outer(), std::move(model.friction), join(std::move(contacts)),
              join(std::move(constraints), map->outer()));
  auto forces = std::make_unique<MappedForces>(std::make_unique<TreeForces>(model, tree), map);
  return std::make_unique<System>(SystemParts{model.title, std::move(kinematics), std::make_unique<MappedInertia>(map),
                                              std::move(forces), std::move(laws)});
}

std::unique_ptr<System> make_tree_system(BodyModel model) {
  const auto tree = std::make_shared<const Tree>(make_tree(model));
  if (!tree->driven.empty()) return make_flexible_system(std::move(model), tree);
  check_laws(model.friction, model.stops, model.constraints, tree->nv());
  auto kinematics = std::make_unique<TreeKinematics>(tree);
  auto inertia = std::make_unique<TreeInertia>(tree);
  inertia->require_definite(start_positions(*tree));
  std::vector<std::unique_ptr<ContactSource>> contacts;
  if (!model.contacts.empty()) contacts.push_back(std::make_unique<BodyContacts>(model, tree));
  if (!model.stops.empty())
    contacts.push_back(std::make_unique<ExpressionContacts>(std::move(model.stops), *kinematics));
  std::vector<std::unique_ptr<ConstraintSource>> constraints;
  constraints.push_back(std::make_unique<TreeLoops>(model.loops, tree));
  if (!tree->held.empty()) constraints.push_back(std::make_unique<HeldAxes>(tree));
  if (!model.constraints.empty())
    constraints.push_back(std::make_unique<ExpressionConstraints>(std::move(model.constraints), *kinematics));
  LawSet laws(tree->nv(), std::move(model.friction), join(std::move(contacts)),
              join(std::move(constraints), tree->nv()));
  auto forces = std::make_unique<TreeForces>(model, tree);
  auto articulation = tree->flat ? std::make_unique<TreeArticulation>(*tree, *forces) : nullptr;
  return std::make_unique<System>(SystemParts{model.title, std::move(kinematics), std::move(inertia), std::move(forces),
                                              std::move(laws), nullptr, std::move(articulation)});
}

}  // namespace

std::unique_ptr<System> make_system(BodyModel model) {
  if (model.bodies.empty()) throw InputError("the model has no bodies");
  complete_inertia(model);
  check_names(model);
  if (model.is_tree()) return make_tree_system(std::move(model));
  std::vector<std::string> body_names;
  std::vector<BodyMass> masses;
  for (const RigidBody& body : model.bodies) {
    body_names.push_back(body.name);
    masses.push_back(body_mass(body.mass, *body.inertia));
  }
  const Index nv = 6 * static_cast<Index>(model.bodies.size());
  return std::make_unique<System>(
      SystemParts{model.title, std::make_unique<BodyKinematics>(body_names), std::make_unique<BodyInertia>(masses),
                  std::make_unique<BodyForces>(model), LawSet(nv, {}, std::make_unique<BodyContacts>(model)),
                  std::make_unique<BodyFreeMotion>(masses)});
}

}  // namespace stickslip
