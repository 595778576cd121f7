// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/trajectory.hpp"

#include <unordered_set>

namespace stickslip {

TrajectoryNames trajectory_names(const System& system, bool friction_velocity) {
  TrajectoryNames names;
  names.coordinates = system.info().coordinates;
  names.velocities = system.info().velocities;
  names.friction_velocity = friction_velocity;
  for (const FrictionElement& element : system.laws().friction()) {
    names.laws.push_back(element.name);
    names.smooth_part |= element.viscous > 0 || element.weakening.shape != WeakeningShape::none;
    if (element.size() == 1) {
      names.reactions.push_back(element.name);
    } else {
      for (int c = 1; c <= element.size(); ++c) names.reactions.push_back(element.name + "_t" + std::to_string(c));
    }
  }
  for (const ContactElement& contact : system.laws().contacts()) {
    names.laws.push_back(contact.name);
    names.reactions.push_back(contact.name + "_n");
    for (int c = 1; c <= contact.tangents; ++c) names.reactions.push_back(contact.name + "_t" + std::to_string(c));
  }
  for (const ConstraintElement& constraint : system.laws().constraints()) names.reactions.push_back(constraint.name);
  return names;
}

std::vector<std::string> velocity_columns(const TrajectoryNames& names) {
  const std::unordered_set<std::string> coordinates(names.coordinates.begin(), names.coordinates.end());
  std::vector<std::string> columns;
  columns.reserve(names.velocities.size());
  for (const std::string& name : names.velocities) columns.push_back(coordinates.count(name) ? "v_" + name : name);
  return columns;
}

namespace {
constexpr std::size_t kMostPointForces = 4'000'000;
}

std::span<const PointForce> Trajectory::point_forces(Index row) const {
  const auto k = static_cast<std::size_t>(row);
  if (k >= point_ends_.size()) return {};
  const std::size_t begin = k == 0 ? 0 : point_ends_[k - 1];
  return {point_forces_.data() + begin, point_ends_[k] - begin};
}

Trajectory::Trajectory(TrajectoryNames names, Index nq, Index nv, Index rows)
    : names_(std::move(names)),
      nq_(nq),
      nv_(nv),
      m_(static_cast<Index>(names_.reactions.size())),
      laws_(static_cast<Index>(names_.laws.size())) {
  t_.reserve(rows);
  q_.reserve(rows * nq_);
  v_.reserve(rows * nv_);
  reaction_.reserve(rows * m_);
  if (names_.smooth_part) smooth_.reserve(rows * m_);
  if (names_.friction_velocity) friction_velocity_.reserve(rows * nv_);
  sensitivity_.reserve(static_cast<std::size_t>(rows) * names_.derivatives() * names_.unknowns.size());
  energy_.reserve(rows);
  modes_.reserve(rows * laws_);
  point_ends_.reserve(rows);
  events.reserve(4096);
}

void Trajectory::append(const OutputRow& row) {
  auto add = [](std::vector<double>& to, const Vector& from) {
    to.insert(to.end(), from.data(), from.data() + from.size());
  };
  t_.push_back(row.t);
  add(q_, row.q);
  add(v_, row.v);
  add(reaction_, row.reaction);
  if (names_.smooth_part) add(smooth_, row.smooth);
  if (names_.friction_velocity) add(friction_velocity_, row.friction_velocity);
  sensitivity_.insert(sensitivity_.end(), row.sensitivity.data(), row.sensitivity.data() + row.sensitivity.size());
  energy_.push_back(row.energy);
  modes_.insert(modes_.end(), row.modes.begin(), row.modes.end());
  if (point_forces_.size() > kMostPointForces) return;  // drawings need no more
  point_forces_.insert(point_forces_.end(), row.point_forces.begin(), row.point_forces.end());
  point_ends_.push_back(point_forces_.size());
}

}  // namespace stickslip
