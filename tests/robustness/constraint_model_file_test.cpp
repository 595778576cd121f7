// SPDX-License-Identifier: Apache-2.0
// Whatever is wrong with a [[constraint]], the answer is one message that says where and what.
#include <gtest/gtest.h>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::constraint_model_file_test {
namespace {

std::string message_of(const std::string& text) {
  try {
    parse_model(text, "m.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// Lines 1 to 3; the constraint's table begins at line 4.
const char* const kSystem = "[matrices]\ncoordinates = [\"x\", \"y\"]\nmass = [[1, 0], [0, 1]]\n";

TEST(ConstraintModelFile, EveryMistakeIsNamedWithItsPlace) {
  struct Mistake {
    const char* text;
    int line;
    const char* fragment;
  };
  const std::vector<Mistake> mistakes = {
      {"[constraint]\nposition = \"x\"", 4, "two brackets"},
      {"[[constraint]]", 4, "key 'constraint.constraint1': 'position' is missing; give an expression that must be 0"},
      {"[[constraint]]\nposition = \"x\"\nrow = [1, 0]", 6, "'position' and 'row' both give the constraint"},
      {"[[constraint]]\nposition = \"x\"\nrate = 1", 6, "key 'constraint.constraint1.rate': it belongs to 'row'"},
      {"[[constraint]]\nname = \"c\"\nposition = \"v_x\"", 6,
       "key 'constraint.c.position': the position depends on v_x; it may depend on t, the coordinates and parameters"},
      {"[[constraint]]\nposition = \"x +\"", 5, "an operand is missing"},
      {"[[constraint]]\nposition = \"z\"", 5, "unknown name 'z'"},
      {"[[constraint]]\nposition = \"sin(t)\"", 4, "depends on no coordinate"},
      {"[[constraint]]\nposition = { table = \"a.csv\" }", 5, "a.csv"},
      {"[[constraint]]\nrow = [1]", 5, "the row has 1 entries, but there are 2 coordinates"},
      {"[[constraint]]\nrow = \"x\"", 5, "a row, i.e. a list"},
      {"[[constraint]]\nrow = [\"v_x\", 0]", 5, "key 'constraint.constraint1.row[0]': the row depends on v_x"},
      {"[[constraint]]\nrow = [0, 0]", 4, "all entries of a row are 0"},
      {"[[constraint]]\nrow = [1, 0]\nrate = \"v_y\"", 6, "the rate depends on v_y"},
      {"[[constraint]]\npositon = \"x\"", 5, "unknown key (did you mean 'position'?)"},
      {"[[constraint]]\nposition = \"x\"\n[[constraint]]\nname = \"constraint1\"\nposition = \"y\"", 7,
       "the name 'constraint1' is given twice"},
      {"[[friction]]\nname = \"a\"\non = \"x\"\nlimit = 1\n[[constraint]]\nname = \"a\"\nposition = \"y\"", 9,
       "the name 'a' is given twice"},
      {"[[constraint]]\nposition = \"x\"\nviscoelastic = { stiffness = -1, damping = 1, epsilon = 1e-4 }", 6,
       "key 'constraint.constraint1.viscoelastic.stiffness': the value -1 must be > 0"},
      {"[[constraint]]\nposition = \"x\"\nviscoelastic = { stiffness = 1, damping = -1, epsilon = 1e-4 }", 6,
       "damping': the value -1 must be >= 0"},
      {"[[constraint]]\nposition = \"x\"\nviscoelastic = { stiffness = 1, damping = 1, epsilon = 0 }", 6,
       "epsilon': the value 0 must be > 0"},
      {"[[constraint]]\nposition = \"x\"\nviscoelastic = { stiffness = 1, damping = 1 }", 6, "'epsilon' is missing"},
      {"[[constraint]]\nposition = \"x\"\nviscoelastic = { stifness = 1 }", 6, "did you mean 'stiffness'"},
      {"[[constraint]]\nname = \"c\"\nposition = \"x - 3\"\n[initial]\nposition = [1, 0]", 7,
       "the initial position violates constraint 'c' by -2"},
      {"[[constraint]]\nname = \"c\"\nposition = \"x - 3\"", 4, "the initial position violates constraint 'c' by -3"},
      {"[[constraint]]\nname = \"c\"\nposition = \"log(x)\"", 4, "constraint 'c' has no finite value at the start"},
      {"[[constraint]]\nposition = \"x\"\n[initial]\nconsistent = 3", 7, "must stand here, not the number 3"},
      {"[[constraint]]\nposition = \"x\"\n[run]\nscheme = \"splitting\"\nstep = 1\nend_time = 2", 7,
       "takes no constraints; use scheme = \"moreau\" or \"event\""},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string message = message_of(kSystem + std::string(mistake.text) + "\n");
    EXPECT_TRUE(message.starts_with("m.toml:" + std::to_string(mistake.line) + ":")) << mistake.text << "\n" << message;
    EXPECT_NE(message.find(mistake.fragment), std::string::npos) << mistake.text << "\n" << message;
  }
}

TEST(ConstraintModelFile, WhatIsWrittenIsKept) {
  const ModelFile model =
      parse_model(std::string(kSystem) +
                      "[[constraint]]\nposition = \"x - 0.5\"\nviscoelastic = { stiffness = 2, damping = 3, epsilon = "
                      "1e-5, exponent = "
                      "0.75, prepared = false }\n[[constraint]]\nname = \"c\"\nrow = [\"y\", \"1 + t\"]\nrate = \"x\"\n"
                      "[initial]\nposition = [2, 0.25]\nvelocity = [1, 1]\nconsistent = \"project\"\n",
                  "m.toml");
  const auto& constraints = model.system->laws().constraints();
  ASSERT_EQ(constraints.size(), 2u);
  EXPECT_EQ(constraints[0].name, "constraint1");
  EXPECT_TRUE(constraints[0].holonomic);
  ASSERT_TRUE(constraints[0].viscoelastic);
  EXPECT_EQ(constraints[0].viscoelastic->stiffness, 2);
  EXPECT_EQ(constraints[0].viscoelastic->damping, 3);
  EXPECT_EQ(constraints[0].viscoelastic->epsilon, 1e-5);
  EXPECT_EQ(constraints[0].viscoelastic->exponent, 0.75);
  EXPECT_FALSE(constraints[0].viscoelastic->prepared);
  EXPECT_EQ(constraints[1].name, "c");
  EXPECT_FALSE(constraints[1].holonomic);
  EXPECT_FALSE(constraints[1].viscoelastic);
  EXPECT_EQ(model.constraint_rank.rank, 2);
  // x' = 0 and y x' + y' = x determine the velocity.
  EXPECT_NEAR(model.initial.q[0], 0.5, 1e-15);
  EXPECT_NEAR(model.initial.v[0], 0, 1e-15);
  EXPECT_NEAR(model.initial.v[1], 0.5, 1e-15);
  const ModelFile changed = parse_model(
      std::string(kSystem) + "[[constraint]]\nname = \"c\"\nposition = \"x - 1\"\n[initial]\nposition = [1, 0]\n",
      "m.toml", std::vector<std::string>{"constraint.c.position=x - 2", "initial.position=[2, 0]"});
  EXPECT_EQ(changed.initial.q[0], 2);
}

}  // namespace
}  // namespace stickslip::constraint_model_file_test
