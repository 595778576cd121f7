// SPDX-License-Identifier: Apache-2.0
// Cases of a program and of a model file: live numbers, and derivatives by them against closed forms.
#include "stickslip/motion/case.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_case.hpp"
#include "stickslip/model/equation_model.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/parameter_variation.hpp"

namespace stickslip::case_test {
namespace {

using namespace math;

/// A mass on a rough table: m x'' + k x = -c sign(x').
Case sliding_mass() {
  return Case({{"m", 2.0}, {"k", 8.0}, {"c", 1.0}, {"x0", 1.0}}, [](const Parameters& p) {
    MatrixModel model;
    model.coordinates = {"x"};
    model.mass = dense({{p["m"]}});
    model.stiffness = dense({{p["k"]}});
    model.friction = {{.name = "table", .directions = {on(0)}, .limit = p["c"]}};
    return CaseParts{.system = make_system(std::move(model)),
                     .initial = {.q = Vector{{p["x0"]}}, .v = Vector{{0.0}}},
                     .options = {.scheme = SchemeKind::event, .end_time = 60.0}};
  });
}

/// Half swings of x(t) = ±c/k + a cos(ωt): each turning point is 2c/k nearer, until |x| <= c/k.
double rest_place(double x0, double k, double c) {
  double x = x0;
  while (std::abs(x) > c / k) x = -x + (x > 0 ? 2 : -2) * c / k;
  return x;
}

TEST(Case, RunsWithTheValuesItIsSetTo) {
  Case c = sliding_mass();
  constexpr double kTolerance = 1e-9;  // of the event scheme
  EXPECT_NEAR(c.run().final.q[0], rest_place(1, 8, 1), kTolerance);
  c.set("k", 5.0);
  EXPECT_EQ(c.get("k"), 5.0);
  EXPECT_NEAR(c.run().final.q[0], rest_place(1, 5, 1), kTolerance);
  const NamedNumber both[] = {{"c", 0.3}, {"x0", 1.7}};
  c.set(both);
  EXPECT_NEAR(c.run().final.q[0], rest_place(1.7, 5, 0.3), kTolerance);
  EXPECT_EQ(c.parameters()["x0"], 1.7);
}

TEST(Case, CopiesAreSetIndependently) {
  Case a = sliding_mass(), b = a;
  a.set("x0", 3.0);
  EXPECT_EQ(a.initial().q[0], 3.0);
  EXPECT_EQ(b.initial().q[0], 1.0);
}

TEST(Case, AWrongNameOrValueIsRefusedAndChangesNothing) {
  Case c = sliding_mass();
  try {
    c.set("x_0", 2.0);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), "there is no parameter 'x_0' (did you mean 'x0'?)");
  }
  EXPECT_THROW(c.get("kk"), InputError);
  EXPECT_THROW(c.set("m", -1.0), InputError);
  for (const double limit : {-1.0, HUGE_VAL, std::nan("")}) EXPECT_THROW(c.set("c", limit), InputError) << limit;
  EXPECT_EQ(c.get("m"), 2.0);
  EXPECT_TRUE(c.changes().empty());
  EXPECT_THROW(Parameters({{"a", 1.0}, {"a", 2.0}}), InputError);
}

/// A guide holds y against 10 N: friction 0.3 times that stops 2 m/s after 2/3 s.
TEST(Case, LimitsFollowReactionsOfConstraintsInAProgramToo) {
  SymbolTable symbols = state_symbols({"x", "y"}, {});
  symbols.add_variable("r_guide");
  MatrixModel model;
  model.coordinates = {"x", "y"};
  model.mass = dense({{1, 0}, {0, 1}});
  model.force.components = {0.0, -10.0};
  model.friction = {{.name = "shoe", .directions = {on(0)}, .limit = Expression::parse("0.3*abs(r_guide)", symbols)}};
  model.constraints = {
      {.element = {.name = "guide"}, .position = function_of(2, [](auto, auto q) { return q[1]; }, {.time = false})}};
  const Case c(make_system(std::move(model)), {.q = Vector{{0.0, 0.0}}, .v = Vector{{2.0, 0.0}}},
               {.scheme = SchemeKind::event, .end_time = 1});
  const Simulation run = c.run();
  ASSERT_EQ(run.status, Status::success) << run.message;
  ASSERT_EQ(run.trajectory.events.size(), 1u);
  EXPECT_NEAR(run.trajectory.events[0].t, 2.0 / 3, 1e-12);
  EXPECT_NEAR(run.final.q[0], 2.0 / 3, 1e-12);
}

/// At a limit of 0 there is no model on one side; derivatives by other numbers are had all the same.
TEST(Case, IsDifferentiatedAtTheEdgeOfWhatTheModelTakes) {
  Case c = sliding_mass();
  c.set("c", 0.0);
  SimulationOptions options = c.options();
  options.end_time = 1;
  options.sensitivities = {"c", "k"};
  c.set_options(options);
  const Simulation run = c.run();
  ASSERT_EQ(run.status, Status::success) << run.message;
  // x = cos(ω t), ω² = k/m = 4: ∂x/∂k = -t sin(ω t)/(2 √(k m)).
  EXPECT_NEAR(run.final_sensitivity(0, 1), -std::sin(2.0) / 8, 1e-7);
}

TEST(Case, AStartOrOptionsGivenByHandStay) {
  Case c = sliding_mass();
  SimulationOptions options = c.options();
  options.tolerance = 1e-6;
  c.set_options(options);
  c.set_initial({.q = Vector{{0.5}}, .v = Vector{{0.25}}});
  c.set("k", 3.0);
  EXPECT_EQ(c.options().tolerance, 1e-6);
  EXPECT_EQ(c.initial().v[0], 0.25);
}

// Relative error of the derivatives: the formula's truncation and round-off are below 1e-11 for these functions.
constexpr double kDerivative = 1e-8;

TEST(ParameterVariation, HasTheDerivativesOfAPendulumByItsLength) {
  // T = ½ m l² φ'², U = -m g l cos φ, limit c(φ, l) = 0.1 + l² |φ'|; start φ(0) = sqrt(l).
  const double m = 0.7, g = 9.81, l = 1.3;
  const Case c({{"l", l}, {"m", m}}, [g](const Parameters& p) {
    const double length = p["l"];
    const SymbolTable symbols = state_symbols({"phi"}, {{"l", length}, {"m", p["m"]}, {"g", g}});
    EquationModel model;
    model.coordinates = {"phi"};
    model.kinetic_energy = Expression::parse("0.5*m*l^2*v_phi^2", symbols);
    model.potential = Expression::parse("-m*g*l*cos(phi)", symbols);
    model.friction = {{.name = "hinge", .directions = {on(0)}, .limit = function_of(1, [=](auto, auto, auto v) {
                                                                 return 0.1 + length * length * abs(v[0]);
                                                               })}};
    return CaseParts{.system = make_system(std::move(model)),
                     .initial = {.q = Vector{{std::sqrt(length)}}, .v = Vector{{1 / length}}}};
  });
  const Vector q{{0.8}}, v{{-1.7}}, a{{2.5}};
  const auto expect = [](const Vector& found, double expected) {
    ASSERT_EQ(found.size(), 1);
    EXPECT_NEAR(found[0], expected, kDerivative * std::abs(expected));
  };
  const ParameterVariation by_length(c, "l"), by_mass(c, "m");
  expect(by_length.force(0, q, v), -m * g * std::sin(0.8));
  expect(by_length.inertia(q, a), 2 * m * l * a[0]);
  expect(by_length.limit(0, q, v), 2 * l * 1.7);
  expect(by_length.initial_position(), 0.5 / std::sqrt(l));
  expect(by_length.initial_velocity(), -1 / (l * l));
  expect(by_mass.force(0, q, v), -g * l * std::sin(0.8));
  expect(by_mass.inertia(q, a), l * l * a[0]);
  EXPECT_NEAR(by_mass.initial_position()[0], 0.0, 1e-10);  // a difference of square roots: round-off over the increment
}

TEST(ParameterVariation, IsOneSidedWhereTheModelEnds) {
  Case c = sliding_mass();
  c.set("c", 0.0);  // a limit cannot be negative
  const ParameterVariation by_limit(c, "c");
  EXPECT_NEAR(by_limit.limit(0, Vector{{1.0}}, Vector{{0.0}})[0], 1.0, kDerivative);
  EXPECT_THROW(ParameterVariation(c, "d"), InputError);
}

const char* const kBrake = R"(
[parameters]
k = 2.0
stiff = "4*k"

[tables]
road = { file = "road.csv" }

[matrices]
mass = [[1, 0], [0, 2]]
stiffness = "K.mtx"
force = ["road(x1) + k*t", 0]

[[friction]]
name = "shoe"
on = "x1"
limit = 1.0

[[contact]]
gap = "stiff + x2"

[initial]
position = [0, "k/4"]
velocity = [1, 0]

[run]
scheme = "event"
end_time = "2*k"
)";

class ModelCase : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("stickslip_case_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "K.mtx") << "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 5\n";
    std::ofstream(folder_ / "road.csv") << "0,0\n1,0.5\n2,0.25\n";
    std::ofstream(folder_ / "brake.toml") << kBrake;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Case read(std::vector<std::string> overrides = {}) const {
    return read_case((folder_ / "brake.toml").string(), overrides);
  }
  std::filesystem::path folder_;
};

TEST_F(ModelCase, EveryNumberOfTheFileIsLive) {
  Case c = read();
  EXPECT_EQ(c.get("k"), 2.0);
  EXPECT_EQ(c.get("stiff"), 8.0);
  EXPECT_EQ(c.get("parameters.k"), 2.0);
  EXPECT_EQ(c.get("initial.position.1"), 0.5);
  EXPECT_EQ(c.get("friction.0.limit"), 1.0);
  c.set("k", 3.0);
  EXPECT_EQ(c.get("stiff"), 12.0);
  EXPECT_EQ(c.initial().q[1], 0.75);
  EXPECT_EQ(c.options().end_time, 6.0);
  c.set("initial.velocity.0", -2.0);
  EXPECT_EQ(c.initial().v[0], -2.0);
  EXPECT_EQ(c.initial().q[1], 0.75);
  c.set("friction.shoe.limit", 4.0);
  EXPECT_EQ(c.get("friction.0.limit"), 4.0);
  EXPECT_EQ(c.system().laws().friction()[0].limit({}), 4.0);
  c.set("run.tolerance", 1e-6);
  EXPECT_EQ(c.options().tolerance, 1e-6);
  c.set("parameters.k", 5.0);
  EXPECT_EQ(c.get("k"), 5.0);
}

TEST_F(ModelCase, NoFileIsReadAgain) {
  Case c = read();
  std::filesystem::remove_all(folder_);
  c.set("k", 4.0);
  EXPECT_EQ(c.system().linear()->K(1, 1), 5.0);
  EXPECT_EQ(c.get("stiff"), 16.0);
}

TEST_F(ModelCase, OverridesOfTheReadingComeFirst) {
  Case c = read({"parameters.k=7"});
  EXPECT_EQ(c.get("k"), 7.0);
  c.set("k", 1.5);
  EXPECT_EQ(c.get("stiff"), 6.0);
}

TEST_F(ModelCase, MistakesNameWhatWasProbablyMeant) {
  Case c = read();
  const auto message = [](auto&& action) -> std::string {
    try {
      action();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto holds = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  holds(message([&] { c.set("stif", 1.0); }), "no parameter 'stif' (did you mean 'stiff'?)");
  holds(message([&] { c.get("kk"); }), "no parameter 'kk'");
  holds(message([&] { c.set("parameters.stif", 1.0); }), "(did you mean 'stiff'?)");
  holds(message([&] { c.set("friction.sho.limit", 1.0); }), "(did you mean 'shoe'?)");
  holds(message([&] { c.set("friction.shoe.limti", 1.0); }), "(did you mean 'limit'?)");
  holds(message([&] { c.get("friction.shoe.limti"); }), "(did you mean 'limit'?)");
  holds(message([&] { c.get("initial.velocity.7"); }), "must lie in 0 .. 1");
  holds(message([&] { c.get("matrices.force.0"); }), "road(x1)");
  EXPECT_EQ(c.get("k"), 2.0);
}

TEST_F(ModelCase, HasDerivativesByItsParameters) {
  const Case c = read();
  const Vector q{{0.4, 0.1}}, v{{0.3, 0.2}};
  const ParameterVariation by_k(c, "k"), by_speed(c, "initial.velocity.0"), by_limit(c, "friction.shoe.limit");
  EXPECT_NEAR(by_k.force(0.7, q, v)[0], 0.7, kDerivative);
  EXPECT_NEAR(by_k.gap(0.7, q)[0], 4.0, kDerivative);
  EXPECT_NEAR(by_k.initial_position()[1], 0.25, kDerivative);
  EXPECT_NEAR(by_speed.initial_velocity()[0], 1.0, kDerivative);
  EXPECT_NEAR(by_limit.limit(0.7, q, v)[0], 1.0, kDerivative);
}

}  // namespace
}  // namespace stickslip::case_test
