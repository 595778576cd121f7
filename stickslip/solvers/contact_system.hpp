// SPDX-License-Identifier: Apache-2.0
// Problem (*) in the layout that the iterative solvers of contacts work on: every law owns N components (N = 1, 2
// or 3; shorter laws are padded with components that stay 0), D as contiguous N x N blocks.
//
//   u = D r + b,   -(u + s(u)) ∈ N_C(r);      proximal: D + α diag(d_i), b - α d_i r0_i in place of D, b
//
// d_i = trace(D_ii)/size: the unit of u/r of law i; where the trace is not positive, the smallest positive one, or 1.
#pragma once

#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/solvers/one_contact.hpp"
#include "stickslip/solvers/problem.hpp"

namespace stickslip {

/// Shift towards the anchor r0: D + α diag(d), b - α d r0. None if alpha = 0.
struct Proximal {
  double alpha = 0;
  const double* anchor = nullptr;
};

/// When to stop: the error wanted, and the time at which to give up.
struct ContactGoal {
  StoppingMeasure measure = StoppingMeasure::inclusion;
  double tolerance = 1e-12;
  Deadline deadline{0};
  bool expired() const { return deadline.passed(); }
};

template <int N>
class ContactSystem {
 public:
  static constexpr int kBlock = N * N;
  /// Refers to D and b where every law has N components, else copies them. They must outlive this object's use.
  void load(const BlockSparseMatrix& D, const Vector& b, const std::vector<Set>& sets);

  int laws() const { return static_cast<int>(sets_.size()); }
  int size() const { return N * laws(); }
  const Set& set(int i) const { return sets_[i]; }
  double d(int i) const { return d_[i]; }
  const double* b() const { return b_; }
  double b_norm() const { return b_norm_; }
  std::span<const std::size_t> row_starts() const { return D_->row_starts(); }
  std::span<const BlockSparseMatrix::Entry> entries() const { return D_->entries(); }
  const double* block(std::size_t entry) const { return values_ + kBlock * entry; }
  const double* diagonal(int i) const { return values_ + kBlock * D_->diagonals()[i]; }

  void pad(const Vector& r, double* padded) const;
  void unpad(const double* padded, Vector& r) const;

  /// y = D x
  void multiply(const double* x, double* y) const;
  /// u = D r + b of the proximal problem.
  void velocity(const Proximal& proximal, const double* r, double* u) const;
  /// One Gauss-Seidel sweep in place; `backward` from the last law to the first. slip holds the multiplier of each
  /// contact as guess and result. False if a law has no solution by itself (it keeps its reaction).
  bool sweep(const Proximal& proximal, bool backward, double* r, double* slip) const;
  /// r_i = P_{C_i}(r_i)
  void project_all(double* r) const;

  /// The stopping measures of residual.hpp, of (r, u). Where there is no solution the reactions grow without bound and
  /// a measure relative to them falls to zero: such a measure (inclusion, error) counts only while the residual is
  /// below 1e-4 of |b|, otherwise that ratio is returned.
  /// Infinite where |d r| > 1e7 |b|.
  double error(StoppingMeasure measure, const double* r, const double* u) const;

 private:
  double guarded(double relative, double absolute) const;

  const BlockSparseMatrix* D_ = nullptr;
  const double* values_ = nullptr;
  const double* b_ = nullptr;
  double b_norm_ = 0;
  bool cones_only_ = false;
  std::vector<Set> sets_;
  std::vector<double> d_;
  std::vector<ContactBlock> contacts_;  // N = 3: constants of the friction cones
  BlockSparseMatrix padded_D_;
  std::vector<double> padded_b_;
  std::vector<std::size_t> columns_starts_;
  std::vector<int> columns_, sizes_;
};

}  // namespace stickslip
