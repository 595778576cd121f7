// SPDX-License-Identifier: Apache-2.0
// What results of shoot and fit have in common: unknowns as JSON, tables and figures, the history as a file.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "stickslip/boundary/unknown.hpp"
#include "stickslip/io/report_document.hpp"
#include "stickslip/io/summary.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

/// One step of a search.
struct SearchStep {
  double measure = 0;  ///< residual or rms
  Vector unknowns;
};

/// null for what is not finite: JSON has no number for it.
nlohmann::ordered_json json_number(double value);
nlohmann::ordered_json json_numbers(const Vector& values);
/// {name: value}
nlohmann::ordered_json json_by_name(std::span<const Unknown> unknowns, const Vector& values);
/// `final` as in summary.json of a run.
nlohmann::ordered_json json_final(const Simulation& simulation);
/// Keys that tell model and run, as in summary.json of a run.
void add_run_keys(nlohmann::ordered_json& json, const ResultHeader& header, const TrajectoryNames& names);

/// iteration, `measure`, unknowns
std::string history_csv(const std::string& measure, std::span<const Unknown> unknowns,
                        std::span<const SearchStep> history);
ReportFigure history_figure(const std::string& measure, const std::string& note, std::span<const SearchStep> history);
ReportTable history_table(const std::string& measure, std::span<const Unknown> unknowns,
                          std::span<const SearchStep> history);

}  // namespace stickslip
