// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/equation_forces.hpp"

#include "stickslip/model/function_shape.hpp"

namespace stickslip {

EquationForces::EquationForces(const EquationModel& model, bool full)
    : n_(static_cast<Index>(model.coordinates.size())),
      force_(model.force),
      potential_(model.potential),
      dissipation_(model.dissipation) {
  U_ = potential_ && !potential_->is_constant() ? &*potential_ : nullptr;
  R_ = dissipation_ && !dissipation_->is_constant() ? &*dissipation_ : nullptr;
  for (const StateFunction& f : force_) {
    state_dependent_ |= f.depends_on_state(1 + 2 * n_);
    time_dependent_ |= f.depends_on_time();
  }
  quadratic_ = !U_ || potential_->degree() != Degree::any;
  list_slopes();
  place_slopes(full);
}

void EquationForces::list_slopes() {
  const auto is_position = [&](Index slot) { return slot >= 1 && slot <= n_; };
  const auto is_velocity = [&](Index slot) { return slot > n_ && slot <= 2 * n_; };
  for (std::size_t i = 0; i < force_.size(); ++i)
    for (const Index slot : force_[i].variables_used()) {
      const bool velocity = is_velocity(slot);
      if (velocity || is_position(slot))
        force_slopes_.push_back(
            {&force_[i], slot, velocity, static_cast<Index>(i), velocity ? slot - 1 - n_ : slot - 1});
    }
  if (U_) potential_slots_ = U_->variables_used();
  for (std::size_t a = 0; a < potential_slots_.size(); ++a)
    for (std::size_t b = a; b < potential_slots_.size(); ++b) {
      const Index i = potential_slots_[a], j = potential_slots_[b];
      potential_slopes_.push_back({i, j, false, i - 1, j - 1});
    }
  if (R_)
    for (const Index slot : R_->variables_used())
      if (is_velocity(slot)) damper_slots_.push_back(slot);
  for (const Index i : damper_slots_)
    for (const Index j : R_->variables_used()) {
      if (is_position(j)) damper_slopes_.push_back({i, j, false, i - 1 - n_, j - 1});
      if (is_velocity(j) && i <= j) damper_slopes_.push_back({i, j, true, i - 1 - n_, j - 1 - n_});
    }
}

void EquationForces::place_slopes(bool full) {
  std::vector<std::pair<Index, Index>> by_q, by_v;
  for (const ForceSlope& slope : force_slopes_) (slope.by_velocity ? by_v : by_q).emplace_back(slope.row, slope.column);
  applied_by_q_ = MatrixLayout(n_, by_q);
  applied_by_v_ = MatrixLayout(n_, by_v);
  for (const auto* slopes : {&potential_slopes_, &damper_slopes_})
    for (const EnergySlope& slope : *slopes) {
      auto& pattern = slope.by_velocity ? by_v : by_q;
      pattern.emplace_back(slope.row, slope.column);
      if (is_symmetric(slope)) pattern.emplace_back(slope.column, slope.row);
    }
  if (full) by_q = by_v = all_entries(n_);
  by_q_ = MatrixLayout(n_, by_q);
  by_v_ = MatrixLayout(n_, by_v);
  for (ForceSlope& slope : force_slopes_) {
    slope.place = (slope.by_velocity ? by_v_ : by_q_).offset(slope.row, slope.column);
    slope.applied_place = (slope.by_velocity ? applied_by_v_ : applied_by_q_).offset(slope.row, slope.column);
  }
  for (auto* slopes : {&potential_slopes_, &damper_slopes_})
    for (EnergySlope& slope : *slopes) {
      const MatrixLayout& layout = slope.by_velocity ? by_v_ : by_q_;
      slope.place = layout.offset(slope.row, slope.column);
      if (is_symmetric(slope)) slope.mirror = layout.offset(slope.column, slope.row);
    }
}

/// The transposed entry is the same derivative: both arguments are of one kind, and they differ.
bool EquationForces::is_symmetric(const EnergySlope& slope) const {
  return (slope.first > n_) == (slope.second > n_) && slope.first != slope.second;
}

void EquationForces::total(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& h) const {
  applied(t, q, v, w, h);
  if (!U_ && !R_) return;
  w.variables.set(t, q, v);
  const auto x = w.variables.span();
  for (const Index slot : potential_slots_) h[slot - 1] -= U_->derivative(x, slot);
  for (const Index slot : damper_slots_) h[slot - 1 - n_] -= R_->derivative(x, slot);
}

void EquationForces::applied(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& f) const {
  f.setZero(n_);
  if (force_.empty()) return;
  w.variables.set(t, q, v);
  const auto x = w.variables.span();
  for (Index i = 0; i < n_; ++i) f[i] = force_[static_cast<std::size_t>(i)](x);
}

double EquationForces::potential_energy(const Vector& q) const {
  return potential_ ? (*potential_)(gathered_variables(q, q)) : 0.0;
}

double EquationForces::damper_power(const Vector& q, const Vector& v) const {
  if (!R_) return 0.0;
  const auto x = gathered_variables(q, v);
  double power = 0;
  for (const Index slot : damper_slots_) power += v[slot - 1 - n_] * R_->derivative(x, slot);
  return power;
}

void EquationForces::slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& w, SystemMatrix& by_q,
                            SystemMatrix& by_v) const {
  double* const dq = by_q_.clear(by_q);
  double* const dv = by_v_.clear(by_v);
  w.variables.set(t, q, v);
  const auto x = w.variables.span();
  for (const ForceSlope& slope : force_slopes_)
    (slope.by_velocity ? dv : dq)[slope.place] += slope.f->derivative(x, slope.slot);
  for (const EnergySlope& slope : potential_slopes_) {
    const double value = U_->second_derivative(x, slope.first, slope.second);
    dq[slope.place] -= value;
    if (slope.mirror >= 0) dq[slope.mirror] -= value;
  }
  for (const EnergySlope& slope : damper_slopes_) {
    const double value = R_->second_derivative(x, slope.first, slope.second);
    (slope.by_velocity ? dv : dq)[slope.place] -= value;
    if (slope.mirror >= 0) dv[slope.mirror] -= value;
  }
}

void EquationForces::applied_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& w, SystemMatrix& by_q,
                                    SystemMatrix& by_v) const {
  double* const dq = applied_by_q_.clear(by_q);
  double* const dv = applied_by_v_.clear(by_v);
  w.variables.set(t, q, v);
  const auto x = w.variables.span();
  for (const ForceSlope& slope : force_slopes_)
    (slope.by_velocity ? dv : dq)[slope.applied_place] += slope.f->derivative(x, slope.slot);
}

void EquationForces::append_breakpoints(BreakpointSearch& search) const {
  for (const StateFunction& f : force_) f.append_breakpoints(search);
}

void EquationForces::append_time_functions(std::vector<const StateFunction*>& functions) const {
  for (const StateFunction& f : force_) functions.push_back(&f);
}

}  // namespace stickslip
