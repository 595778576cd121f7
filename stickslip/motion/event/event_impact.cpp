// SPDX-License-Identifier: Apache-2.0
// Impacts of the event scheme, and the end of those that accumulate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/motion/event/event.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip {

/// Newton's impact law with friction at all contacts that touch. Modes and rest of the laws afterwards.
StepOutcome EventScheme::take_impacts(StepRecord& record) {
  State& s = record.state;
  dynamics_.place(just_after(s.t), s.q, s.v);
  std::vector<std::size_t> touching;
  DualProblem problem;
  std::vector<Index> rows;
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (!law.contact || (s.modes[k] == Mode::open && !impact_[k])) continue;
    touching.push_back(k);
    problem.sets.push_back(law.contact->set(dynamics_.limit(k)));
    for (int c = 0; c < law.size; ++c) rows.push_back(law.first + c);
  }
  const Index size = static_cast<Index>(rows.size());
  DenseMatrix D(size, size);
  problem.b.resize(size);
  for (Index i = 0; i < size; ++i) {
    problem.b[i] = dynamics_.u()[rows[i]];
    for (Index j = 0; j < size; ++j) D(i, j) = dynamics_.D()(rows[i], rows[j]);
  }
  const Vector u_before = problem.b;
  Index i = 0;
  double approach = 0;
  for (const std::size_t k : touching) {
    if (problem.b[i] < 0) problem.b[i] *= 1 + dynamics_.laws()[k].contact->restitution;
    approach = std::max(approach, -u_before[i]);
    i += dynamics_.laws()[k].size;
  }
  problem.D = D;
  SolveOptions options;
  options.tolerance = 1e-14;
  options.max_seconds = 20;
  const InclusionSolution solution = solve(problem, options);
  if (solution.status != Status::success && !(solution.residuals.inclusion < 1e-10))
    return {solution.status, fmt::format("impact at t = {:.9g}: {}", s.t, solution.message)};
  const Vector& p = solution.r;
  const Vector u_after = u_before + D * p;
  for (Index j = 0; j < size; ++j) {
    s.v.noalias() += p[j] * dynamics_.PW().col(rows[j]);
    record.jump_impulse[rows[j]] += p[j];
  }
  record.jumped = true;
  // Mean velocities make the work of the impulses exact.
  double loss = 0;
  i = 0;
  for (const std::size_t k : touching) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    impact_impulse_[k] = p[i];
    for (int c = 0; c < law.size; ++c) {
      const double mean = 0.5 * (u_before[i + c] + u_after[i + c]), w = dynamics_.w()[law.first + c];
      (c == 0 ? record.energy.impact_loss : record.energy.friction_loss) -= p[i + c] * mean;
      record.energy.work_in += p[i + c] * w;
      record.law_work[static_cast<Index>(k)] += p[i + c] * (mean + w);
      loss -= p[i + c] * mean;
    }
    i += law.size;
  }
  if (loss < 0) record.contact_gain += -loss;
  // Modes after the impact. Velocities at round-off of the approach are zero.
  dynamics_.place(just_after(s.t), s.q, s.v);
  const double tiny = 1e-12 * approach;
  i = 0;
  for (const std::size_t k : touching) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    const double normal = u_after[i];
    i += law.size;
    if (normal > std::max(tiny, 1e-14)) {
      s.modes[k] = Mode::open;
      at_rest_[k] = 0;
      continue;
    }
    set_mode_by_velocity(k, tiny, s);
  }
  // Dry friction passes no impulse: a law that stuck may move now.
  for (std::size_t k = 0; k < s.modes.size(); ++k)
    if (!dynamics_.laws()[k].contact) set_mode_by_velocity(k, tiny, s);
  return {};
}

/// Rebounds whose further impacts last no longer than accumulation_time are ended here. The dynamics hold the
/// accelerations of the decided modes.
StepOutcome EventScheme::close_accumulating(StepRecord& record) {
  State& s = record.state;
  bool closed = false;
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (!impact_[k] || s.modes[k] != Mode::open) continue;
    const double e = law.contact->restitution, u = dynamics_.u()[law.first];
    const double a = dynamics_.Wt().row(law.first).dot(dynamics_.acceleration()) + dynamics_.bias()[law.first];
    if (!(a < 0) || !(e < 1) || !(2 * u <= options_.accumulation_time * -a * (1 - e))) continue;
    const double p = -u / dynamics_.D()(law.first, law.first);
    s.v.noalias() += p * dynamics_.PW().col(law.first);
    record.energy.impact_loss -= 0.5 * p * u;
    record.energy.work_in += p * dynamics_.w()[law.first];
    impact_[k] = 0;
    closed = true;
    roles_[k] = LawRole::stopped;
    set_mode_by_velocity(k, 0, s);
  }
  if (!closed) return {};
  project(record);
  return decide(s);
}

}  // namespace stickslip
