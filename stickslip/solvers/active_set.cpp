// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/active_set.hpp"

#include <fmt/format.h>

#include <Eigen/SparseLU>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRoundOff = 16 * std::numeric_limits<double>::epsilon();
constexpr double kTie = 1e-12;  // violations that are accepted when the exchanges make no progress
}  // namespace

struct PrimalActiveSet::Augmented {
  Eigen::SparseMatrix<double, Eigen::ColMajor, int> matrix;
  Eigen::SparseLU<Eigen::SparseMatrix<double, Eigen::ColMajor, int>> lu;
  Vector x, gap;
  unsigned long version = kNoVersion;
};
PrimalActiveSet::PrimalActiveSet() = default;
PrimalActiveSet::~PrimalActiveSet() = default;
PrimalActiveSet::PrimalActiveSet(PrimalActiveSet&&) noexcept = default;
PrimalActiveSet& PrimalActiveSet::operator=(PrimalActiveSet&&) noexcept = default;

void ActiveSetOptions::validate() const {
  if (patience < 0) throw InputError(fmt::format("active_set: patience = {} must be >= 0", patience));
  if (max_iterations < 0) throw InputError(fmt::format("active_set: max_iterations = {} must be >= 0", max_iterations));
}

bool all_boxes(const std::vector<Set>& sets) {
  for (const Set& set : sets)
    if (set.kind != SetKind::line && set.kind != SetKind::interval && set.kind != SetKind::half_line) return false;
  return true;
}

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

/// Bounds of the boxes; a start status that does not fit them is repaired.
void load_boxes(const std::vector<Set>& sets, Vector& lo, Vector& hi, std::vector<BoxStatus>& status) {
  const std::size_t m = sets.size();
  if (status.size() != m) status.assign(m, BoxStatus::between);
  lo.resize(m);
  hi.resize(m);
  for (std::size_t i = 0; i < m; ++i) {
    const Set& set = sets[i];
    lo[i] = set.kind == SetKind::line ? -kInfinity : set.kind == SetKind::half_line ? 0.0 : -set.limit;
    hi[i] = set.kind == SetKind::interval ? set.limit : kInfinity;
    if (lo[i] == hi[i]) {
      status[i] = BoxStatus::fixed;
    } else if (status[i] == BoxStatus::fixed || (status[i] == BoxStatus::lower && lo[i] == -kInfinity) ||
               (status[i] == BoxStatus::upper && hi[i] == kInfinity)) {
      status[i] = BoxStatus::between;
    }
  }
}

double bound(BoxStatus status, double lo, double hi) { return status == BoxStatus::upper ? hi : lo; }

/// The exchange loop. kernel.solve(status, r, u) solves the linear system of a guess; kernel.r_size(i), u_size(i): the
/// terms that r_i and u_i were computed from.
template <class Kernel>
void exchange(Kernel& kernel, const Vector& lo, const Vector& hi, std::vector<BoxStatus>& status,
              const ActiveSetOptions& options, InclusionSolution& solution) {
  const Index m = lo.size();
  const int limit = options.max_iterations > 0 ? options.max_iterations : 1000 + 20 * static_cast<int>(m);
  Index fewest = m + 1;
  int patience = options.patience;
  double tolerance = kRoundOff;
  solution.solver = "active_set";
  solution.message.clear();
  const Vector& r = solution.r;
  const Vector& u = solution.u;
  auto violation = [&](Index i) {
    switch (status[i]) {
      case BoxStatus::between:
        return r[i] < lo[i]   ? (lo[i] - r[i]) / kernel.r_size(i)
               : r[i] > hi[i] ? (r[i] - hi[i]) / kernel.r_size(i)
                              : 0.0;
      case BoxStatus::lower:
        return u[i] < 0 ? -u[i] / kernel.u_size(i) : 0.0;
      case BoxStatus::upper:
        return u[i] > 0 ? u[i] / kernel.u_size(i) : 0.0;
      case BoxStatus::fixed:
        break;
    }
    return 0.0;
  };
  auto exchanged = [&](Index i) {
    return status[i] != BoxStatus::between ? BoxStatus::between : r[i] < lo[i] ? BoxStatus::lower : BoxStatus::upper;
  };
  for (solution.iterations = 1; solution.iterations <= limit; ++solution.iterations) {
    const bool solved = !raised(options.stop) && kernel.solve(status, solution.r, solution.u);
    if (raised(options.stop)) {
      solution.status = Status::interrupted;
      solution.message = "active_set: stopped on request";
      return;
    }
    if (!solved) {
      const bool data = kernel.data_finite();
      solution.status = data ? Status::refused : Status::not_finite;
      solution.message = data ? kernel.singular_message() : "active_set: a number of the problem is not finite";
      return;
    }
    Index violations = 0, least = -1;
    double worst = 0;
    for (Index i = 0; i < m; ++i)
      if (const double size = violation(i); size > tolerance) {
        ++violations;
        worst = std::max(worst, size);
        if (least < 0) least = i;
      }
    if (violations > 0 && patience < 0 && worst <= kTie) violations = 0;
    if (violations == 0) {
      for (Index i = 0; i < m; ++i) solution.r[i] = std::min(std::max(solution.r[i], lo[i]), hi[i]);
      solution.status = kernel.finish(status, solution) ? Status::success : Status::refused;
      if (solution.status == Status::refused) solution.message = kernel.singular_message();
      return;
    }
    if (violations < fewest) {
      fewest = violations;
      patience = options.patience;
    } else {
      --patience;
    }
    if (patience < 0) {
      status[least] = exchanged(least);
    } else {
      for (Index i = least; i < m; ++i)
        if (violation(i) > tolerance) status[i] = exchanged(i);
    }
  }
  solution.iterations = limit;
  solution.status = Status::not_converged;
  solution.message =
      fmt::format("active_set: {} linear solves did not settle which laws stick; raise max_iterations", limit);
}

struct DenseKernel {
  const DenseMatrix& D;
  const Vector& b;
  const Vector& lo;
  const Vector& hi;
  DualActiveSet& w;
  StopRequest stop;

  bool solve(const std::vector<BoxStatus>& status, Vector& r, Vector& u) {
    const Index m = b.size();
    for (Index i = 0; i < m; ++i) {
      w.pinned[i] = status[i] != BoxStatus::between;
      w.product[i] = w.pinned[i] ? bound(status[i], lo[i], hi[i]) : 0.0;
    }
    w.x = -b;
    w.x.noalias() -= D * w.product;
    for (Index i = 0; i < m; ++i)
      if (w.pinned[i]) w.x[i] = w.product[i];
    if (!w.factor.factorize(D, w.pinned, stop)) return false;
    w.factor.solve(w.x);
    r = w.x;
    u.noalias() = D * r;
    u += b;
    for (Index i = 0; i < m; ++i)
      if (!w.pinned[i]) u[i] = 0;
    return r.allFinite() && u.allFinite();
  }
  double u_size(Index i) const {
    double sum = std::abs(b[i]);
    for (Index j = 0; j < b.size(); ++j) sum += std::abs(D(i, j) * w.x[j]);
    return sum;
  }
  double r_size(Index i) const { return std::abs(w.x[i]) + u_size(i) / D(i, i); }
  bool finish(const std::vector<BoxStatus>&, InclusionSolution&) const { return true; }
  bool data_finite() const { return D.allFinite() && b.allFinite(); }
  std::string singular_message() const {
    return "active_set: D is singular or not positive definite on the stuck laws; use solver = default";
  }
};

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
      if (!stuck) v[c] += bound(status[i], lo[i], hi[i]);
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
      r[i] = stuck ? w.x[c] : bound(status[i], lo[i], hi[i]);
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
      v[c] = status[i] == BoxStatus::between ? p.w[i] : (load + bound(status[i], lo[i], hi[i])) / a;
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

struct AugmentedKernel {
  const PrimalProblem& p;
  const Vector& lo;
  const Vector& hi;
  PrimalActiveSet::Augmented& a;
  double scale_r = 0;

  void assemble() {
    const Index n = p.A->size(), m = lo.size();
    std::vector<Eigen::Triplet<double, int>> entries;
    p.A->for_each([&](Index i, Index j, double value) {
      if (value != 0.0 || i == j) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), value);
    });
    for (Index k = 0; k < m; ++k) {
      const int row = static_cast<int>(n + k);
      for (SparseMatrix::InnerIterator entry(p.Wt, k); entry; ++entry) {
        entries.emplace_back(static_cast<int>(entry.col()), row, -entry.value());
        entries.emplace_back(row, static_cast<int>(entry.col()), entry.value());
      }
      entries.emplace_back(row, row, 1.0);
    }
    a.matrix.resize(n + m, n + m);
    a.matrix.setFromTriplets(entries.begin(), entries.end());
    a.lu.analyzePattern(a.matrix);
    a.x.resize(n + m);
    a.gap.resize(n);
    a.version = p.A_version;
  }

  bool solve(const std::vector<BoxStatus>& status, Vector& r, Vector& u) {
    const Index n = p.A->size(), m = lo.size();
    if (a.version != p.A_version || a.x.size() != n + m) assemble();
    for (Index k = 0; k < m; ++k) {
      const bool stuck = status[k] == BoxStatus::between;
      const int row = static_cast<int>(n + k);
      for (SparseMatrix::InnerIterator entry(p.Wt, k); entry; ++entry)
        a.matrix.coeffRef(row, static_cast<int>(entry.col())) = stuck ? entry.value() : 0.0;
      a.matrix.coeffRef(row, row) = stuck ? 0.0 : 1.0;
      a.x[row] = stuck ? p.w[k] : bound(status[k], lo[k], hi[k]);
    }
    a.lu.factorize(a.matrix);
    if (a.lu.info() != Eigen::Success) return false;
    a.x.head(n) = p.g;
    a.x = a.lu.solve(a.x);
    r = a.x.tail(m);
    u = p.Wt * a.x.head(n) - p.w;
    for (Index k = 0; k < m; ++k) {
      if (status[k] == BoxStatus::between) {
        u[k] = 0;
      } else {
        r[k] = bound(status[k], lo[k], hi[k]);
      }
    }
    scale_r = std::max(r.lpNorm<Eigen::Infinity>(), p.g.lpNorm<Eigen::Infinity>());
    return a.x.allFinite();
  }
  double r_size(Index) const { return scale_r; }
  double u_size(Index k) const {
    double sum = std::abs(p.w[k]);
    for (SparseMatrix::InnerIterator entry(p.Wt, k); entry; ++entry) sum += std::abs(entry.value() * a.x[entry.col()]);
    return sum;
  }
  /// Directions that depend on each other make the matrix singular, which round-off can hide: the reactions are then
  /// huge and cancel. False if they do not satisfy the equations.
  bool finish(const std::vector<BoxStatus>& status, InclusionSolution& solution) {
    solution.v = a.x.head(p.A->size());
    p.A->product(solution.v, a.gap);
    const double size = std::max(a.gap.lpNorm<Eigen::Infinity>(), p.g.lpNorm<Eigen::Infinity>());
    a.gap -= p.g;
    double slip = 0, speed = 0, force = 0;
    for (Index k = 0; k < lo.size(); ++k) {
      double u = -p.w[k];
      for (SparseMatrix::InnerIterator entry(p.Wt, k); entry; ++entry) {
        a.gap[entry.col()] -= entry.value() * solution.r[k];
        force = std::max(force, std::abs(entry.value() * solution.r[k]));
        u += entry.value() * solution.v[entry.col()];
      }
      if (status[k] == BoxStatus::between) slip = std::max(slip, std::abs(u));
      speed = std::max(speed, u_size(k));
    }
    const double gap = std::max(a.gap.lpNorm<Eigen::Infinity>(), std::numeric_limits<double>::epsilon() * force);
    return gap <= 1e-9 * size && slip <= 1e-9 * speed;
  }
  bool data_finite() const { return p.g.allFinite() && p.w.allFinite() && std::isfinite(p.A->max_abs()); }
  std::string singular_message() const {
    return "active_set: the step matrix is singular, or stuck directions depend on each other; use solver = default";
  }
};

/// Off-diagonal sums at most a tenth of the diagonal in every row.
bool nearly_diagonal(const SystemMatrix& A, Vector& off) {
  off.setZero(A.size());
  A.for_each([&](Index i, Index j, double value) { off[i] += i == j ? 0.0 : std::abs(value); });
  for (Index i = 0; i < A.size(); ++i)
    if (off[i] > 0.1 * A(i, i)) return false;
  return true;
}

void require_boxes(const std::vector<Set>& sets) {
  if (!all_boxes(sets))
    throw InputError("active_set takes Line, Interval and HalfLine laws only; use gauss_seidel or semismooth_newton");
}
}  // namespace

void solve_active_set(const DualProblem& problem, const ActiveSetOptions& options, DualActiveSet& w,
                      InclusionSolution& solution) {
  require_boxes(problem.sets);
  const Index m = problem.b.size();
  load_boxes(problem.sets, w.lo, w.hi, w.status);
  w.pinned.resize(m);
  w.x.resize(m);
  w.product.resize(m);
  solution.r.resize(m);
  solution.u.resize(m);
  const auto* dense = std::get_if<DenseMatrix>(&problem.D);
  if (!dense) w.expanded = to_dense(problem.D);
  DenseKernel kernel{dense ? *dense : w.expanded, problem.b, w.lo, w.hi, w, options.stop};
  exchange(kernel, w.lo, w.hi, w.status, options, solution);
}

InclusionSolution solve_active_set(const DualProblem& problem, const ActiveSetOptions& options) {
  validate(problem);
  options.validate();
  DualActiveSet workspace;
  InclusionSolution solution;
  solve_active_set(problem, options, workspace, solution);
  solution.residuals = residuals(problem, solution.r);
  return solution;
}

namespace {
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
  require_boxes(problem.sets);
  w.checked_version = problem.A_version;
  w.nearly_diagonal = n > 8 && nearly_diagonal(*problem.A, w.x);
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
    load_boxes(problem.sets, w.lo, w.hi, w.status);
    w.sets_version = problem.sets_version;
  }
  const Index n = problem.A->size(), m = static_cast<Index>(problem.sets.size());
  solution.r.resize(m);
  solution.u.resize(m);
  if (solution.v.size() != n) solution.v = Vector::Zero(n);
  if (w.augmented) {
    AugmentedKernel kernel{problem, w.lo, w.hi, *w.augmented};
    exchange(kernel, w.lo, w.hi, w.status, options, solution);
    return;
  }
  bool moving_surface = false;
  for (Index k = 0; k < m; ++k) moving_surface |= problem.w[k] != 0.0;
  CoordinateKernel kernel{problem, w.lo, w.hi, w, moving_surface, solution.v, options.stop};
  if (w.nearly_diagonal && solution.v.allFinite()) kernel.predict(w.status);
  exchange(kernel, w.lo, w.hi, w.status, options, solution);
}

InclusionSolution solve_active_set(const PrimalProblem& problem, const ActiveSetOptions& options) {
  validate(problem);
  options.validate();
  PrimalActiveSet workspace;
  InclusionSolution solution;
  solve_active_set(problem, options, workspace, solution);
  solution.residuals = residuals(problem, solution.v, solution.r);
  return solution;
}

}  // namespace stickslip
