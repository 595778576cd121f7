// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/fit_result.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/io/boundary_case.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/report_columns.hpp"
#include "stickslip/io/result_header.hpp"
#include "stickslip/io/search_results.hpp"
#include "stickslip/io/simulation_report.hpp"

namespace stickslip {

namespace {

using nlohmann::ordered_json;

std::vector<SearchStep> steps_of(const FitSolution& solution) {
  std::vector<SearchStep> steps;
  for (const FitIterate& iterate : solution.history) steps.push_back({iterate.rms, iterate.unknowns});
  return steps;
}

ReportTable unknowns_table(const FitProblem& problem, const FitSolution& solution) {
  ReportTable table{"Unknowns",
                    "In 95 of 100 repetitions of the measurement the interval would hold the true value.",
                    {"unknown", "key", "start", "value", "standard error", "95 % from", "95 % to"},
                    {},
                    -1};
  constexpr double kNormal95 = 1.959964;
  for (std::size_t k = 0; k < problem.unknowns.size(); ++k) {
    const Unknown& unknown = problem.unknowns[k];
    const Index j = static_cast<Index>(k);
    table.rows.push_back({unknown.name, unknown.key, unknown.start, solution.unknowns[j]});
    const double error = solution.standard_errors.size() > j ? solution.standard_errors[j] : HUGE_VAL;
    for (const double value :
         {error, solution.unknowns[j] - kNormal95 * error, solution.unknowns[j] + kNormal95 * error})
      table.rows.back().push_back(std::isfinite(value) ? ReportCell(value) : ReportCell(std::string("not determined")));
  }
  return table;
}

ReportTable correlation_table(const FitProblem& problem, const FitSolution& solution) {
  ReportTable table{
      "Correlation of the errors", "Near 1 or -1: the data hardly tell the two apart.", {"unknown"}, {}, -1};
  for (const Unknown& unknown : problem.unknowns) table.columns.push_back(unknown.name);
  for (Index i = 0; i < solution.correlation.rows(); ++i) {
    table.rows.push_back({problem.unknowns[static_cast<std::size_t>(i)].name});
    for (Index j = 0; j < solution.correlation.cols(); ++j) {
      const double value = solution.correlation(i, j);
      table.rows.back().push_back(std::isfinite(value) ? ReportCell(value) : ReportCell());
    }
  }
  return table;
}

/// Of very many measurements some, evenly spread.
std::vector<std::size_t> drawn_rows(std::size_t rows) {
  constexpr std::size_t kMost = 4000;
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < rows; k += 1 + rows / kMost) chosen.push_back(k);
  return chosen;
}

void add_column_figures(const FitProblem& problem, const FitSolution& solution, const ModelCurves& curves,
                        const ReportColumns& shown, std::vector<ReportBlock>& blocks) {
  const std::vector<std::size_t> drawn = drawn_rows(problem.data.times.size());
  const std::string thinned =
      drawn.size() < problem.data.times.size()
          ? fmt::format(" {} of {} measurements are drawn.", drawn.size(), problem.data.times.size())
          : "";
  for (std::size_t c = 0; c < problem.data.columns.size() && c < solution.model.size(); ++c) {
    const MeasuredColumn& column = problem.data.columns[c];
    const std::string unit = shown.unit_of(column.model.text());
    ReportFigure figure{column.name + ": data and model",
                        fmt::format("Root mean square of the difference: {:.4g}{}{}.{}", solution.column_rms[c],
                                    unit.empty() ? "" : " ", unit, thinned),
                        "time",
                        {"time", "s", false},
                        {column.name, unit, false},
                        {},
                        {},
                        {}};
    ReportSeries data{"data", {}, {}, false, true, false, false},
        model{"model", curves.t, curves.y[c], false, false, true, false};
    ReportFigure left{column.name + ": model - data", "", "time", {"time", "s", false},
                      {"model - data", unit, false},  {}, {},     {}};
    ReportSeries rest{"model - data", {}, {}, false, true, false, false};
    for (const std::size_t k : drawn) {
      data.x.push_back(problem.data.times[k]);
      data.y.push_back(column.values[k]);
      rest.x.push_back(problem.data.times[k]);
      rest.y.push_back(solution.model[c][k] - column.values[k]);
    }
    figure.series = {data, model};
    left.series = {rest};
    blocks.push_back(figure);
    blocks.push_back(left);
  }
}

}  // namespace

FitResult fit_result(const ModelFile& model, const std::string& named, const std::string& data, FitProblem problem,
                     FitSolution solution, double wall_seconds) {
  ResultHeader header = result_header(model, named);
  for (const std::string& setting : settings_of(model, problem.unknowns, solution.unknowns))
    header.inputs.settings.push_back(setting);
  header.inputs.settings.push_back(fmt::format("run.end_time={}", problem.data.times.back()));
  return {
      std::move(problem), std::move(solution), std::move(header), trajectory_names(*model.system, model.run), data, {},
      std::nullopt,       wall_seconds};
}

Simulation run_fitted(const FitProblem& problem, const FitSolution& solution, const SimulationHooks& hooks,
                      ModelCurves& curves) {
  const Case fitted = with_values(problem.model, problem.unknowns, solution.unknowns);
  SimulationOptions run = fitted.options();
  run.end_time = problem.data.times.back();
  std::erase_if(run.output_times, [&](double t) { return t > run.end_time; });
  const ColumnLayout layout(problem.model.system(), problem.model.parameters(), problem.unknowns);
  curves.y.resize(problem.data.columns.size());
  SimulationHooks watched = hooks;
  watched.on_row = [&](const OutputRow& row) {
    if (hooks.on_row) hooks.on_row(row);
    const Vector values = layout.values(row, fitted.parameters(), solution.unknowns);
    curves.t.push_back(row.t);
    for (std::size_t c = 0; c < problem.data.columns.size(); ++c)
      curves.y[c].push_back(problem.data.columns[c].model({values.data(), static_cast<std::size_t>(values.size())}));
  };
  return simulate(fitted.system(), fitted.initial(), run, watched);
}

std::string fit_json(const FitResult& result) {
  const FitProblem& problem = result.problem;
  const FitSolution& solution = result.solution;
  const bool fitted = solution.standard_errors.size() > 0;
  ordered_json history = ordered_json::array(), columns = ordered_json::object(), correlation = ordered_json::array();
  for (const FitIterate& iterate : solution.history)
    history.push_back({{"rms", json_number(iterate.rms)},
                       {"until", iterate.until},
                       {"unknowns", json_by_name(problem.unknowns, iterate.unknowns)}});
  for (std::size_t c = 0; c < solution.column_rms.size(); ++c)
    columns[problem.data.columns[c].name] = json_number(solution.column_rms[c]);
  for (Index i = 0; i < solution.correlation.rows(); ++i)
    correlation.push_back(json_numbers(solution.correlation.row(i).transpose()));
  ordered_json json{
      {"status", to_string(solution.status)},
      {"message", solution.message},
      {"unknowns", json_by_name(problem.unknowns, solution.unknowns)},
      {"standard_errors", fitted ? json_by_name(problem.unknowns, solution.standard_errors) : ordered_json::object()},
      {"rms", fitted ? json_number(solution.rms) : ordered_json(nullptr)},
      {"column_rms", columns},
      {"chi_square", json_number(solution.chi_square)},
      {"correlation", correlation},
      {"iterations", solution.iterations},
      {"runs", solution.runs},
      {"values", problem.data.count()},
      {"data", result.data},
      {"history", history},
      {"final", result.motion ? json_final(result.motion->simulation) : ordered_json(nullptr)},
      {"notes", solution.notes},
      {"wall_seconds", result.wall_seconds}};
  add_run_keys(json, result.header, result.names);
  return json.dump(2) + "\n";
}

std::string fit_csv(const FitResult& result) {
  const FitProblem& problem = result.problem;
  const FitSolution& solution = result.solution;
  std::string text = "t";
  for (const MeasuredColumn& column : problem.data.columns)
    for (const char* ending : {"", "_model", "_residual"}) text += "," + csv_cell(column.name + ending);
  text += "\n";
  for (std::size_t k = 0; k < problem.data.times.size(); ++k) {
    text += fmt::format("{}", problem.data.times[k]);
    for (std::size_t c = 0; c < problem.data.columns.size(); ++c) {
      const double data = problem.data.columns[c].values[k], model = solution.model[c][k];
      text += std::isfinite(data) ? fmt::format(",{},{},{}", data, model, model - data) : fmt::format(",,{},", model);
    }
    text += "\n";
  }
  return text;
}

std::string fit_history_csv(const FitResult& result) {
  return history_csv("rms", result.problem.unknowns, steps_of(result.solution));
}

ReportDocument fit_report(const FitResult& result, const ModelFile& model) {
  const FitProblem& problem = result.problem;
  const FitSolution& solution = result.solution;
  const std::optional<FoundMotion>& motion = result.motion;
  ReportDocument page = simulation_report(result.header, motion ? motion->simulation : Simulation{},
                                          motion ? motion->wall_seconds : 0, {.units = report_units(model)});
  if (!motion) page.blocks.clear();
  page.subtitle = "parameters from measurements";
  page.ok = solution.status == Status::success;
  page.status = std::string(to_string(solution.status));
  if (!solution.message.empty()) page.status += ": " + solution.message;
  page.notes.insert(page.notes.begin(), solution.notes.begin(), solution.notes.end());
  page.facts.insert(page.facts.begin(), {{"rms", solution.rms},
                                         {"measured values", static_cast<double>(problem.data.count())},
                                         {"iterations", static_cast<double>(solution.iterations)},
                                         {"runs", static_cast<double>(solution.runs)}});
  const std::vector<SearchStep> steps = steps_of(solution);
  std::vector<ReportBlock> blocks{unknowns_table(problem, solution)};
  if (motion)
    add_column_figures(problem, solution, result.curves, ReportColumns(result.names, report_units(model)), blocks);
  if (problem.unknowns.size() > 1) blocks.push_back(correlation_table(problem, solution));
  blocks.push_back(history_figure(
      "rms", "Root mean square of the weighted differences; it may rise where more of the data is taken in.", steps));
  page.blocks.insert(page.blocks.begin(), blocks.begin(), blocks.end());
  page.blocks.push_back(history_table("rms", problem.unknowns, steps));
  return page;
}

}  // namespace stickslip
