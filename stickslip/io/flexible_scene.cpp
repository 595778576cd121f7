// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/flexible_scene.hpp"

#include <algorithm>
#include <limits>

namespace stickslip {

namespace {

using Eigen::Vector3d;
constexpr double kTogether = 1e-6;  // of the body's length

std::vector<std::size_t> distinct_stations(const FlexibleBody& body, std::size_t most) {
  std::vector<std::size_t> chosen;
  if (body.stations.empty()) return chosen;
  Vector3d low = body.stations[0].position, high = low;
  for (const FlexibleStation& station : body.stations) {
    low = low.cwiseMin(station.position);
    high = high.cwiseMax(station.position);
  }
  const std::size_t stride = (body.stations.size() + most - 1) / most;
  for (std::size_t k = 0; k < body.stations.size(); ++k) {
    if (k % stride != 0 && body.stations[k].node.empty()) continue;
    const Vector3d& x = body.stations[k].position;
    const bool taken = std::any_of(chosen.begin(), chosen.end(), [&](std::size_t other) {
      return (body.stations[other].position - x).norm() <= kTogether * (high - low).norm();
    });
    if (!taken) chosen.push_back(k);
  }
  return chosen;
}

/// Prim's shortest tree, from a station at an end of the body: parents by place in `chosen`; of the root itself.
std::vector<std::size_t> shortest_tree(const FlexibleBody& body, const std::vector<std::size_t>& chosen,
                                       std::size_t root) {
  const auto place = [&](std::size_t i) -> const Vector3d& { return body.stations[chosen[i]].position; };
  std::vector<std::size_t> parent(chosen.size(), root);
  std::vector<double> distance(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) distance[i] = (place(i) - place(root)).norm();
  std::vector<char> joined(chosen.size(), 0);
  joined[root] = 1;
  for (std::size_t count = 1; count < chosen.size(); ++count) {
    std::size_t next = root;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (!joined[i] && distance[i] < least) least = distance[next = i];
    joined[next] = 1;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (const double d = (place(i) - place(next)).norm(); !joined[i] && d < distance[i]) {
        distance[i] = d;
        parent[i] = next;
      }
  }
  return parent;
}

std::size_t at_an_end(const FlexibleBody& body, const std::vector<std::size_t>& chosen) {
  Vector3d middle = Vector3d::Zero();
  for (const std::size_t k : chosen) middle += body.stations[k].position / static_cast<double>(chosen.size());
  std::size_t end = 0;
  for (std::size_t i = 1; i < chosen.size(); ++i)
    if ((body.stations[chosen[i]].position - middle).norm() > (body.stations[chosen[end]].position - middle).norm())
      end = i;
  return end;
}

}  // namespace

std::vector<std::size_t> walk_through_stations(const FlexibleBody& body, std::size_t most) {
  const std::vector<std::size_t> chosen = distinct_stations(body, most);
  if (chosen.empty()) return {};
  const std::size_t root = at_an_end(body, chosen);
  const std::vector<std::size_t> parent = shortest_tree(body, chosen, root);
  std::vector<std::vector<std::size_t>> children(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (i != root) children[parent[i]].push_back(i);
  std::vector<std::size_t> walk{chosen[root]}, path{root};
  std::size_t passed = 1;
  while (passed < chosen.size()) {
    std::vector<std::size_t>& left = children[path.back()];
    if (left.empty()) {
      path.pop_back();
    } else {
      path.push_back(left.back());
      left.pop_back();
      ++passed;
    }
    walk.push_back(chosen[path.back()]);
  }
  return walk;
}

Vector3d deformed_position(const FlexibleStation& station, const Vector& eta) {
  Vector3d x = station.position + station.shift * eta;
  for (int c = 0; c < 3; ++c)
    if (const DenseMatrix& Q = station.shortening[static_cast<std::size_t>(c)]; Q.size() > 0)
      x[c] += 0.5 * eta.dot(Q * eta);
  return x;
}

}  // namespace stickslip
