// SPDX-License-Identifier: Apache-2.0
// The primal form of active_set.hpp: the kernel on coordinates, and the choice between it and the augmented one.
#include <algorithm>
#include <cmath>

#include "stickslip/solvers/augmented_kernel.hpp"
#include "stickslip/solvers/box_exchange.hpp"
#include "stickslip/solvers/residual.hpp"
#include "stickslip/solvers/solve_once.hpp"

namespace stickslip {

PrimalActiveSet::PrimalActiveSet() = default;
PrimalActiveSet::~PrimalActiveSet() = default;
PrimalActiveSet::PrimalActiveSet(PrimalActiveSet&&) noexcept = default;
PrimalActiveSet& PrimalActiveSet::operator=(PrimalActiveSet&&) noexcept = default;

bool acts_on_distinct_coordinates(const PrimalProblem& problem) {
  std::vector<char> taken(problem.A->size(), 0);
  for (Index k = 0; k < problem.Wt.rows(); ++k) {
    int entries = 0;
    for (SparseMatrix::InnerIterator entry(problem.Wt, k); entry; ++entry) {
      if (entry.value() != 1.0 || taken[entry.col()] || ++entries > 1) return false;
      taken[entry.col()] = 1;
    }
    if (entries != 1) return false;
  }
  return true;
}

namespace {

// Off-diagonal sums over the diagonal in every row, and coordinates, from which on a Gauss-Seidel sweep foretells the
// statuses at less than the cost of the factorisations that it saves.
constexpr double kNearlyDiagonal = 0.1;
constexpr Index kPredictable = 8;

struct CoordinateKernel {
  const PrimalProblem& p;
  const Vector& lo;
  const Vector& hi;
  PrimalActiveSet& w;
  bool moving_surface;
  Vector& v;
  StopRequest stop;

  bool solve(const std::vector<BoxStatus>& status, Vector& r, Vector& u) {
    const Index m = lo.size();
    bool changed = w.factored_version != p.A_version;
    v = p.g;
    for (Index i = 0; i < m; ++i) {
      const int c = w.coordinate[i];
      const char stuck = status[i] == BoxStatus::between;
      changed |= w.pinned[c] != stuck;
      w.pinned[c] = stuck;
      if (!stuck) v[c] += box_exchange::bound(status[i], lo[i], hi[i]);
    }
    if (changed) {
      w.factored_version = kNoVersion;
      if (!w.factor.factorize(*p.A, w.pinned, stop)) return false;
      w.factored_version = p.A_version;
    }
    if (moving_surface) {
      w.x.setZero();
      for (Index i = 0; i < m; ++i)
        if (status[i] == BoxStatus::between) w.x[w.coordinate[i]] = p.w[i];
      p.A->add_product(-1.0, w.x, v);
    }
    for (Index i = 0; i < m; ++i)
      if (status[i] == BoxStatus::between) v[w.coordinate[i]] = p.w[i];
    w.factor.solve(v);
    w.x = -p.g;
    p.A->add_product(1.0, v, w.x);
    double sum = 0;  // one NaN or infinity is enough to spoil it
    for (Index i = 0; i < m; ++i) {
      const int c = w.coordinate[i];
      const bool stuck = status[i] == BoxStatus::between;
      r[i] = stuck ? w.x[c] : box_exchange::bound(status[i], lo[i], hi[i]);
      u[i] = stuck ? 0.0 : v[c] - p.w[i];
      sum += r[i];
    }
    return std::isfinite(sum + v.sum());
  }
  double r_size(Index i) const {
    const int c = w.coordinate[i];
    return std::abs(p.g[c]) + p.A->row_size(c, v);
  }
  double u_size(Index i) const {
    const int c = w.coordinate[i];
    return std::abs(p.w[i]) + std::abs(v[c]) + (r_size(i) + std::abs(lo[i])) / (*p.A)(c, c);
  }
  bool data_finite() const { return p.g.allFinite() && p.w.allFinite() && std::isfinite(p.A->max_abs()); }
  std::string singular_message() const {
    return "active_set: the symmetric part of the step matrix is not positive definite";
  }
  /// One Gauss-Seidel sweep from the last velocities: where A is nearly diagonal (a small step) it foretells almost
  /// every status, and each exchange round saved is a factorisation saved.
  void predict(std::vector<BoxStatus>& status) {
    const BandedMatrix* banded = p.A->storage() == Storage::banded ? &p.A->banded() : nullptr;
    for (Index c = 0; c < v.size(); ++c) {
      const double a = banded ? (*banded)(c, c) : (*p.A)(c, c);
      const double load = p.g[c] - (banded ? banded->row_product(c, v) : p.A->row_product(c, v)) + a * v[c];
      const int i = w.law_at[c];
      if (i < 0 || status[i] == BoxStatus::fixed) {
        v[c] = (load + (i < 0 ? 0.0 : lo[i])) / a;
        continue;
      }
      const double locked = a * p.w[i] - load;  // the reaction that would hold the law
      status[i] = locked < lo[i] ? BoxStatus::lower : locked > hi[i] ? BoxStatus::upper : BoxStatus::between;
      v[c] = status[i] == BoxStatus::between ? p.w[i] : (load + box_exchange::bound(status[i], lo[i], hi[i])) / a;
    }
  }
  /// A slipping law whose velocity is zero or of the wrong sign by round-off has stopped: make that exact.
  bool finish(const std::vector<BoxStatus>& status, InclusionSolution& solution) {
    for (Index i = 0; i < lo.size(); ++i)
      if ((status[i] == BoxStatus::lower && solution.u[i] < 0) ||
          (status[i] == BoxStatus::upper && solution.u[i] > 0)) {
        solution.u[i] = 0;
        v[w.coordinate[i]] = p.w[i];
      }
    return true;
  }
};

bool nearly_diagonal(const SystemMatrix& A, Vector& off) {
  off.setZero(A.size());
  A.for_each([&](Index i, Index j, double value) { off[i] += i == j ? 0.0 : std::abs(value); });
  for (Index i = 0; i < A.size(); ++i)
    if (off[i] > kNearlyDiagonal * A(i, i)) return false;
  return true;
}

bool same_coordinates(const PrimalProblem& problem, const PrimalActiveSet& w) {
  for (std::size_t k = 0; k < w.coordinate.size(); ++k) {
    SparseMatrix::InnerIterator entry(problem.Wt, static_cast<Index>(k));
    if (!entry || entry.col() != w.coordinate[k] || entry.value() != 1.0 || ++entry) return false;
  }
  return true;
}

/// What follows from A and W alone.
void load_structure(const PrimalProblem& problem, PrimalActiveSet& w) {
  const Index n = problem.A->size(), m = static_cast<Index>(problem.sets.size());
  const bool same_size = static_cast<Index>(w.coordinate.size()) == m && static_cast<Index>(w.pinned.size()) == n;
  if (same_size && w.checked_version == problem.A_version) return;
  box_exchange::require_boxes(problem.sets);
  w.checked_version = problem.A_version;
  w.nearly_diagonal = n > kPredictable && nearly_diagonal(*problem.A, w.x);
  if (same_size && (w.augmented || same_coordinates(problem, w))) return;
  w.coordinate.assign(m, -1);
  w.pinned.assign(n, 0);
  w.x.resize(n);
  w.factored_version = kNoVersion;
  w.augmented.reset();
  if (acts_on_distinct_coordinates(problem)) {
    w.law_at.assign(n, -1);
    for (Index k = 0; k < m; ++k) {
      w.coordinate[k] = static_cast<int>(SparseMatrix::InnerIterator(problem.Wt, k).col());
      w.law_at[w.coordinate[k]] = static_cast<int>(k);
    }
  } else {
    w.augmented = std::make_unique<PrimalActiveSet::Augmented>();
  }
}
}  // namespace

void solve_active_set(const PrimalProblem& problem, const ActiveSetOptions& options, PrimalActiveSet& w,
                      InclusionSolution& solution) {
  load_structure(problem, w);
  if (problem.sets_version == 0 || problem.sets_version != w.sets_version || w.status.size() != problem.sets.size()) {
    box_exchange::load_boxes(problem.sets, w.lo, w.hi, w.status);
    w.sets_version = problem.sets_version;
  }
  const Index n = problem.A->size(), m = static_cast<Index>(problem.sets.size());
  solution.r.resize(m);
  solution.u.resize(m);
  if (solution.v.size() != n) solution.v = Vector::Zero(n);
  if (w.augmented) {
    AugmentedKernel kernel{problem, w.lo, w.hi, *w.augmented};
    box_exchange::Exchange(kernel, w.lo, w.hi, w.status, options, solution).run();
    return;
  }
  bool moving_surface = false;
  for (Index k = 0; k < m; ++k) moving_surface |= problem.w[k] != 0.0;
  CoordinateKernel kernel{problem, w.lo, w.hi, w, moving_surface, solution.v, options.stop};
  if (w.nearly_diagonal && solution.v.allFinite()) kernel.predict(w.status);
  box_exchange::Exchange(kernel, w.lo, w.hi, w.status, options, solution).run();
}

InclusionSolution solve_active_set(const PrimalProblem& problem, const ActiveSetOptions& options) {
  return solve_once<PrimalActiveSet>(problem, options,
                                     [](const auto& p, const auto& o, auto& workspace, auto& solution) {
                                       solve_active_set(p, o, workspace, solution);
                                     });
}

}  // namespace stickslip
