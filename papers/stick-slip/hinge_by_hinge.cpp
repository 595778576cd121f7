// SPDX-License-Identifier: Apache-2.0
#include "papers/stick-slip/hinge_by_hinge.hpp"

#include <Eigen/Dense>
#include <cmath>

#include "stickslip/common/root_finding.hpp"

namespace stickslip::paper2 {

namespace {

std::vector<Index> free_hinges(const HingeState& state) {
  std::vector<Index> free;
  for (std::size_t i = 0; i < state.mode.size(); ++i)
    if (state.mode[i] != 0) free.push_back(static_cast<Index>(i));
  return free;
}

double friction(const Hinges& hinges, const HingeState& state, Index i) {
  const int mode = state.mode[static_cast<std::size_t>(i)];
  return mode == 1 || mode == -1 ? hinges.limit[i] * mode : 0.0;
}

/// Hinges that are let go, all at once, take the direction in which they would start without friction of their own.
void let_go(const Hinges& hinges, const std::vector<std::size_t>& which, HingeState& state) {
  for (const std::size_t i : which) state.mode[i] = 2;
  const Vector a = forces(hinges, state).acceleration;
  for (const std::size_t i : which) state.mode[i] = a[static_cast<Index>(i)] > 0 ? 1 : -1;
}

void leave_rest(const Hinges& hinges, HingeState& state, StartTest start) {
  const HingeForces locked = forces(hinges, state);
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < state.mode.size(); ++i) {
    const double limit = hinges.limit[static_cast<Index>(i)];
    if (limit == 0 || start == StartTest::left_out)
      state.mode[i] = 2;
    else if (std::abs(locked.held[static_cast<Index>(i)]) > limit)
      free.push_back(i);
  }
  let_go(hinges, free, state);
}

}  // namespace

HingeState flow(const Hinges& hinges, const HingeState& state, double dt) {
  HingeState next = state;
  next.t = state.t + dt;
  const std::vector<Index> S = free_hinges(state);
  if (S.empty()) return next;
  const DenseMatrix M = hinges.M(S, S), K = hinges.K(S, S);
  Vector load = hinges.K(S, Eigen::all) * state.y - K * state.y(S);  // of the hinges that do not move
  for (std::size_t k = 0; k < S.size(); ++k) load[static_cast<Index>(k)] += friction(hinges, state, S[k]);
  const Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix> modal(K, M);
  const DenseMatrix& phi = modal.eigenvectors();
  const Vector rest = K.ldlt().solve(-load), eta = phi.transpose() * (M * (state.y(S) - rest)),
               rate = phi.transpose() * (M * state.v(S));
  const Vector omega = modal.eigenvalues().cwiseSqrt();
  Vector position(eta.size()), velocity(eta.size());
  for (Index k = 0; k < eta.size(); ++k) {
    const double c = std::cos(omega[k] * dt), s = std::sin(omega[k] * dt);
    position[k] = eta[k] * c + rate[k] / omega[k] * s;
    velocity[k] = -eta[k] * omega[k] * s + rate[k] * c;
  }
  next.y(S) = rest + phi * position;
  next.v(S) = phi * velocity;
  return next;
}

HingeForces forces(const Hinges& hinges, const HingeState& state) {
  const Index n = state.y.size();
  const std::vector<Index> S = free_hinges(state);
  HingeForces out{Vector::Zero(n), Vector::Zero(n)};
  Vector load = hinges.K * state.y;
  for (Index i = 0; i < n; ++i) load[i] += friction(hinges, state, i);
  if (!S.empty()) {
    const Vector a = DenseMatrix(hinges.M(S, S)).llt().solve(Vector(-load(S)));
    out.acceleration(S) = a;
  }
  const Vector balance = hinges.M * out.acceleration + load;
  for (Index i = 0; i < n; ++i)
    if (state.mode[static_cast<std::size_t>(i)] == 0) out.held[i] = balance[i];
  return out;
}

HingeState hinge_by_hinge(const Hinges& hinges, const Vector& y, double h, double end_time, StartTest start) {
  const std::size_t n = static_cast<std::size_t>(y.size());
  HingeState state{0, y, Vector::Zero(y.size()), std::vector<int>(n, 0)};
  leave_rest(hinges, state, start);
  while (state.t < end_time) {
    double dt = std::min(h, end_time - state.t);
    HingeState next = flow(hinges, state, dt);
    int stopped = -1;
    for (std::size_t i = 0; i < n; ++i) {
      const Index k = static_cast<Index>(i);
      if (std::abs(state.mode[i]) != 1 || !(state.mode[i] * next.v[k] < 0) || !(state.mode[i] * state.v[k] > 0))
        continue;
      auto velocity = [&](double s) { return flow(hinges, state, s).v[k]; };
      const double root = find_root(velocity, 0.0, state.v[k], dt, velocity(dt), 0).x;
      if (root < dt) {
        dt = root;
        stopped = static_cast<int>(i);
      }
    }
    if (stopped >= 0) next = flow(hinges, state, dt);
    // Every test reads the forces of the step that has ended, so no hinge knows yet what another one is about to do.
    const HingeForces ended = forces(hinges, next);
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < n; ++i) {
      const Index k = static_cast<Index>(i);
      if (static_cast<int>(i) == stopped) {
        next.v[k] = 0;
        HingeState locked = next;
        locked.mode[i] = 0;
        if (std::abs(forces(hinges, locked).held[k]) > hinges.limit[k])
          next.mode[i] = -state.mode[i];
        else
          next.mode[i] = 0;
      } else if (state.mode[i] == 0 && std::abs(ended.held[k]) > hinges.limit[k]) {
        free.push_back(i);
      } else if (state.mode[i] == 2 && hinges.limit[k] > 0) {
        next.mode[i] = next.v[k] > 0 ? 1 : -1;
      }
    }
    let_go(hinges, free, next);
    if (end_time - next.t < 1e-12) next.t = end_time;
    state = next;
  }
  return state;
}

Halving halve_to_zero(const Hinges& hinges, const HingeState& from, int hinge, double h, double eps,
                      int most_evaluations) {
  Halving result;
  double dt = 0, v = from.v[hinge];
  while (!result.ended && result.evaluations < most_evaluations) {
    // Time as a number of the run, not of the step: that is where a step can become too short to count.
    const double t = from.t + dt, t_next = t + h, dt_next = t_next - from.t;
    const double v_next = flow(hinges, from, dt_next).v[hinge];
    ++result.evaluations;
    if (v * v_next < 0) {
      result.ended = std::abs(v_next - v) < eps;
      result.t = t_next;
      result.velocity = v_next;
      h /= 2;
    } else {
      dt = dt_next;
      v = v_next;
    }
  }
  return result;
}

}  // namespace stickslip::paper2
