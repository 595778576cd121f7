// SPDX-License-Identifier: Apache-2.0
// Rigid bodies in space, free or joined by hinges, with gravity, springs and contact between their shapes.
//
//   q per body  x, y, z of the mass centre [m], unit quaternion w, x, y, z (body to world)
//   v per body  velocity of the mass centre in the world [m/s], spin ω in the body's axes [rad/s]
//   m x'' = m g + f,    J ω' + ω × J ω = τ            J about the mass centre, body axes [kg m²]
//
// The parts of a system of free bodies: multibody/body_kinematics.hpp, body_inertia.hpp, body_forces.hpp,
// body_contacts.hpp. With hinges, loops, loads or laws on coordinates the bodies are a tree (multibody/hinge.hpp,
// tree.hpp, tree_*.hpp); a body without a hinge then has a free one and keeps the coordinates above.
#pragma once

#include <algorithm>
#include <memory>

#include "stickslip/model/collision/collision_scene.hpp"
#include "stickslip/model/expression_laws.hpp"
#include "stickslip/model/multibody/hinge.hpp"
#include "stickslip/model/multibody/tree.hpp"
#include "stickslip/model/system.hpp"

namespace stickslip {

/// Index of "ground" where a body is asked for.
inline constexpr int kGround = ground_body;

struct RigidBody {
  std::string name = {};
  std::string group = {};                              ///< a name that several bodies may share
  double mass = 0;                                     ///< [kg]; in a tree 0 for a frame that only carries others
  Eigen::Vector3d center = Eigen::Vector3d::Zero();    ///< mass centre in the body's frame [m]
  std::optional<Eigen::Matrix3d> inertia = {};         ///< about the mass centre [kg m²]; else of its shapes
  Eigen::Vector3d position = Eigen::Vector3d::Zero();  ///< of the body's frame at the start [m]
  Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();  ///< at the start
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();               ///< of the mass centre at the start, world [m/s]
  Eigen::Vector3d spin = Eigen::Vector3d::Zero();                   ///< at the start, body axes [rad/s]
  /// Three in the world, at the mass centre; of t only, in trees of t, q, v.
  std::vector<StateFunction> force = {};
  std::vector<StateFunction> torque = {};  ///< three in the world; likewise
  /// Null: rigid. Else mass, center and inertia are not used.
  std::shared_ptr<const FlexibleBody> flexible = {};
  /// The node of a flexible body that this frame without mass is fixed to; both empty: a body of its own.
  std::string node_of = {}, node = {};
};

struct PointSpring {
  std::string name = {};
  int body_a = kGround, body_b = kGround;
  Eigen::Vector3d point_a = Eigen::Vector3d::Zero(), point_b = Eigen::Vector3d::Zero();  ///< in the bodies' frames [m]
  double stiffness = 0, damping = 0;                                                     ///< >= 0 [N/m, N s/m]
  double rest = 0;                                                                       ///< length without force [m]
};

/// A contact law and the bodies it acts between: names or groups, "ground", or "*" for any body or the ground.
struct BodyContact {
  ContactElement law = {};
  std::string first = {}, second = {};
  std::vector<StateFunction> surface_velocity = {};  ///< three in the world, of the second body's surface; t only [m/s]
};

struct BodyModel {
  std::string title = {};
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();  ///< [m/s²]
  std::vector<RigidBody> bodies = {};
  std::vector<Shape> shapes = {};
  std::vector<PointSpring> springs = {};
  std::vector<BodyContact> contacts = {};
  std::vector<Hinge> hinges = {};
  std::vector<Loop> loops = {};
  std::vector<PointLoad> loads = {};
  /// Threads that look for contacts, set up their rows and share their problem; 0: one per processor, where there are
  /// enough bodies to gain by it. Results are the same, bit for bit.
  int threads = 0;
  // Laws on the coordinates of a tree (Tree::coordinates, Tree::velocities).
  std::vector<FrictionElement> friction = {};
  std::vector<ExpressionContact> stops = {};           ///< behind `contacts` among the laws
  std::vector<ExpressionConstraint> constraints = {};  ///< behind the loops

  bool is_flexible() const {
    return std::any_of(bodies.begin(), bodies.end(), [](const RigidBody& body) { return body.flexible != nullptr; });
  }
  /// The bodies are more than free ones.
  bool is_tree() const {
    return is_flexible() || !hinges.empty() || !loops.empty() || !loads.empty() || !friction.empty() ||
           !stops.empty() || !constraints.empty();
  }
};

/// Start positions (7 per free body, else by the hinges) and velocities (6 per body).
Vector start_positions(const BodyModel& model);
Vector start_velocities(const BodyModel& model);

/// Shapes that are inside one another at the start by more than `depth` [m]; the deepest of each pair of bodies.
struct StartOverlap {
  int law = 0;  ///< index into BodyModel::contacts
  int body_a = kGround, body_b = kGround;
  double depth = 0;  ///< [m]
};
std::vector<StartOverlap> start_overlaps(const BodyModel& model, double depth);

/// Mass centre of a body filled evenly, in its frame [m]; where shapes overlap, twice. InputError: no shape has a
/// volume.
Eigen::Vector3d center_of_shapes(const BodyModel& model, int body);

/// Masses checked, inertias that are not given computed from the shapes. Throws InputError as make_system() does.
void complete_inertia(BodyModel& model);

/// Poses of the frames of all bodies at q. `tree`: null for free bodies alone.
void body_poses(const BodyModel& model, const Tree* tree, const Vector& q, std::vector<Pose>& poses);

/// Throws InputError naming the body or law and what is wrong: no mass, inertia that no body can have, unknown names.
std::unique_ptr<System> make_system(BodyModel model);

}  // namespace stickslip
