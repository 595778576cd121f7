// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/system.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace stickslip {

SystemWorkspace::SystemWorkspace(const System& system)
    : variables(system.info().nq(), system.info().nv(), system.laws().reaction_count()),
      inertia(system.inertia().make_scratch()),
      forces(system.forces().make_scratch()),
      contacts(system.laws().contact_source().make_scratch()),
      constraints(system.laws().constraint_source().make_scratch()) {}

System::System(SystemParts parts) : parts_(std::move(parts)) {
  assert(parts_.kinematics && parts_.inertia && parts_.forces);
  info_ = {parts_.title, kinematics().coordinates(), kinematics().velocities()};
  velocity_force_ = inertia().has_velocity_force();
  quadratic_energy_ = inertia().constant() && forces().quadratic_potential();
  if (!inertia().constant() || !forces().linear() || !kinematics().flat()) return;
  SystemWorkspace workspace(*this);
  linear_.emplace(
      LinearPart{inertia().mass(Vector::Zero(info_.nq()), workspace), forces().linear()->B, forces().linear()->K});
  has_series_ = forces().has_series() && laws().constant_rows();
}

namespace {

/// The same numbers with room for every entry.
void make_dense(SystemMatrix& matrix) {
  if (matrix.storage() != Storage::dense) matrix = SystemMatrix(matrix.to_dense());
}

}  // namespace

void System::force_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                          SystemMatrix& by_v) const {
  forces().slopes(t, q, v, workspace, by_q, by_v);
  if (!velocity_force_) return;
  make_dense(by_q);
  make_dense(by_v);
  inertia().add_velocity_slopes(q, v, workspace, by_q, by_v);
}

BreakpointSearch System::find_breakpoints(double from, double to, StopRequest stop) const {
  BreakpointSearch search{from, to};
  search.stop = stop;
  forces().append_breakpoints(search);
  laws().append_breakpoints(search);
  std::vector<double>& times = search.times;
  std::sort(times.begin(), times.end());
  constexpr double kSame = 1e-12;              // of the time: two sources name one breakpoint, rounded differently
  const double smallest = 1e-3 * (to - from);  // near t = 0 round-off is that of the interval
  const auto agree = [&](double a, double b) { return b - a <= kSame * std::max(std::abs(b), smallest); };
  times.erase(std::unique(times.begin(), times.end(), agree), times.end());
  return search;
}

}  // namespace stickslip
