// SPDX-License-Identifier: Apache-2.0
// Bilateral constraints by the null space: published and closed-form motions, redundant rows, singular positions,
// starts.
#include "stickslip/motion/constrained_motion.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "stickslip/common/dormand_prince.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/null_space.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/motion/comparison.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/model_text.hpp"
#include "tests/support/source_folder.hpp"

namespace stickslip::constrained_motion_test {
namespace {

Vector vec(std::initializer_list<double> values) {
  Vector x(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

/// The mechanical part of a model of the project: everything before [run].
ModelFile mechanism(const std::string& name) {
  const std::string path = fmt::format("{}/models/{}.toml", source_folder(), name);
  const std::string text = read_text_file(path, 1 << 20);
  return parse_model(text.substr(0, text.find("[run]")), path);
}

struct Motion {
  Vector q, v, lambda;
  double position_drift = 0, velocity_drift = 0;  // after the projections
};

/// Dormand-Prince with projection of position and velocity after every step.
Motion integrate(const System& system, Vector q, Vector v, double end, double tolerance) {
  const Index n = q.size();
  ConstraintWorkspace workspace(system);
  Motion result;
  Vector a(n), position(n), velocity(n), y(2 * n);
  OdeOptions options;
  options.relative_tolerance = options.absolute_tolerance = tolerance;
  DormandPrince integrator(options);
  const auto f = [&](double t, const Vector& state, Vector& rate) {
    position = state.head(n);
    velocity = state.tail(n);
    if (!constrained_acceleration(system, t, position, velocity, workspace, a, result.lambda)) return false;
    rate << velocity, a;
    return true;
  };
  y << q, v;
  integrator.restart(0, y);
  while (integrator.t() < end) {
    if (integrator.step(f, end) != OdeStep::accepted) {
      ADD_FAILURE() << "the integrator gave up at t = " << integrator.t();
      break;
    }
    const double t = integrator.t();
    q = integrator.y().head(n);
    v = integrator.y().tail(n);
    EXPECT_EQ(project_position(system, t, q, workspace), Status::success) << "t = " << t;
    EXPECT_EQ(project_velocity(system, t, q, v, workspace), Status::success) << "t = " << t;
    const ConstraintDrift drift = constraint_drift(system, t, q, v, workspace);
    result.position_drift = std::max(result.position_drift, drift.position);
    result.velocity_drift = std::max(result.velocity_drift, drift.velocity);
    y << q, v;
    integrator.restart(t, y, integrator.suggested_step());
  }
  EXPECT_TRUE(constrained_acceleration(system, end, q, v, workspace, a, result.lambda));
  result.q = q;
  result.v = v;
  return result;
}

// Published values (IVP test set) have 15 to 18 digits; entries that are 0 there are measured against the largest.
void expect_close(const Vector& ours, const Vector& published, double relative, const char* what) {
  ASSERT_EQ(ours.size(), published.size());
  const double largest = published.cwiseAbs().maxCoeff();
  for (Index k = 0; k < ours.size(); ++k)
    EXPECT_NEAR(ours[k], published[k], relative * (published[k] == 0 ? largest : std::abs(published[k])))
        << what << " " << k;
}

TEST(ConstrainedMotion, AndrewsMechanismStartsWithThePublishedAccelerationsAndForces) {
  const ModelFile model = mechanism("andrews");
  ConstraintWorkspace workspace(*model.system);
  Vector a, lambda;
  ASSERT_TRUE(constrained_acceleration(*model.system, 0, model.initial.q, model.initial.v, workspace, a, lambda));
  expect_close(a, vec({14222.4439199541139, -10666.8329399655854, 0, 0, 0, 0, 0}), 1e-9, "acceleration");
  // The source writes M q'' = f - Gᵀ λ.
  expect_close(-lambda, vec({98.5668703962410896, -6.12268834425566266, 0, 0, 0, 0}), 1e-9, "multiplier");
  EXPECT_EQ(describe(model.constraint_rank), "6 constraints of rank 6, 1 degree of freedom left");
}

// The reference is good to a few times 1e-10 in q, 5e-8 in v and 2e-6 in λ (it does not get closer for smaller
// tolerances).
TEST(ConstrainedMotion, AndrewsMechanismReachesThePublishedStateWithoutDrift) {
  const ModelFile model = mechanism("andrews");
  const Motion end = integrate(*model.system, model.initial.q, model.initial.v, 0.03, 1e-10);
  expect_close(end.q,
               vec({15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
                    0.5347301163226948, 1.048080741042263}),
               1e-8, "position");
  expect_close(end.v,
               vec({1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385, 0.5735699284790808,
                    -19.29337464421385, 0.3231791658026955}),
               1e-6, "velocity");
  expect_close(-end.lambda,
               vec({199.1753333731910, -29.75531228015052, 23.06654119098399, 31.45271365475927, 22.64249232082739,
                    11.61740700019673}),
               1e-5, "multiplier");
  EXPECT_LT(end.position_drift, 1e-14);  // [m]: round-off of lengths of 0.07
  EXPECT_LT(end.velocity_drift, 1e-12);  // [m/s]: round-off of terms of 40
}

/// A pendulum of length 1 in Cartesian coordinates; `more` adds constraints.
std::shared_ptr<const System> pendulum(const std::string& more, const std::string& initial = "position = [1, 0]") {
  return std::move(
      parse_model("[matrices]\ncoordinates = [\"x\", \"y\"]\nmass = [[2, 0], [0, 2]]\nforce = [0, -19.62]\n"
                  "[[constraint]]\nname = \"rod\"\nposition = \"x^2 + y^2 - 1\"\n" +
                      more + "[initial]\n" + initial + "\n",
                  "pendulum.toml")
          .system);
}

TEST(ConstrainedMotion, RowsGivenTwiceShareTheForceAndChangeNoMotion) {
  const auto once = pendulum("");
  const auto twice = pendulum("[[constraint]]\nname = \"again\"\nposition = \"x^2 + y^2 - 1\"\n");
  const auto doubled = pendulum("[[constraint]]\nposition = \"2*x^2 + 2*y^2 - 2\"\n");
  const Vector q = vec({0.6, -0.8}), v = vec({0.8, 0.6});
  Vector a, lambda;
  ConstraintWorkspace one(*once), two(*twice), three(*doubled);
  ASSERT_TRUE(constrained_acceleration(*once, 0, q, v, one, a, lambda));
  const Vector expected = a;
  const double force = lambda[0];
  ASSERT_TRUE(constrained_acceleration(*twice, 0, q, v, two, a, lambda));
  EXPECT_LT((a - expected).norm(), 1e-14 * expected.norm());
  EXPECT_NEAR(lambda[0], force / 2, 1e-14 * std::abs(force));
  EXPECT_NEAR(lambda[1], force / 2, 1e-14 * std::abs(force));
  const RankReport report = rank_report(*twice, 0, q, two);
  EXPECT_EQ(report.rank, 1);
  EXPECT_EQ(report.freedoms, 1);
  EXPECT_EQ(report.dependent, std::vector<std::string>{"again"});
  // Rows a and 2a are the same row in other units: each carries half of the total λ₁ + 2 λ₂.
  ASSERT_TRUE(constrained_acceleration(*doubled, 0, q, v, three, a, lambda));
  EXPECT_LT((a - expected).norm(), 1e-14 * expected.norm());
  EXPECT_NEAR(lambda[0], force / 2, 1e-14 * std::abs(force));
  EXPECT_NEAR(lambda[1], force / 4, 1e-14 * std::abs(force));

  const Motion single = integrate(*once, vec({1, 0}), vec({0, 0}), 2, 1e-11);
  const Motion redundant = integrate(*twice, vec({1, 0}), vec({0, 0}), 2, 1e-11);
  EXPECT_LT((single.q - redundant.q).norm(), 1e-9);
}

/// -sin φ x' + cos φ y' = 0 on an incline: a cycloid, and its lateral force 2 m g' sin(w t) (closed form).
TEST(ConstrainedMotion, SkateOnAnInclineRunsAlongItsCycloid) {
  const ModelFile model = parse_model(
      "[equations]\ncoordinates = [\"u1\", \"u2\", \"phi\"]\nmass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n"
      "force = [4.905, 0, 0]\n[[constraint]]\nrow = [\"-sin(phi)\", \"cos(phi)\", 0]\nrate = \"0\"\n"
      "[initial]\nvelocity = [0, 0, 1]\n",
      "skate.toml");
  EXPECT_EQ(model.system->laws().constraints()[0].name, "constraint1");
  EXPECT_FALSE(model.system->laws().constraints()[0].holonomic);
  for (const double t : {1.0, 5.0}) {
    const Motion end = integrate(*model.system, model.initial.q, model.initial.v, t, 1e-12);
    EXPECT_NEAR(end.q[0], 4.905 / 2 * std::pow(std::sin(t), 2), 1e-10);
    EXPECT_NEAR(end.q[1], 4.905 / 2 * (t - std::sin(2 * t) / 2), 1e-10);
    EXPECT_NEAR(end.lambda[0], 2 * 4.905 * std::sin(t), 1e-9);
    EXPECT_LT(end.velocity_drift, 1e-14);
  }
}

/// x = sin(2t) is imposed on a mass: its force is m x'' = -4 m sin(2t) against the load.
TEST(ConstrainedMotion, PositionImposedInTimeIsFollowedByItsForce) {
  const ModelFile model = parse_model(
      "[matrices]\ncoordinates = [\"x\"]\nmass = [[3]]\nforce = [\"7*t\"]\n[[constraint]]\nposition = \"x - "
      "sin(2*t)\"\n"
      "[initial]\nvelocity = [2]\n",
      "driven.toml");
  const Motion end = integrate(*model.system, model.initial.q, model.initial.v, 1.3, 1e-11);
  EXPECT_NEAR(end.q[0], std::sin(2.6), 1e-15);
  EXPECT_NEAR(end.v[0], 2 * std::cos(2.6), 1e-14);
  EXPECT_NEAR(end.lambda[0], -12 * std::sin(2.6) - 7 * 1.3, 1e-13);
}

/// β'' = -c cos β, the parallelogram of the linkage (closed form), through every flat position.
/// A drive whose speed jumps, or changes, at any place of a step and with either value at the jump: its work is that of
/// its impulse at the mean speed, so that the balance of energy closes to round-off.
TEST(ConstrainedMotion, SpeedsOfADriveThatJumpBringTheirWorkInSteps) {
  for (const char* rate : {"if(t < 1, 0.2, 1)", "if(t <= 1, 0.2, 1)", "if(t < 1.0003, 0.2, 1)", "0.2 + 0.1*sin(3*t)"})
    for (const double step : {0.01, 0.0025}) {
      const ModelFile model = parse_model(fmt::format(R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 2]]
stiffness = [[10, -10], [-10, 10]]
[[constraint]]
row = [1, 0]
rate = "{}"
[[friction]]
on = "y"
limit = 1
[initial]
velocity = [0.2, 0]
[run]
scheme = "moreau"
step = {}
end_time = 2
)toml",
                                                      rate, step),
                                          "test.toml");
      const Simulation run = simulate(*model.system, model.initial, model.run);
      ASSERT_EQ(run.status, Status::success) << rate << run.message;
      EXPECT_LT(audit_value(run, "energy"), 1e-12) << rate << " " << step;
    }
}

TEST(ConstrainedMotion, FourBarLinkageGoesThroughItsSingularPositions) {
  const ModelFile model = mechanism("four-bar");
  EXPECT_EQ(model.constraint_rank.freedoms, 1);
  const Motion end = integrate(*model.system, model.initial.q, model.initial.v, 10, 1e-9);
  // The tolerance times the growth of errors over 13 turns (1e-7 measured).
  EXPECT_NEAR(std::cos(end.q[0]), 0.328458111539, 1e-6);
  EXPECT_NEAR(std::sin(end.q[0]), 0.944518538179, 1e-6);
  EXPECT_LT(end.position_drift, 1e-12);

  ConstraintWorkspace workspace(*model.system);
  const RankReport flat = rank_report(*model.system, 0, Vector::Zero(5), workspace);
  EXPECT_EQ(flat.rank, 2);
  EXPECT_EQ(flat.dependent, (std::vector<std::string>{"tip1_x", "tip2_x"}));
}

/// The same by time steps, whatever part of a step the flat position falls on.
TEST(ConstrainedMotion, FourBarLinkageGoesThroughItsSingularPositionsInSteps) {
  const ModelFile model = mechanism("four-bar");
  SimulationOptions options = model.run;
  options.scheme = SchemeKind::moreau;
  options.end_time = 10;
  std::vector<double> steps{0.0041, 0.003, 0.002, 0.0013, 0.001}, errors;
  for (const double h : steps) {
    options.step = h;
    const Simulation s = simulate(*model.system, model.initial, options);
    ASSERT_EQ(s.status, Status::success) << "step " << h << ": " << s.message;
    errors.push_back(std::hypot(std::cos(s.final.q[0]) - 0.328458111539, std::sin(s.final.q[0]) - 0.944518538179));
    EXPECT_LT(std::abs(s.final.q[1] - s.final.q[0]) + std::abs(s.final.q[2] - s.final.q[0]), 1e-12) << "step " << h;
    EXPECT_LT(audit_value(s, "constraint_position"), 1e-13);
    EXPECT_LT(audit_value(s, "energy"), 2 * h * h);  // 1e-5 at 4 ms
  }
  EXPECT_NEAR(fitted_order(steps, errors), 2, 0.1);
}

/// With friction in one joint: the one degree of freedom by itself, 3 β'' = -3.5 g cos β - c sign β', by `event`.
TEST(ConstrainedMotion, FourBarLinkageWithJointFrictionGoesThroughItsSingularPositionsInSteps) {
  const ModelFile free = mechanism("four-bar");
  const Simulation exact = run_text(R"toml(
[equations]
coordinates = ["b"]
kinetic_energy = "1.5*v_b^2"
potential = "3.5*9.81*sin(b)"
[[friction]]
on = "b"
limit = 3
[initial]
position = ["pi/2"]
velocity = [-1]
[run]
scheme = "event"
tolerance = 1e-11
end_time = 4
)toml");
  ASSERT_EQ(exact.status, Status::success) << exact.message;
  const ModelFile model =
      parse_model(free.text + "\n[[friction]]\nname = \"joint\"\non = \"b0\"\nlimit = 3\n", "four-bar.toml");
  SimulationOptions options = model.run;
  options.scheme = SchemeKind::moreau;
  options.end_time = 4;
  std::vector<double> steps{0.004, 0.002, 0.001}, errors;
  for (const double h : steps) {
    options.step = h;
    const Simulation s = simulate(*model.system, model.initial, options);
    ASSERT_EQ(s.status, Status::success) << "step " << h << ": " << s.message;
    errors.push_back(std::abs(s.final.q[0] - exact.final.q[0]));
  }
  EXPECT_LT(errors.back(), 1e-5);
  EXPECT_NEAR(fitted_order(steps, errors), 2, 0.2);
}

/// The same by `event`: through the flat positions, or with a status that says that it was not. Which tolerances lose
/// the branch depends on where steps fall; most do not.
TEST(ConstrainedMotion, FourBarLinkageWithJointFrictionGoesThroughItsSingularPositionsOrSaysSo) {
  const ModelFile free = mechanism("four-bar");
  const std::string text = free.text + "\n[[friction]]\nname = \"joint\"\non = \"b0\"\nlimit = 3\n";
  const double exact = -3.034835002;  // 3 β'' = -3.5 g cos β - c sign β', tolerance 1e-12
  int passes = 0;
  for (const double tolerance : {1e-6, 1e-7, 1e-8, 1e-9, 1e-10}) {
    const std::vector<std::string> given{"run.scheme=event", "run.end_time=4",
                                         fmt::format("run.tolerance={}", tolerance)};
    const ModelFile model = parse_model(text, "four-bar.toml", given);
    const Simulation s = simulate(*model.system, model.initial, model.run);
    if (s.status != Status::success) {
      EXPECT_NE(s.message.find("run.tolerance"), std::string::npos) << s.message;
      continue;
    }
    ++passes;
    EXPECT_NEAR(s.final.q[0], exact, std::max(1e-9, tolerance)) << tolerance;
    EXPECT_NEAR(s.final.q[2], s.final.q[0], 1e-12) << tolerance;
  }
  EXPECT_GE(passes, 3);
}

DenseMatrix random_matrix(std::mt19937& random, Index rows, Index columns) {
  std::normal_distribution<double> normal;
  return DenseMatrix::NullaryExpr(rows, columns, [&] { return normal(random); });
}

TEST(ConstrainedMass, SolvesMotionAndConstraintsTogetherWhateverTheRank) {
  std::mt19937 random(7);
  constexpr double kRoundOff = 1e-9;  // condition of the random matrices up to 1e5
  for (int sample = 0; sample < 300; ++sample) {
    const Index n = 1 + sample % 9, m = static_cast<Index>(random() % 12);
    const Index rank = std::min({n, m, static_cast<Index>(random() % 10)});
    const DenseMatrix root = random_matrix(random, n, n);
    const DenseMatrix M = root * root.transpose() + DenseMatrix::Identity(n, n);
    const DenseMatrix A = random_matrix(random, m, rank) * random_matrix(random, rank, n);
    const Vector h = random_matrix(random, n, 1), bias = A * random_matrix(random, n, 1);
    ConstrainedMass mass;
    ASSERT_TRUE(mass.refresh(SystemMatrix(M), A));
    ASSERT_EQ(mass.rank(), rank) << "sample " << sample;
    const DenseMatrix& N = mass.free_directions();
    Vector a, lambda, x;
    mass.acceleration(h, bias, a);
    mass.multipliers(h, a, lambda);
    const double size = 1 + a.norm() * (M.norm() + A.norm());
    EXPECT_LT((A * N).norm(), kRoundOff * (1 + A.norm()));
    EXPECT_LT((N.transpose() * M * N - DenseMatrix::Identity(n - rank, n - rank)).norm(), kRoundOff);
    EXPECT_LT((A * a + bias).norm(), kRoundOff * size) << "sample " << sample;
    EXPECT_LT((M * a - h - A.transpose() * lambda).norm(), kRoundOff * size) << "sample " << sample;
    // The shortest multipliers of rows of unit length in the metric of M⁻¹, by an independent decomposition.
    const Vector unit = (A * M.inverse() * A.transpose()).diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
    const DenseMatrix scaled = unit.asDiagonal() * A;
    const Vector shortest = unit.cwiseProduct(null_space(scaled).pseudo_inverse.transpose() * (M * a - h));
    EXPECT_LT((lambda - shortest).norm(), kRoundOff * (1 + shortest.norm())) << "sample " << sample;
    const Vector w = random_matrix(random, n, 1);
    mass.apply(w, x);
    Vector moved;
    mass.acceleration(h + w, bias, moved);
    EXPECT_LT((moved - a - x).norm(), kRoundOff * size);
    DenseMatrix columns(n, 2), several;
    columns << w, h;
    mass.apply(columns, several);
    EXPECT_LT((several.col(0) - x).norm(), kRoundOff * size);
  }
}

TEST(ConstraintProjection, VelocityChangesByForcesOfTheConstraintsOnly) {
  const auto system = pendulum("");
  ConstraintWorkspace workspace(*system);
  const Vector q = vec({0.6, -0.8});
  Vector v = vec({3, 1});
  ASSERT_EQ(project_velocity(*system, 0, q, v, workspace), Status::success);
  // Along the rod nothing is left, across it nothing has changed.
  EXPECT_NEAR(v.dot(q), 0, 1e-15);
  EXPECT_NEAR(v.dot(vec({0.8, 0.6})), 3 * 0.8 + 0.6, 1e-15);
}

/// The nearest point in kinetic energy: with masses 1 and 4 on x + y = 1 from (0, 0) the light one moves 4 times as
/// far.
TEST(ConstraintProjection, PositionMovesTheLightMassMore) {
  const ModelFile model = parse_model(
      "[matrices]\ncoordinates = [\"x\", \"y\"]\nmass = [[1, 0], [0, 4]]\n[[constraint]]\nposition = \"x + y - 1\"\n"
      "[initial]\nposition = [0.5, 0.5]\n",
      "two.toml");
  ConstraintWorkspace workspace(*model.system);
  Vector q = vec({0, 0});
  ASSERT_EQ(project_position(*model.system, 0, q, workspace), Status::success);
  EXPECT_NEAR(q[0], 0.8, 1e-15);
  EXPECT_NEAR(q[1], 0.2, 1e-15);
}

TEST(ConstraintProjection, FarPositionIsBroughtOntoTheConstraintToRoundOff) {
  const auto system = pendulum("");
  ConstraintWorkspace workspace(*system);
  Vector q = vec({3, -2});
  ASSERT_EQ(project_position(*system, 0, q, workspace), Status::success);
  EXPECT_NEAR(q.norm(), 1, 4e-16);
  EXPECT_NEAR(q[1] / q[0], -2.0 / 3, 1e-15);
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ConsistentStart, ViolationsAreRefusedByNameAndResidualUnlessTheyAreToBeProjected) {
  const auto message = [](const std::string& initial, const std::string& more = "") {
    return refusal([&] { pendulum(more, initial); });
  };
  EXPECT_NE(message("position = [1.1, 0]").find("the initial position violates constraint 'rod' by 0.21"),
            std::string::npos)
      << message("position = [1.1, 0]");
  EXPECT_NE(
      message("position = [1, 0]\nvelocity = [0.5, 2]").find("the initial velocity violates constraint 'rod' by 1"),
      std::string::npos);
  EXPECT_EQ(message("position = [1.1, 0]\nconsistent = \"project\""), "accepted");
  EXPECT_EQ(message("position = [1.0000001, 0]"), "accepted");
  EXPECT_NE(message("position = [1, 0]\nconsistent = \"maybe\"").find("unknown word"), std::string::npos);
  EXPECT_TRUE(message("position = [1, 0]\nvelocity = [0.5, 2]").starts_with("pendulum.toml:8:"));
}

TEST(ConsistentStart, ContradictoryConstraintsAreRefusedAtEveryLevel) {
  const auto message = [](const std::string& more) {
    return refusal([&] { pendulum(more, "position = [1, 0]\nconsistent = \"project\""); });
  };
  const std::string position = message("[[constraint]]\nname = \"other\"\nposition = \"x^2 + y^2 - 2\"\n");
  EXPECT_NE(position.find("no position near the initial one satisfies all constraints"), std::string::npos) << position;
  EXPECT_NE(position.find("'rod'"), std::string::npos);
  EXPECT_NE(position.find("'other'"), std::string::npos);
  const std::string velocity = message("[[constraint]]\nname = \"pull\"\nrow = [\"x\", \"y\"]\nrate = 1\n");
  EXPECT_NE(velocity.find("no velocity satisfies all of them"), std::string::npos) << velocity;
  EXPECT_NE(velocity.find("'pull'"), std::string::npos);
  const std::string acceleration = message("[[constraint]]\nname = \"pull\"\nrow = [\"x\", \"y\"]\nrate = \"3*t\"\n");
  EXPECT_NE(acceleration.find("no acceleration satisfies all of them"), std::string::npos) << acceleration;
}

}  // namespace
}  // namespace stickslip::constrained_motion_test
