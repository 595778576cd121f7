// SPDX-License-Identifier: Apache-2.0
// Candidates for the solution of one law, D r + q = u, -(u + s(u)) ∈ N_C(r), compared by their natural map.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/laws/set.hpp"

namespace stickslip {

/// Largest entry of an N x N block.
template <int N>
double largest_entry(const double* D) {
  double largest = 0;
  for (int i = 0; i < N * N; ++i) largest = std::max(largest, std::abs(D[i]));
  return largest;
}

template <int N>
struct LawCandidates {
  Set set;
  const double* D;  ///< row-major
  const double* q;
  double rho;                  ///< of the natural map, in the unit of r/u
  double residual = HUGE_VAL;  ///< of r: the natural map over the largest of |r_i| and ρ |q_i|
  std::array<double, N> r{};   ///< the best so far

  /// Candidates are projected first: what is compared lies in C.
  void consider(std::array<double, N> candidate) {
    project(set, candidate, candidate);
    std::array<double, N> u;
    double size = 0;
    for (int i = 0; i < N; ++i) {
      u[i] = q[i];
      for (int j = 0; j < N; ++j) u[i] += D[i * N + j] * candidate[j];
      if (!std::isfinite(u[i])) return;
      size = std::max({size, std::abs(candidate[i]), rho * std::abs(q[i])});
    }
    const double e = inclusion_residual(set, candidate, u, rho);
    const double relative = size > 0 ? e / size : e;
    if (relative < residual) {
      residual = relative;
      r = candidate;
    }
  }
};

}  // namespace stickslip
