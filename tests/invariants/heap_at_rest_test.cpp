// SPDX-License-Identifier: Apache-2.0
// What rests stays: in thousands of steps no body of a heap moves by more than the round-off of those steps, and its
// energy does not grow.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/io/model_file.hpp"
#include "tests/support/source_folder.hpp"

namespace stickslip::heap_at_rest_test {
namespace {

constexpr int kSettling = 500;  // steps in which reactions come to their round-off
// Roundings of a position in a step: two halves of a drift, each a product and a sum.
constexpr double kPerStep = 4;
constexpr double kRoundOff = std::numeric_limits<double>::epsilon();

/// Four layers of 16, 9, 4 and 1 spheres in a frame that the lowest layer fills. Angles of 45° hold without friction of
/// the layers on each other, so that any mu carries it.
std::string pyramid(double mu, double gravity, double radius, double step) {
  std::string text = fmt::format(R"toml([parameters]
r = {}
[gravity]
vector = [0, 0, {}]
)toml",
                                 radius, -gravity);
  for (int layer = 0; layer < 4; ++layer) {
    const int side = 4 - layer;
    text += fmt::format(R"toml([[body]]
name = "layer{0}"
count = {1}
mass = 0.5
position_0 = ["2*r*(mod(i, {2}) - {3})", "2*r*(floor(i/{2}) - {3})", "r + {0}*sqrt(2)*r"]
[[shape]]
body = "layer{0}"
kind = "sphere"
radius = "r"
)toml",
                        layer, side * side, side, 0.5 * (side - 1));
  }
  text += "[[shape]]\nbody = \"ground\"\nkind = \"plane\"\n";
  for (const auto& [x, y] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}})
    text += fmt::format(
        "[[shape]]\nbody = \"ground\"\nkind = \"plane\"\nposition = [\"{}*4*r\", \"{}*4*r\", 0]\nnormal = [{}, {}, "
        "0]\n",
        -x, -y, x, y);
  return text +
         fmt::format("[[contact]]\nname = \"touch\"\nbetween = [\"*\", \"*\"]\nmu = {}\n[run]\nstep = {}\n", mu, step);
}

/// Largest way of a mass centre in the given steps after the first ones, over round-off of the size of the heap times
/// the number of the steps; and whether the energy grew by more than its round-off.
struct Rest {
  double way = 0, gain = 0;
};

Rest rest_of(const ModelFile& model, double step, int first, int steps) {
  SimulationOptions run = model.run;
  run.step = step;
  run.end_time = step * (first + steps);
  run.output_step = step * std::max(1, steps / 100);
  double size = 0, least = HUGE_VAL;
  State begin;
  Rest rest;
  int count = 0;
  SimulationHooks hooks;
  hooks.keep_going = [&](const State& state) {
    if (++count == first) {
      begin = state;
      size = state.q.lpNorm<Eigen::Infinity>();
    }
    if (count > first) rest.way = std::max(rest.way, (state.q - begin.q).lpNorm<Eigen::Infinity>() / size);
    return true;
  };
  const Simulation s = simulate(*model.system, model.initial, run, hooks);
  EXPECT_EQ(s.status, Status::success) << s.message;
  EXPECT_EQ(count, first + steps);
  double largest = 0;
  for (Index k = 0; k < s.trajectory.rows(); ++k) {
    const EnergyLedger& e = s.trajectory.energy(k);
    largest = std::max(largest, std::abs(e.potential) + e.kinetic);
    if (s.trajectory.t(k) < step * first) continue;
    rest.gain = std::max(rest.gain, e.kinetic + e.potential - least);
    least = std::min(least, e.kinetic + e.potential);
  }
  rest.way /= steps * kRoundOff;
  rest.gain /= steps * kRoundOff * largest;
  return rest;
}

TEST(HeapAtRest, SpherePyramidStaysForThousandsOfSteps) {
  for (const double mu : {0.0, 0.4}) {
    const Rest rest =
        rest_of(parse_model(pyramid(mu, 9.81, 0.05, 1e-3) + "end_time = 1\n", "pyramid.toml"), 1e-3, kSettling, 3000);
    EXPECT_LT(rest.way, kPerStep) << mu;
    EXPECT_LT(rest.gain, 1) << mu;
  }
}

TEST(HeapAtRest, SpherePyramidStaysInOtherUnits) {
  // Millimetres and milliseconds for metres and seconds: g = 9.81e-3 mm/ms².
  const Rest rest =
      rest_of(parse_model(pyramid(0.4, 9.81e-3, 50, 1) + "end_time = 1000\n", "pyramid.toml"), 1.0, kSettling, 2000);
  EXPECT_LT(rest.way, kPerStep);
  EXPECT_LT(rest.gain, 1);
}

TEST(HeapAtRest, BoxStackAndArchStayForThousandsOfSteps) {
  for (const char* name : {"box-stack", "arch"}) {
    const Rest rest = rest_of(read_model(source_folder() + "/models/" + name + ".toml"), 1e-3, kSettling, 5000);
    EXPECT_LT(rest.way, kPerStep) << name;
    EXPECT_LT(rest.gain, 1) << name;
  }
}

}  // namespace
}  // namespace stickslip::heap_at_rest_test
