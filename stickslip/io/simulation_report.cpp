// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/simulation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "stickslip/io/csv_writer.hpp"

namespace stickslip {
namespace {

using Value = std::function<double(Index row, Index column)>;

/// `count` of 0..n-1, evenly spread with both ends; all if there are no more.
std::vector<Index> spread(Index n, Index count) {
  std::vector<Index> chosen(std::min(n, std::max<Index>(count, 1)));
  for (Index i = 0; i < static_cast<Index>(chosen.size()); ++i)
    chosen[i] = n <= count ? i : (chosen.size() == 1 ? 0 : i * (n - 1) / (static_cast<Index>(chosen.size()) - 1));
  return chosen;
}

struct Columns {
  std::vector<std::string> names;
  Value value;
  bool dash = false;
};

/// A figure over time of one or more groups of columns.
ReportFigure time_figure(const Trajectory& trajectory, std::string title, ReportAxis y,
                         const std::vector<Columns>& groups, const SimulationReportOptions& options) {
  ReportFigure figure;
  figure.title = std::move(title);
  figure.link = "time";
  figure.x = {"time", "s"};
  figure.y = std::move(y);
  Index total = 0, shown = 0;
  for (const Columns& group : groups) total += static_cast<Index>(group.names.size());
  const Index share = std::max<Index>(1, options.series / static_cast<Index>(groups.size()));
  for (const Columns& group : groups) shown += std::min<Index>(share, group.names.size());
  const Index rows = trajectory.rows(),
              points = std::clamp<Index>(options.figure_points / std::max<Index>(shown, 1), 4, options.points);
  const bool thin = rows > points;
  if (!thin)
    for (Index row = 0; row < rows; ++row) figure.x_values.push_back(trajectory.t(row));
  for (const Columns& group : groups) {
    for (const Index column : spread(static_cast<Index>(group.names.size()), share)) {
      ReportSeries series;
      series.name = group.names[column];
      series.dash = group.dash;
      auto value = [&](Index row) { return group.value(row, column); };
      if (thin) {
        for (const Index row : thinned_rows(rows, points, value)) {
          series.x.push_back(trajectory.t(row));
          series.y.push_back(value(row));
        }
      } else {
        for (Index row = 0; row < rows; ++row) series.y.push_back(value(row));
      }
      figure.series.push_back(std::move(series));
    }
  }
  if (shown < total) figure.note = fmt::format("{} of {} columns are shown, evenly spread. ", shown, total);
  if (thin)
    figure.note += fmt::format(
        "Thinned from {} rows to at most {} points per curve: the lowest and the highest value of every {} rows. ",
        rows, points, (rows + points / 2 - 1) / (points / 2));
  if (!figure.note.empty()) figure.note += "trajectory.csv holds everything.";
  return figure;
}

ReportFigure energy_figure(const Trajectory& trajectory, const SimulationReportOptions& options) {
  using Term = double (*)(const EnergyLedger&);
  std::vector<std::pair<std::string, Term>> terms = {
      {"kinetic", [](const EnergyLedger& e) { return e.kinetic; }},
      {"potential", [](const EnergyLedger& e) { return e.potential; }},
      {"work in", [](const EnergyLedger& e) { return e.work_in; }},
      {"friction loss", [](const EnergyLedger& e) { return e.friction_loss; }},
      {"damper loss", [](const EnergyLedger& e) { return e.damper_loss; }}};
  bool impacts = false;
  for (Index row = 0; row < trajectory.rows(); ++row) impacts |= trajectory.energy(row).impact_loss != 0;
  if (impacts) terms.emplace_back("impact loss", [](const EnergyLedger& e) { return e.impact_loss; });
  terms.emplace_back("unexplained", [](const EnergyLedger& e) { return e.unexplained(); });
  Columns columns;
  for (const auto& term : terms) columns.names.push_back(term.first);
  columns.value = [&](Index row, Index column) { return terms[column].second(trajectory.energy(row)); };
  return time_figure(trajectory, "Energy balance", {"energy, work", "J"}, {columns}, options);
}

/// What a law does longest in each of `parts` equal parts of its time; neighbours that agree are joined.
std::vector<ReportInterval> coarse(const std::vector<ReportInterval>& exact, Index parts) {
  const double from = exact.front().from, width = (exact.back().to - from) / static_cast<double>(parts);
  std::vector<ReportInterval> out;
  std::size_t first = 0;
  for (Index part = 0; part < parts; ++part) {
    const double a = from + width * static_cast<double>(part), b = part + 1 == parts ? exact.back().to : a + width;
    std::array<double, 6> duration{};
    while (first + 1 < exact.size() && exact[first].to <= a) ++first;
    for (std::size_t i = first; i < exact.size() && exact[i].from < b; ++i)
      duration[static_cast<std::size_t>(exact[i].mode)] += std::min(b, exact[i].to) - std::max(a, exact[i].from);
    const Mode mode = static_cast<Mode>(std::max_element(duration.begin(), duration.end()) - duration.begin());
    if (!out.empty() && out.back().mode == mode)
      out.back().to = b;
    else
      out.push_back({a, b, mode});
  }
  return out;
}

std::vector<Mode> initial_modes(const Simulation& simulation) {
  const std::size_t laws = simulation.trajectory.names().laws.size();
  std::vector<std::optional<Mode>> first(laws);
  for (const Event& event : simulation.trajectory.events)
    if (!first[event.law]) first[event.law] = event.before;
  std::vector<Mode> modes(laws, Mode::stick);
  for (std::size_t law = 0; law < laws; ++law) {
    if (first[law])
      modes[law] = *first[law];
    else if (law < simulation.final.modes.size())
      modes[law] = simulation.final.modes[law];
    else if (simulation.trajectory.rows() > 0)
      modes[law] = simulation.trajectory.mode(0, static_cast<Index>(law));
  }
  return modes;
}

ReportTimeline timeline(const Simulation& simulation, const SimulationReportOptions& options) {
  const Trajectory& trajectory = simulation.trajectory;
  const std::vector<std::string>& laws = trajectory.names().laws;
  ReportTimeline out;
  out.title = "Stick and slip";
  out.link = "time";
  out.to = simulation.final.t;
  out.from = trajectory.rows() > 0 ? trajectory.t(0) : out.to;
  if (!trajectory.events.empty()) out.from = std::min(out.from, trajectory.events.front().t);
  out.laws = laws;
  const auto intervals = mode_intervals(initial_modes(simulation), trajectory.events, out.from, out.to);
  const std::vector<Index> shown = spread(static_cast<Index>(laws.size()), options.series);
  const Index room = std::max<Index>(2, options.timeline_entries / (2 * static_cast<Index>(shown.size())));
  std::vector<Index> kept(laws.size(), -1);  // events so far of the laws that are shown
  std::vector<Index> events(laws.size(), 0);
  for (const Event& event : trajectory.events) ++events[event.law];
  bool joined = false, dropped = false;
  for (const Index law : shown) {
    const bool many = static_cast<Index>(intervals[law].size()) > room;
    joined |= many;
    dropped |= events[law] > room;
    kept[law] = 0;
    out.rows.push_back({laws[law], many ? coarse(intervals[law], room) : intervals[law]});
  }
  for (const Event& event : trajectory.events) {
    if (kept[event.law] < 0) continue;
    const Index number = kept[event.law]++, all = events[event.law];
    // of too many events every k-th; impacts carry a number of their own and are seldom, but no exception is made
    if (all <= room || number % ((all + room - 1) / room) == 0) out.events.push_back(event);
  }
  if (shown.size() < laws.size())
    out.note = fmt::format("{} of {} laws are shown, evenly spread. ", shown.size(), laws.size());
  if (joined)
    out.note += fmt::format(
        "Where a law changes very often, the mode that lasts longest in each of {} equal parts of the time is shown. ",
        room);
  if (dropped) out.note += fmt::format("Of laws with more than {} events some are left out. ", room);
  if (!out.note.empty()) out.note += "events.csv holds everything.";
  return out;
}

ReportTable final_state(const Simulation& simulation) {
  constexpr Index largest = 2000;
  const TrajectoryNames& names = simulation.trajectory.names();
  ReportTable table;
  table.title = "Final state";
  table.columns = {"quantity", "name", "value", "unit"};
  bool cut = false;
  auto add = [&](const char* quantity, const std::vector<std::string>& rows, const Vector& values, const char* unit) {
    const Index n = std::min<Index>(values.size(), rows.size());
    cut |= n > largest;
    for (Index i = 0; i < std::min(n, largest); ++i)
      table.rows.push_back({std::string(quantity), rows[i], values[i], std::string(unit)});
  };
  add("position", names.coordinates, simulation.final.q, "m, rad");
  add("velocity", velocity_columns(names), simulation.final.v, "m/s, rad/s");
  add("mean reaction of the last step", names.reactions, simulation.final_reaction, "N, N m");
  const std::size_t laws = std::min(names.laws.size(), simulation.final.modes.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(laws, largest); ++i)
    table.rows.push_back(
        {std::string("mode"), names.laws[i], std::string(to_string(simulation.final.modes[i])), ReportCell{}});
  if (cut || laws > largest)
    table.note = fmt::format("The first {} of each quantity; summary.json holds everything.", largest);
  return table;
}

std::string event_text(const std::vector<Event>& events) {
  const EventCounts counts = count_events(events);
  std::string parts;
  for (std::size_t k = 0; k < counts.size(); ++k)
    if (counts[k] > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", counts[k], to_string(kEventKinds[k]));
  return parts.empty() ? "none" : fmt::format("{} ({})", events.size(), parts);
}

}  // namespace

std::vector<Index> thinned_rows(Index rows, Index points, const std::function<double(Index row)>& value) {
  std::vector<Index> kept;
  if (rows <= points) {
    for (Index row = 0; row < rows; ++row) kept.push_back(row);
    return kept;
  }
  const Index groups = std::max<Index>(1, points / 2 - 1);  // two points are for the ends
  kept.push_back(0);
  for (Index group = 0; group < groups; ++group) {
    const Index first = rows * group / groups, last = rows * (group + 1) / groups;
    Index low = -1, high = -1, gap = -1;
    double lowest = 0, highest = 0;
    for (Index row = first; row < last; ++row) {
      const double y = value(row);
      if (!std::isfinite(y)) {
        gap = row;
        continue;
      }
      if (low < 0 || y < lowest) lowest = y, low = row;
      if (high < 0 || y > highest) highest = y, high = row;
    }
    std::array<Index, 3> found = {low, high, gap};
    std::sort(found.begin(), found.end());
    for (const Index row : found)
      if (row > kept.back()) kept.push_back(row);
  }
  if (kept.back() != rows - 1) kept.push_back(rows - 1);
  return kept;
}

std::vector<std::vector<ReportInterval>> mode_intervals(const std::vector<Mode>& initial,
                                                        const std::vector<Event>& events, double from, double to) {
  std::vector<std::vector<ReportInterval>> rows(initial.size());
  for (std::size_t law = 0; law < initial.size(); ++law) rows[law].push_back({from, to, initial[law]});
  for (const Event& event : events) {
    std::vector<ReportInterval>& row = rows[event.law];
    if (event.after == row.back().mode) continue;
    const double t = std::clamp(event.t, row.back().from, std::max(to, row.back().from));
    if (t == row.back().from) {
      row.back().mode = event.after;  // an interval of no length shows nothing
    } else {
      row.back().to = t;
      row.push_back({t, to, event.after});
    }
  }
  return rows;
}

ReportDocument simulation_report(const ResultHeader& header, const Simulation& simulation, double wall_seconds,
                                 const SimulationReportOptions& options) {
  const Trajectory& trajectory = simulation.trajectory;
  const TrajectoryNames& names = trajectory.names();
  ReportDocument document;
  document.title = header.title.empty() ? header.model : header.title;
  document.subtitle = header.title.empty() ? "" : header.model;
  document.generator = header.version.empty() ? "stickslip" : "stickslip " + header.version;
  document.ok = simulation.status == Status::success;
  document.status = std::string(to_string(simulation.status));
  if (!simulation.message.empty()) document.status += ": " + simulation.message;
  document.facts = {{"scheme", header.scheme},
                    {"steps", static_cast<double>(simulation.steps)},
                    {"inclusions solved", static_cast<double>(simulation.problems)},
                    {"end time", fmt::format("{:.6g} s", simulation.final.t)},
                    {"degrees of freedom", static_cast<double>(names.velocities.size())},
                    {"laws", static_cast<double>(names.laws.size())},
                    {"events", event_text(trajectory.events)},
                    {"wall time", fmt::format("{:.3g} s", wall_seconds)}};

  const Columns q{names.coordinates, [&](Index row, Index i) { return trajectory.q(row, i); }};
  const Columns v{velocity_columns(names), [&](Index row, Index i) { return trajectory.v(row, i); }};
  document.blocks.push_back(time_figure(trajectory, "Positions", {"position", "m, rad"}, {q}, options));
  document.blocks.push_back(time_figure(trajectory, "Velocities", {"velocity", "m/s, rad/s"}, {v}, options));
  if (!names.laws.empty()) {
    std::vector<Columns> forces = {{names.reactions, [&](Index row, Index i) { return trajectory.reaction(row, i); }}};
    if (names.smooth_part) {
      Columns smooth{names.reactions, [&](Index row, Index i) { return trajectory.smooth(row, i); }, true};
      for (std::string& name : smooth.names) name += ", smooth part";
      forces.push_back(std::move(smooth));
    }
    ReportFigure figure = time_figure(trajectory, "Reactions", {"mean force over the step", "N, N m"}, forces, options);
    document.blocks.push_back(std::move(figure));
    document.blocks.push_back(timeline(simulation, options));
  }
  document.blocks.push_back(energy_figure(trajectory, options));
  document.blocks.push_back(ReportAudit{"Audit", simulation.audit});
  document.blocks.push_back(final_state(simulation));
  return document;
}

}  // namespace stickslip
