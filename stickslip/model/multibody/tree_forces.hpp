// SPDX-License-Identifier: Apache-2.0
// Forces on a tree: gravity; springs, dampers and forces along single axes; forces and torques on bodies at points;
// springs with dampers between points. Slopes are exact.
//
//   axis       -k (q - rest) - c v + f(t, q, v)
//   load       J_Pᵀ F + J_ωᵀ T at a point P of a body, F and T functions of t, q, v with the axes of the world or the
//   body spring     along the line between two points: -(k (l - l0) + c l')
//
// Gravity and springs are the potential, dampers lose energy, the rest is applied.
#pragma once

#include <memory>

#include "stickslip/model/forces.hpp"
#include "stickslip/model/matrix_layout.hpp"
#include "stickslip/model/multibody/tree_dynamics.hpp"
#include "stickslip/model/multibody/tree_jacobian.hpp"
#include "stickslip/model/rigid_bodies.hpp"

namespace stickslip {

class TreeForces final : public Forces {
 public:
  TreeForces(const BodyModel& model, std::shared_ptr<const Tree> tree);

  std::unique_ptr<Scratch> make_scratch() const override;
  void total(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const override;
  void applied(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& f) const override;
  double potential_energy(const Vector& q) const override;
  double damper_power(const Vector& q, const Vector& v) const override;
  void slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
              SystemMatrix& by_v) const override;
  void applied_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                      SystemMatrix& by_v) const override;
  bool applied_depends_on_state() const override { return applied_by_state_; }
  bool applied_depends_on_time() const override { return applied_by_time_; }
  bool depends_on_state() const override { return true; }
  bool quadratic_potential() const override { return false; }
  void append_breakpoints(BreakpointSearch& search) const override;
  void append_time_functions(std::vector<const StateFunction*>& functions) const override;

  // Gravity and the rest apart.
  const Eigen::Vector3d& gravity() const { return gravity_; }
  bool weight_alone() const { return axes_.empty() && loads_.empty() && springs_.empty(); }
  /// f = h without gravity
  void beside_gravity(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& f) const;
  double spring_energy(const Vector& q) const;
  /// d += damping c + stiffness k of the axes, per velocity.
  void add_axis_slopes(double damping, double stiffness, Vector& d) const;

 private:
  struct Memory;
  struct Axis {
    Index q, v;
    double stiffness, damping, rest;
    StateFunction force;
  };
  struct Load {
    int link;
    Eigen::Vector3d at;    ///< in the link
    Eigen::Matrix3d axes;  ///< of the body, in the link
    bool turns;
    std::vector<StateFunction> force, torque;
  };
  struct End {
    int link;
    Eigen::Vector3d at;
  };
  struct Spring {
    End a, b;
    double stiffness, damping, rest;
  };
  /// At one state.
  struct Stretch {
    TreePoint a, b;
    Eigen::Vector3d along;
    double length, rate;
  };

  std::vector<const StateFunction*> functions() const;
  void add_beside_gravity(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const;
  void add_applied(const SystemWorkspace& workspace, const TreeMotion<double>& motion, Vector& f) const;
  void add_applied_slopes(const Vector& q, SystemWorkspace& workspace, Memory& memory, double* by_q,
                          double* by_v) const;
  void add_function_slopes(const StateFunction& f, const Vector& q, SystemWorkspace& workspace, Memory& memory,
                           const Vector& column, double* by_q, double* by_v) const;
  void add_load_turning(const Load& load, const Eigen::Vector3d& F, const Eigen::Vector3d& T,
                        const TreeMotion<double>& motion, double* by_q) const;
  void add_load(int link, const Eigen::Vector3d& P, const Eigen::Vector3d& F, const Eigen::Vector3d& T,
                const TreeMotion<double>& motion, Vector& h) const;
  Stretch stretch_of(const Spring& spring, const TreeMotion<double>& motion, bool moving) const;
  void add_spring_slopes(const Spring& spring, const TreeMotion<double>& motion, Memory& memory, double* by_q,
                         double* by_v) const;
  void length_row(const Stretch& s, const TreeMotion<double>& motion, Vector& row) const;
  Index n() const { return tree_->nv(); }

  std::shared_ptr<const Tree> tree_;
  std::vector<std::vector<Index>> paths_;
  Eigen::Vector3d gravity_;
  std::vector<Axis> axes_;
  std::vector<Load> loads_;
  std::vector<Spring> springs_;
  MatrixLayout full_;
  bool applied_by_state_ = false, applied_by_time_ = false;
};

}  // namespace stickslip
