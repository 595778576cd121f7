// SPDX-License-Identifier: Apache-2.0
// Impact laws in motion: both schemes against the law itself, the energy they book, and closed forms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/solvers/impact.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/body_models.hpp"
#include "tests/support/contact_models.hpp"
#include "tests/support/scaled_units.hpp"

namespace stickslip::impact_law_test {
namespace {

using contact_models::function;

constexpr std::array kLaws{ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::energetic};
constexpr std::array kSchemes{SchemeKind::event, SchemeKind::moreau};

/// A rigid body of mass 1 and inertia 0.1 whose corner is at (b, a) beside its centre: gap y + a φ, slip x + b φ.
struct Corner {
  double a = 0.3, b = 0.25, mu = 0.6, e = 0.9, gravity = 0;
  ImpactLaw law = ImpactLaw::newton;
  Vector velocity = Vector::Zero(3);
  static constexpr double kInertia = 0.1, kHeight = 0.05;

  std::unique_ptr<System> system() const {
    MatrixModel model;
    model.coordinates = {"x", "y", "phi"};
    DenseMatrix M = DenseMatrix::Identity(3, 3);
    M(2, 2) = kInertia;
    model.mass = SystemMatrix(M);
    model.damping = model.stiffness = SystemMatrix::zero(3);
    for (const double f : {0.0, -gravity, 0.0}) model.force.components.emplace_back(f);
    ContactElement contact = contact_models::contact_law("ground", 1, mu, e);
    contact.impact = law;
    model.contacts.push_back({contact,
                              function(fmt::format("y + {:.17g}*phi", a), model.coordinates),
                              {function(fmt::format("x + {:.17g}*phi", b), model.coordinates)},
                              {},
                              {},
                              {},
                              {}});
    return make_system(std::move(model));
  }
  State start() const {
    State s;
    s.q = Vector::Zero(3);
    s.q[1] = kHeight;
    s.v = velocity;
    return s;
  }
  ImpactProblem problem() const {
    ImpactProblem p{DenseMatrix(2, 2), Vector(2), {{friction_cone_set(mu, 2), e, law}}};
    p.D << 1 + a * a / kInertia, a * b / kInertia, a * b / kInertia, 1 + b * b / kInertia;
    p.u << velocity[1] + a * velocity[2], velocity[0] + b * velocity[2];
    return p;
  }
  Simulation run(SchemeKind scheme, double step, double end_time) const {
    SimulationOptions options;
    options.scheme = scheme;
    options.step = step;
    options.end_time = end_time;
    const auto s = system();
    return simulate(*s, start(), options);
  }
};

Vector corner_velocity(const Corner& corner, const Vector& v) {
  Vector u(2);
  u << v[1] + corner.a * v[2], v[0] + corner.b * v[2];
  return u;
}

/// Slides through, sticks, turns round inside the impact, and is nearly jammed.
std::vector<Corner> cases() {
  std::vector<Corner> all(4);
  all[0].velocity << 6, -1, 0;
  all[0].mu = 0.2;
  all[1].velocity << 0.2, -1, 0;
  all[2].velocity << -0.1, -1, 0;
  all[2].mu = 0.1;
  all[3].velocity << 1, -1, 0;
  all[3].mu = 2.4;  // friction all but presses it in: D_NN - mu D_NT = 0.1
  return all;
}

TEST(ImpactLaw, BothSchemesLeaveWithTheVelocityOfTheLaw) {
  for (Corner corner : cases())
    for (const ImpactLaw law : kLaws) {
      corner.law = law;
      ImpactWorkspace workspace;
      ImpactSolution expected;
      solve(corner.problem(), {}, workspace, expected);
      ASSERT_EQ(expected.status, Status::success);
      for (const SchemeKind scheme : kSchemes) {
        const Simulation r = corner.run(scheme, 1e-3, 0.12);
        ASSERT_EQ(r.status, Status::success) << r.message;
        EXPECT_LT((corner_velocity(corner, r.final.v) - expected.u).norm(), 1e-11)
            << to_string(law) << " under " << to_string(scheme);
        ASSERT_EQ(r.trajectory.events.empty(), false);
        EXPECT_EQ(r.trajectory.events[0].kind, EventKind::impact);
        EXPECT_NEAR(r.trajectory.events[0].impulse, expected.p[0], 1e-11);
      }
    }
}

TEST(ImpactLaw, EnergyMadeByNewtonsLawIsCountedAndNoLossIsNegative) {
  Corner corner;  // sticks afterwards; ρ² = D_NT D_TN/(D_NN D_TT) = 0.48, e²/(1 - ρ²) = 1.55
  corner.a = 0.5;
  corner.b = 0.45;
  corner.velocity << -2.25 / 3.5, -1, 0;
  for (const SchemeKind scheme : kSchemes) {
    corner.law = ImpactLaw::newton;
    const Simulation newton = corner.run(scheme, 1e-3, 0.12);
    ASSERT_EQ(newton.status, Status::success) << newton.message;
    const double before = 0.5 * corner.velocity.squaredNorm();
    const double after = newton.trajectory.energy(newton.trajectory.rows() - 1).kinetic;
    EXPECT_GT(after - before, 0.1 * before) << to_string(scheme);
    EXPECT_NEAR(audit_value(newton, "energy_impact_gain"), after - before, 1e-12);
    EXPECT_EQ(audit_value(newton, "steps_with_contact_gain"), 1);
    EXPECT_GE(audit_value(newton, "energy_friction_loss"), 0);
    EXPECT_NEAR(audit_value(newton, "energy_impact_loss"), before - after, 1e-12);
    for (const ImpactLaw law : {ImpactLaw::poisson, ImpactLaw::energetic}) {
      corner.law = law;
      const Simulation other = corner.run(scheme, 1e-3, 0.12);
      ASSERT_EQ(other.status, Status::success) << other.message;
      EXPECT_LT(other.trajectory.energy(other.trajectory.rows() - 1).kinetic, before);
      EXPECT_EQ(audit_value(other, "steps_with_contact_gain"), 0);
      int guaranteed = 0;
      for (const AuditItem& item : other.audit) guaranteed += item.name == "contact_gain" && item.guaranteed;
      EXPECT_EQ(guaranteed, 1);
    }
  }
}

/// One contact without friction: the three laws are one, also while the ball bounces under gravity.
TEST(ImpactLaw, ABallBouncesAlikeUnderAllLaws) {
  for (const SchemeKind scheme : kSchemes)
    for (const double e : {0.6, 1.0}) {
      Corner ball;
      ball.a = ball.b = 0;
      ball.mu = 0;
      ball.e = e;
      ball.gravity = 9.81;
      std::vector<Simulation> runs;
      for (const ImpactLaw law : kLaws) {
        ball.law = law;
        runs.push_back(ball.run(scheme, 1e-3, 0.35));  // it rests after 0.4 s
        ASSERT_EQ(runs.back().status, Status::success) << runs.back().message;
      }
      EXPECT_GT(runs[0].trajectory.events.size(), 1u);
      for (const Simulation& run : runs) {
        EXPECT_NEAR(run.final.q[1], runs[0].final.q[1], 1e-11);
        EXPECT_NEAR(run.final.v[1], runs[0].final.v[1], 1e-10);
      }
      if (e == 1) {
        const EnergyLedger& last = runs[2].trajectory.energy(runs[2].trajectory.rows() - 1);
        EXPECT_NEAR(last.impact_loss, 0, 1e-12);
      }
    }
}

TEST(ImpactLaw, MoreauApproachesEventAsTheStepFalls) {
  for (const ImpactLaw law : {ImpactLaw::poisson, ImpactLaw::energetic}) {
    Corner corner = cases()[1];
    corner.law = law;
    corner.gravity = 9.81;
    const double end = 0.12;
    const Simulation exact = corner.run(SchemeKind::event, 1e-2, end);
    ASSERT_EQ(exact.status, Status::success) << exact.message;
    double previous = 0;
    for (const double h : {4e-4, 1e-4}) {
      const Simulation r = corner.run(SchemeKind::moreau, h, end);
      ASSERT_EQ(r.status, Status::success) << r.message;
      const double error = (r.final.q - exact.final.q).norm() + 0.1 * (r.final.v - exact.final.v).norm();
      EXPECT_LT(error, 30 * h) << to_string(law);  // an impact inside a step: order 1
      if (previous > 0) {
        EXPECT_LT(error, previous) << to_string(law);
      }
      previous = error;
    }
  }
}

// Routh's path of a rod at 45°, compressed only; before, a point that landed within a step took Newton's answer.
TEST(ImpactLaw, EnergeticWithoutRestitutionIsNotNewtons) {
  for (Corner corner : cases()) {
    corner.law = ImpactLaw::energetic;
    corner.e = 0;
    ImpactWorkspace workspace;
    ImpactSolution exact;
    solve(corner.problem(), {}, workspace, exact);
    ASSERT_EQ(exact.status, Status::success);
    const Simulation r = corner.run(SchemeKind::moreau, 1e-3, 0.1);
    ASSERT_EQ(r.status, Status::success) << r.message;
    EXPECT_LT((corner_velocity(corner, r.final.v) - exact.u).norm(), 1e-11);
  }
}

using namespace body_models;

/// A ball has no coupling of normal and tangent: slip stops if μ (1 + e) |u_N| allows for it, D_TT = 7/2.
TEST(ImpactLaw, ASpinningBallGripsOrSlips) {
  for (const ImpactLaw law : kLaws)
    for (const double mu : {0.05, 0.8}) {
      BodyModel model;
      const double radius = 0.1, e = 0.7, approach = 2;
      // It touches in the middle of a step: no penetration shortens the arm of friction.
      model.bodies.push_back(body("ball", 1, {0, 0, radius + 0.009}, {0.3, 0, -approach}, {0, 20, 0}));
      model.shapes = {sphere(0, radius), ground_plane()};
      model.contacts = {contact("ball", "ground", mu, e)};
      model.contacts[0].law.impact = law;
      const Simulation r = run(model, options(1e-3, 0.02));
      ASSERT_EQ(r.status, Status::success) << r.message;
      const double slip = 0.3 - 20 * radius;  // < 0
      const double p = std::min(mu * (1 + e) * approach, -slip / 3.5);
      EXPECT_NEAR(r.final.v[2], e * approach, 1e-10) << to_string(law);
      EXPECT_NEAR(r.final.v[0], 0.3 + p, 1e-10) << to_string(law) << " mu " << mu;
      EXPECT_NEAR(r.final.v[4], 20 - p * radius / (0.4 * radius * radius), 1e-8) << to_string(law);
    }
}

/// A tumbling box on a corner: normal and tangents are coupled, the slip turns.
TEST(ImpactLaw, UnitsDoNotMatter) {
  for (const ImpactLaw law : {ImpactLaw::poisson, ImpactLaw::energetic}) {
    BodyModel model = cube_on_plane(0.4, 0, {0.7, -0.4, -1}, 0.6);
    model.bodies[0].position[2] += 0.4;
    model.bodies[0].orientation = Eigen::Quaterniond(Eigen::AngleAxisd(0.8, Eigen::Vector3d(1, 0.4, 0.2).normalized()));
    model.bodies[0].spin = {0.3, -0.2, 0.5};
    model.contacts[0].law.impact = law;
    const SimulationOptions plain_options = options(1e-3, 0.3);
    const Simulation plain = run(model, plain_options);
    ASSERT_EQ(plain.status, Status::success) << plain.message;
    const auto impacts = std::count_if(plain.trajectory.events.begin(), plain.trajectory.events.end(),
                                       [](const Event& event) { return event.kind == EventKind::impact; });
    ASSERT_GT(impacts, 0);
    for (const scaled_units::Units& units : scaled_units::systems()) {
      const Simulation other = run(scaled_units::scaled(model, units), scaled_units::scaled(plain_options, units));
      ASSERT_EQ(other.status, Status::success) << other.message;
      EXPECT_LT((other.final.v.head(3) / units.velocity() - plain.final.v.head(3)).norm(), 1e-11)
          << to_string(law) << ", " << scaled_units::describe(units);
      EXPECT_LT((other.final.v.tail(3) * units.time - plain.final.v.tail(3)).norm(), 1e-11)
          << to_string(law) << ", " << scaled_units::describe(units);
    }
  }
}

/// A box that lands flat on four corners leaves flat, with e times its velocity.
TEST(ImpactLaw, ABoxThatLandsFlatStaysFlat) {
  for (const ImpactLaw law : kLaws) {
    BodyModel model = cube_on_plane(0.5, 0, {0, 0, -1});
    model.gravity = {0, 0, 0};
    model.bodies[0].position[2] += 0.005;
    model.contacts[0].law.restitution = 0.5;
    model.contacts[0].law.impact = law;
    const Simulation r = run(model, options(1e-3, 0.02));
    ASSERT_EQ(r.status, Status::success) << r.message;
    EXPECT_NEAR(r.final.v[2], 0.5, 1e-8) << to_string(law);
    EXPECT_LT(r.final.v.tail(3).norm(), 1e-8) << to_string(law);
  }
}

TEST(ImpactLaw, WhichContactsNeverMakeEnergy) {
  auto law = [](ImpactLaw impact, double e, double mu) {
    ContactElement element = contact_models::contact_law("c", 1, mu, e);
    element.impact = impact;
    return element;
  };
  using enum ImpactLaw;
  EXPECT_TRUE(impacts_never_gain({law(newton, 0, 1), law(newton, 0, 1)}));
  EXPECT_FALSE(impacts_never_gain({law(newton, 0.5, 1)}));
  EXPECT_TRUE(impacts_never_gain({law(energetic, 0.5, 1), law(energetic, 0.2, 1), law(newton, 0, 1)}));
  EXPECT_FALSE(impacts_never_gain({law(energetic, 0.5, 1), law(newton, 0.2, 1)}));
  EXPECT_TRUE(impacts_never_gain({law(poisson, 0.5, 1), law(poisson, 0.5, 2)}));
  EXPECT_FALSE(impacts_never_gain({law(poisson, 0.5, 1), law(poisson, 0.4, 1)}));
  EXPECT_TRUE(impacts_never_gain({law(poisson, 0.5, 0), law(poisson, 0.4, 0)}));
}

}  // namespace
}  // namespace stickslip::impact_law_test
