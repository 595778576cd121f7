// SPDX-License-Identifier: Apache-2.0
// The piles by `moreau` with its default settings, on one thread.
//
// usage: stickslip_piles SCENE COUNT MU RESTITUTION [STEP]
#include "scene.hpp"
#include "stickslip/model/rigid_bodies.hpp"
#include "stickslip/motion/simulate.hpp"

using namespace stickslip;

namespace {

Vector3 vector_of(const pile::Triple& x) { return {x[0], x[1], x[2]}; }
Eigen::Quaterniond quaternion_of(const pile::Quadruple& q) { return {q[0], q[1], q[2], q[3]}; }

BodyModel model_of(const pile::Scene& scene) {
  BodyModel model;
  model.gravity = {0, 0, -pile::kGravity};
  model.threads = 1;
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    const pile::Body& given = scene.bodies[i];
    RigidBody body;
    body.name = "body" + std::to_string(i + 1);
    body.group = "body";
    body.mass = given.mass;
    body.position = vector_of(given.position);
    body.orientation = quaternion_of(given.orientation);
    model.bodies.push_back(std::move(body));
    Shape shape;
    shape.body = static_cast<int>(i);
    shape.kind = given.kind == pile::Kind::sphere    ? ShapeKind::sphere
                 : given.kind == pile::Kind::capsule ? ShapeKind::capsule
                                                     : ShapeKind::box;
    if (given.kind == pile::Kind::box) {
      shape.size = vector_of(given.size);
    } else {
      shape.radius = given.size[0];
      shape.length = given.size[1];
    }
    model.shapes.push_back(std::move(shape));
  }
  for (const pile::Plane& plane : scene.planes) {
    Shape shape;
    shape.kind = ShapeKind::plane;
    shape.pose.position = vector_of(plane.position);
    shape.pose.orientation = Eigen::Quaterniond::FromTwoVectors(Vector3::UnitZ(), vector_of(plane.normal));
    model.shapes.push_back(std::move(shape));
  }
  for (const pile::Plate& plate : scene.plates) {
    Shape shape;
    shape.kind = ShapeKind::box;
    shape.size = vector_of(plate.size);
    shape.pose.position = vector_of(plate.position);
    shape.pose.orientation = quaternion_of(plate.orientation);
    model.shapes.push_back(std::move(shape));
  }
  BodyContact contact;
  contact.law.name = "touch";
  contact.law.mu = scene.mu;
  contact.law.restitution = scene.restitution;
  contact.first = contact.second = "*";
  model.contacts.push_back(std::move(contact));
  return model;
}

}  // namespace

int main(int argc, char** argv) {
  const pile::Scene scene = pile::parse(argc, argv);
  pile::Outcome outcome;
  outcome.program = "stickslip";
  outcome.step = argc > 5 ? std::atof(argv[5]) : scene.step;
  const BodyModel model = model_of(scene);
  State start;
  start.q = start_positions(model);
  start.v = start_velocities(model);
  const std::unique_ptr<System> system = make_system(model);
  SimulationOptions options;
  options.step = outcome.step;
  options.end_time = scene.end;
  options.output_step = scene.end / 2;
  double begin = pile::cpu_seconds();
  SystemWorkspace workspace(*system);
  ContactPoints inside;
  const auto deepest = [&](const State& state) {
    if (scene.only_spheres()) return pile::deepest(scene, state.q.data());
    system->laws().contact_source().find(state.t, state.q, 0.0, workspace, inside);
    double depth = 0;
    for (const ContactSite& point : inside.points) depth = std::max(depth, -point.gap);
    return depth;
  };
  SimulationHooks hooks;
  hooks.keep_going = [&](const State& state) {
    outcome.seconds += pile::cpu_seconds() - begin;
    outcome.depth = std::max(outcome.depth, deepest(state));
    begin = pile::cpu_seconds();
    return true;
  };
  const Simulation run = simulate(*system, start, options, hooks);
  outcome.seconds += pile::cpu_seconds() - begin;
  outcome.status = std::string(to_string(run.status));
  outcome.depth_at_end = deepest(run.final);
  outcome.contacts = static_cast<long>(run.trajectory.point_forces(run.trajectory.rows() - 1).size());
  for (std::size_t i = 0; i < scene.bodies.size(); ++i)
    outcome.fastest_at_end = std::max(outcome.fastest_at_end, run.final.v.segment<3>(6 * static_cast<Index>(i)).norm());
  pile::print(scene, outcome);
  if (!run.message.empty()) std::fprintf(stderr, "%s\n", run.message.c_str());
  return run.status == Status::success ? 0 : 1;
}
