// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/indeterminacy.hpp"

#include <cmath>

#include "stickslip/common/decompositions.hpp"

namespace stickslip {

namespace {
constexpr double kStill = 1e-7;  // of a unit step in numbers without unit: round-off of a null space of condition 1e9

/// Changes of q and v at the rows of the orbit along one direction of X; fields are linear in X.
void field_changes(const Orbit& at, const Orbit& moved, Vector& q, Vector& v) {
  const Index n = at.q[0].size(), rows = static_cast<Index>(at.q.size());
  q.resize(n * rows), v.resize(n * rows);
  for (Index j = 0; j < rows; ++j) {
    q.segment(n * j, n) = moved.q[static_cast<std::size_t>(j)] - at.q[static_cast<std::size_t>(j)];
    v.segment(n * j, n) = moved.v[static_cast<std::size_t>(j)] - at.v[static_cast<std::size_t>(j)];
  }
}
}  // namespace

std::vector<std::size_t> held_laws(const Orbit& orbit) {
  std::vector<std::size_t> held;
  for (std::size_t k = 0; !orbit.modes.empty() && k < orbit.modes[0].size(); ++k) {
    bool sticks = true;
    for (const std::vector<Mode>& modes : orbit.modes) sticks = sticks && modes[k] == Mode::stick;
    if (sticks) held.push_back(k);
  }
  return held;
}

Indeterminacy judge_open_directions(PeriodicEquations& equations, const Vector& X, double condition) {
  Indeterminacy open{HUGE_VAL, 0, 0};
  DenseMatrix N;
  double rest = condition;
  if (!equations.null_space(N, rest) || N.cols() == 0) return {condition, 0, 0};
  const Orbit at = equations.orbit(X);
  if (at.q.empty()) return open;
  const double length = equations.displacement_unit(), speed = length * 2 * std::numbers::pi / at.period;
  DenseMatrix Q(at.q[0].size() * static_cast<Index>(at.q.size()), N.cols());
  Vector q, v;
  for (Index k = 0; k < N.cols(); ++k) {
    field_changes(at, equations.orbit(X + N.col(k)), q, v);
    if (!(v.lpNorm<Eigen::Infinity>() <= kStill * speed)) return open;
    Q.col(k) = q / length;
  }
  const Vector s = Q.jacobiSvd().singularValues();
  open.shifts = (s.array() > kStill * std::sqrt(static_cast<double>(Q.rows()))).count();
  open.reactions = N.cols() - open.shifts;
  open.condition = rest;
  return open;
}

}  // namespace stickslip
