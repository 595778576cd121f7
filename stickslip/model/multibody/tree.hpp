// SPDX-License-Identifier: Apache-2.0
// A tree of rigid bodies, taken apart into links: one link per axis, so that every joint has a motion that is constant
// in the frame of its link.
//
//   link   joint: translation along or rotation about an axis of its frame, or a ball; its frame stands at `offset`,
//   turned
//          by `turn`, in the frame of its parent before the joint moves; what moves with it: mass, centre, inertia
//   body   the link it is fixed to and its frame there. Welded bodies share a link; those welded to the ground have
//   none
//
// The frame of a flexible body is a link like others; its mass points and nodes are links whose joints follow the modal
// coordinates, which have a link of their own (without mass) each.
//
// Parents come before children. Positions and velocities of the links stand one after the other in q and v.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <string>
#include <vector>

#include "stickslip/common/vector.hpp"
#include "stickslip/model/multibody/hinge.hpp"

namespace stickslip {

struct BodyModel;

struct FlexibleBody;

enum class JointKind : unsigned char { translation, rotation, ball };

struct Link {
  int parent = -1;  ///< -1: the ground
  JointKind kind = JointKind::rotation;
  int axis = 2;        ///< of its frame, 0 to 2; of a ball meaningless
  Index q = 0, v = 0;  ///< first position and velocity
  Eigen::Vector3d offset = Eigen::Vector3d::Zero();
  Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
  bool turned = false;                                ///< turn is not 1
  double mass = 0;                                    ///< [kg]; 0: nothing is fixed to it
  Eigen::Vector3d moment = Eigen::Vector3d::Zero();   ///< mass times centre, in the link [kg m]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about the origin of the link, its axes [kg m²]
  int velocities() const { return kind == JointKind::ball ? 3 : 1; }
};

/// One velocity and what it moves.
struct TreeVelocity {
  int link = 0;
  bool rotation = true;
};

/// A velocity that follows the modal coordinates of a flexible body: q = linear·η + ½ ηᵀ quadratic η
/// (flexible_body.hpp).
struct DrivenVelocity {
  Index velocity = 0;     ///< of the tree
  Index first = 0;        ///< velocity of the first η; there are linear.size() of them
  Vector linear;          ///< constant part is in the links
  DenseMatrix quadratic;  ///< symmetric; empty: 0
};

struct Tree {
  struct Body {
    int link = -1;
    Eigen::Vector3d position = Eigen::Vector3d::Zero();  ///< of the body's frame in the link (world, on the ground)
    Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
    Eigen::Vector3d center = Eigen::Vector3d::Zero();  ///< mass centre in the body [m]
    double mass = 0;
  };
  std::vector<Link> links;
  std::vector<Body> bodies;            ///< as in the model
  std::vector<TreeVelocity> velocity;  ///< nv
  std::vector<std::string> coordinates, velocities;
  std::vector<Hinge> hinges;  ///< in the order of the tree: those of the model, and a free one for every free body
  std::vector<Index> hinge_q, hinge_v;  ///< first position and velocity of each, behind what its bearing holds
  std::vector<Index> hinge_link;        ///< first link of each, likewise
  std::vector<Index> held;              ///< velocities that bearings hold
  /// Ascending in `velocity`; empty: all bodies are rigid. What moves the system are the other velocities
  /// (tree_map.hpp).
  std::vector<DrivenVelocity> driven;
  struct Modal {
    std::shared_ptr<const FlexibleBody> body;
    Index first = 0;  ///< velocity of its first η
  };
  std::vector<Modal> modal;
  double length = 0;  ///< the longest way from a link to its parent or to a mass centre [m]
  bool flat = true;   ///< no ball: q' = v
  Index nq() const { return static_cast<Index>(coordinates.size()); }
  Index nv() const { return static_cast<Index>(velocities.size()); }
};

/// Throws InputError naming the hinge or body: a body that hangs on two hinges, hinges in a circle, a body hinged to
/// itself, names that occur twice, numbers of the wrong count. Masses and inertias of the model are known by then.
Tree make_tree(const BodyModel& model);

/// q and v at the start, from the hinges and from the free bodies.
Vector start_positions(const Tree& tree);
Vector start_velocities(const Tree& tree);

}  // namespace stickslip
