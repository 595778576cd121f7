// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/contact_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/certificate.hpp"
#include "stickslip/solvers/contact_strategy.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

void ContactOptions::validate() const {
  if (!(tolerance > 0)) throw InputError(fmt::format("contact solver: tolerance = {} must be > 0", tolerance));
  if (max_iterations < 0)
    throw InputError(fmt::format("contact solver: max_iterations = {} must be >= 0", max_iterations));
  if (!(max_seconds >= 0)) throw InputError(fmt::format("contact solver: max_seconds = {} must be >= 0", max_seconds));
}

struct ContactWorkspace::Parts {
  std::unique_ptr<ContactStrategy<2>> two;
  std::unique_ptr<ContactStrategy<3>> three;
};

ContactWorkspace::ContactWorkspace() : parts_(std::make_unique<Parts>()) {}
ContactWorkspace::~ContactWorkspace() = default;
ContactWorkspace::ContactWorkspace(ContactWorkspace&&) noexcept = default;
ContactWorkspace& ContactWorkspace::operator=(ContactWorkspace&&) noexcept = default;

namespace {

// Iterations spent on strict_error, over those that the solution took.
constexpr int kFurther = 3, kFurtherAtLeast = 200;

/// Success is decided by a measure that no change of units can deceive. strict_error, with its ρ = 1, is such a matter
/// of units that no effort may bring it below the tolerance; it gets a share of the effort that the solution took.
template <int N>
void run_to_goal(ContactStrategy<N>& strategy, const ContactOptions& options, ContactGoal goal,
                 InclusionSolution& solution) {
  const bool strict = goal.measure == StoppingMeasure::strict_error;
  if (strict) goal.measure = StoppingMeasure::unit_free;
  strategy.iterations = 0;
  strategy.run(options, goal, solution);
  auto measured = [&](StoppingMeasure measure) {
    strategy.system.project_all(strategy.r.data());
    strategy.system.velocity({}, strategy.r.data(), strategy.u.data());
    return strategy.system.error(measure, strategy.r.data(), strategy.u.data());
  };
  strategy.error = measured(goal.measure);
  if (!strict || !(strategy.error <= goal.tolerance) || measured(StoppingMeasure::strict_error) <= goal.tolerance)
    return;
  const double reached = strategy.error;
  ContactOptions further = options;
  further.max_iterations = kFurther * strategy.iterations + kFurtherAtLeast;
  if (options.max_iterations > 0) further.max_iterations = std::min(further.max_iterations, options.max_iterations);
  goal.measure = StoppingMeasure::strict_error;
  const std::vector<double> certain = strategy.r;
  strategy.given_D = nullptr;
  strategy.run(further, goal, solution);
  strategy.error = measured(StoppingMeasure::unit_free);
  if (strategy.error <= goal.tolerance) return;
  strategy.r = certain;
  strategy.error = reached;
  measured(StoppingMeasure::unit_free);
}

/// Status and message of what was reached.
template <int N>
void conclude(const ContactStrategy<N>& strategy, const ContactGoal& goal, InclusionSolution& solution) {
  solution.iterations = strategy.iterations;
  if (solution.status == Status::no_solution) {
    solution.message = no_solution_message();
    return;
  }
  solution.status = strategy.error <= goal.tolerance ? Status::success : Status::not_converged;
  if (solution.status == Status::success) {
    solution.message.clear();
  } else if (goal.deadline.stopped()) {
    solution.status = Status::interrupted;
    solution.message = fmt::format("{}: stopped on request at error {:.3g}", solution.solver, strategy.error);
  } else {
    solution.message =
        fmt::format("{}: error {:.3g} after {} iterations{}; raise {} or check the data for contradictory contacts",
                    solution.solver, strategy.error, solution.iterations, goal.expired() ? " and max_seconds" : "",
                    goal.expired() ? "max_seconds" : "max_iterations");
  }
  if (solution.r.allFinite() && solution.u.allFinite()) return;
  solution.status = Status::not_finite;
  solution.message =
      fmt::format("{}: reactions of this size cannot be written as numbers; choose other units", solution.solver);
}

template <int N>
void solve_with(std::unique_ptr<ContactStrategy<N>>& strategy, const BlockSparseMatrix& D, const Vector& b,
                const std::vector<Set>& sets, const ContactOptions& options, const BodyBlocks* bodies,
                InclusionSolution& solution) {
  const ContactGoal goal{options.measure, options.tolerance, Deadline(options.max_seconds, options.stop)};
  if (!strategy) strategy = std::make_unique<ContactStrategy<N>>();
  strategy->system.load(D, b, sets, natural_scale(D, b));
  strategy->system.share(options.threads);
  strategy->r.resize(strategy->system.size());
  strategy->system.pad(solution.r, strategy->r.data());
  for (double& r : strategy->r)
    if (!std::isfinite(r)) r = 0;
  strategy->given_D = options.method == ContactMethod::strategy ? &D : nullptr;
  strategy->given_b = &b;
  strategy->given_sets = &sets;
  strategy->bodies = bodies;
  run_to_goal(*strategy, options, goal, solution);
  strategy->system.unpad_reactions(strategy->r.data(), solution.r);
  strategy->system.unpad_velocities(strategy->u.data(), solution.u);
  conclude(*strategy, goal, solution);
}

/// Nothing has to push: r = 0 is a solution, and of several the one that is taken.
bool is_free(const Vector& b, const std::vector<Set>& sets) {
  Index first = 0;
  for (const Set& set : sets) {
    const bool pushes = set.kind == SetKind::half_line || is_cone(set.kind);
    if (pushes ? !(b[first] >= 0) : !b.segment(first, set.size).isZero(0)) return false;
    first += set.size;
  }
  return true;
}

/// What can be told without any iteration.
bool solve_at_once(const BlockSparseMatrix& D, const Vector& b, const std::vector<Set>& sets,
                   InclusionSolution& solution) {
  const bool finite = b.allFinite() && std::all_of(D.all_values().begin(), D.all_values().end(),
                                                   [](double value) { return std::isfinite(value); });
  if (finite && !is_free(b, sets) && !find_immovable_law(D, b, sets, solution.certificate)) return false;
  solution.r.setZero(b.size());
  solution.u = b;
  solution.iterations = 0;
  solution.solver = "none";
  solution.message.clear();
  solution.status = Status::success;
  if (!finite) {
    solution.status = Status::not_finite;
    solution.message = "contact solver: a number of the problem is not finite";
  } else if (!is_free(b, sets)) {
    solution.status = Status::no_solution;
    solution.message = no_solution_message();
  }
  return true;
}

}  // namespace

void solve_contacts(const BlockSparseMatrix& D, const Vector& b, const std::vector<Set>& sets,
                    const ContactOptions& options, ContactWorkspace& workspace, InclusionSolution& solution,
                    const BodyBlocks* bodies) {
  if (solution.r.size() != b.size() || !solution.r.allFinite()) solution.r.setZero(b.size());
  solution.u.resize(b.size());
  solution.history.clear();
  solution.certificate.resize(0);
  solution.status = Status::not_converged;
  if (solve_at_once(D, b, sets, solution)) return;
  int largest = 1;
  for (const Set& set : sets) largest = std::max(largest, set.size);
  auto& parts = workspace.parts();
  if (largest <= 2) return solve_with(parts.two, D, b, sets, options, bodies, solution);
  solve_with(parts.three, D, b, sets, options, bodies, solution);
}

InclusionSolution solve_contacts(const DualProblem& problem, const ContactOptions& options, const Vector& start) {
  validate(problem);
  options.validate();
  InclusionSolution solution;
  solution.r = start_reactions(problem, start);
  ContactWorkspace workspace;
  BlockSparseMatrix blocks;
  const auto* sparse = std::get_if<BlockSparseMatrix>(&problem.D);
  if (!sparse) blocks = BlockSparseMatrix::from_dense(block_sizes(problem.sets), std::get<DenseMatrix>(problem.D));
  solve_contacts(sparse ? *sparse : blocks, problem.b, problem.sets, options, workspace, solution);
  solution.residuals = residuals(problem, solution.r);
  return solution;
}

}  // namespace stickslip
