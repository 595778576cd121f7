// SPDX-License-Identifier: Apache-2.0
// The chain by this library. `steps` is simulate() with the scheme moreau and its audit, one output row at the end; its
// steps are clocked from the first on. Variants: `located` (default settings: reversals located, order 2), `unlocated`
// (locate_reversals = false: every step is solved once, as the peers do). `dynamics` is TreeSweeps::forward_dynamics().
#include "chain.hpp"
#include "stickslip/model/multibody/tree_sweeps.hpp"
#include "stickslip/model/rigid_bodies.hpp"
#include "stickslip/motion/simulate.hpp"

using namespace stickslip;

namespace {

BodyModel make_chain(int n, double limit) {
  BodyModel model;
  model.gravity = {0, 0, -chain::kGravity};
  for (int i = 0; i < n; ++i) {
    RigidBody body;
    body.name = "link" + std::to_string(i);
    body.mass = chain::kMass;
    body.center = {chain::kLength / 2, 0, 0};
    body.inertia = Eigen::Vector3d(chain::kInertiaAlong, chain::kInertiaAcross, chain::kInertiaAcross)
                       .asDiagonal()
                       .toDenseMatrix();
    model.bodies.push_back(body);
    Hinge hinge;
    hinge.name = "hinge" + std::to_string(i);
    hinge.parent = i - 1;
    hinge.child = i;
    if (i > 0) hinge.position = {chain::kLength, 0, 0};
    hinge.axes = {i % 2 == 0 ? HingeAxis::ry : HingeAxis::rz};
    hinge.position_0 = {chain::position(i)};
    model.hinges.push_back(hinge);
    if (limit > 0) model.friction.push_back({.name = "dry" + std::to_string(i), .directions = {on(i)}, .limit = limit});
  }
  return model;
}

int clock_steps(const chain::Arguments& arguments) {
  const BodyModel model = make_chain(arguments.n, chain::kLimit);
  const auto system = make_system(model);
  State start;
  start.q = start_positions(model);
  start.v = start_velocities(model);
  SimulationOptions options;
  options.step = chain::kStep;
  options.end_time = chain::kSteps * chain::kStep;
  options.output_times = {options.end_time};
  options.moreau.locate_reversals = arguments.variant != "unlocated";
  double begin = 0, end = 0;
  Simulation result;
  bool first = true;
  SimulationHooks hooks;
  hooks.keep_going = [&](const State&) {
    if (first) begin = chain::cpu_seconds();
    first = false;
    return true;
  };
  const double rate = chain::best_steps_per_second([&] {
    first = true;
    result = simulate(*system, start, options, hooks);
    end = chain::cpu_seconds();
    return (end - begin) * chain::kSteps / (chain::kSteps - 1);
  });
  if (result.status != Status::success) {
    std::fprintf(stderr, "%s\n", result.message.c_str());
    return 1;
  }
  chain::print("stickslip", arguments, rate, result.final.q[0], result.final.q[arguments.n - 1]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const chain::Arguments arguments = chain::parse(argc, argv);
  if (arguments.steps) return clock_steps(arguments);
  const int n = arguments.n;
  const Tree tree = make_tree(make_chain(n, 0));
  const TreeSweeps sweeps(tree, {0, 0, -chain::kGravity});
  TreeSweeps::Memory memory = sweeps.make_memory();
  Vector q(n), v(n), a, other(n);  // from call to call the angles change, as cosines of angles nearby are kept
  const Vector none = Vector::Zero(n);
  for (int i = 0; i < n; ++i) {
    q[i] = chain::position(i);
    other[i] = q[i] + 1;
    v[i] = chain::velocity(i);
  }
  const double rate = chain::rate_of([&] {
                        sweeps.forward_dynamics(other, v, none, memory, a);
                        sweeps.forward_dynamics(q, v, none, memory, a);
                      }) *
                      2;
  chain::print("stickslip", arguments, rate, a[0], a[n - 1]);
}
