// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/constraint_audit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Rows are projected to a few units in the last place of their terms; a long row adds up as many errors as it has
// terms.
constexpr double kPositionRoundOff = 1e2, kVelocityRoundOff = 1e3;  // times machine epsilon

struct Worst {
  double value = 0, terms = 1;
};

/// Of the row that is worst relative to its terms. A row that no coordinate moves, as those across the plane of a
/// planar linkage, has entries of rounding alone; what it rounds are positions like those of the others.
Worst worst_of(const Vector& values, const Vector& terms) {
  constexpr double kNoRow = 1e-10;  // of the longest
  Worst worst;
  const double longest = terms.size() > 0 ? terms.maxCoeff() : 0.0;
  for (Index i = 0; i < values.size(); ++i) {
    const double own = terms[i] < kNoRow * longest ? longest : terms[i];
    if (!(values[i] * worst.terms <= worst.value * own)) worst = {values[i], own};  // NaN stays visible
  }
  return worst;
}

}  // namespace

ConstraintAudit::ConstraintAudit(const System& system)
    : system_(system), workspace_(system), reach_(system.kinematics()) {
  const auto m = static_cast<Index>(system.laws().constraints().size());
  for (Vector* x : {&position_, &velocity_, &position_terms_, &velocity_terms_}) x->setZero(m);
}

/// Limits by a straight line through two times on their side: what rows of time change by until there would else be
/// taken for a violation.
void ConstraintAudit::find_rows(const State& s, double side) {
  const auto& source = system_.laws().constraint_source();
  source.evaluate(s.t + side, s.q, workspace_, rows_);
  if (side == 0) return;
  source.evaluate(s.t + 2 * side, s.q, workspace_, further_);
  rows_.A = 2 * rows_.A - further_.A;
  rows_.rate = 2 * rows_.rate - further_.rate;
  rows_.position = 2 * rows_.position - further_.position;
}

void ConstraintAudit::add(const State& s, double dt, double side) {
  find_rows(s, side);
  system_.laws().constraint_source().velocity_slopes(s.t, s.q, s.v, workspace_, by_q_);
  const SystemMatrix& mass = system_.inertia().mass(s.q, workspace_);
  const Index m = rows_.A.rows(), n = rows_.A.cols();
  inertia_.resize(n);
  longest_ = std::max(longest_, dt);
  const Vector& reach = reach_(s.q);
  double q2 = 0, v2 = 0, f2 = 0;
  for (Index j = 0; j < n; ++j) inertia_[j] = mass(j, j);
  force_.setZero(n);
  system_.force(s.t, s.q, s.v, workspace_, force_);
  for (Index j = 0; j < n; ++j) {
    f2 += force_[j] * force_[j] / inertia_[j];
    v2 += inertia_[j] * s.v[j] * s.v[j];
    q2 += inertia_[j] * reach[j] * reach[j];
  }
  for (Index i = 0; i < m; ++i) {
    double a2 = 0, velocity = -rows_.rate[i];
    for (Index j = 0; j < n; ++j) {
      a2 += rows_.A(i, j) * rows_.A(i, j) / inertia_[j];
      velocity += rows_.A(i, j) * s.v[j];
    }
    const double thrust = std::sqrt(a2 * f2) * longest_;
    double slopes = 0;
    for (Index j = 0; j < n; ++j) slopes += std::abs(by_q_(i, j)) * reach[j];
    raise(position_terms_[i], std::sqrt(a2 * q2) + (std::abs(rows_.rate[i]) + thrust) * longest_);
    raise(velocity_terms_[i], std::sqrt(a2 * v2) + std::abs(rows_.rate[i]) + slopes + thrust);
    raise(position_[i], std::abs(rows_.position[i]));
    raise(velocity_[i], std::abs(velocity));
  }
}

void ConstraintAudit::add_items(const AuditLedger& /*run*/, const AuditLimits& /*limits*/,
                                std::vector<AuditItem>& items) const {
  const char* remedy =
      "the constraints are nearly dependent or far from the origin: move them closer, or leave one out";
  const Worst position = worst_of(position_, position_terms_), velocity = worst_of(velocity_, velocity_terms_);
  items.push_back(guaranteed("constraint_position", position.value, kPositionRoundOff * kEpsilon * position.terms,
                             "m, rad", "violation of a holonomic constraint, of the one that is worst beside its terms",
                             remedy));
  items.push_back(
      guaranteed("constraint_velocity", velocity.value, kVelocityRoundOff * kEpsilon * velocity.terms, "m/s, rad/s",
                 "violation of a constraint by the velocities, of the one that is worst beside its terms", remedy));
}

void ConstraintAudit::exchange(Memory& memory) {
  for (Vector* x : {&position_, &velocity_, &position_terms_, &velocity_terms_}) memory.exchange(*x);
  memory.exchange(longest_);
}

}  // namespace stickslip
