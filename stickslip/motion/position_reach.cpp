// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/position_reach.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

/// At a place where no number vanishes by chance, as three of a quaternion do without a turn.
void PositionReach::find_numbers(const Vector& q) {
  const Index n = kinematics_.nv();
  Vector somewhere = q, delta(n), unit = Vector::Zero(n), column(q.size());
  for (Index j = 0; j < n; ++j) delta[j] = 0.3 + 0.1 * static_cast<double>(j % 7);
  kinematics_.displace(delta, somewhere);
  numbers_.resize(static_cast<std::size_t>(n));
  length_.resize(n);
  for (Index j = 0; j < n; ++j) {
    unit[j] = 1;
    kinematics_.rate(somewhere, unit, column);
    unit[j] = 0;
    length_[j] = column.norm();
    for (Index k = 0; k < column.size(); ++k)
      if (column[k] != 0) numbers_[static_cast<std::size_t>(j)].push_back(k);
  }
}

const Vector& PositionReach::operator()(const Vector& q) {
  if (kinematics_.flat()) return reach_ = q.cwiseAbs();
  if (numbers_.empty()) find_numbers(q);
  reach_.setZero(kinematics_.nv());
  for (Index j = 0; j < reach_.size(); ++j) {
    for (const Index k : numbers_[static_cast<std::size_t>(j)]) reach_[j] = std::max(reach_[j], std::abs(q[k]));
    if (length_[j] > 0) reach_[j] /= length_[j];
  }
  return reach_;
}

const Vector& PositionReach::sizes(const Vector& q) {
  sizes_ = q.cwiseAbs();
  if (kinematics_.flat()) return sizes_;
  if (numbers_.empty()) find_numbers(q);
  for (const std::vector<Index>& together : numbers_) {
    double largest = 0;
    for (const Index k : together) largest = std::max(largest, std::abs(q[k]));
    for (const Index k : together) sizes_[k] = std::max(sizes_[k], largest);
  }
  return sizes_;
}

}  // namespace stickslip
