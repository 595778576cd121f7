// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/articulated_step.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stickslip {

namespace {

constexpr double kRoundOff = 1e-13;       // of the limit and of the terms of R: a law within it is not let go
constexpr double kAtOnce = 1e-14;         // of the step: a law that stops within it is at rest from the start
constexpr double kClear = 1e-3;           // change of the velocities at which it is believed that a law stops on the way
constexpr double kKeepsFalling = 0.5;     // a change that does not, twice, is rounding, if it is
constexpr double kIllConditioned = 1e-8;  // of the velocities or less
constexpr int kStalled = 2;
constexpr double kSmallPart = 1e-3;       // of the step: no part that ends for nothing is shorter
constexpr double kApart = 0.25;           // of the step: accelerations of parts that are closer are one
constexpr double kBalanced = 1e-11;       // likewise, of the terms of the balance
constexpr double kNearly = 1e-12;         // change from which on a forecast of what is left counts
constexpr double kQuiet = 1e-6;           // change of the velocities at which states are judged one by one

}  // namespace

ArticulatedStep::ArticulatedStep(const System& system, const FrictionAssembly& laws, const ArticulatedOptions& options)
    : system_(system), laws_(laws), articulation_(system.articulation()), options_(options) {
  possible_ = articulation_ && laws_are_simple() && !system.forces().applied_depends_on_time();
  if (!possible_) return;
  const Index n = system.info().nv();
  law_of_.assign(static_cast<std::size_t>(n), -1);
  for (Index k = 0; k < laws.laws(); ++k) {
    coordinate_.push_back(laws.element(k).directions[0][0].first);
    law_of_[static_cast<std::size_t>(coordinate_.back())] = static_cast<int>(k);
  }
  scratch_ = articulation_->make_scratch();
  for (Vector* x : {&a_, &e_, &R_, &r_, &load_, &limit_, &sign_, &diagonal_, &inverse_pivot_, &q_theta_, &v_theta_, &v1_})
    x->setZero(n);
  for (Vector& x : past_a_) x.setZero(n);
  held_.assign(static_cast<std::size_t>(n), 0);
  loose_ = held_before_ = held_;
}

bool ArticulatedStep::laws_are_simple() const {
  if (!system_.laws().contacts().empty() || !system_.laws().constraints().empty()) return false;
  if (laws_.limits_depend_on_state() || laws_.has_static() || laws_.has_weakening() || laws_.has_viscous() ||
      laws_.surface_moves())
    return false;
  std::vector<char> taken(static_cast<std::size_t>(system_.info().nv()), 0);
  for (Index k = 0; k < laws_.laws(); ++k) {
    const FrictionElement& element = laws_.element(k);
    if (element.size() != 1 || element.elastic() || element.static_limit || !element.surface_velocity.empty())
      return false;
    const Direction& direction = element.directions[0];
    if (direction.size() != 1 || direction[0].second != 1.0 || taken[static_cast<std::size_t>(direction[0].first)]++)
      return false;
  }
  return true;
}

void ArticulatedStep::begin(bool locate) {
  const Vector& v0 = *v0_;
  for (std::size_t k = 0; k < coordinate_.size(); ++k) limit_[coordinate_[k]] = laws_.limit(static_cast<Index>(k));
  for (Index i = 0; i < a_.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool law = limit_[i] > 0;
    sign_[i] = v0[i] > 0 ? 1.0 : v0[i] < 0 ? -1.0 : 0.0;
    held_[at] = law && v0[i] == 0;
    loose_[at] = law && (!locate || held_[at]);
    r_[i] = -limit_[i] * sign_[i];
  }
  articulation_->diagonal(options_.theta * h_, options_.theta * options_.theta * h_ * h_, diagonal_);
  stop_ = stop_law_ = -1;
  last_change_ = HUGE_VAL;
  may_shorten_ = locate;
  sure_ = false;
  exchanges_ = 0;
}

/// Accelerations of the last steps, carried on by the polynomial through them.
void ArticulatedStep::predict() {
  const double t = t0_ + 0.5 * h_;
  int count = past_count_;
  while (count > 1 && !(past_time_[count - 2] - past_time_[count - 1] > kApart * h_)) --count;
  if (count > 1 && !(past_time_[0] - past_time_[1] > kApart * h_)) count = 1;
  a_.setZero();
  for (int k = 0; k < count; ++k) {
    double weight = 1;
    for (int j = 0; j < count; ++j)
      if (j != k) weight *= (t - past_time_[j]) / (past_time_[k] - past_time_[j]);
    for (Index i = 0; i < a_.size(); ++i) a_[i] += weight * past_a_[k][i];
  }
  for (Index i = 0; i < a_.size(); ++i)
    if (held_[static_cast<std::size_t>(i)]) a_[i] = -(*v0_)[i] / h_;
}

/// Reactions of what is held and what the balance is off elsewhere; laws in the wrong state: force beyond the limit or
/// acceleration the wrong way, compared by root of inertia.
void ArticulatedStep::weigh() {
  worst_ = last_wrong_ = -1;
  double most = 0;
  for (Index i = 0; i < a_.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (held_[at]) r_[i] = R_[i];
    e_[i] = r_[i] - R_[i];
    if (!loose_[at] || iterations_ == 1) continue;
    const double inverse = inverse_pivot_[i];
    const double beyond =
        held_[at] ? std::abs(R_[i]) - limit_[i] - kRoundOff * std::max(limit_[i], load_[i])
                  : -((*v0_)[i] / h_ + a_[i]) * sign_[i] / inverse - kRoundOff * load_[i];
    if (!(beyond > 0)) continue;
    last_wrong_ = i;
    if (beyond * std::sqrt(inverse) <= most) continue;
    most = beyond * std::sqrt(inverse);
    worst_ = i;
  }
}

void ArticulatedStep::exchange_state(Index i) {
  const auto at = static_cast<std::size_t>(i);
  held_[at] = !held_[at];
  if (held_[at]) return;
  sign_[i] = R_[i] > 0 ? -1.0 : 1.0;
  r_[i] = -limit_[i] * sign_[i];
  e_[i] = r_[i] - R_[i];
}

/// One correction of a; the largest change of a velocity, of its size or what the loads of the step could make of it.
double ArticulatedStep::correct() {
  double change = 0, residual2 = 0, terms2 = 0;
  for (Index i = 0; i < a_.size(); ++i) {
    terms2 = std::max(terms2, load_[i] * load_[i] * inverse_pivot_[i]);
    if (held_[static_cast<std::size_t>(i)]) {
      e_[i] = -(*v0_)[i] / h_ - a_[i];
    } else {
      residual2 = std::max(residual2, e_[i] * e_[i] * inverse_pivot_[i]);
    }
  }
  articulation_->solve(*scratch_, e_);
  for (Index i = 0; i < a_.size(); ++i) {
    a_[i] += e_[i];
    const double v0 = (*v0_)[i], v1 = v0 + h_ * a_[i];
    const double size = std::max({std::abs(v0), std::abs(v1), h_ * load_[i] * inverse_pivot_[i]});
    const double part = h_ * std::abs(e_[i]);
    if (!(part <= change * size)) change = part / size;  // not a number stays
  }
  residual_ = h_ * std::sqrt(residual2);
  terms_ = h_ * std::sqrt(terms2);
  return change;
}

/// Of the laws whose direction is kept, the one that stops first within the step; -1: none does.
Index ArticulatedStep::earliest_stop() const {
  Index first = -1;
  double earliest = h_;
  for (Index i = 0; i < a_.size(); ++i) {
    if (!(limit_[i] > 0) || loose_[static_cast<std::size_t>(i)] || i == stop_) continue;
    const double v0 = (*v0_)[i];
    if (!(v0 * a_[i] < 0)) continue;
    const double x = -v0 / a_[i];
    if (x > earliest || (first >= 0 && x == earliest)) continue;
    earliest = x;
    first = i;
  }
  return first;
}

/// The step ends where that law stops. True: something changed.
bool ArticulatedStep::choose_stop() {
  const Index first = earliest_stop();
  if (first < 0) return false;
  const double x = -(*v0_)[first] / a_[first];
  if (x <= kAtOnce * whole_) {
    loose_[static_cast<std::size_t>(first)] = 1;
    return true;
  }
  stop_ = first;
  h_ = x;
  return true;
}

/// The states of the laws at the iterate: one that is wrong is changed. The worst first, which is mostly all there is; then
/// by their numbers, the last first, and only once the iteration has settled: that ends (Murty, for linear problems with
/// positive definite M). Many at a time do not: what is wrong in one law makes its neighbours look wrong.
bool ArticulatedStep::states_change() {
  weigh();
  checked_ = last_change_ < (exchanges_ > 0 ? kQuiet : HUGE_VAL);
  if (!checked_ || worst_ < 0) return false;
  exchange_state(exchanges_++ > 0 ? last_wrong_ : worst_);
  return true;
}

/// The length of the step that ends where a law stops; its relative change.
double ArticulatedStep::adjust_length() {
  const double x = -(*v0_)[stop_] / a_[stop_];
  if (x > 0 && x <= whole_) {
    const double change = std::abs(x - h_) / std::min(x, h_);
    h_ = x;
    return change;
  }
  // It does not stop after all. Where it did in the whole step and does not in the shorter one, another law has changed its
  // state in between: the step ends before that.
  const auto law = static_cast<std::size_t>(std::exchange(stop_, -1));
  if (sure_ && h_ > kSmallPart * asked_) {
    whole_ = h_;
  } else if (sure_) {
    loose_[law] = 1;
    h_ = whole_;
  } else {
    may_shorten_ = false;
    h_ = whole_;
  }
  return 1.0;
}

Status ArticulatedStep::solve(double t0, double h, const Vector& q0, const Vector& v0, bool locate,
                              SystemWorkspace& workspace) {
  t0_ = t0;
  h_ = whole_ = asked_ = h;
  q0_ = &q0;
  v0_ = &v0;
  begin(locate);
  predict();
  const double theta = options_.theta;
  double previous = HUGE_VAL;
  int stalled = 0;
  const int most = options_.max_iterations + static_cast<int>(a_.size());
  for (iterations_ = 1; iterations_ <= most; ++iterations_) {
    for (Index i = 0; i < a_.size(); ++i) {
      v_theta_[i] = v0[i] + theta * h_ * a_[i];
      q_theta_[i] = q0[i] + theta * h_ * v_theta_[i];
    }
    articulation_->imbalance(t0 + theta * h_, q_theta_, v_theta_, a_, workspace, *scratch_, R_, load_);
    bool changed = states_change();
    if (changed || iterations_ == 1)
      if (!articulation_->factor(held_, diagonal_, *scratch_, inverse_pivot_)) return Status::not_converged;
    const double correction = correct();
    const double all = stop_ < 0 ? correction : std::max(correction, adjust_length());
    if (!std::isfinite(all)) return Status::not_converged;
    last_change_ = all;
    if (may_shorten_ && checked_ && !changed && all < kClear && choose_stop()) changed = true;
    if (changed) {
      previous = HUGE_VAL;
      stalled = 0;
      continue;
    }
    if (!checked_) {
      previous = all;
      continue;
    }
    const double falls = all / previous;
    stalled += falls > kKeepsFalling;
    const bool rounding = stalled >= kStalled;
    const bool nearly = all <= kNearly && residual_ <= kBalanced * terms_ && falls < kKeepsFalling;
    if (all <= options_.tolerance || (nearly && all * falls <= options_.tolerance) ||
        (rounding && all <= kIllConditioned)) {
      if (!locate || may_shorten_ || !choose_stop()) {
        finish();
        return Status::success;
      }
      may_shorten_ = sure_ = true;
    } else if (rounding) {
      return Status::not_converged;
    }
    previous = all;
  }
  return Status::not_converged;
}

void ArticulatedStep::finish() {
  const double theta = options_.theta;
  modes_changed_ = stop_ >= 0;
  for (Index i = 0; i < a_.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double v0 = (*v0_)[i];
    v1_[i] = held_[at] || i == stop_ ? 0.0 : v0 + h_ * a_[i];
    if (loose_[at] && v1_[i] * sign_[i] < 0) v1_[i] = 0;  // rounding
    v_theta_[i] = theta * v1_[i] + (1 - theta) * v0;
    if (held_[at]) r_[i] = std::clamp(r_[i], -limit_[i], limit_[i]);
    modes_changed_ |= held_[at] != held_before_[at];
    held_before_[at] = held_[at];
  }
  stop_law_ = stop_ >= 0 ? law_of_[static_cast<std::size_t>(stop_)] : -1;
}

void ArticulatedStep::keep() {
  if (modes_changed_) past_count_ = 0;
  past_count_ = std::min(past_count_ + 1, kHistory);
  for (int k = past_count_ - 1; k > 0; --k) {
    past_a_[k].swap(past_a_[k - 1]);
    past_time_[k] = past_time_[k - 1];
  }
  past_a_[0] = a_;
  past_time_[0] = t0_ + 0.5 * h_;
}

void ArticulatedStep::exchange(Memory& memory) {
  if (!possible_) return;
  for (Vector& x : past_a_) memory.exchange(x);
  for (double& t : past_time_) memory.exchange(t);
  memory.exchange(past_count_);
  memory.exchange(held_before_);
}

Energies ArticulatedStep::energies(const Vector& q1, const Vector& v1) {
  return articulation_->energies(q1, v1, *scratch_);
}

}  // namespace stickslip
