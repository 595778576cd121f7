// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/orbit_scales.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/motion/event/mode_dynamics.hpp"

namespace stickslip {

double free_displacement(const System& system, const Orbit& orbit) {
  constexpr int kTimes = 64;
  const Index n = system.info().nv();
  if (orbit.q.empty()) return 0;
  SystemWorkspace workspace(system);
  Vector mass(n), force(n);
  const SystemMatrix& M = system.inertia().mass(orbit.q[0], workspace);
  for (Index i = 0; i < n; ++i) mass[i] = M(i, i);
  double largest = 0;
  for (int k = 0; k < kTimes; ++k) {
    system.force(orbit.t0 + orbit.period * k / kTimes, orbit.q[0], Vector::Zero(n), workspace, force);
    largest = std::max(largest, force.cwiseQuotient(mass).lpNorm<Eigen::Infinity>());
  }
  return std::isfinite(largest) ? largest * std::pow(orbit.period / (2 * std::numbers::pi), 2) : 0;
}

void orbit_scales(const System& system, const Orbit& guess, Vector& q_scale, Vector& v_scale) {
  Vector low = guess.q[0], high = guess.q[0];
  v_scale = guess.v[0].cwiseAbs();
  for (std::size_t k = 0; k < guess.q.size(); ++k) {
    low = low.cwiseMin(guess.q[k]);
    high = high.cwiseMax(guess.q[k]);
    v_scale = v_scale.cwiseMax(guess.v[k].cwiseAbs());
  }
  q_scale = 0.5 * (high - low);
  const double omega = 2 * std::numbers::pi / guess.period;
  double largest = std::max(q_scale.maxCoeff(), v_scale.maxCoeff() / omega);
  if (!(largest > 0)) largest = free_displacement(system, guess);  // rest
  for (Index i = 0; i < q_scale.size(); ++i) {
    q_scale[i] = std::max({q_scale[i], v_scale[i] / omega, 1e-3 * largest});
    if (!(q_scale[i] > 0)) q_scale[i] = std::max(std::abs(high[i]), 1e-300);
    v_scale[i] = std::max(v_scale[i], 1e-1 * omega * q_scale[i]);
  }
}

std::size_t distinct_rows(const Orbit& guess) {
  const std::size_t rows = guess.t.size();
  return rows > 1 && guess.t.back() >= guess.t0 + guess.period * (1 - 1e-12) ? rows - 1 : rows;
}

bool sliders_slip(const System& system, const std::vector<Mode>& modes) {
  const auto& friction = system.laws().friction();
  for (std::size_t k = 0; k < friction.size(); ++k)
    if (friction[k].elastic() && modes[k] != Mode::slip_plus && modes[k] != Mode::slip_minus) return false;
  return true;
}

std::size_t quiet_row(const System& system, const Orbit& guess) {
  const std::size_t rows = distinct_rows(guess);
  ModeDynamics dynamics(system);
  const std::size_t laws = dynamics.laws().size();
  std::vector<double> largest(laws, 0);
  DenseMatrix distance = DenseMatrix::Zero(static_cast<Index>(rows), static_cast<Index>(laws));
  for (std::size_t j = 0; j < rows; ++j) {
    dynamics.place(guess.t[j], guess.q[j], guess.v[j]);
    for (std::size_t k = 0; k < laws; ++k) {
      const ModeDynamics::Law& law = dynamics.laws()[k];
      const Mode mode = guess.modes[j][k];
      double d = -1;  // held
      if (mode == Mode::open) d = std::abs(dynamics.gap(k));
      if (mode == Mode::slip_plus || mode == Mode::slip_minus || mode == Mode::slip)
        d = dynamics.u().segment(law.tangent(), law.tangents).norm();
      distance(static_cast<Index>(j), static_cast<Index>(k)) = d;
      largest[k] = std::max(largest[k], d);
    }
  }
  std::size_t best = 0;
  double best_score = -HUGE_VAL;
  for (std::size_t j = 0; j < rows; ++j) {
    double held = 0, nearest = 1;
    for (std::size_t k = 0; k < laws; ++k) {
      const double d = distance(static_cast<Index>(j), static_cast<Index>(k));
      if (d < 0) held += dynamics.laws()[k].springs() ? static_cast<double>(laws) : 1.0;
      if (d >= 0 && largest[k] > 0) nearest = std::min(nearest, d / largest[k]);
    }
    const double score = nearest - 2 * held;
    if (score > best_score) best_score = score, best = j;
  }
  return best;
}

void refine_extremes(Orbit& orbit) {
  if (orbit.q.empty() || orbit.q[0].size() != orbit.v[0].size()) return;
  const std::size_t rows = orbit.t.size();
  for (std::size_t j = 0; j < rows; ++j) {
    const std::size_t k = (j + 1) % rows;
    const double h = (k == 0 ? orbit.t0 + orbit.period : orbit.t[k]) - orbit.t[j];
    for (Index i = 0; i < orbit.q[0].size() && h > 0; ++i) {
      const double q0 = orbit.q[j][i], q1 = orbit.q[k][i], v0 = h * orbit.v[j][i], v1 = h * orbit.v[k][i];
      if (!(v0 * v1 < 0)) continue;
      // q = q0 + v0 s + b s² + a s³, q' = 0: the root between the rows.
      const double a = v0 + v1 - 2 * (q1 - q0), b = 3 * (q1 - q0) - 2 * v0 - v1;
      const double root = std::sqrt(std::max(b * b - 3 * a * v0, 0.0)), w = -b - (b >= 0 ? root : -root);
      for (const double s : {w / (3 * a), v0 / w}) {
        if (!(s >= 0 && s <= 1)) continue;
        const double q = q0 + s * (v0 + s * (b + s * a));
        orbit.minimum[i] = std::min(orbit.minimum[i], q);
        orbit.maximum[i] = std::max(orbit.maximum[i], q);
      }
    }
  }
}

}  // namespace stickslip
