// SPDX-License-Identifier: Apache-2.0
// Switches of the contacts along a step, and what the audit says of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/motion/compliant/compliant.hpp"

namespace stickslip {

namespace {

constexpr int kMostPushes = 12;          // over a switch, each twice as long as the one before
constexpr int kLongestPush = 24;         // likewise, where the integrator stops before it
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
      const std::vector<ContactPieces> before = pieces_;
      const bool jump = dynamics_.contacts().jumps_since(before, tolerance_);
      const bool dampers = dynamics_.contacts().dampers_change_since(before, tolerance_);
      note_switch(high, record);
      t = high;
      if ((options_.locate_switches || jump || dampers) && end_step_at(low, high, to, jump, before)) return;
    }
    t = next;
  }
}

/// The step is repeated up to the switch. Where forces jump there, up to just before it, and carried over it by its rate,
/// so that they are on one side in all of this step and on the other in all of the next. False: it is at the end of the
/// step anyway.
bool CompliantScheme::end_step_at(double before, double after, double end, bool jump,
                                  const std::vector<ContactPieces>& pieces_before) {
  if (!jump && end - after <= SmoothStretch::kMoment * stretch_.same_time(after)) return false;
  const auto f = [this](double time, const Vector& y, Vector& dydt) { return rate(time, y, dydt); };
  OdeIntegrator& method = rows_integrator_ ? *rows_integrator_ : *integrator_;
  if (!jump) before = after;
  const double h = before - integrator_->t_old();
  if (h <= 0) {
    switch_y_ = integrator_->y_old();
  } else if (!method.single_step(f, integrator_->t_old(), integrator_->y_old(), h, switch_y_)) {
    integrator_->interpolate(before, switch_y_);
  }
  const std::vector<ContactPieces> beyond = pieces_;
  switch_rate_.resize(switch_y_.size());
  if (jump && unknowns_ > 0) {
    rate_before_.resize(switch_y_.size());
    jump &= rate(before, switch_y_, rate_before_);
  }
  double t = before, way = std::max(after - before, stretch_.same_time(after));
  for (int round = 0; jump && round < kMostPushes; ++round, way *= 2) {
    if (!rate(t, switch_y_, switch_rate_) || dynamics_.contacts().pieces() == beyond) break;
    switch_y_ += way * switch_rate_;
    t += way;
  }
  if (jump && unknowns_ > 0 && rate(t, switch_y_, switch_rate_)) {
    rate_after_ = switch_rate_;
    jump_columns(t, rate_before_, rate_after_, dynamics_.contacts().closed_since(pieces_before), switch_y_);
  }
  step_end_ = std::max(t, after);
  first_step_ = integrator_->suggested_step();
  cut_ = true;
  return true;
}

/// Steps that fall to round-off before a switch: the integrator sees the jump or the kink just ahead and cannot cross it.
/// The state is carried over it by its rate.
bool CompliantScheme::push_over_switch(double t, StepRecord& record) {
  switch_y_ = integrator_->y();
  rate_before_.resize(switch_y_.size());
  switch_rate_.resize(switch_y_.size());
  if (!rate(t, switch_y_, rate_before_)) return false;
  const std::vector<ContactPieces> before = pieces_;
  double way = stretch_.same_time(t);
  for (int round = 0; round < kLongestPush; ++round, way *= 2) {
    y1_ = switch_y_ + way * rate_before_;
    if (!dynamics_.place(stretch_.inside(t + way), y1_) || dynamics_.contacts().pieces() == before) continue;
    const bool jump = dynamics_.contacts().jumps_since(before, 0);
    note_switch(t + way, record);
    switch_y_ = y1_;
    if (jump && unknowns_ > 0 && rate(t + way, switch_y_, switch_rate_))
      jump_columns(t + way, rate_before_, switch_rate_, dynamics_.contacts().closed_since(before), switch_y_);
    step_end_ = t + way;
    sums_base_ = sums_;
    in_step_ = cut_ = true;
    y_ = switch_y_;
    first_step_ = 0;
    return true;
  }
  return false;
}

void CompliantScheme::note_switch(double t, StepRecord& record) {
  switches_.add(t, changes(pieces_, dynamics_.contacts().pieces()));
  pieces_ = dynamics_.contacts().pieces();
  note_modes(dynamics_.contacts(), t, record);
}

void CompliantScheme::add_notes(std::vector<std::string>& notes) const {
  if (dynamics_.contacts().complete_by_default())
    notes.push_back(fmt::format(
        "contacts without a compliance table take stiffness m/epsilon, critical tangential damping and a normal damping that "
        "gives their restitution; friction laws likewise along their direction; epsilon = {:.3g} s^2 ({})",
        epsilon_,
        options_.epsilon > 0 ? "run.compliant.epsilon"
                             : "chosen from the motion at the start, run.compliant.epsilon changes it"));
  if (std::find(column_lost_.begin(), column_lost_.end(), 1) != column_lost_.end())
    notes.push_back(
        "several forces jumped at one instant that the unknowns move apart: derivatives do not exist from there on");
}

std::vector<AuditPart*> CompliantScheme::audit_parts() {
  audit_.guarantees.ends_outside = false;
  std::vector<AuditPart*> parts{&audit_, &switches_};
  if (dynamics_.constraints() > 0) parts.push_back(&constraint_audit_);
  return parts;
}

}  // namespace stickslip
