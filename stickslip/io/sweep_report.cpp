// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

constexpr std::size_t kMostFigures = 24;
constexpr std::size_t kMostCurves = 12;
constexpr std::size_t kMostRows = 2000;

bool is_grid(const SweepTable& table) { return table.plan.options().kind == SweepKind::grid; }

/// Axes with more than one value.
std::vector<std::size_t> moving_axes(const SweepTable& table) {
  std::vector<std::size_t> moving;
  for (std::size_t k = 0; k < table.plan.axes().size(); ++k) {
    const SweepAxis& axis = table.plan.axes()[k];
    if (axis.distribution || axis.values.size() > 1) moving.push_back(k);
  }
  return moving;
}

/// Ratios of neighbours are equal, differences are not: drawn on a logarithmic axis.
bool is_logarithmic(const SweepAxis& axis) {
  if (axis.distribution)
    return axis.distribution->kind == DistributionKind::loguniform ||
           axis.distribution->kind == DistributionKind::lognormal;
  const std::vector<double>& v = axis.values;
  if (v.size() < 3 || !(*std::min_element(v.begin(), v.end()) > 0)) return false;
  constexpr double kSame = 1e-6;
  const double ratio = v[1] / v[0];
  for (std::size_t k = 2; k < v.size(); ++k)
    if (std::abs(v[k] / v[k - 1] - ratio) > kSame * ratio) return false;
  return std::abs(ratio - 1) > kSame && std::abs((v[2] - v[1]) - (v[1] - v[0])) > kSame * std::abs(v[1] - v[0]);
}

ReportFigure base_figure(const SweepTable& table, std::size_t column, std::size_t axis) {
  ReportFigure figure;
  figure.title = fmt::format("{} over {}", table.outputs[column], table.plan.axes()[axis].key);
  figure.x = {table.plan.axes()[axis].key, "", is_logarithmic(table.plan.axes()[axis])};
  figure.y = {table.outputs[column], "", false};
  return figure;
}

/// A curve per combination of the other axes, in the order of x.
ReportFigure curves(const SweepTable& table, std::size_t column, std::size_t axis) {
  ReportFigure figure = base_figure(table, column, axis);
  std::vector<std::pair<std::string, std::vector<std::pair<double, double>>>> found;
  for (long run = 0; run < table.plan.size(); ++run) {
    std::string name;
    for (const std::size_t other : moving_axes(table))
      if (other != axis)
        name += fmt::format("{}{} = {:.6g}", name.empty() ? "" : ", ", table.plan.axes()[other].key,
                            table.plan.value(run, other));
    auto place = std::find_if(found.begin(), found.end(), [&](const auto& curve) { return curve.first == name; });
    if (place == found.end()) {
      if (found.size() >= kMostCurves) continue;
      place = found.insert(found.end(), {name, {}});
    }
    place->second.emplace_back(table.plan.value(run, axis), table.output(run, column));
  }
  for (auto& [name, points] : found) {
    std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    constexpr std::size_t kMarked = 60;
    ReportSeries series{
        name.empty() ? table.outputs[column] : name, {}, {}, false, points.size() <= kMarked, true, false};
    for (const auto& [x, y] : points) {
      series.x.push_back(x);
      series.y.push_back(y);
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

/// Draws: one marker per run.
ReportFigure scatter(const SweepTable& table, std::size_t column, std::size_t axis) {
  ReportFigure figure = base_figure(table, column, axis);
  ReportSeries series{table.outputs[column], {}, {}, false, true, false, false};
  for (long run = 0; run < table.plan.size(); ++run) {
    series.x.push_back(table.plan.value(run, axis));
    series.y.push_back(table.output(run, column));
  }
  figure.series = {std::move(series)};
  return figure;
}

ReportTable statistics_table(const SweepTable& table) {
  ReportTable rows{"Kept numbers",
                   "Over the runs that have them.",
                   {"number", "runs", "least", "mean", "greatest", "standard deviation"},
                   {},
                   -1};
  const auto cell = [](double x) { return std::isfinite(x) ? ReportCell(x) : ReportCell(); };
  for (std::size_t k = 0; k < table.outputs.size(); ++k) {
    const OutputStatistics s = statistics_of(table, k);
    rows.rows.push_back({table.outputs[k], static_cast<double>(s.count), cell(s.minimum), cell(s.mean), cell(s.maximum),
                         cell(s.deviation)});
  }
  return rows;
}

ReportTable runs_table(const SweepTable& table, bool failures) {
  ReportTable rows{failures ? "Runs without success" : "Runs", "", {"run"}, {}, -1};
  for (const SweepAxis& axis : table.plan.axes()) rows.columns.push_back(axis.key);
  rows.verdict_column = static_cast<int>(rows.columns.size());
  rows.columns.push_back("status");
  if (failures)
    rows.columns.push_back("message");
  else
    rows.columns.insert(rows.columns.end(), table.outputs.begin(), table.outputs.end());
  long left = 0;
  for (long run = 0; run < table.plan.size(); ++run) {
    const SweepRow& row = table.rows[static_cast<std::size_t>(run)];
    if (failures && (!row.done || row.status == Status::success)) continue;
    if (rows.rows.size() >= kMostRows) {
      ++left;
      continue;
    }
    std::vector<ReportCell> cells{static_cast<double>(run)};
    for (std::size_t k = 0; k < table.plan.axes().size(); ++k) cells.emplace_back(table.plan.value(run, k));
    cells.emplace_back(row.done ? std::string(to_string(row.status)) : "pending");
    if (failures) cells.emplace_back(row.message);
    for (std::size_t k = 0; !failures && k < table.outputs.size(); ++k) {
      const double x = table.output(run, k);
      cells.push_back(std::isfinite(x) ? ReportCell(x) : ReportCell());
    }
    rows.rows.push_back(std::move(cells));
  }
  if (left > 0) rows.note = fmt::format("{} more stand in sweep.csv.", left);
  return rows;
}

ReportInputs inputs_block(const ResultHeader& header) {
  ReportInputs inputs;
  inputs.rows = {{"model", header.model}, {"date", header.inputs.date}, {"version", header.version}};
  inputs.settings = header.inputs.settings;
  for (const auto& [name, value] : header.inputs.parameters) inputs.parameters.push_back({name, value});
  inputs.model_text = header.inputs.model_text;
  return inputs;
}

/// A number that is the same in every run needs no figure.
bool varies(const SweepTable& table, std::size_t column) {
  const OutputStatistics s = statistics_of(table, column);
  return s.count > 1 && s.minimum < s.maximum;
}

}  // namespace

ReportMap sweep_map(const SweepTable& table, std::size_t x, std::size_t y, const std::string& label,
                    const std::function<double(long)>& value) {
  const std::vector<SweepAxis>& axes = table.plan.axes();
  ReportMap map;
  map.title = fmt::format("{} over {} and {}", label, axes[x].key, axes[y].key);
  map.label = label;
  map.x = {axes[x].key, "", false};
  map.y = {axes[y].key, "", false};
  map.x_values = axes[x].values;
  map.y_values = axes[y].values;
  map.values.assign(map.x_values.size() * map.y_values.size(), NAN);
  for (long run = 0; run < table.plan.size(); ++run) {
    // Places along the axes, the last of which changes fastest.
    std::size_t column = 0, row = 0;
    bool first = true;
    long rest = run;
    for (std::size_t k = axes.size(); k-- > 0;) {
      const auto place = static_cast<std::size_t>(rest % static_cast<long>(axes[k].values.size()));
      rest /= static_cast<long>(axes[k].values.size());
      if (k == x)
        column = place;
      else if (k == y)
        row = place;
      else if (place > 0)
        first = false;
    }
    if (first) map.values[row * map.x_values.size() + column] = value(run);
  }
  for (std::size_t k = 0; k < axes.size(); ++k)
    if (k != x && k != y && axes[k].values.size() > 1)
      map.note += fmt::format("{}{} = {:.6g}", map.note.empty() ? "At " : ", ", axes[k].key, axes[k].values[0]);
  return map;
}

ReportDocument sweep_report(const SweepTable& table, const ResultHeader& header, const SweepEnd& end) {
  ReportDocument page;
  page.title = header.title.empty() ? header.model : header.title;
  page.subtitle =
      fmt::format("sweep of {}, {}", to_string(table.section.analysis), to_string(table.plan.options().kind));
  page.generator = "stickslip " + header.version;
  page.status = sweep_status(table, end);
  page.ok = page.status == "success";
  if (!end.message.empty()) page.status += ": " + end.message;
  const long done = table.done(), failed = table.failed();
  page.facts = {{"runs", static_cast<double>(table.plan.size())},  {"succeeded", static_cast<double>(done - failed)},
                {"failed", static_cast<double>(failed)},           {"threads", static_cast<double>(end.threads)},
                {"processes", static_cast<double>(end.processes)}, {"wall time [s]", end.wall_seconds}};
  const std::vector<std::size_t> moving = moving_axes(table);
  std::size_t figures = 0;
  for (std::size_t k = 0; k < table.outputs.size() && figures < kMostFigures; ++k) {
    if (!varies(table, k)) continue;
    if (is_grid(table) && !moving.empty()) {
      const std::size_t longest = *std::max_element(moving.begin(), moving.end(), [&](std::size_t a, std::size_t b) {
        return table.plan.axes()[a].values.size() < table.plan.axes()[b].values.size();
      });
      // A second axis of a few values is a family of curves, of many a map.
      constexpr std::size_t kMapped = 6;
      std::size_t second = longest;
      for (const std::size_t axis : moving)
        if (axis != longest &&
            (second == longest || table.plan.axes()[axis].values.size() > table.plan.axes()[second].values.size()))
          second = axis;
      if (second != longest && table.plan.axes()[second].values.size() >= kMapped)
        page.blocks.push_back(sweep_map(table, std::min(longest, second), std::max(longest, second), table.outputs[k],
                                        [&](long run) { return table.output(run, k); }));
      else
        page.blocks.push_back(curves(table, k, longest));
      ++figures;
    } else {
      for (const std::size_t axis : moving)
        if (figures < kMostFigures) {
          page.blocks.push_back(scatter(table, k, axis));
          ++figures;
        }
    }
  }
  if (failed > 0) page.blocks.push_back(runs_table(table, true));
  page.blocks.push_back(statistics_table(table));
  page.blocks.push_back(runs_table(table, false));
  page.blocks.push_back(inputs_block(header));
  return page;
}

}  // namespace stickslip
