// SPDX-License-Identifier: Apache-2.0
// Discrete trajectories of the textbook scheme that other programs computed (reference sheet on friction-contact,
// section 6): the same scheme must give the same numbers to rounding.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/contact_models.hpp"
#include "tests/support/one_mass.hpp"
#include "tests/support/source_folder.hpp"

namespace stickslip::peer_trajectory_test {
namespace {

using namespace contact_models;

std::vector<std::vector<double>> peer_rows(const std::string& name) {
  const auto path = std::filesystem::path(source_folder()) / ".." / "shared" / "data" / "trajectories" / name;
  std::ifstream file(path);
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream numbers(line);
    rows.emplace_back();
    for (double x; numbers >> x;) rows.back().push_back(x);
  }
  return rows;
}

SimulationOptions at_rows(SimulationOptions options, const std::vector<std::vector<double>>& rows) {
  for (const auto& row : rows) options.output_times.push_back(row[0]);
  return options;
}

TEST(PeerTrajectory, BouncingBallIsTheTwentyLineLoop) {
  const double h = 0.005, e = 0.9, g = 9.81;
  State start;
  start.q = Vector::Ones(1);
  start.v = Vector::Zero(1);
  const Simulation run = simulate(*bouncing_ball(e), start, textbook_options(h, 10));
  ASSERT_EQ(run.status, Status::success) << run.message;
  double q = 1, v = 0;
  for (Index n = 1; n <= 2000; ++n) {
    const double free = v - h * g;
    const double after = q + 0.5 * h * v <= 0 ? std::max(free, -e * v) : free;
    q += 0.5 * h * (v + after);
    v = after;
    ASSERT_NEAR(run.trajectory.q(n, 0), q, 1e-12) << n;
    ASSERT_NEAR(run.trajectory.v(n, 0), v, 1e-12) << n;
  }
}

TEST(PeerTrajectory, BouncingBall) {
  const auto rows = peer_rows("bouncing-ball.txt");
  if (rows.empty()) GTEST_SKIP() << "../shared/data is not there";
  State start;
  start.q = Vector::Ones(1);
  start.v = Vector::Zero(1);
  const Simulation run = simulate(*bouncing_ball(0.9), start, textbook_options(0.005, 10));
  ASSERT_EQ(run.status, Status::success) << run.message;
  double worst = 0;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    worst = std::max(worst, std::abs(run.trajectory.q(static_cast<Index>(n), 0) - rows[n][1]));
    worst = std::max(worst, std::abs(run.trajectory.v(static_cast<Index>(n), 0) - rows[n][2]));
  }
  EXPECT_LT(worst, 1e-12);
}

TEST(PeerTrajectory, FrictionOscillator) {
  const auto rows = peer_rows("friction-oscillator.txt");
  if (rows.empty()) GTEST_SKIP() << "../shared/data is not there";
  MatrixModel model;
  model.coordinates = {"x"};
  model.mass = model.stiffness = SystemMatrix(DenseMatrix::Identity(1, 1));
  model.damping = SystemMatrix::zero(1);
  FrictionElement friction;
  friction.name = "floor";
  friction.directions = {{{0, 1.0}}};
  friction.limit = 1.0;
  model.friction.push_back(friction);
  const auto system = make_system(std::move(model));
  State start;
  start.q = Vector::Constant(1, 12);
  start.v = Vector::Constant(1, 6);
  SimulationOptions options = textbook_options(0.01, 100);
  options.moreau.locate_reversals = false;
  const Simulation run = simulate(*system, start, at_rows(options, rows));
  ASSERT_EQ(run.trajectory.rows(), static_cast<Index>(rows.size()));
  double worst = 0;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    worst = std::max(worst, std::abs(run.trajectory.q(static_cast<Index>(n), 0) - rows[n][1]));
    worst = std::max(worst, std::abs(run.trajectory.v(static_cast<Index>(n), 0) - rows[n][2]));
  }
  EXPECT_LT(worst, 1e-10);
}

TEST(PeerTrajectory, Woodpecker) {
  const auto rows = peer_rows("woodpecker.txt");
  if (rows.empty()) GTEST_SKIP() << "../shared/data is not there";
  const auto system = woodpecker();
  const Simulation run = simulate(*system, woodpecker_start(), at_rows(textbook_options(2e-5, 0.3), rows));
  ASSERT_EQ(run.status, Status::success) << run.message;
  ASSERT_EQ(run.trajectory.rows(), static_cast<Index>(rows.size()));
  double position = 0, rate = 0;
  for (std::size_t n = 0; n < rows.size(); ++n)
    for (Index i = 0; i < 3; ++i) {
      position = std::max(position, std::abs(run.trajectory.q(static_cast<Index>(n), i) - rows[n][1 + 2 * i]));
      rate = std::max(rate, std::abs(run.trajectory.v(static_cast<Index>(n), i) - rows[n][2 + 2 * i]));
    }
  EXPECT_LT(position, 1e-10);
  EXPECT_LT(rate, 1e-8);
}

}  // namespace
}  // namespace stickslip::peer_trajectory_test
