// SPDX-License-Identifier: Apache-2.0
// Spring-dampers in other units of length, mass and time: the same motion. ε has the unit of a time squared where the
// scheme takes stiffness and damping from the masses.
#include <gtest/gtest.h>

#include "stickslip/common/error.hpp"
#include "tests/support/scaled_units.hpp"

namespace stickslip::viscoelastic_units_test {
namespace {

using scaled_units::Units;

template <class Model>
void expect_same_motion(const Model& model, const State& start, double end_time) {
  SimulationOptions options;
  options.scheme = SchemeKind::viscoelastic;
  options.end_time = end_time;
  options.output_step = end_time / 20;
  options.viscoelastic.epsilon = 1e-6;
  options.tolerance = 1e-11;
  const Simulation plain = simulate(*make_system(Model(model)), start, options);
  ASSERT_EQ(plain.status, Status::success) << plain.message;
  for (const Units& units : scaled_units::systems()) {
    SimulationOptions other = scaled_units::scaled(options, units);
    other.viscoelastic.epsilon *= units.time * units.time;
    const Simulation s =
        simulate(*make_system(scaled_units::scaled(model, {}, units)), scaled_units::scaled(start, {}, units), other);
    ASSERT_EQ(s.status, Status::success) << s.message << " " << scaled_units::describe(units);
    const State back = scaled_units::restored(s.final, {}, units);
    // Pivots of the factors are chosen by size, which changes with the units: last digits differ, and with them steps
    // where a law turns, each within the tolerance.
    EXPECT_LT((back.q - plain.final.q).norm(), 1e-9 * plain.final.q.norm()) << scaled_units::describe(units);
    EXPECT_EQ(s.trajectory.events.size(), plain.trajectory.events.size()) << scaled_units::describe(units);
  }
}

TEST(ViscoelasticUnits, FrictionOnTwoMassesBetweenSprings) {
  MatrixModel model;
  model.coordinates = {"x", "y"};
  model.mass = SystemMatrix(DenseMatrix{{2, 0.5}, {0.5, 1}});
  model.damping = SystemMatrix(DenseMatrix{{0.1, 0}, {0, 0.1}});
  model.stiffness = SystemMatrix(DenseMatrix{{4, -1}, {-1, 3}});
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  model.force.components = {StateFunction(Expression::parse("2*sin(3*t)", symbols)), StateFunction(0.5)};
  for (Index i = 0; i < 2; ++i) {
    FrictionElement law;
    law.name = "law" + std::to_string(i);
    law.directions = {{{i, 1.0}}};
    law.limit = StateFunction(0.5);
    model.friction.push_back(law);
  }
  State start;
  start.q = Vector{{1, 0}};
  start.v = Vector{{0, 0}};
  expect_same_motion(model, start, 5);
}

TEST(ViscoelasticUnits, PendulumOnARod) {
  EquationModel model;
  model.coordinates = {"x", "y"};
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  model.kinetic_energy = StateFunction(Expression::parse("(v_x^2 + v_y^2)/2", symbols));
  model.potential = StateFunction(Expression::parse("9.81*y", symbols));
  ExpressionConstraint rod;
  rod.element.name = "rod";
  rod.position = StateFunction(Expression::parse("sqrt(x^2 + y^2) - 1", symbols));
  model.constraints = {rod};
  State start;
  start.q = Vector{{0.6, -0.8}};
  start.v = Vector{{0, 0}};
  expect_same_motion(model, start, 2);
}

TEST(ViscoelasticUnits, ARunThatIsShortBesideTheSpringsIsRefusedWithTheEpsilonThatFits) {
  MatrixModel model;
  model.coordinates = {"x"};
  model.mass = SystemMatrix(DenseMatrix{{1.0}});
  model.damping = model.stiffness = SystemMatrix(DenseMatrix{{0.0}});
  FrictionElement law;
  law.name = "table";
  law.directions = {{{0, 1.0}}};
  law.limit = StateFunction(1e12);
  model.friction = {law};
  const auto system = make_system(std::move(model));
  State start;
  start.q = Vector{{0}};
  start.v = Vector{{1e6}};
  SimulationOptions options;
  options.scheme = SchemeKind::viscoelastic;
  options.end_time = 2e-6;
  try {
    simulate(*system, start, options);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("run.viscoelastic.epsilon = 4e-18"), std::string::npos) << error.what();
  }
  options.viscoelastic.epsilon = 4e-18;
  const Simulation s = simulate(*system, start, options);
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.final.q[0], 0.5, 1e-5);  // v²/(2 c/m)
}

}  // namespace
}  // namespace stickslip::viscoelastic_units_test
