// SPDX-License-Identifier: Apache-2.0
// projection_jacobian: an element of the B-subdifferential of each set's projection.
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/set_samples.hpp"

namespace stickslip::projection_jacobian_test {
namespace {

using samples::all_sets;
using samples::along;
using samples::dot;
using samples::is_bounded;
using samples::label;
using samples::minus;
using samples::norm;
using samples::Point;
using samples::projection;
using samples::Random;
using samples::target;
using samples::uniform;

constexpr double infinity = std::numeric_limits<double>::infinity();
// Entries are of size 1 and come from a dozen operations.
constexpr double rounding = 32.0 * std::numeric_limits<double>::epsilon();
constexpr int points_per_set = 1000;

Point jacobian_at(const Set& set, const Point& z) {
  Point j(z.size() * z.size());
  projection_jacobian(set, z, j);
  return j;
}

/// One-sided difference quotient of the projection, row-major, step h (of either sign).
Point difference_quotient(const Set& set, const Point& z, double h) {
  const std::size_t n = z.size();
  Point j(n * n);
  for (std::size_t column = 0; column < n; ++column) {
    Point moved = z;
    moved[column] += h;
    const double step = moved[column] - z[column];
    const Point difference = minus(projection(set, moved), projection(set, z));
    for (std::size_t row = 0; row < n; ++row) j[row * n + column] = difference[row] / step;
  }
  return j;
}

TEST(ProjectionJacobian, IsSymmetricWithEigenvaluesBetweenZeroAndOne) {
  Random random(8);
  for (const Set& set : all_sets()) {
    const std::size_t n = static_cast<std::size_t>(set.size);
    for (int i = 0; i < points_per_set; ++i) {
      const Point j = jacobian_at(set, target(set, random));
      Point x(n);
      for (double& component : x) component = uniform(random, -1.0, 1.0);
      Point jx(n, 0.0);
      for (std::size_t row = 0; row < n; ++row) {
        for (std::size_t column = 0; column < n; ++column) {
          ASSERT_NEAR(j[row * n + column], j[column * n + row], rounding) << label(set);
          jx[row] += j[row * n + column] * x[column];
        }
      }
      // 0 <= J <= I for symmetric J is J firmly non-expansive: |J x|² <= x·J x.
      ASSERT_LE(dot(jx, jx), dot(x, jx) + 10.0 * rounding) << label(set);
    }
  }
}

TEST(ProjectionJacobian, IsTheDerivativeAwayFromKinks) {
  // Forward and backward quotients agree away from kinks (curvature <= 1/|z_T| ~ 1/size: they differ by h/size) and the
  // central one is then exact to (h/size)² plus rounding ε size/h ~ 1e-9.
  Random random(9);
  for (const Set& set : all_sets()) {
    const double unit = is_bounded(set) && set.limit > 0.0 ? set.limit : 1.0;
    const double h = 1e-6 * unit;
    int smooth = 0;
    for (int i = 0; i < points_per_set; ++i) {
      Point z(static_cast<std::size_t>(set.size));
      for (double& component : z) component = uniform(random, -3.0 * unit, 3.0 * unit);
      const Point forward = difference_quotient(set, z, h), backward = difference_quotient(set, z, -h);
      if (norm(minus(forward, backward)) > 1e-4) continue;
      ++smooth;
      Point central = along(forward, 1.0, backward);
      for (double& entry : central) entry *= 0.5;
      ASSERT_LE(norm(minus(central, jacobian_at(set, z))), 2e-7) << label(set);
    }
    EXPECT_GE(smooth, points_per_set * 9 / 10) << label(set);
  }
}

/// Points where the projection has a kink: pieces of C's boundary, and boundaries of the normal cones at its vertices.
std::vector<Point> kinks_of(const Set& set) {
  const double c = set.limit;
  switch (set.kind) {
    case SetKind::interval:
      return {{c}, {-c}};
    case SetKind::half_line:
      return {{0.0}};
    case SetKind::disk:
      return {{c, 0.0}, {0.0, -c}, {0.6 * c, 0.8 * c}};
    case SetKind::box:
      return {{c, 0.25 * c}, {-0.5 * c, c}, {c, c}, {2.0 * c, c}, {-c, -3.0 * c}};
    case SetKind::polygon: {
      const auto v = samples::section_vertices(set);
      const Point middle{0.5 * (v[0][0] + v[1][0]), 0.5 * (v[0][1] + v[1][1])};
      return {v[0], v[1], middle, along(v[1], 1.0, middle), along(v[0], 2.0, middle)};
    }
    case SetKind::friction_cone: {
      if (set.size == 2) return {{0.0, 0.0}, {1.0, c}, {1.0, -c}, {-c, 1.0}, {-c, -1.0}};
      return {{0.0, 0.0, 0.0}, {1.0, 0.6 * c, 0.8 * c}, {-c, 0.6, 0.8}, {2.0, 0.0, -2.0 * c}};
    }
    case SetKind::polygonal_cone:
    case SetKind::box_cone: {
      const auto v = samples::section_vertices(set);
      const Point edge{1.0, v[0][0], v[0][1]};
      const Point middle{1.0, 0.5 * (v[0][0] + v[1][0]), 0.5 * (v[0][1] + v[1][1])};
      const double apothem = std::hypot(middle[1], middle[2]);
      const Point outward{-apothem, middle[1] / apothem, middle[2] / apothem};  // normal of the facet
      return {{0.0, 0.0, 0.0}, edge, middle, along(edge, 1.0, outward), outward};
    }
    default:
      return {};
  }
}

TEST(ProjectionJacobian, AtAKinkIsALimitOfJacobiansNearby) {
  // Difference quotients with step 1e-10 around points 1e-5 from the kink: away from kinks they are within
  // ε/1e-10 + 1e-5 of the Jacobians there, so 1e-4 separates the pieces (which differ by O(1)).
  Random random(10);
  for (const Set& set : all_sets()) {
    if (set.limit < 0.1 && set.kind != SetKind::half_line) continue;
    const double unit = is_bounded(set) ? set.limit : 1.0;
    for (const Point& kink : kinks_of(set)) {
      const Point j = jacobian_at(set, kink);
      double nearest = infinity;
      for (int i = 0; i < 4000 && nearest > 1e-4; ++i) {
        Point z = kink;
        // Distances over several scales: the pieces near a cone's apex or a thin wedge are narrow.
        for (double& component : z) component += uniform(random, -1e-5, 1e-5) * unit;
        nearest = std::min(nearest, norm(minus(difference_quotient(set, z, 1e-10 * unit), j)));
      }
      EXPECT_LE(nearest, 1e-4) << label(set) << " at " << testing::PrintToString(kink);
    }
  }
}

TEST(ProjectionJacobian, OnTheBoundaryOfABodyIsTheIdentity) {
  const std::vector<std::pair<Set, Point>> cases{{interval_set(2.0), {2.0}},
                                                 {half_line_set(), {0.0}},
                                                 {disk_set(5.0), {3.0, 4.0}},
                                                 {box_set(1.0), {1.0, -1.0}},
                                                 {friction_cone_set(0.5, 3), {0.0, 0.0, 0.0}},
                                                 {friction_cone_set(0.5, 2), {2.0, -1.0}},
                                                 {polygonal_cone_set(0.5, 8), {0.0, 0.0, 0.0}},
                                                 {box_cone_set(0.5), {2.0, 1.0, 1.0}}};
  for (const auto& [set, z] : cases) {
    const Point j = jacobian_at(set, z);
    for (std::size_t i = 0; i < j.size(); ++i) EXPECT_EQ(j[i], i % (z.size() + 1) == 0 ? 1.0 : 0.0) << label(set);
  }
}

TEST(ProjectionJacobian, OfAVanishingLimitIsThatOfThePointOrTheNormalHalfLine) {
  for (const Set& set : all_sets()) {
    if (set.limit != 0.0 || set.kind == SetKind::line || set.kind == SetKind::half_line) continue;
    const std::size_t n = static_cast<std::size_t>(set.size);
    for (const double normal : {-1.0, 0.0, 1.0}) {
      for (const double tangential : {-1.0, 0.0, 1.0}) {
        Point z(n, tangential);
        z[0] = normal;
        Point expected(n * n, 0.0);
        if (is_cone(set.kind) && normal >= 0.0) expected[0] = 1.0;
        EXPECT_EQ(jacobian_at(set, z), expected) << label(set) << testing::PrintToString(z);
        Point p(n, 0.0);
        if (is_cone(set.kind)) p[0] = std::max(0.0, normal);
        EXPECT_LE(norm(minus(projection(set, z), p)), rounding) << label(set) << testing::PrintToString(z);
      }
    }
  }
}

}  // namespace
}  // namespace stickslip::projection_jacobian_test
