// SPDX-License-Identifier: Apache-2.0
// Scheme `compliant` beside the rigid ones: what every scheme must do, on models with contacts; its limit of large
// stiffness against `event` and `moreau`; forces that rigid contact leaves open.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/comparison.hpp"
#include "stickslip/solvers/compliant_contact.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/source_folder.hpp"

namespace stickslip::compliant_suite_test {
namespace {

/// A model with contacts whose last coordinate is the gap; {k} stands for the stiffness, {z} for the depth of rest.
struct Sample {
  const char* name;
  const char* text;
  double weight;  ///< on the contact [N]
};

const Sample kSlide{"slide", R"toml(
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = [0, -9.81]
[[contact]]
gap = "z"
slip = "x"
mu = 0.3
{compliance}
[initial]
position = [0, {z}]
velocity = [2, 0]
[run]
step = 1e-3
tolerance = 1e-10
end_time = 1.2
)toml",
                    9.81};

const Sample kIncline{"incline", R"toml(
[matrices]
coordinates = ["x", "y", "z"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = ["9.81*sin(0.5)", 0, "-9.81*cos(0.5)"]
[[contact]]
gap = "z"
slip = ["x", "y"]
mu = "tan(0.5)"
{compliance}
[initial]
position = [0, 0, {z}]
velocity = [0, 1, 0]
[run]
step = 1e-3
tolerance = 1e-10
end_time = 2
)toml",
                      9.81 * 0.8775825618903728};

const Sample kBelt{"belt", R"toml(
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
stiffness = [[20, 0], [0, 0]]
force = [0, -9.81]
[[contact]]
gap = "z"
slip = "x"
mu = 0.2
surface_velocity = 0.3
{compliance}
[initial]
position = [0.3, {z}]
[run]
step = 1e-3
tolerance = 1e-10
end_time = 3
)toml",
                   9.81};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

Simulation run(const ModelFile& model) {
  Simulation result = simulate(*model.system, model.initial, model.run);
  EXPECT_EQ(result.status, Status::success) << result.message;
  return result;
}

Simulation rigid(const Sample& sample, const std::string& scheme) {
  const std::string text = replaced(replaced(sample.text, "{compliance}", ""), "{z}", "0");
  return run(parse_model(text, "rigid.toml", std::vector<std::string>{"run.scheme=" + scheme}));
}

ModelFile compliant_model(const Sample& sample, double k, const std::vector<std::string>& settings = {}) {
  const std::string text =
      replaced(replaced(sample.text, "{compliance}",
                        fmt::format("compliance = {{ stiffness = {:.17g}, damping = {:.17g} }}", k, std::sqrt(k))),
               "{z}", fmt::format("{:.17g}", -sample.weight / k));
  std::vector<std::string> all{"run.scheme=compliant"};
  all.insert(all.end(), settings.begin(), settings.end());
  return parse_model(text, "compliant.toml", all);
}

/// Of positions and velocities along the surface.
double error(const Simulation& a, const Simulation& b) {
  const Index n = a.final.q.size() - 1;
  return (a.final.q - b.final.q).head(n).lpNorm<Eigen::Infinity>() +
         (a.final.v - b.final.v).head(n).lpNorm<Eigen::Infinity>();
}

class CompliantContact : public testing::TestWithParam<const Sample*> {};

TEST_P(CompliantContact, ComesWithinOneOverStiffnessOfTheEventSolution) {
  const Simulation exact = rigid(*GetParam(), "event");
  std::vector<double> k{1e6, 1e7, 1e8}, errors;
  for (const double stiffness : k) errors.push_back(error(run(compliant_model(*GetParam(), stiffness)), exact));
  EXPECT_NEAR(fitted_order(k, errors), -1, 0.1);
  EXPECT_LT(errors.back(), 1e-5);
}

TEST_P(CompliantContact, AgreesWithMoreauWithinTheErrorsOfBoth) {
  const Simulation moreau = rigid(*GetParam(), "moreau"), exact = rigid(*GetParam(), "event");
  const Simulation compliant = run(compliant_model(*GetParam(), 1e7));
  EXPECT_LE(error(compliant, moreau), error(compliant, exact) + error(moreau, exact) + 1e-14);
  EXPECT_LT(error(compliant, moreau), 5e-3);  // moreau has order 1 where planar slip turns: h = 1 ms
}

TEST_P(CompliantContact, SameRunTwiceIsTheSameToTheLastBit) {
  const Simulation a = run(compliant_model(*GetParam(), 1e4)), b = run(compliant_model(*GetParam(), 1e4));
  EXPECT_EQ(a.final.q, b.final.q);
  EXPECT_EQ(a.final.v, b.final.v);
  EXPECT_EQ(a.final.z, b.final.z);
}

TEST_P(CompliantContact, RestartFromAStoredStateGoesOnWithinTheTolerance) {
  const ModelFile model = compliant_model(*GetParam(), 1e4);
  const Simulation whole = run(model);
  SimulationOptions options = model.run;
  options.end_time = 0.3;
  const Simulation first = simulate(*model.system, model.initial, options);
  options.start_time = 0.3;
  options.end_time = model.run.end_time;
  const Simulation second = simulate(*model.system, first.final, options);
  EXPECT_LT((second.final.q - whole.final.q).norm(), 1e3 * options.tolerance);
  EXPECT_LT((second.final.v - whole.final.v).norm(), 1e4 * options.tolerance);  // velocities of a contact at 100 rad/s
}

TEST_P(CompliantContact, AuditHoldsWhatIsMeasuredAlone) {
  const Simulation s = run(compliant_model(*GetParam(), 1e5, {"run.end_time=0.1"}));
  for (const AuditItem& item : s.audit) {
    EXPECT_NE(item.name, "momentum");      // an integrated step balances no momentum of its own
    EXPECT_NE(item.name, "stuck_motion");  // what sticks deforms
  }
}

TEST_P(CompliantContact, EnergyClosesAndFrictionLoses) {
  for (const char* integrator : {"explicit", "stiff"}) {
    const Simulation s =
        run(compliant_model(*GetParam(), 1e4, {fmt::format("run.compliant.integrator={}", integrator)}));
    EXPECT_LT(audit_value(s, "energy"), 1e-8) << integrator;
    EXPECT_GT(audit_value(s, "energy_friction_loss"), 0.05) << integrator;
  }
}

TEST_P(CompliantContact, StopRequestKeepsEverythingUpToThere) {
  const ModelFile model = compliant_model(*GetParam(), 1e4);
  SimulationHooks hooks;
  hooks.keep_going = [](const State& s) { return s.t < 0.2; };
  const Simulation s = simulate(*model.system, model.initial, model.run, hooks);
  EXPECT_EQ(s.status, Status::interrupted);
  EXPECT_GE(s.final.t, 0.2);
  EXPECT_LT(s.final.t, 0.3);
  EXPECT_GT(s.trajectory.rows(), 1);
}

INSTANTIATE_TEST_SUITE_P(Models, CompliantContact, testing::Values(&kSlide, &kIncline, &kBelt),
                         [](const auto& sample) { return std::string(sample.param->name); });

/// error = c₁/k + O(k^(-3/2)): where the block comes to rest on the belt its spring, strained by the slip, throws it
/// into a second slip whose time falls only like k^(-1/2). So error times k still grows up to 1e7, by less and less.
TEST(CompliantScheme, BeltApproachesItsRigidLimitThroughASecondShortSlip) {
  const Simulation exact = rigid(kBelt, "event");
  std::vector<double> scaled, slip;
  for (const double k : {1e5, 1e6, 1e7, 1e8}) {
    const Simulation s = run(compliant_model(kBelt, k, {"run.tolerance=1e-11"}));
    scaled.push_back(k * error(s, exact));
    ASSERT_GE(s.trajectory.events.size(), 3u);
    EXPECT_EQ(s.trajectory.events[1].kind, EventKind::slip);
    slip.push_back(s.trajectory.events[2].t - s.trajectory.events[1].t);
  }
  for (std::size_t i = 2; i < scaled.size(); ++i) {
    EXPECT_LT(scaled[i] - scaled[i - 1], 0.75 * (scaled[i - 1] - scaled[i - 2]));
    EXPECT_NEAR(std::log10(slip[i - 1] / slip[i]), 0.5, 0.1);
  }
}

TEST(CompliantScheme, ForceThatBecomesNotANumberEndsTheRunWithAStatus) {
  const ModelFile model = compliant_model(kSlide, 1e4, {"matrices.force=[\"sqrt(0.5 - t)\", -9.81]"});
  const Simulation s = simulate(*model.system, model.initial, model.run);
  EXPECT_EQ(s.status, Status::not_finite) << s.message;
  EXPECT_NEAR(s.final.t, 0.5, 0.02);
  EXPECT_TRUE(s.final.q.allFinite());
}

ModelFile example(const std::string& name, const std::vector<std::string>& settings = {}) {
  return read_model(source_folder() + "/models/" + name + ".toml", settings);
}

TEST(RobotFoot, HeelSlipsWhereItsShareOfThePushReachesItsCone) {
  const Simulation s = run(example("robot-foot"));
  ASSERT_EQ(s.trajectory.events.size(), 2u);
  for (const Event& event : s.trajectory.events) {
    EXPECT_EQ(event.kind, EventKind::slip);
    EXPECT_GE(event.law, 2);
    EXPECT_NEAR(event.t, 0.6 / (0.3 + 0.9 * 0.6), 1e-9);
  }
}

TEST(RobotFoot, EveryForceIsThatOfTheClosedForm) {
  const Simulation s = run(example("robot-foot", {"run.end_time=0.5", "run.output_step=1e-3"}));
  const double weight = 2 * 9.81 + 100, t = 0.4995;  // reactions are means over the last millisecond
  for (Index corner = 0; corner < 4; ++corner) {
    EXPECT_NEAR(s.final_reaction[3 * corner], (1 + (corner < 2 ? 0.9 : -0.9) * t) * weight / 4, 1e-6);
    EXPECT_NEAR(s.final_reaction[3 * corner + 1], -0.3 * t * weight / 4, 1e-6);
    EXPECT_NEAR(s.final_reaction[3 * corner + 2], 0, 1e-9);
  }
}

TEST(TwoFingerGrasp, LetsGoWhereTheClosedFormSaysAndFallsAsItSays) {
  const double mu = 0.5, m = 0.2, rate = 2, release = (4 - m * 9.81 / (2 * mu)) / rate;
  const Simulation s = run(example("two-finger-grasp"));
  ASSERT_EQ(s.trajectory.events.size(), 4u);
  for (const Event& event : s.trajectory.events) EXPECT_NEAR(event.t, release, 1e-9);
  EXPECT_NEAR(s.final.q[1], -mu * rate / (3 * m) * std::pow(1.5 - release, 3), 1e-8);
}

TEST(TwoFingerGrasp, EachPointBearsAQuarterOfTheWeightAndHalfOfTheSqueeze) {
  const Simulation s = run(example("two-finger-grasp", {"run.end_time=0.5", "run.output_step=1e-3"}));
  for (Index point = 0; point < 4; ++point) {
    EXPECT_NEAR(s.final_reaction[2 * point], (4 - 2 * 0.4995) / 2, 1e-7);
    EXPECT_NEAR(s.final_reaction[2 * point + 1], 0.2 * 9.81 / 4, 1e-8);
  }
}

/// Rows of the foot's contacts over its six velocities: normals, then the tangents corner by corner.
DenseMatrix foot_rows() {
  DenseMatrix rows = DenseMatrix::Zero(12, 6);
  const double a = 0.08, b = 0.04;
  for (Index corner = 0; corner < 4; ++corner) {
    const double x = corner < 2 ? a : -a, y = corner % 2 == 0 ? b : -b;
    rows.row(corner) << 0, 0, 1, y, -x, 0;
    rows.row(4 + 2 * corner) << 1, 0, 0, 0, 0, -y;
    rows.row(5 + 2 * corner) << 0, 1, 0, 0, 0, x;
  }
  return rows;
}

TEST(RobotFoot, RigidForcesAreOpenInSixDirectionsAndCompliantOnesInNone) {
  const DenseMatrix rows = foot_rows();
  EXPECT_EQ(rows.transpose().colPivHouseholderQr().rank(), 6);  // 12 forces, 6 equations
  Vector round = Vector::Zero(12);
  round.head(4) << 1, -1, -1, 1;
  EXPECT_LT((rows.transpose() * round).norm(), 1e-15);  // alternating normals round the sole balance by themselves
  const Simulation explicit_run =
      run(example("robot-foot", {"run.compliant.integrator=explicit", "run.tolerance=1e-12"}));
  const Simulation stiff_run = run(example("robot-foot", {"run.compliant.integrator=stiff", "run.tolerance=1e-12"}));
  EXPECT_LT((explicit_run.final_reaction - stiff_run.final_reaction).lpNorm<Eigen::Infinity>(), 1e-7);
}

/// Corners whose stiffness and damping are coupled through the sole, some slipping, one open.
CompliantProblem coupled_corners(std::mt19937& random) {
  std::uniform_real_distribution<double> any(-1, 1);
  CompliantProblem problem;
  for (int corner = 0; corner < 4; ++corner) problem.points.push_back({.mu = 0.6, .tangents = 2, .first = 2 * corner});
  const DenseMatrix k = DenseMatrix::NullaryExpr(12, 12, [&] { return any(random); });
  const DenseMatrix c = DenseMatrix::NullaryExpr(8, 8, [&] { return any(random); });
  problem.K = 2e4 * (DenseMatrix::Identity(12, 12) + 0.2 * k * k.transpose());
  problem.C = 200 * (DenseMatrix::Identity(8, 8) + 0.2 * c * c.transpose());
  problem.gap = Vector::NullaryExpr(4, [&] { return -1e-3 + 1.2e-3 * any(random); });
  problem.normal_velocity = Vector::Zero(4);
  problem.deformation = 1e-3 * Vector::NullaryExpr(8, [&] { return any(random); });
  problem.velocity = 0.1 * Vector::NullaryExpr(8, [&] { return any(random); });
  return problem;
}

TEST(CoupledCorners, ForcesDoNotDependOnWhereTheIterationStarts) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(-1, 1);
  int slipping = 0, open = 0;
  for (int sample = 0; sample < 50; ++sample) {
    const CompliantProblem problem = coupled_corners(random);
    CompliantWorkspace fresh;
    CompliantSolution first;
    solve(problem, fresh, first);
    ASSERT_EQ(first.status, Status::success);
    const double size = std::max(first.normal.maxCoeff(), first.tangential.lpNorm<Eigen::Infinity>());
    for (const ContactPieces& piece : first.pieces) {
      open += !piece.closed;
      slipping += piece.closed && piece.tangential.kind == SectionPiece::Kind::rim;
    }
    for (int start = 0; start < 10; ++start) {
      const CompliantProblem other = coupled_corners(random);  // leaves its forces and pieces behind
      CompliantWorkspace used;
      CompliantSolution again;
      solve(other, used, again);
      again.tangential = size * Vector::NullaryExpr(8, [&] { return any(random); });
      for (char& closed : used.closed) closed = any(random) > 0;
      used.damping_version = ~0ul;
      solve(problem, used, again);
      ASSERT_EQ(again.status, Status::success);
      EXPECT_LT((again.normal - first.normal).lpNorm<Eigen::Infinity>(), 1e-10 * size);
      EXPECT_LT((again.tangential - first.tangential).lpNorm<Eigen::Infinity>(), 1e-10 * size);
    }
  }
  EXPECT_GT(slipping, 20);
  EXPECT_GT(open, 5);
}

}  // namespace
}  // namespace stickslip::compliant_suite_test
