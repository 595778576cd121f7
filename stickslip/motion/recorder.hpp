// SPDX-License-Identifier: Apache-2.0
// Inside of simulate(): when steps end, and which rows are kept of them (simulate.hpp says what the rows are).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "stickslip/motion/simulate.hpp"

namespace stickslip {

/// n h. Where h = p / 10^k to the last bit, p n / 10^k is rounded once: three steps of 0.1 s end at 0.3 s, and a run
/// that ends there has a step of a longer run behind it.
class Multiples {
 public:
  explicit Multiples(double h) : h_(h) {
    constexpr double kExact = 9007199254740992.0;  // 2^53: whole numbers up to here are doubles
    double power = 1;
    for (int k = 0; k <= 15; ++k, power *= 10) {
      const double p = std::round(h * power);
      if (p >= 1 && p < kExact && p / power == h) {
        p_ = p;
        power_ = power;
        most_ = kExact / p;
        return;
      }
    }
  }
  double operator()(double n) const { return n < most_ ? p_ * n / power_ : n * h_; }

 private:
  double h_, p_ = 0, power_ = 1, most_ = 0;
};

/// Ends of the steps. Schemes that choose their own steps are asked for the times of the output alone.
class Grid {
 public:
  explicit Grid(const SimulationOptions& options) : start_(options.start_time), end_(options.end_time) {
    const double span = end_ - start_;
    double h = options.steps > 0 ? span / static_cast<double>(options.steps) : options.step;
    if (chooses_own_steps(options.scheme)) {
      for (const double t : options.output_times)
        if (t > start_ && t < end_) times_.push_back(t);
      if (!options.output_times.empty()) times_.push_back(end_);
      if (options.output_step > 0) h = options.output_step;
      if (h == 0) h = span / 1000;
    }
    steps_ = !times_.empty() ? static_cast<long>(times_.size())
             : options.steps > 0 && options.output_step == 0
                 ? options.steps
                 : std::max(1L, static_cast<long>(std::ceil(span / h - 1e-9)));
    if (!chooses_own_steps(options.scheme) && options.steps > 0) steps_ = options.steps;
    step_ = std::min(h, span);
    multiples_ = Multiples(step_);
  }
  long steps() const { return steps_; }
  double step() const { return step_; }
  double end(long n) const {
    if (n + 1 >= steps_) return end_;
    return times_.empty() ? start_ + multiples_(static_cast<double>(n + 1)) : times_[static_cast<std::size_t>(n)];
  }
  /// The step that is under way at time t; steps() if there is none.
  long step_at(double t) const {
    const double near = t + 1e-9 * step_;
    if (near >= end_) return steps_;
    long n = times_.empty() ? std::max(0L, static_cast<long>((t - start_) / step_) - 2) : 0;
    while (n < steps_ && end(n) <= near) ++n;
    return n;
  }

 private:
  double start_, end_, step_ = 0;
  long steps_ = 0;
  std::vector<double> times_;
  Multiples multiples_{1};
};

/// Decides which rows to keep and fills them.
class Recorder {
 public:
  Recorder(const System& system, const SimulationOptions& options, double grid_step, Simulation& result,
           const SimulationHooks& hooks)
      : system_(system),
        options_(options),
        step_(grid_step),
        margin_(1e-9 * grid_step),
        multiples_(options.output_step > 0 ? options.output_step : 1),
        result_(result),
        hooks_(hooks) {
    every_step_ = options.output_step == 0 && options.output_times.empty();
  }

  void prepare(const StepRecord& record) {
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
    const Index n = record.sensitivity.cols(), known = result_.trajectory.names().reaction_sensitivity ? reaction_.size() : 0;
    row_.sensitivity.setZero(n > 0 ? q_.size() + v_.size() + known : 0, n);
    sensitivity_ = record.sensitivity;
  }
  /// The row at the start, where one is due.
  void start(const StepRecord& record) {
    prepare(record);
    if (!every_step_ && !(due() <= t_ + margin_)) return;
    skip_rows_up_to(t_);
    write(record, t_);
  }
  /// Rows up to the checkpoint exist already.
  void go_on(const StepRecord& record) {
    prepare(record);
    skip_rows_up_to(t_);
  }
  /// Sums of a step that is under way, and the start of what rows are interpolated in.
  void exchange(Memory& memory) {
    for (Vector* x : {&q_, &v_, &reaction_, &smooth_}) memory.exchange(*x);
    memory.exchange(t_);
    memory.exchange(duration_);
    memory.exchange(whole_);
    memory.exchange(mean_);
    memory.exchange(sensitivity_);
  }

  /// One part of a step: rows that fall inside it are interpolated here, between the two states where nothing jumps.
  void part_done(const StepRecord& record, bool first, bool last) {
    stepped_ = true;
    add_part(record, first, last);
    const double t0 = t_, t1 = record.state.t, h = t1 - t0;
    if (!every_step_) {
      while (due() < t1 - margin_) {
        interpolate(record, t0, h, due());
        ++next_;
      }
      if (due() <= t1 + margin_ && last) {
        ++next_;
        write(record, t1);
      }
    } else if (last) {
      write(record, t1);
    }
    t_ = t1;
    if (every_step_ || due() > t1 + 2 * step_) return;  // only the start of an interpolated part is needed
    q_ = record.state.q;
    v_ = record.state.v;
    sensitivity_ = record.sensitivity;
  }
  /// Over the step so far; zero before the first.
  const Vector& mean_reaction(const StepRecord& record) {
    if (mean_.size() == 0 || stepped_) {
      mean_ = reaction_ / (duration_ > 0 ? duration_ : 1.0);
      if (whole_) join(record.reaction_impulse, record.constraint_impulse, 1 / record.duration, mean_);
    }
    return mean_;
  }

 private:
  /// Sums up the parts of a step that is cut; a step in one part stays where it is.
  void add_part(const StepRecord& record, bool first, bool last) {
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
  void join(const Vector& laws, const Vector& constraints, double factor, Vector& out) const {
    out.head(laws.size()) = factor * laws;
    if (constraints_ > 0) out.tail(constraints_) = factor * constraints;
  }
  void skip_rows_up_to(double t) {
    if (every_step_) return;
    if (options_.output_step > 0)
      next_ = static_cast<std::size_t>(std::max(0.0, (t - options_.start_time) / options_.output_step - 2));
    while (due() <= t + margin_) ++next_;
  }
  double due() const {
    if (options_.output_step > 0) return options_.start_time + multiples_(static_cast<double>(next_));
    return next_ < options_.output_times.size() ? options_.output_times[next_] : HUGE_VAL;
  }
  void write(const StepRecord& record, double t) {
    row_.t = t;
    row_.q = record.state.q;
    row_.v = record.state.v;
    differentiate(record, 1);
    finish(record);
  }
  void interpolate(const StepRecord& record, double t0, double h, double t) {
    const double s = (t - t0) / h;
    row_.t = t;
    system_.kinematics().interpolate(q_, v_, record.state.q, record.state.v, h, s, !record.jumped, row_.q);
    row_.v = (1 - s) * v_ + s * record.state.v;
    differentiate(record, s);
    finish(record);
  }
  /// d/dp of the row's numbers, at s in the part that ends with the record.
  void differentiate(const StepRecord& record, double s) {
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
  void finish(const StepRecord& record) {
    const double duration = whole_ ? record.duration : duration_ > 0 ? duration_ : 1.0;
    if (whole_) {
      join(record.reaction_impulse, record.constraint_impulse, 1 / duration, row_.reaction);
      row_.smooth.head(record.smooth_impulse.size()) = record.smooth_impulse / duration;
    } else {
      row_.reaction = reaction_ / duration;
      row_.smooth = smooth_ / duration;
    }
    row_.friction_velocity = record.friction_velocity;
    row_.energy = record.energy;
    row_.modes = record.state.modes;
    row_.point_forces = record.point_forces;
    if (hooks_.keep_trajectory) result_.trajectory.append(row_);
    ++result_.last.rows;
    if (hooks_.on_row) hooks_.on_row(row_);
  }

  const System& system_;
  const SimulationOptions& options_;
  double step_, margin_;
  Multiples multiples_;
  Simulation& result_;
  const SimulationHooks& hooks_;
  bool every_step_ = true, whole_ = false, stepped_ = false;
  std::size_t next_ = 0;
  double t_ = 0, duration_ = 0;
  Index constraints_ = 0;  // components of the rows that are reactions of constraints; they come last
  Vector q_, v_, reaction_, smooth_, mean_, column_, tangent_, rate_;
  DenseMatrix sensitivity_;
  OutputRow row_;
};

}  // namespace stickslip
