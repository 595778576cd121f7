// SPDX-License-Identifier: Apache-2.0
#include "papers/stick-slip/tree_experiments.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/io/model_file.hpp"

namespace stickslip {

namespace embedded {
extern const std::string_view model_two_bodies, model_planar_arm, model_planar_arm_urdf, model_bricard;
}

}  // namespace stickslip

namespace stickslip::paper2 {

Simulation run_two_bodies() {
  const ModelFile model = parse_model(embedded::model_two_bodies, "two-bodies.toml");
  return simulate(*model.system, model.initial, model.run);
}

LockedArm run_locked_arm() {
  const std::array<FileText, 1> files{FileText{"planar-arm.urdf", std::string(embedded::model_planar_arm_urdf)}};
  const ModelFile model =
      parse_model(embedded::model_planar_arm, "planar-arm.toml", std::vector<std::string>{"run.end_time=2.5"}, files);
  const Simulation run = simulate(*model.system, model.initial, model.run);
  LockedArm arm;
  arm.status = run.status;
  if (run.trajectory.events.empty()) return arm;
  const Event& first = run.trajectory.events.front();
  arm.release = first.t;
  arm.hinge = run.trajectory.names().laws[static_cast<std::size_t>(first.law)];
  for (Index k = 0; k < run.trajectory.rows() && run.trajectory.t(k) <= first.t; ++k)
    for (Index i = 0; i < model.initial.q.size(); ++i)
      arm.motion = std::max(arm.motion, std::abs(run.trajectory.q(k, i) - model.initial.q[i]));
  // The elbow carries the lower link and the load: (m g l/2 + F l) cos(angle against the horizontal) = limit.
  constexpr double kMass = 0.6, kGravity = 9.81, kLength = 0.4, kLimit = 1.3, kRate = 2.0, kBegin = 2.0;
  const double lever = std::cos(model.initial.q[0] + model.initial.q[1]);
  arm.expected = kBegin + (kLimit / lever - kMass * kGravity * kLength / 2) / kLength / kRate;
  return arm;
}

ClosedChain run_closed_chain() {
  const std::vector<std::string> settings{"run.scheme=event", "run.tolerance=1e-11", "run.end_time=1",
                                          "run.output_step=0.5"};
  const ModelFile model = parse_model(embedded::model_bricard, "bricard.toml", settings);
  const Simulation run = simulate(*model.system, model.initial, model.run);
  ClosedChain chain;
  chain.status = run.status;
  chain.rows = model.constraint_rank.rows;
  chain.rank = model.constraint_rank.rank;
  chain.dependent = model.constraint_rank.dependent;
  const std::array<std::pair<double, Eigen::Vector3d>, 2> published{
      {{0.5, {0.774717808039, -0.979815047656, -0.199906158953}},
       {1.0, {0.274481319265, -0.886707938735, -0.462330002687}}}};
  const Trajectory& t = run.trajectory;
  Vector q(model.initial.q.size());
  std::vector<Pose> poses;
  for (const auto& [time, point] : published) {
    double error = HUGE_VAL;
    for (Index k = 0; k < t.rows(); ++k) {
      if (std::abs(t.t(k) - time) > 1e-12) continue;
      for (Index i = 0; i < q.size(); ++i) q[i] = t.q(k, i);
      body_poses(*model.bodies, model.tree.get(), q, poses);
      error = (poses[2].position - point).norm();
    }
    chain.position_error = std::max(chain.position_error, error);
  }
  const auto energy = [&](Index k) { return t.energy(k).kinetic + t.energy(k).potential; };
  for (Index k = 0; k < t.rows(); ++k)
    chain.energy_drift = std::max(chain.energy_drift, std::abs(energy(k) - energy(0)));
  return chain;
}

}  // namespace stickslip::paper2
