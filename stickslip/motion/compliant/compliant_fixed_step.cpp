// SPDX-License-Identifier: Apache-2.0
// Heun's method and the classical one of order 4, for studies of order.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/motion/compliant/compliant.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

/// Heun or the classical method of order 4, from state.t to t_end in equal steps of about run.step.
StepOutcome CompliantScheme::fixed_step(double t_end, StepRecord& record) {
  const double t0 = record.state.t, span = t_end - t0;
  const long parts = std::max(1L, std::lround(std::ceil(span / fixed_ - 1e-9)));
  const double h = span / static_cast<double>(parts);
  if (restart_) begin(t0);
  for (long k = 0; k < parts; ++k) {
    const double t = t0 + static_cast<double>(k) * h;
    if (!dynamics_.contacts().points_stay()) collect(t);
    for (Vector* x : {&k1_, &k2_, &k3_, &k4_}) x->resize(y_.size());
    if (tape_) record_fixed_step(t, h);
    refusal_.clear();
    bool known = rate(t, y_, k1_);
    if (options_.integrator == CompliantIntegrator::heun) {
      y1_ = y_ + h * k1_;
      known = known && rate(t + h, y1_, k2_);
      if (known) y_ += 0.5 * h * (k1_ + k2_);
    } else {
      y1_ = y_ + 0.5 * h * k1_;
      known = known && rate(t + 0.5 * h, y1_, k2_);
      if (known) y1_ = y_ + 0.5 * h * k2_;
      known = known && rate(t + 0.5 * h, y1_, k3_);
      if (known) y1_ = y_ + h * k3_;
      known = known && rate(t + h, y1_, k4_);
      if (known) y_ += h / 6 * (k1_ + 2 * k2_ + 2 * k3_ + k4_);
    }
    if (!known || !y_.allFinite())
      return !refusal_.empty()
                 ? StepOutcome{Status::refused, refusal_}
                 : StepOutcome{Status::not_finite, fmt::format("the step from t = {:.9g} s of size {:.3g} s has no "
                                                               "finite end; reduce run.step, or use integrator = "
                                                               "\"explicit\"",
                                                               t, h)};
    if (raised(stop_)) return {Status::interrupted, ""};
    if (dynamics_.place(t + h, y_) && dynamics_.contacts().pieces() != pieces_) {
      note_switch(k + 1 == parts ? t_end : t + h, record);
    }
    raise(audit_.step.penetration, dynamics_.contacts().deepest());
    const std::vector<CompliantContacts::Slot> held = dynamics_.contacts().slots();
    if (dynamics_.contacts().hold_or_release() && dynamics_.place(t + h, y_)) pieces_ = dynamics_.contacts().pieces();
    record_holds(held);
    if (dynamics_.constraints() > 0) project(k + 1 == parts ? t_end : t + h);
  }
  sums_ = y_.segment(dynamics_.motion_size(), dynamics_.sums_size());
  fixed_evaluations_ += parts * (options_.integrator == CompliantIntegrator::heun ? 2 : 4);
  restart_ = stretch_.ends_at(t_end);
  sample_y_ = y_;
  take_state(t_end, y_, record);
  return {};
}

}  // namespace stickslip
