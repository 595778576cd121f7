// SPDX-License-Identifier: Apache-2.0
// What the figures of a run show: columns made from its rows, one figure per quantity and unit.
//
//   Positions, Angles             the coordinates as they are; a quaternion is not drawn, but
//   Rotations         θ [rad]     the rotation since the first row as a vector along its axis, world axes: a body that
//                                 rolls about one axis has one component that grows without end. Of the vectors
//                                 (φ + 2πk) n of one orientation the one nearest to θ_before + ω Δt is taken.
//   Velocities, Angular velocities
//   Forces            f = r + s   the force that acts: set-valued part r and smooth part s (weakening, viscous), mean
//                                 over the step, hence none (NaN) at the first row. The parts follow as columns of
//                                 their own, not shown at first.
//   Energy balance                the terms of EnergyLedger
//
// A unit is stated where it is known: from the names of bodies ("box.x", "box.qw"), hinge axes ("arm.rz", "slide.tx")
// and contacts, and from ReportUnits; elsewhere a coordinate may be a length or an angle, and the axis says so.
#pragma once

#include <Eigen/Geometry>
#include <span>
#include <string>
#include <vector>

#include "stickslip/motion/trajectory.hpp"

namespace stickslip {

/// What a model knows of its own units. Where there are angles, the other coordinates are lengths and the other laws
/// forces.
struct ReportUnits {
  std::vector<std::string> angles;   ///< coordinates
  std::vector<std::string> moments;  ///< laws on angles alone
};

struct ReportColumn {
  enum class Source { position, velocity, rotation, force, set_valued, smooth, energy };
  std::string name;
  std::string group;  ///< the body or law it belongs to; empty: none
  Source source = Source::position;
  Index index = 0;        ///< of the coordinate, velocity, reaction or energy term; of the rotation: 3 × body + axis
  bool hidden = false;    ///< at first
  bool zero_out = false;  ///< left out where it is 0 throughout
  Index shown_with = -1;  ///< left out where that column of the figure is left out; -1: on its own
};

struct ReportColumnFigure {
  std::string title, note;
  std::string quantity, unit;
  std::string groups;       ///< what the groups are: "bodies", "laws"; empty: there are none
  double natural_size = 0;  ///< of the quantity whatever the run does: 1 for angles; else 0
  bool rate = false;        ///< the figure before it shows what this is the rate of
  std::vector<ReportColumn> columns{};
};

class ReportColumns {
 public:
  explicit ReportColumns(const TrajectoryNames& names, const ReportUnits& units = {});
  const std::vector<ReportColumnFigure>& figures() const { return figures_; }
  /// Of a column of trajectory.csv; empty: it is none, or has no unit of its own.
  std::string unit_of(const std::string& column) const;
  /// Columns of all figures together, in order.
  Index size() const { return size_; }
  /// All columns of a row. Rows come in the order of time, because rotations are followed.
  void evaluate(const OutputRow& row, std::span<double> values);

 private:
  struct Turning {
    Index first_q, first_spin;  ///< of the quaternion in q, of the angular velocity in v
    Eigen::Quaterniond start;
    Eigen::Vector3d turned;
  };
  void follow_rotations(const OutputRow& row);

  std::vector<ReportColumnFigure> figures_;
  std::vector<Turning> bodies_;
  Index size_ = 0;
  bool started_ = false;
  double last_t_ = 0;
};

/// (φ + 2πk) n of a rotation, nearest to `expected`.
Eigen::Vector3d rotation_vector_near(const Eigen::Quaterniond& rotation, const Eigen::Vector3d& expected);

}  // namespace stickslip
