// SPDX-License-Identifier: Apache-2.0
// Friction whose limit vanishes: the slip keeps its direction.
#include <gtest/gtest.h>

#include "tests/support/model_text.hpp"

namespace stickslip::vanishing_limit_test {
namespace {

std::string model(std::string_view force, std::string_view limit, std::string_view velocity, std::string_view end) {
  std::string text = "[matrices]\ncoordinates = [\"x\"]\nmass = [[1]]\nforce = [\"";
  text += force;
  text += "\"]\n[[friction]]\nname = \"f\"\non = \"x\"\nlimit = \"";
  text += limit;
  text += "\"\n[initial]\nvelocity = [";
  text += velocity;
  text += "]\n[run]\nscheme = \"viscoelastic\"\nstep = 0.005\nend_time = ";
  text += end;
  return text + "\n";
}

// 1 N against 2 - t/2: from t = 2 on it slips, ever more freely, until the limit is 0 at t = 4.
TEST(VanishingLimit, AtTheEndOfTheRunLeavesTheSlipItsDirection) {
  const Simulation s = run_text(model("1", "2-0.5*t", "0", "4"));
  ASSERT_EQ(s.status, Status::success) << s.message;
  ASSERT_EQ(s.trajectory.events.size(), 1u);
  EXPECT_EQ(s.trajectory.events[0].kind, EventKind::slip);
  EXPECT_NEAR(s.trajectory.events[0].t, 2, 1e-2);  // O(√ε)
  EXPECT_EQ(s.final.modes[0], Mode::slip_plus);
}

// |sin 3x| is 0 at the start, and slips forward from there.
TEST(VanishingLimit, AtTheStartLeavesTheSlipItsDirection) {
  const Simulation s = run_text(model("0", "abs(sin(3*x))", "1", "0.5"));
  ASSERT_EQ(s.status, Status::success) << s.message;
  for (const Event& event : s.trajectory.events) EXPECT_NE(event.kind, EventKind::reversal) << event.t;
  EXPECT_EQ(s.final.modes[0], Mode::slip_plus);
}

}  // namespace
}  // namespace stickslip::vanishing_limit_test
