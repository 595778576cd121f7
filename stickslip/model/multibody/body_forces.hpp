// SPDX-License-Identifier: Apache-2.0
// Forces on free bodies: gravity, forces and torques of time, springs with dampers between points.
//
// A spring acts along the line that joins its ends: force -(k (l - l0) + c l'). With l' = J v its slopes for a step are
// ∂h/∂δ = -k Jᵀ J and ∂h/∂v = -c Jᵀ J: the force stays on the line, so that momentum and angular momentum are kept. The
// turning of the line is left out; a spring under the tension F needs h² F (1/m_a + 1/m_b) < 4 l.
#pragma once

#include "stickslip/model/forces.hpp"
#include "stickslip/model/matrix_layout.hpp"
#include "stickslip/model/rigid_bodies.hpp"

namespace stickslip {

class BodyForces final : public Forces {
 public:
  explicit BodyForces(const BodyModel& model);

  void total(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const override;
  void applied(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& f) const override;
  double potential_energy(const Vector& q) const override;
  double damper_power(const Vector& q, const Vector& v) const override;
  void slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
              SystemMatrix& by_v) const override;
  void applied_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                      SystemMatrix& by_v) const override;
  bool applied_depends_on_state() const override { return false; }
  bool applied_depends_on_time() const override { return loaded_; }
  bool depends_on_state() const override { return !springs_.empty(); }
  bool quadratic_potential() const override { return springs_.empty(); }
  void append_breakpoints(BreakpointSearch& search) const override;
  void append_time_functions(std::vector<const StateFunction*>& functions) const override;

 private:
  struct Load {
    double mass;             // [kg]
    Eigen::Vector3d center;  // in the body's frame [m]
    std::vector<StateFunction> force, torque;
  };
  struct SpringState {
    Eigen::Vector3d arm_a, arm_b;  ///< from the mass centres to the ends, world
    Eigen::Vector3d along;         ///< unit vector from a to b
    double length, rate, tension;
  };
  Index bodies() const { return static_cast<Index>(loads_.size()); }
  SpringState spring_state(const PointSpring& spring, const Vector& q, const Vector& v) const;
  std::array<double, 12> length_rate(const PointSpring& spring, const SpringState& s, const Vector& q) const;
  void set_spring_structure();
  void add_point_force(int body, const Eigen::Vector3d& arm, const Eigen::Vector3d& f, const Vector& q,
                       Vector& h) const;

  Eigen::Vector3d gravity_;
  std::vector<Load> loads_;
  std::vector<PointSpring> springs_;
  bool loaded_ = false;
  MatrixLayout spring_layout_;
  std::vector<Index> spring_places_;  // 12 × 12 per spring
};

}  // namespace stickslip
