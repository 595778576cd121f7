// SPDX-License-Identifier: Apache-2.0
// A system that calls back whenever its forces are evaluated: what happens inside a step can be timed by evaluations
// instead of by a clock.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "stickslip/model/system.hpp"

namespace stickslip {

class WatchedSystem final : public System {
 public:
  WatchedSystem(std::unique_ptr<System> inner, std::function<void(long evaluation, double t)> seen)
      : inner_(std::move(inner)), seen_(std::move(seen)) {}

  void force(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& h) const override {
    seen_(++evaluations_, t);
    inner_->force(t, q, v, w, h);
  }
  void force_series(double t, double rate, SystemWorkspace& w, DenseMatrix& c) const override {
    seen_(++evaluations_, t);
    inner_->force_series(t, rate, w, c);
  }
  long evaluations() const { return evaluations_; }
  double claimed_loss = 0;  ///< [W] that dampers are said to take and do not: an audit that does not close

  const SystemInfo& info() const override { return inner_->info(); }
  const std::vector<FrictionElement>& friction() const override { return inner_->friction(); }
  void position_rate(const Vector& q, const Vector& v, Vector& qdot) const override {
    inner_->position_rate(q, v, qdot);
  }
  const SystemMatrix& mass(const Vector& q, SystemWorkspace& w) const override { return inner_->mass(q, w); }
  bool mass_varies() const override { return inner_->mass_varies(); }
  double kinetic_energy(const Vector& q, const Vector& v) const override { return inner_->kinetic_energy(q, v); }
  double potential_energy(const Vector& q) const override { return inner_->potential_energy(q); }
  double damper_power(const Vector& q, const Vector& v) const override {
    return inner_->damper_power(q, v) + claimed_loss;
  }
  void force_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& w, SystemMatrix& by_q,
                      SystemMatrix& by_v) const override {
    inner_->force_jacobian(t, q, v, w, by_q, by_v);
  }
  void applied_force(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& f) const override {
    inner_->applied_force(t, q, v, w, f);
  }
  bool applied_force_depends_on_state() const override { return inner_->applied_force_depends_on_state(); }
  bool applied_force_depends_on_time() const override { return inner_->applied_force_depends_on_time(); }
  void applied_force_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& w, SystemMatrix& by_q,
                              SystemMatrix& by_v) const override {
    inner_->applied_force_jacobian(t, q, v, w, by_q, by_v);
  }
  const LinearPart* linear() const override { return inner_->linear(); }
  bool has_series() const override { return inner_->has_series(); }
  void append_breakpoints(BreakpointSearch& search) const override { inner_->append_breakpoints(search); }

 private:
  std::unique_ptr<System> inner_;
  std::function<void(long, double)> seen_;
  mutable long evaluations_ = 0;
};

}  // namespace stickslip
