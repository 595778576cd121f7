// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/mode_neighbourhood.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/motion/event/event.hpp"

namespace stickslip {

namespace {

constexpr double kRelativeStep = 0x1p-13;
constexpr double kMoment = 1e-2;     // of the run's length: velocities that forces make in it, ways made in it
constexpr double kShare = 0.1;       // of a position: what it is small against where it hardly moves
constexpr double kBeyond = 1e-2;     // of the run's length
constexpr double kSameTime = 1e-12;  // of the run's length: what the search for jumps may leave

struct Formula {
  std::array<int, 5> place;
  std::array<double, 5> weight;
};
constexpr Formula kCentral{{-2, -1, 1, 2, 0}, {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12, 0}};
constexpr Formula kForward{{0, 1, 2, 3, 4}, {-25.0 / 12, 4.0, -3.0, 4.0 / 3, -0.25}};
constexpr Formula kBackward{{0, -1, -2, -3, -4}, {25.0 / 12, -4.0, 3.0, -4.0 / 3, 0.25}};

}  // namespace

double TimeWarp::operator()(double t) const {
  if (from.empty()) return t;
  const auto next = std::upper_bound(from.begin(), from.end(), t);
  const std::size_t i = std::clamp<std::size_t>(static_cast<std::size_t>(next - from.begin()), 1, from.size() - 1) - 1;
  if (t <= from.front()) return t + (to.front() - from.front());
  if (t >= from.back()) return t + (to.back() - from.back());
  const double s = (t - from[i]) / (from[i + 1] - from[i]);
  return to[i] + s * (to[i + 1] - to[i]);
}

ModeNeighbourhood::ModeNeighbourhood(const System& system, const Variations& variations,
                                     const std::vector<double>& breakpoints, TimeSpan span)
    : center_(std::make_unique<ModeDynamics>(system)), breakpoints_(breakpoints), span_(span) {
  const double same = kSameTime * (span.length() + std::abs(span.start));
  beside_.resize(static_cast<std::size_t>(variations.size()));
  vanishing_.assign(beside_.size(), 0);
  for (std::size_t j = 0; j < beside_.size(); ++j)
    for (const ParameterVariation::Neighbour& neighbour : variations.neighbours(static_cast<Index>(j))) {
      const System& moved = *neighbour.parts.system;
      Beside beside{std::make_unique<ModeDynamics>(moved), neighbour.weight, {}, {}};
      // One that moves beyond the end is found there; one that comes in from there is none of ours.
      beside.breakpoints =
          breakpoints_with_start(moved, moved.breakpoints(span.start, span.end + kBeyond * span.length()), span);
      if (beside.breakpoints.size() > breakpoints.size()) beside.breakpoints.resize(breakpoints.size());
      if (beside.breakpoints.size() != breakpoints.size()) {
        vanishing_[j] = 1;
      } else {
        bool moves = false;
        for (std::size_t i = 0; i < breakpoints.size(); ++i)
          moves |= std::abs(beside.breakpoints[i] - breakpoints[i]) > same;
        if (moves) {
          beside.warp = {breakpoints, beside.breakpoints};
          if (breakpoints.front() > span.start) {
            beside.warp.from.insert(beside.warp.from.begin(), span.start);
            beside.warp.to.insert(beside.warp.to.begin(), span.start);
          }
          if (breakpoints.back() < span.end) {
            beside.warp.from.push_back(span.end);
            beside.warp.to.push_back(span.end);
          }
        }
      }
      beside_[j].push_back(std::move(beside));
    }
  q_scale_.setZero(system.info().nq());
  v_scale_.setZero(system.info().nv());
}

void ModeNeighbourhood::follow(const ModeDynamics& nominal) {
  center_->take_choices(nominal);
  for (auto& all : beside_)
    for (Beside& beside : all) beside.dynamics->take_choices(nominal);
}

void ModeNeighbourhood::keep_direction(std::size_t law, double d1, double d2) {
  auto keep = [&](ModeDynamics& dynamics) {
    dynamics.set_direction(law, d1, d2);
    dynamics.set_heading(law, ModeDynamics::Heading::set);
  };
  keep(*center_);
  for (auto& all : beside_)
    for (Beside& beside : all) keep(*beside.dynamics);
}

void ModeNeighbourhood::set_window(double after, double before, double resolved) {
  after_ = std::min(after, before);
  before_ = before;
  resolved_ = std::min(resolved, before - after);
}

/// As those of the integrator (ode_flow.cpp), of the run so far: the speed that has the kinetic energy of the fastest
/// coordinate, and the way that it makes in a hundredth of the run.
void ModeNeighbourhood::widen_scales(const Vector& q, const Vector& v) {
  const double moment = kMoment * span_.length();
  const System& system = center_->system();
  if (mass_.size() == 0) {
    mass_.setOnes(v.size());
    system.inertia().mass(q, center_->workspace()).for_each([&](Index i, Index j, double value) {
      if (i == j) mass_[i] = value;
    });
  }
  double energy = 0;
  for (Index i = 0; i < v.size(); ++i) {
    const double speed = std::max(std::abs(v[i]), moment * std::abs(center_->acceleration()[i]));
    if (std::isfinite(speed)) energy = std::max(energy, mass_[i] * speed * speed);
  }
  for (Index i = 0; i < v.size(); ++i) v_scale_[i] = std::max(v_scale_[i], std::sqrt(energy / mass_[i]));
  const Vector& sizes = center_->reach().sizes(q);
  q_scale_ = q_scale_.cwiseMax(kShare * sizes);
  for (Index i = 0; i < v.size(); ++i) {
    v_ = Vector::Unit(v.size(), i) * (v_scale_[i] * moment);
    system.kinematics().rate(q, v_, rate_);
    q_scale_ = q_scale_.cwiseMax(rate_.cwiseAbs());
  }
}

double ModeNeighbourhood::step_along(const Direction& x) const {
  double largest = resolved_ > 0 ? std::abs(x.t) / resolved_ : 0.0;
  auto widen = [&](const Vector& of, const Vector& scale) {
    for (Index i = 0; i < of.size(); ++i)
      largest = std::max(largest, std::abs(of[i]) / (scale[i] > 0 ? scale[i] : 1.0));
  };
  widen(x.q, q_scale_);
  widen(x.v, v_scale_);
  return largest > 0 ? kRelativeStep / largest : 0.0;
}

bool ModeNeighbourhood::along(double t, const Vector& q, const Vector& v, const Direction& x, Observe observe,
                              Vector& out) {
  if (!std::isfinite(x.t) || !x.q.allFinite() || !x.v.allFinite()) return false;
  t = clamped(t);
  if (x.t != 0 && !(x.q.isZero(0) && x.v.isZero(0))) {  // each with a step of its own
    Vector by_time;
    const Direction state{0, x.q, x.v}, time{x.t, Vector::Zero(q.size()), Vector::Zero(v.size())};
    if (!along(t, q, v, time, observe, by_time) || !along(t, q, v, state, observe, out)) return false;
    out += by_time;
    return true;
  }
  const double step = step_along(x);
  const Formula* formula = &kCentral;
  if (x.t != 0 && (t + 2 * step * std::abs(x.t) > before_ || t - 2 * step * std::abs(x.t) < after_)) {
    const bool room_before = t - after_ > before_ - t;
    formula = room_before == (x.t > 0) ? &kBackward : &kForward;
  }
  bool first = true;
  for (std::size_t k = 0; k < formula->place.size(); ++k) {
    if (formula->weight[k] == 0) continue;
    const double eta = formula->place[k] * step;
    q_ = q + eta * x.q;
    v_ = v + eta * x.v;
    if (!observe(*center_, clamped(t + eta * x.t), q_, v_, value_)) return false;
    // Weights add up to 0: what does not change is exactly 0.
    if (first) {
      out.setZero(value_.size());
      reference_ = value_;
    }
    first = false;
    if (step > 0) out += (formula->weight[k] / step) * (value_ - reference_);
  }
  return out.allFinite();
}

bool ModeNeighbourhood::by_unknown(Index j, double t, const Vector& q, const Vector& v, Observe observe, Vector& out) {
  t = clamped(t);
  bool first = true;
  for (Beside& next : beside(j)) {
    if (!observe(*next.dynamics, next.warp(t), q, v, value_)) return false;
    if (first) {
      out.setZero(value_.size());
      reference_ = value_;
    }
    first = false;
    out += next.weight * (value_ - reference_);
  }
  if (first) return observe(*center_, t, q, v, out) && (out.setZero(), true);
  const double shift = warp_rate(j, t);
  if (shift == 0) return out.allFinite();
  later_.t = 1;
  later_.q.setZero(q.size());
  later_.v.setZero(v.size());
  if (!along(t, q, v, later_, observe, part_)) return false;
  out -= shift * part_;
  return out.allFinite();
}

bool ModeNeighbourhood::total(Index j, double t, const Vector& q, const Vector& v, const Direction& x, Observe observe,
                              Vector& out) {
  Vector by_state;
  if (!along(t, q, v, x, observe, by_state) || !by_unknown(j, t, q, v, observe, out)) return false;
  out += by_state;
  return true;
}

double ModeNeighbourhood::breakpoint_rate(Index j, std::size_t i) const {
  double rate = 0;
  for (const Beside& next : beside_[static_cast<std::size_t>(j)])
    if (!next.warp.from.empty()) rate += next.weight * (next.breakpoints[i] - breakpoints_[i]);
  return rate;
}

double ModeNeighbourhood::warp_rate(Index j, double t) const {
  double rate = 0;
  for (const Beside& next : beside_[static_cast<std::size_t>(j)])
    if (!next.warp.from.empty()) rate += next.weight * (next.warp(t) - t);
  return rate;
}

}  // namespace stickslip
