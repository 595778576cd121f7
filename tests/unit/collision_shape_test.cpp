// SPDX-License-Identifier: Apache-2.0
// Shapes: what is refused, hulls, volumes and inertias.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "stickslip/common/error.hpp"
#include "tests/unit/collision_samples.hpp"

namespace stickslip::collision_shape_test {
namespace {

using namespace collision_samples;
constexpr double pi = std::numbers::pi;

std::string refusal(const Shape& shape) {
  try {
    make_geometry(shape, 2);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CollisionShape, RefusesSizesThatAreNotPositiveAndNamesTheShape) {
  Shape bad = sphere(-1.0);
  bad.name = "lid";
  EXPECT_EQ(refusal(bad), "shape 3 (lid), sphere: radius = -1 must be positive and finite");
  EXPECT_NE(refusal(sphere(0.0)), "");
  EXPECT_NE(refusal(sphere(std::numeric_limits<double>::infinity())), "");
  EXPECT_NE(refusal(capsule(0.1, 0.0)).find("length"), std::string::npos);
  EXPECT_NE(refusal(cylinder(0.1, -2.0)).find("length = -2"), std::string::npos);
  EXPECT_NE(refusal(box({1, 0, 1})).find("size"), std::string::npos);
  EXPECT_NE(refusal(box({1, std::nan(""), 1})), "");
  EXPECT_EQ(refusal(box({1, 2, 1})), "");
  bad = box({1, 1, 1});
  bad.pose.orientation.coeffs() *= 1.1;
  EXPECT_NE(refusal(bad).find("unit quaternion"), std::string::npos);
}

TEST(CollisionShape, RefusesHullsWithoutVolume) {
  EXPECT_NE(refusal(hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}})).find("at least 4 points"), std::string::npos);
  EXPECT_NE(refusal(hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.3, 0.2, 0}})).find("one plane"),
            std::string::npos);
  EXPECT_NE(refusal(hull({{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}})).find("one line"), std::string::npos);
  EXPECT_NE(refusal(hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, std::nan("")}})).find("finite"), std::string::npos);
}

TEST(CollisionShape, KindsAreReadByName) {
  for (const ShapeKind kind : {ShapeKind::sphere, ShapeKind::box, ShapeKind::capsule, ShapeKind::cylinder,
                               ShapeKind::plane, ShapeKind::hull}) {
    EXPECT_EQ(shape_kind(name_of(kind)), kind);
  }
  const auto message = [](const char* word) {
    try {
      shape_kind(word);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(shape_kind("mesh"), ShapeKind::mesh);
  EXPECT_EQ(shape_kind("heightfield"), ShapeKind::heightfield);
  EXPECT_NE(message("spere").find("did you mean 'sphere'"), std::string::npos) << message("spere");
}

TEST(CollisionShape, HullOfABoxWithExtraPointsIsTheBox) {
  std::vector<Vector3> points = box_points({2, 3, 4});
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    points.emplace_back(uniform(random, -1, 1), uniform(random, -1.5, 1.5), uniform(random, -2, 2));
    points.emplace_back(uniform(random, -1, 1), uniform(random, -1.5, 1.5), 2.0);  // on a face
  }
  points.emplace_back(1.0, 1.5, 0.3);  // on an edge
  const Polyhedron p = convex_hull(points);
  EXPECT_EQ(p.vertices.size(), 8u);
  EXPECT_EQ(p.edges.size(), 12u);
  ASSERT_EQ(p.faces(), 6);
  for (int f = 0; f < 6; ++f) {
    EXPECT_EQ(p.corners(f), 4);
    EXPECT_NEAR(p.normals[f].cwiseAbs().maxCoeff(), 1.0, 1e-15);
  }
  EXPECT_EQ(triangles(p).size(), 12u);
}

TEST(CollisionShape, HullsContainTheirPointsAndObeyEuler) {
  Random random(9);
  for (int i = 0; i < 30; ++i) {
    const std::vector<Vector3> points = cloud(random, 4 + i * 4);
    const Geometry g = make_geometry(hull(points));
    const Polyhedron& p = g.core;
    EXPECT_EQ(static_cast<int>(p.vertices.size()) - static_cast<int>(p.edges.size()) + p.faces(), 2);
    for (const Vector3& x : points) EXPECT_LE(outside(g, x), 1e-11);
    for (int f = 0; f < p.faces(); ++f)
      EXPECT_GT(p.normals[f].dot(p.vertices[p.face_vertices[p.face_start[f]]] - g.center), 0.0);
  }
}

void expect_mass(const Shape& shape, double volume, const Vector3& inertia) {
  const MassProperties m = mass_properties(make_geometry(shape));
  EXPECT_NEAR(m.volume, volume, 1e-14 * volume);
  EXPECT_NEAR((m.inertia - Matrix3(inertia.asDiagonal())).norm(), 0.0, 1e-14 * inertia.norm());
}

TEST(CollisionShape, VolumesAndInertiasAreThoseOfTheTables) {
  expect_mass(sphere(2.0), 32.0 / 3.0 * pi, Vector3::Constant(0.4 * 32.0 / 3.0 * pi * 4.0));
  expect_mass(cylinder(2.0, 3.0), 12.0 * pi, 12.0 * pi * Vector3(1.0 + 0.75, 1.0 + 0.75, 2.0));
  expect_mass(box({1, 2, 3}), 6.0, Vector3(6.5, 5.0, 2.5));
  expect_mass(hull(box_points({1, 2, 3})), 6.0, Vector3(6.5, 5.0, 2.5));
  EXPECT_THROW(mass_properties(make_geometry(plane())), InputError);
}

TEST(CollisionShape, CapsuleInertiaIsTheSumOfThinDiscs) {
  const double r = 0.3, h = 0.8;
  double volume = 0.0, across = 0.0, along = 0.0;
  const int discs = 400000;
  for (int i = 0; i < discs; ++i) {
    const double dz = (h + 2 * r) / discs, z = -0.5 * h - r + (i + 0.5) * dz;
    const double beyond = std::max(0.0, std::abs(z) - 0.5 * h), a2 = r * r - beyond * beyond, v = pi * a2 * dz;
    volume += v;
    across += v * (a2 / 4.0 + z * z);
    along += v * a2 / 2.0;
  }
  const MassProperties m = mass_properties(make_geometry(capsule(r, h)));
  // The midpoint rule with 4e5 discs.
  EXPECT_NEAR(m.volume, volume, 1e-10);
  EXPECT_NEAR(m.inertia(0, 0), across, 1e-10);
  EXPECT_NEAR(m.inertia(2, 2), along, 1e-10);
}

TEST(CollisionShape, TetrahedronHasItsCentreAtTheMeanOfTheCorners) {
  const MassProperties m = mass_properties(make_geometry(hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}})));
  EXPECT_NEAR(m.volume, 1.0 / 6.0, 1e-16);
  EXPECT_NEAR((m.center - Vector3::Constant(0.25)).norm(), 0.0, 1e-15);
  // ∫x² = 1/60, ∫xy = 1/120 about the corner; shifted to the centre: 1/160 and -1/480.
  EXPECT_NEAR(m.inertia(0, 0), 2.0 / 160.0, 1e-16);
  EXPECT_NEAR(m.inertia(0, 1), 1.0 / 480.0, 1e-16);
}

TEST(CollisionShape, TwoHalvesOfABoxJoinToTheBox) {
  const MassProperties half = mass_properties(make_geometry(box({1, 2, 1.5})));
  const Eigen::Quaterniond q = turn(0.7, Vector3(1, 2, 2) / 3.0);
  const MassProperties whole =
      joined(moved(half, {q * Vector3(0, 0, 0.75), q}), moved(half, {q * Vector3(0, 0, -0.75), q}));
  const MassProperties expected = moved(mass_properties(make_geometry(box({1, 2, 3}))), {Vector3::Zero(), q});
  EXPECT_NEAR(whole.volume, expected.volume, 1e-15);
  EXPECT_NEAR(whole.center.norm(), 0.0, 1e-15);
  EXPECT_NEAR((whole.inertia - expected.inertia).norm(), 0.0, 1e-14);
}

}  // namespace
}  // namespace stickslip::collision_shape_test
