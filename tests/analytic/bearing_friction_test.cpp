// SPDX-License-Identifier: Apache-2.0
// Friction by the load of hinges: journals, thrust bearings, guides and balls against closed forms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::bearing_friction_test {
namespace {

constexpr double kGravity = 9.81;

/// A body of 2 kg on one hinge, and a friction law on it.
std::string one_hinge(const std::string& axis, const std::string& center, const std::string& gravity,
                      const std::string& start, const std::string& friction, const std::string& more = "") {
  return "[gravity]\nvector = " + gravity + "\n[[body]]\nname = \"rotor\"\nmass = 2.0\ncenter = " + center +
         "\ninertia = [0.03, 0.04, 0.05]\n[[hinge]]\nname = \"shaft\"\nparent = \"ground\"\nchild = \"rotor\"\naxes = "
         "[\"" +
         axis + "\"]\n" + start + "\n" + more + "[[friction]]\nname = \"dry\"\n" + friction +
         "\n[run]\nscheme = \"event\"\ntolerance = 1e-11\nend_time = 1.0\nstep = 0.01\n";
}

void expect_success(const Simulation& run) {
  ASSERT_EQ(run.status, Status::success) << run.message;
  for (const AuditItem& item : run.audit) EXPECT_TRUE(item.ok) << item.name << " " << item.value;
}

const std::vector<std::string> kSchemes{"event", "moreau"};

TEST(BearingFriction, AJournalSlowsABalancedRotorUntilItStands) {
  const std::string text =
      one_hinge("rz", "[0, 0, 0]", "[0, -9.81, 0]", "velocity_0 = 3.0", "on = \"shaft.rz\"\nmu = 0.2\nradius = 0.05");
  const double slowing = 0.2 * 0.05 * 2 * kGravity / 0.05, stop = 3.0 / slowing;
  for (const std::string& scheme : kSchemes)
    for (const double t : {0.3, 1.0}) {
      const Simulation run = run_text(text, {"run.scheme=" + scheme, "run.end_time=" + std::to_string(t)});
      expect_success(run);
      const double last = std::min(t, stop);
      EXPECT_NEAR(run.final.q[3], 3.0 * last - slowing * last * last / 2, 1e-10) << scheme;
      if (t > stop) {
        EXPECT_EQ(run.final.v[3], 0.0) << scheme;
      } else {
        EXPECT_NEAR(run.final.v[3], 3.0 - slowing * t, 1e-10) << scheme;
      }
    }
}

TEST(BearingFriction, AThrustBearingCarriesTheWeightAndAPreloadAdds) {
  const std::string text = one_hinge("rz", "[0, 0, 0]", "[0, 0, -9.81]", "velocity_0 = 3.0",
                                     "on = \"shaft.rz\"\nmu = 0.2\nradius = 0.05\nthrust_radius = 0.03\nlimit = 0.01");
  const double slowing = (0.2 * 0.03 * 2 * kGravity + 0.01) / 0.05, t = 0.5;
  for (const std::string& scheme : kSchemes) {
    const Simulation run = run_text(text, {"run.scheme=" + scheme, "run.end_time=0.5"});
    expect_success(run);
    EXPECT_NEAR(run.final.v[3], 3.0 - slowing * t, 1e-10) << scheme;
  }
}

TEST(BearingFriction, AGuideHoldsBelowItsAngleAndSlidesAboveIt) {
  // On a slope of 30 degrees along x, gravity turned instead: tan 30° = 0.57735.
  const std::string gravity = fmt::format("[{:.17g}, {:.17g}, 0]", kGravity * 0.5, -kGravity * std::sqrt(0.75));
  for (const double mu : {0.583, 0.4}) {
    const std::string text = one_hinge("tx", "[0, 0, 0]", gravity, "position_0 = 0.1234567891",
                                       fmt::format("on = \"shaft.tx\"\nmu = {}", mu));
    for (const std::string& scheme : kSchemes) {
      const Simulation run = run_text(text, {"run.scheme=" + scheme});
      expect_success(run);
      if (mu > std::sqrt(1.0 / 3)) {
        EXPECT_EQ(run.final.q[2], 0.1234567891) << scheme;
      } else {
        EXPECT_NEAR(run.final.v[2], kGravity * (0.5 - mu * std::sqrt(0.75)), 1e-9) << scheme;
      }
    }
  }
}

/// m c g sin θ against mu r N, N = m g at rest: the arm moves from sin θ = mu r / c on. Above, α and N are found
/// together:
///   (J + m c²) α = -m g c sin θ + mu r N,  N² = (m c α cos θ)² + (m g + m c α sin θ)²
TEST(BearingFriction, AnArmStaysOrStartsWithTheLoadOfTheSameInstant) {
  const double mu = 0.3, r = 0.08, c = 0.2, m = 2, J = 0.05;
  for (const double share : {0.99, 1.01}) {
    const double angle = std::asin(share * mu * r / c);
    const std::string text =
        one_hinge("rz", "[0, -0.2, 0]", "[0, -9.81, 0]", fmt::format("position_0 = {:.17g}", angle),
                  "on = \"shaft.rz\"\nmu = 0.3\nradius = 0.08");
    for (const std::string& scheme : kSchemes) {
      const double end = share < 1 ? 5.0 : 1e-3;
      const Simulation run = run_text(text, {"run.scheme=" + scheme, "run.end_time=" + std::to_string(end),
                                             "run.step=" + std::to_string(end / 100)});
      expect_success(run);
      if (share < 1) {
        EXPECT_EQ(run.final.q[3], angle) << scheme;
        continue;
      }
      double alpha = 0;
      for (int k = 0; k < 100; ++k) {
        const double N = std::hypot(m * c * alpha * std::cos(angle), m * kGravity + m * c * alpha * std::sin(angle));
        alpha = (-m * kGravity * c * std::sin(angle) + mu * r * N) / (J + m * c * c);
      }
      EXPECT_LT(alpha, 0);
      EXPECT_NEAR(run.final.v[3] / end, alpha, 1e-5 * std::abs(alpha))
          << scheme;  // constant but for the angle's change
    }
  }
}

TEST(BearingFriction, ABallAboutTheVerticalSlowsByItsLoad) {
  const std::string text = one_hinge("ball", "[0, 0, -0.1]", "[0, 0, -9.81]", "velocity_0 = [0, 0, 2.0]",
                                     "on = \"shaft.wz\"\nmu = 0.2\nradius = 0.02");
  const double slowing = 0.2 * 0.02 * 2 * kGravity / 0.05;
  for (const std::string& scheme : kSchemes) {
    const Simulation run = run_text(text, {"run.scheme=" + scheme});
    expect_success(run);
    EXPECT_NEAR(run.final.v[5], 2.0 - slowing, 1e-9) << scheme;
  }
}

TEST(BearingFriction, WithoutLoadThereIsNoFriction) {
  const std::string text =
      one_hinge("rz", "[0, 0, 0]", "[0, 0, 0]", "velocity_0 = 3.0", "on = \"shaft.rz\"\nmu = 0.2\nradius = 0.05");
  for (const std::string& scheme : kSchemes) {
    const Simulation run = run_text(text, {"run.scheme=" + scheme});
    expect_success(run);
    EXPECT_NEAR(run.final.v[3], 3.0, 1e-12) << scheme;
  }
}

/// A sleeve that is pushed on its collar turns against mu R N of the stop.
TEST(BearingFriction, AStopHasFriction) {
  const std::string text = R"toml(
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "sleeve"
mass = 2.0
inertia = [0.03, 0.04, 0.05]
[[hinge]]
name = "guide"
parent = "ground"
child = "sleeve"
axes = ["tz", "rz"]
lower = [0, "none"]
velocity_0 = [0, 3.0]
[[friction]]
name = "collar"
on = "guide.rz"
limit = "0.2*0.05*r_guide.tz.lower_n"
[run]
scheme = "event"
tolerance = 1e-11
end_time = 0.5
step = 0.01
)toml";
  for (const std::string& scheme : kSchemes) {
    const Simulation run = run_text(text, {"run.scheme=" + scheme});
    expect_success(run);
    EXPECT_NEAR(run.final.v[1], 3.0 - 0.2 * 0.05 * 2 * kGravity / 0.05 * 0.5, 1e-9) << scheme;
    EXPECT_EQ(run.final.v[0], 0.0) << scheme;
  }
}

TEST(BearingFriction, MistakesAreNamed) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_model(text, "m.toml");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto with = [&](const std::string& friction, const std::string& axis = "rz") {
    return message(one_hinge(axis, "[0, 0, 0]", "[0, 0, 0]", "", friction));
  };
  EXPECT_NE(with("on = \"shaft.rz\"\nmu = 0.2").find("key 'friction.dry': 'radius' is missing"), std::string::npos)
      << with("on = \"shaft.rz\"\nmu = 0.2");
  EXPECT_NE(with("on = \"shaft.tx\"\nmu = 0.2\nradius = 1", "tx").find("no lever"), std::string::npos);
  EXPECT_NE(with("on = \"shaft.rz\"\nmu = 0.2\nmu_static = 0.1\nradius = 1").find("must be >= mu"), std::string::npos);
  EXPECT_NE(with("on = \"shaft.rz\"\nlimit = 0.2\nradius = 1").find("give 'mu'"), std::string::npos);
  const std::string two = with("on = \"shaft.rz\"\nmu = 0.2\nradius = 1", "rx\", \"rz");
  EXPECT_NE(two.find("m.toml:12:8: key 'hinge.shaft.axes'"), std::string::npos) << two;
  EXPECT_NE(two.find("one axis or a ball"), std::string::npos) << two;
}

}  // namespace
}  // namespace stickslip::bearing_friction_test
