// SPDX-License-Identifier: Apache-2.0
// Projections of the planar sets in the metric of a symmetric positive definite block.
#include <gtest/gtest.h>

#include <limits>

#include "stickslip/laws/disk.hpp"
#include "stickslip/laws/polygon.hpp"
#include "tests/unit/set_samples.hpp"

namespace stickslip::metric_projection_test {
namespace {

using samples::dot;
using samples::label;
using samples::member;
using samples::minus;
using samples::norm;
using samples::Point;
using samples::Random;
using samples::uniform;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<Set> planar_sets() {
  std::vector<Set> sets;
  for (const double c : {0.0, 1e-6, 0.3, 2.5}) {
    sets.insert(sets.end(), {disk_set(c), box_set(c), polygon_set(c, 4), polygon_set(c, 6), polygon_set(c, 16)});
  }
  return sets;
}

/// Row-major R(angle) diag(a, a/condition) R(angle)ᵀ; an angle of 0 keeps it exactly diagonal.
Point metric(double angle, double a, double condition) {
  const double c = std::cos(angle), s = std::sin(angle), b = a / condition;
  const double mixed = c * s * (a - b);
  return {c * c * a + s * s * b, mixed, mixed, s * s * a + c * c * b};
}

Point times(const Point& g, const Point& x) { return {g[0] * x[0] + g[1] * x[1], g[2] * x[0] + g[3] * x[1]}; }

double objective(const Point& g, const Point& p, const Point& z) {
  return 0.5 * dot(minus(p, z), times(g, minus(p, z)));
}

Point metric_projection(const Set& set, const Point& g, const Point& z) {
  Point p(2);
  project_in_metric(set, g, z, p);
  return p;
}

TEST(MetricProjection, ReproducesTheAnisotropicDampingExample) {
  // Paper 3's tangential law with C_T = [20 5; 5 30]: G = C_T⁻¹; 14 digits computed independently.
  const double determinant = 20.0 * 30.0 - 5.0 * 5.0;
  const Metric g{30.0 / determinant, -5.0 / determinant, 20.0 / determinant};
  const Point w{-40.0, -20.0};
  Point p(2);
  const double nu = project_on_disk_in_metric(2.943, g, std::span<const double>(w).first<2>(), std::span(p).first<2>());
  EXPECT_NEAR(nu, 0.612422774432469, 2e-15);
  EXPECT_NEAR(p[0], -2.88604198746395, 1e-14);
  EXPECT_NEAR(p[1], -0.57620365027927, 1e-14);
}

TEST(MetricProjection, InAMultipleOfTheIdentityIsEuclidean) {
  Random random(41);
  for (const Set& set : planar_sets()) {
    for (int i = 0; i < 1000; ++i) {
      const Point z = samples::target(set, random);
      const Point p = metric_projection(set, {3.7, 0.0, 0.0, 3.7}, z);
      ASSERT_LE(norm(minus(p, samples::projection(set, z))), 32.0 * epsilon * norm(z)) << label(set);
    }
  }
}

TEST(MetricProjection, OnAnIntervalIgnoresTheMetric) {
  const Point g{123.0};
  for (const double z : {-7.0, -0.5, 0.0, 3.0}) {
    Point p(1);
    project_in_metric(interval_set(2.0), g, Point{z}, p);
    EXPECT_EQ(p[0], std::clamp(z, -2.0, 2.0));
  }
}

TEST(MetricProjection, SatisfiesItsVariationalInequalityUpToConditionTrillion) {
  // p solves the problem exactly if (z - p)ᵀG(y - p) <= 0 for all y in C. The method is backward stable, so rounding
  // enters as ε |G| (|z| + |p|) (|y - p| + c) whatever the condition of G; c for the rounding of y and p themselves.
  Random random(42);
  for (const Set& set : planar_sets()) {
    for (const double condition : {1.0, 10.0, 1e4, 1e8, 1e12}) {
      for (int i = 0; i < 300; ++i) {
        const double scale = std::pow(10.0, uniform(random, -3.0, 3.0));
        const Point g = metric(i % 5 == 0 ? 0.0 : uniform(random, 0.0, 3.2), scale, condition);
        Point z = samples::target(set, random);
        if (i % 7 == 0) z = {set.limit * (1.0 + 1e-9), 0.0};
        const Point p = metric_projection(set, g, z);
        ASSERT_LE(samples::violation(set, p), 64.0 * epsilon * (set.limit + norm(z))) << label(set);
        const Point force = times(g, minus(z, p));
        for (int k = 0; k < 40; ++k) {
          const Point edge = minus(member(set, random, 1.0), p);
          const double error = 64.0 * epsilon * scale * (norm(z) + norm(p)) * (norm(edge) + set.limit);
          ASSERT_LE(dot(force, edge), error) << label(set) << " condition " << condition;
        }
      }
    }
  }
}

/// Points of the boundary, at most `spacing` apart.
std::vector<Point> boundary(const Set& set, double spacing) {
  std::vector<Point> points;
  if (set.kind == SetKind::disk) {
    const int count = static_cast<int>(2.0 * std::numbers::pi * set.limit / spacing) + 1;
    for (int k = 0; k < count; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / count;
      points.push_back({set.limit * std::cos(angle), set.limit * std::sin(angle)});
    }
    return points;
  }
  const std::vector<Point> vertices = samples::section_vertices(set);
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const Point edge = minus(vertices[(k + 1) % vertices.size()], vertices[k]);
    const int count = static_cast<int>(norm(edge) / spacing) + 1;
    for (int i = 0; i < count; ++i) points.push_back(samples::along(vertices[k], static_cast<double>(i) / count, edge));
  }
  return points;
}

TEST(MetricProjection, BeatsEveryPointOfADenselySampledBoundary) {
  Random random(43);
  constexpr double spacing = 4e-3;
  for (const Set& set : {disk_set(2.0), box_set(2.0), polygon_set(2.0, 4), polygon_set(2.0, 10)}) {
    const std::vector<Point> points = boundary(set, spacing);
    for (int i = 0; i < 200; ++i) {
      const Point g = metric(uniform(random, 0.0, 3.2), 1.0, std::pow(10.0, uniform(random, 0.0, 3.0)));
      const Point z{uniform(random, -8.0, 8.0), uniform(random, -8.0, 8.0)};
      const Point p = metric_projection(set, g, z);
      if (samples::violation(set, z) == 0.0) {
        ASSERT_EQ(p, z) << label(set);
        continue;
      }
      double best = infinity;
      for (const Point& y : points) best = std::min(best, objective(g, y, z));
      ASSERT_LE(objective(g, p, z), best + 64.0 * epsilon * dot(z, z)) << label(set);
      // Some sample is within `spacing` of p, so worse by at most |gradient|·spacing + ½ |G| spacing².
      const double gradient = norm(times(g, minus(z, p)));
      ASSERT_GE(objective(g, p, z), best - spacing * (gradient + spacing)) << label(set);
    }
  }
}

TEST(MetricProjection, OnADiskReturnsTheMultiplierOfTheRim) {
  Random random(44);
  for (int i = 0; i < 2000; ++i) {
    const double scale = std::pow(10.0, uniform(random, -4.0, 4.0));
    const Point g = metric(uniform(random, 0.0, 3.2), scale, std::pow(10.0, uniform(random, 0.0, 12.0)));
    const double c = std::pow(10.0, uniform(random, -6.0, 3.0));
    const double reach = c * std::pow(10.0, uniform(random, -1.0, 6.0));
    const Point z{uniform(random, -reach, reach), uniform(random, -reach, reach)};
    Point p(2);
    const double nu = project_on_disk_in_metric(c, {g[0], g[1], g[3]}, std::span<const double>(z).first<2>(),
                                                std::span(p).first<2>());
    if (norm(z) <= c) {
      ASSERT_EQ(nu, 0.0);
      ASSERT_EQ(p, z);
      continue;
    }
    ASSERT_GE(nu, 0.0);
    ASSERT_NEAR(norm(p), c, 8.0 * epsilon * c);
    // G (z - p) = ν p, backward stable in G.
    const Point force = times(g, minus(z, p));
    ASSERT_LE(norm(minus(force, {nu * p[0], nu * p[1]})), 64.0 * epsilon * scale * norm(z));
  }
}

TEST(MetricProjection, HandlesTheLimitsOfItsRange) {
  const Point z{3.0, -4.0};
  for (const Set& set : {disk_set(0.0), box_set(0.0), polygon_set(0.0, 6)}) {
    EXPECT_EQ(norm(metric_projection(set, {2.0, 1.0, 1.0, 5.0}, z)), 0.0) << label(set);
    EXPECT_EQ(norm(metric_projection(set, {2.0, 1.0, 1.0, 5.0}, {0.0, 0.0})), 0.0) << label(set);
  }
  // |z|/c overflows: p keeps the direction of G z = (2, -17).
  const Point p = metric_projection(disk_set(1e-310), {2.0, 1.0, 1.0, 5.0}, z);
  EXPECT_NEAR(p[0] / 1e-310, 2.0 / std::hypot(2.0, 17.0), 1e-12);
  EXPECT_NEAR(p[1] / 1e-310, -17.0 / std::hypot(2.0, 17.0), 1e-12);
  for (const Set& set : {disk_set(1.0), box_set(1.0), polygon_set(1.0, 6)}) {
    const Point q = metric_projection(set, {2.0, 1.0, 1.0, 5.0}, {std::nan(""), 1.0});
    EXPECT_TRUE(std::isnan(q[0]) || std::isnan(q[1])) << label(set);
  }
}

TEST(MetricProjection, InADiagonalMetricOfConditionTrillionIsExactOnBoxAndDisk) {
  // Diagonal G: the box separates into components whatever G; on the disk the strong component alone saturates.
  const Point g{1.0, 0.0, 0.0, 1e-12};
  const Point b = metric_projection(box_set(1.0), g, {3.0, 0.5});
  EXPECT_NEAR(b[0], 1.0, epsilon);
  EXPECT_NEAR(b[1], 0.5, epsilon);
  // z = (0.6, 5): to first order in 1e-12, p = (0.6, 0.8) with ν = 1e-12 (5/0.8 - 1); p_1 = 0.6/(1 + ν).
  const Point d = metric_projection(disk_set(1.0), g, {0.6, 5.0});
  EXPECT_NEAR(d[0], 0.6 / (1.0 + 5.25e-12), 4.0 * epsilon);
  EXPECT_NEAR(d[1], 0.8, 1e-11);
  EXPECT_NEAR(norm(d), 1.0, 4.0 * epsilon);
}

}  // namespace
}  // namespace stickslip::metric_projection_test
