// SPDX-License-Identifier: Apache-2.0
// What a fit found, written: summary.json, history.csv, fit.csv and the page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stickslip/boundary/fit.hpp"
#include "stickslip/io/found_motion.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/report_document.hpp"
#include "stickslip/io/summary.hpp"

namespace stickslip {

/// What the model has in place of each column, over the rows of its motion.
struct ModelCurves {
  std::vector<double> t;
  std::vector<std::vector<double>> y;  ///< one list per column
};

struct FitResult {
  FitProblem problem;
  FitSolution solution;
  ResultHeader header;  ///< its settings repeat the motion
  TrajectoryNames names;
  std::string data;  ///< where the measurements come from
  ModelCurves curves;
  std::optional<FoundMotion> motion;  ///< with the values found
  double wall_seconds = 0;            ///< of the search
};

/// Without its motion. `named`: the model file as the user named it.
FitResult fit_result(const ModelFile& model, const std::string& named, const std::string& data, FitProblem problem,
                     FitSolution solution, double wall_seconds);

/// The motion with the values found, as long as the data. hooks.on_row is called, where it is there, before the curves
/// are taken.
Simulation run_fitted(const FitProblem& problem, const FitSolution& solution, const SimulationHooks& hooks,
                      ModelCurves& curves);

std::string fit_json(const FitResult& result);
/// t, then data, model and model - data of each column.
std::string fit_csv(const FitResult& result);
std::string fit_history_csv(const FitResult& result);
ReportDocument fit_report(const FitResult& result, const ModelFile& model);

}  // namespace stickslip
