// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/constraint_audit.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {

void keep_worse(double value, double terms, double& worst, double& worst_terms) {
  if (value * worst_terms <= worst * terms) return;  // false for NaN: it stays visible
  worst = value;
  worst_terms = terms;
}

}  // namespace

void record_constraint_residuals(const System& system, double dt, ConstraintAudit& audit, StepRecord& record) {
  const State& s = record.state;
  ConstraintRows& rows = audit.rows;
  system.laws().constraint_source().evaluate(s.t, s.q, audit.workspace, rows);
  system.laws().constraint_source().velocity_slopes(s.t, s.q, s.v, audit.workspace, audit.by_q);
  const SystemMatrix& mass = system.inertia().mass(s.q, audit.workspace);
  const Index m = rows.A.rows(), n = rows.A.cols();
  if (audit.position.size() != m)
    audit.position = audit.velocity = audit.position_terms = audit.velocity_terms = Vector::Zero(m);
  audit.inertia.resize(n);
  audit.longest = std::max(audit.longest, dt);
  const Vector& reach = audit.reach(s.q);
  double q2 = 0, v2 = 0, f2 = 0;
  for (Index j = 0; j < n; ++j) audit.inertia[j] = mass(j, j);
  audit.force.setZero(n);
  system.force(s.t, s.q, s.v, audit.workspace, audit.force);
  for (Index j = 0; j < n; ++j) {
    f2 += audit.force[j] * audit.force[j] / audit.inertia[j];
    v2 += audit.inertia[j] * s.v[j] * s.v[j];
    q2 += audit.inertia[j] * reach[j] * reach[j];
  }
  record.constraint_position = record.constraint_velocity = 0;
  record.constraint_position_terms = record.constraint_velocity_terms = 1;
  for (Index i = 0; i < m; ++i) {
    double a2 = 0, velocity = -rows.rate[i];
    for (Index j = 0; j < n; ++j) {
      a2 += rows.A(i, j) * rows.A(i, j) / audit.inertia[j];
      velocity += rows.A(i, j) * s.v[j];
    }
    const double thrust = std::sqrt(a2 * f2) * audit.longest;
    double slopes = 0;
    for (Index j = 0; j < n; ++j) slopes += std::abs(audit.by_q(i, j)) * reach[j];
    raise(audit.position_terms[i], std::sqrt(a2 * q2) + std::abs(rows.rate[i] * s.t) + thrust * audit.longest);
    raise(audit.velocity_terms[i], std::sqrt(a2 * v2) + std::abs(rows.rate[i]) + slopes + thrust);
    raise(audit.position[i], std::abs(rows.position[i]));
    raise(audit.velocity[i], std::abs(velocity));
    keep_worse(audit.position[i], audit.position_terms[i], record.constraint_position,
               record.constraint_position_terms);
    keep_worse(audit.velocity[i], audit.velocity_terms[i], record.constraint_velocity,
               record.constraint_velocity_terms);
  }
}

}  // namespace stickslip
