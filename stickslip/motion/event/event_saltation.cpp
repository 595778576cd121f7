// SPDX-License-Identifier: Apache-2.0
// Derivatives through one instant: how the times of events move, and what the instant does to the derivatives.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/event/event_tangent.hpp"
#include "stickslip/motion/event/impact_pose.hpp"

namespace stickslip {

namespace {

constexpr double kGrazing = 1e-6;    // of the mean rate of g on the way: the derivative would be a million times longer
constexpr double kStill = 1e-7;      // of what accelerations make in a moment: round-off of forces that are continuous
constexpr double kApart = 1e-6;      // of the derivatives: what two events at one instant may leave open
constexpr double kMoment = 1e-3;     // of the run's length
constexpr double kGapNoise = 1e-10;  // of the terms of a gap: where it counts as closed

bool place_at(ModeDynamics& dynamics, double t, const Vector& q, const Vector& v) {
  try {
    dynamics.place(t, q, v);
  } catch (const InputError&) {
    return false;
  }
  return true;
}

}  // namespace

void EventTangent::lose(Index j, double t, const std::string& why) {
  if (X_.col(j).hasNaN()) return;
  X_.col(j).setConstant(std::numeric_limits<double>::quiet_NaN());
  notes_.push_back(fmt::format("the derivative by '{}' does not exist from t = {:.9g} s on: {}",
                               variations_.names()[static_cast<std::size_t>(j)], t, why));
}

double EventTangent::value_of(ModeDynamics& dynamics, const Monitor& monitor) const {
  const auto k = static_cast<std::size_t>(monitor.law);
  const ModeDynamics::Law& law = dynamics.laws()[k];
  if (monitor.trigger != Trigger::stop || law.tangents != 2) return monitor_value(dynamics, monitor);
  double d[2];
  dynamics.slip_direction(k, modes_[k], d);
  return d[0] * dynamics.u()[law.tangent()] + d[1] * dynamics.u()[law.tangent() + 1];
}

/// dt/dp of one event.
void EventTangent::rates_of(const Monitor& monitor, const std::string& name) {
  const bool by_force = monitor.trigger != Trigger::stop && monitor.trigger != Trigger::touch;
  auto see = [&](ModeDynamics& dynamics, double t, const Vector& q, const Vector& v, Vector& out) {
    if (!place_at(dynamics, t, q, v) || (by_force && !dynamics.solve(modes_))) return false;
    out.resize(1);
    out[0] = value_of(dynamics, monitor);
    return true;
  };
  const auto k = static_cast<std::size_t>(monitor.law);
  const ModeDynamics& center = around_.center();
  Moving event{Vector::Zero(X_.cols()), !by_force || center.static_limit(k) > center.limit(k), true, name};
  Vector rate, start, change;
  ModeNeighbourhood::Direction way{1, before_.head(nq_), before_.tail(nv_)};
  const double length = t_ - stretch_t_;
  double noise = 0;           // of a gap: that of a flight from a surface is round-off where it begins
  auto rate_is_known = [&] {  // gaps and velocities have rates without differences, whatever the size of a late impact
    ModeDynamics& at = around_.center();
    if (by_force || !place_at(at, t_, q_, v_) || !at.solve(modes_)) return false;
    const ModeDynamics::Law& law = at.laws()[k];
    auto slows = [&](Index i) { return at.Wt().row(i).dot(at.acceleration()) + at.bias()[i]; };
    rate.setZero(1);
    double d[2] = {monitor.sign, 0};
    if (law.tangents == 2) at.slip_direction(k, modes_[k], d);
    if (monitor.trigger == Trigger::touch) {
      rate[0] = at.u()[law.first];
      for (Index i = 0; i < nv_; ++i) noise += kGapNoise * std::abs(at.Wt()(law.first, i)) * at.reach()(q_)[i];
    } else {
      for (int c = 0; c < law.tangents; ++c) rate[0] += d[c] * slows(law.tangent() + c);
    }
    return true;
  };
  if ((rate_is_known() || around_.along(t_, q_, v_, way, see, rate)) &&
      see(around_.center(), around_.clamped(stretch_t_), stretch_q_, stretch_v_, start)) {
    const double mean = length > 0 ? std::max(0.0, std::abs(start[0]) - noise) / length : 0.0;
    event.grazes = !(rate[0] < 0) || -rate[0] <= kGrazing * mean;
  }
  for (Index j = 0; j < X_.cols() && !event.grazes; ++j) {
    const ModeNeighbourhood::Direction x{0, X_.col(j).head(nq_), X_.col(j).tail(nv_)};
    event.dt[j] =
        around_.total(j, t_, q_, v_, x, see, change) ? -change[0] / rate[0] : std::numeric_limits<double>::quiet_NaN();
  }
  events_.push_back(std::move(event));
}

void EventTangent::leave(const ModeDynamics& nominal, const State& s, double t, const std::vector<Monitor>& triggers,
                         int breakpoint) {
  left_ = true;
  events_.clear();
  t_ = t;
  q_ = s.q;
  v_ = s.v;
  if (std::exchange(new_stretch_, false)) begin_stretch(s);
  around_.set_window(-HUGE_VAL, t, t > segment_t_ ? t - segment_t_ : kMoment * span_);
  follow(nominal, s.modes);
  if (!rate(around_.center(), t, q_, v_, out_)) {
    for (Index j = 0; j < X_.cols(); ++j) lose(j, t, "the motion near by is not finite");
    return;
  }
  before_ = out_.head(nq_ + nv_);
  around_.widen_scales(q_, v_);
  for (const Monitor& monitor : triggers)
    rates_of(monitor, std::string(nominal.name(static_cast<std::size_t>(monitor.law))));
  if (breakpoint < 0) return;
  Moving jump{Vector::Zero(X_.cols()), true, false, "a jump of a force"};
  for (Index j = 0; j < X_.cols(); ++j) jump.dt[j] = around_.breakpoint_rate(j, static_cast<std::size_t>(breakpoint));
  events_.push_back(std::move(jump));
}

/// What the projection onto what holds in modes_ changes.
bool EventTangent::held(ModeDynamics& dynamics, double t, const Vector& q, const Vector& v, Vector& out) {
  if (!place_at(dynamics, t, q, v)) return false;
  Vector at_q = q, at_v = v;
  dynamics.project(modes_, dynamics.t(), at_q, at_v);
  out.resize(nq_ + nv_);
  out << at_q - q, at_v - v;
  return true;
}

void EventTangent::project(const ModeDynamics& nominal, const State& s, double t) {
  around_.set_window(-HUGE_VAL, HUGE_VAL, kMoment * span_);
  follow(nominal, s.modes);
  auto see = [this](ModeDynamics& d, double at, const Vector& q, const Vector& v, Vector& out) {
    return held(d, at, q, v, out);
  };
  for (Index j = 0; j < X_.cols(); ++j) {
    const ModeNeighbourhood::Direction x{0, X_.col(j).head(nq_), X_.col(j).tail(nv_)};
    if (X_.col(j).hasNaN()) continue;
    if (around_.total(j, t, s.q, s.v, x, see, out_))
      X_.col(j) += out_;
    else
      lose(j, t, "the motion near by is not finite");
  }
}

void EventTangent::arrive(const ModeDynamics& nominal, const State& s, double t,
                          const std::vector<std::size_t>& touching) {
  fresh_ = new_stretch_ = true;
  if (!left_) return;
  left_ = false;
  around_.set_window(t, HUGE_VAL, kMoment * span_);
  follow(nominal, s.modes);
  if (!rate(around_.center(), t, s.q, s.v, out_)) {
    for (Index j = 0; j < X_.cols(); ++j) lose(j, t, "the motion near by is not finite");
    return;
  }
  const Vector after = out_.head(nq_ + nv_);
  around_.widen_scales(s.q, s.v);
  touching_ = touching;
  if (!touching.empty()) {
    around_.center().place(t, q_, v_);
    pose_impact(around_.center(), touching, problem_, rows_);
    solve(problem_, {}, impact_workspace_, impact_);
  }
  bool still = touching.empty();
  for (Index i = 0; i < nv_; ++i)
    still &= std::abs(after[nq_ + i] - before_[nq_ + i]) * kMoment * span_ <= kStill * around_.velocity_scale(i);
  for (Index j = 0; j < X_.cols(); ++j)
    if (!X_.col(j).hasNaN() && !pass(j, t, touching, after, still)) lose(j, t, "the motion near by is not finite");
}

/// Column j through the instant. `after`: F⁺; `still`: nothing jumps.
bool EventTangent::pass(Index j, double t, const std::vector<std::size_t>& touching, const Vector& after, bool still) {
  const bool some_hard = std::any_of(events_.begin(), events_.end(), [](const Moving& e) { return e.hard; });
  const Vector jump = after - before_;
  const Moving* first = nullptr;
  double dt = 0;
  for (const Moving& event : events_) {
    if (some_hard && !event.hard) continue;
    std::string why;
    if (event.grazes) {
      why = fmt::format("'{}' only just reaches its event, and a small change leaves it out", event.name);
    } else if (first != nullptr) {
      const double apart = std::abs(event.dt[j] - first->dt[j]);
      double effect = 0, size = 0;
      for (Index i = 0; i < nq_ + nv_; ++i) {
        const double scale = around_.scale(i);
        effect = std::max(effect, std::abs(jump[i]) * apart / scale);
        size = std::max(size, std::max(std::abs(X_(i, j)), std::abs(before_[i] * first->dt[j])) / scale);
      }
      if (!(effect <= kApart * size))
        why = fmt::format("events of '{}' and '{}' fall together there, and a small change decides their order",
                          first->name, event.name);
    }
    if (why.empty()) {
      if (first == nullptr) dt = event.dt[j];
      first = &event;
      continue;
    }
    if (!still) return lose(j, t, why), true;
    first = nullptr;
    dt = 0;
    break;
  }
  if (!std::isfinite(dt)) return false;
  ModeNeighbourhood::Direction E{dt, X_.col(j).head(nq_) + dt * before_.head(nq_),
                                 X_.col(j).tail(nv_) + dt * before_.tail(nv_)};
  Vector v = v_;
  if (!touching.empty()) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      v += impact_.p[static_cast<Index>(i)] * around_.center().PW().col(rows_[i]);
    if (!change_impact(j, t, touching, E)) return true;
  }
  auto see = [this](ModeDynamics& d, double at, const Vector& q, const Vector& y, Vector& out) {
    return held(d, at, q, y, out);
  };
  if (!around_.total(j, t, q_, v, E, see, out_)) return false;
  X_.col(j).head(nq_) = E.q;
  X_.col(j).tail(nv_) = E.v;
  X_.col(j) += out_ - dt * after;
  if (!touching.empty()) around_.center().place(t, q_, v_);
  return true;
}

/// E.v from before the impact to after it. False: the column is lost.
bool EventTangent::change_impact(Index j, double t, const std::vector<std::size_t>& touching,
                                 ModeNeighbourhood::Direction& E) {
  const Index m = static_cast<Index>(rows_.size()), contacts = static_cast<Index>(touching.size());
  auto see = [&](ModeDynamics& dynamics, double at, const Vector& q, const Vector& v, Vector& out) {
    if (!place_at(dynamics, at, q, v)) return false;
    out.resize(m + m * m + 2 * contacts + nv_ * m);
    for (Index i = 0; i < m; ++i) {
      out[i] = dynamics.u()[rows_[static_cast<std::size_t>(i)]];
      for (Index k = 0; k < m; ++k)
        out[m + i * m + k] = dynamics.D()(rows_[static_cast<std::size_t>(i)], rows_[static_cast<std::size_t>(k)]);
      out.segment(m + m * m + 2 * contacts + i * nv_, nv_) = dynamics.PW().col(rows_[static_cast<std::size_t>(i)]);
    }
    for (Index c = 0; c < contacts; ++c) {
      const std::size_t k = touching[static_cast<std::size_t>(c)];
      out[m + m * m + 2 * c] = dynamics.limit(k);
      out[m + m * m + 2 * c + 1] = dynamics.laws()[k].contact->restitution;
    }
    return true;
  };
  Vector change, slope;
  if (!around_.total(j, t, q_, v_, E, see, change) || !see(around_.center(), t, q_, v_, numbers_))
    return lose(j, t, "the motion near by is not finite"), false;
  const Index head = m + m * m + 2 * contacts;
  bool kink = false;
  if (!impulse_slope(numbers_.head(head), change.head(head), slope, kink))
    return lose(j, t, "an impact near by has no solution"), false;
  if (kink)
    return lose(j, t, "the impact lies between two forms of its law (stick and slip, one contact or two)"), false;
  for (Index i = 0; i < m; ++i)
    E.v += impact_.p[i] * change.segment(head + i * nv_, nv_) + slope[i] * numbers_.segment(head + i * nv_, nv_);
  return true;
}

/// dp of u, D, μ and e (in this order) along a change of them. Impulses are smooth there but for changes of form.
bool EventTangent::impulse_slope(const Vector& numbers, const Vector& change, Vector& slope, bool& kink) {
  constexpr double kSmooth = 1e-3, kNoise = 1e-9;
  const Index m = problem_.u.size(), contacts = static_cast<Index>(problem_.contacts.size());
  auto relative = [&](Index from, Index count, double least) {
    const double size = std::max(numbers.segment(from, count).lpNorm<Eigen::Infinity>(), least);
    return size > 0 ? change.segment(from, count).lpNorm<Eigen::Infinity>() / size : 0.0;
  };
  constexpr double kLeast = 1e-2;  // size of μ and e, so that those near 0 take no tiny steps
  slope.setZero(m);
  double largest = std::max(relative(0, m, 0), relative(m, m * m, 0));
  for (Index c = 0; c < 2 * contacts; ++c) largest = std::max(largest, relative(m + m * m + c, 1, kLeast));
  if (!(largest > 0)) return true;
  bool bounded = false;  // by μ = 0, e = 0 or e = 1
  auto impulse = [&](double eta, Vector& p) {
    const Vector at = numbers + eta * change;
    moved_ = problem_;
    moved_.u = at.head(m);
    for (Index i = 0; i < m; ++i)
      for (Index k = 0; k < m; ++k) moved_.D(i, k) = at[m + i * m + k];
    for (Index c = 0; c < contacts; ++c) {
      ImpactContact& contact = moved_.contacts[static_cast<std::size_t>(c)];
      const double mu = at[m + m * m + 2 * c], e = at[m + m * m + 2 * c + 1];
      bounded |= mu < 0 || e < 0 || e > 1;
      contact.set = around_.center().laws()[touching_[static_cast<std::size_t>(c)]].contact->set(std::max(mu, 0.0));
      contact.restitution = std::clamp(e, 0.0, 1.0);
    }
    ImpactSolution solution;
    solve(moved_, {}, impact_workspace_, solution);
    p = solution.p;
    return solution.status == Status::success;
  };
  std::array<Vector, 5> p;
  double eta = 0x1p-9 / largest;  // the solution has 14 digits, and bends at the scale of its data
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round, eta /= 16) {
    bounded = false;
    for (int k = 0; k < 5; ++k)
      if (!impulse((k - 2) * eta, p[static_cast<std::size_t>(k)])) return false;
    if (bounded) break;
    slope = (8 * (p[3] - p[1]) - (p[4] - p[0])) / (12 * eta);
    const double bend = std::max((p[3] - 2 * p[2] + p[1]).lpNorm<Eigen::Infinity>(),
                                 (p[4] - 2 * p[2] + p[0]).lpNorm<Eigen::Infinity>());
    kink = bend > kSmooth * (p[4] - p[0]).lpNorm<Eigen::Infinity>() + kNoise * p[2].lpNorm<Eigen::Infinity>();
    if (!kink) return true;
  }
  if (!bounded) return true;
  // One side alone: that which the law takes.
  for (const double side : {1.0, -1.0}) {
    bounded = false;
    for (int k = 0; k < 5; ++k)
      if (!impulse(side * k * eta, p[static_cast<std::size_t>(k)])) return false;
    slope = (-25.0 * p[0] + 48.0 * p[1] - 36.0 * p[2] + 16.0 * p[3] - 3.0 * p[4]) / (12 * side * eta);
    if (!bounded) return true;
  }
  kink = true;
  return true;
}

void EventTangent::note_one_sided(const ModeDynamics& nominal, const State& s, double t,
                                  const std::vector<char>& at_rest) {
  around_.set_window(t, HUGE_VAL, kMoment * span_);
  follow(nominal, s.modes);
  rate(around_.center(), t, s.q, s.v, out_);
  around_.widen_scales(s.q, s.v);
  const Index laws = static_cast<Index>(s.modes.size());
  auto see = [&](ModeDynamics& dynamics, double at, const Vector& q, const Vector& v, Vector& out) {
    if (!place_at(dynamics, at, q, v)) return false;
    out.resize(dynamics.components() + laws);
    out << dynamics.u(), dynamics.gaps();
    return true;
  };
  for (Index j = 0; j < X_.cols(); ++j) {
    const ModeNeighbourhood::Direction x{0, X_.col(j).head(nq_), X_.col(j).tail(nv_)};
    if (!around_.total(j, t, s.q, s.v, x, see, out_)) continue;
    const double size = kApart * X_.col(j).cwiseAbs().maxCoeff();
    for (std::size_t k = 0; k < s.modes.size(); ++k) {
      const ModeDynamics::Law& law = nominal.laws()[k];
      const bool slips = s.modes[k] == Mode::slip_plus || s.modes[k] == Mode::slip_minus || s.modes[k] == Mode::slip;
      bool depends = false;
      if (at_rest[k] && slips && !nominal.idle(k))
        depends = out_.segment(law.tangent(), law.tangents).cwiseAbs().maxCoeff() > size;
      if (law.contact && at_rest[k]) depends |= std::abs(out_[nominal.components() + static_cast<Index>(k)]) > size;
      if (depends)
        notes_.push_back(
            fmt::format("the derivative by '{}' holds for changes to one side only: '{}' is at rest at the start, and "
                        "what moves it "
                        "the other way makes another motion",
                        variations_.names()[static_cast<std::size_t>(j)], nominal.name(k)));
    }
  }
}

}  // namespace stickslip
