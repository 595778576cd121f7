// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "cli/commands.hpp"
#include "cli/motion_results.hpp"
#include "cli/report_page.hpp"
#include "cli/result_header.hpp"
#include "cli/search_results.hpp"
#include "cli/terminal.hpp"
#include "stickslip/boundary/shooting.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/boundary_case.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/simulation_report.hpp"

namespace stickslip::cli {

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

std::string method_of(const ShootingProblem& problem, const ShootingSolution& solution) {
  const std::size_t parts = problem.nodes.empty() ? static_cast<std::size_t>(problem.segments) : problem.nodes.size() + 1;
  return fmt::format("{}, {}", parts == 1 ? "single shooting" : fmt::format("multiple shooting, {} segments", parts),
                     solution.least_squares ? "least squares" : "Newton");
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

ordered_json to_json(const ShootingProblem& problem, const ShootingSolution& solution, const ResultHeader& header,
                     const TrajectoryNames& names, const std::optional<StoredMotion>& motion, double wall) {
  ordered_json history = ordered_json::array(), sensitivity = ordered_json::array();
  for (const ShootingIterate& iterate : solution.history)
    history.push_back({{"residual", json_number(iterate.residual)},
                       {"unknowns", json_by_name(problem.unknowns, iterate.unknowns)}});
  for (Index i = 0; i < solution.sensitivity.rows(); ++i)
    sensitivity.push_back(json_numbers(solution.sensitivity.row(i).transpose()));
  ordered_json json{{"status", to_string(solution.status)},
                    {"message", solution.message},
                    {"method", method_of(problem, solution)},
                    {"unknowns", json_by_name(problem.unknowns, solution.unknowns)},
                    {"residual", solution.history.empty() ? ordered_json(nullptr) : json_number(solution.residual)},
                    {"iterations", solution.iterations},
                    {"runs", solution.runs},
                    {"conditions", conditions_json(problem, solution)},
                    {"history", history},
                    {"sensitivity", sensitivity},
                    {"continuity", json_number(solution.continuity)},
                    {"final", motion ? json_final(motion->simulation) : ordered_json(nullptr)},
                    {"notes", solution.notes},
                    {"wall_seconds", wall}};
  add_run_keys(json, header, names);
  return json;
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
  ReportTable table{"Conditions", "What is left of each, and its derivative by each unknown.",
                    {"condition", "when", "value"}, {}, -1};
  for (const Unknown& unknown : problem.unknowns) table.columns.push_back("d / d " + unknown.name);
  for (Index i = 0; i < solution.conditions.size(); ++i) {
    const Condition& condition = problem.conditions[static_cast<std::size_t>(i)];
    table.rows.push_back({condition.text(), condition.when(), solution.conditions[i]});
    for (Index j = 0; j < solution.sensitivity.cols(); ++j) table.rows.back().emplace_back(solution.sensitivity(i, j));
  }
  return table;
}

ReportDocument document(const ShootingProblem& problem, const ShootingSolution& solution, const ModelFile& model,
                        const ResultHeader& header, const std::optional<StoredMotion>& motion) {
  ReportDocument page = simulation_report(header, motion ? motion->simulation : Simulation{},
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
      history_figure("residual", "Largest condition after each iteration; the units are those of the conditions.", steps),
      history_table("residual", problem.unknowns, steps)};
  page.blocks.insert(page.blocks.begin(), blocks.begin(), blocks.end());
  return page;
}

void print_summary(const ShootingProblem& problem, const ShootingSolution& solution, const ModelFile& model,
                   const std::string& results, double wall) {
  print_out("{}\n", model.title.empty() ? model.path : model.title);
  print_out("  {}: {} after {} iterations, {} runs in {:.3g} s\n", method_of(problem, solution),
            to_string(solution.status), solution.iterations, solution.runs, wall);
  for (std::size_t k = 0; k < problem.unknowns.size(); ++k)
    print_out("  {:<16} = {:.12g}\n", problem.unknowns[k].name, solution.unknowns[static_cast<Index>(k)]);
  for (Index i = 0; i < solution.conditions.size(); ++i) {
    const Condition& condition = problem.conditions[static_cast<std::size_t>(i)];
    print_out("  condition {} {}: {:.3e} left\n", condition.text(), condition.when(), solution.conditions[i]);
  }
  for (const std::string& note : solution.notes) print_out("  note: {}\n", note);
  print_out("  results: {}\n", results);
  if (!solution.message.empty()) print_error("stickslip: {}\n", solution.message);
}

}  // namespace

int shoot(const ShootCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  if (!model.shoot)
    throw InputError(fmt::format(
        "{}: there is no [shoot] table; add one with end_time, unknowns and conditions (docs/model-file.md)",
        command.model));
  const ShootingProblem problem = shooting_problem(model);
  ResultFolder results(command.out.empty() ? std::filesystem::path(command.model).stem().string() + "-shoot"
                                           : command.out);
  ShootingOptions options = model.shoot->options;
  catch_interrupts();
  ProgressBar bar("shooting", !command.json);
  options.stop = interrupt_request();
  options.progress = [&](double fraction) { bar.update(fraction); };
  const auto begin = std::chrono::steady_clock::now();
  const ShootingSolution solution = shoot(problem, options);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  bar.finish();

  ResultHeader header = result_header(model, command.model);
  for (const std::string& setting : settings_of(model, problem.unknowns, solution.unknowns))
    header.inputs.settings.push_back(setting);
  header.inputs.settings.push_back(fmt::format("run.end_time={}", end_time(problem, solution)));
  const TrajectoryNames names = trajectory_names(*model.system, model.run);
  std::optional<StoredMotion> motion;
  if (solution.history.empty() || interrupted()) {  // what was computed is kept, nothing new is begun
    results.open_cleared();
  } else {
    motion = store_motion(results, names, header,
                          [&](const SimulationHooks& hooks) { return follow(problem, solution, hooks); });
  }
  const std::filesystem::path& folder = results.path();
  const std::string json = to_json(problem, solution, header, names, motion, wall).dump(2) + "\n";
  write_text_file(folder / "summary.json", json);
  write_text_file(folder / "history.csv", history_csv("residual", problem.unknowns, steps_of(solution)));
  write_report(folder / "report.html", document(problem, solution, model, header, motion));
  if (command.json) {
    write_out(json);
  } else {
    print_summary(problem, solution, model, folder.string(), wall);
  }
  return solution.status == Status::success ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
