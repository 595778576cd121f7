// SPDX-License-Identifier: Apache-2.0
// Rolling and skating by the exact scheme: closed forms, steady motions, stability, energy.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>

#include "papers/viscoelastic/skate.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/constrained_motion.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/nonholonomic_models.hpp"
#include "tests/support/source_folder.hpp"

namespace stickslip::nonholonomic_test {
namespace {

using Settings = std::vector<std::string>;

ModelFile model(const std::string& name, const Settings& settings = {}) {
  return read_model(source_folder() + "/models/" + name + ".toml", settings);
}

Simulation run(const std::string& name, const Settings& settings = {}) {
  const ModelFile file = model(name, settings);
  Simulation result = simulate(*file.system, file.initial, file.run);
  EXPECT_EQ(result.status, Status::success) << name << ": " << result.message;
  return result;
}

Settings skate_settings(const paper4::Skate& skate) {
  return {fmt::format("parameters.m={:.17g}", skate.m),
          fmt::format("parameters.J={:.17g}", skate.J),
          fmt::format("parameters.g={:.17g}", skate.gs),
          "parameters.alpha=\"pi/2\"",
          fmt::format("initial.position=[{:.17g}, {:.17g}, {:.17g}]", skate.u1, skate.u2, skate.phi0),
          fmt::format("initial.velocity=[{:.17g}, {:.17g}, {:.17g}]", skate.v0 * std::cos(skate.phi0),
                      skate.v0 * std::sin(skate.phi0), skate.w)};
}

TEST(Skate, FollowsItsClosedFormOnThreeStarts) {
  for (const paper4::Skate& skate : {paper4::skate_a(), paper4::skate_b(), paper4::skate_c()}) {
    const Simulation s = run("skate", skate_settings(skate));
    const Trajectory& rows = s.trajectory;
    ASSERT_GT(rows.rows(), 1000);
    for (Index k = 0; k < rows.rows(); ++k) {
      const paper4::SkateState x = paper4::ideal(skate, rows.t(k));
      // 1e-12 is asked of every step; a hundred steps add up, and u grows with t
      EXPECT_NEAR(rows.q(k, 0), x.u1, 1e-10);
      EXPECT_NEAR(rows.q(k, 1), x.u2, 1e-10);
      EXPECT_NEAR(rows.v(k, 0), x.v1, 1e-10);
      EXPECT_NEAR(rows.v(k, 1), x.v2, 1e-10);
    }
  }
}

TEST(Skate, ReactionOfTheBladeIsMeanOfTheClosedForm) {
  const Simulation s = run("skate");
  const Trajectory& rows = s.trajectory;
  ASSERT_EQ(rows.names().reactions, std::vector<std::string>{"blade"});
  for (Index k = 1; k < rows.rows(); ++k) {
    // Λ = -2 m gs sin t, its mean over the row by the exact integral; the reaction is -Λ
    const double from = rows.t(k - 1), to = rows.t(k);
    EXPECT_NEAR(rows.reaction(k, 0), 2 * 4.905 * (std::cos(from) - std::cos(to)) / (to - from), 1e-9);
  }
}

TEST(ChaplyginSleigh, TurnsIntoStraightGlidingByHyperbolicFunctions) {
  // v' = a w², w' = -m a/(J + m a²) v w from v(0) = 0: v = V tanh(κt), w = W sech(κt), V = W sqrt((J + m a²)/m)
  constexpr double m = 2, J = 0.5, a = 0.3, W = 3;
  const double V = W * std::sqrt((J + m * a * a) / m), kappa = m * a / (J + m * a * a) * V;
  const Simulation s = run("chaplygin-sleigh");
  for (Index k = 0; k < s.trajectory.rows(); ++k) {
    const double t = s.trajectory.t(k), phi = s.trajectory.q(k, 2);
    EXPECT_NEAR(phi, 2 * W / kappa * std::atan(std::tanh(kappa * t / 2)), 1e-10);
    EXPECT_NEAR(s.trajectory.v(k, 0) * std::cos(phi) + s.trajectory.v(k, 1) * std::sin(phi), V * std::tanh(kappa * t),
                1e-10);
    EXPECT_NEAR(s.trajectory.v(k, 2), W / std::cosh(kappa * t), 1e-10);
  }
}

TEST(RollingDisc, KeepsItsUnstableSteadyMotionForFiveSeconds) {
  const Simulation s = run("rolling-disc");
  const double R = 0.913022800669688 / -2;
  for (Index k = 0; k < s.trajectory.rows(); ++k) {
    const double t = s.trajectory.t(k);
    // The start is given to 1e-15; it grows by e^(0.75 t) = 42, and so does the tolerance 1e-13 of each of the steps.
    EXPECT_NEAR(s.trajectory.q(k, 0), R * std::sin(-2 * t), 1e-9);
    EXPECT_NEAR(s.trajectory.q(k, 1), R * (1 - std::cos(-2 * t)), 1e-9);
    EXPECT_NEAR(s.trajectory.q(k, 3), 0.3, 1e-9);
    EXPECT_NEAR(s.trajectory.q(k, 4), 1.50406321399237 * t, 1e-9);
    if (k == 0) continue;
    EXPECT_NEAR(s.trajectory.reaction(k, 0), 0, 1e-8);
    EXPECT_NEAR(s.trajectory.reaction(k, 1), -1.826045601339376, 1e-8);
  }
}

std::string disc_start(double r, double theta, double psi_rate, double theta_rate, double phi_rate) {
  const double v1 = r * (phi_rate + psi_rate * std::sin(theta)), v2 = -r * theta_rate * std::cos(theta);
  return fmt::format("initial.velocity=[{:.17g}, {:.17g}, {:.17g}, {:.17g}, {:.17g}]", v1, v2, psi_rate, theta_rate,
                     phi_rate);
}

TEST(RollingDisc, ConservesEnergyWhileItWobbles) {
  const Simulation s =
      run("rolling-disc", {"initial.position=[0, 0, 0, 0.2, 0]", disc_start(1, 0.2, 0.5, 0.1, 3), "run.end_time=3"});
  double lowest = HUGE_VAL, highest = -HUGE_VAL, lean_from = HUGE_VAL, lean_to = -HUGE_VAL;
  for (Index k = 0; k < s.trajectory.rows(); ++k) {
    const double e = s.trajectory.energy(k).kinetic + s.trajectory.energy(k).potential;
    lowest = std::min(lowest, e);
    highest = std::max(highest, e);
    lean_from = std::min(lean_from, s.trajectory.q(k, 3));
    lean_to = std::max(lean_to, s.trajectory.q(k, 3));
  }
  EXPECT_GT(lean_to - lean_from, 0.05);  // it does wobble
  EXPECT_LT((highest - lowest) / highest, 1e-11);
  EXPECT_LT(audit_value(s, "constraint_velocity"), 1e-11);
}

TEST(RollingDisc, PrecessesAtTheRatesOfTheClosedForm) {
  struct Case {
    double k, a, alpha, Rc, rate;
  };
  const double degree = std::numbers::pi / 180;
  for (const Case& c :
       {Case{0.25, 0.3, 60 * degree, 0.5, 2.68181557566978}, Case{0.25, 0.3, 30 * degree, 0.0, 16.1740532953246},
        Case{0.5, 0.2, 75 * degree, 1.0, 1.13907853309538}, Case{0.25, 0.05, 10 * degree, 0.01, 45.135005272549}}) {
    const double theta = std::numbers::pi / 2 - c.alpha, spin = -c.Rc * c.rate / c.a;
    const double turn = 2 * std::numbers::pi / c.rate;
    const Simulation s =
        run("rolling-disc",
            {fmt::format("parameters.r={:.17g}", c.a), fmt::format("parameters.I1={:.17g}", c.k * c.a * c.a),
             fmt::format("parameters.I3={:.17g}", 2 * c.k * c.a * c.a),
             fmt::format("initial.position=[0, 0, 0, {:.17g}, 0]", theta),
             disc_start(c.a, theta, c.rate, 0, spin - c.rate * std::sin(theta)),
             fmt::format("run.end_time={:.17g}", turn), fmt::format("run.output_step={:.17g}", turn / 50)});
    for (Index row = 0; row < s.trajectory.rows(); ++row) EXPECT_NEAR(s.trajectory.q(row, 3), theta, 1e-9);
    // After one turn the centre is back; 15 digits of the rate, times the growth of an unstable motion in one turn.
    EXPECT_NEAR(s.final.q[0], 0, 1e-9);
    EXPECT_NEAR(s.final.q[1], 0, 1e-9);
  }
}

TEST(RollingDisc, FallsBelowAndStandsAboveTheCriticalSpeed) {
  constexpr double a = 0.3, g = 9.81;
  for (const double k : {0.25, 0.5}) {  // disc, hoop
    const double critical = std::sqrt(g / (2 * a * (2 * k + 1)));
    for (const double factor : {0.99, 1.01}) {
      const Simulation s = run(
          "rolling-disc", {fmt::format("parameters.r={}", a), fmt::format("parameters.I1={:.17g}", k * a * a),
                           fmt::format("parameters.I3={:.17g}", 2 * k * a * a), "initial.position=[0, 0, 0, 1e-6, 0]",
                           disc_start(a, 1e-6, 0, 0, factor * critical), "run.end_time=15"});
      double largest = 0;
      for (Index row = 0; row < s.trajectory.rows(); ++row)
        largest = std::max(largest, std::abs(s.trajectory.q(row, 3)));
      if (factor < 1) {
        EXPECT_NEAR(largest, 0.15, 0.01) << "k = " << k;
      } else {
        EXPECT_NEAR(largest, 1.0e-4, 0.1e-4) << "k = " << k;
      }
    }
  }
}

TEST(RollingSphere, CirclesOnTheTurntableAtTwoSeventhsOfItsRate) {
  const Simulation s = run("rolling-sphere");
  const double rate = 2.0 / 7 * 2, v = 0.2;
  for (Index k = 0; k < s.trajectory.rows(); ++k) {
    const double angle = rate * s.trajectory.t(k);
    // (x', y') turns from (0, v); x, y are its integrals
    EXPECT_NEAR(s.trajectory.v(k, 0), -v * std::sin(angle), 1e-10);
    EXPECT_NEAR(s.trajectory.v(k, 1), v * std::cos(angle), 1e-10);
    EXPECT_NEAR(s.trajectory.q(k, 0), 0.2 + v / rate * (std::cos(angle) - 1), 1e-10);
    EXPECT_NEAR(s.trajectory.q(k, 1), v / rate * std::sin(angle), 1e-10);
  }
}

TEST(SteeredWheel, RunsOnACircleWhileTheSteeringIsHeld) {
  const double delta = 0.3, L = 1.1, speed = 3, rate = speed * std::tan(delta) / L, R = speed / rate;
  const Simulation s = run("steered-wheel", {fmt::format("constraint.steering.position=\"delta - {}\"", delta),
                                             fmt::format("initial.position=[0, 0, 0, {}]", delta),
                                             fmt::format("initial.velocity=[{}, 0, {:.17g}, 0]", speed, rate)});
  for (Index k = 0; k < s.trajectory.rows(); ++k) {
    const double t = s.trajectory.t(k);
    EXPECT_NEAR(s.trajectory.q(k, 0), R * std::sin(rate * t), 1e-9);
    EXPECT_NEAR(s.trajectory.q(k, 1), R * (1 - std::cos(rate * t)), 1e-9);
  }
}

TEST(SteeredWheel, SteeringDoesAllTheWorkAndNothingDrifts) {
  for (const char* name : {"steered-wheel", "trailer"}) {
    const Simulation s = run(name);
    EXPECT_LT(audit_value(s, "constraint_velocity"), 1e-11) << name;
    EXPECT_LT(audit_value(s, "constraint_position"), 1e-11) << name;
    const EnergyLedger& e = s.trajectory.energy(s.trajectory.rows() - 1);
    double most_work = 0;
    for (Index k = 0; k < s.trajectory.rows(); ++k)
      most_work = std::max(most_work, std::abs(s.trajectory.energy(k).work_in));
    EXPECT_GT(most_work, 1e-5 * e.initial) << name;  // there is something to balance
    EXPECT_LT(audit_value(s, "energy"), 1e-11) << name;
  }
}

TEST(Trailer, IsParkedStraightAndHalfAMetreAside) {
  const Simulation s = run("trailer");
  // The history was computed for a massless steering: what its inertia changes is amplified by e^(8/2.2) = 38.
  EXPECT_NEAR(s.final.q[0], -7.76, 0.05);
  EXPECT_NEAR(s.final.q[1], 0.5, 0.05);
  EXPECT_NEAR(s.final.q[2], 0, 0.05);
  EXPECT_NEAR(s.final.q[3], 0, 0.1);
}

TEST(Nonholonomic, ReadyMadeSystemsAreThoseOfTheModelFiles) {
  struct Case {
    const char* file;
    EquationModel made;
  };
  const VehicleParameters wheel{.m = 80, .J = 10, .Js = 0.5, .b = 0.5, .L = 1.1};
  std::vector<Case> cases;
  cases.push_back({"skate", skate({.slope = std::numbers::pi / 6})});
  cases.push_back({"chaplygin-sleigh", sleigh({.m = 2, .J = 0.5, .a = 0.3})});
  cases.push_back({"rolling-disc", rolling_disc()});
  cases.push_back({"rolling-sphere", rolling_sphere({.table_rate = 2})});
  cases.push_back({"steered-wheel", steered_wheel(wheel, "0.4*(1 - cos(1.5*t))/2")});
  cases.push_back({"trailer", trailer({}, {}, "0")});
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0.3, 1.2);
  for (Case& c : cases) {
    const ModelFile file = model(c.file);
    const std::unique_ptr<System> made = make_system(std::move(c.made));
    ASSERT_EQ(made->info().coordinates, file.system->info().coordinates);
    const Index n = made->info().nv();
    Vector q(n), v(n), h(n), h_file(n);
    for (double& x : q) x = uniform(random);
    for (double& x : v) x = uniform(random);
    SystemWorkspace a(*made), b(*file.system);
    const double t = 0;  // the trailer's steering is another one; at 0 both are straight
    made->force(t, q, v, a, h);
    file.system->force(t, q, v, b, h_file);
    EXPECT_LT((h - h_file).lpNorm<Eigen::Infinity>(), 1e-9 * (1 + h.lpNorm<Eigen::Infinity>())) << c.file;
    EXPECT_LT((made->inertia().mass(q, a).to_dense() - file.system->inertia().mass(q, b).to_dense())
                  .lpNorm<Eigen::Infinity>(),
              1e-9)
        << c.file;
    ConstraintRows rows, rows_file;
    made->laws().constraint_source().evaluate(t, q, a, rows);
    file.system->laws().constraint_source().evaluate(t, q, b, rows_file);
    ASSERT_EQ(rows.A.rows(), rows_file.A.rows()) << c.file;
    EXPECT_LT((rows.A - rows_file.A).lpNorm<Eigen::Infinity>(), 1e-14) << c.file;
    if (std::string(c.file) != "trailer") {
      EXPECT_LT((rows.rate - rows_file.rate).lpNorm<Eigen::Infinity>(), 1e-14);
    }
  }
}

TEST(Nonholonomic, StartAcrossTheBladeIsRefusedWithTheConstraintAndItsResidual) {
  try {
    model("skate", {"initial.velocity=[0, 0.5, 1]"});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("blade"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("0.5"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace stickslip::nonholonomic_test
