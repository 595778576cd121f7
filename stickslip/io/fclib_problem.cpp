// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/fclib_problem.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <Eigen/SparseLU>
#include <cmath>
#include <numeric>
#include <vector>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

using ColumnMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
using Triplet = Eigen::Triplet<double, int>;

void require_finite(const char* name, const Vector& x) {
  for (Index i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]))
      throw InputError(fmt::format("{}: entry {} is {}; every number must be finite", name, i, x[i]));
}

void require_finite(const char* name, const SparseMatrix& A) {
  for (Index i = 0; i < A.outerSize(); ++i)
    for (SparseMatrix::InnerIterator entry(A, i); entry; ++entry)
      if (!std::isfinite(entry.value()))
        throw InputError(fmt::format("{}: the entry in row {}, column {} is {}; every number must be finite", name, i,
                                     entry.col(), entry.value()));
}

void require_shape(const char* name, const SparseMatrix& A, Index rows, Index columns) {
  if (A.rows() != rows || A.cols() != columns)
    throw InputError(
        fmt::format("{}: is {} x {}, expected {} x {} to fit the others", name, A.rows(), A.cols(), rows, columns));
}

void require_size(const char* name, const Vector& x, Index size) {
  if (x.size() != size)
    throw InputError(fmt::format("{}: has {} entries, expected {} to fit the others", name, x.size(), size));
}

void validate_contacts(int dimension, Index components, const Vector& mu) {
  if (dimension != 2 && dimension != 3) throw InputError(fmt::format("spacedim: is {}, must be 2 or 3", dimension));
  if (components == 0) throw InputError("mu: there is no contact; the problem is empty");
  if (components % dimension != 0)
    throw InputError(
        fmt::format("spacedim: {} components cannot be contacts of {} components each", components, dimension));
  require_size("mu", mu, components / dimension);
  for (Index k = 0; k < mu.size(); ++k)
    if (!(mu[k] >= 0) || !std::isfinite(mu[k]))
      throw InputError(fmt::format("mu: entry {} is {}; a coefficient of friction is finite and >= 0", k, mu[k]));
}

std::vector<Set> make_sets(int dimension, const Vector& mu, Index lines) {
  std::vector<Set> sets;
  sets.reserve(static_cast<std::size_t>(mu.size() + lines));
  for (Index k = 0; k < mu.size(); ++k) sets.push_back(friction_cone_set(mu[k], dimension));
  for (Index k = 0; k < lines; ++k) sets.push_back(line_set());
  return sets;
}

void add_block(std::vector<Triplet>& entries, const SparseMatrix& A, Index row, Index column) {
  for (Index i = 0; i < A.outerSize(); ++i)
    for (SparseMatrix::InnerIterator entry(A, i); entry; ++entry)
      entries.emplace_back(static_cast<int>(row + i), static_cast<int>(column + entry.col()), entry.value());
}

SparseMatrix transposed(const SparseMatrix& A) { return SparseMatrix(A.transpose()); }

/// M⁻¹, cheap where M falls apart into bodies: small blocks are inverted, a large one is factorised.
class MassInverse {
 public:
  explicit MassInverse(const SparseMatrix& M) {
    const std::vector<int> body = components(M);
    std::vector<std::vector<int>> members(static_cast<std::size_t>(M.rows()));
    std::size_t largest = 0;
    for (int i = 0; i < M.rows(); ++i) {
      auto& list = members[static_cast<std::size_t>(body[static_cast<std::size_t>(i)])];
      list.push_back(i);
      largest = std::max(largest, list.size());
    }
    if (largest > kLargestBlock) {
      factors_.compute(ColumnMatrix(M));
      if (factors_.info() != Eigen::Success) throw InputError("M: is singular");
      factorised_ = true;
      return;
    }
    std::vector<Triplet> entries;
    std::vector<int> place(static_cast<std::size_t>(M.rows()));
    for (const std::vector<int>& list : members) {
      if (list.empty()) continue;  // a row that belongs to another one's block
      for (std::size_t k = 0; k < list.size(); ++k) place[static_cast<std::size_t>(list[k])] = static_cast<int>(k);
      DenseMatrix block = DenseMatrix::Zero(static_cast<Index>(list.size()), static_cast<Index>(list.size()));
      for (const int i : list)
        for (SparseMatrix::InnerIterator entry(M, i); entry; ++entry)
          block(place[static_cast<std::size_t>(i)], place[static_cast<std::size_t>(entry.col())]) += entry.value();
      const Eigen::FullPivLU<DenseMatrix> lu(block);
      if (!lu.isInvertible()) throw InputError(fmt::format("M: is singular at row {}", list.front()));
      const DenseMatrix inverse = lu.inverse();
      for (std::size_t i = 0; i < list.size(); ++i)
        for (std::size_t j = 0; j < list.size(); ++j)
          if (inverse(static_cast<Index>(i), static_cast<Index>(j)) != 0)
            entries.emplace_back(list[i], list[j], inverse(static_cast<Index>(i), static_cast<Index>(j)));
    }
    inverse_.resize(M.rows(), M.cols());
    inverse_.setFromTriplets(entries.begin(), entries.end());
  }

  Vector times(const Vector& x) const {
    if (!factorised_) return inverse_ * x;
    return factors_.solve(x);
  }
  SparseMatrix times(const SparseMatrix& X) const {
    if (!factorised_) return inverse_ * X;
    return SparseMatrix(ColumnMatrix(factors_.solve(ColumnMatrix(X))));
  }

 private:
  static constexpr std::size_t kLargestBlock = 64;

  /// Number of the connected component of each row: i and j are connected if M_ij is stored.
  static std::vector<int> components(const SparseMatrix& M) {
    std::vector<int> parent(static_cast<std::size_t>(M.rows()));
    std::iota(parent.begin(), parent.end(), 0);
    auto root = [&](int i) {
      while (parent[static_cast<std::size_t>(i)] != i) {
        auto& up = parent[static_cast<std::size_t>(i)];
        up = parent[static_cast<std::size_t>(up)];
        i = up;
      }
      return i;
    };
    for (int i = 0; i < M.outerSize(); ++i)
      for (SparseMatrix::InnerIterator entry(M, i); entry; ++entry)
        if (entry.value() != 0) parent[static_cast<std::size_t>(root(i))] = root(static_cast<int>(entry.col()));
    for (int i = 0; i < M.rows(); ++i) parent[static_cast<std::size_t>(i)] = root(i);
    return parent;
  }

  Eigen::SparseLU<ColumnMatrix> factors_;
  SparseMatrix inverse_;
  bool factorised_ = false;
};

bool is_symmetric(const SparseMatrix& M) {
  constexpr double kRounded = 1e-12;  // a matrix that was computed
  return SparseMatrix(M - transposed(M)).norm() <= kRounded * M.norm();
}

/// Every d × d block with an entry, in full: what the readers of local problems expect.
SparseMatrix fill_blocks(const SparseMatrix& W, int d) {
  std::vector<Triplet> entries;
  std::vector<int> last(static_cast<std::size_t>(W.cols() / d), -1);
  add_block(entries, W, 0, 0);
  for (int i = 0; i < W.rows(); ++i)
    for (SparseMatrix::InnerIterator entry(W, i); entry; ++entry) {
      const int row = i / d, column = static_cast<int>(entry.col()) / d;
      if (last[static_cast<std::size_t>(column)] == row) continue;
      last[static_cast<std::size_t>(column)] = row;
      for (int a = 0; a < d; ++a)
        for (int b = 0; b < d; ++b) entries.emplace_back(d * row + a, d * column + b, 0.0);
    }
  SparseMatrix full(W.rows(), W.cols());
  full.setFromTriplets(entries.begin(), entries.end());
  return full;
}

}  // namespace

Index contact_count(const FclibProblem& problem) {
  return std::visit([](const auto& p) { return p.mu.size(); }, problem);
}

int contact_dimension(const FclibProblem& problem) {
  return std::visit([](const auto& p) { return p.dimension; }, problem);
}

void validate(const LocalContactProblem& problem) {
  const Index m = problem.q.size(), p = problem.s.size();
  validate_contacts(problem.dimension, m, problem.mu);
  require_shape("W", problem.W, m, m);
  if (p > 0 || problem.V.size() > 0 || problem.R.size() > 0) {
    require_shape("V", problem.V, m, p);
    require_shape("R", problem.R, p, p);
  }
  require_finite("W", problem.W);
  require_finite("V", problem.V);
  require_finite("R", problem.R);
  require_finite("q", problem.q);
  require_finite("s", problem.s);
}

void validate(const GlobalContactProblem& problem) {
  const Index m = problem.w.size(), n = problem.f.size(), p = problem.b.size();
  validate_contacts(problem.dimension, m, problem.mu);
  require_shape("M", problem.M, n, n);
  require_shape("H", problem.H, n, m);
  if (p > 0 || problem.G.size() > 0) require_shape("G", problem.G, n, p);
  require_finite("M", problem.M);
  require_finite("H", problem.H);
  require_finite("G", problem.G);
  require_finite("f", problem.f);
  require_finite("w", problem.w);
  require_finite("b", problem.b);
}

DualProblem to_dual(const LocalContactProblem& problem) {
  validate(problem);
  const Index m = problem.q.size(), p = problem.s.size();
  DualProblem dual;
  dual.sets = make_sets(problem.dimension, problem.mu, p);
  std::vector<int> sizes;
  for (const Set& set : dual.sets) sizes.push_back(set.size);
  if (p == 0) {
    dual.D = BlockSparseMatrix(sizes, problem.W);
    dual.b = problem.q;
    return dual;
  }
  std::vector<Triplet> entries;
  add_block(entries, problem.W, 0, 0);
  add_block(entries, problem.V, 0, m);
  add_block(entries, transposed(problem.V), m, 0);
  add_block(entries, problem.R, m, m);
  SparseMatrix whole(m + p, m + p);
  whole.setFromTriplets(entries.begin(), entries.end());
  dual.D = BlockSparseMatrix(sizes, whole);
  dual.b.resize(m + p);
  dual.b << problem.q, problem.s;
  return dual;
}

PrimalProblem to_primal(const GlobalContactProblem& problem, SystemMatrix& A) {
  validate(problem);
  const Index m = problem.w.size(), n = problem.f.size(), p = problem.b.size();
  A = SystemMatrix::compact(problem.M);
  PrimalProblem primal;
  primal.A = &A;
  primal.g = problem.f;
  std::vector<Triplet> entries;
  add_block(entries, transposed(problem.H), 0, 0);
  if (p > 0) add_block(entries, transposed(problem.G), m, 0);
  primal.Wt.resize(m + p, n);
  primal.Wt.setFromTriplets(entries.begin(), entries.end());
  primal.w.resize(m + p);
  primal.w << -problem.w, -problem.b;
  primal.sets = make_sets(problem.dimension, problem.mu, p);
  return primal;
}

LocalContactProblem condense(const GlobalContactProblem& problem) {
  validate(problem);
  const bool bilateral = problem.b.size() > 0;
  if (bilateral && !is_symmetric(problem.M))
    throw InputError("M: is not symmetric; with bilateral constraints (G) the local form cannot state that problem");
  const MassInverse inverse(problem.M);
  const SparseMatrix Ht = transposed(problem.H);
  const Vector free = inverse.times(problem.f);
  LocalContactProblem local;
  local.dimension = problem.dimension;
  local.mu = problem.mu;
  local.info = problem.info;
  local.W = fill_blocks(Ht * inverse.times(problem.H), problem.dimension);
  local.q = Ht * free + problem.w;
  if (bilateral) {
    const SparseMatrix inverse_G = inverse.times(problem.G), Gt = transposed(problem.G);
    local.V = Ht * inverse_G;
    local.R = Gt * inverse_G;
    local.s = Gt * free + problem.b;
  }
  return local;
}

FclibSolution expand(const LocalContactProblem& problem, const Vector& reactions) {
  const Index m = problem.q.size(), p = problem.s.size();
  FclibSolution solution;
  solution.r = reactions.head(m);
  solution.l = reactions.tail(p);
  solution.u = problem.W * solution.r + problem.q;
  if (p > 0) solution.u += problem.V * solution.l;
  return solution;
}

FclibSolution expand(const GlobalContactProblem& problem, const Vector& reactions) {
  const Index m = problem.w.size(), p = problem.b.size();
  FclibSolution solution;
  solution.r = reactions.head(m);
  solution.l = reactions.tail(p);
  Vector force = problem.H * solution.r + problem.f;
  if (p > 0) force += problem.G * solution.l;
  solution.v = MassInverse(problem.M).times(force);
  solution.u = transposed(problem.H) * solution.v + problem.w;
  return solution;
}

Vector reactions_of(const FclibSolution& solution) {
  Vector reactions(solution.r.size() + solution.l.size());
  reactions << solution.r, solution.l;
  return reactions;
}

}  // namespace stickslip
