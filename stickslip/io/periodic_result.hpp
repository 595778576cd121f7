// SPDX-License-Identifier: Apache-2.0
// Results of `stickslip periodic`: summary.json, orbit.csv, events.csv, branch.csv and the page.
//
//   summary.json   status, message, title, model, method, version, period, coordinates, minimum, maximum, amplitude
//   (half
//                  of max - min), stick_fraction {law: fraction}, multipliers [[re, im], ...], hill (likewise, by
//                  Hill's method; empty: not computed), stable (true, false, null), residual, iterations, unknowns,
//                  polished, certificates [{name, value, limit, ok, meaning}], notes, branch {parameter, points
//                  [{value, period, amplitude, stable, residual, branch}], folds [..], bifurcations [{kind, value,
//                  branch}]} (with a continuation), wall_seconds, date, set, parameters, model_text mode {coordinate,
//                  linear_frequency, points [{amplitude, frequency, damping, residual}], response [{frequency,
//                  amplitude}]} (with periodic.mode; frequencies in rad/s)
//   mode.csv       amplitude, frequency, damping, residual, amplitude_<coordinate>, stick_<law>
//   orbit.csv      columns as trajectory.csv; one period
//   branch.csv     value, period, stable (1, 0, nan), residual, amplitude_<coordinate>, minimum_.., maximum_..,
//                  stick_<law>, multiplier (the largest modulus), branch (0: the first)
//   branch.h5      the same with all multipliers (branch_file.hpp)
#pragma once

#include <filesystem>
#include <string>

#include "stickslip/io/model_file.hpp"
#include "stickslip/io/report_document.hpp"
#include "stickslip/io/summary.hpp"
#include "stickslip/periodic/branch.hpp"

namespace stickslip {

struct PeriodicResult {
  ResultHeader header;
  const System& system;
  PeriodicSolution solution;
  BranchOptions branch_options;  ///< parameter empty: no branch
  Branch branch;
  double wall_seconds = 0;
  std::optional<NonlinearMode> mode = std::nullopt;  ///< periodic.mode
};

std::string periodic_json(const PeriodicResult& result);
/// orbit.csv and events.csv.
void write_orbit(const std::filesystem::path& folder, const System& system, const Orbit& orbit);
std::string branch_csv_header(const System& system);
std::string branch_csv_row(const BranchPoint& point);
std::string mode_csv(const System& system, const NonlinearMode& mode);
ReportDocument periodic_report(const PeriodicResult& result);

/// An orbit.csv of a system with the same coordinates and laws. Throws InputError naming what does not fit.
Orbit read_orbit(const std::filesystem::path& file, const System& system);

}  // namespace stickslip
