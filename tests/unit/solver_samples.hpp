// SPDX-License-Identifier: Apache-2.0
// Inclusion problems with known or independently computable solutions; nothing here calls a solver of stickslip.
#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <limits>
#include <optional>

#include "stickslip/solvers/problem.hpp"
#include "tests/unit/matrix_samples.hpp"

namespace stickslip::samples {

struct Bounds {
  double lo, hi;
};

inline Bounds bounds(const Set& set) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (set.kind == SetKind::line) return {-infinity, infinity};
  if (set.kind == SetKind::half_line) return {0.0, infinity};
  return {-set.limit, set.limit};
}

inline std::vector<Set> random_intervals(Engine& engine, Index m, double smallest, double largest) {
  std::vector<Set> sets;
  for (Index k = 0; k < m; ++k) sets.push_back(interval_set(draw(engine, smallest, largest)));
  return sets;
}

inline std::vector<Set> random_boxes(Engine& engine, Index m) {
  std::vector<Set> sets;
  for (Index k = 0; k < m; ++k) switch (engine() % 4) {
      case 0:
        sets.push_back(line_set());
        break;
      case 1:
        sets.push_back(half_line_set());
        break;
      default:
        sets.push_back(interval_set(draw(engine, 0.1, 2.0)));
    }
  return sets;
}

/// Largest violation of: lo <= r <= hi; u = 0 inside, u >= 0 at lo, u <= 0 at hi. r and u are taken as they are.
inline double box_violation(const std::vector<Set>& sets, const Vector& r, const Vector& u) {
  double worst = 0;
  for (Index i = 0; i < r.size(); ++i) {
    const auto [lo, hi] = bounds(sets[i]);
    worst = std::max({worst, lo - r[i], r[i] - hi});
    if (r[i] > lo) worst = std::max(worst, std::min(u[i], r[i] - lo));
    if (r[i] < hi) worst = std::max(worst, std::min(-u[i], hi - r[i]));
    if (!std::isfinite(r[i]) || !std::isfinite(u[i])) return std::numeric_limits<double>::infinity();
  }
  return worst;
}

/// Solution of u = D r + b, -u ∈ N_C(r) by trying all 3^m assignments of {inside, lo, hi}.
inline std::optional<Vector> enumerate(const DenseMatrix& D, const Vector& b, const std::vector<Set>& sets) {
  const Index m = b.size();
  std::vector<int> mode(m, 0);
  while (true) {
    std::vector<Index> inside;
    Vector r = Vector::Zero(m);
    bool possible = true;
    for (Index i = 0; i < m; ++i) {
      const auto [lo, hi] = bounds(sets[i]);
      if (mode[i] == 0) inside.push_back(i);
      if (mode[i] == 1) r[i] = lo;
      if (mode[i] == 2) r[i] = hi;
      possible &= std::isfinite(r[i]);
    }
    if (possible) {
      const Vector load = b + D * r;
      const Index k = static_cast<Index>(inside.size());
      DenseMatrix block(k, k);
      Vector right(k), found;
      for (Index i = 0; i < k; ++i) {
        right[i] = -load[inside[i]];
        for (Index j = 0; j < k; ++j) block(i, j) = D(inside[i], inside[j]);
      }
      if (eliminate(block, right, found)) {
        for (Index i = 0; i < k; ++i) r[inside[i]] = found[i];
        Vector u = D * r + b;
        for (const Index i : inside) u[i] = 0;
        if (box_violation(sets, r, u) <= 1e-10) return r;
      }
    }
    Index i = 0;
    while (i < m && ++mode[i] == 3) mode[i++] = 0;
    if (i == m) return std::nullopt;
  }
}

/// Rows of the identity: law k acts on coordinate rows[k].
inline SparseMatrix coordinate_rows(const std::vector<int>& rows, Index n) {
  SparseMatrix Wt(static_cast<Index>(rows.size()), n);
  for (std::size_t k = 0; k < rows.size(); ++k) Wt.insert(static_cast<Index>(k), rows[k]) = 1.0;
  Wt.makeCompressed();
  return Wt;
}

/// m different coordinates out of n, in random order.
inline std::vector<int> random_coordinates(Engine& engine, Index n, Index m) {
  std::vector<int> all(n);
  for (Index i = 0; i < n; ++i) all[i] = static_cast<int>(i);
  std::shuffle(all.begin(), all.end(), engine);
  all.resize(m);
  return all;
}

/// m sparse rows of n entries, each with two or three entries.
inline SparseMatrix random_directions(Engine& engine, Index m, Index n) {
  SparseMatrix Wt(m, n);
  for (Index k = 0; k < m; ++k) {
    const std::vector<int> columns = random_coordinates(engine, n, std::min<Index>(n, 2 + k % 2));
    for (const int c : columns) Wt.insert(k, c) = draw(engine, -1, 1);
  }
  Wt.makeCompressed();
  return Wt;
}

// The matrices of sheet 4.5 (M of paper 1): u = M⁻¹ r + b.
inline DenseMatrix fem_mass(Index d) {
  DenseMatrix M = DenseMatrix::Zero(d, d);
  for (Index i = 0; i < d; ++i) {
    M(i, i) = 4.0 / 6;
    if (i > 0) M(i, i - 1) = M(i - 1, i) = 1.0 / 6;
  }
  return M;
}
inline DenseMatrix chain_mass(Index d) {
  DenseMatrix M(d, d);
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j) M(i, j) = static_cast<double>(d - std::max(i, j));
  return M;
}
/// D = M⁻¹, b = M⁻¹ load.
inline DualProblem from_mass(const DenseMatrix& M, const Vector& load, std::vector<Set> sets) {
  const DenseMatrix inverse = M.inverse();
  return {DenseMatrix(0.5 * (inverse + inverse.transpose())), M.partialPivLu().solve(load), std::move(sets)};
}

}  // namespace stickslip::samples
