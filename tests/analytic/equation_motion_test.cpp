// SPDX-License-Identifier: Apache-2.0
// Systems given by equations, stepped by moreau, against closed forms and against the same system given by matrices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/io/model_file.hpp"
#include "tests/support/audit_value.hpp"

namespace stickslip::equation_motion_test {
namespace {

Simulation run_text(const std::string& text, std::vector<std::string> settings = {}) {
  const ModelFile model = parse_model(text, "test.toml", settings);
  return simulate(*model.system, model.initial, model.run);
}

/// θ'' = -g/l sin θ from rest at θ0: back after the period 4 K(sin(θ0/2)) sqrt(l/g).
TEST(EquationMotion, PendulumKeepsTheEllipticPeriodWithOrderTwo) {
  const double theta0 = 1.2, g = 9.81;
  const double period = 4 * std::comp_ellint_1(std::sin(theta0 / 2)) * std::sqrt(1 / g);
  const std::string text =
      "[equations]\ncoordinates = [\"a\"]\nkinetic_energy = \"0.5*v_a^2\"\npotential = \"-9.81*cos(a)\"\n"
      "[initial]\nposition = [1.2]\n[run]\nsteps = 100\nend_time = 1\n";
  std::vector<double> errors;
  for (const int steps : {100, 200, 400}) {
    const Simulation r =
        run_text(text, {"run.end_time=" + fmt::format("{:.17g}", period), fmt::format("run.steps={}", steps)});
    ASSERT_EQ(r.status, Status::success) << r.message;
    errors.push_back(std::abs(r.final.v[0]));
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.05);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.05);
}

TEST(EquationMotion, DoublePendulumByEnergyAndByMassMatrixIsOneMotion) {
  const std::string by_energy =
      "[equations]\ncoordinates = [\"a\", \"b\"]\nkinetic_energy = \"v_a^2 + 0.5*v_b^2 + v_a*v_b*cos(a - b)\"\n"
      "potential = \"-2*9.81*cos(a) - 9.81*cos(b)\"\n[initial]\nposition = [1, 0.3]\n[run]\nstep = 0.001\nend_time = "
      "2\n";
  const std::string by_mass =
      "[equations]\ncoordinates = [\"a\", \"b\"]\nmass = [[2, \"cos(a - b)\"], [\"cos(a - b)\", 1]]\n"
      "force = [\"-sin(a - b)*v_b^2 - 2*9.81*sin(a)\", \"sin(a - b)*v_a^2 - 9.81*sin(b)\"]\n"
      "[initial]\nposition = [1, 0.3]\n[run]\nstep = 0.001\nend_time = 2\n";
  const Simulation a = run_text(by_energy), b = run_text(by_mass);
  ASSERT_EQ(a.status, Status::success) << a.message;
  ASSERT_EQ(b.status, Status::success) << b.message;
  EXPECT_LT((a.final.q - b.final.q).lpNorm<Eigen::Infinity>(), 1e-10);
  // The midpoint rule does not keep this energy exactly; its error is O(h²) and does not pile up.
  EXPECT_LT(audit_value(a, "energy"), 1e-5);
}

TEST(EquationMotion, BallByEquationsBouncesAsByMatrices) {
  const std::string laws =
      "[[contact]]\ngap = \"y\"\nslip = \"x\"\nmu = 0.3\nrestitution = 0.7\n[initial]\nposition = [0, 1]\nvelocity = "
      "[2, 0]\n"
      "[run]\nstep = 0.001\nend_time = 3\n";
  const Simulation a =
      run_text("[matrices]\ncoordinates = [\"x\", \"y\"]\nmass = [[2, 0], [0, 2]]\nforce = [0, \"-2*9.81\"]\n" + laws);
  const Simulation b =
      run_text("[equations]\ncoordinates = [\"x\", \"y\"]\nmass = [[2, 0], [0, 2]]\npotential = \"2*9.81*y\"\n" + laws);
  ASSERT_EQ(a.status, Status::success) << a.message;
  ASSERT_EQ(b.status, Status::success) << b.message;
  EXPECT_LT((a.final.q - b.final.q).lpNorm<Eigen::Infinity>(), 1e-12);
  EXPECT_EQ(a.trajectory.events.size(), b.trajectory.events.size());
  EXPECT_GT(a.trajectory.events.size(), 5u);
  EXPECT_LT(audit_value(b, "energy"), 1e-12);
}

/// A bead on a shaking table takes off when the table falls faster than g.
TEST(EquationMotion, MovingSurfaceDoesWorkAndLetsGo) {
  const Simulation r = run_text(
      "[equations]\ncoordinates = [\"y\"]\nmass = [[1]]\npotential = \"9.81*y\"\n[[contact]]\ngap = \"y - 0.01*(1 - "
      "cos(40*t))\"\n"
      "[run]\nstep = 1e-5\nend_time = 0.07\n");
  ASSERT_EQ(r.status, Status::success) << r.message;
  double opens = 0;
  for (const Event& e : r.trajectory.events)
    if (e.kind == EventKind::open && opens == 0) opens = e.t;
  // 16 cos(40 t) = -9.81
  EXPECT_NEAR(opens, std::acos(-9.81 / 16) / 40, 3e-5);
}

TEST(EquationMotion, MassThatLosesDefinitenessIsNamed) {
  const Simulation r = run_text(
      "[equations]\ncoordinates = [\"x\"]\nmass = [[\"1 - x\"]]\n[initial]\nvelocity = [2]\n[run]\nstep = "
      "0.01\nend_time = 1\n");
  EXPECT_EQ(r.status, Status::refused);
  EXPECT_NE(r.message.find("not positive definite"), std::string::npos) << r.message;
}

TEST(EquationMotion, StaticLimitHoldsFromTheFirstStepOnBesideAContact) {
  const std::string text =
      "[matrices]\ncoordinates = [\"x\", \"y\"]\nmass = [[1, 0], [0, 1]]\nforce = [1.2, -10]\n[[friction]]\non = "
      "\"x\"\nlimit = 1\n"
      "static_limit = 1.5\n[[contact]]\ngap = \"y\"\n[run]\nstep = 0.01\nend_time = 1\n";
  EXPECT_EQ(run_text(text).final.q[0], 0.0);
  // x'' = 1.2 - 1 once it moves
  EXPECT_NEAR(run_text(text, {"initial.velocity=[0.1, 0]"}).final.v[0], 0.1 + 0.2, 1e-12);
}

/// A circulatory force does work that has no potential: reported, not a broken guarantee.
TEST(EquationMotion, CirculatoryStiffnessBesideAContactIsNoFailure) {
  const Simulation r = run_text(
      "[matrices]\ncoordinates = [\"x\", \"y\"]\nmass = [[1, 0], [0, 1]]\nstiffness = [[4, 1], [-1, "
      "4]]\n[[contact]]\ngap = \"y + 1\"\n"
      "[initial]\nposition = [1, 0]\n[run]\nstep = 0.01\nend_time = 2\n");
  EXPECT_EQ(r.status, Status::success) << r.message;
}

}  // namespace
}  // namespace stickslip::equation_motion_test
