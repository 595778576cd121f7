// SPDX-License-Identifier: Apache-2.0
// Friction with a spring in series under every scheme: closed form, energy, restart, agreement beside other laws.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/motion/comparison.hpp"
#include "stickslip/motion/simulate.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/one_mass.hpp"

namespace stickslip::elastic_friction_suite_test {
namespace {

struct SchemeRow {
  SchemeKind kind;
  double order;  ///< of fixed steps; 0: own steps
  double tolerance;
  double error;  ///< of the closed form, at the smallest step or at the default tolerance and epsilon
};

struct Units {
  double length = 1, mass = 1, time = 1;
};

FrictionElement slider(const std::string& name, std::vector<Direction> directions, double limit, double stiffness) {
  FrictionElement law;
  law.name = name;
  law.directions = std::move(directions);
  law.limit = limit;
  law.stiffness = stiffness;
  return law;
}

/// A mass that nothing but a slider of limit c behind a spring k holds. Scheme compliant wants a contact: the ground,
/// which a second mass keeps away from.
std::unique_ptr<System> free_mass(double k, double c, const std::string& surface = "", bool with_contact = false,
                                  const Units& u = {}) {
  const double force = u.mass * u.length / (u.time * u.time), stiffness = u.mass / (u.time * u.time);
  MatrixModel model;
  model.coordinates = {"x", "y"};
  model.mass = dense({{u.mass, 0}, {0, u.mass}});
  model.stiffness = dense({{0, 0}, {0, 1 * stiffness}});
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  FrictionElement law = slider("slider", {on(0)}, c * force, k * stiffness);
  if (!surface.empty()) law.surface_velocity = {StateFunction(Expression::parse(surface, symbols))};
  model.friction = {law};
  if (with_contact) {
    ExpressionContact ground;
    ground.law.name = "ground";
    ground.law.tangents = 0;
    ground.gap = StateFunction(Expression::parse(fmt::format("y + {:.17g}", 5 * u.length), symbols));
    model.contacts = {ground};
  }
  return make_system(std::move(model));
}

struct Motion {
  double x, v, d;
};

/// From x = 0, d = 0 with v0 > 0: spring, slip, then free vibration about the place where the slip ended.
Motion exact_motion(double k, double c, double v0, double t) {
  const double w = std::sqrt(k), D = c / k;
  const double t1 = std::asin(w * D / v0) / w, v1 = std::sqrt(v0 * v0 - w * w * D * D);
  if (t < t1) return {v0 / w * std::sin(w * t), v0 * std::cos(w * t), v0 / w * std::sin(w * t)};
  const double t2 = t1 + v1 / c, s = t - t1;
  if (t < t2) return {D + v1 * s - 0.5 * c * s * s, v1 - c * s, D};
  const double end = D + 0.5 * v1 * v1 / c, angle = w * (t - t2);
  return {end - D + D * std::cos(angle), -w * D * std::sin(angle), D * std::cos(angle)};
}

State start(double v0) { return {0, Vector::Zero(2), Vector{{v0, 0}}, {}, {}}; }

class ElasticFrictionUnder : public testing::TestWithParam<SchemeRow> {
 protected:
  bool compliant() const { return GetParam().kind == SchemeKind::compliant; }
  std::unique_ptr<System> mass(double k, double c, const std::string& surface = "", const Units& u = {}) const {
    return free_mass(k, c, surface, compliant(), u);
  }
  SimulationOptions options(double end, double step) const {
    SimulationOptions options;
    options.scheme = GetParam().kind;
    options.end_time = end;
    options.tolerance = 1e-10;
    options.step = step;
    options.compliant.epsilon = 1e-8;
    options.compliant.integrator = CompliantIntegrator::explicit_;
    options.viscoelastic.epsilon = 1e-8;
    return options;
  }
  /// Of the slider. Deformations of compliant laws have the sign of their force.
  double deformation(const Simulation& s) const { return (compliant() ? -1 : 1) * s.final.z[0]; }
};

TEST_P(ElasticFrictionUnder, HasTheClosedFormThroughStickSlipAndStick) {
  const double k = 100, c = 1, v0 = 1, end = 1.5;
  const auto system = mass(k, c);
  const Motion exact = exact_motion(k, c, v0, end);
  std::vector<double> h, errors;
  for (const double step : {0.004, 0.002, 0.001, 0.0005}) {
    const Simulation s = simulate(*system, start(v0), options(end, step));
    ASSERT_EQ(s.status, Status::success) << s.message;
    h.push_back(step);
    errors.push_back(std::abs(s.final.q[0] - exact.x) + 0.1 * std::abs(s.final.v[0] - exact.v));
    EXPECT_NEAR(deformation(s), exact.d, 10 * errors.back() + 1e-9);
    if (GetParam().order == 0) break;
  }
  EXPECT_LT(errors.back(), GetParam().error);
  if (GetParam().order > 0) {
    EXPECT_GT(fitted_order(h, errors), GetParam().order - 0.3);
  }
}

TEST_P(ElasticFrictionUnder, StoresTheEnergyOfTheSpringAndLosesTheRest) {
  const double k = 100, c = 1, v0 = 1, left = 0.5 * c * c / k;
  const Simulation s = simulate(*mass(k, c), start(v0), options(1.5, 0.001));
  ASSERT_EQ(s.status, Status::success) << s.message;
  const EnergyLedger& energy = s.trajectory.energy(s.trajectory.rows() - 1);
  EXPECT_NEAR(energy.kinetic + energy.potential, left, std::max(1e-6, 0.1 * GetParam().error));
  EXPECT_NEAR(energy.friction_loss, 0.5 * v0 * v0 - left, std::max(1e-6, GetParam().error));
  EXPECT_LT(audit_value(s, "energy"), GetParam().tolerance);
  const Simulation small = simulate(*mass(k, c), start(0.05), options(1.5, 0.001));
  EXPECT_LT(std::abs(audit_value(small, "energy_friction_loss")), 1e-12);
}

TEST_P(ElasticFrictionUnder, GoesOnFromAStoredState) {
  const auto system = mass(100, 1, "0.1*sin(3*t)");
  SimulationOptions whole = options(2, 0.0078125);
  const Simulation all = simulate(*system, start(1), whole);
  SimulationOptions first = whole, second = whole;
  first.end_time = second.start_time = 0.75;
  const Simulation a = simulate(*system, start(1), first), b = simulate(*system, a.final, second);
  ASSERT_EQ(b.status, Status::success) << b.message;
  const double near = GetParam().order > 0 ? 1e-13 : 1e-8;
  EXPECT_NEAR(b.final.q[0], all.final.q[0], near);
  EXPECT_NEAR(b.final.v[0], all.final.v[0], 10 * near);
  EXPECT_NEAR(deformation(b), deformation(all), near);
}

TEST_P(ElasticFrictionUnder, IsTheSameInAllUnits) {
  const Simulation one = simulate(*mass(100, 1), start(1), options(1.5, 0.005));
  for (const double L : {1e-6, 1e6})
    for (const double T : {1e-6, 1e6}) {
      const Units u{L, 1e3, T};
      SimulationOptions scaled = options(1.5 * T, 0.005 * T);
      scaled.compliant.epsilon *= T * T;
      scaled.viscoelastic.epsilon *= T * T;
      const Simulation s = simulate(*mass(100, 1, "", u), start(L / T), scaled);
      ASSERT_EQ(s.status, Status::success) << s.message;
      const double near = GetParam().order > 0 ? 1e-11 : 100 * scaled.tolerance;
      EXPECT_NEAR(s.final.q[0] / L, one.final.q[0], near);
      EXPECT_NEAR(deformation(s) / L, deformation(one), near);
    }
}

TEST_P(ElasticFrictionUnder, FollowsAMovingSurface) {
  // Dragged by a belt from rest: the spring stretches, and at the limit the slider takes over.
  const double k = 100, c = 1, belt = 0.5, end = 0.4;
  const Simulation s = simulate(*mass(k, c, fmt::format("{}", belt)), start(0), options(end, 0.0005));
  ASSERT_EQ(s.status, Status::success) << s.message;
  const Motion over = exact_motion(k, c, belt, end);  // seen from the belt, the mass starts with -belt
  EXPECT_NEAR(s.final.q[0], belt * end - over.x, std::max(1e-5, GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(Schemes, ElasticFrictionUnder,
                         testing::Values(SchemeRow{SchemeKind::splitting, 2, 1e-12, 2e-6},
                                         SchemeRow{SchemeKind::moreau, 2, 1e-12, 2e-6},
                                         SchemeRow{SchemeKind::event, 0, 1e-9, 1e-9},
                                         SchemeRow{SchemeKind::compliant, 0, 1e-7, 2e-6},
                                         SchemeRow{SchemeKind::viscoelastic, 0, 1e-7, 2e-6}),
                         [](const auto& row) { return std::string(to_string(row.param.kind)); });

/// Two masses: a rigid law, a spring in series between them, and one under a limit of time.
std::unique_ptr<System> mixed() {
  MatrixModel model;
  model.coordinates = {"a", "b"};
  model.mass = dense({{1, 0}, {0, 2}});
  model.stiffness = dense({{20, -10}, {-10, 15}});
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  model.force.components = {StateFunction(Expression::parse("3*sin(2*t)", symbols)), StateFunction(0.0)};
  FrictionElement rigid;
  rigid.name = "rigid";
  rigid.directions = {on(1)};
  rigid.limit = 0.4;
  FrictionElement worn = slider("worn", {on(0)}, 0, 30);
  worn.limit = StateFunction(Expression::parse("0.5 + 0.2*sin(t)", symbols));
  model.friction = {slider("joint", {between(0, 1)}, 0.6, 40), rigid, worn};
  return make_system(std::move(model));
}

TEST(ElasticFrictionBesideOthers, SchemesAgreeOnRigidAndElasticLawsTogether) {
  const auto system = mixed();
  const State first{0, Vector{{0.1, 0}}, Vector{{0, 1}}, {}, {}};
  SimulationOptions options;
  options.end_time = 6;
  options.scheme = SchemeKind::event;
  options.tolerance = 1e-11;
  options.step = 0.01;
  const Simulation exact = simulate(*system, first, options);
  ASSERT_EQ(exact.status, Status::success) << exact.message;
  EXPECT_LT(audit_value(exact, "energy"), 1e-9);
  for (const SchemeKind kind : {SchemeKind::splitting, SchemeKind::moreau, SchemeKind::viscoelastic}) {
    options.scheme = kind;
    std::vector<double> h, errors;
    options.viscoelastic.epsilon = 1e-8;
    for (const double step : {0.004, 0.002, 0.001}) {
      options.step = step;
      const Simulation s = simulate(*system, first, options);
      ASSERT_EQ(s.status, Status::success) << to_string(kind) << " " << s.message;
      h.push_back(step);
      errors.push_back((s.final.q - exact.final.q).norm());
      if (kind == SchemeKind::viscoelastic) break;
    }
    EXPECT_LT(errors.back(), kind == SchemeKind::moreau ? 1e-5 : 2e-3) << to_string(kind);
    if (kind != SchemeKind::viscoelastic) {
      EXPECT_GT(fitted_order(h, errors), kind == SchemeKind::moreau ? 1.5 : 0.7) << to_string(kind);
    }
  }
}

/// A ball that falls on the ground beside a planar slider on its horizontal motion.
std::unique_ptr<System> bouncing() {
  MatrixModel model;
  model.coordinates = {"x", "z", "y"};
  model.mass = dense({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  model.force.components = {StateFunction(Expression::parse("2*cos(3*t)", symbols)),
                            StateFunction(Expression::parse("sin(2*t)", symbols)), StateFunction(-9.81)};
  model.friction = {slider("pad", {on(0), on(1)}, 0.8, 25)};
  ExpressionContact ground;
  ground.law.name = "ground";
  ground.law.mu = 0.1;
  ground.law.tangents = 1;
  ground.law.restitution = 0.5;
  ground.gap = StateFunction(Expression::parse("y", symbols));
  ground.slip = {StateFunction(Expression::parse("x", symbols))};
  model.contacts = {ground};
  return make_system(std::move(model));
}

TEST(ElasticFrictionBesideOthers, SchemesAgreeOnAPlanarSliderBesideImpacts) {
  const auto system = bouncing();
  const State first{0, Vector{{0, 0, 0.2}}, Vector{{1, 0.3, 0}}, {}, {}};
  SimulationOptions options;
  options.end_time = 0.9;
  options.scheme = SchemeKind::event;
  options.tolerance = 1e-11;
  options.step = 0.01;
  const Simulation exact = simulate(*system, first, options);
  ASSERT_EQ(exact.status, Status::success) << exact.message;
  EXPECT_LT(audit_value(exact, "energy"), 1e-9);
  EXPECT_GT(exact.event_counts[static_cast<std::size_t>(EventKind::slip)], 0);
  options.scheme = SchemeKind::moreau;
  std::vector<double> errors;
  for (const double step : {2e-3, 5e-4, 1.25e-4}) {
    options.step = step;
    const Simulation s = simulate(*system, first, options);
    ASSERT_EQ(s.status, Status::success) << s.message;
    errors.push_back((s.final.q - exact.final.q).norm());
  }
  EXPECT_LT(errors[2], 2e-3);
  EXPECT_LT(errors[2], 0.3 * errors[0]);
}

}  // namespace
}  // namespace stickslip::elastic_friction_suite_test
