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

Vector spring_lengths(const System& system, const Vector& reactions) {
  std::vector<double> d;
  Index i = 0;
  for (const FrictionElement& law : system.laws().friction())
    for (int c = 0; c < law.size(); ++c, ++i)
      if (law.elastic()) d.push_back(-reactions[i] / law.stiffness);
  return Eigen::Map<const Vector>(d.data(), static_cast<Index>(d.size()));
}

State state_at(const System& system, const Orbit& orbit, std::size_t row) {
  const Vector z = row < orbit.r.size() ? spring_lengths(system, orbit.r[row]) : Vector{};
  return State{orbit.t[row], orbit.q[row], orbit.v[row], z, orbit.modes[row]};
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

}  // namespace stickslip
