// SPDX-License-Identifier: Apache-2.0
// Heun's method and the classical one of order 4, for studies of order. A step in which a force jumps (a damped normal
// closes with speed, a static coefficient gives way) is cut there, so that each part has one side of the jump.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stickslip/motion/compliant/compliant.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {
constexpr int kMostCuts = 100;     // of one step
constexpr int kMostHalvings = 60;  // of the interval that holds a jump
}  // namespace

/// One step of the method over h from (t, y_) into y1_. Where forces can jump, on the pieces of its start: a stage that
/// lies beyond a jump would see the other side.
bool CompliantScheme::fixed_method(double t, double h, const std::vector<ContactPieces>* kept) {
  if (kept) dynamics_.contacts().keep_pieces(*kept);
  for (Vector* x : {&k1_, &k2_, &k3_, &k4_}) x->resize(y_.size());
  refusal_.clear();
  bool known = rate(t, y_, k1_);
  if (options_.integrator == CompliantIntegrator::heun) {
    y1_ = y_ + h * k1_;
    known = known && rate(t + h, y1_, k2_);
    y1_ = y_ + 0.5 * h * (k1_ + k2_);
  } else {
    y1_ = y_ + 0.5 * h * k1_;
    known = known && rate(t + 0.5 * h, y1_, k2_);
    y1_ = y_ + 0.5 * h * k2_;
    known = known && rate(t + 0.5 * h, y1_, k3_);
    y1_ = y_ + h * k3_;
    known = known && rate(t + h, y1_, k4_);
    y1_ = y_ + h / 6 * (k1_ + 2 * k2_ + 2 * k3_ + k4_);
  }
  dynamics_.contacts().let_go();
  fixed_evaluations_ += options_.integrator == CompliantIntegrator::heun ? 2 : 4;
  return known && y1_.allFinite();
}

/// From t to `until` or to where a force jumps: when that is. Not a number: there is no finite end.
double CompliantScheme::fixed_part(double t, double until, StepRecord& record) {
  CompliantContacts& contacts = dynamics_.contacts();
  const double h = until - t;
  const std::vector<ContactPieces> before = pieces_;
  const std::vector<ContactPieces>* kept = contacts.forces_jump() && contacts.can_keep_pieces() ? &before : nullptr;
  if (!fixed_method(t, h, kept)) {
    if (!std::exchange(kept, nullptr) || !fixed_method(t, h, kept)) return NAN;
  }
  const auto beyond = [&](double way) {
    return dynamics_.place(stretch_.inside(t + way), y1_) && contacts.pieces() != before &&
           contacts.jumps_since(before, tolerance_);
  };
  double low = 0, high = h;
  const bool jump = contacts.forces_jump() && beyond(h);
  for (int round = 0; jump && round < kMostHalvings && high - low > stretch_.same_time(t); ++round) {
    const double middle = 0.5 * (low + high);
    (fixed_method(t, middle, kept) && beyond(middle) ? high : low) = middle;
  }
  if (jump) {
    fixed_method(t, high, kept);
    dynamics_.place(stretch_.inside(t + high), y1_);
    note_switch(t + high, record);
    fixed_method(t, low, kept);
  }
  const double way = jump ? low : h;
  if (tape_ && way > 0) record_fixed_step(t, way, kept);
  if (way > 0) y_ = y1_;
  double end = until;
  if (jump) end = std::min(until, std::max(carry_over_jump(t + low, high - low, before, y_), t + high));
  if (dynamics_.place(stretch_.inside(end), y_) && contacts.pieces() != pieces_) note_switch(end, record);
  if (contacts.has_static()) {
    restart_ = true;  // y_ is the state
    settle(end);
  }
  return end;
}

/// From state.t to t_end in equal steps of about run.step.
StepOutcome CompliantScheme::fixed_step(double t_end, StepRecord& record) {
  const double t0 = record.state.t, span = t_end - t0;
  const long parts = std::max(1L, std::lround(std::ceil(span / fixed_ - 1e-9)));
  const double h = span / static_cast<double>(parts);
  if (restart_) begin(t0);
  for (long k = 0; k < parts; ++k) {
    double t = t0 + static_cast<double>(k) * h;
    const double end = k + 1 == parts ? t_end : t0 + static_cast<double>(k + 1) * h;
    if (!dynamics_.contacts().points_stay()) collect(t);
    for (int cut = 0; cut < kMostCuts && end - t > stretch_.same_time(end); ++cut) {
      const double from = t;
      t = fixed_part(from, end, record);
      if (std::isnan(t))
        return !refusal_.empty()
                   ? StepOutcome{Status::refused, refusal_}
                   : StepOutcome{Status::not_finite, fmt::format("the step from t = {:.9g} s of size {:.3g} s has no "
                                                                 "finite end; reduce run.step, or use integrator = "
                                                                 "\"explicit\"",
                                                                 from, h)};
    }
    if (raised(stop_)) return {Status::interrupted, ""};
    raise(audit_.step.penetration, deepest_.look(dynamics_.contacts(), end));
    if (dynamics_.constraints() > 0) project(end);
  }
  sums_ = y_.segment(dynamics_.motion_size(), dynamics_.sums_size());
  restart_ = stretch_.ends_at(t_end);
  sample_y_ = y_;
  take_state(t_end, y_, record);
  return {};
}

}  // namespace stickslip
