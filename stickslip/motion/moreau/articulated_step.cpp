// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/articulated_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/root_finding.hpp"

namespace stickslip {

namespace {

constexpr double kRoundOff = 1e-13;  // of the limit and of the terms of R: a law within it is in its right state
constexpr double kAtOnce = 1e-14;    // of the step: a law that stops within it is at rest from the start
constexpr double kLastBits = 64 * std::numeric_limits<double>::epsilon();  // likewise, of the time
constexpr double kClear = 1e-3;        // change of the velocities at which it is believed that a law stops on the way
constexpr double kKeepsFalling = 0.5;  // a change that does not, twice, is rounding, if it is
constexpr double kIllConditioned = 1e-8;  // of the velocities or less
constexpr int kStalled = 2, kGivesUp = 6;
constexpr double kApart = 0.25;      // of the step: accelerations of parts that are closer are one
constexpr double kBalanced = 1e-11;  // likewise, of the terms of the balance
constexpr double kNearly = 1e-12;    // change from which on a forecast of what is left counts
constexpr double kLargestShare = 4;  // of the last correction: a contraction by 0.8
constexpr int kBlocks = 3;           // exchanges of all wrong states that may leave as many of them as before

}  // namespace

ArticulatedStep::ArticulatedStep(const System& system, const FrictionAssembly& laws, ForceSampler& forces,
                                 const ArticulatedOptions& options)
    : system_(system), laws_(laws), forces_(forces), articulation_(system.articulation()), options_(options) {
  possible_ = articulation_ && laws_are_simple();
  by_mean_ = options.force == ForceSampling::mean && system.forces().applied_depends_on_time();
  if (!possible_) return;
  const Index n = system.info().nv();
  law_of_.assign(static_cast<std::size_t>(n), -1);
  for (Index k = 0; k < laws.laws(); ++k) {
    coordinate_.push_back(laws.element(k).directions[0][0].first);
    law_of_[static_cast<std::size_t>(coordinate_.back())] = static_cast<int>(k);
  }
  scratch_ = articulation_->make_scratch();
  for (Vector* x : {&a_, &x_, &last_a_, &last_x_, &R_, &r_, &load_, &limit_, &sign_, &diagonal_, &inverse_pivot_,
                    &q_theta_, &v_theta_, &v1_, &applied_, &mean_})
    x->setZero(n);
  for (Vector& x : past_a_) x.setZero(n);
  held_.assign(static_cast<std::size_t>(n), 0);
  loose_ = held_before_ = held_;
  wrong_.reserve(static_cast<std::size_t>(n));
}

bool ArticulatedStep::laws_are_simple() const {
  if (!system_.laws().constraints().empty()) return false;
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
  stop_ = stop_law_ = -1;
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

/// R at a.
void ArticulatedStep::evaluate() {
  const double theta = options_.theta;
  const Vector &v0 = *v0_, &q0 = *q0_;
  for (Index i = 0; i < a_.size(); ++i) {
    v_theta_[i] = v0[i] + theta * h_ * a_[i];
    q_theta_[i] = q0[i] + theta * h_ * v_theta_[i];
  }
  const double t = forces_.left_limit(t0_ + (options_.force == ForceSampling::end ? 1.0 : theta) * h_, h_);
  articulation_->imbalance(t, q_theta_, v_theta_, a_, *workspace_, *scratch_, R_, load_);
  if (!by_mean_) return;
  system_.forces().applied(t, q_theta_, v_theta_, *workspace_, applied_);
  forces_.sample(options_.force, t0_, t0_ + h_, q_theta_, v_theta_, *workspace_, mean_);
  for (Index i = 0; i < a_.size(); ++i) {
    R_[i] += applied_[i] - mean_[i];
    load_[i] += std::abs(applied_[i]) + std::abs(mean_[i]);
  }
}

/// δ of what is not held and the change of R of what is, into x.
bool ArticulatedStep::solve_linear() {
  if (!factored_) {
    if (!articulation_->factor(held_, diagonal_, *scratch_, inverse_pivot_)) return false;
    factored_ = true;
  }
  for (Index i = 0; i < a_.size(); ++i)
    x_[i] = held_[static_cast<std::size_t>(i)] ? -(*v0_)[i] / h_ - a_[i] : r_[i] - R_[i];
  articulation_->solve(*scratch_, x_);
  return true;
}

/// Laws in the wrong state at a + δ: force beyond the limit, or velocity the wrong way.
int ArticulatedStep::find_wrong() {
  wrong_.clear();
  for (Index i = 0; i < a_.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!loose_[at]) continue;
    const bool wrong = held_[at]
                           ? std::abs(R_[i] + x_[i]) > limit_[i] + kRoundOff * std::max(limit_[i], load_[i])
                           : ((*v0_)[i] / h_ + a_[i] + x_[i]) * sign_[i] < -kRoundOff * load_[i] * inverse_pivot_[i];
    if (wrong) wrong_.push_back(i);
  }
  return static_cast<int>(wrong_.size());
}

void ArticulatedStep::exchange_state(Index i) {
  const auto at = static_cast<std::size_t>(i);
  held_[at] = !held_[at];
  if (held_[at]) return;
  sign_[i] = R_[i] + x_[i] > 0 ? -1.0 : 1.0;
  r_[i] = -limit_[i] * sign_[i];
}

/// One correction of a, after evaluate(). change: the largest of a velocity, of its size or what the loads of the step
/// could make of it. False: the linear problem was not solved.
bool ArticulatedStep::correct(double& change) {
  exchanged_ = false;
  int least = static_cast<int>(a_.size()) + 1, blocks = kBlocks;
  for (int left = 20 + 4 * static_cast<int>(a_.size());; --left) {
    if (left == 0 || !solve_linear()) return false;
    const int wrong = find_wrong();
    if (wrong == 0) break;
    if (wrong < least) {
      least = wrong;
      blocks = kBlocks;
    } else if (blocks > 0) {
      --blocks;
    } else {
      wrong_.erase(wrong_.begin(), wrong_.end() - 1);
    }
    for (const Index i : wrong_) exchange_state(i);
    factored_ = false;
    exchanged_ = true;
  }
  double residual2 = 0, terms2 = 0;
  change = 0;
  for (Index i = 0; i < a_.size(); ++i) {
    const double inverse = inverse_pivot_[i], v0 = (*v0_)[i];
    terms2 = std::max(terms2, load_[i] * load_[i] * inverse);
    double step = x_[i];
    if (held_[static_cast<std::size_t>(i)]) {
      r_[i] = R_[i] + x_[i];
      step = -v0 / h_ - a_[i];
    } else {
      residual2 = std::max(residual2, (r_[i] - R_[i]) * (r_[i] - R_[i]) * inverse);
    }
    x_[i] = step;
    a_[i] += step;
    const double size = std::max({std::abs(v0), std::abs(v0 + h_ * a_[i]), h_ * load_[i] * inverse});
    const double part = h_ * std::abs(step);
    if (!(part <= change * size)) change = part / size;  // not a number stays
  }
  residual_ = h_ * std::sqrt(residual2);
  terms_ = h_ * std::sqrt(terms2);
  accelerate();
  return true;
}

/// The corrections δ of successive iterations are mostly along one direction: Anderson's method over the last two of
/// them, weighed by kinetic energy.
void ArticulatedStep::accelerate() {
  double along = 0, square = 0;
  for (Index i = 0; i < a_.size() && !exchanged_ && compares_; ++i) {
    const double difference = x_[i] - last_x_[i], weighed = difference / inverse_pivot_[i];
    along += x_[i] * weighed;
    square += difference * weighed;
  }
  compares_ = true;
  const double share = square > 0 && std::abs(along) < kLargestShare * square ? along / square : 0.0;
  for (Index i = 0; i < a_.size(); ++i) {
    const double corrected = a_[i];
    a_[i] -= share * (corrected - last_a_[i]);
    last_x_[i] = x_[i];
    last_a_[i] = corrected;
  }
}

double ArticulatedStep::at_once() const { return std::max(kAtOnce * asked_, kLastBits * std::abs(t0_)); }

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
  if (x <= at_once()) {
    loose_[static_cast<std::size_t>(first)] = 1;
    return true;
  }
  stop_ = first;
  h_ = x;
  return true;
}

/// The length of the step that ends where a law stops; its relative change.
double ArticulatedStep::adjust_length() {
  const double x = -(*v0_)[stop_] / a_[stop_];
  lost_ = !(x > 0 && x <= asked_);
  if (lost_) return HUGE_VAL;
  const double change = std::abs(x - h_) / std::min(x, h_);
  h_ = x;
  return change;
}

/// The iteration, at the length h or, with `shorten`, up to the first stop. False: it did not converge.
bool ArticulatedStep::settle(bool shorten) {
  double previous = HUGE_VAL;
  int stalled = 0;
  lost_ = factored_ = compares_ = false;
  articulation_->diagonal(options_.theta * h_, options_.theta * options_.theta * h_ * h_, diagonal_);
  for (int k = 0; k < options_.max_iterations; ++k) {
    evaluate();
    double change = 0;
    if (!correct(change)) return false;
    if (stop_ >= 0) change = std::max(change, adjust_length());
    if (!std::isfinite(change)) return false;
    if (shorten && change < kClear && choose_stop()) {
      previous = HUGE_VAL;
      stalled = 0;
      compares_ = false;
      continue;
    }
    if (exchanged_) {  // another problem from here on
      previous = HUGE_VAL;
      continue;
    }
    const double falls = change / previous;
    stalled += falls > kKeepsFalling;
    const bool rounding = stalled >= kStalled;
    const bool nearly = change <= kNearly && residual_ <= kBalanced * terms_ && falls < kKeepsFalling;
    if (change <= options_.tolerance || (nearly && change * falls <= options_.tolerance) ||
        (rounding && change <= kIllConditioned && residual_ <= kBalanced * terms_))
      return true;
    if (stalled >= kGivesUp) return false;
    previous = change;
  }
  return false;
}

/// min v1_i/v0_i of the laws whose direction is kept: what is left of their motion.
double ArticulatedStep::least_left(Index& law) const {
  double least = HUGE_VAL;
  for (Index i = 0; i < a_.size(); ++i) {
    if (!(limit_[i] > 0) || loose_[static_cast<std::size_t>(i)]) continue;
    const double left = 1 + h_ * a_[i] / (*v0_)[i];
    if (left >= least) continue;
    least = left;
    law = i;
  }
  return least;
}

/// Where the iteration for the length does not settle: the whole step, and the root in it.
bool ArticulatedStep::locate_stop() {
  for (Index tries = 0; tries <= laws_.laws(); ++tries) {
    stop_ = -1;
    h_ = asked_;
    if (!settle(false)) return false;
    Index law = -1;
    const double at_end = least_left(law);
    if (!(at_end <= 0)) return true;
    bool solved = true;
    const auto left = [&](double x) {
      h_ = x;
      solved = solved && settle(false);
      return solved ? least_left(law) : 0.0;
    };
    const Root root = find_root(left, 0.0, 1.0, asked_, at_end, 0.0);
    if (!solved) return false;
    if (root.x > at_once()) {
      left(root.x);
      stop_ = law;
      return solved;
    }
    loose_[static_cast<std::size_t>(law)] = 1;
  }
  return false;
}

Status ArticulatedStep::solve(double t0, double h, const Vector& q0, const Vector& v0, bool locate,
                              SystemWorkspace& workspace) {
  t0_ = t0;
  h_ = asked_ = h;
  q0_ = &q0;
  v0_ = &v0;
  workspace_ = &workspace;
  begin(locate);
  predict();
  const bool solved = settle(locate) || (locate && stop_ >= 0 && locate_stop());
  if (!solved) return Status::not_converged;
  finish();
  return Status::success;
}

bool ArticulatedStep::may_swing(const Vector& before) {
  constexpr double kMaybe = 0.5;  // of the damping with which it would; a pivot knows only of what hangs on the axis
  constexpr double kOfLast = 0.1;
  if (before.size() != a_.size()) return false;
  bool damped = false;
  for (Index i = 0; i < a_.size(); ++i) {
    if (!(a_[i] * before[i] < 0)) continue;
    if (system_.forces().applied_depends_on_state() && h_ * std::abs(a_[i]) > kOfLast * std::abs(before[i]))
      return true;
    if (!damped) articulation_->diagonal(options_.theta * h_, 0.0, applied_);
    damped = true;
    if (applied_[i] * inverse_pivot_[i] > kMaybe / (1 + kMaybe)) return true;
  }
  return false;
}

void ArticulatedStep::finish() {
  const double theta = options_.theta;
  modes_changed_ = stop_ >= 0;
  for (Index i = 0; i < a_.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double v0 = (*v0_)[i];
    v1_[i] = held_[at] || i == stop_ ? 0.0 : v0 + h_ * a_[i];
    if (limit_[i] > 0 && v1_[i] * sign_[i] < 0) v1_[i] = 0;  // rounding
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
