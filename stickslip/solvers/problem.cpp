// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/problem.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/pinned_factor.hpp"

namespace stickslip {

Index reaction_size(const std::vector<Set>& sets) {
  Index size = 0;
  for (const Set& set : sets) size += set.size;
  return size;
}

std::vector<int> block_sizes(const std::vector<Set>& sets) {
  std::vector<int> sizes;
  sizes.reserve(sets.size());
  for (const Set& set : sets) sizes.push_back(set.size);
  return sizes;
}

namespace {
void require_size(const char* name, Index actual, Index expected) {
  if (actual != expected)
    throw InputError(fmt::format("inclusion problem: {} has size {}, expected {}", name, actual, expected));
}
void require_finite(const char* name, const Vector& x) {
  for (Index i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]))
      throw InputError(fmt::format("inclusion problem: {}[{}] = {} is not a finite number", name, i, x[i]));
}
void require_sets(const std::vector<Set>& sets) {
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const Set& set = sets[k];
    if (set.size < 1 || set.size > 3)
      throw InputError(fmt::format("inclusion problem: law {} has {} components, expected 1 to 3", k, set.size));
    if (!(set.limit >= 0) || !std::isfinite(set.limit))
      throw InputError(
          fmt::format("inclusion problem: law {} has limit {}, expected a finite number >= 0", k, set.limit));
  }
}
void require_blocks(const BlockSparseMatrix& D, const std::vector<Set>& sets) {
  require_size("D (blocks)", D.blocks(), static_cast<Index>(sets.size()));
  for (int k = 0; k < D.blocks(); ++k) {
    require_size("a block of D", D.block_size(k), sets[k].size);
    for (const auto& entry : D.row(k))
      for (int i = 0; i < D.block_size(k) * D.block_size(entry.column); ++i)
        if (!std::isfinite(D.values(entry)[i]))
          throw InputError(fmt::format(
              "inclusion problem: D has an entry in block ({}, {}) that is not a finite number", k, entry.column));
  }
}
}  // namespace

void validate(const DualProblem& problem) {
  require_sets(problem.sets);
  const Index m = reaction_size(problem.sets);
  require_size("D", size(problem.D), m);
  require_size("b", problem.b.size(), m);
  require_finite("b", problem.b);
  if (const auto* dense = std::get_if<DenseMatrix>(&problem.D)) {
    require_size("D (columns)", dense->cols(), m);
    if (!dense->allFinite()) throw InputError("inclusion problem: D has an entry that is not a finite number");
  } else {
    require_blocks(std::get<BlockSparseMatrix>(problem.D), problem.sets);
  }
}

void validate(const PrimalProblem& problem) {
  require_sets(problem.sets);
  const Index m = reaction_size(problem.sets);
  if (!problem.A) throw InputError("inclusion problem: no step matrix A");
  require_size("g", problem.g.size(), problem.A->size());
  require_size("W (rows)", problem.Wt.cols(), problem.A->size());
  require_size("W (columns)", problem.Wt.rows(), m);
  require_size("w", problem.w.size(), m);
  require_finite("g", problem.g);
  require_finite("w", problem.w);
  auto require_entry = [](const char* name, Index i, Index j, double value) {
    if (!std::isfinite(value))
      throw InputError(fmt::format("inclusion problem: {}[{}, {}] = {} is not a finite number", name, i, j, value));
  };
  problem.A->for_each([&](Index i, Index j, double value) { require_entry("A", i, j, value); });
  for (Index k = 0; k < m; ++k)
    for (SparseMatrix::InnerIterator entry(problem.Wt, k); entry; ++entry)
      require_entry("W", entry.col(), k, entry.value());
}

Vector start_reactions(const DualProblem& problem, const Vector& start) {
  if (start.size() == 0) return Vector::Zero(problem.b.size());
  require_size("start", start.size(), problem.b.size());
  require_finite("start", start);
  return start;
}

DualProblem to_dual(const PrimalProblem& problem) {
  const Index n = problem.A->size(), m = reaction_size(problem.sets);
  PinnedFactor factor;
  const std::vector<char> none(n, 0);
  if (!factor.factorize(*problem.A, none))
    throw InputError("inclusion problem: the symmetric part of the step matrix A is not positive definite");
  DenseMatrix D(m, m);
  Vector x(n);
  for (Index k = 0; k < m; ++k) {
    x.setZero();
    for (SparseMatrix::InnerIterator entry(problem.Wt, k); entry; ++entry) x[entry.col()] = entry.value();
    factor.solve(x);
    D.col(k) = problem.Wt * x;
  }
  x = problem.g;
  factor.solve(x);
  return {std::move(D), problem.Wt * x - problem.w, problem.sets};
}

}  // namespace stickslip
