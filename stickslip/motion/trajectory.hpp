// SPDX-License-Identifier: Apache-2.0
// What a run returns: rows at the output times, all events, the final state.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stickslip/model/system.hpp"
#include "stickslip/motion/step.hpp"

namespace stickslip {

/// Column names of a trajectory, in order.
struct TrajectoryNames {
  std::vector<std::string> coordinates, velocities;
  std::vector<std::string> laws;  ///< one per law
  std::vector<std::string>
      reactions;                   ///< one per component of r: "<law>", or "<law>_t1", "<law>_t2" for planar friction,
                                   ///< "<law>_n", "<law>_t1", "<law>_t2" for contacts (summed over their points)
  bool smooth_part = false;        ///< some law has a weakening or viscous part
  bool friction_velocity = false;  ///< the scheme distinguishes V^{n+1/2} from V^{n+1}
  bool facets = false;             ///< rows and events hold facets of polygonal sections
  std::vector<std::string> unknowns = {};  ///< what the run is differentiated by
  bool reaction_sensitivity = false;       ///< reactions as well
  /// Numbers per unknown: derivatives of coordinates and velocities, and of reactions.
  std::size_t derivatives() const {
    return coordinates.size() + velocities.size() + (reaction_sensitivity ? reactions.size() : 0);
  }
};
TrajectoryNames trajectory_names(const System& system, bool friction_velocity);
/// "v_x" for the velocity of a coordinate x; a velocity with a name of its own ("box.vx") keeps it.
std::vector<std::string> velocity_columns(const TrajectoryNames& names);

/// One output row.
struct OutputRow {
  double t = 0;
  Vector q, v;
  Vector reaction;  ///< mean set-valued friction force over the step that ends here [N, N m]
  Vector smooth;    ///< mean weakening and viscous force over it
  Vector friction_velocity;
  DenseMatrix sensitivity;  ///< d/dp of q, v and, where known, reactions; one column per unknown
  EnergyLedger energy;
  std::vector<Mode> modes;
  std::vector<ActiveFacets> facets;      ///< as in State
  std::vector<PointForce> point_forces;  ///< of the step that ends here or contains t
};

class Trajectory {
 public:
  Trajectory() = default;
  /// Room for `rows` is taken at once, so that recording allocates nothing.
  Trajectory(TrajectoryNames names, Index nq, Index nv, Index rows);
  void append(const OutputRow& row);

  Index rows() const { return static_cast<Index>(t_.size()); }
  const TrajectoryNames& names() const { return names_; }
  double t(Index row) const { return t_[row]; }
  double q(Index row, Index i) const { return q_[row * nq_ + i]; }
  double v(Index row, Index i) const { return v_[row * nv_ + i]; }
  double reaction(Index row, Index i) const { return reaction_[row * m_ + i]; }
  double smooth(Index row, Index i) const { return smooth_[row * m_ + i]; }
  double friction_velocity(Index row, Index i) const { return friction_velocity_[row * nv_ + i]; }
  /// d/dp_j of number i of (q, v, reactions).
  double sensitivity(Index row, Index i, Index j) const {
    const auto n = static_cast<Index>(names_.derivatives());
    return sensitivity_[static_cast<std::size_t>((row * static_cast<Index>(names_.unknowns.size()) + j) * n + i)];
  }
  const EnergyLedger& energy(Index row) const { return energy_[row]; }
  /// Empty where none were recorded (the store is bounded).
  std::span<const PointForce> point_forces(Index row) const;
  Mode mode(Index row, Index law) const { return modes_[row * laws_ + law]; }

  /// The same as tables, row after row: of coordinates, velocities, components of reactions, laws.
  std::span<const double> times() const { return t_; }
  std::span<const double> positions() const { return q_; }
  std::span<const double> velocities() const { return v_; }
  std::span<const double> reactions() const { return reaction_; }
  std::span<const EnergyLedger> energies() const { return energy_; }
  std::span<const Mode> modes() const { return modes_; }

  std::vector<Event> events;  ///< in the order of time
  Index rows_of_run = 0;      ///< > rows(): these are a thinned choice of so many, see io/result_thinning.hpp

 private:
  TrajectoryNames names_;
  Index nq_ = 0, nv_ = 0, m_ = 0, laws_ = 0;
  std::vector<double> t_, q_, v_, reaction_, smooth_, friction_velocity_, sensitivity_;
  std::vector<EnergyLedger> energy_;
  std::vector<Mode> modes_;
  std::vector<PointForce> point_forces_;
  std::vector<std::size_t> point_ends_;
};

}  // namespace stickslip
