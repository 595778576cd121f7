// SPDX-License-Identifier: Apache-2.0
// Forces of a system given by equations: applied F(t, q, v), potential U(q), dissipation R(q, v), all functions of the
// model with exact derivatives: h = F - ∂U/∂q - ∂R/∂v.
#pragma once

#include <vector>

#include "stickslip/model/equation_model.hpp"
#include "stickslip/model/forces.hpp"
#include "stickslip/model/matrix_layout.hpp"

namespace stickslip {

class EquationForces final : public Forces {
 public:
  /// Takes force, potential and dissipation of the model. `full`: slopes store all of their entries, because velocity
  /// terms of the inertia are added to them.
  EquationForces(const EquationModel& model, bool full);

  void total(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const override;
  void applied(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& f) const override;
  double potential_energy(const Vector& q) const override;
  double damper_power(const Vector& q, const Vector& v) const override;
  void slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
              SystemMatrix& by_v) const override;
  void applied_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                      SystemMatrix& by_v) const override;
  bool applied_depends_on_state() const override { return state_dependent_; }
  bool applied_depends_on_time() const override { return time_dependent_; }
  bool depends_on_state() const override { return state_dependent_ || U_ || R_; }
  bool quadratic_potential() const override { return quadratic_; }
  void append_breakpoints(BreakpointSearch& search) const override;
  void append_time_functions(std::vector<const StateFunction*>& functions) const override;

 private:
  struct ForceSlope {
    const StateFunction* f;
    Index slot;
    bool by_velocity;
    Index row, column;
    Index place = 0, applied_place = 0;
  };
  /// ∂²/∂first∂second of U or R, and where it goes; mirror: the transposed place, -1 if there is none.
  struct EnergySlope {
    Index first, second;
    bool by_velocity;
    Index row, column;
    Index place = 0, mirror = -1;
  };
  void list_slopes();
  void place_slopes(bool full);
  bool is_symmetric(const EnergySlope& slope) const;

  Index n_ = 0;
  std::vector<StateFunction> force_;
  std::optional<StateFunction> potential_, dissipation_;
  const StateFunction *U_ = nullptr, *R_ = nullptr;  // null: constant or not given
  std::vector<ForceSlope> force_slopes_;
  std::vector<Index> potential_slots_, damper_slots_;
  std::vector<EnergySlope> potential_slopes_, damper_slopes_;
  MatrixLayout by_q_, by_v_, applied_by_q_, applied_by_v_;
  bool state_dependent_ = false, time_dependent_ = false, quadratic_ = false;
};

}  // namespace stickslip
