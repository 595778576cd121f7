// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/recorder.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {
constexpr double kSameTime = 1e-9;  // of a step: times nearer than that are one
}  // namespace

Recorder::Recorder(const System& system, const SimulationOptions& options, double grid_step, const Scheme& scheme,
                   const SimulationHooks& hooks, Simulation& result)
    : system_(system),
      options_(options),
      step_(grid_step),
      margin_(kSameTime * grid_step),
      multiples_(options.output_step > 0 ? options.output_step : 1),
      scheme_(scheme),
      hooks_(hooks),
      result_(result),
      every_step_(options.output_step == 0 && options.output_times.empty()) {
  look_at_row(0);
}

void Recorder::prepare(const StepRecord& record) {
  constraints_ = record.constraint_impulse.size();
  reaction_ = Vector::Zero(record.reaction_impulse.size() + constraints_);
  smooth_ = reaction_;
  row_.reaction = reaction_;
  row_.smooth = smooth_;
  q_ = record.state.q;
  v_ = record.state.v;
  t_ = record.state.t;
  row_.q = q_;
  row_.v = v_;
  sensitivity_ = record.sensitivity;
  const Index unknowns = record.sensitivity.cols(),
              reactions = result_.trajectory.names().reaction_sensitivity ? reaction_.size() : 0;
  row_.sensitivity.setZero(unknowns > 0 ? q_.size() + v_.size() + reactions : 0, unknowns);
}

void Recorder::start(const StepRecord& record) {
  prepare(record);
  if (!every_step_ && !(due_ <= t_ + margin_)) return;
  skip_rows_up_to(t_);
  write(record, t_);
}

void Recorder::go_on(const StepRecord& record) {
  prepare(record);
  skip_rows_up_to(t_);
}

void Recorder::exchange(Memory& memory) {
  for (Vector* x : {&q_, &v_, &reaction_, &smooth_}) memory.exchange(*x);
  memory.exchange(t_);
  memory.exchange(duration_);
  memory.exchange(whole_);
  memory.exchange(mean_);
  memory.exchange(sensitivity_);
}

void Recorder::part_done(const StepRecord& record, bool first, bool last) {
  stepped_ = true;
  add_part(record, first, last);
  const double t0 = t_, t1 = record.state.t, h = t1 - t0;
  if (!every_step_) {
    while (due_ < t1 - margin_) {
      interpolate(record, t0, h, due_);
      look_at_row(next_ + 1);
    }
    if (due_ <= t1 + margin_ && last) {
      look_at_row(next_ + 1);
      write(record, t1);
    }
  } else if (last) {
    write(record, t1);
  }
  t_ = t1;
  if (every_step_ || due_ > t1 + 2 * step_) return;  // only the start of an interpolated part is needed
  q_ = record.state.q;
  v_ = record.state.v;
  sensitivity_ = record.sensitivity;
}

const Vector& Recorder::mean_reaction(const StepRecord& record) {
  if (mean_.size() == 0 || stepped_) {
    mean_ = reaction_ / (duration_ > 0 ? duration_ : 1.0);
    if (whole_) join(record.reaction_impulse, record.constraint_impulse, 1 / record.duration, mean_);
  }
  return mean_;
}

/// Sums up the parts of a step that is cut; a step in one part stays where it is.
void Recorder::add_part(const StepRecord& record, bool first, bool last) {
  whole_ = first && last;
  if (whole_) return;
  if (first) {
    reaction_.setZero();
    smooth_.setZero();
    duration_ = 0;
  }
  const Index laws = reaction_.size() - constraints_;
  reaction_.head(laws) += record.reaction_impulse;
  smooth_.head(laws) += record.smooth_impulse;
  if (constraints_ > 0) reaction_.tail(constraints_) += record.constraint_impulse;
  duration_ += record.duration;
}

/// Reactions of the laws, then those of the constraints.
void Recorder::join(const Vector& laws, const Vector& constraints, double factor, Vector& out) const {
  out.head(laws.size()) = factor * laws;
  if (constraints_ > 0) out.tail(constraints_) = factor * constraints;
}

void Recorder::skip_rows_up_to(double t) {
  if (every_step_) return;
  if (options_.output_step > 0)
    look_at_row(static_cast<std::size_t>(std::max(0.0, (t - options_.start_time) / options_.output_step - 2)));
  while (due_ <= t + margin_) look_at_row(next_ + 1);
}

void Recorder::look_at_row(std::size_t next) {
  next_ = next;
  if (options_.output_step > 0) {
    due_ = options_.start_time + multiples_(static_cast<double>(next_));
  } else {
    due_ = next_ < options_.output_times.size() ? options_.output_times[next_] : HUGE_VAL;
  }
}

void Recorder::write(const StepRecord& record, double t) {
  row_.t = t;
  row_.q = record.state.q;
  row_.v = record.state.v;
  differentiate(record, 1);
  finish(record);
}

void Recorder::interpolate(const StepRecord& record, double t0, double h, double t) {
  const double s = (t - t0) / h;
  row_.t = t;
  system_.kinematics().interpolate(q_, v_, record.state.q, record.state.v, h, s, !record.jumped, row_.q);
  row_.v = (1 - s) * v_ + s * record.state.v;
  differentiate(record, s);
  finish(record);
}

/// d/dp of the row's numbers, at s in the part that ends with the record.
void Recorder::differentiate(const StepRecord& record, double s) {
  const Index nq = row_.q.size(), nv = row_.v.size();
  for (Index j = 0; j < row_.sensitivity.cols(); ++j) {
    column_ = s * record.sensitivity.col(j);
    if (s != 1) column_ += (1 - s) * sensitivity_.col(j);
    tangent_ = column_.head(nv);
    system_.kinematics().rate(row_.q, tangent_, rate_);
    row_.sensitivity.col(j).head(nq) = rate_;
    row_.sensitivity.col(j).segment(nq, nv) = column_.segment(nv, nv);
  }
  const Index m = record.reaction_sensitivity.rows();
  if (m > 0 && row_.sensitivity.rows() == nq + nv + m) row_.sensitivity.bottomRows(m) = record.reaction_sensitivity;
}

void Recorder::finish(const StepRecord& record) {
  const double duration = whole_ ? record.duration : duration_ > 0 ? duration_ : 1.0;
  if (whole_) {
    join(record.reaction_impulse, record.constraint_impulse, 1 / duration, row_.reaction);
    row_.smooth.head(record.smooth_impulse.size()) = record.smooth_impulse / duration;
  } else {
    row_.reaction = reaction_ / duration;
    row_.smooth = smooth_ / duration;
  }
  row_.energy = record.energy;
  row_.modes = record.state.modes;
  row_.facets = record.state.facets;
  row_.point_forces = record.point_forces;
  scheme_.add_to_row(row_);
  if (hooks_.keep_trajectory) result_.trajectory.append(row_);
  ++result_.last.rows;
  if (hooks_.on_row) hooks_.on_row(row_);
}

}  // namespace stickslip
