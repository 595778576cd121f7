// SPDX-License-Identifier: Apache-2.0
// Scheme `compliant` where its method comes to an end: laws whose slope is a root, steps at round-off, forces that jump
// with the clock, dampers that are next to nothing, many contacts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_case.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/case.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/source_folder.hpp"

namespace stickslip::compliant_limits_test {
namespace {

ModelFile stored(const char* name, std::vector<std::string> settings) {
  settings.emplace_back("run.scheme='compliant'");
  return read_model(source_folder() + "/models/" + name + ".toml", settings);
}

ModelFile given(const char* text, const std::vector<std::string>& settings) {
  return parse_model(text, "m.toml", settings);
}

Simulation run(const ModelFile& model) {
  Simulation s = simulate(*model.system, model.initial, model.run);
  EXPECT_EQ(s.status, Status::success) << s.message;
  return s;
}

/// Bounces on Hertz's law: 3.1 falls of 0.05 m.
const char* const kHertz = R"toml(
[matrices]
coordinates = ["z"]
mass = [[1]]
force = [-9.81]
[[contact]]
name = "floor"
gap = "z"
compliance = { stiffness = 20000, exponent = 1.5 }
[initial]
position = [0.05]
[run]
scheme = "compliant"
end_time = 1
[run.compliant]
integrator = "explicit"
)toml";

/// The estimate of a step over p^{3/2} is hundreds of times too small at some places of the step: 65 tolerances were
/// so.
TEST(CompliantLimits, HertzContactsAreFollowedToTheTolerance) {
  const double exact = run(given(kHertz, {"run.tolerance=1e-13"})).final.q[0];
  for (const double tolerance : {1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11}) {
    const Simulation s = run(given(kHertz, {fmt::format("run.tolerance={}", tolerance)}));
    EXPECT_LT(std::abs(s.final.q[0] - exact), 5 * tolerance) << tolerance;
  }
}

/// Friction turns the block about its normal by round-off alone: steps that were held to that were 1e-6 s long.
TEST(CompliantLimits, RoundOffOfContactsDoesNotSteerSteps) {
  const Simulation s = run(stored("incline", {"run.tolerance=1e-12"}));
  EXPECT_LT(audit_value(s, "evaluations"), 3e5);
  const Simulation coarse = run(stored("incline", {"run.tolerance=1e-8"}));
  EXPECT_LT((s.final.q.head(3) - coarse.final.q.head(3)).norm(), 1e-7);
}

/// Edges of cards that carry next to nothing changed a thousand times in 3 ms, with a hundred evaluations each.
TEST(CompliantLimits, EdgesThatCarryNothingDoNotChangeBackAndForth) {
  const Simulation s = run(stored("card-house", {}));
  EXPECT_LT(audit_value(s, "switches"), 500);
  EXPECT_LT(audit_value(s, "evaluations"), 2e5);
}

/// At rest on K = 1000 N/m; the floor comes up by 2 mm at once, and the block swings about its new place.
const char* const kRising = R"toml(
[matrices]
coordinates = ["z"]
mass = [[1]]
force = [-9.81]
[[contact]]
name = "floor"
gap = "z - if(t > 0.1, 0.002, 0)"
compliance = { stiffness = 1000 }
[initial]
position = [-0.00981]
[run]
scheme = "compliant"
step = 1e-3
end_time = 0.5
)toml";

TEST(CompliantLimits, AGapThatJumpsInTimeBringsWhatItStrains) {
  for (const char* integrator : {"explicit", "stiff", "rk4"}) {
    const Simulation s = run(given(kRising, {fmt::format("run.compliant.integrator='{}'", integrator)}));
    EXPECT_NEAR(s.final.q[0], -0.00981 + 0.002 * (1 - std::cos(std::sqrt(1000.0) * 0.4)), 1e-7) << integrator;
    EXPECT_LT(audit_value(s, "energy"), 1e-6) << integrator;
  }
}

const char* const kBlock = R"toml(
[matrices]
coordinates = ["px", "pz"]
mass = [[1, 0], [0, 1]]
force = [0, -9.81]
[[contact]]
name = "floor"
gap = "pz"
slip = "px"
mu = 0.3
compliance = { stiffness = 800, damping = 1e-12 }
[initial]
position = [0, -0.0122625]
velocity = [1, 0]
[run]
scheme = "compliant"
end_time = 1
)toml";

TEST(CompliantLimits, ADamperThatIsNextToNothingIsRefusedAndSaysWhatToTake) {
  for (const double unit : {1e-6, 1.0, 1e6}) {  // of mass
    const std::vector<std::string> settings{fmt::format("matrices.mass=[[{0}, 0], [0, {0}]]", unit),
                                            fmt::format("matrices.force=[0, {}]", -9.81 * unit),
                                            fmt::format("contact.0.compliance.stiffness={}", 800 * unit)};
    const auto with = [&](double damping) {
      std::vector<std::string> all = settings;
      all.push_back(fmt::format("contact.0.compliance.damping={}", damping * unit));
      return given(kBlock, all);
    };
    try {
      run(with(1e-12));
      FAIL() << "slip cannot be told from stick";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("contact 'floor': its tangential damping is 3.5e-14 of"),
                std::string::npos)
          << error.what();
    }
    EXPECT_LT(audit_value(run(with(1e-9)), "evaluations"), 3e5);
  }
}

/// A stiffness that is not symmetric works; no contact ever closes.
TEST(CompliantLimits, TheWorkOfCirculatoryForcesIsBooked) {
  for (const char* integrator : {"explicit", "stiff"}) {
    const Simulation s = run(given(R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
damping = [[6, 0], [0, 6]]
stiffness = [[100, 20], [-20, 100]]
[[contact]]
gap = "x + 10"
compliance = { stiffness = 1000 }
[initial]
position = [0.1, 0]
[run]
scheme = "compliant"
end_time = 2
tolerance = 1e-9
)toml",
                                   {fmt::format("run.compliant.integrator='{}'", integrator)}));
    EXPECT_LT(audit_value(s, "energy"), 1e-6) << integrator;
  }
}

/// x = (1 - cos ω t)/ω²: differences by ω reach over 1e-4 ω.
TEST(CompliantLimits, DerivativesByAFrequencyOverManyPeriods) {
  for (const double t : {10.0, 100.0}) {
    const Simulation s = make_case(given(R"toml(
[parameters]
w = 10
[matrices]
coordinates = ["x"]
mass = [[1]]
force = ["cos(w*t)"]
[[contact]]
gap = "x + 100"
compliance = { stiffness = 1e4 }
[run]
scheme = "compliant"
tolerance = 1e-9
sensitivities = ["w"]
)toml",
                                         {fmt::format("run.end_time={}", t)}))
                             .run();
    ASSERT_EQ(s.status, Status::success) << s.message;
    const double w = 10, exact = t * std::sin(w * t) / (w * w) - 2 * (1 - std::cos(w * t)) / (w * w * w);
    EXPECT_NEAR(s.final_sensitivity(0, 0), exact, 1e-6 * t / (w * w)) << t;
  }
}

/// After a flight with drag, whose dense output is less exact than its steps, a contact with a damper closes: its force
/// jumps, and what it misses by closing late was up to 1300 tolerances.
TEST(CompliantLimits, ADamperMeetsAfterAFlightWithDrag) {
  const auto fly = [](double mu, double coupling, double tolerance, const char* integrator) {
    const Simulation s = run(
        given(R"toml(
[parameters]
mu = 0
a = 0
[matrices]
coordinates = ["x", "y"]
mass = [[0.2, 0], [0, 0.2]]
damping = [[0.05, 0], [0, 0.05]]
[[contact]]
gap = "1 - x"
slip = "y"
mu = "mu"
compliance = { stiffness = [[5e4, "a"], ["a", 3e4]], damping = [[4]], normal_damping = 10 }
[initial]
position = [0, 0]
velocity = [2.3, 1.4]
[run]
scheme = "compliant"
end_time = 1.2
)toml",
              {fmt::format("parameters.mu={}", mu), fmt::format("parameters.a={}", coupling),
               fmt::format("run.tolerance={}", tolerance), fmt::format("run.compliant.integrator='{}'", integrator)}));
    return s.final.q[0];
  };
  for (const double mu : {0.0, 0.2})
    for (const double coupling : {0.0, 2e3}) {
      const double exact = fly(mu, coupling, 1e-12, "explicit");
      for (const double tolerance : {1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11})
        EXPECT_NEAR(fly(mu, coupling, tolerance, "stiff"), exact, 20 * tolerance) << mu << " " << coupling;
    }
}

}  // namespace
}  // namespace stickslip::compliant_limits_test
