// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/shooting_result.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/io/boundary_case.hpp"
#include "stickslip/io/result_header.hpp"
#include "stickslip/io/search_results.hpp"
#include "stickslip/io/simulation_report.hpp"

namespace stickslip {

namespace {

using nlohmann::ordered_json;

std::vector<SearchStep> steps_of(const ShootingSolution& solution) {
  std::vector<SearchStep> steps;
  for (const ShootingIterate& iterate : solution.history) steps.push_back({iterate.residual, iterate.unknowns});
  return steps;
}

double end_time(const ShootingProblem& problem, const ShootingSolution& solution) {
  for (std::size_t k = 0; k < problem.unknowns.size(); ++k)
    if (problem.unknowns[k].is_end_time()) return solution.unknowns[static_cast<Index>(k)];
  return problem.end_time;
}

ordered_json conditions_json(const ShootingProblem& problem, const ShootingSolution& solution) {
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < problem.conditions.size(); ++i) {
    const Condition& condition = problem.conditions[i];
    ordered_json at = condition.at == ConditionTime::start ? ordered_json("start")
                      : condition.at == ConditionTime::end ? ordered_json("end")
                                                           : ordered_json(condition.time);
    list.push_back({{"condition", condition.text()}, {"at", at}});
    if (solution.conditions.size() > 0) list.back()["value"] = json_number(solution.conditions[static_cast<Index>(i)]);
  }
  return list;
}

ReportTable unknowns_table(const ShootingProblem& problem, const ShootingSolution& solution) {
  ReportTable table{"Unknowns", "", {"unknown", "key", "start", "min", "max", "value"}, {}, -1};
  const auto bound = [](double value) { return std::isfinite(value) ? ReportCell(value) : ReportCell(); };
  for (std::size_t k = 0; k < problem.unknowns.size(); ++k) {
    const Unknown& unknown = problem.unknowns[k];
    table.rows.push_back({unknown.name, unknown.key, unknown.start, bound(unknown.min), bound(unknown.max),
                          solution.unknowns[static_cast<Index>(k)]});
  }
  return table;
}

ReportTable conditions_table(const ShootingProblem& problem, const ShootingSolution& solution) {
  ReportTable table{"Conditions",
                    "What is left of each, and its derivative by each unknown.",
                    {"condition", "when", "value"},
                    {},
                    -1};
  for (const Unknown& unknown : problem.unknowns) table.columns.push_back("d / d " + unknown.name);
  for (Index i = 0; i < solution.conditions.size(); ++i) {
    const Condition& condition = problem.conditions[static_cast<std::size_t>(i)];
    table.rows.push_back({condition.text(), condition.when(), solution.conditions[i]});
    for (Index j = 0; j < solution.sensitivity.cols(); ++j) table.rows.back().emplace_back(solution.sensitivity(i, j));
  }
  return table;
}

}  // namespace

std::string method_of(const ShootingProblem& problem, const ShootingSolution& solution) {
  const std::size_t parts =
      problem.nodes.empty() ? static_cast<std::size_t>(problem.segments) : problem.nodes.size() + 1;
  const bool in_one = parts == 1 || (solution.nodes.empty() && !solution.history.empty());
  return fmt::format("{}, {}, {} derivatives",
                     in_one ? "single shooting" : fmt::format("multiple shooting, {} segments", parts),
                     solution.least_squares ? "least squares" : "Newton", to_string(solution.derivatives));
}

ShootingResult shooting_result(const ModelFile& model, const std::string& named, ShootingProblem problem,
                               ShootingSolution solution, double wall_seconds) {
  ResultHeader header = result_header(model, named);
  for (const std::string& setting : settings_of(model, problem.unknowns, solution.unknowns))
    header.inputs.settings.push_back(setting);
  header.inputs.settings.push_back(fmt::format("run.end_time={}", end_time(problem, solution)));
  return {std::move(problem), std::move(solution), std::move(header), trajectory_names(*model.system, model.run),
          std::nullopt,       wall_seconds};
}

void add_motion(ShootingResult& result, FoundMotion motion) {
  const Simulation& run = motion.simulation;
  if (result.solution.status == Status::success && run.status != Status::success) {
    result.solution.status = run.status;
    result.solution.message = fmt::format("the conditions are met, but not by a motion that counts: {}", run.message);
  }
  result.motion = std::move(motion);
}

std::string shooting_json(const ShootingResult& result) {
  const ShootingProblem& problem = result.problem;
  const ShootingSolution& solution = result.solution;
  ordered_json history = ordered_json::array(), sensitivity = ordered_json::array();
  for (const ShootingIterate& iterate : solution.history)
    history.push_back(
        {{"residual", json_number(iterate.residual)}, {"unknowns", json_by_name(problem.unknowns, iterate.unknowns)}});
  for (Index i = 0; i < solution.sensitivity.rows(); ++i)
    sensitivity.push_back(json_numbers(solution.sensitivity.row(i).transpose()));
  ordered_json json{{"status", to_string(solution.status)},
                    {"message", solution.message},
                    {"method", method_of(problem, solution)},
                    {"derivatives", to_string(solution.derivatives)},
                    {"unknowns", json_by_name(problem.unknowns, solution.unknowns)},
                    {"residual", solution.history.empty() ? ordered_json(nullptr) : json_number(solution.residual)},
                    {"iterations", solution.iterations},
                    {"runs", solution.runs},
                    {"conditions", conditions_json(problem, solution)},
                    {"history", history},
                    {"sensitivity", sensitivity},
                    {"continuity", json_number(solution.continuity)},
                    {"distance", problem.conditions.size() < problem.unknowns.size() ? json_number(solution.distance)
                                                                                     : ordered_json(nullptr)},
                    {"final", result.motion ? json_final(result.motion->simulation) : ordered_json(nullptr)},
                    {"notes", solution.notes},
                    {"wall_seconds", result.wall_seconds}};
  add_run_keys(json, result.header, result.names);
  return json.dump(2) + "\n";
}

std::string shooting_history_csv(const ShootingResult& result) {
  return history_csv("residual", result.problem.unknowns, steps_of(result.solution));
}

ReportDocument shooting_report(const ShootingResult& result, const ModelFile& model) {
  const ShootingProblem& problem = result.problem;
  const ShootingSolution& solution = result.solution;
  const std::optional<FoundMotion>& motion = result.motion;
  ReportDocument page = simulation_report(result.header, motion ? motion->simulation : Simulation{},
                                          motion ? motion->wall_seconds : 0, {.units = report_units(model)});
  if (!motion) page.blocks.clear();
  page.subtitle = method_of(problem, solution);
  page.ok = solution.status == Status::success && (!motion || motion->simulation.status == Status::success);
  page.status = std::string(to_string(solution.status));
  if (!solution.message.empty()) page.status += ": " + solution.message;
  page.notes.insert(page.notes.begin(), solution.notes.begin(), solution.notes.end());
  page.facts.insert(page.facts.begin(), {{"residual", solution.residual},
                                         {"iterations", static_cast<double>(solution.iterations)},
                                         {"runs", static_cast<double>(solution.runs)}});
  const std::vector<SearchStep> steps = steps_of(solution);
  std::vector<ReportBlock> blocks{
      unknowns_table(problem, solution), conditions_table(problem, solution),
      history_figure("residual", "Largest condition after each iteration; the units are those of the conditions.",
                     steps),
      history_table("residual", problem.unknowns, steps)};
  page.blocks.insert(page.blocks.begin(), blocks.begin(), blocks.end());
  return page;
}

}  // namespace stickslip
