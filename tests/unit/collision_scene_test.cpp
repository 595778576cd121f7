// SPDX-License-Identifier: Apache-2.0
// Scenes: which pairs are looked at, under which law, and that the answer depends on the poses alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "stickslip/common/error.hpp"
#include "tests/unit/collision_samples.hpp"

namespace stickslip::collision_scene_test {
namespace {

using namespace collision_samples;

bool same(const std::vector<ContactPoint>& a, const std::vector<ContactPoint>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ContactPoint& l, const ContactPoint& r) {
    return l.shape_a == r.shape_a && l.shape_b == r.shape_b && l.law == r.law && l.feature == r.feature &&
           l.gap == r.gap && l.position == r.position && l.normal == r.normal;
  });
}

struct Heap {
  std::vector<Shape> shapes;
  std::vector<Pose> poses;
};

/// Bodies of all kinds thrown into a cube, some with two shapes, over a plane.
Heap heap(Random& random, int bodies) {
  Heap h;
  h.shapes.push_back(plane());
  const double half = 0.5 * std::cbrt(static_cast<double>(bodies));
  for (int i = 0; i < bodies; ++i) {
    const std::vector<Shape> kinds = solids(random);
    Shape s = kinds[static_cast<std::size_t>(i) % kinds.size()];
    s.body = i;
    h.shapes.push_back(s);
    if (i % 7 == 0) {
      Shape second = sphere(0.2, i);
      second.pose.position = {0.3, 0, 0.1};
      h.shapes.push_back(second);
    }
    Pose p;
    p.position = {uniform(random, -half, half), uniform(random, -half, half), uniform(random, 0, half)};
    p.orientation = orientation(random);
    h.poses.push_back(p);
  }
  return h;
}

TEST(CollisionScene, FindsWhatTheComparisonOfAllPairsFinds) {
  Random random(41);
  Heap h = heap(random, 120);
  CollisionScene scene(h.shapes, {PairRule{}}, 120);
  std::vector<ContactPoint> out, expected;
  ManifoldWorkspace workspace;
  for (int round = 0; round < 5; ++round) {
    for (Pose& p : h.poses) p.position += 0.1 * direction(random);
    scene.find(h.poses, 0.05, out);
    expected.clear();
    std::vector<PlacedShape> placed;
    for (int i = 0; i < static_cast<int>(h.shapes.size()); ++i) {
      const Shape& s = h.shapes[i];
      const Pose body = s.body == ground_body ? Pose{} : h.poses[s.body];
      const Matrix3 R = body.orientation.toRotationMatrix();
      placed.push_back(
          {&scene.geometry(i), R * s.pose.orientation.toRotationMatrix(), body.position + R * s.pose.position});
    }
    for (int i = 0; i < static_cast<int>(placed.size()); ++i) {
      for (int j = i + 1; j < static_cast<int>(placed.size()); ++j) {
        if (h.shapes[i].body == h.shapes[j].body) continue;
        const std::size_t first = expected.size();
        find_contacts(placed[i], placed[j], 0.05, workspace, expected);
        for (std::size_t k = first; k < expected.size(); ++k) {
          expected[k].shape_a = i;
          expected[k].shape_b = j;
        }
      }
    }
    EXPECT_GT(out.size(), 100u);
    EXPECT_TRUE(same(out, expected)) << out.size() << " against " << expected.size();
  }
}

TEST(CollisionScene, AnswerDependsOnThePosesAlone) {
  Random random(43);
  Heap h = heap(random, 60);
  CollisionScene travelled(h.shapes, {PairRule{}}, 60), fresh(h.shapes, {PairRule{}}, 60);
  std::vector<ContactPoint> a, b;
  std::vector<Pose> elsewhere = h.poses;
  for (int i = 0; i < 70; ++i) {
    for (Pose& p : elsewhere) p.position += 0.2 * direction(random);
    travelled.find(elsewhere, 0.01, a);
  }
  travelled.find(h.poses, 0.01, a);
  fresh.find(h.poses, 0.01, b);
  EXPECT_FALSE(a.empty());
  EXPECT_TRUE(same(a, b));
}

TEST(CollisionScene, MoreSpecificRulesWinAndLawsMayForbid) {
  const PairFilter filter(
      {{any_body, any_body, 0}, {1, any_body, 1}, {any_body, ground_body, 2}, {1, 2, 3}, {2, 1, 4}, {2, 3, no_contact}},
      5);
  EXPECT_EQ(filter.law(0, 4), 0);
  EXPECT_EQ(filter.law(0, 1), 1);
  EXPECT_EQ(filter.law(4, ground_body), 2);
  EXPECT_EQ(filter.law(ground_body, 1), 1);  // of equally special ones the first
  EXPECT_EQ(filter.law(2, 1), 3);
  EXPECT_EQ(filter.law(3, 2), no_contact);
  EXPECT_EQ(PairFilter({{0, 1, 7}}, 3).law(1, 2), no_contact);
}

TEST(CollisionScene, RulesDecideWhoTouches) {
  std::vector<Shape> shapes = {sphere(0.5, 0), sphere(0.5, 1), sphere(0.5, 2), plane()};
  std::vector<Pose> poses(3);
  poses[1].position.x() = 0.9;
  poses[2].position.x() = 1.8;
  std::vector<ContactPoint> out;
  CollisionScene(shapes, {{0, 1, 5}, {any_body, ground_body, 6}}, 3).find(poses, 0.0, out);
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[0].law, 5);
  EXPECT_EQ(std::pair(out[0].shape_a, out[0].shape_b), std::pair(0, 1));
  EXPECT_NEAR((out[0].normal + Vector3::UnitX()).norm(), 0.0, 1e-15);  // from 1 to 0
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(out[i].law, 6);
    EXPECT_EQ(out[i].shape_b, 3);
    EXPECT_EQ(out[i].normal, Vector3(Vector3::UnitZ()));
  }
}

TEST(CollisionScene, PlaneListedFirstHasItsNormalTurned) {
  std::vector<ContactPoint> out;
  CollisionScene({plane(), sphere(0.5, 0)}, {PairRule{}}, 1).find({Pose{}}, 0.0, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].shape_a, 0);
  EXPECT_EQ(out[0].normal, Vector3(-Vector3::UnitZ()));
  EXPECT_EQ(out[0].gap, -0.5);
}

TEST(CollisionScene, ShapesSitInTheirBodiesFrame) {
  Shape s = sphere(0.25, 0);
  s.pose.position = {1, 0, 0};
  Pose body;
  body.position = {0, 0, 2};
  body.orientation = turn(std::acos(0.0), Vector3::UnitY());  // x of the body points down
  std::vector<ContactPoint> out;
  CollisionScene({s, plane()}, {PairRule{}}, 1).find({body}, 1.0, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_NEAR(out[0].gap, 0.75, 1e-15);
}

TEST(CollisionScene, BodiesThatDoNotExistAreRefused) {
  try {
    CollisionScene({sphere(1, 0), sphere(1, 3)}, {PairRule{}}, 2);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("shape 2: body = 3 does not exist"), std::string::npos) << error.what();
  }
  EXPECT_THROW(CollisionScene({}, {{0, 5, 0}}, 2), InputError);
}

TEST(CollisionScene, EmptyScenesHaveNoContacts) {
  std::vector<ContactPoint> out(3);
  CollisionScene({}, {PairRule{}}, 0).find({}, 0.1, out);
  EXPECT_TRUE(out.empty());
  CollisionScene({plane(), plane()}, {PairRule{}}, 0).find({}, 0.1, out);
  EXPECT_TRUE(out.empty());
}

}  // namespace
}  // namespace stickslip::collision_scene_test
