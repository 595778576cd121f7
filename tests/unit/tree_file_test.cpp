// SPDX-License-Identifier: Apache-2.0
// Hinges, loops, motors and couplings in model files: what is understood, what is refused and how.
#include <gtest/gtest.h>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::tree_file_test {
namespace {

const std::string kArm = R"toml(
[gravity]
vector = [0, -9.81, 0]
[parameters]
c = 0.3
[[body]]
name = "upper"
mass = 1
center = [0.25, 0, 0]
inertia = [0.001, 0.02, 0.02]
[[body]]
name = "lower"
mass = 0.8
center = [0.2, 0, 0]
inertia = [0.001, 0.01, 0.01]
[[hinge]]
name = "shoulder"
parent = "ground"
child = "upper"
axes = ["rz"]
position_0 = 0.5
[[hinge]]
name = "elbow"
parent = "upper"
child = "lower"
position = [0.5, 0, 0]
axes = ["rz", "ry", "rz"]
position_0 = [0.1, 0.9, 0.2]
)toml";

std::string message(const std::string& text) {
  try {
    parse_model(text, "m.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_message(const std::string& more, const std::string& part) {
  const std::string text = message(kArm + more);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(TreeFile, CoordinatesAreNamedAfterHinges) {
  const ModelFile model = parse_model(kArm + R"toml(
[[friction]]
name = "dry"
on = "elbow.rz_2"
limit = "c*(1 + abs(elbow.ry)) + 0.1*abs(v_shoulder.rz)"
)toml",
                                      "m.toml");
  EXPECT_EQ(model.system->info().coordinates,
            (std::vector<std::string>{"shoulder.rz", "elbow.rz", "elbow.ry", "elbow.rz_2"}));
  EXPECT_EQ(model.initial.q, (Vector{{0.5, 0.1, 0.9, 0.2}}));
  ASSERT_EQ(model.system->laws().friction().size(), 1u);
  EXPECT_EQ(model.system->laws().friction()[0].directions[0], on(3));
}

TEST(TreeFile, MotorsStopsAndCouplingsAreRows) {
  const ModelFile model = parse_model(R"toml(
[[body]]
name = "wheel"
mass = 1
inertia = [1, 1, 1]
[[body]]
name = "rack"
mass = 2
inertia = [1, 1, 1]
[[hinge]]
name = "a"
parent = "ground"
child = "wheel"
axes = ["rz"]
upper = 1.0
restitution = 0.5
[[hinge]]
name = "b"
parent = "ground"
child = "rack"
axes = ["tx"]
[[coupling]]
name = "teeth"
on = ["b.tx", "a.rz"]
ratio = 0.1
[[motor]]
on = "a.rz"
force = 0.51
[run]
scheme = "event"
tolerance = 1e-12
end_time = 1
)toml",
                                      "m.toml");
  ASSERT_EQ(model.system->laws().contacts().size(), 1u);
  EXPECT_EQ(model.system->laws().contacts()[0].name, "a.rz.upper");
  ASSERT_EQ(model.system->laws().constraints().size(), 1u);
  const Simulation run = simulate(*model.system, model.initial, model.run);
  ASSERT_EQ(run.status, Status::success) << run.message;
  // (J + m r²) a'' = 0.51: a'' = 0.5
  EXPECT_NEAR(run.final.q[0], 0.25, 1e-11);
  EXPECT_NEAR(run.final.q[1], 0.025, 1e-12);
}

TEST(TreeFile, MistakesNameThePlaceAndTheRemedy) {
  expect_message("[[friction]]\non = \"elbow.rx\"\nlimit = 1\n", "there is no coordinate 'elbow.rx'");
  expect_message("[[hinge]]\nname = \"elbow\"\nparent = \"ground\"\nchild = \"lower\"\naxes = []\n",
                 "two hinges are named 'elbow'");
  expect_message("[[hinge]]\nname = \"w\"\nparent = \"ground\"\nchild = \"lower\"\naxes = []\n", "[[loop]]");
  expect_message("[[hinge]]\nname = \"w\"\nparent = \"ground\"\nchild = \"hand\"\naxes = []\n",
                 "there is no body 'hand'");
  expect_message(
      "[[body]]\nname = \"x\"\nmass = 1\ninertia = [1, 1, 1]\n[[hinge]]\nname = \"w\"\nparent = \"ground\"\n"
      "child = \"x\"\naxes = [\"rq\"]\n",
      "there is no axis 'rq'");
  expect_message("[[motor]]\non = \"elbow.rz\"\n", "exactly one of");
  expect_message("[[body]]\nname = \"x\"\nmass = 1\ninertia = [1, 1, 3]\n", "at most the sum");
  EXPECT_NE(message(kArm + "[[motor]]\non = \"elbow.rz\"\nforce = \"q\"\n").find("m.toml:"), std::string::npos);
}

TEST(TreeFile, ABodyWithoutMassCarriesOthers) {
  // A massless cross between two hinges is the same as a hinge of two axes.
  const std::string body = "[[body]]\nname = \"rod\"\nmass = 1\ncenter = [0, 0, -0.4]\ninertia = [0.05, 0.06, 0.01]\n";
  const std::string run =
      "[gravity]\nvector = [0, 0, -9.81]\n[run]\nscheme = \"moreau\"\nstep = 1e-3\nend_time = 0.5\n";
  const ModelFile cross = parse_model(
      body +
          "[[body]]\nname = \"cross\"\nmass = 0\n[[hinge]]\nname = \"a\"\nparent = \"ground\"\nchild = \"cross\"\naxes "
          "= "
          "[\"rx\"]\nposition_0 = 0.7\n[[hinge]]\nname = \"b\"\nparent = \"cross\"\nchild = \"rod\"\naxes = [\"ry\"]\n"
          "position_0 = 0.4\n" +
          run,
      "m.toml");
  const ModelFile joint = parse_model(body +
                                          "[[hinge]]\nname = \"a\"\nparent = \"ground\"\nchild = \"rod\"\naxes = "
                                          "[\"rx\", \"ry\"]\nposition_0 = [0.7, 0.4]\n" +
                                          run,
                                      "m.toml");
  const Simulation one = simulate(*cross.system, cross.initial, cross.run),
                   other = simulate(*joint.system, joint.initial, joint.run);
  ASSERT_EQ(one.status, Status::success) << one.message;
  EXPECT_GT((one.final.q - cross.initial.q).norm(), 0.1);
  EXPECT_EQ(one.final.q, other.final.q);
}

TEST(TreeFile, StopsAndContactsOfBodiesGoTogether) {
  const std::string text = kArm + R"toml(
[[shape]]
body = "lower"
kind = "sphere"
radius = 0.05
position = [0.4, 0, 0]
[[shape]]
body = "ground"
kind = "plane"
normal = [0, 1, 0]
position = [0, -0.6, 0]
[[contact]]
between = ["lower", "ground"]
mu = 0.3
[run]
scheme = "moreau"
step = 1e-3
end_time = 1
)toml";
  const ModelFile model = parse_model(text, "m.toml", std::vector<std::string>{"hinge.shoulder.lower=-0.6"});
  const Simulation result = simulate(*model.system, model.initial, model.run);
  ASSERT_EQ(result.status, Status::success) << result.message;
  bool stopped = false, touched = false;
  for (const Event& event : result.trajectory.events) {
    stopped |= result.trajectory.names().laws[static_cast<std::size_t>(event.law)] == "shoulder.rz.lower";
    touched |= result.trajectory.names().laws[static_cast<std::size_t>(event.law)] == "contact1";
  }
  EXPECT_TRUE(stopped);
  EXPECT_TRUE(touched);
}

}  // namespace
}  // namespace stickslip::tree_file_test
