// SPDX-License-Identifier: Apache-2.0
// The smoothed path by pseudo arc length (continuation/arc_length.hpp): members of ContactNewton declared in
// contact_newton.hpp.
#include <algorithm>
#include <cmath>
#include <optional>

#include "stickslip/continuation/arc_length.hpp"
#include "stickslip/solvers/contact_newton.hpp"

namespace stickslip {

template <int N>
double ContactNewton<N>::dot(const ContactSystem<N>& system, const std::vector<double>& x,
                             const std::vector<double>& y) const {
  double sum = 0;
  for (int i = 0; i < system.laws(); ++i) {
    double part = 0;
    for (int c = N * i; c < N * i + N; ++c) part += x[c] * y[c];
    sum += system.d(i) * part;
  }
  return sum;
}

template <int N>
bool ContactNewton<N>::find_tangent(const ContactSystem<N>& system, double unit) {
  for (double& x : by_smoothing_) x *= smoothing_;  // by log ε
  if (!factorize(system, {}, 0.0) || !solve_linear(system, by_smoothing_.data(), tangent_)) return false;
  double scale = 1 / std::sqrt(1 + unit * dot(system, tangent_, tangent_));
  if (unit * dot(system, tangent_, last_tangent_) + last_tangent_s_ < 0) scale = -scale;
  for (double& x : tangent_) x *= scale;
  tangent_s_ = scale;
  last_tangent_ = tangent_;
  last_tangent_s_ = tangent_s_;
  return std::isfinite(scale);
}

template <int N>
int ContactNewton<N>::correct(const ContactSystem<N>& system, double unit, double weight, int& iterations) {
  constexpr double kOnPath = 1e-6;      // |F| over ε: a looser test leaves points from which no step comes back
  constexpr double kContraction = 0.7;  // of |F|, or a shorter step is better
  constexpr double kLargest = 1.0;      // change of log ε
  struct Curve {
    ContactNewton& newton;
    const ContactSystem<N>& system;
    double unit, weight;
    int& iterations;
    std::optional<double> distance() {
      const double merit = newton.evaluate(system, newton.r_.data(), newton.u_.data(), newton.F_.data(), true);
      return std::sqrt(merit / weight) / newton.smoothing_ / kOnPath;
    }
    /// Across the tangent by bordering: the factors know r alone.
    bool newton_step() {
      ++iterations;
      for (double& x : newton.by_smoothing_) x *= newton.smoothing_;
      if (!newton.newton_direction(system, {}, 0.0) ||
          !newton.solve_linear(system, newton.by_smoothing_.data(), newton.response_))
        return false;
      const double ds = -unit * newton.dot(system, newton.tangent_, newton.direction_) /
                        (newton.tangent_s_ + unit * newton.dot(system, newton.tangent_, newton.response_));
      if (!std::isfinite(ds)) return false;
      const double cut = std::min(1.0, kLargest / std::abs(ds));
      for (int k = 0; k < system.size(); ++k) newton.r_[k] += cut * (newton.direction_[k] + ds * newton.response_[k]);
      newton.smoothing_ *= std::exp(cut * ds);
      system.velocity({}, newton.r_.data(), newton.u_.data());
      return true;
    }
  } curve{*this, system, unit, weight, iterations};
  return correct_onto_curve(curve, {.most = 8, .at_least = 1, .contraction = kContraction, .free_steps = -1});
}

template <int N>
double ContactNewton<N>::follow_path(const ContactSystem<N>& system, const ContactGoal& goal,
                                     const SmoothingOptions& options, double* r, int& iterations) {
  constexpr int kStartSteps = 100, kMemory = 5;
  constexpr StepRules kStep{.faster = 1.6, .slower = 0.7, .failed = 0.5, .easy = 4, .hard = 4};
  constexpr double kCentred = 1e-3;   // |F| over ε at the start of the path
  constexpr double kNear = 1e-6;      // error from which the proximal method is faster
  constexpr double kFarthest = 10;    // ε over the first: the path leads back
  constexpr double kShortest = 1e-8;  // arc length
  constexpr double kLargest = 2;      // change of log ε in a prediction
  const double largest = start_smoothed(system, goal, options, r);
  const int m = system.size(), last = iterations + options.max_iterations;
  std::fill(by_smoothing_.begin(), by_smoothing_.end(), 0.0);
  std::fill(last_tangent_.begin(), last_tangent_.end(), 0.0);
  last_tangent_s_ = -1;
  double weight = 0;
  for (int i = 0; i < system.laws(); ++i) weight += system.d(i);

  system.velocity({}, r_.data(), u_.data());
  double merit = evaluate(system, r_.data(), u_.data(), F_.data(), true);
  merit_count_ = 0;
  auto centred = [&] { return merit <= kCentred * kCentred * smoothing_ * smoothing_ * weight; };
  for (int step = 0; step < kStartSteps && !centred() && iterations < last; ++step) {
    ++iterations;
    if (!newton_direction(system, {}, 0.0) || !search(system, {}, merit, kMemory)) break;
    merit = evaluate(system, r_.data(), u_.data(), F_.data(), true);
  }
  // Close enough for the proximal method, back where it came from, or lost.
  const double farthest = kFarthest * smoothing_, near = std::max(goal.tolerance, kNear);
  double length = 0.5;
  bool follow = centred();
  while (follow && best_error_ > near && iterations < last && !goal.expired() && smoothing_ < farthest &&
         smoothing_ > kSharp * largest) {
    base_ = r_;
    const double base_smoothing = smoothing_, unit = 1 / (smoothing_ * smoothing_ * weight);
    ++iterations;
    if (!find_tangent(system, unit)) break;
    for (int steps = -1; steps < 0;) {
      for (int k = 0; k < m; ++k) r_[k] = base_[k] + length * tangent_[k];
      smoothing_ = base_smoothing * std::exp(std::clamp(length * tangent_s_, -kLargest, kLargest));
      system.velocity({}, r_.data(), u_.data());
      steps = correct(system, unit, weight, iterations);
      length = kStep.next(length, steps);
      if (steps < 0 && (length < kShortest || iterations >= last || goal.expired())) {
        follow = false;
        break;
      }
    }
    if (follow) note_projected(system, goal);
  }
  smoothing_ = 0;
  std::copy(best_.begin(), best_.end(), r);
  return best_error_;
}

template double ContactNewton<2>::follow_path(const ContactSystem<2>&, const ContactGoal&, const SmoothingOptions&,
                                              double*, int&);
template double ContactNewton<3>::follow_path(const ContactSystem<3>&, const ContactGoal&, const SmoothingOptions&,
                                              double*, int&);

}  // namespace stickslip
