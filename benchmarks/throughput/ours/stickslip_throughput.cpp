// SPDX-License-Identifier: Apache-2.0
// The throughput problems of harness.hpp, chain and bouncing ball, through the library as a user calls it: an
// expression for the force, simulate() with the audit on and output every 1000 steps, reversals not located (the peers
// do not locate them either).
#include "harness.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/simulate.hpp"

using namespace stickslip;

namespace {

std::unique_ptr<System> make_problem(int n) {
  MatrixModel model;
  std::vector<Eigen::Triplet<double, int>> mass, stiffness;
  for (int i = 0; i < n; ++i) {
    model.coordinates.push_back("x" + std::to_string(i + 1));
    for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      if (const double m = throughput::mass(n, i, j); m != 0) mass.emplace_back(i, j, m);
      stiffness.emplace_back(i, j, throughput::stiffness(i, j));
    }
  }
  SparseMatrix M(n, n), K(n, n);
  M.setFromTriplets(mass.begin(), mass.end());
  K.setFromTriplets(stiffness.begin(), stiffness.end());
  model.mass = SystemMatrix::compact(M);
  model.damping = SystemMatrix::zero(n);
  model.stiffness = SystemMatrix::compact(K);
  model.force.common = StateFunction(Expression::parse("cos(0.7*t + i)", state_symbols(model.coordinates, {})));
  for (int i = 0; i < n; ++i) {
    FrictionElement law;
    law.name = "friction" + std::to_string(i + 1);
    law.directions = {{{i, 1.0}}};
    law.limit = StateFunction(throughput::kLimit);
    model.friction.push_back(std::move(law));
  }
  return make_system(std::move(model));
}

/// Height, sideways, rotation, as the peer has it.
std::unique_ptr<System> make_ball() {
  MatrixModel model;
  model.coordinates = {"y", "x", "phi"};
  model.mass = SystemMatrix(DenseMatrix(Eigen::Vector3d(1, 1, 0.004).asDiagonal()));
  model.damping = model.stiffness = SystemMatrix::zero(3);
  for (const double weight : {-throughput::kGravity, 0.0, 0.0}) model.force.components.emplace_back(weight);
  ExpressionContact contact;
  contact.law.name = "ground";
  contact.law.tangents = 0;
  contact.law.restitution = throughput::kRestitution;
  contact.gap = StateFunction(Expression::parse("y", state_symbols(model.coordinates, {})));
  model.contacts.push_back(std::move(contact));
  return make_system(std::move(model));
}

}  // namespace

int main(int argc, char** argv) {
  const throughput::Arguments arguments = throughput::parse(argc, argv, {"moreau", "ball"});
  const bool ball = arguments.formulation == "ball";
  const int n = ball ? 3 : arguments.n;
  const long steps = arguments.steps > 0 ? arguments.steps : std::max(200L, 4000000L / n);
  const std::unique_ptr<System> system = ball ? make_ball() : make_problem(n);
  const double h = ball ? throughput::kBallStep : throughput::kStep;
  State initial;
  if (ball) {
    initial.q = Eigen::Vector3d(throughput::kBallHeight, 0, 0);
  } else {
    const std::vector<double> q = throughput::initial_positions(n);
    initial.q = Eigen::Map<const Vector>(q.data(), n);
  }
  initial.v = Vector::Zero(n);
  SimulationOptions options;
  options.step = h;
  options.moreau.theta = throughput::kTheta;
  options.moreau.force = ForceSampling::end;
  options.moreau.locate_reversals = false;
  options.moreau.contact_rule = ContactRule::velocity;

  options.end_time = h * std::max(10.0, 0.1 * static_cast<double>(steps));
  simulate(*system, initial, options);  // warm-up

  options.end_time = h * static_cast<double>(steps);
  options.output_step = 1000 * h;
  // Set-up is not clocked, as for the peers: it ends with the row of the start.
  double begin = 0;
  SimulationHooks hooks;
  hooks.on_row = [&](const OutputRow&) {
    if (begin == 0) begin = throughput::thread_cpu_seconds();
  };
  const Simulation run = simulate(*system, initial, options, hooks);
  const double seconds = throughput::thread_cpu_seconds() - begin;
  if (run.status != Status::success) {
    std::fprintf(stderr, "%s\n", run.message.c_str());
    return 1;
  }
  throughput::print_result("stickslip", arguments, run.steps, seconds, run.final.q[0]);
}
