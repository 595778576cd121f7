// SPDX-License-Identifier: Apache-2.0
// What shooting found, written: summary.json, history.csv and the page.
#pragma once

#include <optional>
#include <string>

#include "stickslip/boundary/shooting.hpp"
#include "stickslip/io/found_motion.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/report_document.hpp"
#include "stickslip/io/summary.hpp"

namespace stickslip {

struct ShootingResult {
  ShootingProblem problem;
  ShootingSolution solution;
  ResultHeader header;  ///< its settings repeat the motion
  TrajectoryNames names;
  std::optional<FoundMotion> motion;  ///< with the values found
  double wall_seconds = 0;            ///< of the search
};

/// Without its motion. `named`: the model file as the user named it.
ShootingResult shooting_result(const ModelFile& model, const std::string& named, ShootingProblem problem,
                               ShootingSolution solution, double wall_seconds);

/// The motion joins the result, and holds it to what a run is held to: a solution whose motion fails its audit, or does
/// not arrive, is no success.
void add_motion(ShootingResult& result, FoundMotion motion);

std::string shooting_json(const ShootingResult& result);
std::string shooting_history_csv(const ShootingResult& result);
ReportDocument shooting_report(const ShootingResult& result, const ModelFile& model);

/// In words: single or multiple shooting, and how the equations were solved.
std::string method_of(const ShootingProblem& problem, const ShootingSolution& solution);

}  // namespace stickslip
