// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/nearest_name.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace stickslip::nearest_name_test {
namespace {

const std::vector<std::string> kNames{"step", "steps", "scheme", "end_time", "tolerance", "output_step", "breakpoints"};

TEST(NearestName, CorrectsOmissionsInsertionsSubstitutionsAndTranspositions) {
  EXPECT_EQ(nearest_name("tolerace", kNames), "tolerance");
  EXPECT_EQ(nearest_name("schemme", kNames), "scheme");
  EXPECT_EQ(nearest_name("end-time", kNames), "end_time");
  EXPECT_EQ(nearest_name("shceme", kNames), "scheme");
  EXPECT_EQ(nearest_name("breakpoint", kNames), "breakpoints");
}

TEST(NearestName, PrefersTheNearerOfTwoAndTheExactOne) {
  EXPECT_EQ(nearest_name("stepss", kNames), "steps");
  EXPECT_EQ(nearest_name("stp", kNames), "step");
  EXPECT_EQ(nearest_name("steps", kNames), "steps");
}

TEST(NearestName, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("temperature_of_the_day", kNames), "");
  EXPECT_EQ(nearest_name("x", std::vector<std::string>{}), "");
  EXPECT_EQ(nearest_name("", kNames), "");
}

TEST(NearestName, DoesNotGuessWhereLittleIsKept) {
  EXPECT_EQ(nearest_name("q", std::vector<std::string>{"t", "x1"}), "");
  EXPECT_EQ(nearest_name("foo", std::vector<std::string>{"fit", "tree"}), "");
  EXPECT_EQ(nearest_name("kk", std::vector<std::string>{"k", "speed"}), "k");
}

TEST(NearestName, TakesBeginnings) {
  EXPECT_EQ(nearest_name("om", std::vector<std::string>{"c", "omega"}), "omega");
  EXPECT_EQ(nearest_name("break", kNames), "breakpoints");
  EXPECT_EQ(nearest_name("o", std::vector<std::string>{"omega"}), "");
}

TEST(NameHint, NamesTheNearestOrListsWhatIsKnown) {
  EXPECT_EQ(name_hint("schem", kNames), " (did you mean 'scheme'?)");
  EXPECT_EQ(name_hint("quux-quux-quux", std::vector<std::string>{"alpha", "beta"}), " (known: alpha, beta)");
  EXPECT_EQ(name_hint("anything", std::vector<std::string>{}), "");
  EXPECT_NE(name_hint("quux-quux-quux", std::vector<std::string>(25, "alphabet")).find("..."), std::string::npos);
}

}  // namespace
}  // namespace stickslip::nearest_name_test
