// SPDX-License-Identifier: Apache-2.0
// The line by which a flexible body is drawn.
#include "stickslip/io/flexible_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace stickslip::flexible_scene_test {
namespace {

FlexibleBody with_stations(const std::vector<Eigen::Vector3d>& places) {
  FlexibleBody body;
  for (const Eigen::Vector3d& x : places) body.stations.push_back({.position = x});
  return body;
}

TEST(FlexibleScene, AlongABeamTheLineNeverTurnsBack) {
  const FlexibleBody body =
      with_stations({{0.5, 0, 0}, {0, 0, 0}, {0.25, 0, 0}, {1, 0, 0}, {0.75, 0, 0}, {1, 0, 0}, {0.1, 0, 0}});
  const std::vector<std::size_t> walk = walk_through_stations(body);
  ASSERT_EQ(walk.size(), 6u);  // two stations lie together
  const double sign = body.stations[walk[1]].position.x() > body.stations[walk[0]].position.x() ? 1 : -1;
  for (std::size_t i = 1; i < walk.size(); ++i)
    EXPECT_GT(sign * (body.stations[walk[i]].position.x() - body.stations[walk[i - 1]].position.x()), 0);
}

TEST(FlexibleScene, ThroughAFrameItPassesEveryStationAlongShortWays) {
  std::vector<Eigen::Vector3d> places;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) places.push_back({1.0 * i, 1.0 * j, 0});
  const FlexibleBody body = with_stations(places);
  const std::vector<std::size_t> walk = walk_through_stations(body);
  EXPECT_EQ(std::set<std::size_t>(walk.begin(), walk.end()).size(), places.size());
  for (std::size_t i = 1; i < walk.size(); ++i)
    EXPECT_NEAR((body.stations[walk[i]].position - body.stations[walk[i - 1]].position).norm(), 1, 1e-12);
}

TEST(FlexibleScene, ManyStationsAreThinnedButNodesStay) {
  FlexibleBody body;
  for (int i = 0; i < 1000; ++i) body.stations.push_back({.position = {0.001 * i, 0, 0}});
  body.stations[501].node = "middle";
  const std::vector<std::size_t> walk = walk_through_stations(body, 50);
  EXPECT_LE(walk.size(), 52u);
  EXPECT_NE(std::find(walk.begin(), walk.end(), 501u), walk.end());
}

TEST(FlexibleScene, StationsMoveWithTheModesAndComeNearerWhereTheBodyBends) {
  FlexibleStation station;
  station.position = {2, 0, 0};
  station.shift.resize(3, 1);
  station.shift << 0, 0, 1;
  station.shortening[0] = DenseMatrix::Constant(1, 1, -0.5);
  const Eigen::Vector3d x = deformed_position(station, Vector::Constant(1, 0.4));
  EXPECT_DOUBLE_EQ(x.x(), 2 - 0.5 * 0.5 * 0.16);
  EXPECT_DOUBLE_EQ(x.z(), 0.4);
}

}  // namespace
}  // namespace stickslip::flexible_scene_test
