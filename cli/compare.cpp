// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/result_folder.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/motion/comparison.hpp"

namespace stickslip::cli {

namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::vector<double> step_list(const std::string& text, const SimulationOptions& run) {
  std::vector<double> steps;
  for (const std::string& part : split(text)) {
    char* end = nullptr;
    steps.push_back(std::strtod(part.c_str(), &end));
    if (*end != '\0') throw InputError(fmt::format("--steps {}: '{}' is not a number", text, part));
  }
  if (!steps.empty()) return steps;
  const double span = run.end_time - run.start_time;
  const double h = run.steps > 0 ? span / static_cast<double>(run.steps) : run.step > 0 ? run.step : span / 1000;
  return {4 * h, 2 * h, h, h / 2};
}

std::string reference_text(const Comparison& comparison) {
  if (comparison.reference_scheme == SchemeKind::moreau)
    return fmt::format("moreau, step {:g} s, reversals located", comparison.reference_step);
  if (comparison.reference_tolerance > 0)
    return fmt::format("event, integrated with tolerance {:g}", comparison.reference_tolerance);
  return "event, exact flow between events";
}

std::string size_text(const ComparedRun& run) {
  return run.tolerance > 0 ? fmt::format("tol {:g}", run.tolerance) : fmt::format("{:.4g}", run.step);
}

nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

std::string order_text(double order, const std::string& reason) {
  return reason.empty() ? fmt::format("{:.2f}", order) : fmt::format("- ({})", reason);
}

ReportCell order_cell(double order, const std::string& reason) {
  return reason.empty() ? ReportCell(order) : ReportCell(order_text(order, reason));
}

/// 0 stands for "does not apply".
nlohmann::ordered_json positive(double value) {
  return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json to_json(const CompareCommand& command, const Comparison& comparison) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array(), orders = nlohmann::ordered_json::array();
  for (const ComparedRun& run : comparison.runs)
    runs.push_back({{"scheme", to_string(run.scheme)},
                    {"step", positive(run.step)},
                    {"tolerance", positive(run.tolerance)},
                    {"steps", run.simulation.steps},
                    {"status", to_string(run.simulation.status)},
                    {"position_error", number(run.position_error)},
                    {"velocity_error", number(run.velocity_error)},
                    {"events", run.simulation.trajectory.events.size()},
                    {"wall_seconds", run.wall_seconds}});
  for (const ObservedOrder& order : comparison.orders)
    orders.push_back({{"scheme", to_string(order.scheme)},
                      {"over", order.over_tolerance ? "tolerance" : "step"},
                      {"position", number(order.position)},
                      {"velocity", number(order.velocity)},
                      {"position_reason", order.position_reason},
                      {"velocity_reason", order.velocity_reason}});
  return {{"status", to_string(comparison.status)},
          {"message", comparison.message},
          {"model", command.model},
          {"reference",
           {{"scheme", to_string(comparison.reference_scheme)},
            {"step", positive(comparison.reference_step)},
            {"tolerance", positive(comparison.reference_tolerance)},
            {"note", comparison.reference_note}}},
          {"runs", runs},
          {"orders", orders}};
}

ReportTable error_table(const Comparison& comparison) {
  ReportTable table{"Errors and cost",
                    "Position error: largest over time and coordinates. Velocity error: root mean square over time.",
                    {"scheme", "step [s]", "tolerance", "steps", "position error [m, rad]",
                     "velocity error [m/s, rad/s]", "events", "wall time [s]", "status"},
                    {},
                    8};
  for (const ComparedRun& run : comparison.runs)
    table.rows.push_back({std::string(to_string(run.scheme)), run.step > 0 ? ReportCell(run.step) : ReportCell(),
                          run.tolerance > 0 ? ReportCell(run.tolerance) : ReportCell(),
                          run.tolerance > 0 ? ReportCell() : ReportCell(static_cast<double>(run.simulation.steps)),
                          run.position_error, run.velocity_error,
                          static_cast<double>(run.simulation.trajectory.events.size()), run.wall_seconds,
                          std::string(to_string(run.simulation.status))});
  return table;
}

ReportTable order_table(const Comparison& comparison) {
  ReportTable orders{"Observed order",
                     "Slope of a least-squares line through three or more step sizes (event: tolerances), where the "
                     "errors show one.",
                     {"scheme", "over", "position", "velocity"},
                     {},
                     -1};
  for (const ObservedOrder& order : comparison.orders)
    orders.rows.push_back(
        {std::string(to_string(order.scheme)), std::string(order.over_tolerance ? "tolerance" : "step"),
         order_cell(order.position, order.position_reason), order_cell(order.velocity, order.velocity_reason)});
  return orders;
}

ReportFigure error_figure(std::string title, std::string caption, ReportAxis x) {
  return {std::move(title), std::move(caption), "", std::move(x), {"position error", "m or rad", true}, {}, {}, {}};
}

/// Errors of one scheme over a number of its runs. An error of exactly 0 has no place on a logarithmic axis.
template <class Abscissa>
ReportSeries error_series(const Comparison& comparison, SchemeKind scheme, const Abscissa& x) {
  ReportSeries series{std::string(to_string(scheme)), {}, {}, false, true, true, false};
  for (const ComparedRun& run : comparison.runs)
    if (run.scheme == scheme && run.position_error > 0) {
      series.x.push_back(x(run));
      series.y.push_back(run.position_error);
    }
  return series;
}

ReportFigure overlay(const Comparison& comparison, Index coordinate) {
  const std::string& name = comparison.reference.trajectory.names().coordinates[static_cast<std::size_t>(coordinate)];
  ReportFigure figure{name,
                      "Largest step or tolerance of each scheme against the reference.",
                      "time",
                      {"t", "s", false},
                      {name, "m", false},
                      {},
                      {},
                      {}};
  auto add = [&](const std::string& label, const Trajectory& trajectory, bool dash) {
    ReportSeries series{label, {}, {}, dash, false, true, false};
    for (Index k = 0; k < trajectory.rows(); ++k) {
      series.x.push_back(trajectory.t(k));
      series.y.push_back(trajectory.q(k, coordinate));
    }
    figure.series.push_back(series);
  };
  add("reference", comparison.reference.trajectory, false);
  const ComparedRun* last = nullptr;
  for (const ComparedRun& run : comparison.runs)
    if (!last || last->scheme != run.scheme) {
      add(run.tolerance > 0 ? fmt::format("{}, tolerance {:g}", to_string(run.scheme), run.tolerance)
                            : fmt::format("{}, h = {:g} s", to_string(run.scheme), run.step),
          run.simulation.trajectory, true);
      last = &run;
    }
  return figure;
}

ReportDocument document(const ModelFile& model, const Comparison& comparison) {
  ReportDocument page;
  page.title = model.title.empty() ? model.path : model.title;
  page.subtitle = "comparison of schemes";
  page.generator = fmt::format("stickslip {}", version());
  page.ok = comparison.status == Status::success;
  page.status = page.ok ? "success" : comparison.message;
  page.facts = {{"reference", reference_text(comparison)}, {"runs", static_cast<double>(comparison.runs.size())}};
  if (!comparison.reference_note.empty()) page.facts.push_back({"why this reference", comparison.reference_note});
  ReportFigure error = error_figure("Error against step", "Schemes with fixed steps.", {"step", "s", true});
  ReportFigure work = error_figure("Work and precision",
                                   "Wall time of one run on this machine, one curve per scheme; event: one point per "
                                   "tolerance, integrated. An error of exactly 0 has no place here.",
                                   {"wall time", "s", true});
  for (const ObservedOrder& order : comparison.orders) {
    work.series.push_back(
        error_series(comparison, order.scheme, [](const ComparedRun& run) { return run.wall_seconds; }));
    if (!order.over_tolerance)
      error.series.push_back(error_series(comparison, order.scheme, [](const ComparedRun& run) { return run.step; }));
  }
  page.blocks = {order_table(comparison), error_table(comparison), work};
  if (!error.series.empty()) page.blocks.insert(page.blocks.end() - 1, error);
  constexpr std::size_t kShown = 6;  // coordinates: more curves are not read
  const std::size_t shown = std::min(comparison.reference.trajectory.names().coordinates.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) page.blocks.push_back(overlay(comparison, static_cast<Index>(i)));
  return page;
}

}  // namespace

int compare(const CompareCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  if (!model.has_run)
    throw InputError(fmt::format("{}: there is no [run] table; add one with end_time and step", command.model));
  ComparisonOptions options;
  for (const std::string& name : split(command.schemes)) options.schemes.push_back(scheme_from(name));
  if (command.schemes.empty()) options.schemes = comparable_schemes(*model.system);
  options.stop = interrupt_request();
  options.steps = step_list(command.steps, model.run);
  ResultFolder results(command.out.empty() ? std::filesystem::path(command.model).stem().string() + "-compare"
                                           : command.out);
  catch_interrupts();
  ProgressBar bar("comparing", !command.json);
  const Comparison comparison = compare_schemes(*model.system, model.initial, model.run, options, [&](double fraction) {
    bar.update(fraction);
    return !interrupted();
  });
  bar.finish();
  const std::filesystem::path& folder = results.open_cleared();
  const std::string json = to_json(command, comparison).dump(2) + "\n";
  write_text_file(folder / "summary.json", json);
  write_report(folder / "report.html", document(model, comparison));
  if (command.json) {
    print_out("{}", json);
  } else {
    print_out("{}\n  reference: {}\n", model.title, reference_text(comparison));
    if (!comparison.reference_note.empty()) print_out("  ({})\n", comparison.reference_note);
    print_out("\n  {:<12}{:>12}{:>10}{:>16}{:>16}{:>10}{:>12}\n", "scheme", "step [s]", "steps", "position error",
              "velocity error", "events", "time [s]");
    for (const ComparedRun& run : comparison.runs)
      print_out("  {:<12}{:>12}{:>10}{:>16.3e}{:>16.3e}{:>10}{:>12.3g}{}\n", to_string(run.scheme), size_text(run),
                run.tolerance > 0 ? "own" : fmt::format("{}", run.simulation.steps), run.position_error,
                run.velocity_error, run.simulation.trajectory.events.size(), run.wall_seconds,
                run.simulation.status == Status::success ? "" : fmt::format("  {}", to_string(run.simulation.status)));
    print_out("\n");
    for (const ObservedOrder& order : comparison.orders)
      print_out("  observed {} of {}: {} in position, {} in velocity\n",
                order.over_tolerance ? "power of the tolerance" : "order", to_string(order.scheme),
                order_text(order.position, order.position_reason), order_text(order.velocity, order.velocity_reason));
    print_out("  results: {}\n", folder.string());
    if (!comparison.message.empty()) print_error("stickslip: {}\n", comparison.message);
  }
  return comparison.status == Status::success ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
