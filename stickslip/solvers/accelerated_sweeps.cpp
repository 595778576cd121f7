// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/accelerated_sweeps.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

template <int N>
double AcceleratedSweeps<N>::solve(const ContactSystem<N>& system, const ContactGoal& goal, const SweepLimits& limits,
                                   double* r, double* slip, int& iterations) {
  const int m = system.size();
  for (auto* x : {&x_, &g_, &u_, &best_, &weights_, &p_}) x->resize(m);
  for (int i = 0; i < system.laws(); ++i)
    for (int c = N * i; c < N * i + N; ++c) weights_[c] = system.d(i);
  anderson_.resize(m);
  std::copy_n(r, m, x_.begin());
  std::copy_n(r, m, best_.begin());
  double best_error = HUGE_VAL, smallest = HUGE_VAL, calibration = 1;
  double window_start = 0, window_best = HUGE_VAL;
  for (int sweep = 1;; ++sweep) {
    std::copy(x_.begin(), x_.end(), g_.begin());
    system.sweep({}, limits.backward, g_.data(), slip);
    ++iterations;
    const double square =
        limits.acceleration == Acceleration::anderson
            ? anderson_.step(x_.data(), g_.data(), weights_.data(), x_.data(), system.threads())
            : conjugate_step(sweep == 1 || limits.acceleration == Acceleration::none, system.threads());
    const double change = std::sqrt(square);
    const bool last = sweep >= limits.sweeps || !std::isfinite(change) || goal.expired();
    if (last || sweep % 10 == 1 || calibration * change <= 1.5 * goal.tolerance) {
      system.velocity({}, g_.data(), u_.data());
      const double error = system.error(goal.measure, g_.data(), u_.data());
      calibration = change > 0 ? error / change : 1;
      if (error < best_error) {
        best_error = error;
        std::copy(g_.begin(), g_.end(), best_.begin());
      }
      if (last || error <= goal.tolerance) break;
    }
    if (limits.acceleration == Acceleration::anderson) {
      if (square > smallest) {
        anderson_.clear();
        std::copy(g_.begin(), g_.end(), x_.begin());
        smallest = HUGE_VAL;
      } else {
        smallest = square;
        system.project_all(x_.data());
      }
    }
    window_best = std::min(window_best, calibration * change);
    if (limits.predicted > 0 && sweep % limits.window == 0) {
      if (sweep > limits.window) {
        const double gain = std::log(window_start / window_best) / limits.window;  // per sweep
        if (!(gain * limits.predicted >= std::log(window_best / goal.tolerance))) break;
      }
      window_start = window_best;
    }
  }
  std::copy(best_.begin(), best_.end(), r);
  return best_error;
}

template <int N>
double AcceleratedSweeps<N>::conjugate_step(bool first, ThreadPool* threads) {
  constexpr std::size_t kPiece = 4096;  // components: sums are those of such pieces, whoever computes them
  const std::size_t m = x_.size();
  const int pieces = static_cast<int>((m + kPiece - 1) / kPiece);
  const auto range = [&](int k) {
    const std::size_t begin = static_cast<std::size_t>(k) * kPiece;
    return PartRange{begin, std::min(begin + kPiece, m)};
  };
  squares_.assign(pieces, 0.0);
  run_parts(threads, pieces, [&](int piece) {
    const auto [begin, end] = range(piece);
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += weights_[k] * (g_[k] - x_[k]) * (g_[k] - x_[k]);
    squares_[piece] = sum;
  });
  double square = 0;
  for (const double part : squares_) square += part;
  const double beta = first ? 0.0 : square / last_square_;
  last_square_ = square;
  const bool restarts = !first && !(beta <= 1);
  run_parts(threads, pieces, [&](int piece) {
    const auto [begin, end] = range(piece);
    for (std::size_t k = begin; k < end; ++k) {
      const double old = first || restarts ? 0.0 : beta * p_[k];
      p_[k] = restarts ? 0.0 : old + (g_[k] - x_[k]);
      x_[k] = g_[k] + old;
    }
  });
  return square;
}

template class AcceleratedSweeps<2>;
template class AcceleratedSweeps<3>;

}  // namespace stickslip
