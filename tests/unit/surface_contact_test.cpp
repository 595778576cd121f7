// SPDX-License-Identifier: Apache-2.0
// Contacts with surfaces of triangles, against closed forms: a plane however it is divided, a box of triangles,
// distances.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/model/collision/surface_mesh.hpp"
#include "tests/unit/collision_samples.hpp"

namespace stickslip::surface_contact_test {
namespace {

using namespace collision_samples;

Shape mesh(std::shared_ptr<const SurfaceMesh> surface) {
  Shape s;
  s.kind = ShapeKind::mesh;
  s.surface = std::move(surface);
  return s;
}

/// The square [-2, 2]² at z = 0, cut into cells with corners that are moved about, and diagonals either way.
std::shared_ptr<const SurfaceMesh> divided_square(Random& random, int cells, double scale = 1.0) {
  std::vector<Vector3> corners;
  std::vector<std::array<int, 3>> faces;
  const double d = 4.0 / cells;
  for (int j = 0; j <= cells; ++j)
    for (int i = 0; i <= cells; ++i) {
      const bool inner = i > 0 && j > 0 && i < cells && j < cells;
      const auto moved = [&](int k) { return -2.0 + d * k + (inner ? uniform(random, -0.15, 0.15) * d : 0.0); };
      const double x = moved(i), y = moved(j);
      corners.emplace_back(scale * x, scale * y, 0.0);
    }
  for (int j = 0; j < cells; ++j)
    for (int i = 0; i < cells; ++i) {
      const int a = j * (cells + 1) + i, b = a + 1, c = b + cells + 1, e = a + cells + 1;
      if (uniform(random, 0, 1) < 0.5) {
        faces.push_back({a, b, c});
        faces.push_back({a, c, e});
      } else {
        faces.push_back({a, b, e});
        faces.push_back({b, c, e});
      }
    }
  return make_surface(corners, faces);
}

std::shared_ptr<const SurfaceMesh> surface_of(const Polyhedron& p) { return make_surface(p.vertices, triangles(p)); }

/// Distance of x from a triangle, by the plane and, outside, the sides.
double distance_to_triangle(const Vector3& x, const Vector3& a, const Vector3& b, const Vector3& c) {
  const Vector3 n = (b - a).cross(c - a).normalized(), p[3] = {a, b, c};
  bool inside = true;
  double least = 1e300;
  for (int k = 0; k < 3; ++k) {
    const Vector3 d = p[(k + 1) % 3] - p[k];
    inside &= n.dot(d.cross(x - p[k])) >= 0.0;
    const double t = std::clamp(d.dot(x - p[k]) / d.squaredNorm(), 0.0, 1.0);
    least = std::min(least, (x - p[k] - t * d).norm());
  }
  return inside ? std::abs(n.dot(x - a)) : least;
}

TEST(SurfaceMesh, CountsWhatContactSees) {
  Random random(1);
  const auto flat = divided_square(random, 6);
  EXPECT_EQ(flat->triangles.size(), 72u);
  EXPECT_EQ(flat->regions.size(), 1u);
  EXPECT_EQ(flat->rims, 24);
  EXPECT_EQ(std::count(flat->is_feature.begin(), flat->is_feature.end(), 1), 4);  // its own corners
  const auto cube = surface_of(box_polyhedron({1, 1, 1}));
  EXPECT_EQ(cube->regions.size(), 6u);
  EXPECT_EQ(cube->rims, 0);
  EXPECT_EQ(std::count_if(cube->edges.begin(), cube->edges.end(),
                          [](const SurfaceEdge& e) { return e.turn == SurfaceEdge::Turn::convex; }),
            12);
  EXPECT_EQ(describe(*cube), "12 triangles, 8 corners, 6 flat parts, closed");
}

TEST(SurfaceMesh, RefusesWhatIsNoSurface) {
  const std::vector<Vector3> x{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 0, 0}, {0, 0, 1}};
  const auto message = [&](const std::vector<std::array<int, 3>>& faces) {
    try {
      make_surface(x, faces);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({{0, 1, 2}, {1, 3, 2}}), "");
  EXPECT_NE(message({{0, 1, 4}}).find("face 0 (corners 0, 1, 4) has no area"), std::string::npos);
  EXPECT_NE(message({{0, 1, 1}}).find("no area"), std::string::npos);
  EXPECT_NE(message({{0, 1, 9}}).find("names corner 9"), std::string::npos);
  EXPECT_NE(message({{0, 1, 2}, {1, 2, 3}}).find("reverse"), std::string::npos);
  EXPECT_NE(message({{0, 1, 2}, {1, 0, 5}, {0, 1, 3}}).find("two faces at most"), std::string::npos);
  EXPECT_NE(message({}).find("at least one"), std::string::npos);
}

/// A plane is a plane: the same points, gaps and normals for every kind of body, at any pose, in any unit, turned or
/// not.
TEST(SurfaceContact, DividedPlaneIsAPlane) {
  Random random(2);
  for (const double unit : {1.0, 1e-6, 1e6}) {
    const auto flat = divided_square(random, 9, unit);
    for (Shape shape : solids(random)) {
      shape.radius *= unit;
      shape.length *= unit;
      shape.size *= unit;
      for (Vector3& x : shape.points) x *= unit;
      Pair on_mesh(shape, mesh(flat)), on_plane(shape, plane());
      for (int trial = 0; trial < 60; ++trial) {
        const Eigen::Quaterniond frame = orientation(random);
        // Nearly flat, or anyhow.
        const Eigen::Quaterniond q =
            trial % 2 == 0 ? turn(uniform(random, 0, 1e-3), direction(random)) : orientation(random);
        const Vector3 offset = unit * Vector3(uniform(random, -1, 1), uniform(random, -1, 1), 0);
        PlacedShape probe = on_plane.a;
        probe.R = q.toRotationMatrix();
        probe.x.setZero();
        const double low = lowest(probe, Vector3::UnitZ());
        const double gap = unit * uniform(random, -1e-4, 1e-3), margin = 2e-3 * unit;
        const Vector3 x = frame * (offset + Vector3(0, 0, gap - low));
        const auto a = on_mesh.at(x, frame * q, Vector3::Zero(), frame).find(margin);
        const auto b = on_plane.at(x, frame * q, Vector3::Zero(), frame).find(margin);
        ASSERT_EQ(a.size(), b.size()) << name_of(shape.kind) << " trial " << trial;
        for (std::size_t k = 0; k < a.size(); ++k) {
          EXPECT_NEAR(a[k].gap, b[k].gap, 1e-12 * unit);
          EXPECT_LT((a[k].position - b[k].position).norm(), 1e-11 * unit);
          EXPECT_LT((a[k].normal - b[k].normal).norm(), 1e-12);
        }
      }
    }
  }
}

/// From triangle to triangle of a plane the name of a contact stays: memory of sticking and impulses is kept.
TEST(SurfaceContact, NamesStayOnADividedPlane) {
  Random random(3);
  const auto flat = divided_square(random, 16);
  for (const Shape& shape : {sphere(0.2), box({0.4, 0.3, 0.2}), capsule(0.1, 0.4)}) {
    Pair pair(shape, mesh(flat));
    PlacedShape probe = pair.a;
    const double low = lowest(probe, Vector3::UnitZ());
    std::vector<std::uint64_t> names;
    for (int k = 0; k <= 200; ++k) {
      const double x = -1.0 + 0.01 * k;
      const auto found = pair.at({x, 0.37 * x, -low}, Eigen::Quaterniond::Identity()).find();
      std::vector<std::uint64_t> now;
      for (const ContactPoint& point : found) now.push_back(point.feature);
      if (k == 0) names = now;
      ASSERT_EQ(now, names) << name_of(shape.kind) << " at x = " << x;
    }
  }
}

/// Over random terrain: the nearest point of all triangles, where the centre is outside.
TEST(SurfaceContact, SphereSeesTheNearestPointOfATerrain) {
  Random random(4);
  std::vector<std::vector<double>> heights(14, std::vector<double>(17));
  for (auto& row : heights)
    for (double& z : row) z = uniform(random, -0.2, 0.2);
  const auto terrain = make_height_field(heights, 4.0, 3.0);
  Pair pair(sphere(0.15), mesh(terrain));
  int touching = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Vector3 x(uniform(random, -1.8, 1.8), uniform(random, -1.3, 1.3), uniform(random, -0.1, 0.4));
    double nearest = 1e300;
    int below = 0;
    for (const SurfaceTriangle& t : terrain->triangles) {
      const Vector3 p[3] = {terrain->corners[t.corner[0]], terrain->corners[t.corner[1]],
                            terrain->corners[t.corner[2]]};
      nearest = std::min(nearest, distance_to_triangle(x, p[0], p[1], p[2]));
      bool over = true;
      for (int k = 0; k < 3; ++k) {
        const Vector3 d = p[(k + 1) % 3] - p[k], r = x - p[k];
        over &= d.x() * r.y() - d.y() * r.x() >= 0.0;
      }
      if (over) below = (p[1] - p[0]).cross(p[2] - p[0]).dot(x - p[0]) < 0.0;
    }
    if (below) continue;
    const auto found = pair.at(x, orientation(random)).find(0.05);
    if (nearest - 0.15 > 0.05) {
      EXPECT_TRUE(found.empty());
      continue;
    }
    ++touching;
    ASSERT_FALSE(found.empty()) << "trial " << trial;
    EXPECT_NEAR(deepest(found), nearest - 0.15, 1e-12) << "trial " << trial;
    for (const ContactPoint& point : found)  // each is a place of the surface, seen along its normal
      EXPECT_NEAR((x - point.position - (0.15 + 0.5 * point.gap) * point.normal).norm(), 0.0, 1e-12);
  }
  EXPECT_GT(touching, 500);
}

/// A box of triangles is a box: the gap is that of the convex pair, which takes another way to it.
TEST(SurfaceContact, BoxOfTrianglesIsABox) {
  Random random(5);
  const auto cube = surface_of(box_polyhedron({0.8, 0.6, 0.5}));
  int shallow = 0, apart = 0, off = 0;
  for (const Shape& shape : solids(random)) {
    Pair on_mesh(shape, mesh(cube)), on_box(shape, box({1.6, 1.2, 1.0}));
    const bool rim = shape.kind == ShapeKind::cylinder;
    for (int trial = 0; trial < 400; ++trial) {
      const Eigen::Quaterniond q = orientation(random);
      // Moved along the direction of separation until the gap is what we want.
      Vector3 x = 2.0 * direction(random);
      const double wanted = uniform(random, -2e-3, 2e-2);
      for (int k = 0; k < 40; ++k) {
        const auto all = on_box.at(x, q).find(5.0);
        if (all.empty()) break;
        const auto nearest = std::min_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.gap < b.gap; });
        x += 0.9 * (wanted - nearest->gap) * nearest->normal;
      }
      const double expected = deepest(on_box.at(x, q).find(5.0));
      if (std::abs(expected - wanted) > 1e-3) continue;
      const auto found = on_mesh.at(x, q).find(0.03);
      (expected < 0 ? shallow : apart) += 1;
      ASSERT_FALSE(found.empty()) << name_of(shape.kind) << " trial " << trial << " gap " << expected;
      // Sunk in, pairs of features beside the best one may be as deep; they differ by a part of the depth.
      // The convex pair takes all gaps along one normal, here each pair of features has its own.
      const double allowed = (rim ? 1e-6 : 1e-9) + (expected < 0 ? -0.5 * expected : 0.02 * expected);
      if (std::abs(deepest(found) - expected) > allowed) ++off;
    }
  }
  EXPECT_GT(shallow, 200);
  EXPECT_GT(apart, 2000);
  EXPECT_LE(off, (shallow + apart) / 500);  // corners within the depth of two edges: another pair of features is taken
}

/// A cube that hangs over the border of a table, sunk in a little: it is lifted, not pushed off.
TEST(SurfaceContact, BorderOfATable) {
  const auto table = surface_of(box_polyhedron({1, 1, 0.5}));
  Pair pair(box({1, 1, 1}), mesh(table));
  for (const double depth : {0.0, 1e-9, 1e-6, 1e-3})
    for (const double over : {0.3, 0.9, 0.99}) {
      const auto found = pair.at({0.5 + over, 0.2, 1.0 - depth}, Eigen::Quaterniond::Identity()).find(1e-3);
      ASSERT_EQ(found.size(), 4u) << over << " " << depth;
      double left = 1e300, right = -1e300;
      for (const ContactPoint& point : found) {
        EXPECT_NEAR(point.gap, -depth, 1e-12);
        EXPECT_LT((point.normal - Vector3::UnitZ()).norm(), 1e-12);
        left = std::min(left, point.position.x());
        right = std::max(right, point.position.x());
      }
      EXPECT_NEAR(left, over, 1e-9);
      EXPECT_NEAR(right, 1.0, 1e-9);
    }
}

/// In a groove both sides carry, also where the corner is behind both.
TEST(SurfaceContact, CornerOfARoom) {
  const auto room = make_surface({{0, -5, 0}, {5, -5, 0}, {5, 5, 0}, {0, 5, 0}, {0, -5, 5}, {0, 5, 5}},
                                 {{0, 1, 2}, {0, 2, 3}, {0, 3, 5}, {0, 5, 4}});
  Pair ball(sphere(0.5), mesh(room));
  EXPECT_EQ(ball.at({0.5, 0, 0.5}, Eigen::Quaterniond::Identity()).find().size(), 2u);
  Pair cube(box({1, 1, 1}), mesh(room));
  for (const double depth : {-1e-5, 0.0, 1e-7, 1e-4}) {
    const auto found = cube.at({0.5 - depth, 0.3, 0.5 - depth}, Eigen::Quaterniond::Identity()).find(1e-3);
    EXPECT_EQ(std::count_if(found.begin(), found.end(), [](auto& p) { return p.normal.z() > 0.999; }), 4) << depth;
    EXPECT_EQ(std::count_if(found.begin(), found.end(), [](auto& p) { return p.normal.x() > 0.999; }), 4) << depth;
    EXPECT_EQ(found.size(), 8u);
    for (const ContactPoint& point : found) EXPECT_NEAR(point.gap, -depth, 1e-12);
  }
}

/// One-sided: from behind there is nothing.
TEST(SurfaceContact, NothingFromBehind) {
  Random random(6);
  const auto flat = divided_square(random, 5);
  for (const Shape& shape : {sphere(0.2), box({0.4, 0.3, 0.2}), capsule(0.1, 0.4), cylinder(0.2, 0.3)}) {
    Pair pair(shape, mesh(flat));
    PlacedShape probe = pair.a;
    const double high = -lowest(probe, -Vector3::UnitZ());
    EXPECT_TRUE(pair.at({0.1, 0.2, -high}, Eigen::Quaterniond::Identity()).find().empty()) << name_of(shape.kind);
  }
}

TEST(SurfaceContact, OnlyTheGroundHasOne) {
  Random random(7);
  Shape shape = mesh(divided_square(random, 3));
  shape.body = 0;
  EXPECT_THROW(make_geometry(shape), InputError);
  shape.touches = false;
  EXPECT_NO_THROW(make_geometry(shape));
}

}  // namespace
}  // namespace stickslip::surface_contact_test
