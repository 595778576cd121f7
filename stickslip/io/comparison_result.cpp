// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/comparison_result.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "stickslip/common/version.hpp"

namespace stickslip {

namespace {

nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

ReportCell order_cell(double order, const std::string& reason) {
  return reason.empty() ? ReportCell(order) : ReportCell(order_text(order, reason));
}

/// 0 stands for "does not apply".
nlohmann::ordered_json positive(double value) {
  return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
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

}  // namespace

std::string reference_text(const Comparison& comparison) {
  if (comparison.reference_scheme == SchemeKind::moreau)
    return fmt::format("moreau, step {:g} s, reversals located", comparison.reference_step);
  if (comparison.reference_tolerance > 0)
    return fmt::format("{}, integrated with tolerance {:g}", to_string(comparison.reference_scheme),
                       comparison.reference_tolerance);
  return "event, exact flow between events";
}

std::string order_text(double order, const std::string& reason) {
  return reason.empty() ? fmt::format("{:.2f}", order) : fmt::format("- ({})", reason);
}

std::vector<double> default_steps(const SimulationOptions& run) {
  const double span = run.end_time - run.start_time;
  const double h = run.steps > 0 ? span / static_cast<double>(run.steps) : run.step > 0 ? run.step : span / 1000;
  return {4 * h, 2 * h, h, h / 2};
}

std::string comparison_json(const std::string& named, const Comparison& comparison) {
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
  const nlohmann::ordered_json json{{"status", to_string(comparison.status)},
                                    {"message", comparison.message},
                                    {"model", named},
                                    {"reference",
                                     {{"scheme", to_string(comparison.reference_scheme)},
                                      {"step", positive(comparison.reference_step)},
                                      {"tolerance", positive(comparison.reference_tolerance)},
                                      {"note", comparison.reference_note}}},
                                    {"runs", runs},
                                    {"orders", orders}};
  return json.dump(2) + "\n";
}

ReportDocument comparison_report(const ModelFile& model, const Comparison& comparison) {
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

}  // namespace stickslip
