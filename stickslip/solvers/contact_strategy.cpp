// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/contact_strategy.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <string_view>

#include "stickslip/solvers/certificate.hpp"

namespace stickslip {

struct ContactAttempt {
  int conjugate_sweeps = 0;
  int backward_sweeps = 0;
  std::optional<InteriorOptions> interior = std::nullopt;
  std::optional<SmoothingOptions> smoothing = std::nullopt;
  ProximalNewtonOptions newton = {};
};

namespace {

// Limits of the methods by themselves, in sweeps and factorisations.
constexpr int kMostSweeps = 100'000, kMostFactorisations = 1000, kMostOfStrategy = 10'000;
constexpr int kMostWithinTime = 1'000'000;  // of the strategy, where a limit on time is enough of a limit

constexpr int kSmall = 12;  // laws: up to here factorisations cost little more than sweeps
// Contacts in space: from kLarge on a factorisation of the whole costs more than it brings until all else has failed,
// from kHuge on it costs more than the limits allow and is not tried.
constexpr int kLarge = 800, kHuge = 4000;

// The first sweeps are left for a Newton method when this many more are predicted from those of the window: about as
// many as cost what its factorisations do.
constexpr int kFirstSweeps = 400;
constexpr int kPredicted = 200, kWindow = 20;
constexpr int kPredictedOfSmall = 30, kWindowOfSmall = 8;
constexpr int kMedium = 300, kPredictedOfMedium = 60, kWindowOfMedium = 10;
constexpr int kSweepsBetweenRounds = 1000;

// First values (α, ε) of a round over those of the table: they fall by this factor from round to round and start anew,
// a little lower than the first time, once they are so small that no method feels them.
constexpr double kVariation = 0.3, kSmallestVariation = 1e-5, kNewVariation = 0.99;

constexpr double kAtRoundOff = 1.01;  // of the round-off of D r over |b|: an error that says nothing
constexpr double kHopeless = 1e-3;    // unit_free: without a solution u stays wrong by a part of b

// Many laws: rounds without progress before the reach is at its largest, and
// the part of all laws above which the trouble is no matter of a few places.
constexpr int kStalls = 5;
constexpr double kLocal = 0.05;
// A round that leaves more of the error than this has stalled: patches solve their part and should halve it.
constexpr double kProgressOfPatches = 0.5, kProgressOfSweeps = 0.9;
constexpr int kSweepsAfterStall = 300;
// Sweeps alone go on in bursts while each leaves at most this part of the error.
constexpr int kBurst = 250;
constexpr double kUsefulBurst = 0.8;
constexpr double kProgressBeforePath = 0.5;  // of the error, by conjugate sweeps
// Iterations in a patch: its cost is that of its laws, so that small ones may have more.
constexpr int kPatchWork = 60'000, kFewestInPatch = 100, kMostInPatch = 2000;  // laws times iterations; iterations

// A problem that defeats one attempt tends to defeat its neighbours, so that each differs in kind from those before:
// where it starts, the residual function, ρ, how much |u_T| is smoothed, how the path is followed.
constexpr ContactAttempt kAttempts[] = {
    // The modes that the sweeps found are nearly right; it is seen soon whether they are.
    {.newton = {.function = ResidualFunction::alart_curnier, .alpha = 1e-2, .step_scale = 30, .max_iterations = 30}},
    // They are not: interior points from close by, with |u_T| sharp, which do not cycle between two sets of modes.
    {.interior = {{.slip = 0,
                   .max_iterations = 40,
                   .steps = InteriorSteps::long_steps,
                   .margin = 3e-4,
                   .conjugate_sweeps = false,
                   .sweeps = 5}},
     .newton = {.alpha = 1e-6, .max_iterations = 30}},
    // Hyperstatic heaps: sweeps that do not stand still, then a path; it ends near a solution, hence the small α.
    {.conjugate_sweeps = 2000,
     .smoothing = {{.start = 0.1, .shrink = 0.5, .step_scale = 0.1, .slip_smoothing = 1e-3, .max_iterations = 200}},
     .newton = {.alpha = 1e-6, .max_iterations = 60}},
    // A path that folds, from far away.
    {.smoothing =
         {{.start = 10, .step_scale = 1, .slip_smoothing = 1e-3, .max_iterations = 1500, .through_folds = true}},
     .newton = {.alpha = 1e-2, .max_iterations = 60}},
    // The other residual function, from sweeps in the other direction.
    {.backward_sweeps = 40,
     .newton = {.function = ResidualFunction::alart_curnier, .alpha = 1e-1, .max_iterations = 200}},
    // Another path through the folds: |u_T| nearly sharp.
    {.smoothing =
         {{.start = 10, .step_scale = 1, .slip_smoothing = 1e-4, .max_iterations = 1500, .through_folds = true}},
     .newton = {.alpha = 1e-2, .max_iterations = 60}},
    // A path from close by, with |u_T| smoothed as much as the cone.
    {.smoothing = {{.start = 0.01, .shrink = 0.3, .step_scale = 1, .slip_smoothing = 1, .max_iterations = 300}},
     .newton = {.function = ResidualFunction::alart_curnier, .alpha = 1e-6, .max_iterations = 250}},
    // A path from far away, with |u_T| sharp.
    {.smoothing = {{.start = 1, .shrink = 0.5, .step_scale = 1, .slip_smoothing = 1e-6, .max_iterations = 300}},
     .newton = {.alpha = 1e-6, .max_iterations = 100}},
    // Small ρ and short steps throughout.
    {.backward_sweeps = 40,
     .smoothing = {{.start = 0.1, .shrink = 0.7, .step_scale = 0.03, .slip_smoothing = 1e-3, .max_iterations = 300}},
     .newton = {.alpha = 1e-2, .step_scale = 1, .max_iterations = 200}},
};

int limit(const ContactOptions& options, int own) { return options.max_iterations > 0 ? options.max_iterations : own; }

}  // namespace

void note_part(std::string_view part, double error, InclusionSolution& solution) {
  if (solution.solver.find(part) == std::string::npos) (solution.solver += '+') += part;
  solution.history.push_back(error);
}

template <int N>
void ContactStrategy<N>::run(const ContactOptions& options, const ContactGoal& goal, InclusionSolution& solution) {
  slip_.assign(system.laws(), 0.0);
  u.resize(system.size());
  switch (options.method) {
    case ContactMethod::gauss_seidel:
    case ContactMethod::accelerated_gauss_seidel: {
      const bool accelerate = options.method == ContactMethod::accelerated_gauss_seidel;
      solution.solver = accelerate ? "accelerated_gauss_seidel" : "gauss_seidel";
      const SweepLimits limits{.sweeps = limit(options, kMostSweeps),
                               .acceleration = accelerate ? Acceleration::anderson : Acceleration::none};
      error = sweeps_.solve(system, goal, limits, r.data(), slip_.data(), iterations);
      return;
    }
    case ContactMethod::proximal_newton:
      solution.solver = "proximal_newton";
      error = newton_.solve(system, goal, {.max_iterations = limit(options, kMostFactorisations)}, r.data(),
                            slip_.data(), iterations);
      return;
    case ContactMethod::smoothing_newton:
      solution.solver = "smoothing_newton";
      error = newton_.follow_smoothed(system, goal, {.max_iterations = limit(options, kMostFactorisations)}, r.data(),
                                      iterations);
      return;
    case ContactMethod::strategy:
      return run_strategy(options, goal, solution);
  }
}

template <int N>
void ContactStrategy<N>::run_strategy(const ContactOptions& options, const ContactGoal& goal,
                                      InclusionSolution& solution) {
  most_ = limit(options, options.max_seconds > 0 ? kMostWithinTime : kMostOfStrategy);
  const bool small = system.laws() <= kSmall;
  solution.solver = "accelerated_gauss_seidel";
  const bool medium = system.laws() <= kMedium;
  const SweepLimits first{.sweeps = std::min(most_, kFirstSweeps),
                          .predicted = small    ? kPredictedOfSmall
                                       : medium ? kPredictedOfMedium
                                                : kPredicted,
                          .window = small    ? kWindowOfSmall
                                    : medium ? kWindowOfMedium
                                             : kWindow};
  error = sweeps_.solve(system, goal, first, r.data(), slip_.data(), iterations);
  solution.history.push_back(error);
  const bool large = N == 3 && system.laws() >= kLarge && !is_patch_;
  if (large && !done(goal)) run_large(options, goal, solution);
  for (double variation = 1; !done(goal); variation *= kVariation) {
    for (const ContactAttempt& attempt : kAttempts) {
      if (done(goal) || (&attempt != kAttempts && error <= options.acceptable)) return;
      if (!try_attempt(attempt, variation, goal, solution)) return;
    }
    if (variation == 1 && is_insoluble(solution)) return;
    start_ = r;
    sweep(goal, {.sweeps = kSweepsBetweenRounds});
    if (variation < kSmallestVariation) variation = kNewVariation;
  }
}

template <int N>
bool ContactStrategy<N>::try_attempt(const ContactAttempt& attempt, double variation, const ContactGoal& goal,
                                     InclusionSolution& solution) {
  start_ = r;
  if (attempt.conjugate_sweeps > 0 && system.laws() > kSmall) {
    sweep(goal, {.sweeps = attempt.conjugate_sweeps, .acceleration = Acceleration::conjugate});
    note_part("conjugate_gauss_seidel", error, solution);
    if (done(goal)) return false;
    start_ = r;
  }
  if (attempt.backward_sweeps > 0)
    sweeps_.solve(system, goal, {.sweeps = attempt.backward_sweeps, .backward = true}, start_.data(), slip_.data(),
                  iterations);
  if (attempt.interior && ContactInterior<N>::applies(system)) {
    InteriorOptions interior = *attempt.interior;
    interior.max_iterations = std::min(interior.max_iterations, most_ - iterations);
    keep(interior_.follow(system, bodies, goal, interior, start_.data(), slip_.data(), iterations));
    note_part("interior_point", error, solution);
    if (done(goal)) return false;
  }
  if (attempt.smoothing) {
    SmoothingOptions smoothing = *attempt.smoothing;
    smoothing.start *= variation;
    smoothing.max_iterations = std::min(smoothing.max_iterations, most_ - iterations);
    keep(newton_.follow_smoothed(system, goal, smoothing, start_.data(), iterations));
    note_part("smoothing_newton", error, solution);
    if (done(goal)) return false;
  }
  ProximalNewtonOptions proximal = attempt.newton;
  proximal.alpha *= variation;
  proximal.max_iterations = std::min(proximal.max_iterations, most_ - iterations);
  keep(newton_.solve(system, goal, proximal, start_.data(), slip_.data(), iterations));
  note_part("proximal_newton", error, solution);
  return true;
}

template <int N>
void ContactStrategy<N>::run_large(const ContactOptions& options, const ContactGoal& goal,
                                   InclusionSolution& solution) {
  const bool huge = system.laws() >= kHuge;
  bool path = (!huge || bodies) && ContactInterior<N>::applies(system);  // not yet tried
  for (int stalls = 0, rounds = 0; huge || stalls < kStalls; ++rounds) {
    const double before = error;
    system.velocity({}, r.data(), u.data());
    start_ = r;
    const int reach = 1 + stalls % kStalls;
    const int count = patches_.find(system, goal, r.data(), u.data(), kShare, reach, kPatch * reach);
    const bool local = count > 0 && (patches_.spread() < kLocal || stalls >= kStalls);
    if (local) solve_patches(count, options, goal, reach);
    if (local) note_part("patches", error, solution);
    const bool backward = stalls >= kStalls && rounds % 2 == 1;
    if (local) {
      sweep(goal, {.sweeps = stalls > 0 ? kSweepsAfterStall : kSweepsAfterPatches,
                   .acceleration = Acceleration::conjugate,
                   .backward = backward});
    } else {
      sweep_while_useful(goal, backward);
    }
    note_part("conjugate_gauss_seidel", error, solution);
    if (error <= goal.tolerance || goal.expired() || iterations >= most_) return;
    const double progress = local ? kProgressOfPatches : path ? kProgressBeforePath : kProgressOfSweeps;
    stalls = error > progress * before ? stalls + 1 : 0;
    // No places to speak of and sweeps that stand still: the trouble is everywhere, as in a heap that is new.
    if (path && (local ? stalls >= kStalls : stalls > 0) && error > options.acceptable) {
      run_interior(options, goal, solution);
      if (done(goal)) return;
      path = false;
      stalls = 0;
    }
  }
}

template <int N>
struct ContactStrategy<N>::PatchSolver {
  ContactPatch patch;
  ContactStrategy strategy;
  InclusionSolution solution;
};

template <int N>
ContactStrategy<N>::ContactStrategy() = default;
template <int N>
ContactStrategy<N>::~ContactStrategy() = default;

template <int N>
void ContactStrategy<N>::solve_patches(int count, const ContactOptions& options, const ContactGoal& goal,
                                       int patience) {
  whole_ = start_;
  patch_cost_.assign(count, 0);
  std::mutex mutex;
  run_parts(system.threads(), count, [&](int k) {
    if (goal.expired()) return;
    std::unique_ptr<PatchSolver> solver;
    {
      const std::lock_guard lock(mutex);
      if (!idle_.empty()) {
        solver = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!solver) solver = std::make_unique<PatchSolver>();
    solve_patch(k, options, goal, patience, *solver);
    const std::lock_guard lock(mutex);
    idle_.push_back(std::move(solver));
  });
  for (const int cost : patch_cost_) iterations += cost;
}

template <int N>
void ContactStrategy<N>::solve_patch(int k, const ContactOptions& options, const ContactGoal& goal, int patience,
                                     PatchSolver& solver) {
  auto& [patch, strategy, solution] = solver;
  patches_.extract(k, system, whole_.data(), patch);
  const ContactGoal part = patches_.goal(patch, system, goal, whole_.data(), u.data(), kShare);
  strategy.is_patch_ = true;
  strategy.iterations = 0;
  strategy.system.load(patch.D, patch.b, patch.sets);
  strategy.r.resize(strategy.system.size());
  patches_.gather(patch, whole_.data(), strategy.r.data());
  ContactOptions limited = options;
  limited.acceptable = 0;
  limited.max_iterations = patience * std::clamp(kPatchWork / strategy.system.laws(), kFewestInPatch, kMostInPatch);
  solution.history.clear();
  strategy.run(limited, part, solution);
  // In units of what an iteration over everything costs.
  patch_cost_[k] =
      1 + static_cast<int>(static_cast<double>(strategy.iterations) * strategy.system.laws() / system.laws());
  patches_.scatter(patch, strategy.r.data(), start_.data());
}

template <int N>
bool ContactStrategy<N>::is_insoluble(InclusionSolution& solution) {
  if (!given_D) return false;
  system.velocity({}, r.data(), u.data());
  if (system.residual(r.data(), u.data()) < kHopeless) return false;
  if (!find_certificate({*given_D, *given_b, *given_sets}, solution.certificate)) return false;
  solution.status = Status::no_solution;
  return true;
}

template <int N>
bool ContactStrategy<N>::done(const ContactGoal& goal) const {
  return error <= goal.tolerance || goal.expired() || iterations >= most_ ||
         (goal.measure != StoppingMeasure::inclusion && error <= kAtRoundOff * system.round_off(r.data()));
}

template <int N>
void ContactStrategy<N>::sweep(const ContactGoal& goal, const SweepLimits& limits) {
  SweepLimits left = limits;
  left.sweeps = std::min(limits.sweeps, most_ - iterations);
  keep(sweeps_.solve(system, goal, left, start_.data(), slip_.data(), iterations));
}

template <int N>
void ContactStrategy<N>::sweep_while_useful(const ContactGoal& goal, bool backward) {
  for (int sweeps = 0; sweeps < kSweepsAlone; sweeps += kBurst) {
    const double before = error;
    start_ = r;
    sweep(goal, {.sweeps = kBurst, .acceleration = Acceleration::conjugate, .backward = backward});
    if (done(goal) || error > kUsefulBurst * before) return;
  }
}

template <int N>
void ContactStrategy<N>::keep(double found) {
  if (!(found < error)) return;
  error = found;
  r = start_;
}

template class ContactStrategy<2>;
template class ContactStrategy<3>;

}  // namespace stickslip
