// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/contact_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/accelerated_sweeps.hpp"
#include "stickslip/solvers/certificate.hpp"
#include "stickslip/solvers/contact_newton.hpp"
#include "stickslip/solvers/contact_patches.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

void ContactOptions::validate() const {
  if (!(tolerance > 0)) throw InputError(fmt::format("contact solver: tolerance = {} must be > 0", tolerance));
  if (max_iterations < 0)
    throw InputError(fmt::format("contact solver: max_iterations = {} must be >= 0", max_iterations));
  if (!(max_seconds >= 0)) throw InputError(fmt::format("contact solver: max_seconds = {} must be >= 0", max_seconds));
}

namespace {

constexpr int kSmall = 12;      // laws: up to here factorisations cost little more than sweeps
constexpr double kShare = 0.3;  // of the error asked for: what a patch is solved to
// Contacts in space: from kLarge on a factorisation of the whole costs more than it brings until all else has failed,
// from kHuge on it costs more than the limits allow and is not tried.
constexpr int kLarge = 800, kHuge = 4000;

/// One attempt after the sweeps: conjugate sweeps, backward sweeps, a smoothed path, a proximal Newton method, each
/// optional but the last.
struct Attempt {
  int conjugate_sweeps;
  int backward_sweeps;
  SmoothingOptions smoothing;  // max_iterations = 0: none
  ProximalNewtonOptions newton;
};
constexpr auto kNatural = ResidualFunction::natural_map;
constexpr auto kAlartCurnier = ResidualFunction::alart_curnier;
constexpr SmoothingOptions kNoSmoothing{0, 0, 0, 0, 0};
// Different in what they do, because a problem that defeats one tends to defeat its neighbours.
constexpr Attempt kAttempts[] = {
    {0, 0, kNoSmoothing, {kNatural, 1e-2, 1e-12, 10, 150}},
    {2000, 0, {0.1, 0.5, 0.1, 1e-3, 200}, {kNatural, 1e-6, 1e-12, 10, 60}},
    {0, 0, {10, 0, 1, 1e-3, 1500, true}, {kNatural, 1e-2, 1e-12, 10, 60}},
    {0, 40, kNoSmoothing, {kAlartCurnier, 1e-1, 1e-12, 10, 200}},
    {0, 0, {10, 0, 1, 1e-4, 1500, true}, {kNatural, 1e-2, 1e-12, 10, 60}},
    {0, 0, {0.01, 0.3, 1, 1, 300}, {kAlartCurnier, 1e-6, 1e-12, 10, 250}},
    {0, 0, {1, 0.5, 1, 1e-6, 300}, {kNatural, 1e-6, 1e-12, 10, 100}},
    {0, 40, {0.1, 0.7, 0.03, 1e-3, 300}, {kNatural, 1e-2, 1e-12, 1, 200}},
};

/// The parts for laws of at most N components.
template <int N>
struct Engine {
  ContactSystem<N> system;
  AcceleratedSweeps<N> sweeps;
  ContactNewton<N> newton;
  ContactPatches<N> patches;
  std::unique_ptr<Engine> patch;  // solves them
  InclusionSolution unused;       // their method; kept for its memory
  std::vector<double> r, start, slip, u;

  double error = 0;
  int iterations = 0;
  bool is_patch = false;
  /// The problem as it was given, for a certificate; null: none is looked for.
  const BlockSparseMatrix* given_D = nullptr;
  const Vector* given_b = nullptr;
  const std::vector<Set>* given_sets = nullptr;

  /// From r; iterations counts on.
  void run(const ContactOptions& options, const ContactGoal& goal, InclusionSolution& solution) {
    slip.assign(system.laws(), 0.0);
    u.resize(system.size());
    switch (options.method) {
      case ContactMethod::gauss_seidel:
      case ContactMethod::accelerated_gauss_seidel: {
        const bool accelerate = options.method == ContactMethod::accelerated_gauss_seidel;
        solution.solver = accelerate ? "accelerated_gauss_seidel" : "gauss_seidel";
        const Acceleration acceleration = accelerate ? Acceleration::anderson : Acceleration::none;
        error = sweeps.solve(system, goal, {limit(options, 100000), 0, acceleration, false}, r.data(), slip.data(),
                             iterations);
        return;
      }
      case ContactMethod::proximal_newton: {
        solution.solver = "proximal_newton";
        ProximalNewtonOptions newton_options;
        newton_options.max_iterations = limit(options, 1000);
        error = newton.solve(system, goal, newton_options, r.data(), slip.data(), iterations);
        return;
      }
      case ContactMethod::smoothing_newton: {
        solution.solver = "smoothing_newton";
        SmoothingOptions smoothing;
        smoothing.max_iterations = limit(options, 1000);
        error = newton.follow_smoothed(system, goal, smoothing, r.data(), iterations);
        return;
      }
      case ContactMethod::strategy:
        return run_strategy(options, goal, solution);
    }
  }

 private:
  static int limit(const ContactOptions& options, int own) {
    return options.max_iterations > 0 ? options.max_iterations : own;
  }

  void run_strategy(const ContactOptions& options, const ContactGoal& goal, InclusionSolution& solution) {
    // A limit on time is enough of a limit.
    const int most = limit(options, options.max_seconds > 0 ? 1000000 : 10000);
    const bool small = system.laws() <= kSmall;
    // Where the round-off of D r hides whether the goal is reached, nothing more can be done.
    auto done = [&] {
      return error <= goal.tolerance || goal.expired() || iterations >= most ||
             (goal.measure != StoppingMeasure::inclusion && error <= 1.01 * system.round_off(r.data()));
    };
    solution.solver = "accelerated_gauss_seidel";
    error = sweeps.solve(system, goal,
                         {std::min(most, 400), small ? 30 : 200, Acceleration::anderson, false, small ? 8 : 20},
                         r.data(), slip.data(), iterations);
    if (N == 3 && system.laws() >= kLarge && !is_patch && !done()) run_large(options, goal, most, solution);
    // Later rounds start from the best point so far with other first values.
    for (double variation = 1; !done(); variation *= 0.3) {
      for (const Attempt& attempt : kAttempts) {
        if (done() || (&attempt != kAttempts && error <= options.acceptable)) return;
        solution.solver = "accelerated_gauss_seidel+proximal_newton";
        if (attempt.conjugate_sweeps > 0 && !small) {
          start = r;
          keep(sweeps.solve(system, goal,
                            {std::min(attempt.conjugate_sweeps, most - iterations), 0, Acceleration::conjugate, false},
                            start.data(), slip.data(), iterations));
          if (done()) return;
        }
        start = r;
        if (attempt.backward_sweeps > 0)
          sweeps.solve(system, goal, {attempt.backward_sweeps, 0, Acceleration::anderson, true}, start.data(),
                       slip.data(), iterations);
        if (attempt.smoothing.max_iterations > 0) {
          solution.solver = "accelerated_gauss_seidel+proximal_newton+smoothing_newton";
          SmoothingOptions smoothing = attempt.smoothing;
          smoothing.start *= variation;
          smoothing.max_iterations = std::min(smoothing.max_iterations, most - iterations);
          keep(newton.follow_smoothed(system, goal, smoothing, start.data(), iterations));
          if (done()) return;
        }
        ProximalNewtonOptions proximal = attempt.newton;
        proximal.alpha *= variation;
        proximal.max_iterations = std::min(proximal.max_iterations, most - iterations);
        keep(newton.solve(system, goal, proximal, start.data(), slip.data(), iterations));
      }
      if (variation == 1 && is_insoluble(solution)) return;
      start = r;
      keep(sweeps.solve(system, goal, {std::min(1000, most - iterations), 0, Acceleration::anderson, false},
                        start.data(), slip.data(), iterations));
      if (variation < 1e-5) variation = 0.99;
    }
  }

  /// Without a solution the velocities stay wrong by a part of b; a small residual is a matter of patience.
  bool is_insoluble(InclusionSolution& solution) {
    constexpr double kHopeless = 1e-3;
    if (!given_D) return false;
    system.velocity({}, r.data(), u.data());
    if (system.residual(r.data(), u.data()) < kHopeless) return false;
    if (!find_certificate({*given_D, *given_b, *given_sets}, solution.certificate)) return false;
    solution.status = Status::no_solution;
    return true;
  }

  /// Many laws: sweeps that go on where Anderson's stand still, and patches where only a few laws do not settle.
  void run_large(const ContactOptions& options, const ContactGoal& goal, int most, InclusionSolution& solution) {
    constexpr int kStalls = 5, kPatch = 250;
    constexpr double kLocal = 0.05;  // of the laws: more than that is no matter of a few places
    const bool huge = system.laws() >= kHuge;
    solution.solver = "conjugate_gauss_seidel+patches";
    for (int stalls = 0, rounds = 0; huge || stalls < kStalls; ++rounds) {
      const double before = error;
      system.velocity({}, r.data(), u.data());
      start = r;
      const int reach = 1 + stalls % kStalls;
      const int count = patches.find(system, goal, r.data(), u.data(), kShare, reach, kPatch * reach);
      const bool local = count > 0 && (patches.spread() < kLocal || stalls >= kStalls);
      for (int k = 0; local && k < count && !goal.expired(); ++k) solve_patch(k, options, goal, reach);
      const int sweep_count = std::min(!local ? 1000 : stalls > 0 ? 300 : 50, most - iterations);
      const bool backward = stalls >= kStalls && rounds % 2 == 1;
      keep(sweeps.solve(system, goal, {sweep_count, 0, Acceleration::conjugate, backward}, start.data(), slip.data(),
                        iterations));
      if (error <= goal.tolerance || goal.expired() || iterations >= most) return;
      stalls = error > (local ? 0.5 : 0.9) * before ? stalls + 1 : 0;
    }
  }

  void solve_patch(int k, const ContactOptions& options, const ContactGoal& goal, int patience) {
    if (!patch) patch = std::make_unique<Engine>();
    patches.extract(k, system, start.data());
    const ContactGoal part = patches.goal(system, goal, start.data(), u.data(), kShare);
    patch->is_patch = true;
    patch->iterations = 0;
    patch->system.load(patches.D(), patches.b(), patches.sets());
    patch->r.resize(patch->system.size());
    patches.gather(start.data(), patch->r.data());
    ContactOptions limited = options;
    limited.acceptable = 0;
    // The cost of an iteration is that of the patch: small ones may have more.
    limited.max_iterations = patience * std::clamp(60000 / patch->system.laws(), 100, 2000);
    patch->run(limited, part, unused);
    // In units of what an iteration over everything costs.
    iterations += 1 + static_cast<int>(static_cast<double>(patch->iterations) * patch->system.laws() / system.laws());
    patches.scatter(patch->r.data(), start.data());
  }

  void keep(double found) {
    if (!(found < error)) return;
    error = found;
    r = start;
  }
};

}  // namespace

struct ContactWorkspace::Parts {
  std::unique_ptr<Engine<2>> two;
  std::unique_ptr<Engine<3>> three;
};

ContactWorkspace::ContactWorkspace() : parts_(std::make_unique<Parts>()) {}
ContactWorkspace::~ContactWorkspace() = default;
ContactWorkspace::ContactWorkspace(ContactWorkspace&&) noexcept = default;
ContactWorkspace& ContactWorkspace::operator=(ContactWorkspace&&) noexcept = default;

namespace {

/// Success is decided by a measure that no change of units can deceive. strict_error, with its ρ = 1, is such a matter
/// of units that no effort may bring it below the tolerance; it gets a share of the effort that the solution took.
template <int N>
void run_to_goal(Engine<N>& engine, const ContactOptions& options, ContactGoal goal, InclusionSolution& solution) {
  const bool strict = goal.measure == StoppingMeasure::strict_error;
  if (strict) goal.measure = StoppingMeasure::unit_free;
  engine.iterations = 0;
  engine.run(options, goal, solution);
  auto measured = [&](StoppingMeasure measure) {
    engine.system.project_all(engine.r.data());
    engine.system.velocity({}, engine.r.data(), engine.u.data());
    return engine.system.error(measure, engine.r.data(), engine.u.data());
  };
  engine.error = measured(goal.measure);
  if (!strict || !(engine.error <= goal.tolerance) || measured(StoppingMeasure::strict_error) <= goal.tolerance) return;
  engine.start = engine.r;
  const double reached = engine.error;
  ContactOptions further = options;
  further.max_iterations = 3 * engine.iterations + 200;
  if (options.max_iterations > 0) further.max_iterations = std::min(further.max_iterations, options.max_iterations);
  goal.measure = StoppingMeasure::strict_error;
  const std::vector<double> certain = engine.r;
  engine.given_D = nullptr;
  engine.run(further, goal, solution);
  engine.error = measured(StoppingMeasure::unit_free);
  if (engine.error <= goal.tolerance) return;
  engine.r = certain;
  engine.error = reached;
  measured(StoppingMeasure::unit_free);
}

/// Status and message of what the engine reached.
template <int N>
void conclude(const Engine<N>& engine, const ContactGoal& goal, InclusionSolution& solution) {
  solution.iterations = engine.iterations;
  if (solution.status == Status::no_solution) {
    solution.message = no_solution_message();
    return;
  }
  solution.status = engine.error <= goal.tolerance ? Status::success : Status::not_converged;
  if (solution.status == Status::success) {
    solution.message.clear();
  } else if (goal.deadline.stopped()) {
    solution.status = Status::interrupted;
    solution.message = fmt::format("{}: stopped on request at error {:.3g}", solution.solver, engine.error);
  } else {
    solution.message =
        fmt::format("{}: error {:.3g} after {} iterations{}; raise {} or check the data for contradictory contacts",
                    solution.solver, engine.error, solution.iterations, goal.expired() ? " and max_seconds" : "",
                    goal.expired() ? "max_seconds" : "max_iterations");
  }
  if (solution.r.allFinite() && solution.u.allFinite()) return;
  solution.status = Status::not_finite;
  solution.message =
      fmt::format("{}: reactions of this size cannot be written as numbers; choose other units", solution.solver);
}

template <int N>
void solve_with(std::unique_ptr<Engine<N>>& engine, const BlockSparseMatrix& D, const Vector& b,
                const std::vector<Set>& sets, const ContactOptions& options, InclusionSolution& solution) {
  const ContactGoal goal{options.measure, options.tolerance, Deadline(options.max_seconds, options.stop)};
  if (!engine) engine = std::make_unique<Engine<N>>();
  engine->system.load(D, b, sets, natural_scale(D, b));
  engine->r.resize(engine->system.size());
  engine->system.pad(solution.r, engine->r.data());
  for (double& r : engine->r)
    if (!std::isfinite(r)) r = 0;
  engine->given_D = options.method == ContactMethod::strategy ? &D : nullptr;
  engine->given_b = &b;
  engine->given_sets = &sets;
  run_to_goal(*engine, options, goal, solution);
  engine->system.unpad_reactions(engine->r.data(), solution.r);
  engine->system.unpad_velocities(engine->u.data(), solution.u);
  conclude(*engine, goal, solution);
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
                    const ContactOptions& options, ContactWorkspace& workspace, InclusionSolution& solution) {
  if (solution.r.size() != b.size() || !solution.r.allFinite()) solution.r.setZero(b.size());
  solution.u.resize(b.size());
  solution.history.clear();
  solution.certificate.resize(0);
  solution.status = Status::not_converged;
  if (solve_at_once(D, b, sets, solution)) return;
  int largest = 1;
  for (const Set& set : sets) largest = std::max(largest, set.size);
  auto& parts = workspace.parts();
  if (largest <= 2) return solve_with(parts.two, D, b, sets, options, solution);
  solve_with(parts.three, D, b, sets, options, solution);
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
