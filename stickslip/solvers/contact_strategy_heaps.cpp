// SPDX-License-Identifier: Apache-2.0
// Heaps: interior points in the strategy, and what finishes theirs.
#include <algorithm>

#include "stickslip/solvers/contact_strategy.hpp"

namespace stickslip {

namespace {

// The central path: δ over |b|∞ at its start for low and high friction, then the others, because a path may get lost.
// Found on heaps of spheres.
constexpr double kSlipOfLow = 0.3, kSlipOfHigh = 1, kOtherSlips[] = {0, 5};
// Before it long steps, which take a tenth of its factorisations where they arrive at all; the other value after it.
constexpr double kLongSlipOfLow = 0.3, kLongSlipOfHigh = 3;
// Where there are many more reactions than freedoms and friction is high, hardly anything slides: the convex problem
// comes first.
constexpr double kRedundant = 2, kHighFriction = 0.5;                           // reactions over freedoms; mean of μ
constexpr int kOfPath = 250, kOfConvex = 50, kOfLong = 60, kOfFollowing = 150;  // factorisations
// Low friction: long steps start from the point of the sweeps, so far inside the cones, or, where reactions are highly
// redundant and sweeps lead nowhere, from the fixed point with a shift that follows.
constexpr double kMargin = 0.03;  // of |b|∞
// What long steps leave is tried by other means below these errors: where reactions are highly redundant by a proximal
// Newton method with a large α, elsewhere by rounds of patches and sweeps, as long as the best error falls.
constexpr double kNearNewton = 5e-4, kNearPatches = 1.5e-3;
constexpr double kAlphaOfFinish = 1;
constexpr int kOfFinish = 10;            // factorisations
constexpr int kFinishPatience = 6;       // rounds
constexpr double kFinishProgress = 0.8;  // of the best error within so many rounds

}  // namespace

template <int N>
void ContactStrategy<N>::run_interior(const ContactOptions& options, const ContactGoal& goal,
                                      InclusionSolution& solution) {
  double mu = 0;
  for (int i = 0; i < system.laws(); ++i) mu += system.set(i).limit / system.laws();
  const bool high = mu > kHighFriction;
  auto finished = [&](const InteriorOptions& path, const char* name) {
    start_ = r;
    InteriorOptions limited = path;
    limited.max_iterations = std::min(path.max_iterations, most_ - iterations);
    keep(interior_.follow(system, bodies, goal, limited, start_.data(), slip_.data(), iterations));
    note_part(name, error, solution);
    if (done(goal)) return true;
    start_ = r;
    sweep(goal, {.sweeps = kSweepsAlone, .acceleration = Acceleration::conjugate});
    note_part("conjugate_gauss_seidel", error, solution);
    return done(goal) || error <= options.acceptable;
  };
  const bool redundant = bodies && system.size() > kRedundant * freedoms_of(*bodies);
  auto finish = [&](double* point) {
    const double found = redundant ? finish_with_newton(point, goal) : finish_with_patches(point, options, goal);
    note_part(redundant ? "proximal_newton" : "patches", std::min(error, found), solution);
    return found;
  };
  const FunctionRef<double(double*)> finish_point = finish;
  if (high && redundant && finished({.max_iterations = kOfConvex, .steps = InteriorSteps::convex}, "convex_path"))
    return;
  auto far = [&](double slip) {
    InteriorOptions steps{.slip = slip, .max_iterations = kOfLong, .steps = InteriorSteps::long_steps};
    steps.sweeps_early = !redundant;
    steps.finish = &finish_point;
    steps.finish_below = redundant ? kNearNewton : kNearPatches;
    if (!high && !redundant) steps.margin = kMargin;
    if (!high && redundant) {
      steps.shift_follows = true;
      steps.max_iterations = kOfFollowing;
    }
    return finished(steps, "interior_point");
  };
  auto along = [&](double slip) { return finished({.slip = slip, .max_iterations = kOfPath}, "central_path"); };
  if (far(high ? kLongSlipOfHigh : kLongSlipOfLow) || along(high ? kSlipOfHigh : kSlipOfLow) ||
      far(high ? kLongSlipOfLow : kLongSlipOfHigh))
    return;
  for (const double slip : kOtherSlips)
    if (along(slip)) return;
}

template <int N>
double ContactStrategy<N>::finish_with_newton(double* point, const ContactGoal& goal) {
  start_.assign(point, point + system.size());
  const int most = std::min(kOfFinish, most_ - iterations);
  const ProximalNewtonOptions newton{.alpha = kAlphaOfFinish, .max_iterations = most, .max_steps = most};
  const double found =
      newton_.solve(system, goal, newton, start_.data(), slip_.data(), iterations, &interior_.factor());
  std::copy(start_.begin(), start_.end(), point);
  return found;
}

template <int N>
double ContactStrategy<N>::finish_with_patches(double* point, const ContactOptions& options, const ContactGoal& goal) {
  start_.assign(point, point + system.size());
  system.velocity({}, start_.data(), u.data());
  double best = system.error(goal.measure, start_.data(), u.data()), marked = best;
  for (int round = 0, since = 0;
       since < kFinishPatience && !(best <= goal.tolerance) && !goal.expired() && iterations < most_;
       ++round, ++since) {
    const int count = patches_.find(system, goal, start_.data(), u.data(), kShare, 1, kPatch);
    if (count == 0) break;
    solve_patches(count, options, goal, 1);
    const double found =
        sweeps_.solve(system, goal, {.sweeps = kSweepsAfterPatches, .acceleration = Acceleration::conjugate},
                      start_.data(), slip_.data(), iterations);
    system.velocity({}, start_.data(), u.data());
    if (found < best) {
      best = found;
      std::copy(start_.begin(), start_.end(), point);
    }
    if (best > kFinishProgress * marked) continue;
    marked = best;
    since = -1;
  }
  return best;
}

template void ContactStrategy<2>::run_interior(const ContactOptions&, const ContactGoal&, InclusionSolution&);
template void ContactStrategy<3>::run_interior(const ContactOptions&, const ContactGoal&, InclusionSolution&);

}  // namespace stickslip
