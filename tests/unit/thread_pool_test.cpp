// SPDX-License-Identifier: Apache-2.0
// Parts of work on several threads; contacts that do not depend on their number.
#include "stickslip/common/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>

#include "tests/unit/collision_samples.hpp"

namespace stickslip::thread_pool_test {
namespace {

TEST(ThreadPool, EveryPartOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int parts : {0, 1, 3, 100}) {
      std::vector<std::atomic<int>> taken(static_cast<std::size_t>(parts));
      pool.run(parts, [&](int k) { ++taken[static_cast<std::size_t>(k)]; });
      for (const auto& count : taken) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, RangesCoverEverything) {
  std::size_t next = 0;
  for (int k = 0; k < 7; ++k) {
    const auto [begin, end] = part_range(23, 7, k);
    EXPECT_EQ(begin, next);
    next = end;
  }
  EXPECT_EQ(next, 23u);
}

TEST(ThreadPool, ThrowsWhatTheFirstPartThrew) {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    try {
      pool.run(12, [](int k) {
        if (k % 5 == 3) throw std::runtime_error(std::to_string(k));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3");
    }
  }
  int sum = 0;
  pool.run(1, [&](int) { sum = 1; });  // and it goes on
  EXPECT_EQ(sum, 1);
}

/// A heap of all kinds of shapes: the same points to the last bit, in the same order.
TEST(ThreadPool, ContactsDoNotDependOnThreads) {
  using namespace collision_samples;
  Random random(8);
  std::vector<Shape> shapes;
  std::vector<Pose> poses;
  for (int i = 0; i < 1200; ++i) {
    const std::vector<Shape> kinds = solids(random);
    Shape shape = kinds[static_cast<std::size_t>(i) % kinds.size()];
    shape.body = i;
    shapes.push_back(shape);
    poses.push_back({{uniform(random, 0, 9), uniform(random, 0, 9), uniform(random, 0, 9)}, orientation(random)});
  }
  shapes.push_back(plane());
  CollisionScene one(shapes, {{any_body, any_body, 0}}, 1200), many(shapes, {{any_body, any_body, 0}}, 1200);
  std::vector<ContactPoint> a, b;
  for (const int threads : {2, 3, 7}) {
    ThreadPool pool(threads);
    one.find(poses, 0.01, a);
    many.find(poses, 0.01, b, &pool);
    ASSERT_EQ(a.size(), b.size());
    EXPECT_GT(a.size(), 500u);
    for (std::size_t k = 0; k < a.size(); ++k) {
      ASSERT_TRUE(a[k].shape_a == b[k].shape_a && a[k].shape_b == b[k].shape_b && a[k].feature == b[k].feature);
      ASSERT_TRUE(a[k].gap == b[k].gap && a[k].position == b[k].position && a[k].normal == b[k].normal);
    }
    for (Pose& pose : poses) pose.position += 0.01 * direction(random);
  }
}

}  // namespace
}  // namespace stickslip::thread_pool_test
