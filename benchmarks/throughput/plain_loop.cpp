// SPDX-License-Identifier: Apache-2.0

// The least that a step can cost in straightforward code: no library, no events, no audit, no output.
//
// implicit: scheme (1) of harness.hpp by Gauss-Seidel on v⁺, started from the last velocity, until no v⁺_i moves by
//           more than 1e-12:  v_i ← soft(b_i - Σ_{j≠i} A_ij v_j, h c) / A_ii,   A = M + h²θ²K,  soft(x, s) = x -
//           clamp(x)
// explicit: M = I for every N and springs from the old position, v⁺ = soft(v + h (f - K q), h c), q⁺ = q + h v⁺; the
//           counterpart of Siconos' separate bodies.
// ball:     the bouncing ball of siconos_ball.cpp, one coordinate (n = 1).

#include <algorithm>
#include <memory>
#include <vector>

#include "harness.hpp"

namespace {

using throughput::force;
using throughput::kLimit;
using throughput::kStep;
using throughput::kTheta;

constexpr double kTolerance = 1e-12;  // m/s, largest change of a velocity in the last sweep

double soft(double x, double s) { return x - std::clamp(x, -s, s); }

// N = 2 has full matrices: m_off = 1. Other N are tridiagonal with m_off = 0. Both have constant diagonals, and v, q
// carry a zero ghost at either end, so that one sweep serves all N.
class Implicit {
 public:
  explicit Implicit(int n) : n_(n), m_diagonal_(n == 2 ? 2.0 : 1.0), m_off_(n == 2 ? 1.0 : 0.0) {
    q_.assign(n + 2, 0.0);
    v_.assign(n + 2, 0.0);
    b_.assign(n + 2, 0.0);
    const std::vector<double> start = throughput::initial_positions(n);
    std::copy(start.begin(), start.end(), q_.begin() + 1);
  }

  void step(double t_end) {
    constexpr double h = kStep, k_v = h * h * kTheta * (1.0 - kTheta);
    const double a_off = m_off_ - h * h * kTheta * kTheta;
    const double inverse = 1.0 / (m_diagonal_ + 2.0 * h * h * kTheta * kTheta);
    double *q = q_.data(), *v = v_.data(), *b = b_.data();
    for (int i = 1; i <= n_; ++i) {
      b[i] = (m_diagonal_ - 2.0 * k_v) * v[i] + (m_off_ + k_v) * (v[i - 1] + v[i + 1]) -
             h * (2.0 * q[i] - q[i - 1] - q[i + 1]) + h * force(t_end, i - 1);
    }
    for (int i = 1; i <= n_; ++i) q[i] += h * (1.0 - kTheta) * v[i];
    double change = 1.0;
    while (change > kTolerance) {
      change = 0.0;
      for (int i = 1; i <= n_; ++i) {
        const double v_new = inverse * soft(b[i] - a_off * (v[i - 1] + v[i + 1]), h * kLimit);
        change = std::max(change, std::abs(v_new - v[i]));
        v[i] = v_new;
      }
    }
    for (int i = 1; i <= n_; ++i) q[i] += h * kTheta * v[i];
  }

  double x0() const { return q_[1]; }

 private:
  int n_;
  double m_diagonal_, m_off_;
  std::vector<double> q_, v_, b_;
};

class Explicit {
 public:
  explicit Explicit(int n) : n_(n), q_(n + 2, 0.0), v_(n + 2, 0.0) {
    const std::vector<double> start = throughput::initial_positions(n);
    std::copy(start.begin(), start.end(), q_.begin() + 1);
  }

  void step(double t_end) {
    constexpr double h = kStep;
    double *q = q_.data(), *v = v_.data();
    for (int i = 1; i <= n_; ++i) {
      v[i] = soft(v[i] + h * (force(t_end, i - 1) - (2.0 * q[i] - q[i - 1] - q[i + 1])), h * kLimit);
    }
    for (int i = 1; i <= n_; ++i) q[i] += h * v[i];
  }

  double x0() const { return q_[1]; }

 private:
  int n_;
  std::vector<double> q_, v_;
};

class Ball {
 public:
  void step(double) {
    constexpr double h = throughput::kBallStep;
    double v_new = v_ - h * throughput::kGravity;
    if (q_ + 0.5 * h * v_ <= 0.0) v_new = std::max(v_new, -throughput::kRestitution * v_);
    q_ += 0.5 * h * (v_ + v_new);
    v_ = v_new;
  }

  double x0() const { return q_; }

 private:
  double q_ = throughput::kBallHeight, v_ = 0.0;
};

}  // namespace

int main(int argc, char** argv) {
  throughput::Arguments arguments = throughput::parse(argc, argv, {"implicit", "explicit", "ball"});
  const bool ball = arguments.formulation == "ball";
  if (ball) arguments.n = 1;
  if (arguments.steps == 0) arguments.steps = ball ? 20000 : std::max(1000L, 40'000'000L / (arguments.n + 5));
  if (ball) {
    throughput::measure("plain_loop", arguments, throughput::kBallStep, [] { return std::make_unique<Ball>(); });
  } else if (arguments.formulation == "explicit") {
    throughput::measure("plain_loop", arguments, kStep, [&] { return std::make_unique<Explicit>(arguments.n); });
  } else {
    throughput::measure("plain_loop", arguments, kStep, [&] { return std::make_unique<Implicit>(arguments.n); });
  }
}
