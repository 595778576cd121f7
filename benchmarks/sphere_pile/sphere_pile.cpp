// SPDX-License-Identifier: Apache-2.0
// A block of spheres on the ground that collapses into a heap: how the cost of a whole step (collision search,
// inclusion, audit) grows with the number of bodies, at the same tolerance and over the same time. One JSON line.
//
// usage: stickslip_sphere_pile [BODIES [STEPS [TOLERANCE [THREADS]]]]
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "stickslip/model/rigid_bodies.hpp"
#include "stickslip/motion/simulate.hpp"

using namespace stickslip;

namespace {

constexpr double kRadius = 0.05, kMass = 0.5, kFriction = 0.4, kStep = 2e-3;
constexpr int kHeight = 10;  // layers: larger piles are wider, so that all of them collapse in the same time

/// Of the thread that steps (CLOCK_THREAD_CPUTIME_ID), or on the wall (CLOCK_MONOTONIC).
double seconds_on(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double resident_bytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

BodyModel block_of_spheres(int count) {
  BodyModel model;
  model.gravity = {0, 0, -9.81};
  const int side = std::max(2, static_cast<int>(std::lround(std::sqrt(count / static_cast<double>(kHeight)))));
  for (int i = 0; i < count; ++i) {
    const int x = i % side, y = i / side % side, z = i / (side * side);
    RigidBody body;
    body.name = "ball" + std::to_string(i + 1);
    body.group = "ball";
    body.mass = kMass;
    // Slightly off a lattice, the same for every size.
    body.position = kRadius * Eigen::Vector3d(2.2 * (x - 0.5 * (side - 1)) + 0.1 * std::sin(7.0 * i),
                                              2.2 * (y - 0.5 * (side - 1)) + 0.1 * std::cos(5.0 * i), 1 + 2.05 * z);
    model.bodies.push_back(std::move(body));
    Shape shape;
    shape.kind = ShapeKind::sphere;
    shape.body = i;
    shape.radius = kRadius;
    model.shapes.push_back(std::move(shape));
  }
  Shape ground;
  ground.kind = ShapeKind::plane;
  model.shapes.push_back(ground);
  BodyContact contact;
  contact.law.name = "touch";
  contact.law.mu = kFriction;
  contact.first = contact.second = "*";
  model.contacts.push_back(std::move(contact));
  return model;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 150;
  const double tolerance = argc > 3 ? std::atof(argv[3]) : 1e-6;
  const int threads = argc > 4 ? std::atoi(argv[4]) : 1;
  if (count < 1 || steps < 2 || !(tolerance > 0) || threads < 1) {
    std::fprintf(stderr, "usage: %s [BODIES [STEPS [TOLERANCE [THREADS]]]]\n", argv[0]);
    return 2;
  }
  BodyModel model = block_of_spheres(count);
  model.threads = threads;
  State start;
  start.q = start_positions(model);
  start.v = start_velocities(model);
  const std::unique_ptr<System> system = make_system(model);
  const double before = resident_bytes();
  SimulationOptions options;
  options.step = kStep;
  options.end_time = kStep * steps;
  options.output_step = options.end_time / 2;
  options.moreau.contact_tolerance = tolerance;
  std::vector<double> seconds;
  double last = seconds_on(CLOCK_THREAD_CPUTIME_ID);
  const double begin = seconds_on(CLOCK_MONOTONIC);
  SimulationHooks hooks;
  hooks.keep_going = [&](const State&) {
    const double now = seconds_on(CLOCK_THREAD_CPUTIME_ID);
    seconds.push_back(now - last);
    last = now;
    return true;
  };
  const Simulation run = simulate(*system, start, options, hooks);
  const double wall = seconds_on(CLOCK_MONOTONIC) - begin;
  double total = 0, iterations = 0, inclusion = 0;
  for (const double s : seconds) total += s;
  std::sort(seconds.begin(), seconds.end());
  for (const AuditItem& item : run.audit) {
    if (item.name == "most_iterations") iterations = item.value;
    if (item.name == "inclusion") inclusion = item.value;
  }
  const auto points = run.trajectory.point_forces(run.trajectory.rows() - 1).size();
  std::printf(
      "{\"bodies\": %d, \"threads\": %d, \"steps\": %ld, \"status\": \"%s\", \"contacts_at_the_end\": %zu, "
      "\"mean_ms\": %.4g, "
      "\"median_ms\": %.4g, \"largest_ms\": %.4g, \"wall_seconds\": %.4g, \"most_iterations\": %.0f, "
      "\"largest_residual\": %.3g, "
      "\"bytes_per_contact\": %.0f}\n",
      count, threads, run.steps, std::string(to_string(run.status)).c_str(), points, 1e3 * total / seconds.size(),
      1e3 * seconds[seconds.size() / 2], 1e3 * seconds.back(), wall, iterations, inclusion,
      (resident_bytes() - before) / std::max<double>(1, static_cast<double>(points)));
  return run.status == Status::success ? 0 : 1;
}
