// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/residual_path.hpp"

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/periodic/judge_solution.hpp"

namespace stickslip {

bool ResidualPath::with(double s, Place& place) {
  if (place.s == s) return true;
  if (raised(stop_)) return false;  // a large model takes its time to be made, and again to be condensed
  try {
    place.parts = build_(s);
    if (raised(stop_)) {
      place.s = NAN;
      return false;
    }
    place.equations = make_equations(*place.parts.system, place.parts.options, place.parts.initial.t,
                                     place.parts.initial.q, center_.equations.get());
    if (place.parts.options.autonomous) place.equations->set_phase_reference(reference_);
    place.s = s;
  } catch (const InputError& error) {
    message = error.what();
    place.s = NAN;
    return false;
  }
  return true;
}

bool ResidualPath::residual(const Vector& x, double s, Vector& F) {
  return with(s, center_) && !raised(stop_) && center_.equations->residual(x, 0, F);
}

bool ResidualPath::jacobian(const Vector& x, double s, DenseMatrix& by_x, Vector& by_s) {
  const double delta = 1e-6 * (std::abs(s) + way_);
  Vector F, plus, minus;
  if (!with(s, center_) || raised(stop_) || !center_.equations->linearize(x, 0, F)) return false;
  center_.equations->copy_jacobian(by_x);
  if (!with(s + delta, above_) || raised(stop_) || !above_.equations->residual(x, 0, plus)) return false;
  if (!with(s - delta, below_) || raised(stop_) || !below_.equations->residual(x, 0, minus)) return false;
  by_s = (plus - minus) / (2 * delta);
  return true;
}

PeriodicSolution ResidualPath::solve(const Vector& x, double s) {
  if (!with(s, center_)) return {};
  const BranchCase& parts = center_.parts;
  const PeriodicProblem problem{*parts.system, parts.initial, parts.options, parts.run_length, parts.event, nullptr, x};
  PeriodicHooks hooks;
  hooks.stop = stop_;
  hooks.certify = false;
  return solve_periodic(problem, hooks);
}

double ResidualPath::multiplier_error() const {
  return CertificateLimits{basis_resolution(center_.parts.options)}.displacement();
}

Vector ResidualPath::linear_start(double s) { return with(s, center_) ? center_.equations->linear_start() : Vector{}; }

Vector ResidualPath::run_start(const Vector& x, double factor, double s) {
  constexpr int kPeriods = 60;
  if (!with(s, center_)) return {};
  const BranchCase& parts = center_.parts;
  const Orbit from = center_.equations->orbit(x);
  if (parts.options.autonomous || from.t.empty()) return {};
  PeriodicProblem problem{*parts.system, parts.initial, parts.options, parts.run_length, parts.event, nullptr, {}};
  problem.initial.q = factor * from.q[0];
  problem.initial.v = factor * from.v[0];
  problem.options.start_periods = kPeriods;
  Orbit orbit;
  return orbit_of_run(problem, stop_, orbit).empty() ? center_.equations->start_from(orbit) : Vector{};
}

}  // namespace stickslip
