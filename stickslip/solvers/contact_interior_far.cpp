// SPDX-License-Identifier: Apache-2.0
// The long steps of contact_interior.hpp.
#include <algorithm>
#include <cmath>

#include "stickslip/solvers/contact_interior.hpp"
#include "stickslip/solvers/second_order_cone.hpp"

namespace stickslip {

using second_order_cone::product;
using second_order_cone::quotient;

namespace {

// Found on heaps of spheres. With other values some heaps take half or twice the steps, or are not solved while others
// are.
constexpr double kOfLongStep = 0.9, kOfConvexStep = 0.95, kShortestConvexStep = 1e-3;
constexpr double kCut = 0.1, kJammed = 0.03, kFree = 0.3;  // lengths of a step
constexpr double kLessNewton = 0.25, kMoreNewton = 0.1;    // of κ
constexpr double kFirstShareFromFar = 0.5;                 // κ at the fixed point, far from where slips are known
constexpr double kCentreWhenCut = 0.7, kCentreWhenJammed = 1.2;  // τ aimed at over the present one
constexpr int kPatience = 25, kPatienceOfFollowing = 100;        // steps without progress
constexpr double kProgress = 1.4;                                // of log τ: the error, about its root, has halved
// Sweeps are tried below this error, and each time it is this part of the last one they were tried at.
constexpr double kNear = 5e-3, kHalf = 0.5;
// Points are finished when their error is this part of that of the last one, or after so many steps.
constexpr double kAgain = 0.8;
constexpr int kAgainAfter = 5;
constexpr int kBurst = 100, kMostBursts = 20;
constexpr double kNearEarly = 3e-2;
constexpr int kBurstEarly = 400;
constexpr double kLag = 0.1;        // of s, over the root of τ over its first value: beyond, τ waits
constexpr double kGoodBurst = 0.7;  // of the error, left by a burst that is worth another one

}  // namespace

template <int N>
double ContactInterior<N>::mean_product(double t) const {
  double sum = 0;
  for (std::size_t i = 0; i < x_.size(); ++i) sum += (x_[i] + t * step_.x[i]).dot(y_[i] + t * step_.y[i]);
  return sum / static_cast<double>(x_.size());
}

template <int N>
bool ContactInterior<N>::advance_far(const ContactSystem<N>& system, int& iterations) {
  const std::size_t n = x_.size();
  const bool convex = options_.steps == InteriorSteps::convex;
  evaluate(system);
  if (!factorize(iterations)) return false;
  for (std::size_t i = 0; i < n; ++i) c_[i] = -lambda_[i];
  direction(system, step_);
  const double ahead = std::min(1.0, room(step_)), tau = mean_product(0);
  const double left = std::max(0.0, mean_product(ahead) / tau);
  double aim = std::min(1.0, left * left * left);
  if (!convex && last_step_ < kCut) aim = last_step_ < kJammed ? kCentreWhenJammed : std::max(aim, kCentreWhenCut);
  if (follows_) aim = waits_ ? 1 : std::min(aim, 1.0);
  Point centre = Point::Zero();
  centre[0] = aim * tau;
  const double second = convex || ahead > kCut ? 1 : 0;  // the second derivative says nothing beyond a blocked step
  for (std::size_t i = 0; i < n; ++i)
    c_[i] = quotient<N>(lambda_[i], centre - product<N>(lambda_[i], lambda_[i]) -
                                        second * product<N>(W_inverse_[i] * step_.x[i], W_[i] * step_.y[i]));
  direction(system, step_);
  last_step_ = std::min(1.0, (convex ? kOfConvexStep : kOfLongStep) * room(step_));
  if (!(last_step_ > (convex ? kShortestConvexStep : 0))) return false;
  move(last_step_, step_, 0);
  for (std::size_t i = 0; follows_ && i < n; ++i)
    shift_[i] += last_step_ * (aim_[i] - shift_[i] + J_[i].row(0).tail(N - 1).dot(step_.u[i].tail(N - 1)));
  if (last_step_ < kCut)
    share_ = std::max(0.0, share_ - kLessNewton);
  else if (last_step_ > kFree)
    share_ = std::min(1.0, share_ + kMoreNewton);
  for (std::size_t i = 0; i < n; ++i) step_.x[i] = step_.y[i] = Point::Zero();
  // A shift that follows is smoothed, and waited for, by what τ was before the step.
  log_tau_ = std::log(follows_ ? tau : mean_product(0));
  evaluate(system);
  waits_ = lag_ > kLag * std::exp(0.5 * (log_tau_ - first_log_tau_));
  return std::isfinite(log_tau_);
}

template <int N>
void ContactInterior<N>::go_far(const ContactSystem<N>& system, const ContactGoal& goal, int last, double* slip,
                                int& iterations) {
  last_step_ = 1;
  share_ = follows_ || options_.margin > 0 ? 1 : kFirstShareFromFar;
  waits_ = false;
  const int patience = follows_ ? kPatienceOfFollowing : kPatience;
  double polished = options_.sweeps_early ? kNearEarly : kNear, marked = log_tau_;
  double finished = options_.finish_below / kAgain;
  int next = 0;
  for (int steps = 0, since = 0; steps < last && since < patience && best_error_ > goal.tolerance && !goal.expired() &&
                                 log_tau_ > first_log_tau_ + kLowest;
       ++steps, ++since) {
    if (!advance_far(system, iterations)) break;
    double error = note(system, goal, slip);
    const bool better = error < kHalf * polished;
    if (better && options_.steps == InteriorSteps::long_steps && options_.conjugate_sweeps) {
      polished = error;
      error = polish(system, goal, error, options_.sweeps_early ? kBurstEarly : kBurst, slip, iterations);
    }
    if (options_.finish && best_error_ > goal.tolerance && error <= options_.finish_below &&
        (error <= kAgain * finished || steps >= next)) {
      finished = error;
      next = steps + kAgainAfter;
      keep((*options_.finish)(trial_.data()));
    }
    if (!better && log_tau_ > marked - kProgress) continue;
    marked = std::min(marked, log_tau_);
    since = 0;
  }
  share_ = 1;
}

template <int N>
double ContactInterior<N>::polish(const ContactSystem<N>& system, const ContactGoal& goal, double error, int sweeps,
                                  double* slip, int& iterations) {
  for (int burst = 0; burst < kMostBursts && best_error_ > goal.tolerance && !goal.expired(); ++burst) {
    const double before = error;
    error = sweeps_.solve(system, goal, {.sweeps = sweeps, .acceleration = Acceleration::conjugate}, trial_.data(),
                          slip, iterations);
    keep(error);
    if (!(error <= kGoodBurst * before)) break;
  }
  return error;
}

template void ContactInterior<2>::go_far(const ContactSystem<2>&, const ContactGoal&, int, double*, int&);
template void ContactInterior<3>::go_far(const ContactSystem<3>&, const ContactGoal&, int, double*, int&);

}  // namespace stickslip
