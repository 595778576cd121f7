// SPDX-License-Identifier: Apache-2.0
// A branch of periodic motions while it grows: branch.csv and branch.h5, one row per point, handed to the operating
// system with every point; and orbit.csv of a late point, from which a branch that was ended is taken up again.
//
//   branch.h5   attributes parameter, coordinates, laws; per point: value, period, residual, stable (1, 0, -1: not
//   known),
//               polished, branch, amplitude, minimum, maximum (points × coordinates), stick_fraction (points × laws),
//               multipliers_real, multipliers_imag (points × 2 velocities);  bifurcation_kind (number in the attribute
//               kinds), bifurcation_value, bifurcation_branch;  orbit_point: number of points when orbit.csv was
//               written
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "stickslip/periodic/branch.hpp"

namespace stickslip {

class BranchFile {
 public:
  /// Makes both files in a folder with what is known already. They have their names once all of that is stored: files
  /// of the folder that is gone on with are replaced then, or stay as they were where there is no room.
  BranchFile(const std::filesystem::path& folder, const std::string& parameter, const System& system,
             const BranchResume* known = nullptr);
  ~BranchFile();
  /// Throws OutputError.
  void add(const BranchPoint& point);
  void add(const Bifurcation& found);
  /// Of the last point; stored where some seconds have passed since the last one, or `now`.
  void keep_orbit(const Orbit& orbit, bool now = false);

 private:
  void make(const std::filesystem::path& path, const std::string& parameter);
  struct Tables;
  std::filesystem::path folder_;
  const System& system_;
  std::unique_ptr<Tables> tables_;
};

/// What a folder holds of a branch in this parameter. Throws InputError naming what does not fit.
BranchResume read_branch(const std::filesystem::path& folder, const std::string& parameter, const System& system);

}  // namespace stickslip
