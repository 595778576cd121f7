// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/solvers/certificate.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

namespace {
constexpr std::array<SolverInfo, 8> kSolvers{{
    {SolverKind::automatic, "default", "picks by the kind of laws, falls back, and says which it used"},
    {SolverKind::active_set, "active_set",
     "exact exchange of stick and slip, with least-index fallback; Line, Interval, HalfLine"},
    {SolverKind::gauss_seidel, "gauss_seidel", "projected block Gauss-Seidel; every set"},
    {SolverKind::semismooth_newton, "semismooth_newton",
     "Newton on the natural map with non-monotone line search; every set"},
    {SolverKind::projected_iteration, "projected_iteration",
     "paper 1 (4.14)-(4.16) with the bound of Theorem 4.1 enforced; no cones"},
    {SolverKind::accelerated_gauss_seidel, "accelerated_gauss_seidel",
     "Gauss-Seidel with exact local solutions, Anderson-accelerated; every set"},
    {SolverKind::proximal_newton, "proximal_newton",
     "proximal point around a semismooth Newton method with sparse factors; every set"},
    {SolverKind::smoothing_newton, "smoothing_newton",
     "Newton along a path of smoothed contact problems, sparse factors; every set"},
}};
}  // namespace

std::span<const SolverInfo> solver_table() { return kSolvers; }

std::string_view to_string(SolverKind kind) { return kSolvers[static_cast<std::size_t>(kind)].name; }

SolverKind solver_from(std::string_view name) {
  std::vector<std::string> known;
  for (const SolverInfo& info : kSolvers) {
    if (info.name == name) return info.kind;
    known.emplace_back(info.name);
  }
  throw InputError(fmt::format("unknown solver '{}'{}", name, name_hint(name, known)));
}

void SolveOptions::validate() const {
  if (!(tolerance > 0)) throw InputError(fmt::format("solver: tolerance = {} must be > 0", tolerance));
  if (max_iterations < 0) throw InputError(fmt::format("solver: max_iterations = {} must be >= 0", max_iterations));
  if (!(rho >= 0)) throw InputError(fmt::format("solver: rho = {} must be >= 0", rho));
  if (!(max_seconds >= 0)) throw InputError(fmt::format("solver: max_seconds = {} must be >= 0", max_seconds));
}

ContactOptions contact_options(const SolveOptions& options) {
  ContactMethod method = ContactMethod::strategy;
  if (options.solver == SolverKind::gauss_seidel) method = ContactMethod::gauss_seidel;
  if (options.solver == SolverKind::accelerated_gauss_seidel) method = ContactMethod::accelerated_gauss_seidel;
  if (options.solver == SolverKind::proximal_newton) method = ContactMethod::proximal_newton;
  if (options.solver == SolverKind::smoothing_newton) method = ContactMethod::smoothing_newton;
  return {.method = method,
          .measure = options.measure,
          .tolerance = options.tolerance,
          .max_iterations = options.max_iterations,
          .max_seconds = options.max_seconds,
          .stop = options.stop,
          .acceptable = options.acceptable,
          .threads = options.threads};
}

ActiveSetOptions active_set_options(const SolveOptions& options) {
  return {.max_iterations = options.max_iterations, .stop = options.stop};
}

ProjectedIterationOptions projected_iteration_options(const SolveOptions& options) {
  ProjectedIterationOptions own{.rho = options.rho, .tolerance = options.tolerance, .max_seconds = options.max_seconds};
  if (options.max_iterations > 0) own.max_iterations = options.max_iterations;
  return own;
}

namespace {
constexpr double kExactAnswer = 1e-10;  // inclusion: what an exact method leaves where D is ill-conditioned
}  // namespace

InclusionSolution solve(const DualProblem& problem, const SolveOptions& options, const Vector& start) {
  validate(problem);
  options.validate();
  InclusionSolution solution;
  solution.r = start_reactions(problem, start);
  solution.u = problem.b;
  if (problem.sets.empty()) {
    solution.status = Status::success;
    solution.solver = "none";
    return solution;
  }
  switch (options.solver) {
    case SolverKind::active_set:
      return solve_active_set(problem, active_set_options(options));
    case SolverKind::gauss_seidel:
    case SolverKind::accelerated_gauss_seidel:
    case SolverKind::proximal_newton:
    case SolverKind::smoothing_newton:
      return solve_contacts(problem, contact_options(options), start);
    case SolverKind::semismooth_newton: {
      SemismoothNewtonOptions own{.tolerance = options.tolerance, .max_seconds = options.max_seconds};
      if (options.max_iterations > 0) own.max_iterations = options.max_iterations;
      return solve_semismooth_newton(problem, own, start);
    }
    case SolverKind::projected_iteration:
      return solve_projected_iteration(problem, projected_iteration_options(options), start);
    case SolverKind::automatic:
      break;
  }
  if (!all_boxes(problem.sets)) return solve_contacts(problem, contact_options(options), start);
  DualActiveSet workspace;
  solve_active_set(problem, active_set_options(options), workspace, solution);
  if (solution.status == Status::success) {
    solution.residuals = residuals(problem, solution.r);
    if (solution.residuals.inclusion <= std::max(options.tolerance, kExactAnswer)) return solution;
  }
  if (solution.status == Status::interrupted) return solution;
  solve_proximal_active_set(problem, options.tolerance, solution, options.stop);
  return solution;
}

}  // namespace stickslip
