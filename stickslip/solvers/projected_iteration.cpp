// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/projected_iteration.hpp"

#include <Spectra/SymEigsSolver.h>
#include <fmt/format.h>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

void ProjectedIterationOptions::validate() const {
  if (!(rho >= 0))
    throw InputError(fmt::format("projected_iteration: rho = {} must be > 0 (or 0 for the best value)", rho));
  if (!(tolerance > 0)) throw InputError(fmt::format("projected_iteration: tolerance = {} must be > 0", tolerance));
  if (max_iterations < 1)
    throw InputError(fmt::format("projected_iteration: max_iterations = {} must be >= 1", max_iterations));
}

void iteration_scaling(const std::vector<Set>& sets, const Vector& natural_weights, Vector& scaling) {
  scaling.resize(reaction_size(sets));
  Index first = 0;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const bool limited = sets[k].kind != SetKind::line && sets[k].kind != SetKind::half_line && !is_cone(sets[k].kind);
    for (int c = 0; c < sets[k].size; ++c)
      scaling[first++] = limited ? sets[k].limit * sets[k].limit : natural_weights[k];
  }
}

Vector iteration_scaling(const std::vector<Set>& sets, const Vector& natural_weights) {
  Vector scaling;
  iteration_scaling(sets, natural_weights, scaling);
  return scaling;
}

namespace {
/// S^{1/2} D S^{1/2} on the components with s > 0, as Spectra wants to see it.
struct ScaledOperator {
  using Scalar = double;
  const ReactionMap& map;
  const Vector& root;
  const Vector& b;
  const std::vector<Index>& used;
  mutable Vector x, y;
  Index rows() const { return static_cast<Index>(used.size()); }
  Index cols() const { return rows(); }
  void perform_op(const double* in, double* out) const {
    for (Index k = 0; k < rows(); ++k) x[used[k]] = in[k] * root[used[k]];
    map(x, y);
    for (Index k = 0; k < rows(); ++k) out[k] = (y[used[k]] - b[used[k]]) * root[used[k]];
  }
};
}  // namespace

IterationBound iteration_bound(const ReactionMap& map, const Vector& scaling) {
  constexpr Index kDense = 200;
  const Vector root = scaling.cwiseSqrt();
  const Index m = root.size();
  std::vector<Index> used;
  for (Index i = 0; i < m; ++i)
    if (root[i] > 0) used.push_back(i);
  if (used.empty()) return {0, 0};
  Vector b(m);
  map(Vector::Zero(m), b);
  ScaledOperator op{map, root, b, used, Vector::Zero(m), Vector::Zero(m)};
  if (op.rows() <= kDense) {
    DenseMatrix scaled(op.rows(), op.rows());
    Vector unit = Vector::Zero(op.rows());
    for (Index j = 0; j < op.rows(); ++j) {
      unit[j] = 1;
      op.perform_op(unit.data(), scaled.col(j).data());
      unit[j] = 0;
    }
    if (!scaled.allFinite()) return {0, std::numeric_limits<double>::infinity()};
    const Vector eigenvalues = Eigen::SelfAdjointEigenSolver<DenseMatrix>(scaled, Eigen::EigenvaluesOnly).eigenvalues();
    return {std::max(0.0, eigenvalues.minCoeff()), std::max(0.0, eigenvalues.maxCoeff())};
  }
  auto extreme = [&](Spectra::SortRule rule, int restarts, double fallback) {
    Spectra::SymEigsSolver<ScaledOperator> lanczos(op, 1, 40);
    lanczos.init();
    lanczos.compute(rule, restarts, 1e-8);
    return lanczos.info() == Spectra::CompInfo::Successful ? lanczos.eigenvalues()[0] : fallback;
  };
  // Lanczos approaches the largest eigenvalue from below: the margin keeps the bound on the safe side. The smallest one
  // only sharpens rho_best; where it is hard to find it is so small that it does not matter.
  const double largest =
      extreme(Spectra::SortRule::LargestAlge, 1000, std::numeric_limits<double>::infinity()) * (1 + 1e-7);
  const double smallest = std::max(0.0, extreme(Spectra::SortRule::SmallestAlge, 20, 0.0));
  return {smallest, largest};
}

namespace {
void refuse(InclusionSolution& solution, const ReactionMap& map, std::string message) {
  solution.status = Status::refused;
  solution.message = std::move(message);
  solution.iterations = 0;
  map(solution.r, solution.u);
}
constexpr double kSymmetric = 1e-12;  // of the largest entry
bool is_symmetric(const DenseMatrix& D) {
  return D.size() == 0 || (D - D.transpose()).lpNorm<Eigen::Infinity>() <= kSymmetric * D.lpNorm<Eigen::Infinity>();
}
}  // namespace

void solve_projected_iteration(const ReactionMap& map, const std::vector<Set>& sets, const Vector& scaling,
                               const IterationBound& bound, const ProjectedIterationOptions& options,
                               InclusionSolution& solution) {
  Vector& r = solution.r;
  Vector& u = solution.u;
  u.resize(r.size());
  solution.solver = "projected_iteration";
  solution.message.clear();
  for (const Set& set : sets)
    if (is_cone(set.kind))
      return refuse(solution, map,
                    "projected_iteration: Theorem 4.1 does not cover contact cones; use gauss_seidel or the default");
  const double rho = options.rho > 0 ? options.rho : bound.rho_best();
  if (!(rho < bound.rho_limit()))
    return refuse(solution, map,
                  fmt::format("projected_iteration: rho = {:.6g} is not below the bound 2/beta_max = {:.6g} of Theorem "
                              "4.1; take rho <= {:.6g}",
                              rho, bound.rho_limit(), bound.rho_best()));
  solution.status = Status::not_converged;
  const Deadline deadline(options.max_seconds);
  double free_size = 0;  // of r/sqrt(s) of laws without a limit, the largest so far
  for (solution.iterations = 1; solution.iterations <= options.max_iterations && !deadline.passed();
       ++solution.iterations) {
    map(r, u);
    double change = 0, free_change = 0;
    Index first = 0;
    for (const Set& set : sets) {
      const bool limited = set.kind != SetKind::line && set.kind != SetKind::half_line;
      const std::size_t size = static_cast<std::size_t>(set.size);
      double moved[3], projected[3];
      for (std::size_t c = 0; c < size; ++c) moved[c] = r[first + c] - rho * scaling[first + c] * u[first + c];
      project(set, {moved, size}, {projected, size});
      for (std::size_t c = 0; c < size; ++c) {
        if (scaling[first + c] > 0) {
          const double unit = std::sqrt(scaling[first + c]);
          const double moved_by = std::abs(projected[c] - r[first + c]) / unit;
          double& largest = limited ? change : free_change;
          if (moved_by > largest || std::isnan(moved_by)) largest = moved_by;
          if (!limited) free_size = std::max(free_size, std::abs(projected[c]) / unit);
        }
        r[first + c] = projected[c];
      }
      first += set.size;
    }
    if (change <= options.tolerance && free_change <= options.tolerance * free_size) {
      solution.status = Status::success;
      break;
    }
    if (!std::isfinite(change + free_change)) {
      solution.status = Status::not_finite;
      solution.message = "projected_iteration: the reactions are not finite; check the data";
      return;
    }
  }
  map(r, u);
  if (solution.status == Status::success) return;
  solution.iterations = options.max_iterations;
  solution.message = fmt::format("projected_iteration: no convergence to {:g} in {} iterations; use active_set",
                                 options.tolerance, options.max_iterations);
}

InclusionSolution solve_projected_iteration(const DualProblem& problem, const ProjectedIterationOptions& options,
                                            const Vector& start) {
  validate(problem);
  options.validate();
  InclusionSolution solution;
  solution.solver = "projected_iteration";
  solution.r = start_reactions(problem, start);
  solution.u.resize(problem.b.size());
  const DenseMatrix D = to_dense(problem.D);
  const ReactionMap map = [&](const Vector& r, Vector& u) {
    u.noalias() = D * r;
    u += problem.b;
  };
  if (!is_symmetric(D)) {
    refuse(solution, map, "projected_iteration: Theorem 4.1 needs D symmetric; use gauss_seidel or the default");
  } else {
    const Vector scaling = iteration_scaling(problem.sets, natural_weights(problem));
    solve_projected_iteration(map, problem.sets, scaling, iteration_bound(map, scaling), options, solution);
  }
  solution.residuals = residuals(problem, solution.r);
  return solution;
}

}  // namespace stickslip
