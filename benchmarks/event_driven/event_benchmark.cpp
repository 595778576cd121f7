// SPDX-License-Identifier: Apache-2.0
// Our side of the event benchmark: one JSON line per call, CPU time of whole runs with their audit (best of several).
//
//   event_benchmark hinges exact|integrator TOLERANCE REPETITIONS     case 3 of paper 2 to t = 30
//   event_benchmark chain N SECONDS                                   N hinges in series, friction at every one
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/simulate.hpp"
#include "tests/support/two_hinges.hpp"

namespace {

using namespace stickslip;

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Relative hinge displacements of a chain of unit masses: M_ij = n - max(i, j), springs 100 N/m, friction 0.2 N at
/// every hinge; every third hinge is stretched at the start.
std::unique_ptr<System> chain(Index n) {
  MatrixModel model;
  DenseMatrix M(n, n), K = DenseMatrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    model.coordinates.push_back("y" + std::to_string(i + 1));
    for (Index j = 0; j < n; ++j) M(i, j) = static_cast<double>(n - std::max(i, j));
    K(i, i) = 100;
    FrictionElement law;
    law.name = "hinge" + std::to_string(i + 1);
    law.directions = {{{i, 1.0}}};
    law.limit = StateFunction(0.2);
    model.friction.push_back(law);
  }
  model.mass = SystemMatrix(M);
  model.damping = SystemMatrix::zero(n);
  model.stiffness = SystemMatrix(K);
  return make_system(std::move(model));
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  SimulationOptions options;
  options.scheme = SchemeKind::event;
  if (what == "hinges" && count > 4) {
    options.end_time = 30;
    options.steps = 1;
    options.event.flow = flow_kind_from(words[2]);
    options.tolerance = std::atof(words[3]);
    const auto system = two_hinges::system(0.1, 0.1);
    double best = HUGE_VAL;
    Simulation s;
    for (int repetition = 0; repetition < std::atoi(words[4]); ++repetition) {
      const double from = cpu_seconds();
      s = simulate(*system, two_hinges::initial(), options);
      best = std::min(best, cpu_seconds() - from);
    }
    fmt::print(
        "{{\"flow\": \"{}\", \"tolerance\": {:g}, \"seconds\": {:.4g}, \"events\": {}, \"y1\": {:.17g}, \"y2\": "
        "{:.17g}}}\n",
        words[2], options.tolerance, best, s.trajectory.events.size(), s.final.q[0], s.final.q[1]);
    return s.status != Status::success;
  }
  if (what == "chain" && count > 3) {
    const Index n = std::atol(words[2]);
    options.end_time = std::atof(words[3]);
    options.steps = 10;
    const auto system = chain(n);
    State initial;
    initial.q = Vector::Zero(n);
    initial.v = Vector::Zero(n);
    for (Index i = 0; i < n; i += 3) initial.q[i] = 0.02 * (1 + std::sin(static_cast<double>(i)));
    const double from = cpu_seconds();
    const Simulation s = simulate(*system, initial, options);
    const double seconds = cpu_seconds() - from;
    const double events = static_cast<double>(s.trajectory.events.size());
    fmt::print(
        "{{\"hinges\": {}, \"seconds\": {:.4g}, \"events\": {}, \"ms_per_event\": {:.4g}, \"status\": \"{}\"}}\n", n,
        seconds, events, 1e3 * seconds / std::max(1.0, events), to_string(s.status));
    if (!s.message.empty()) fmt::print(stderr, "{}\n", s.message);
    return s.status != Status::success;
  }
  fmt::print(stderr, "usage: event_benchmark hinges exact|integrator TOLERANCE REPETITIONS | chain N SECONDS\n");
  return 2;
}
