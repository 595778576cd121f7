// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/polygon.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/set_samples.hpp"

namespace stickslip::polygon_test {
namespace {

using samples::dot;
using samples::minus;
using samples::norm;
using samples::Point;
using samples::Random;
using samples::uniform;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

TEST(Polygon, IsInscribedWithItsFirstVertexOnTheFirstAxis) {
  for (const int facets : {4, 6, 8, 10, 32}) {
    const Set set = polygon_set(2.0, facets);
    for (int k = 0; k < facets; ++k) {
      const double vertex = 2.0 * std::numbers::pi * k / facets, middle = vertex + std::numbers::pi / facets;
      const Point p = samples::projection(set, {9.0 * std::cos(vertex), 9.0 * std::sin(vertex)});
      EXPECT_LE(norm(minus(p, {2.0 * std::cos(vertex), 2.0 * std::sin(vertex)})), 16.0 * epsilon) << facets;
      const double apothem = 2.0 * std::cos(std::numbers::pi / facets);
      const Point q = samples::projection(set, {9.0 * std::cos(middle), 9.0 * std::sin(middle)});
      EXPECT_LE(norm(minus(q, {apothem * std::cos(middle), apothem * std::sin(middle)})), 64.0 * epsilon) << facets;
    }
  }
}

TEST(Polygon, IsSymmetricAboutTheOriginToTheLastBit) {
  Random random(31);
  for (const int facets : {4, 6, 8, 14}) {
    const Polygon polygon = inscribed_polygon(1.3, facets);
    for (int k = -facets; k < 2 * facets; ++k) {
      const Facet a = facet(polygon, k), b = facet(polygon, k + facets / 2);
      EXPECT_EQ(a.n1, -b.n1);
      EXPECT_EQ(a.n2, -b.n2);
      EXPECT_NEAR(std::hypot(a.n1, a.n2), 1.0, 2.0 * epsilon);
    }
    for (int i = 0; i < 1000; ++i) {
      const Point z{uniform(random, -3.0, 3.0), uniform(random, -3.0, 3.0)};
      const Point p = samples::projection(polygon_set(1.3, facets), z);
      const Point q = samples::projection(polygon_set(1.3, facets), {-z[0], -z[1]});
      EXPECT_EQ(p[0], -q[0]);
      EXPECT_EQ(p[1], -q[1]);
    }
  }
}

TEST(Polygon, FacetTowardsAPointIsTheOneItViolatesMost) {
  Random random(32);
  for (const Polygon& polygon : {inscribed_polygon(1.0, 4), inscribed_polygon(1.0, 10), box_polygon(1.0)}) {
    for (int i = 0; i < 3000; ++i) {
      const Point z{uniform(random, -3.0, 3.0), uniform(random, -3.0, 3.0)};
      const Facet f = facet_towards(polygon, z[0], z[1]);
      double largest = -1.0;
      for (int k = 0; k < polygon.facets; ++k) {
        const Facet other = facet(polygon, k);
        largest = std::max(largest, other.n1 * z[0] + other.n2 * z[1]);
      }
      ASSERT_NEAR(f.n1 * z[0] + f.n2 * z[1], largest, 8.0 * epsilon * norm(z));
    }
  }
}

TEST(Polygon, BoxProjectsByComponents) {
  Random random(33);
  for (int i = 0; i < 3000; ++i) {
    const Point z{uniform(random, -3.0, 3.0), uniform(random, -3.0, 3.0)};
    const Point p = samples::projection(box_set(1.25), z);
    ASSERT_EQ(p[0], std::clamp(z[0], -1.25, 1.25));
    ASSERT_EQ(p[1], std::clamp(z[1], -1.25, 1.25));
  }
}

}  // namespace
}  // namespace stickslip::polygon_test
