// SPDX-License-Identifier: Apache-2.0
// Numbers that no one would write, and forces that no one would want: a message, or a run that ends with one and keeps
// what it has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/model/collision/broad_phase.hpp"

namespace stickslip::extreme_number_test {
namespace {

std::string balls(const std::string& position, const std::string& radius = "0.1", const std::string& extra = "") {
  return "[[body]]\nname = \"a\"\ncount = 3\nmass = 1\nposition_0 = [0, \"" + position + "\", 0]\n" + extra +
         "[[shape]]\nbody = \"a\"\nkind = \"sphere\"\nradius = " + radius +
         "\n[[contact]]\nbetween = [\"*\", \"*\"]\n[run]\nstep = 0.01\nend_time = 1\n";
}

std::string refusal(const std::string& text) {
  try {
    parse_model(text, "m.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ExtremeNumber, PlacesAndSizesOutOfRangeAreRefused) {
  for (const char* place : {"if(i == 0, 1e300, i)", "if(i == 0, 1e160, i)", "-1e41*i", "1e308*(i - 1)"}) {
    const std::string message = refusal(balls(place));
    EXPECT_NE(message.find("m.toml:5:"), std::string::npos) << message;
    EXPECT_NE(message.find("coordinates must be below 1e+40 m"), std::string::npos) << message;
  }
  for (const char* size : {"1e300", "1e160", "1e41", "1e-41", "1e-300", "5e-324", "0"})
    EXPECT_NE(refusal(balls("i", size)), "") << size;
  for (const char* size : {"1e39", "1e-39"}) EXPECT_EQ(refusal(balls("1e39*(i - 1)*3", size)), "") << size;
}

TEST(ExtremeNumber, MassesInertiasAndRotationsOutOfRangeAreRefusedOrMeanWhatTheySay) {
  const auto body = [](const std::string& lines) {
    return "[[body]]\nname = \"a\"\n" + lines + "[[shape]]\nbody = \"a\"\nkind = \"sphere\"\nradius = 0.1\n";
  };
  for (const char* mass : {"1e300", "1e-300", "5e-324", "1e160"})
    EXPECT_NE(refusal(body("mass = " + std::string(mass) + "\n")), "") << mass;
  for (const char* inertia : {"[1e300, 1e300, 1e300]", "[1e-300, 1e-300, 1e-300]", "[0, 1, 1]", "[1, 1, 3]"})
    EXPECT_NE(refusal(body("mass = 1\ninertia = " + std::string(inertia) + "\n")), "") << inertia;
  EXPECT_NE(refusal(body("mass = 1\norientation_0 = [0, 0, 0, 0]\n")), "");
  for (const char* turn : {"[1e300, 0, 1e300, 0]", "[1e-300, 0, 1e-300, 0]", "[5e-324, 0, 5e-324, 0]"}) {
    const ModelFile model = parse_model(body("mass = 1\norientation_0 = " + std::string(turn) + "\n"), "m.toml");
    EXPECT_NEAR(model.initial.q[3], std::sqrt(0.5), 1e-15) << turn;
    EXPECT_NEAR(model.initial.q[5], std::sqrt(0.5), 1e-15) << turn;
  }
}

/// Small inertias in other units: the inverse must not underflow on the way.
TEST(ExtremeNumber, ABodyOfTinyInertiaTurnsLikeAnyOther) {
  const ModelFile model = parse_model(
      "[[body]]\nname = \"a\"\nmass = 1\ninertia = [1e-120, 2e-120, 2.5e-120]\nspin_0 = [1, 2, 3]\n[[shape]]\nbody = "
      "\"a\"\nkind = \"sphere\"\nradius = 0.1\n[run]\nstep = 0.01\nend_time = 0.5\n",
      "m.toml");
  const Simulation run = simulate(*model.system, model.initial, model.run);
  EXPECT_EQ(run.status, Status::success) << run.message;
  EXPECT_TRUE(run.final.v.allFinite());
}

TEST(ExtremeNumber, ARunThatLeavesTheRangeEndsWithAMessageAndKeepsItsRows) {
  for (const char* extra : {"velocity_0 = [0, 0, \"1e300*i\"]\n", "velocity_0 = [\"1e41*i\", 0, 0]\n",
                            "force = [\"1e300\", 0, 0]\n", "force = [\"if(t > 0.5, 1e60, 0)\", 0, 0]\n"}) {
    const ModelFile model = parse_model(balls("i", "0.1", extra), "m.toml");
    Simulation run;
    try {
      run = simulate(*model.system, model.initial, model.run);
    } catch (const InputError&) {
      continue;  // refused before the first step
    }
    EXPECT_NE(run.status, Status::success) << extra;
    EXPECT_FALSE(run.message.empty());
    EXPECT_GE(run.trajectory.rows(), 1) << extra;
  }
  const ModelFile model = parse_model("[gravity]\nvector = [0, 0, -1e300]\n" + balls("i"), "m.toml");
  const Simulation run = simulate(*model.system, model.initial, model.run);
  EXPECT_NE(run.status, Status::success);
  EXPECT_NE(run.message.find("contacts are searched within 1e+40 m"), std::string::npos) << run.message;
}

TEST(ExtremeNumber, TheBroadPhaseRefusesBoxesThatBreakItsTree) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double far : {1e300, 1e160, nan, -1e200, std::numeric_limits<double>::infinity()}) {
    BroadPhase search({0, 1, 2});
    const std::vector<Bounds> boxes{{Vector3(0, 0, 0), Vector3(1, 1, 1)},
                                    {Vector3(far, 0, 0), Vector3(far, 1, 1)},
                                    {Vector3(2, 0, 0), Vector3(3, 1, 1)}};
    std::vector<BoxPair> pairs;
    EXPECT_THROW(search.find(boxes, pairs), InputError) << far;
  }
}

TEST(ExtremeNumber, BodiesInsideOneAnotherAreNamedWithTheirLine) {
  const std::string text = balls("0.05*i");
  const std::string message = refusal(text);
  EXPECT_NE(message.find("m.toml:1:1: key 'body.a': bodies 'a1' and 'a2' are 0.15 m inside one another at the start"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("run.moreau.start_penetration above 0.15"), std::string::npos) << message;
  EXPECT_EQ(refusal(text + "[run.moreau]\nstart_penetration = 0.2\n"), "");
  const std::string closed = refusal(
      "[matrices]\nmass = [[1]]\n[[contact]]\nname = \"floor\"\ngap = \"x1\"\n[initial]\nposition = "
      "[-0.5]\n[run]\nstep = 0.01\nend_time = 1\n");
  EXPECT_NE(closed.find("m.toml:3:1: key 'contact.floor': contact 'floor' is closed by 0.5 m at the start"),
            std::string::npos)
      << closed;
}

TEST(ExtremeNumber, AContactNeedsShapesOnBothSides) {
  const std::string body = "[[body]]\nname = \"a\"\nmass = 1\ninertia = [1, 1, 1]\n[[body]]\nname = \"b\"\nmass = 1\n";
  const std::string shape = "[[shape]]\nbody = \"b\"\nkind = \"sphere\"\nradius = 1\n";
  const auto contact = [&](const std::string& between) {
    return refusal(body + shape + "[[contact]]\nbetween = " + between + "\n");
  };
  EXPECT_NE(contact("[\"a\", \"b\"]").find("m.toml:13:"), std::string::npos) << contact("[\"a\", \"b\"]");
  EXPECT_NE(contact("[\"a\", \"b\"]").find("'a' has no shape"), std::string::npos);
  EXPECT_NE(contact("[\"b\", \"ground\"]").find("'ground' has no shape"), std::string::npos);
  EXPECT_EQ(contact("[\"b\", \"*\"]"), "");
}

TEST(ExtremeNumber, ARunWhoseTimesHaveNoDigitsIsRefused) {
  const std::string mass = "[matrices]\nmass = [[1]]\n[[friction]]\non = \"x1\"\nlimit = 1\n[run]\nscheme = \"";
  for (const char* scheme : {"moreau\"\nstep = 0.01\n", "event\"\n"})
    for (const char* time : {"5e-324", "1e-320"}) {
      const std::string message = refusal(mass + scheme + "end_time = " + time + "\n");
      EXPECT_NE(message.find("use another unit of time"), std::string::npos) << scheme << time << message;
    }
}

/// A disc that is set down spinning: slides until mu g t = r (w0 - 2 mu g t / r), whatever the unit of length.
TEST(ExtremeNumber, ADiscRollsAwayInAnyUnitOfLength) {
  for (const double L : {1.0, 1e-7, 1e-8, 1e-30, 1e30}) {
    const auto number = [](double x) { return fmt::format("{:.17g}", x); };
    const ModelFile model = parse_model(
        "[matrices]\ncoordinates = [\"x\", \"phi\"]\nmass = [[1, 0], [0, " + number(0.045 * L * L) +
            "]]\n[[friction]]\ndirection = [1, " + number(-0.3 * L) + "]\nlimit = " + number(0.2 * 9.81 * L) +
            "\n[initial]\nvelocity = [0, 20]\n[run]\nscheme = \"moreau\"\nstep = 0.002\nend_time = 2\n",
        "m.toml");
    const Simulation run = simulate(*model.system, model.initial, model.run);
    ASSERT_EQ(run.status, Status::success) << L << " " << run.message;
    const double v = 0.3 * 20.0 / 3, stop = v / (0.2 * 9.81);
    EXPECT_NEAR(run.final.q[0] / L, 0.5 * v * stop + v * (2 - stop), 1e-12) << L;
    EXPECT_NEAR(run.final.v[1], v / 0.3, 1e-12) << L;
  }
}

}  // namespace
}  // namespace stickslip::extreme_number_test
