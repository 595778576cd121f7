// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/trajectory.hpp"

namespace stickslip {

TrajectoryNames trajectory_names(const System& system, bool friction_velocity) {
  TrajectoryNames names;
  names.coordinates = system.info().coordinates;
  names.velocities = system.info().velocities;
  names.friction_velocity = friction_velocity;
  for (const FrictionElement& element : system.friction()) {
    names.laws.push_back(element.name);
    names.smooth_part |= element.viscous > 0 || element.weakening.shape != WeakeningShape::none;
    if (element.size() == 1) {
      names.reactions.push_back(element.name);
    } else {
      for (int c = 1; c <= element.size(); ++c) names.reactions.push_back(element.name + "_t" + std::to_string(c));
    }
  }
  return names;
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
  energy_.reserve(rows);
  modes_.reserve(rows * laws_);
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
  energy_.push_back(row.energy);
  modes_.insert(modes_.end(), row.modes.begin(), row.modes.end());
}

}  // namespace stickslip
