// SPDX-License-Identifier: Apache-2.0
// Friction in the plane: the force opposes the velocity vector, whatever its direction.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/comparison.hpp"

namespace stickslip::planar_friction_test {
namespace {

std::unique_ptr<System> plane(SetKind set, const char* fx = "0", const char* fy = "0", int facets = 8,
                              double static_limit = 0) {
  MatrixModel model;
  model.coordinates = {"x", "y"};
  model.mass = SystemMatrix(DenseMatrix{{1, 0}, {0, 1}});
  model.damping = model.stiffness = SystemMatrix(DenseMatrix{{0, 0}, {0, 0}});
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  model.force.components = {StateFunction(Expression::parse(fx, symbols)),
                            StateFunction(Expression::parse(fy, symbols))};
  FrictionElement law;
  law.name = "table";
  law.directions = {{{0, 1.0}}, {{1, 1.0}}};
  law.planar_set = set;
  law.facets = facets;
  law.limit = StateFunction(1.0);
  if (static_limit > 1) law.static_limit = StateFunction(static_limit);
  model.friction = {law};
  return make_system(std::move(model));
}

Simulation slide(const System& system, SchemeKind scheme, double vx, double vy, double step, double end_time) {
  State initial;
  initial.q = Vector::Zero(2);
  initial.v = Vector{{vx, vy}};
  SimulationOptions options;
  options.scheme = scheme;
  options.step = step;
  options.end_time = end_time;
  return simulate(system, initial, options);
}

TEST(PlanarFriction, ABlockSlidesStraightAndStopsAtTheSameDistanceInEveryDirection) {
  for (double angle : {0.0, 0.3, 1.0, 2.0, 4.0}) {
    const Simulation s = slide(*plane(SetKind::disk), SchemeKind::moreau, std::cos(angle), std::sin(angle), 0.001, 2);
    EXPECT_NEAR(s.final.q[0], 0.5 * std::cos(angle), 1e-3);  // stops inside a step: planar stops are not located
    EXPECT_NEAR(s.final.q[1], 0.5 * std::sin(angle), 1e-3);
    EXPECT_EQ(s.final.v.norm(), 0.0);
    EXPECT_NEAR(s.final.q[0] * std::sin(angle), s.final.q[1] * std::cos(angle), 1e-9);
  }
}

TEST(PlanarFriction, OnAnInclineWithTheLimitOfItsOwnWeightASidewaysPushEndsAtHalfTheSpeed) {
  // Pull 1 along y equals the limit: |v| + v_y is conserved, so v ends at (0, v0/2). The direction of the force is that
  // of the end velocity, which is first order where the direction turns.
  std::vector<double> h, error;
  for (double step : {0.008, 0.004, 0.002, 0.001}) {
    const Simulation s = slide(*plane(SetKind::disk, "0", "1"), SchemeKind::moreau, 1, 0, step, 40);
    EXPECT_NEAR(s.final.v[0], 0.0, 1e-6);
    h.push_back(step);
    error.push_back(std::abs(s.final.v[1] - 0.5));
  }
  EXPECT_NEAR(fitted_order(h, error), 1.0, 0.05);
  EXPECT_LT(error.back(), 3e-4);
}

/// The load F = 3 t turns with w = 2; m = 1, limits c and s >= c. From break-away at 3 t = s with u' = s - c the
/// direction of slip turns with w s/(2 s - c): |u| θ' = F sin(φ - θ), |u| = (s - c)(t - s/3). Where s = c it turns with
/// the load.
TEST(PlanarFriction, WhatBreaksAwayUnderATurningLoadTurnsAsItsSpeedAllows) {
  for (const double ratio : {1.0, 1.0 + 1e-7, 1.0001, 1.01, 1.5})
    for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
      const std::unique_ptr<System> system = plane(SetKind::disk, "3*t*cos(2*t)", "3*t*sin(2*t)", 8, ratio);
      SimulationOptions options;
      options.scheme = SchemeKind::event;
      options.step = 1e-3;
      options.tolerance = tolerance;
      const double from = ratio / 3;
      options.end_time = from + 1e-4;
      const Simulation soon = simulate(*system, {0, Vector::Zero(2), Vector::Zero(2)}, options);
      options.end_time = 1;
      const Simulation run = simulate(*system, {0, Vector::Zero(2), Vector::Zero(2)}, options);
      const std::string what = fmt::format("static over dynamic {}, tolerance {}", ratio, tolerance);
      ASSERT_EQ(run.status, Status::success) << what << run.message;
      for (const AuditItem& item : run.audit) EXPECT_TRUE(item.ok) << what << ": " << item.name << " " << item.value;
      if (ratio < 1.01) continue;
      const double turned = std::atan2(soon.final.v[1], soon.final.v[0]) - 2 * from;
      EXPECT_NEAR(turned, 2e-4 * ratio / (2 * ratio - 1), 2e-6) << what;
    }
}

TEST(PlanarFriction, StuckBlockDoesNotMoveByABit) {
  const Simulation s = slide(*plane(SetKind::disk, "0.6*cos(t)", "0.79*sin(t)"), SchemeKind::moreau, 0, 0, 0.01, 20);
  EXPECT_EQ(s.final.q.norm(), 0.0);
  EXPECT_TRUE(s.trajectory.events.empty());
}

TEST(PlanarFriction, ManyFacetsApproachTheDiskFromBelow) {
  double previous = 1;
  for (int facets : {4, 8, 16, 32, 64}) {
    const Simulation s = slide(*plane(SetKind::polygon, "0", "0", facets), SchemeKind::moreau, std::cos(0.37),
                               std::sin(0.37), 0.0005, 3);
    const double difference = std::abs(s.final.q.norm() - 0.5);
    EXPECT_LT(difference, previous) << facets;
    previous = std::max(difference, 2e-3);  // below that the time step shows
  }
  EXPECT_LE(previous, 2.1e-3);
}

TEST(PlanarFriction, BoxIsTwoIndependentFrictions) {
  const Simulation s = slide(*plane(SetKind::box), SchemeKind::moreau, 1, 0.5, 0.001, 3);
  EXPECT_NEAR(s.final.q[0], 0.5, 1e-3);
  EXPECT_NEAR(s.final.q[1], 0.125, 1e-3);
}

}  // namespace
}  // namespace stickslip::planar_friction_test
