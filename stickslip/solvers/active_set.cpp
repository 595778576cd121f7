// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/active_set.hpp"

#include <fmt/format.h>

#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/box_exchange.hpp"
#include "stickslip/solvers/residual.hpp"
#include "stickslip/solvers/solve_once.hpp"

namespace stickslip {

void ActiveSetOptions::validate() const {
  if (patience < 0) throw InputError(fmt::format("active_set: patience = {} must be >= 0", patience));
  if (max_iterations < 0) throw InputError(fmt::format("active_set: max_iterations = {} must be >= 0", max_iterations));
}

bool all_boxes(const std::vector<Set>& sets) {
  for (const Set& set : sets)
    if (set.kind != SetKind::line && set.kind != SetKind::interval && set.kind != SetKind::half_line) return false;
  return true;
}

void box_exchange::require_boxes(const std::vector<Set>& sets) {
  if (!all_boxes(sets))
    throw InputError("active_set takes Line, Interval and HalfLine laws only; use gauss_seidel or semismooth_newton");
}

void box_exchange::load_boxes(const std::vector<Set>& sets, Vector& lo, Vector& hi, std::vector<BoxStatus>& status) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
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

namespace {

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
      w.product[i] = w.pinned[i] ? box_exchange::bound(status[i], lo[i], hi[i]) : 0.0;
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

}  // namespace

void solve_active_set(const DualProblem& problem, const ActiveSetOptions& options, DualActiveSet& w,
                      InclusionSolution& solution) {
  box_exchange::require_boxes(problem.sets);
  const Index m = problem.b.size();
  box_exchange::load_boxes(problem.sets, w.lo, w.hi, w.status);
  w.pinned.resize(m);
  w.x.resize(m);
  w.product.resize(m);
  solution.r.resize(m);
  solution.u.resize(m);
  const auto* dense = std::get_if<DenseMatrix>(&problem.D);
  if (!dense) w.expanded = to_dense(problem.D);
  DenseKernel kernel{dense ? *dense : w.expanded, problem.b, w.lo, w.hi, w, options.stop};
  box_exchange::Exchange(kernel, w.lo, w.hi, w.status, options, solution).run();
}

InclusionSolution solve_active_set(const DualProblem& problem, const ActiveSetOptions& options) {
  return solve_once<DualActiveSet>(problem, options, [](const auto& p, const auto& o, auto& workspace, auto& solution) {
    solve_active_set(p, o, workspace, solution);
  });
}

}  // namespace stickslip
