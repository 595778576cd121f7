// SPDX-License-Identifier: Apache-2.0
// Problem (*) in the layout that the iterative solvers of contacts work on: every law owns N components (N = 2
// or 3; shorter laws are padded with components that stay 0), D as contiguous N x N blocks.
//
//   u = D r + b,   -(u + s(u)) ∈ N_C(r);      proximal: D + α diag(d_i), b - α d_i r0_i in place of D, b
//
// d_i = trace(D_ii)/size: the unit of u/r of law i; where the trace is not positive, the smallest positive one, or 1.
//
// The numbers are kept in the units of the given scale (problem_scale.hpp); pad() and unpad() change to them and back.
#pragma once

#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/thread_pool.hpp"
#include "stickslip/solvers/one_contact.hpp"
#include "stickslip/solvers/problem.hpp"
#include "stickslip/solvers/problem_scale.hpp"
#include "stickslip/solvers/sweep_slabs.hpp"

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
  /// Laws of one piece of work; sums are those over such pieces, added up in order.
  static constexpr int kChunk = 512;
  void load(const BlockSparseMatrix& D, const Vector& b, const std::vector<Set>& sets, const ProblemScale& scale = {});
  /// Threads that share what follows; null: the caller's alone. What is computed does not depend on them.
  void share(ThreadPool* threads) { threads_ = threads; }
  ThreadPool* threads() const { return threads_; }

  int laws() const { return static_cast<int>(sets_.size()); }
  int size() const { return N * laws(); }
  const Set& set(int i) const { return sets_[i]; }
  double d(int i) const { return d_[i]; }
  const double* b() const { return b_.data(); }
  double b_norm() const { return b_norm_; }
  std::span<const std::size_t> row_starts() const { return D_.row_starts(); }
  std::span<const BlockSparseMatrix::Entry> entries() const { return D_.entries(); }
  const double* block(std::size_t entry) const { return values_ + kBlock * entry; }
  const double* diagonal(int i) const { return values_ + kBlock * D_.diagonals()[i]; }

  /// D here over D as it was given; 0 where laws have units of their own.
  double mobility_unit() const { return scale_.own.empty() ? ProblemScale::down(scale_.mobility) : 0.0; }

  /// Reactions into the layout and units of this object, and back.
  void pad(const Vector& r, double* padded) const;
  void unpad_reactions(const double* padded, Vector& r) const;
  void unpad_velocities(const double* padded, Vector& u) const;

  /// y = D x
  void multiply(const double* x, double* y) const;
  /// u = D r + b of the proximal problem.
  void velocity(const Proximal& proximal, const double* r, double* u) const;
  /// One Gauss-Seidel sweep in place, in the order of sweep_slabs.hpp; `backward` the other way round. slip holds the
  /// multiplier of each contact as guess and result. False if a law has no solution by itself (it keeps its reaction).
  bool sweep(const Proximal& proximal, bool backward, double* r, double* slip) const;
  /// r_i = P_{C_i}(r_i)
  void project_all(double* r) const;

  /// The stopping measures of residual.hpp, of (r, u). A solve must not be taken in by a measure that is relative to
  /// the reactions, which grow without bound where there is no solution, or by one that depends on the units. So
  /// inclusion and error count only while unit_free is below 1e-4, otherwise that is returned, and strict_error is
  /// never smaller than unit_free. No measure is smaller than the round-off of D r over |b|: what it is below that
  /// proves nothing (a light body under 1e12 times its weight).
  double error(StoppingMeasure measure, const double* r, const double* u) const;
  /// unit_free as it is computed, and the round-off of D r over |b| below which that proves nothing.
  double residual(const double* r, const double* u) const;
  double round_off(const double* r) const;

 private:
  /// What the measures are made of.
  struct Sums {
    double unit_free = 0, pushed = 0, plain = 0, largest = 0, scale = 0, rr = 0, uu = 0;
  };
  Sums sums(StoppingMeasure measure, const double* r, const double* u, PartRange laws) const;
  bool relax(const Proximal& proximal, std::size_t place, double* r, double* slip) const;
  double plain_square(int i, const double* r, const double* u) const;
  template <class Work>
  void in_chunks(Work&& work) const;

  void lay_out_sweeps();

  ThreadPool* threads_ = nullptr;
  SweepSlabs slabs_;
  /// What a sweep reads of each law, in the order in which it goes: memory is walked forwards. Of several slabs copies,
  /// else what is there anyway.
  struct SweptRows {
    const std::size_t *starts, *diagonals;
    const int* columns;
    const double *values, *b;
    const ContactBlock* contacts;
  };
  SweptRows swept_{};
  std::vector<std::size_t> swept_starts_, swept_diagonals_;
  std::vector<int> swept_columns_;
  std::vector<double> swept_values_, swept_b_;
  std::vector<ContactBlock> swept_contacts_;
  mutable std::vector<Sums> sums_;    // of each chunk
  mutable std::vector<char> solved_;  // of each slab
  ProblemScale scale_;
  BlockSparseMatrix D_;
  std::vector<double> b_;
  const double* values_ = nullptr;
  double b_norm_ = 0;
  double plain_weight_ = 1;  // what ρ = 1 is in the units used here
  bool cones_only_ = false;
  std::vector<Set> sets_;
  std::vector<double> d_;
  std::vector<ContactBlock> contacts_;  // N = 3: constants of the friction cones
  std::vector<int> columns_, sizes_;
};

}  // namespace stickslip
