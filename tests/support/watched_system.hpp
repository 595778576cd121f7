// SPDX-License-Identifier: Apache-2.0
// A system that calls back whenever its forces are evaluated: what happens inside a step can be timed by evaluations
// instead of by a clock.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "stickslip/model/system.hpp"

namespace stickslip {

struct ForceWatch {
  std::function<void(long evaluation, double t)> seen;
  long evaluations = 0;
  double claimed_loss = 0;  ///< [W] that dampers are said to take and do not: an audit that does not close
};

class WatchedForces final : public Forces {
 public:
  WatchedForces(std::unique_ptr<Forces> inner, std::shared_ptr<ForceWatch> watch)
      : inner_(std::move(inner)), watch_(std::move(watch)) {}

  std::unique_ptr<Scratch> make_scratch() const override { return inner_->make_scratch(); }
  void total(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& h) const override {
    watch_->seen(++watch_->evaluations, t);
    inner_->total(t, q, v, w, h);
  }
  void series(double t, double rate, SystemWorkspace& w, DenseMatrix& c) const override {
    watch_->seen(++watch_->evaluations, t);
    inner_->series(t, rate, w, c);
  }
  double damper_power(const Vector& q, const Vector& v) const override {
    return inner_->damper_power(q, v) + watch_->claimed_loss;
  }

  void applied(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& f) const override {
    inner_->applied(t, q, v, w, f);
  }
  double potential_energy(const Vector& q) const override { return inner_->potential_energy(q); }
  void slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& w, SystemMatrix& by_q,
              SystemMatrix& by_v) const override {
    inner_->slopes(t, q, v, w, by_q, by_v);
  }
  void applied_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& w, SystemMatrix& by_q,
                      SystemMatrix& by_v) const override {
    inner_->applied_slopes(t, q, v, w, by_q, by_v);
  }
  bool applied_depends_on_state() const override { return inner_->applied_depends_on_state(); }
  bool applied_depends_on_time() const override { return inner_->applied_depends_on_time(); }
  bool depends_on_state() const override { return inner_->depends_on_state(); }
  const LinearForces* linear() const override { return inner_->linear(); }
  bool quadratic_potential() const override { return inner_->quadratic_potential(); }
  bool has_series() const override { return inner_->has_series(); }
  void append_breakpoints(BreakpointSearch& search) const override { inner_->append_breakpoints(search); }
  void append_time_functions(std::vector<const StateFunction*>& functions) const override {
    inner_->append_time_functions(functions);
  }

 private:
  std::unique_ptr<Forces> inner_;
  std::shared_ptr<ForceWatch> watch_;
};

/// `inner` with its forces watched.
class WatchedSystem {
 public:
  WatchedSystem(std::unique_ptr<System> inner, std::function<void(long evaluation, double t)> seen) {
    watch_->seen = std::move(seen);
    SystemParts parts = std::move(*inner).take_apart();
    parts.forces = std::make_unique<WatchedForces>(std::move(parts.forces), watch_);
    parts.articulation = nullptr;  // it knows the forces that were there
    system_ = std::make_unique<System>(std::move(parts));
  }
  operator const System&() const { return *system_; }
  long evaluations() const { return watch_->evaluations; }
  void claim_loss(double power) { watch_->claimed_loss = power; }

 private:
  std::shared_ptr<ForceWatch> watch_ = std::make_shared<ForceWatch>();
  std::unique_ptr<System> system_;
};

}  // namespace stickslip
