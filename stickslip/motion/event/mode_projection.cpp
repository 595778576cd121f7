// SPDX-License-Identifier: Apache-2.0
// Back onto the rows that hold in given modes: constraints (constrained_motion.hpp), then the rows of the laws among
// the motions that those leave.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/event/mode_dynamics.hpp"

namespace stickslip {

void ModeDynamics::project(const std::vector<Mode>& modes, double t_q, Vector& q, Vector& v) {
  system_.kinematics().normalize(q);
  scratch_q_ = q;
  // What does not converge is as near as it gets; the audit of the constraints says how near.
  static_cast<void>(project_position(system_, t_q, q, projection_));
  project_gaps(modes, t_q, q);
  keep_stuck_coordinates(modes, q);
  static_cast<void>(project_velocity(system_, t_, q, v, projection_));
  project_rows(modes, v);
}

/// A law that sticks on a coordinate of its own keeps it to the last bit, if no row of the projection names it: what
/// moves it then is round-off of the projection.
void ModeDynamics::keep_stuck_coordinates(const std::vector<Mode>& modes, Vector& q) const {
  if (q.size() != n_) return;
  auto named = [&](Index at) {
    for (std::size_t k = 0; k < laws_.size(); ++k)
      if (laws_[k].contact && modes[k] != Mode::open && Wt_(laws_[k].first, at) != 0) return true;
    return !rows_.A.col(at).isZero(0);
  };
  for (std::size_t k = 0; k < laws_.size(); ++k)
    for (Index i = laws_[k].first; laws_[k].holds(modes[k]) && i < laws_[k].first + laws_[k].size; ++i)
      if (const Index at = own_[static_cast<std::size_t>(i)]; at >= 0 && !named(at)) q[at] = scratch_q_[at];
}

void ModeDynamics::project_rows(const std::vector<Mode>& modes, Vector& v) {
  auto& [rows, D, u, weight, p, solver] = projected_rows_;
  rows.clear();
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    if (laws_[k].holds(modes[k]))
      for (int c = 0; c < laws_[k].size; ++c) rows.push_back(laws_[k].first + c);
    else if (laws_[k].contact && modes[k] != Mode::open)
      rows.push_back(laws_[k].first);
  }
  std::erase_if(rows, [&](Index i) { return blocked(i); });
  const Index size = static_cast<Index>(rows.size());
  if (size == 0) return;
  D.resize(size, size);
  u.resize(size);
  weight.resize(size);
  for (Index i = 0; i < size; ++i) {
    weight[i] = 1 / std::sqrt(D_(rows[i], rows[i]));
    u[i] = weight[i] * (Wt_.row(rows[i]).dot(v) - w_[rows[i]]);
  }
  if (u.isZero(0)) return;
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) D(i, j) = weight[i] * D_(rows[i], rows[j]) * weight[j];
  solver.factor(D);
  solver.solve(u, p);
  for (Index i = 0; i < size; ++i) v.noalias() -= (p[i] * weight[i]) * PW_.col(rows[i]);
  for (const Index i : rows)
    if (const Index at = own_[static_cast<std::size_t>(i)]; at >= 0) v[at] = w_[i];
}

/// Newton's steps with the matrix of the placed state, as long as they halve the error at least: the last ones are
/// limited by round-off alone.
void ModeDynamics::project_gaps(const std::vector<Mode>& modes, double t, Vector& q) {
  constexpr int kMostSteps = 8;
  auto& [closed, D, gap, p, step, solver] = projected_gaps_;
  closed.clear();
  for (std::size_t k = 0; k < laws_.size(); ++k)
    if (laws_[k].contact && modes[k] != Mode::open) closed.push_back(k);
  if (closed.empty()) return;
  auto find = [&] {
    system_.laws().contact_source().find(t, q, HUGE_VAL, workspace_, found_);
    for (const ContactSite& point : found_.points) gap_[friction_.laws() + point.law] = point.gap;
  };
  if (t != t_ || !system_.laws().constraints().empty()) find();
  const Index size = static_cast<Index>(closed.size());
  D.resize(size, size);
  gap.resize(size);
  step.resize(n_);
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) D(i, j) = D_(laws_[closed[i]].first, laws_[closed[j]].first);
  solver.factor(D);
  double last = HUGE_VAL;
  for (int round = 0; round < kMostSteps; ++round) {
    double error = 0;  // beside the terms of the gap
    for (Index i = 0; i < size; ++i) {
      gap[i] = gap_[static_cast<Index>(closed[i])];
      const double terms = Wt_.row(laws_[closed[i]].first).cwiseAbs().dot(reach_(q));
      error = std::max(error, terms > 0 ? std::abs(gap[i]) / terms : std::abs(gap[i]));
    }
    if (!(error > 0 && error < 0.5 * last)) return;
    last = error;
    solver.solve(gap, p);
    step.setZero();
    for (Index i = 0; i < size; ++i) step.noalias() -= p[i] * PW_.col(laws_[closed[i]].first);
    system_.kinematics().displace(step, q);
    find();
  }
}

}  // namespace stickslip
