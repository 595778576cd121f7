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
#include "stickslip/boundary/fit.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/boundary_case.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/simulation_report.hpp"

namespace stickslip::cli {

namespace {

using nlohmann::ordered_json;

std::vector<SearchStep> steps_of(const FitSolution& solution) {
  std::vector<SearchStep> steps;
  for (const FitIterate& iterate : solution.history) steps.push_back({iterate.rms, iterate.unknowns});
  return steps;
}

/// What the model has in place of each column, over the rows of its motion.
struct ModelCurves {
  std::vector<double> t;
  std::vector<std::vector<double>> y;  ///< one list per column
};

ordered_json to_json(const FitProblem& problem, const FitSolution& solution, const ResultHeader& header,
                     const TrajectoryNames& names, const std::string& data, const std::optional<StoredMotion>& motion,
                     double wall) {
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
      {"data", data},
      {"history", history},
      {"final", motion ? json_final(motion->simulation) : ordered_json(nullptr)},
      {"notes", solution.notes},
      {"wall_seconds", wall}};
  add_run_keys(json, header, names);
  return json;
}

/// t, then data, model and model - data of each column.
std::string fit_csv(const FitProblem& problem, const FitSolution& solution) {
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
  ReportTable table{"Correlation of the errors",
                    "Near 1 or -1: the data hardly tell the two apart.",
                    {"unknown"},
                    {},
                    -1};
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
                        std::vector<ReportBlock>& blocks) {
  const std::vector<std::size_t> drawn = drawn_rows(problem.data.times.size());
  const std::string thinned =
      drawn.size() < problem.data.times.size()
          ? fmt::format(" {} of {} measurements are drawn.", drawn.size(), problem.data.times.size())
          : "";
  for (std::size_t c = 0; c < problem.data.columns.size() && c < solution.model.size(); ++c) {
    const MeasuredColumn& column = problem.data.columns[c];
    ReportFigure figure{column.name + ": data and model",
                        fmt::format("Root mean square of the difference: {:.4g}.{}", solution.column_rms[c], thinned),
                        "time",
                        {"time", "s", false},
                        {column.name, "", false},
                        {},
                        {},
                        {}};
    ReportSeries data{"data", {}, {}, false, true, false, false}, model{"model", curves.t, curves.y[c], false, false,
                                                                        true, false};
    ReportFigure left{column.name + ": model - data", "", "time", {"time", "s", false},
                      {"model - data", "", false}, {}, {}, {}};
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

ReportDocument document(const FitProblem& problem, const FitSolution& solution, const ModelFile& model,
                        const ResultHeader& header, const std::optional<StoredMotion>& motion,
                        const ModelCurves& curves) {
  ReportDocument page = simulation_report(header, motion ? motion->simulation : Simulation{},
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
  if (motion) add_column_figures(problem, solution, curves, blocks);
  if (problem.unknowns.size() > 1) blocks.push_back(correlation_table(problem, solution));
  blocks.push_back(history_figure(
      "rms", "Root mean square of the weighted differences; it may rise where more of the data is taken in.", steps));
  page.blocks.insert(page.blocks.begin(), blocks.begin(), blocks.end());
  page.blocks.push_back(history_table("rms", problem.unknowns, steps));
  return page;
}

void print_summary(const FitProblem& problem, const FitSolution& solution, const ModelFile& model,
                   const std::string& results, double wall) {
  print_out("{}\n", model.title.empty() ? model.path : model.title);
  print_out("  fit to {} values: {} after {} iterations, {} runs in {:.3g} s\n", problem.data.count(),
            to_string(solution.status), solution.iterations, solution.runs, wall);
  for (std::size_t k = 0; k < problem.unknowns.size(); ++k) {
    const Index j = static_cast<Index>(k);
    const double error = solution.standard_errors.size() > j ? solution.standard_errors[j] : HUGE_VAL;
    print_out("  {:<16} = {:<14.8g} {}\n", problem.unknowns[k].name, solution.unknowns[j],
              std::isfinite(error) ? fmt::format("+- {:.2g}", error) : "(not determined)");
  }
  for (std::size_t c = 0; c < solution.column_rms.size(); ++c)
    print_out("  rms of {}: {:.4g}\n", problem.data.columns[c].name, solution.column_rms[c]);
  for (const std::string& note : solution.notes) print_out("  note: {}\n", note);
  print_out("  results: {}\n", results);
  if (!solution.message.empty()) print_error("stickslip: {}\n", solution.message);
}

/// The motion with the values found, as long as the data.
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
    hooks.on_row(row);
    const Vector values = layout.values(row, fitted.parameters(), solution.unknowns);
    curves.t.push_back(row.t);
    for (std::size_t c = 0; c < problem.data.columns.size(); ++c)
      curves.y[c].push_back(
          problem.data.columns[c].model({values.data(), static_cast<std::size_t>(values.size())}));
  };
  return simulate(fitted.system(), fitted.initial(), run, watched);
}

}  // namespace

int fit(const FitCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  if (!model.fit)
    throw InputError(fmt::format("{}: there is no [fit] table; add one with unknowns (docs/model-file.md)",
                                 command.model));
  const std::string data_path = command.data.empty() ? model.fit->data : command.data;
  if (data_path.empty())
    throw InputError(fmt::format("{}: which data? Name a CSV file after the model, or in [fit], data = \"..\"",
                                 command.model));
  const FitProblem problem = fit_problem(model, read_measurements(data_path));
  ResultFolder results(command.out.empty() ? std::filesystem::path(command.model).stem().string() + "-fit"
                                           : command.out);
  FitOptions options = model.fit->options;
  catch_interrupts();
  ProgressBar bar("fitting", !command.json);
  options.stop = interrupt_request();
  options.progress = [&](double fraction) { bar.update(fraction); };
  const auto begin = std::chrono::steady_clock::now();
  const FitSolution solution = fit(problem, options);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  bar.finish();

  ResultHeader header = result_header(model, command.model);
  for (const std::string& setting : settings_of(model, problem.unknowns, solution.unknowns))
    header.inputs.settings.push_back(setting);
  header.inputs.settings.push_back(fmt::format("run.end_time={}", problem.data.times.back()));
  const TrajectoryNames names = trajectory_names(*model.system, model.run);
  std::optional<StoredMotion> motion;
  ModelCurves curves;
  if (solution.model.empty() || interrupted()) {  // what was computed is kept, nothing new is begun
    results.open_cleared();
  } else {
    motion = store_motion(results, names, header, [&](const SimulationHooks& hooks) {
      return run_fitted(problem, solution, hooks, curves);
    });
  }
  const std::filesystem::path& folder = results.path();
  const std::string json = to_json(problem, solution, header, names, data_path, motion, wall).dump(2) + "\n";
  write_text_file(folder / "summary.json", json);
  write_text_file(folder / "history.csv", history_csv("rms", problem.unknowns, steps_of(solution)));
  if (motion) write_text_file(folder / "fit.csv", fit_csv(problem, solution));
  write_report(folder / "report.html", document(problem, solution, model, header, motion, curves));
  if (command.json) {
    write_out(json);
  } else {
    print_summary(problem, solution, model, folder.string(), wall);
  }
  return solution.status == Status::success ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
