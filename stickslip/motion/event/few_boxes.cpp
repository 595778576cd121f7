// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/few_boxes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stickslip {

namespace {

constexpr int kMost = 6, kRounds = 64;
constexpr double kPivot = 1e-10;     // of the diagonal entry: below, D is singular but for round-off
constexpr double kRoundOff = 1e-14;  // of the terms of a sum

/// Limits and state of every component. at: 0 between, -1 lower, +1 upper.
struct Boxes {
  int m;
  std::array<double, kMost> lo, hi, x;
  std::array<int, kMost> at{};
};

/// x of the components between their limits, from those at them. False: D is singular there.
bool solve_free(const DenseMatrix& D, const Vector& b, Boxes& boxes) {
  std::array<std::array<double, kMost + 1>, kMost> T;
  std::array<int, kMost> free;
  auto& [m, lo, hi, x, at] = boxes;
  int k = 0;
  for (int i = 0; i < m; ++i)
    if (at[i] == 0) free[k++] = i;
  for (int i = 0; i < m; ++i) x[i] = at[i] < 0 ? lo[i] : hi[i];
  for (int i = 0; i < k; ++i) {
    T[i][k] = -b[free[i]];
    for (int j = 0; j < m; ++j)
      if (at[j] != 0) T[i][k] -= D(free[i], j) * x[j];
    for (int j = 0; j < k; ++j) T[i][j] = D(free[i], free[j]);
  }
  for (int c = 0; c < k; ++c) {
    if (!(T[c][c] > kPivot * D(free[c], free[c]))) return false;  // positive definite: no pivots needed
    for (int i = c + 1; i < k; ++i) {
      const double factor = T[i][c] / T[c][c];
      for (int j = c + 1; j <= k; ++j) T[i][j] -= factor * T[c][j];
    }
  }
  for (int c = k - 1; c >= 0; --c) {
    for (int j = c + 1; j < k; ++j) T[c][k] -= T[c][j] * x[free[j]];
    x[free[c]] = T[c][k] / T[c][c];
  }
  return true;
}

/// Moves the first component that is on the wrong side; false: none is.
bool exchange(const DenseMatrix& D, const Vector& b, Boxes& boxes) {
  auto& [m, lo, hi, x, at] = boxes;
  for (int i = 0; i < m; ++i) {
    double u = b[i], size = std::abs(b[i]);
    for (int j = 0; j < m; ++j) {
      u += D(i, j) * x[j];
      size += std::abs(D(i, j) * x[j]);
    }
    const double tiny = kRoundOff * size, tiny_r = kRoundOff * std::abs(x[i]);
    const int before = at[i];
    if (before == 0 && x[i] < lo[i] - tiny_r) at[i] = -1;
    if (before == 0 && x[i] > hi[i] + tiny_r) at[i] = 1;
    if ((before < 0 && u < -tiny) || (before > 0 && u > tiny)) at[i] = 0;
    if (at[i] != before) return true;
  }
  return false;
}

}  // namespace

bool solve_few_boxes(const DualProblem& problem, Vector& r) {
  const int m = static_cast<int>(problem.b.size());
  if (m > kMost || m == 0) return false;
  const DenseMatrix& D = std::get<DenseMatrix>(problem.D);
  Boxes boxes;
  boxes.m = m;
  for (int i = 0; i < m; ++i) {
    const Set& set = problem.sets[static_cast<std::size_t>(i)];
    boxes.lo[i] = set.kind == SetKind::half_line ? 0 : -set.limit;
    boxes.hi[i] = set.kind == SetKind::half_line ? HUGE_VAL : set.limit;
  }
  for (int round = 0; round < kRounds; ++round) {
    if (!solve_free(D, problem.b, boxes)) return false;
    if (exchange(D, problem.b, boxes)) continue;
    r.resize(m);
    for (int i = 0; i < m; ++i) r[i] = std::clamp(boxes.x[i], boxes.lo[i], boxes.hi[i]);
    return true;
  }
  return false;
}

}  // namespace stickslip
