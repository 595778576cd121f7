// SPDX-License-Identifier: Apache-2.0
// The same model in other units has the same events: lengths, masses and times 2^±20 as many.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/scaled_units.hpp"

namespace stickslip::event_units_test {
namespace {

using scaled_units::Units;

StateFunction f(const std::string& text, const std::vector<std::string>& coordinates) {
  return Expression::parse(text, state_symbols(coordinates, {}));
}

struct Case {
  std::string name;
  std::vector<bool> is_angle;
  State initial;
  double end_time = 1, tolerance = 1e-9;
  double close = 0;  ///< of event times and the final state, relative; exact flow: round-off of the base model
};

template <class Model>
Simulation run(const Model& model, const Case& c, const Units& units) {
  SimulationOptions options;
  options.scheme = SchemeKind::event;
  options.end_time = c.end_time;
  options.step = c.end_time / 10;
  options.tolerance = c.tolerance;
  options = scaled_units::scaled(options, units);
  return simulate(*make_system(scaled_units::scaled(model, c.is_angle, units)),
                  scaled_units::scaled(c.initial, c.is_angle, units), options);
}

template <class Model>
void expect_same_events(const Model& model, const Case& c) {
  const Simulation plain = run(model, c, Units{});
  ASSERT_EQ(plain.status, Status::success) << c.name << ": " << plain.message;
  for (const Units& units : scaled_units::systems()) {
    const Simulation s = run(model, c, units);
    const std::string where = c.name + ", " + scaled_units::describe(units);
    ASSERT_EQ(s.status, Status::success) << where << ": " << s.message;
    ASSERT_EQ(s.trajectory.events.size(), plain.trajectory.events.size()) << where;
    for (std::size_t k = 0; k < s.trajectory.events.size(); ++k) {
      const Event &a = s.trajectory.events[k], &b = plain.trajectory.events[k];
      EXPECT_EQ(a.law, b.law) << where << ", event " << k;
      EXPECT_EQ(a.kind, b.kind) << where << ", event " << k;
      EXPECT_NEAR(a.t / units.time, b.t, c.close * c.end_time) << where << ", event " << k;
    }
    const State end = scaled_units::restored(s.final, c.is_angle, units);
    for (Index i = 0; i < end.q.size(); ++i) {
      EXPECT_NEAR(end.q[i], plain.final.q[i], c.close * (1 + std::abs(plain.final.q[i]))) << where;
      EXPECT_NEAR(end.v[i], plain.final.v[i], c.close * (1 + std::abs(plain.final.v[i]))) << where;
    }
  }
}

State at(std::vector<double> q, std::vector<double> v) {
  State state;
  state.q = Eigen::Map<const Vector>(q.data(), static_cast<Index>(q.size()));
  state.v = Eigen::Map<const Vector>(v.data(), static_cast<Index>(v.size()));
  return state;
}

FrictionElement friction(const std::string& name, Index coordinate, double limit) {
  FrictionElement element;
  element.name = name;
  element.directions = {{{coordinate, 1.0}}};
  element.limit = limit;
  return element;
}

ExpressionContact contact(const std::string& name, const std::string& gap, const std::string& slip, double mu,
                          double restitution, const std::vector<std::string>& coordinates) {
  ExpressionContact c;
  c.law.name = name;
  c.law.mu = mu;
  c.law.restitution = restitution;
  c.gap = f(gap, coordinates);
  if (!slip.empty()) {
    c.slip.push_back(f(slip, coordinates));
    c.law.tangents = 1;
  }
  return c;
}

TEST(EventUnits, TwoHinges) {
  MatrixModel model;
  model.coordinates = {"a", "b"};
  model.mass = SystemMatrix(DenseMatrix{{2, 1}, {1, 1}});
  model.stiffness = SystemMatrix(DenseMatrix{{1, 0}, {0, 1}});
  model.damping = SystemMatrix(DenseMatrix{{0, 0}, {0, 0}});
  model.friction = {friction("h1", 0, 0.1), friction("h2", 1, 0.1)};
  expect_same_events(model, {"two hinges", {true, true}, at({2, 0.5}, {0, 0}), 20, 1e-9, 1e-11});
  expect_same_events(model, {"two sliders", {false, false}, at({2, 0.5}, {0, 0}), 20, 1e-9, 1e-11});
}

TEST(EventUnits, Belt) {
  MatrixModel model;
  model.coordinates = {"x"};
  model.mass = SystemMatrix(DenseMatrix{{1.0}});
  model.stiffness = SystemMatrix(DenseMatrix{{1.0}});
  model.damping = SystemMatrix(DenseMatrix{{0.0}});
  model.force.components = {f("0.3*cos(0.5*t)", model.coordinates)};
  model.friction = {friction("belt", 0, 1.0)};
  model.friction[0].static_limit = 1.5;
  model.friction[0].surface_velocity = {0.5};
  expect_same_events(model, {"belt", {false}, at({0}, {0}), 30, 1e-9, 1e-11});
}

TEST(EventUnits, BouncingBall) {
  MatrixModel model;
  model.coordinates = {"x", "y"};
  model.mass = SystemMatrix(DenseMatrix{{1, 0}, {0, 1}});
  model.stiffness = SystemMatrix(DenseMatrix{{0, 0}, {0, 0}});
  model.damping = model.stiffness;
  model.force.components = {0.0, -9.81};
  model.contacts = {contact("floor", "y", "x", 0.1, 0.7, model.coordinates)};
  expect_same_events(model, {"ball", {false, false}, at({0, 1}, {3, 0}), 3, 1e-9, 1e-9});
}

TEST(EventUnits, Ladder) {
  EquationModel model;
  model.coordinates = {"x", "y", "th"};
  model.mass = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0 / 3}};
  model.potential = f("9.81*y", model.coordinates);
  for (const double mu : {0.0, 0.1, 0.6}) {
    model.contacts = {contact("floor", "y - cos(th)", "x + sin(th)", mu, 0, model.coordinates),
                      contact("wall", "x - sin(th)", "y + cos(th)", mu, 0, model.coordinates)};
    expect_same_events(model, {fmt::format("ladder, mu = {}", mu),
                               {false, false, true},
                               at({std::sin(0.4), std::cos(0.4), 0.4}, {0, 0, 0}),
                               0.8,
                               1e-9,
                               1e-7});
  }
}

TEST(EventUnits, PendulumWithARod) {
  EquationModel model;
  model.coordinates = {"x", "y"};
  model.mass = {{1.0, 0.0}, {0.0, 1.0}};
  model.potential = f("9.81*y", model.coordinates);
  model.friction = {friction("air", 0, 0.5)};
  ExpressionConstraint rod;
  rod.element.name = "rod";
  rod.element.holonomic = true;
  rod.position = f("sqrt(x^2 + y^2) - 2", model.coordinates);
  model.constraints = {rod};
  expect_same_events(model,
                     {"pendulum", {false, false}, at({2 * std::cos(0.5), -2 * std::sin(0.5)}, {0, 0}), 3, 1e-10, 1e-7});
}

}  // namespace
}  // namespace stickslip::event_units_test
