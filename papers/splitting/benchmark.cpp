// SPDX-License-Identifier: Apache-2.0
#include "papers/splitting/benchmark.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip::paper1 {

Exact exact(double t) {
  constexpr double e = 1e-9;
  if (t <= 1 + e) return {{t - t * t / 2, 0}, {1 - t, 0}, {1, 1 - t}};
  if (t <= 2 + e) return {{0.5, 0}, {0, 0}, {t - 1.5, 1 - t}};
  const double x2 = -t * t * t / 3 + 3 * t * t - 8 * t + 20.0 / 3, v2 = 1 - (t - 3) * (t - 3);
  if (t <= 3 + e)
    return {{4 * t * t * t / 3 - 10 * t * t + 24 * t - 109.0 / 6, x2}, {4 * (t - 3) * (t - 2), v2}, {-1, 1}};
  return {{-1.0 / 6, x2}, {0, v2}, {-0.5, 1}};
}

Errors errors(const Trajectory& trajectory) {
  Errors e;
  const Index last = trajectory.rows() - 1;
  const double tau = kEndTime / static_cast<double>(last);
  auto add = [tau](double& sum, double difference) { sum += tau * difference * difference; };
  bool was_far = false;
  for (Index n = 1; n <= last; ++n) {
    const double t = trajectory.t(n);
    const Exact end = exact(t), middle = exact(t - tau / 2);
    double distance = 1;
    for (int event = 0; event <= 4; ++event) distance = std::min(distance, std::abs(t - event));
    const bool far = distance > 0.05;
    for (Index i = 0; i < 2; ++i) {
      const double lambda = -trajectory.reaction(n, i);  // c = 1
      add(e.V, trajectory.v(n, i) - end.v[i]);
      if (trajectory.names().friction_velocity) add(e.VF, trajectory.friction_velocity(n, i) - end.v[i]);
      add(e.X, trajectory.q(n, i) - end.x[i]);
      add(e.L, lambda - end.lambda[i]);
      add(e.Lm, lambda - middle.lambda[i]);
      if (far) add(e.Lfar, lambda - middle.lambda[i]);
      if (n == 1) continue;
      const double change = std::abs(trajectory.reaction(n, i) - trajectory.reaction(n - 1, i));
      e.TV[i] += change;
      if (far && was_far) e.TVfar[i] += change;
    }
    was_far = far;
  }
  for (double* sum : {&e.V, &e.VF, &e.X, &e.L, &e.Lm, &e.Lfar}) *sum = std::sqrt(*sum);
  return e;
}

}  // namespace stickslip::paper1
