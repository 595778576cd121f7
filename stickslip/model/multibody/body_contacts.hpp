// SPDX-License-Identifier: Apache-2.0
// Contacts between the shapes of bodies: points appear and vanish as the shapes meet and part.
//
// Contact between body a (first) and b at a point P with normal n from b to a, frame (n, t1, t2):
//   u = frame · (v_a + ω_a × (P - x_a) - v_b - ω_b × (P - x_b)) - surface velocity of b
//
// Rows are over the velocities of free bodies, or over those of a tree.
#pragma once

#include "stickslip/model/law_set.hpp"
#include "stickslip/model/multibody/tree_jacobian.hpp"
#include "stickslip/model/rigid_bodies.hpp"

namespace stickslip {

/// Where the rows of a point begin, and their entries.
struct RowPlace {
  Index row = 0, entry = 0;
};

class BodyContacts final : public ContactSource {
 public:
  /// Throws InputError naming what is wrong with the shapes.
  explicit BodyContacts(const BodyModel& model, std::shared_ptr<const Tree> tree = nullptr);

  std::unique_ptr<Scratch> make_scratch() const override;
  ThreadPool* threads(SystemWorkspace& workspace) const override;
  const std::vector<ContactElement>& laws() const override { return laws_; }
  /// Throws InputError naming a body that has left the range in which contacts are searched.
  void find(double t, const Vector& q, double margin, SystemWorkspace& workspace, ContactPoints& found) const override;
  void surface(double t, const Vector& q, SystemWorkspace& workspace, const ContactPoints& found,
               Vector& w) const override;
  void bias(double t, const Vector& q, const Vector& v, double margin, SystemWorkspace& workspace,
            Vector& bias) const override;
  bool surfaces_move() const override { return surfaces_move_; }
  bool points_stay() const override { return laws_.empty(); }
  bool constant_rows() const override { return laws_.empty(); }
  double speed_bound(const Vector& v) const override;
  double length() const override { return length_; }
  /// ½ n·(ω_a + ω_b) less the turning of (t1, t2) as n moves. n moves with the mean of the two bodies; that of the
  /// ground stays. (A normal that travels over two curved surfaces is taken as if they were flat.)
  double spin(const Vector& q, const Vector& v, const ContactSite& site) const override;
  void append_breakpoints(BreakpointSearch& search) const override;
  void append_time_functions(std::vector<const StateFunction*>& functions) const override;

 private:
  Index bodies() const { return static_cast<Index>(centers_.size()); }
  void place_bodies(const Vector& q, double margin, SystemWorkspace& workspace) const;
  void require_place(Index k, const Eigen::Vector3d& x, const Eigen::Quaterniond& r, double margin) const;
  void insert_tree_row(Index row, int body_a, int body_b, const Eigen::Vector3d& direction, const Eigen::Vector3d& P,
                       SystemWorkspace& workspace, SparseMatrix& Wt) const;
  double tree_speed_bound(const Vector& v) const;
  Eigen::Vector3d surface_velocity(int law, const SystemWorkspace& workspace) const;
  void set_up_rows(const Vector& q, SystemWorkspace& workspace, ContactPoints& found) const;
  void set_up_tree_rows(SystemWorkspace& workspace, ContactPoints& found) const;
  ContactSite site_of(const ContactPoint& point) const;
  void set_up_point(const Vector& q, const ContactPoint& point, const Eigen::Vector3d& surface, RowPlace place,
                    std::size_t k, ContactPoints& found) const;

  std::vector<std::string> names_;
  std::vector<Eigen::Vector3d> centers_;  // mass centres in the bodies' frames
  std::vector<double> reach_;             // farthest point of the shapes from the mass centre
  std::vector<int> body_of_shape_;
  std::vector<ContactElement> laws_;
  std::vector<std::vector<StateFunction>> surface_velocity_;
  std::shared_ptr<const BodyModel> model_;  // what scenes are made of
  std::shared_ptr<const Tree> tree_;        // null: free bodies
  std::vector<std::vector<Index>> paths_;   // of the tree
  double length_ = 1;
  bool surfaces_move_ = false;
};

/// The shapes of the model and which of them may touch by which law.
CollisionScene make_scene(const BodyModel& model);

}  // namespace stickslip
