// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/rate_map.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace stickslip {

namespace {
constexpr double kTurn = 0.3;        // of every velocity, between the places at which entries are looked for [m or rad]
constexpr double kParallel = 1e-12;  // of what T⁺ T v should be: orthogonal but for round-off
}  // namespace

void RateMap::find_structure(const Kinematics& kinematics, const Vector& q) {
  const Index nq = kinematics.nq(), nv = kinematics.nv();
  std::vector<std::set<Index>> rows(static_cast<std::size_t>(nv));
  Vector place = q, delta(nv);
  unit_.setZero(nv);
  rate_.setZero(nq);
  for (int round = 0; round < (kinematics.flat() ? 1 : 3); ++round) {
    for (Index j = 0; j < nv; ++j) {
      unit_[j] = 1;
      kinematics.rate(place, unit_, rate_);
      unit_[j] = 0;
      for (Index i = 0; i < nq; ++i)
        if (rate_[i] != 0) rows[static_cast<std::size_t>(j)].insert(i);
    }
    for (Index j = 0; j < nv; ++j) delta[j] = kTurn * (1 + 0.1 * std::sin(static_cast<double>(j)));
    kinematics.displace(delta, place);
  }
  first_.assign(1, 0);
  entries_.clear();
  color_.assign(static_cast<std::size_t>(nv), 0);
  colors_ = 0;
  std::vector<std::vector<char>> taken;  // per colour and row
  for (Index j = 0; j < nv; ++j) {
    const auto& mine = rows[static_cast<std::size_t>(j)];
    for (const Index i : mine) entries_.push_back({i, j, 0, 0});
    first_.push_back(entries_.size());
    std::size_t color = 0;
    const auto clashes = [&](std::size_t c) {
      return std::any_of(mine.begin(), mine.end(), [&](Index i) { return taken[c][static_cast<std::size_t>(i)] != 0; });
    };
    while (color < taken.size() && clashes(color)) ++color;
    if (color == taken.size()) taken.emplace_back(static_cast<std::size_t>(nq), 0);
    for (const Index i : mine) taken[color][static_cast<std::size_t>(i)] = 1;
    color_[static_cast<std::size_t>(j)] = static_cast<int>(color);
  }
  colors_ = static_cast<int>(taken.size());
}

void RateMap::update(const Kinematics& kinematics, const Vector& q) {
  if (static_cast<Index>(color_.size()) != kinematics.nv() || first_.empty()) find_structure(kinematics, q);
  for (int color = 0; color < colors_; ++color) {
    for (Index j = 0; j < unit_.size(); ++j) unit_[j] = color_[static_cast<std::size_t>(j)] == color;
    kinematics.rate(q, unit_, rate_);
    for (Entry& entry : entries_)
      if (color_[static_cast<std::size_t>(entry.column)] == color) entry.value = rate_[entry.row];
  }
  unit_.setZero();
  for (Index j = 0; j < unit_.size(); ++j) {
    double square = 0;
    for (std::size_t e = first(j); e < first(j + 1); ++e) square += entries_[e].value * entries_[e].value;
    for (std::size_t e = first(j); e < first(j + 1); ++e)
      entries_[e].inverse = square > 0 ? entries_[e].value / square : 0.0;
  }
  // T⁺ T v = v for a v of no special direction.
  for (Index j = 0; j < unit_.size(); ++j) unit_[j] = 1 + 0.5 * std::sin(1.7 * static_cast<double>(j));
  kinematics.rate(q, unit_, rate_);
  for (const Entry& entry : entries_) unit_[entry.column] -= entry.inverse * rate_[entry.row];
  orthogonal_ = unit_.size() == 0 || unit_.lpNorm<Eigen::Infinity>() <= kParallel;
}

}  // namespace stickslip
