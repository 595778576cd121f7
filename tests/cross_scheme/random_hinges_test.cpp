// SPDX-License-Identifier: Apache-2.0
// Random systems of 2 to 12 hinges: the event scheme and time stepping at a small step are the same motion.
#include <gtest/gtest.h>

#include <random>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::random_hinges_test {
namespace {

std::unique_ptr<System> random_hinges(std::mt19937& generator, Index n) {
  auto random = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(generator); };
  MatrixModel model;
  DenseMatrix A(n, n), K = DenseMatrix::Zero(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) A(i, j) = random(-1, 1);
  DenseMatrix M = A * A.transpose();
  M.diagonal().array() += 1;
  std::vector<StateFunction> force;
  for (Index i = 0; i < n; ++i) {
    model.coordinates.push_back("y" + std::to_string(i + 1));
    K(i, i) = random(0.5, 4);
    FrictionElement law;
    law.name = "hinge" + std::to_string(i + 1);
    law.directions = {{{i, 1.0}}};
    law.limit = StateFunction(random(0.05, 0.6));
    model.friction.push_back(law);
  }
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  for (Index i = 0; i < n; ++i) {
    const std::string text = std::to_string(random(-1, 1)) + "*sin(" + std::to_string(random(0.3, 2)) + "*t + " +
                             std::to_string(random(0, 6)) + ")";
    model.force.components.push_back(StateFunction(Expression::parse(text, symbols)));
  }
  model.mass = SystemMatrix(M);
  model.damping = SystemMatrix::zero(n);
  model.stiffness = SystemMatrix(K);
  return make_system(std::move(model));
}

TEST(RandomHinges, MoveTheSameByEventsAndByTimeStepping) {
  std::mt19937 generator(7);
  std::size_t events = 0;
  for (int trial = 0; trial < 44; ++trial) {
    const Index n = 2 + trial % 11;
    const auto system = random_hinges(generator, n);
    State initial;
    initial.q = Vector::Zero(n);
    initial.v = Vector::Zero(n);
    for (Index i = 0; i < n; ++i) initial.q[i] = std::uniform_real_distribution<double>(-1, 1)(generator);
    SimulationOptions options;
    options.end_time = 8;
    options.scheme = SchemeKind::event;
    options.steps = 1;
    const Simulation event = simulate(*system, initial, options);
    ASSERT_EQ(event.status, Status::success) << "trial " << trial << ": " << event.message;
    events += event.trajectory.events.size();
    options.scheme = SchemeKind::moreau;
    options.steps = 4000;
    options.output_times = {8};
    const Simulation stepping = simulate(*system, initial, options);
    ASSERT_EQ(stepping.status, Status::success) << "trial " << trial << ": " << stepping.message;
    // Second order with h = 0.002: h² is 4e-6; the motions are of size 1.
    EXPECT_LT((event.final.q - stepping.final.q).lpNorm<Eigen::Infinity>(), 1e-4) << "trial " << trial << ", n = " << n;
  }
  EXPECT_GT(events, 400u);
}

}  // namespace
}  // namespace stickslip::random_hinges_test
