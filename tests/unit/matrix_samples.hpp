// SPDX-License-Identifier: Apache-2.0
// Random matrices and an elimination with pivoting to check solvers against; shares no code with stickslip.
#pragma once

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "stickslip/common/system_matrix.hpp"

namespace stickslip::samples {

using Engine = std::mt19937_64;

inline double draw(Engine& engine, double a, double b) { return std::uniform_real_distribution<double>(a, b)(engine); }

inline Vector random_vector(Engine& engine, Index n, double size = 1.0) {
  Vector x(n);
  for (double& value : x) value = draw(engine, -size, size);
  return x;
}

/// G Gᵀ / n + shift I with G normally distributed.
inline DenseMatrix random_spd(Engine& engine, Index n, double shift = 0.05) {
  std::normal_distribution<double> normal;
  DenseMatrix G(n, n);
  for (Index k = 0; k < G.size(); ++k) G.data()[k] = normal(engine);
  DenseMatrix D = DenseMatrix::Identity(n, n) * shift;
  D.selfadjointView<Eigen::Lower>().rankUpdate(G, 1.0 / static_cast<double>(n));
  D.triangularView<Eigen::StrictlyUpper>() = D.transpose();
  return D;
}

/// Adds a skew part: the symmetric part, and so positive definiteness, stays.
inline void add_skew(Engine& engine, DenseMatrix& D, double size) {
  for (Index i = 0; i < D.rows(); ++i)
    for (Index j = 0; j < i; ++j) {
      const double s = draw(engine, -size, size);
      D(i, j) += s;
      D(j, i) -= s;
    }
}

/// Symmetric, about `per_row` entries beside the diagonal in a row, diagonally dominant; with skew > 0 not symmetric.
inline SparseMatrix random_sparse(Engine& engine, Index n, int per_row, double skew = 0.0) {
  std::vector<Eigen::Triplet<double, int>> entries;
  Vector diagonal = Vector::Constant(n, 0.1);
  for (Index i = 1; i < n; ++i)
    for (int e = 0; e < per_row; ++e) {
      const int j = static_cast<int>(engine() % static_cast<unsigned long>(i));
      const double a = draw(engine, -1, 1), s = skew * draw(engine, -1, 1);
      entries.emplace_back(static_cast<int>(i), j, a + s);
      entries.emplace_back(j, static_cast<int>(i), a - s);
      diagonal[i] += std::abs(a);
      diagonal[j] += std::abs(a);
    }
  for (Index i = 0; i < n; ++i) entries.emplace_back(static_cast<int>(i), static_cast<int>(i), diagonal[i]);
  SparseMatrix result(n, n);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

/// Band filled at random and diagonally dominant in its symmetric part.
inline BandedMatrix random_banded(Engine& engine, Index n, Index lower, Index upper) {
  BandedMatrix A(n, lower, upper);
  for (Index i = 0; i < n; ++i)
    for (Index j = A.first_column(i); j <= A.last_column(i); ++j)
      A(i, j) = i == j ? 0.6 * static_cast<double>(lower + upper) + draw(engine, 0.5, 1.5) : draw(engine, -1, 1);
  return A;
}

/// Gaussian elimination with row exchanges. False if a pivot vanishes.
inline bool eliminate(DenseMatrix A, Vector b, Vector& x) {
  const Index n = A.rows();
  for (Index k = 0; k < n; ++k) {
    Index p = k;
    for (Index i = k + 1; i < n; ++i)
      if (std::abs(A(i, k)) > std::abs(A(p, k))) p = i;
    if (A(p, k) == 0.0) return false;
    for (Index j = 0; j < n; ++j) std::swap(A(p, j), A(k, j));
    std::swap(b[p], b[k]);
    for (Index i = k + 1; i < n; ++i) {
      const double l = A(i, k) / A(k, k);
      for (Index j = k; j < n; ++j) A(i, j) -= l * A(k, j);
      b[i] -= l * b[k];
    }
  }
  x.resize(n);
  for (Index i = n - 1; i >= 0; --i) {
    double sum = b[i];
    for (Index j = i + 1; j < n; ++j) sum -= A(i, j) * x[j];
    x[i] = sum / A(i, i);
  }
  return true;
}

inline DenseMatrix expand(const BandedMatrix& A) {
  DenseMatrix dense = DenseMatrix::Zero(A.size(), A.size());
  for (Index i = 0; i < A.size(); ++i)
    for (Index j = A.first_column(i); j <= A.last_column(i); ++j) dense(i, j) = A(i, j);
  return dense;
}

/// A with rows and columns of pinned coordinates replaced by those of the identity.
inline DenseMatrix pin(DenseMatrix A, const std::vector<char>& pinned) {
  for (Index k = 0; k < A.rows(); ++k)
    if (pinned[k]) {
      A.row(k).setZero();
      A.col(k).setZero();
      A(k, k) = 1;
    }
  return A;
}

inline std::vector<char> random_pins(Engine& engine, Index n, double share) {
  std::vector<char> pinned(n);
  for (char& p : pinned) p = draw(engine, 0, 1) < share;
  return pinned;
}

}  // namespace stickslip::samples
