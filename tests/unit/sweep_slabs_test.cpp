// SPDX-License-Identifier: Apache-2.0
// The order of sweeps over many laws, and that threads which share a heap change no bit of it.
#include "stickslip/solvers/sweep_slabs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "stickslip/common/thread_pool.hpp"
#include "stickslip/model/rigid_bodies.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::sweep_slabs_test {
namespace {

/// Laws on the nodes of a grid that are coupled to their neighbours; `one_way`: the first to the last, not back.
BlockSparseMatrix grid(int width, int height, bool one_way = false) {
  std::vector<std::size_t> starts{0};
  std::vector<int> columns;
  const int laws = width * height;
  for (int i = 0; i < laws; ++i) {
    std::vector<int> row{i};
    if (i % width > 0) row.push_back(i - 1);
    if (i % width + 1 < width) row.push_back(i + 1);
    if (i >= width) row.push_back(i - width);
    if (i + width < laws) row.push_back(i + width);
    if (one_way && i == 0) row.push_back(laws - 1);
    std::sort(row.begin(), row.end());
    columns.insert(columns.end(), row.begin(), row.end());
    starts.push_back(columns.size());
  }
  BlockSparseMatrix D;
  D.set_structure(std::vector<int>(static_cast<std::size_t>(laws), 3), starts, columns);
  return D;
}

TEST(SweepSlabs, EveryLawOnceAndNoTwoPartsOfAPhaseTouch) {
  for (const auto& [width, height] : {std::pair{30, 30}, {200, 12}, {900, 1}, {1, 2000}}) {
    const BlockSparseMatrix D = grid(width, height);
    SweepSlabs slabs;
    slabs.build(D);
    EXPECT_GT(slabs.parts(0), 1);
    std::vector<int> seen(static_cast<std::size_t>(width * height), 0);
    for (int phase = 0; phase < SweepSlabs::kPhases; ++phase) {
      std::vector<int> owner(seen.size(), -1);
      for (int k = 0; k < slabs.parts(phase); ++k)
        for (const int i : slabs.part(phase, k)) {
          ++seen[static_cast<std::size_t>(i)];
          owner[static_cast<std::size_t>(i)] = k;
        }
      for (int i = 0; i < width * height; ++i)
        for (const BlockSparseMatrix::Entry& entry : D.row(i)) {
          const int a = owner[static_cast<std::size_t>(i)], b = owner[static_cast<std::size_t>(entry.column)];
          EXPECT_TRUE(a < 0 || b < 0 || a == b) << i << " and " << entry.column;
        }
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
  }
}

TEST(SweepSlabs, FewLawsAndCouplingsInOneDirectionAreOnePartInOrder) {
  for (const BlockSparseMatrix& D : {grid(20, 20), grid(40, 40, /*one_way=*/true)}) {
    SweepSlabs slabs;
    slabs.build(D);
    ASSERT_EQ(slabs.parts(0), 1);
    EXPECT_EQ(slabs.parts(1), 0);
    EXPECT_TRUE(std::is_sorted(slabs.part(0, 0).begin(), slabs.part(0, 0).end()));
    EXPECT_EQ(static_cast<int>(slabs.part(0, 0).size()), D.blocks());
  }
}

/// Spheres that lie side by side in five layers and come down: some 1,300 contacts, with patches.
Simulation collapse(int threads) {
  constexpr int kSide = 13, kLayers = 5;
  BodyModel model;
  model.gravity = {0, 0, -9.81};
  model.threads = threads;
  for (int i = 0; i < kSide * kSide * kLayers; ++i) {
    const int x = i % kSide, y = i / kSide % kSide, z = i / (kSide * kSide);
    RigidBody body;
    body.name = "ball" + std::to_string(i);
    body.group = "ball";
    body.mass = 0.5;
    body.position =
        0.05 * Eigen::Vector3d(2.02 * x + 0.01 * std::sin(7.0 * i), 2.02 * y + 0.01 * std::cos(5.0 * i), 1 + 2.001 * z);
    model.bodies.push_back(std::move(body));
    Shape shape;
    shape.kind = ShapeKind::sphere;
    shape.body = i;
    shape.radius = 0.05;
    model.shapes.push_back(std::move(shape));
  }
  Shape ground;
  ground.kind = ShapeKind::plane;
  model.shapes.push_back(ground);
  BodyContact contact;
  contact.law.name = "touch";
  contact.law.mu = 0.4;
  contact.first = contact.second = "*";
  model.contacts.push_back(std::move(contact));
  SimulationOptions options;
  options.step = 2e-3;
  options.end_time = 0.06;
  State start;
  start.q = start_positions(model);
  start.v = start_velocities(model);
  return simulate(*make_system(model), start, options);
}

TEST(SweepSlabs, AHeapIsTheSameToTheLastBitOnAnyNumberOfThreads) {
  const Simulation one = collapse(1);
  ASSERT_EQ(one.status, Status::success) << one.message;
  const Index last = one.trajectory.rows() - 1;
  ASSERT_GE(one.trajectory.point_forces(last).size(), 800u);  // else the sweeps have no slabs
  for (const int threads : {2, 3, 7}) {
    const Simulation shared = collapse(threads);
    ASSERT_EQ(shared.trajectory.rows(), one.trajectory.rows());
    EXPECT_TRUE(std::ranges::equal(shared.trajectory.positions(), one.trajectory.positions())) << threads;
    EXPECT_TRUE(std::ranges::equal(shared.trajectory.velocities(), one.trajectory.velocities())) << threads;
  }
}

}  // namespace
}  // namespace stickslip::sweep_slabs_test
