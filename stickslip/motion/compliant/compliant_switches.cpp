// SPDX-License-Identifier: Apache-2.0
// Switches of the contacts along a step, and what the audit says of them.
#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/motion/compliant/compliant.hpp"

namespace stickslip {

namespace {

constexpr int kMostPushes = 12;          // over a switch, each twice as long as the one before
constexpr int kMostSwitches = 100;       // between two looks
constexpr std::array<double, 3> kLooks{0.25, 0.5, 0.75};  // of a step, where switches back and forth would hide

}  // namespace

/// Compares what the contacts do along the step; a change is followed to its instant on the dense output.
void CompliantScheme::look_for_switches(StepRecord& record) {
  const double from = integrator_->t_old(), to = integrator_->t();
  double t = from;
  const auto look = [&](double at) {
    integrator_->interpolate(at, y1_);
    return dynamics_.place(stretch_.inside(at), y1_) ? dynamics_.contacts().pieces() != pieces_ : false;
  };
  for (int k = 0; k <= static_cast<int>(kLooks.size()); ++k) {
    const double next = k < static_cast<int>(kLooks.size()) ? from + kLooks[static_cast<std::size_t>(k)] * (to - from) : to;
    for (int count = 0; count < kMostSwitches && look(next); ++count) {
      double low = t, high = next;
      for (int round = 0; round < 60 && high - low > stretch_.same_time(high); ++round) {
        const double middle = 0.5 * (low + high);
        (look(middle) ? high : low) = middle;
      }
      look(high);
      note_switch(high, record);
      t = high;
      if (options_.locate_switches && end_step_at(low, high, to)) return;
    }
    t = next;
  }
}

/// The step is repeated up to the switch. Where forces jump there, up to just before it, and carried over it by its rate,
/// so that they are on one side in all of this step and on the other in all of the next. False: it is at the end of the
/// step anyway.
bool CompliantScheme::end_step_at(double before, double after, double end) {
  if (end - after <= SmoothStretch::kMoment * stretch_.same_time(after)) return false;
  const auto f = [this](double time, const Vector& y, Vector& dydt) { return rate(time, y, dydt); };
  OdeIntegrator& method = rows_integrator_ ? *rows_integrator_ : *integrator_;
  const bool jump = dynamics_.contacts().forces_jump();
  if (!jump) before = after;
  const double h = before - integrator_->t_old();
  if (h <= 0) {
    switch_y_ = integrator_->y_old();
  } else if (!method.single_step(f, integrator_->t_old(), integrator_->y_old(), h, switch_y_)) {
    integrator_->interpolate(before, switch_y_);
  }
  const std::vector<ContactPieces> beyond = pieces_;
  switch_rate_.resize(switch_y_.size());
  double t = before, way = std::max(after - before, stretch_.same_time(after));
  for (int round = 0; jump && round < kMostPushes; ++round, way *= 2) {
    if (!rate(t, switch_y_, switch_rate_) || dynamics_.contacts().pieces() == beyond) break;
    switch_y_ += way * switch_rate_;
    t += way;
  }
  step_end_ = std::max(t, after);
  first_step_ = integrator_->suggested_step();
  return true;
}

void CompliantScheme::note_switch(double t, StepRecord& record) {
  switches_.add(t, changes(pieces_, dynamics_.contacts().pieces()));
  pieces_ = dynamics_.contacts().pieces();
  note_modes(dynamics_.contacts(), t, record);
}

std::vector<AuditPart*> CompliantScheme::audit_parts() {
  audit_.guarantees.ends_outside = false;
  return {&audit_, &switches_};
}

}  // namespace stickslip
