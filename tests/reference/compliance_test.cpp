// SPDX-License-Identifier: Apache-2.0
// Scheme compliant against numbers known to many digits: an 8th-order integrator of its own at several tolerances
// (block on a plane, cones, rigid limit), closed forms (quasistatic slider), and agreement between its integrators.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::compliance_test {
namespace {

const char* const kBlock = R"toml(
[parameters]
mu = 0.3
[matrices]
coordinates = ["px", "py", "pz"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = [0, 0, -9.81]
[[contact]]
name = "floor"
gap = "pz"
slip = ["px", "py"]
mu = "mu"
cone = "CONE"
compliance = { stiffness = [[1000, 100, 50], [100, 800, 30], [50, 30, 700]], damping = [[20, 0], [0, 20]] }
[initial]
position = [0, 0, -0.00981]
velocity = [2, 1, 0]
[run]
scheme = "compliant"
tolerance = 1e-11
end_time = 1.5
)toml";

std::string block(const std::string& cone = "disk\"\n#") {
  std::string text = kBlock;
  text.replace(text.find("CONE\""), 5, cone);
  return text;
}
std::string polygon(int facets, bool circumscribed) {
  return block(
      fmt::format("polygon\"\npolygon = {{ facets = {}, circumscribed = {}, angle = 0 }} #", facets, circumscribed));
}

Vector state_of(const Simulation& s) {
  Vector x(8);
  x << s.final.q, s.final.v, s.final.z;
  return x;
}

TEST(Compliance, BlockOnAPlaneAtFourTimes) {
  const Simulation s = run_text(block(), {"run.output_times=[0.25,0.5,1,1.5]"});
  ASSERT_EQ(s.status, Status::success) << s.message;
  const double px[] = {0.417800893259, 0.671150125519, 7.569018610176e-01, 7.565851620543e-01};
  const double py[] = {0.208943484422, 0.335653763612, 3.783952059373e-01, 3.782523688290e-01};
  const double pz[] = {-0.010098625845, -0.010626090044, -1.023711131598e-02, -9.775306371479e-03};
  const double vx[] = {1.344377243682, 0.686091605373, -1.037606138883e-04, -9.430939285721e-04};
  const double vz[] = {-0.009411596941, -0.00848936606, 4.789081678475e-04, 3.711237202609e-05};
  ASSERT_EQ(s.trajectory.rows(), 4);
  for (Index k = 0; k < 4; ++k) {
    EXPECT_NEAR(s.trajectory.q(k, 0), px[k], 2e-11);
    EXPECT_NEAR(s.trajectory.q(k, 1), py[k], 2e-11);
    EXPECT_NEAR(s.trajectory.q(k, 2), pz[k], 2e-11);
    EXPECT_NEAR(s.trajectory.v(k, 0), vx[k], 2e-11);
    EXPECT_NEAR(s.trajectory.v(k, 2), vz[k], 2e-11);
  }
  EXPECT_NEAR(s.final.z[0], -1.232895928522e-03, 1e-12);
  EXPECT_NEAR(s.final.z[1], -6.659395823183e-04, 1e-12);
  ASSERT_EQ(s.trajectory.events.size(), 1u);
  EXPECT_EQ(s.trajectory.events[0].kind, EventKind::stick);
  EXPECT_NEAR(s.trajectory.events[0].t, 0.7594, 1e-4);  // sampled every 7.5e-5 in the reference
  EXPECT_LT(audit_value(s, "energy"), 1e-12);
  EXPECT_GT(audit_value(s, "inclusion"), 0);  // measured, to round-off
  EXPECT_LT(audit_value(s, "inclusion"), 1e-14);
}

TEST(Compliance, DefaultToleranceIsGoodForNineDigits) {
  const Simulation s = run_text(block(), {"run.tolerance=1e-9"});
  EXPECT_NEAR(s.final.q[0], 7.565851620543e-01, 1e-9);
  EXPECT_NEAR(s.final.q[1], 3.782523688290e-01, 1e-9);
}

TEST(Compliance, PolygonalCones) {
  struct Row {
    int facets;
    bool circumscribed;
    double px, py;
  };
  for (const Row& row :
       {Row{4, false, 0.958439129899, 0.237542631762}, Row{8, false, 0.738748853612, 0.426619621589},
        Row{8, true, 0.681955634417, 0.393955656706}, Row{16, true, 0.769667136007, 0.341095956172},
        Row{32, true, 0.761151518047, 0.361664977945}, Row{64, true, 0.751437661676, 0.387199956853}}) {
    const Simulation s = run_text(polygon(row.facets, row.circumscribed));
    ASSERT_EQ(s.status, Status::success) << s.message;
    EXPECT_NEAR(s.final.q[0], row.px, 1e-10) << row.facets;
    EXPECT_NEAR(s.final.q[1], row.py, 1e-10) << row.facets;
    EXPECT_EQ(audit_value(s, "switches"), 2) << row.facets;  // from a vertex to one facet, then stick
  }
}

TEST(Compliance, CircumscribedSquareIsTheBoxToTheLastBit) {
  const Simulation square = run_text(polygon(4, true)), box = run_text(block("box\"\n#"));
  EXPECT_EQ(state_of(square), state_of(box));
}

TEST(Compliance, HeunHasOrderTwo) {
  const Vector exact = state_of(run_text(block(), {"run.tolerance=1e-13"}));
  const double sheet[] = {4.367e-05, 1.063e-05, 2.710e-06, 6.858e-07, 1.738e-07};
  double last = 0;
  for (int k = 0; k < 5; ++k) {
    const int steps = 400 << k;
    const Simulation s = run_text(block(), {"run.compliant.integrator=heun", fmt::format("run.steps={}", steps)});
    const double error = (state_of(s) - exact).lpNorm<Eigen::Infinity>();
    EXPECT_NEAR(error, sheet[k], 1e-3 * sheet[k]);
    if (k > 0) {
      EXPECT_NEAR(std::log2(last / error), 2, 0.1);
    }
    last = error;
  }
}

TEST(Compliance, ClassicalMethodStaysBelowItsQuadraticEnvelope) {
  const Vector exact = state_of(run_text(block(), {"run.tolerance=1e-13"}));
  for (const int steps : {500, 640, 830, 1070, 1390}) {
    const Simulation s = run_text(block(), {"run.compliant.integrator=rk4", fmt::format("run.steps={}", steps)});
    EXPECT_LT((state_of(s) - exact).lpNorm<Eigen::Infinity>(), 0.5 / (static_cast<double>(steps) * steps));
  }
}

TEST(Compliance, IntegratorsAgreeThroughRepeatedImpacts) {
  const std::vector<std::string> drop{"initial.position=[0,0,0.05]", "initial.velocity=[1,0.5,0]", "run.end_time=1",
                                      "run.tolerance=1e-13"};
  const auto with = [&](const char* one, const char* two) {
    std::vector<std::string> settings = drop;
    settings.insert(settings.end(), {one, two});
    return run_text(block(), settings);
  };
  const Simulation plain = with("run.compliant.integrator=explicit", "run.compliant.locate_switches=false");
  const Simulation located = with("run.compliant.integrator=explicit", "run.compliant.locate_switches=true");
  const Simulation stiff = with("run.compliant.integrator=stiff", "run.compliant.locate_switches=true");
  EXPECT_LT((state_of(plain) - state_of(located)).lpNorm<Eigen::Infinity>(), 1e-11);
  EXPECT_LT((state_of(stiff) - state_of(located)).lpNorm<Eigen::Infinity>(), 1e-9);
  EXPECT_EQ(plain.trajectory.events.size(), located.trajectory.events.size());
  EXPECT_EQ(audit_value(plain, "switches"), 10);
  EXPECT_LT(audit_value(plain, "energy"), 1e-11);
  EXPECT_NEAR(audit_value(plain, "shortest_between_switches"), audit_value(stiff, "shortest_between_switches"), 1e-9);
}

TEST(Compliance, RigidLimitHasSlopeMinusOneInTheStiffness) {
  const double d = 0.679578661230;
  for (const double k : {1e3, 1e4, 1e5, 1e7, 1e9}) {
    const double c = std::sqrt(0.8 * k);
    const auto settings = [&](double a) {
      return std::vector<std::string>{
          fmt::format("contact.floor.compliance.stiffness=[[{0:.17g},{1:.17g},0],[{1:.17g},{2:.17g},0],[0,0,{2:.17g}]]",
                      k, a * k, 0.8 * k),
          fmt::format("contact.floor.compliance.damping={:.17g}", c),
          fmt::format("initial.position=[0,0,{:.17g}]", -9.81 / k),
          "initial.velocity=[2,0,0]",
          "run.end_time=1.2",
          "run.tolerance=1e-10",
          "run.compliant.integrator=stiff"};
    };
    const Simulation s = run_text(block(), settings(0));
    ASSERT_EQ(s.status, Status::success) << s.message;
    // Back by μ m g/k_tt after the exact stop, as far as the oscillation has died out (at 1e3 it has to 1 %).
    EXPECT_NEAR((s.final.q[0] - d) * 0.8 * k, -0.3 * 9.81, k < 1e4 ? 5e-3 : 1e-3) << k;
    double farthest = 0;
    for (Index row = 0; row < s.trajectory.rows(); ++row) farthest = std::max(farthest, s.trajectory.q(row, 0));
    EXPECT_NEAR(farthest, d, 1e-6);  // between rows
  }
  const double coupled[] = {0.6761213247, 0.6792213241, 0.6795427723};
  int at = 0;
  for (const double k : {1e3, 1e4, 1e5}) {
    const Simulation s = run_text(
        block(),
        {fmt::format("contact.floor.compliance.stiffness=[[{0},{1},0],[{1},{2},0],[0,0,{2}]]", k, 0.1 * k, 0.8 * k),
         fmt::format("contact.floor.compliance.damping={:.17g}", std::sqrt(0.8 * k)),
         fmt::format("initial.position=[0,0,{:.17g}]", -9.81 / k), "initial.velocity=[2,0,0]", "run.end_time=1.2",
         "run.tolerance=1e-11"});
    EXPECT_NEAR(s.final.q[0], coupled[at++], 1e-9);
  }
}

TEST(Compliance, CostOfTheStiffIntegratorHardlyGrowsWithTheStiffness) {
  double least = HUGE_VAL, most = 0;
  for (const double k : {1e3, 1e5, 1e7, 1e9}) {
    const Simulation s = run_text(
        block(), {fmt::format("contact.floor.compliance.stiffness=[[{0},0,0],[0,{1},0],[0,0,{1}]]", k, 0.8 * k),
                  fmt::format("contact.floor.compliance.damping={:.17g}", std::sqrt(0.8 * k)),
                  fmt::format("initial.position=[0,0,{:.17g}]", -9.81 / k), "initial.velocity=[2,0,0]",
                  "run.end_time=1.2", "run.tolerance=1e-8", "run.compliant.integrator=stiff", "run.output_step=0.1"});
    least = std::min(least, audit_value(s, "evaluations"));
    most = std::max(most, audit_value(s, "evaluations"));
  }
  EXPECT_LT(most, 2 * least);
}

const char* const kTwoContacts = R"toml(
[equations]
coordinates = ["x", "z", "th"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 0.113333333333333]]
potential = "9.81*z"
[[contact]]
name = "a"
gap = "z - 0.5*sin(th) - 0.3*cos(th)"
slip = ["x - 0.5*cos(th) + 0.3*sin(th)"]
mu = 0.3
[[contact]]
name = "b"
gap = "z + 0.5*sin(th) - 0.3*cos(th)"
slip = ["x + 0.5*cos(th) + 0.3*sin(th)"]
mu = 0.3
[compliance]
stiffness = [[2000, 300, 200, 0], [300, 2000, 0, -150], [200, 0, 1500, 100], [0, -150, 100, 1500]]
damping = [[30, 5], [5, 30]]
[initial]
position = [0, 0.4, 0.1]
velocity = [1.5, 0, 0]
[run]
scheme = "compliant"
tolerance = 1e-12
end_time = 1
)toml";

TEST(Compliance, BodyOnTwoCoupledContactsIsTheSameWithEveryIntegrator) {
  const Simulation plain = run_text(kTwoContacts, {"run.compliant.integrator=explicit"});
  const Simulation stiff = run_text(kTwoContacts, {"run.compliant.integrator=stiff"});
  ASSERT_EQ(plain.status, Status::success) << plain.message;
  EXPECT_LT((plain.final.q - stiff.final.q).norm(), 1e-9);
  EXPECT_GT(plain.trajectory.events.size(), 20u);
  EXPECT_EQ(plain.trajectory.events.size(), stiff.trajectory.events.size());
  EXPECT_LT(audit_value(plain, "energy"), 1e-10);
  EXPECT_LT(audit_value(stiff, "energy"), 1e-8);
}

const char* const kSlider = R"toml(
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
stiffness = [[50, 0], [0, 0]]
force = ["50*0.1*t", -9.81]
[[contact]]
name = "floor"
gap = "z"
slip = ["x"]
mu = 0.3
compliance = { stiffness = [[1000, 0], [0, 800]], damping = 20 }
[initial]
position = [0, -0.00981]
[run]
scheme = "compliant"
end_time = 1.5
tolerance = 1e-11
output_step = 0.1
[run.compliant]
quasistatic = true
)toml";

TEST(Quasistatic, SliderPulledByASpringFollowsItsClosedForm) {
  const double kp = 50, V = 0.1, k = 800, c = 20, limit = 0.3 * 9.81, A = (k + kp) / c, B = kp * V / c;
  const auto deformation = [&](double t) { return -(B / A) * t + B / (A * A) * (1 - std::exp(-A * t)); };
  double low = 0, high = 1.5;
  for (int round = 0; round < 100; ++round) {
    const double middle = 0.5 * (low + high);
    (kp * (V * middle + deformation(middle)) < limit ? low : high) = middle;
  }
  const Simulation s = run_text(kSlider);
  ASSERT_EQ(s.status, Status::success) << s.message;
  ASSERT_EQ(s.trajectory.events.size(), 1u);
  EXPECT_EQ(s.trajectory.events[0].kind, EventKind::slip);
  EXPECT_NEAR(s.trajectory.events[0].t, low, 1e-10);
  for (Index row = 0; row < s.trajectory.rows(); ++row) {
    const double t = s.trajectory.t(row);
    EXPECT_NEAR(s.trajectory.q(row, 0), t <= low ? -deformation(t) : V * t - limit / kp, 1e-11) << t;
  }
  EXPECT_NEAR(audit_value(s, "velocity_jump"), V - B / A * (1 - std::exp(-A * low)), 1e-6);
  EXPECT_LT(audit_value(s, "energy"), 1e-10);
}

TEST(Quasistatic, ForceBeyondTheConeHasNoBalanceAndIsRefused) {
  const Simulation s = run_text(kSlider, {"matrices.stiffness=[[0,0],[0,0]]"});
  EXPECT_EQ(s.status, Status::refused);
  EXPECT_NE(s.message.find("'floor' slips"), std::string::npos) << s.message;
  EXPECT_NE(s.message.find("spring"), std::string::npos) << s.message;
  EXPECT_NEAR(s.final.t, 0.3 * 9.81 / 5, 1e-6);  // 5 t = mu m g; everything up to there is kept
}

TEST(Quasistatic, StartOutOfBalanceIsMovedAndSaidSo) {
  const Simulation s = run_text(kSlider, {"initial.position=[0,-0.02]"});
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.trajectory.q(0, 1), -0.00981, 1e-12);
  bool said = false;
  for (const std::string& note : s.notes) said |= note.find("moved by up to 0.0102") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(Quasistatic, DriveThatStopsWhileSlippingLeavesTheSliderThere) {
  const Simulation s = run_text(kSlider, {"matrices.force=[\"50*0.1*min(t, 1)\", -9.81]"});
  ASSERT_EQ(s.status, Status::success) << s.message;
  // Within 1e-9 of the friction limit stick and slip are one: 1e-9 * 2.943 N over 50 N/m.
  EXPECT_NEAR(s.final.q[0], 0.1 - 0.3 * 9.81 / 50, 6e-11);
  EXPECT_NEAR(s.final.v[0], 0, 1e-9);
}

TEST(Quasistatic, ReversalOfTheDriveSticksUntilTheOtherLimit) {
  const Simulation s = run_text(kSlider, {"matrices.force=[\"5*if(t < 1.9, t, 3.8 - t)\", -9.81]", "run.end_time=4"});
  ASSERT_EQ(s.status, Status::success) << s.message;
  ASSERT_EQ(s.trajectory.events.size(), 3u);
  EXPECT_EQ(s.trajectory.events[1].kind, EventKind::stick);
  EXPECT_NEAR(s.trajectory.events[1].t, 1.9, 1e-6);
  EXPECT_EQ(s.trajectory.events[2].after, Mode::slip_minus);
}

const char* const kDrop = R"toml(
[matrices]
coordinates = ["y"]
mass = [[3]]
[[contact]]
name = "floor"
gap = "y"
restitution = 0.8
[initial]
position = [0.01]
velocity = [-1]
[run]
scheme = "compliant"
end_time = 0.05
)toml";

TEST(Compliance, ContactsWithoutComplianceReboundWithTheirRestitution) {
  for (const double e : {0.95, 0.8, 0.3, 0.1}) {
    const Simulation s = run_text(kDrop, {fmt::format("contact.floor.restitution={}", e)});
    ASSERT_EQ(s.status, Status::success) << s.message;  // energy too, through a force that jumps
    EXPECT_NEAR(s.final.v[0], e, 1e-8);
  }
}

TEST(Compliance, StiffnessThatDependsOnTheStateBalancesItsEnergyWithEveryIntegrator) {
  const std::vector<std::string> varying{
      "contact.floor.compliance.stiffness=[[\"1000+300*sin(5*px)\",100,50],[100,\"800*(1+px^2)\",30],[50,30,700]]",
      "contact.floor.compliance.damping=[[\"20+px\",0],[0,20]]"};
  std::vector<std::string> stiffly = varying;
  stiffly.push_back("run.compliant.integrator=stiff");
  const Simulation plain = run_text(block(), varying), stiff = run_text(block(), stiffly);
  ASSERT_EQ(plain.status, Status::success) << plain.message;
  ASSERT_EQ(stiff.status, Status::success) << stiff.message;
  EXPECT_LT((state_of(plain) - state_of(stiff)).lpNorm<Eigen::Infinity>(), 1e-9);
  EXPECT_LT(audit_value(plain, "energy"), 1e-12);
  EXPECT_LT(audit_value(stiff, "energy"), 1e-9);
}

TEST(Compliance, ARunThatGoesOnIsTheOneThatNeverStopped) {
  const ModelFile model = parse_model(block(), "test.toml");
  SimulationOptions options = model.run;
  options.output_step = 0.01;
  const Simulation whole = simulate(*model.system, model.initial, options);
  options.end_time = 0.4;
  const Simulation part = simulate(*model.system, model.initial, options);
  options.end_time = model.run.end_time;
  SimulationHooks hooks;
  hooks.resume = &part.last;
  const Simulation rest = simulate(*model.system, model.initial, options, hooks);
  EXPECT_LT((state_of(rest) - state_of(whole)).lpNorm<Eigen::Infinity>(), 1e-10);
  EXPECT_LT(audit_value(rest, "energy"), 1e-10);
}

TEST(Compliance, MistakesAreNamed) {
  const auto message = [](const std::string& text, const std::vector<std::string>& settings) {
    try {
      run_text(text, settings);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  const auto expect = [&](const std::vector<std::string>& settings, const char* word) {
    const std::string said = message(block(), settings);
    EXPECT_NE(said.find(word), std::string::npos) << said;
  };
  expect({"contact.floor.compliance.stiffness=[[1,2,0],[2,1,0],[0,0,1]]"}, "smallest eigenvalue is -1");
  expect({"contact.floor.compliance.damping=[[1,2],[2,1]]"}, "not positive definite");
  expect({"contact.floor.compliance.damping=[[1]]"}, "1 rows");
  expect({"contact.floor.compliance.damping=-3"}, "not positive definite");
  expect({"contact.floor.mu=-0.1"}, "must be >= 0");
  expect({"initial.deformation=[0,0,0]"}, "normal deformations follow from the gaps");
  expect({"initial.position=[0,0,-100]"}, "inside");
  expect({"run.compliant.integrator=\"euler\""}, "unknown integrator");
  expect({"run.compliant.integrator=\"heun\""}, "fixed steps");
  expect({"contact.floor.compliance.damping=0"}, "the damping matrix is not positive definite");
  EXPECT_NE(message(block("polygon\"\npolygon = { rows = [] } #"), {}).find("at least 3 facets"), std::string::npos);
  EXPECT_NE(message(polygon(7, true), {"run.scheme=moreau", "run.step=0.01", "run.moreau.start_penetration=0.1"})
                .find("use scheme = \"compliant\""),
            std::string::npos);
  EXPECT_NE(message(block("polygon\"\npolygon = { rows = [[1, 0], [0, 1], [0, -1]] } #"), {}).find("without a bound"),
            std::string::npos);
}

}  // namespace
}  // namespace stickslip::compliance_test
