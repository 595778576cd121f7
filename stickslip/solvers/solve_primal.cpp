// SPDX-License-Identifier: Apache-2.0
// The primal form of solve.hpp: which path a structure takes, and the paths.
#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/residual.hpp"
#include "stickslip/solvers/solve.hpp"
#include "stickslip/solvers/solve_once.hpp"

namespace stickslip {

namespace {
enum Path : int { kCoordinateBoxes, kCoordinateBlocks, kDual, kAugmented, kProjected, kCondensed };
constexpr Index kDenseLaws = 300;  // above, D is not formed if it can be helped

constexpr double kCoordinateTolerance = 1e-14;  // of the largest |v|: which blocks stick is read off the result
constexpr double kSymmetric = 1e-12;            // of the largest entry

GaussSeidelOptions gauss_seidel_options(const SolveOptions& options) {
  GaussSeidelOptions own{.tolerance = std::min(options.tolerance, kCoordinateTolerance)};
  if (options.max_iterations > 0) own.max_iterations = options.max_iterations;
  return own;
}

/// The methods of contact_solver.hpp, by themselves or as the default.
bool serves_contacts(SolverKind kind) {
  return kind == SolverKind::automatic || kind == SolverKind::gauss_seidel ||
         kind == SolverKind::accelerated_gauss_seidel || kind == SolverKind::proximal_newton ||
         kind == SolverKind::smoothing_newton;
}

Path choose_path(const PrimalProblem& problem, const SolveOptions& options) {
  const bool boxes = all_boxes(problem.sets), coordinates = acts_on_distinct_coordinates(problem);
  bool cones = false;
  for (const Set& set : problem.sets) cones |= is_cone(set.kind);
  if (options.solver == SolverKind::projected_iteration) return kProjected;
  if (options.solver == SolverKind::gauss_seidel && coordinates && !cones) return kCoordinateBlocks;
  if (options.solver == SolverKind::active_set || options.solver == SolverKind::automatic) {
    if (boxes && coordinates) return kCoordinateBoxes;
    if (boxes && reaction_size(problem.sets) > kDenseLaws) return kAugmented;
    if (!boxes && coordinates && !cones && options.solver == SolverKind::automatic) return kCoordinateBlocks;
  }
  if (serves_contacts(options.solver) && !(boxes && options.solver == SolverKind::automatic)) return kCondensed;
  return kDual;
}

std::string singular_step_message(const SystemMatrix& A) {
  if (!std::isfinite(A.max_abs()))
    return "the step matrix is not finite: the slope of a force by position or velocity is infinite there (a root, or "
           "a power below 1, at 0); smooth that force, or keep the motion away from there";
  return "the symmetric part of the step matrix is not positive definite: a force pushes away faster than the inertia "
         "resists within the step; reduce run.step";
}

void refresh_factor(const PrimalProblem& problem, PrimalWorkspace& w) {
  if (w.factor_version == problem.A_version) return;
  w.none_pinned.assign(problem.A->size(), 0);
  w.factor_version = kNoVersion;
  if (!w.factor.factorize(*problem.A, w.none_pinned)) throw InputError(singular_step_message(*problem.A));
  w.factor_version = problem.A_version;
}

/// x += W r
void add_reactions(const PrimalProblem& problem, const Vector& r, Vector& x) {
  for (Index k = 0; k < problem.Wt.rows(); ++k)
    for (SparseMatrix::InnerIterator entry(problem.Wt, k); entry; ++entry) x[entry.col()] += entry.value() * r[k];
}

/// u = Wᵀ v - w
void relative_velocity(const PrimalProblem& problem, const Vector& v, Vector& u) {
  for (Index k = 0; k < problem.Wt.rows(); ++k) {
    double sum = -problem.w[k];
    for (SparseMatrix::InnerIterator entry(problem.Wt, k); entry; ++entry) sum += entry.value() * v[entry.col()];
    u[k] = sum;
  }
}

/// v = A⁻¹ (g + W r)
void recover_velocity(const PrimalProblem& problem, PrimalWorkspace& w, InclusionSolution& solution) {
  refresh_factor(problem, w);
  solution.v = problem.g;
  add_reactions(problem, solution.r, solution.v);
  w.factor.solve(solution.v);
}

/// After Gauss-Seidel: blocks that do not move are stuck. One solve with them pinned makes the stick exact and removes
/// the iteration error of the others' coupling.
void pin_stuck_blocks(const PrimalProblem& problem, PrimalWorkspace& w, InclusionSolution& solution) {
  const Index n = problem.A->size();
  std::vector<int>& coordinate = w.gauss_seidel.coordinate;
  if (static_cast<Index>(coordinate.size()) != problem.Wt.rows()) {
    coordinate.resize(problem.Wt.rows());
    for (Index k = 0; k < problem.Wt.rows(); ++k)
      coordinate[k] = static_cast<int>(SparseMatrix::InnerIterator(problem.Wt, k).col());
  }
  bool same = w.stuck_version == problem.A_version && static_cast<Index>(w.pinned.size()) == n;
  if (static_cast<Index>(w.pinned.size()) != n) w.pinned.assign(n, 0);
  w.work = problem.g;
  w.fixed.setZero(n);
  Index first = 0;
  for (const Set& set : problem.sets) {
    bool stuck = true;
    for (int c = 0; c < set.size; ++c) stuck &= solution.u[first + c] == 0.0;
    for (int c = 0; c < set.size; ++c, ++first) {
      char& pinned = w.pinned[coordinate[first]];
      same &= pinned == static_cast<char>(stuck);
      pinned = stuck;
      (stuck ? w.fixed : w.work)[coordinate[first]] += stuck ? problem.w[first] : solution.r[first];
    }
  }
  problem.A->add_product(-1.0, w.fixed, w.work);
  for (Index i = 0; i < n; ++i)
    if (w.pinned[i]) w.work[i] = w.fixed[i];
  if (!same) {
    w.stuck_version = kNoVersion;
    if (!w.stuck_factor.factorize(*problem.A, w.pinned)) return;
    w.stuck_version = problem.A_version;
  }
  w.stuck_factor.solve(w.work);
  solution.v = w.work;
  first = 0;
  for (const Set& set : problem.sets) {
    const bool stuck = w.pinned[coordinate[first]];
    for (int c = 0; c < set.size; ++c) {
      const int i = coordinate[first + c];
      if (stuck) {
        solution.r[first + c] = problem.A->row_product(i, solution.v) - problem.g[i];
      } else {
        solution.u[first + c] = solution.v[i] - problem.w[first + c];
      }
    }
    const std::span<double> r(solution.r.data() + first, static_cast<std::size_t>(set.size));
    if (stuck) project(set, r, r);  // a reaction at its limit may have left the set by round-off
    first += set.size;
  }
}

/// A law with r - ρ(u + s(u)) inside its set sticks: what is left of u is the solver's tolerance.
void stop_stuck_laws(const std::vector<Set>& sets, const Vector& rho, InclusionSolution& solution) {
  Index first = 0;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const Set& set = sets[k];
    const std::size_t size = static_cast<std::size_t>(set.size);
    std::array<double, 3> moved, s;
    shift(set, {solution.u.data() + first, size}, {s.data(), size});
    for (std::size_t c = 0; c < size; ++c) moved[c] = solution.r[first + c] - rho[k] * (solution.u[first + c] + s[c]);
    if (contains(set, {moved.data(), size}, 0.0)) solution.u.segment(first, set.size).setZero();
    first += set.size;
  }
}

/// W y = 0 to round-off of its terms.
bool moves_nothing(const PrimalProblem& problem, const Vector& y) {
  constexpr double kRoundOff = 1e-13;
  Vector moved = Vector::Zero(problem.A->size()), terms = moved;
  for (Index k = 0; k < problem.Wt.rows(); ++k)
    for (SparseMatrix::InnerIterator entry(problem.Wt, k); entry; ++entry) {
      moved[entry.col()] += entry.value() * y[k];
      terms[entry.col()] += std::abs(entry.value() * y[k]);
    }
  return (moved.cwiseAbs().array() <= kRoundOff * terms.array()).all();
}

/// Reactions can push for ever only if they move nothing: y·u = y·(Wᵀ v - w) and y·D y = |A^(-1/2) W y|². In D alone
/// that cannot be told from masses and levers so far apart that the smaller part of its entries is rounded away.
void doubt_certificate(const PrimalProblem& problem, InclusionSolution& solution) {
  if (solution.status != Status::no_solution || moves_nothing(problem, solution.certificate)) return;
  solution.status = Status::not_converged;
  solution.certificate.resize(0);
  solution.message =
      "reactions were not found, and whether there are any cannot be told: masses, moments of inertia or lengths are "
      "too far "
      "apart for 16 digits; bring them closer";
}

void solve_through_dual(const PrimalProblem& problem, const SolveOptions& options, PrimalWorkspace& w,
                        InclusionSolution& solution) {
  if (options.solver == SolverKind::automatic && w.stacked.applies(problem)) {
    w.fixed = solution.r;
    w.stacked.solve(problem, active_set_options(options), solution);
    if (solution.status == Status::success || solution.status == Status::interrupted) return;
    solution.r = w.fixed;
  }
  if (w.dual_version != problem.A_version) {
    w.dual = to_dual(problem);
    w.dual_version = problem.A_version;
  }
  refresh_factor(problem, w);
  w.work = problem.g;
  w.factor.solve(w.work);
  relative_velocity(problem, w.work, w.dual.b);
  w.dual.sets = problem.sets;
  const bool exact = options.solver == SolverKind::automatic && all_boxes(problem.sets);
  if (exact) solve_active_set(w.dual, active_set_options(options), w.dual_active_set, solution);
  if (!exact || (solution.status != Status::success && solution.status != Status::interrupted)) {
    const bool warm = solution.r.size() == w.dual.b.size() && solution.r.allFinite();
    solution = solve(w.dual, options, warm ? solution.r : Vector());
    if (solution.status == Status::success) stop_stuck_laws(w.dual.sets, natural_weights(w.dual), solution);
  }
  doubt_certificate(problem, solution);
  recover_velocity(problem, w, solution);
}

void solve_condensed(const PrimalProblem& problem, const SolveOptions& options, PrimalWorkspace& w,
                     InclusionSolution& solution) {
  w.condensation.refresh(problem, options.threads);
  // Factors over bodies pay only in problems so large that the blocks they need cost nothing beside them.
  constexpr std::size_t kMany = 64;  // laws
  const BodyBlocks* bodies = problem.sets.size() > kMany ? w.condensation.bodies(problem) : nullptr;
  solve_contacts(w.condensation.D(), w.condensation.b(), problem.sets, contact_options(options), w.contacts, solution,
                 bodies);
  if (solution.status == Status::success) stop_stuck_laws(problem.sets, w.condensation.weights(), solution);
  doubt_certificate(problem, solution);
  w.condensation.velocity(problem, solution.r, solution.v);
}

void solve_projected(const PrimalProblem& problem, const SolveOptions& options, PrimalWorkspace& w,
                     InclusionSolution& solution) {
  refresh_factor(problem, w);
  const ReactionMap map = [&](const Vector& r, Vector& u) {
    w.work = problem.g;
    add_reactions(problem, r, w.work);
    w.factor.solve(w.work);
    relative_velocity(problem, w.work, u);
  };
  const bool new_matrix = w.bound_version != problem.A_version;
  if (new_matrix) {
    w.weights = natural_weights(problem);
    w.symmetric = problem.A->asymmetry() <= kSymmetric;
    w.bound_version = problem.A_version;
  }
  if (solution.r.size() != problem.w.size()) solution.r = Vector::Zero(problem.w.size());
  solution.u.resize(problem.w.size());
  if (!w.symmetric) {
    solution.status = Status::refused;
    solution.message = "projected_iteration: Theorem 4.1 needs a symmetric step matrix; use the default solver";
    solution.solver = "projected_iteration";
    recover_velocity(problem, w, solution);
    return relative_velocity(problem, solution.v, solution.u);
  }
  iteration_scaling(problem.sets, w.weights, w.new_scaling);
  if (new_matrix || w.new_scaling != w.scaling) {
    w.scaling = w.new_scaling;
    w.bound = iteration_bound(map, w.scaling);
  }
  solve_projected_iteration(map, problem.sets, w.scaling, w.bound, projected_iteration_options(options), solution);
  if (solution.status == Status::success) stop_stuck_laws(problem.sets, w.weights, solution);
  recover_velocity(problem, w, solution);
}
}  // namespace

void solve(const PrimalProblem& problem, const SolveOptions& options, PrimalWorkspace& w, InclusionSolution& solution) {
  const Index n = problem.A->size(), laws = static_cast<Index>(problem.sets.size());
  if (problem.sets.empty()) {
    if (static_cast<Index>(w.none_pinned.size()) != n) w.factor_version = kNoVersion;
    solution.solver = "none";
    solution.message.clear();
    solution.iterations = 0;
    solution.r.resize(0);
    solution.u.resize(0);
    recover_velocity(problem, w, solution);
    solution.status = solution.v.allFinite() ? Status::success : Status::not_finite;
    if (solution.status == Status::not_finite) solution.message = "a number of the problem is not finite";
    return;
  }
  if (serves_contacts(options.solver) &&
      std::any_of(problem.sets.begin(), problem.sets.end(), [](const Set& set) { return is_cone(set.kind); })) {
    if (options.solver == SolverKind::automatic && SingleLaw::applies(problem) && w.single_law.solve(problem, solution))
      return;
    return solve_condensed(problem, options, w, solution);
  }
  if (w.path < 0 || w.path_solver != options.solver || w.path_coordinates != n || w.path_laws != laws) {
    w = PrimalWorkspace();
    w.path = choose_path(problem, options);
    w.on_coordinates = acts_on_distinct_coordinates(problem);
    w.path_solver = options.solver;
    w.path_coordinates = n;
    w.path_laws = laws;
  }
  switch (w.path) {
    case kCoordinateBoxes:
      return solve_active_set(problem, active_set_options(options), w.active_set, solution);
    case kAugmented:
      solve_active_set(problem, active_set_options(options), w.active_set, solution);
      if (solution.status == Status::refused || solution.status == Status::not_converged)
        solve_through_dual(problem, options, w, solution);
      return;
    case kCoordinateBlocks:
      solve_gauss_seidel(problem, gauss_seidel_options(options), w.gauss_seidel, solution);
      if (solution.status == Status::success) return pin_stuck_blocks(problem, w, solution);
      if (options.solver == SolverKind::automatic && problem.g.allFinite())
        solve_through_dual(problem, options, w, solution);
      return;
    case kProjected:
      solve_projected(problem, options, w, solution);
      break;
    case kCondensed:
      solve_condensed(problem, options, w, solution);
      break;
    default:
      solve_through_dual(problem, options, w, solution);
  }
  // These work on r: where each law has a coordinate to itself, what sticks can be pinned exactly afterwards.
  if (solution.status == Status::success && w.on_coordinates) pin_stuck_blocks(problem, w, solution);
}

InclusionSolution solve(const PrimalProblem& problem, const SolveOptions& options) {
  return solve_once<PrimalWorkspace>(
      problem, options,
      [](const auto& p, const auto& o, auto& workspace, auto& solution) { solve(p, o, workspace, solution); });
}

}  // namespace stickslip
