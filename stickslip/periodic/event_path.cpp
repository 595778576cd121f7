// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/event_path.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/null_space.hpp"
#include "stickslip/periodic/indeterminacy.hpp"
#include "stickslip/periodic/orbit_scales.hpp"

namespace stickslip {

EventPath::EventPath(const BranchBuilder& build, StopRequest stop, double way, const Orbit& orbit, double s)
    : build_(build), stop_(stop), way_(way) {
  try {
    orbit_scales(*build_(s).system, orbit, q_scale_, v_scale_);
  } catch (const InputError& error) {
    message = error.what();
    return;
  }
  if (!with(s, center_)) return;
  autonomous_ = center_.parts.options.autonomous;
  const std::size_t row = quiet_row(*center_.parts.system, orbit);
  T_ = orbit.period;
  phi_ = (orbit.t[row] - orbit.t0) / orbit.period;
  reference_ = state_at(*center_.parts.system, orbit, row);
  const DenseMatrix all = center_.map->directions(reference_);
  Z_ = center_.map->directions(reference_, held_laws(orbit));
  if (Z_.cols() < all.cols()) held_ = all * null_space(Z_.transpose() * all).V2;
  if (Z_.cols() == 0) return;
  if (autonomous_ && !center_.parts.options.phase) {
    const std::size_t after = row + 1 < orbit.t.size() ? row + 1 : row, before = row > 0 ? row - 1 : row;
    const State a{orbit.t[before], orbit.q[before], orbit.v[before], {}, {}},
        b{orbit.t[after], orbit.q[after], orbit.v[after], {}, {}};
    rate_ = (Z_.transpose() * center_.map->difference(b, a)).normalized();
  }
  usable_ = true;
}

bool EventPath::with(double s, Place& place) {
  if (place.s == s) return true;
  try {
    place.parts = build_(s);
    PeriodMapOptions flow;
    flow.event = place.parts.event;
    flow.stop = stop_;
    place.map = std::make_unique<PeriodMap>(*place.parts.system, place.parts.initial.t, q_scale_, v_scale_, flow);
    place.s = s;
  } catch (const InputError& error) {
    message = error.what();
    place.s = NAN;
    return false;
  }
  return true;
}

double EventPath::period(const Place& place, const Vector& x) const {
  return autonomous_ ? T_ * std::exp(x[Z_.cols()]) : place.parts.options.motion_period();
}

State EventPath::start(const Place& place, const Vector& x) const {
  State state = reference_;
  state.t = place.parts.initial.t + (autonomous_ ? 0.0 : phi_ * place.parts.options.motion_period());
  place.map->displace(Z_ * x.head(Z_.cols()), state);
  state.modes.clear();
  return state;
}

double EventPath::phase(const Place& place, const Vector& x) const {
  const auto& given = place.parts.options.phase;
  if (!given) return rate_.dot(x.head(Z_.cols()));
  const State state = start(place, x);
  Variables variables(state.q.size(), state.v.size());
  variables.set(period(place, x), state.q, state.v);
  return (*given)(variables.span());
}

/// With the period times `stretch`.
bool EventPath::closure(Place& place, const Vector& x, Vector& F, double stretch, std::vector<double>* impulses) {
  const State first = start(place, x);
  StepRecord record;
  PeriodMap::Watch watch;
  if (impulses)
    watch = [&](const StepRecord& at) {
      for (const Event& event : at.events)
        if (event.kind == EventKind::impact) impulses->push_back(event.impulse);
    };
  if (!place.map->flow(first, first.t + stretch * period(place, x), {}, watch, record)) return false;
  F.resize(size());
  const Vector difference = place.map->difference(record.state, first);
  constexpr double kHeld = 1e-6;  // of the scales
  if (held_.size() > 0 && !((held_.transpose() * difference).lpNorm<Eigen::Infinity>() <= kHeld)) return false;
  F.head(Z_.cols()) = Z_.transpose() * difference;
  if (autonomous_) F[Z_.cols()] = phase(place, x);
  return F.allFinite();
}

bool EventPath::residual(const Vector& x, double s, Vector& F) { return with(s, center_) && closure(center_, x, F); }

bool EventPath::residual_with_blows(const Vector& x, double s, Vector& F, std::vector<double>& impulses) {
  impulses.clear();
  return with(s, center_) && closure(center_, x, F, 1, &impulses);
}

bool EventPath::jacobian(const Vector& x, double s, DenseMatrix& by_x, Vector& by_s) {
  if (!with(s, center_)) return false;
  const Index m = Z_.cols();
  DenseMatrix D;
  if (!center_.map->derivative(start(center_, x), period(center_, x), Z_, D)) return false;
  by_x.setZero(size(), size());
  by_x.topLeftCorner(m, m) = Z_.transpose() * D - DenseMatrix::Identity(m, m);
  Vector plus, minus;
  if (autonomous_) {
    constexpr double kStretch = 1e-6;
    if (!closure(center_, x, plus, 1 + kStretch) || !closure(center_, x, minus, 1 - kStretch)) return false;
    by_x.col(m).head(m) = (plus - minus).head(m) / (2 * kStretch);
    for (Index k = 0; k <= m; ++k) {
      Vector moved = x;
      moved[k] += kStretch;
      const double after = phase(center_, moved);
      moved[k] -= 2 * kStretch;
      by_x(m, k) = (after - phase(center_, moved)) / (2 * kStretch);
    }
  }
  const double delta = 1e-6 * (std::abs(s) + way_);
  if (!with(s + delta, above_) || !with(s - delta, below_)) return false;
  if (!closure(above_, x, plus) || !closure(below_, x, minus)) return false;
  by_s = (plus - minus) / (2 * delta);
  return by_x.allFinite() && by_s.allFinite();
}

double EventPath::motion_size(const Vector& x, double s) {
  constexpr double kSmallest = 0.1;  // of the reference: a motion that vanishes is not followed by ever smaller steps
  const Orbit& orbit = solution(x, s).orbit;
  if (orbit.maximum.size() != q_scale_.size()) return std::max(1.0, x.norm());
  const Vector half = 0.5 * (orbit.maximum - orbit.minimum);
  return std::max(kSmallest, half.cwiseQuotient(q_scale_).maxCoeff());
}

PeriodicSolution EventPath::solve(const Vector& x, double s) {
  PeriodicSolution solution;
  Vector F;
  DenseMatrix D;
  if (!residual(x, s, F)) return solution;
  PeriodMap& map = *center_.map;
  State state = start(center_, x);
  solution.method = to_string(PeriodicMethod::event);
  solution.period = period(center_, x);
  solution.unknowns = size();
  solution.residual = F.lpNorm<Eigen::Infinity>();
  if (!map.derivative(state, solution.period, Z_, D)) return solution;
  const Eigen::VectorXcd values = DenseMatrix(Z_.transpose() * D).eigenvalues();
  solution.multipliers = Eigen::VectorXcd::Zero(Z_.rows());
  solution.multipliers.head(values.size()) = values;
  std::stable_sort(solution.multipliers.begin(), solution.multipliers.end(),
                   [](const auto& a, const auto& b) { return std::abs(a) > std::abs(b); });
  solution.stable = stability(solution.multipliers, autonomous_ ? 1 : 0);
  constexpr int kRows = 400;
  if (!autonomous_ && phi_ > 0) {  // rows begin with the excitation
    StepRecord record;
    if (!map.flow(state, center_.parts.initial.t + solution.period, {}, {}, record)) return solution;
    state = record.state;
    state.t = center_.parts.initial.t;
  }
  if (!record_orbit(map, state, solution.period, kRows, solution.orbit)) return solution;
  solution.polished = true;
  solution.status = Status::success;
  return solution;
}

}  // namespace stickslip
