// SPDX-License-Identifier: Apache-2.0
// The same mechanics in other units of length, mass and time has the same motion, to the last bit.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/body_models.hpp"
#include "tests/support/contact_models.hpp"
#include "tests/support/scaled_units.hpp"

namespace stickslip::moreau_units_test {
namespace {

using scaled_units::Units;

StateFunction text(const std::string& expression, const std::vector<std::string>& coordinates) {
  return contact_models::function(expression, coordinates);
}

ExpressionContact point_contact(const std::string& name, const std::string& gap, const std::string& slip, double mu,
                                double restitution, const std::vector<std::string>& coordinates) {
  ExpressionContact contact;
  contact.law = contact_models::contact_law(name, slip.empty() ? 0 : 1, mu, restitution);
  contact.gap = text(gap, coordinates);
  if (!slip.empty()) contact.slip = {text(slip, coordinates)};
  return contact;
}

SimulationOptions options(double step, double end_time) {
  SimulationOptions o;
  o.step = step;
  o.end_time = end_time;
  return o;
}

State state(std::initializer_list<double> q, std::initializer_list<double> v) {
  State s;
  s.q = Eigen::Map<const Vector>(q.begin(), static_cast<Index>(q.size()));
  s.v = Eigen::Map<const Vector>(v.begin(), static_cast<Index>(v.size()));
  return s;
}

void expect_same(const Simulation& plain, const Simulation& scaled, const State& restored, const Units& units) {
  const std::string where = scaled_units::describe(units);
  EXPECT_EQ(scaled.status, plain.status) << where << ": " << scaled.message;
  EXPECT_EQ(scaled.steps, plain.steps) << where;
  EXPECT_EQ(scaled.trajectory.events.size(), plain.trajectory.events.size()) << where;
  for (Index i = 0; i < plain.final.q.size(); ++i) EXPECT_EQ(restored.q[i], plain.final.q[i]) << where << ", q " << i;
  for (Index i = 0; i < plain.final.v.size(); ++i) EXPECT_EQ(restored.v[i], plain.final.v[i]) << where << ", v " << i;
}

template <class Model>
void expect_same_motion(const Model& model, const std::vector<bool>& is_angle, const State& start,
                        const SimulationOptions& run) {
  const Simulation plain = simulate(*make_system(model), start, run);
  ASSERT_EQ(plain.status, Status::success) << plain.message;
  for (const Units& units : scaled_units::systems()) {
    const auto system = make_system(scaled_units::scaled(model, is_angle, units));
    const Simulation other =
        simulate(*system, scaled_units::scaled(start, is_angle, units), scaled_units::scaled(run, units));
    expect_same(plain, other, scaled_units::restored(other.final, is_angle, units), units);
  }
}

void expect_same_motion(const BodyModel& model, const SimulationOptions& run) {
  const Simulation plain = body_models::run(model, run);
  ASSERT_EQ(plain.status, Status::success) << plain.message;
  for (const Units& units : scaled_units::systems()) {
    const Simulation other = body_models::run(scaled_units::scaled(model, units), scaled_units::scaled(run, units));
    State restored = other.final;
    for (Index k = 0; k < static_cast<Index>(model.bodies.size()); ++k) {
      restored.q.segment<3>(7 * k) /= units.length;
      restored.v.segment<3>(6 * k) /= units.velocity();
      restored.v.segment<3>(6 * k + 3) *= units.time;
    }
    expect_same(plain, other, restored, units);
  }
}

TEST(MoreauUnits, BouncingBall) {
  MatrixModel model;
  model.coordinates = {"y"};
  model.mass = SystemMatrix(DenseMatrix::Identity(1, 1));
  model.damping = model.stiffness = SystemMatrix::zero(1);
  model.force.components = {StateFunction(-9.81)};
  model.contacts.push_back(point_contact("ground", "y", "", 0, 0.7, model.coordinates));
  expect_same_motion(model, {}, state({1}, {0}), options(1e-3, 5));
}

TEST(MoreauUnits, PlanarFrictionWithASpring) {
  MatrixModel model;
  model.coordinates = {"x", "y"};
  model.mass = SystemMatrix(DenseMatrix::Identity(2, 2));
  model.damping = SystemMatrix::zero(2);
  DenseMatrix K = DenseMatrix::Zero(2, 2);
  K(1, 1) = 2;
  model.stiffness = SystemMatrix(K);
  FrictionElement table;
  table.name = "table";
  table.directions = {{{0, 1.0}}, {{1, 1.0}}};
  table.limit = 0.5;
  model.friction.push_back(table);
  expect_same_motion(model, {}, state({0, 1}, {2, 0}), options(2e-3, 10));
}

TEST(MoreauUnits, Woodpecker) {
  const double m_M = .0003, m_S = .0045, l_M = .010, l_G = .015, J_M = 5e-9, J_S = 7e-7, c = .0056, g = 9.81;
  MatrixModel model;
  model.coordinates = {"y", "phi_M", "phi_S"};
  DenseMatrix M(3, 3), K(3, 3);
  M << m_S + m_M, m_S * l_M, m_S * l_G, m_S * l_M, J_M + m_S * l_M * l_M, m_S * l_M * l_G, m_S * l_G, m_S * l_M * l_G,
      J_S + m_S * l_G * l_G;
  K << 0, 0, 0, 0, c, -c, 0, -c, c;
  model.mass = SystemMatrix(M);
  model.stiffness = SystemMatrix(K);
  model.damping = SystemMatrix::zero(3);
  for (const double weight : {m_S + m_M, m_S * l_M, m_S * l_G}) model.force.components.emplace_back(-g * weight);
  model.contacts.push_back(
      point_contact("beak", ".0024 - .02*phi_S", "y + .010*phi_M - .0051*phi_S", 0.3, 0.5, model.coordinates));
  model.contacts.push_back(point_contact("lower", ".0006 + .0058*phi_M", "y + .0031*phi_M", 0.3, 0, model.coordinates));
  model.contacts.push_back(point_contact("upper", ".0006 - .0058*phi_M", "y + .0031*phi_M", 0.3, 0, model.coordinates));
  expect_same_motion(model, {false, true, true}, state({0, -.1036, -.2788}, {-.3411, 0, -7.4583}), options(1e-4, .3));
}

/// A box on two corners that is pushed over: forces and rows depend on the state, reactions are redundant.
TEST(MoreauUnits, BoxOnTwoCorners) {
  EquationModel model;
  model.coordinates = {"x", "y", "th"};
  const double inertia = (4 * 0.01 + 4 * 0.04) / 12;
  model.mass = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, inertia}};
  model.force = {text("20*t", model.coordinates), -9.81, 0.0};
  model.contacts.push_back(point_contact("front", "y - 0.2*cos(th) - 0.1*sin(th)", "x - 0.2*sin(th) + 0.1*cos(th)", 0.8,
                                         0, model.coordinates));
  model.contacts.push_back(point_contact("rear", "y - 0.2*cos(th) + 0.1*sin(th)", "x - 0.2*sin(th) - 0.1*cos(th)", 0.8,
                                         0, model.coordinates));
  expect_same_motion(model, {false, false, true}, state({0, 0.2, 0}, {0, 0, 0}), options(1e-3, 0.35));
}

TEST(MoreauUnits, BlockOnAnIncline) {
  const double slope = 0.5;
  BodyModel model;
  model.gravity = 9.81 * Eigen::Vector3d(std::sin(slope), 0, -std::cos(slope));
  model.bodies.push_back(body_models::body("block", 1, {0, 0, 0.05}, {0, 1, 0}));
  model.shapes = {body_models::box(0, {0.4, 0.4, 0.1}), body_models::ground_plane()};
  model.contacts = {body_models::contact("block", "ground", std::tan(slope), 0)};
  expect_same_motion(model, body_models::options(1e-3, 1));
}

TEST(MoreauUnits, RockingBlock) {
  const double tilt = 0.15, b = 0.2, h = 0.6;
  BodyModel model;
  model.gravity = {0, 0, -9.81};
  model.bodies.push_back(body_models::body(
      "block", 10,
      {-b / 2 + b / 2 * std::cos(tilt) + h / 2 * std::sin(tilt), 0, h / 2 * std::cos(tilt) + b / 2 * std::sin(tilt)}));
  model.bodies[0].orientation = Eigen::Quaterniond(std::cos(tilt / 2), 0, std::sin(tilt / 2), 0);
  model.shapes = {body_models::box(0, {b, 0.2, h}), body_models::ground_plane()};
  model.contacts = {body_models::contact("block", "ground", 0.8, 0)};
  expect_same_motion(model, body_models::options(1e-3, 1));
}

}  // namespace
}  // namespace stickslip::moreau_units_test
