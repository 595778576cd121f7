// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/gauss_seidel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/active_set.hpp"
#include "stickslip/solvers/residual.hpp"
#include "stickslip/solvers/solve_once.hpp"

namespace stickslip {

void GaussSeidelOptions::validate() const {
  if (!(tolerance > 0)) throw InputError(fmt::format("gauss_seidel: tolerance = {} must be > 0", tolerance));
  if (max_iterations < 1)
    throw InputError(fmt::format("gauss_seidel: max_iterations = {} must be >= 1", max_iterations));
}

namespace {
/// A_kk y = load + r, -y ∈ N_C(r) for the law on coordinates c[0..n): returns the new y.
void solve_primal_law(const SystemMatrix& A, const Set& set, const int* c, const double* load, double* r, double* y) {
  if (set.size == 1) {
    const double lo = set.kind == SetKind::line ? -HUGE_VAL : set.kind == SetKind::half_line ? 0.0 : -set.limit;
    const double hi = set.kind == SetKind::interval ? set.limit : HUGE_VAL;
    r[0] = std::min(std::max(-load[0], lo), hi);
    y[0] = load[0] == -r[0] ? 0.0 : (load[0] + r[0]) / A(c[0], c[0]);
    return;
  }
  if (contains(set, {load, 2}, 0.0)) {  // C = -C
    r[0] = -load[0];
    r[1] = -load[1];
    y[0] = y[1] = 0;
    return;
  }
  const double a00 = A(c[0], c[0]), a01 = A(c[0], c[1]), a10 = A(c[1], c[0]), a11 = A(c[1], c[1]);
  const double determinant = a00 * a11 - a01 * a10;
  const std::array<double, 4> D{a11 / determinant, -a01 / determinant, -a10 / determinant, a00 / determinant};
  const std::array<double, 2> q{D[0] * load[0] + D[1] * load[1], D[2] * load[0] + D[3] * load[1]};
  solve_one_law(set, D.data(), q.data(), r);
  y[0] = D[0] * (load[0] + r[0]) + D[1] * (load[1] + r[1]);
  y[1] = D[2] * (load[0] + r[0]) + D[3] * (load[1] + r[1]);
}

/// What follows from W and the kinds of the sets alone.
void load_structure(const PrimalProblem& p, PrimalGaussSeidel& w) {
  const Index n = p.A->size(), m = p.w.size();
  if (static_cast<Index>(w.law_of.size()) == n && static_cast<Index>(w.coordinate.size()) == m &&
      w.checked_version == p.A_version)
    return;
  w.checked_version = p.A_version;
  bool same = static_cast<Index>(w.law_of.size()) == n && static_cast<Index>(w.coordinate.size()) == m;
  for (Index k = 0; same && k < m; ++k) {
    SparseMatrix::InnerIterator entry(p.Wt, k);
    same = entry && entry.col() == w.coordinate[k] && entry.value() == 1.0 && !++entry;
  }
  if (same) return;
  for (const Set& set : p.sets)
    if (is_cone(set.kind))
      throw InputError("gauss_seidel in primal form does not take contact cones; use the dual form");
  if (!acts_on_distinct_coordinates(p))
    throw InputError("gauss_seidel in primal form needs laws that act on distinct coordinates; use the dual form");
  w.law_of.assign(n, -1);
  w.first_component.clear();
  w.coordinate.clear();
  for (std::size_t k = 0; k < p.sets.size(); ++k) {
    w.first_component.push_back(static_cast<int>(w.coordinate.size()));
    for (int c = 0; c < p.sets[k].size; ++c) {
      const int coordinate =
          static_cast<int>(SparseMatrix::InnerIterator(p.Wt, static_cast<Index>(w.coordinate.size())).col());
      w.coordinate.push_back(coordinate);
      w.law_of[coordinate] = static_cast<int>(k);
    }
  }
}
}  // namespace

void solve_gauss_seidel(const PrimalProblem& p, const GaussSeidelOptions& options, PrimalGaussSeidel& w,
                        InclusionSolution& solution) {
  const Index n = p.A->size(), m = p.w.size();
  load_structure(p, w);
  if (solution.v.size() != n) solution.v = Vector::Zero(n);
  if (solution.r.size() != m) solution.r = Vector::Zero(m);
  solution.u.resize(m);
  solution.solver = "gauss_seidel";
  solution.status = Status::not_converged;
  solution.message.clear();
  Vector& v = solution.v;
  double size = 0;
  for (Index i = 0; i < n; ++i) size = std::max(size, std::abs(v[i]));
  for (solution.iterations = 1; solution.iterations <= options.max_iterations; ++solution.iterations) {
    double change = 0, sum = 0;
    for (Index i = 0; i < n; ++i) {
      const int k = w.law_of[i];
      if (k < 0) {
        const double next = v[i] + (p.g[i] - p.A->row_product(i, v)) / (*p.A)(i, i);
        change = std::max(change, std::abs(next - v[i]));
        v[i] = next;
      } else if (const int component = w.first_component[k]; w.coordinate[component] == i) {
        const Set& set = p.sets[k];
        const int* c = w.coordinate.data() + component;
        double load[2], y[2];
        for (int a = 0; a < set.size; ++a) {
          load[a] = p.g[c[a]] - p.A->row_product(c[a], v);
          for (int b = 0; b < set.size; ++b) load[a] += (*p.A)(c[a], c[b]) * (v[c[b]] - p.w[component + b]);
        }
        solve_primal_law(*p.A, set, c, load, solution.r.data() + component, y);
        for (int a = 0; a < set.size; ++a) {
          const double next = p.w[component + a] + y[a];
          change = std::max(change, std::abs(next - v[c[a]]));
          v[c[a]] = next;
          solution.u[component + a] = y[a];
        }
      }
    }
    for (Index i = 0; i < n; ++i) {
      size = std::max(size, std::abs(v[i]));
      sum += v[i];
    }
    if (!std::isfinite(sum)) {
      solution.status = Status::not_finite;
      solution.message = fmt::format("gauss_seidel: the velocities became infinite in sweep {}; use the dual form",
                                     solution.iterations);
      return;
    }
    if (change <= options.tolerance * size) {
      solution.status = Status::success;
      return;
    }
  }
  solution.iterations = options.max_iterations;
  solution.message = fmt::format("gauss_seidel: velocities still change after {} sweeps; raise max_iterations",
                                 options.max_iterations);
}

InclusionSolution solve_gauss_seidel(const PrimalProblem& problem, const GaussSeidelOptions& options) {
  return solve_once<PrimalGaussSeidel>(problem, options,
                                       [](const auto& p, const auto& o, auto& workspace, auto& solution) {
                                         solve_gauss_seidel(p, o, workspace, solution);
                                       });
}

}  // namespace stickslip
