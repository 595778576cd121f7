// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/simulation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "stickslip/io/csv_writer.hpp"

namespace stickslip {
namespace {

OutputRow output_row(const Trajectory& trajectory, Index row) {
  const TrajectoryNames& names = trajectory.names();
  OutputRow out;
  auto copy = [&](Vector& to, const std::vector<std::string>& columns, auto value) {
    to.resize(static_cast<Index>(columns.size()));
    for (Index i = 0; i < to.size(); ++i) to[i] = value(i);
  };
  out.t = trajectory.t(row);
  copy(out.q, names.coordinates, [&](Index i) { return trajectory.q(row, i); });
  copy(out.v, names.velocities, [&](Index i) { return trajectory.v(row, i); });
  copy(out.reaction, names.reactions, [&](Index i) { return trajectory.reaction(row, i); });
  if (names.smooth_part) copy(out.smooth, names.reactions, [&](Index i) { return trajectory.smooth(row, i); });
  out.energy = trajectory.energy(row);
  return out;
}

/// `count` of 0..n-1, evenly spread with both ends; all if there are no more.
std::vector<Index> spread(Index n, Index count) {
  std::vector<Index> chosen(std::min(n, std::max<Index>(count, 1)));
  for (Index i = 0; i < static_cast<Index>(chosen.size()); ++i)
    chosen[i] = n <= count ? i : (chosen.size() == 1 ? 0 : i * (n - 1) / (static_cast<Index>(chosen.size()) - 1));
  return chosen;
}

/// The columns of all figures, row by row.
struct ColumnTable {
  ColumnTable(const Trajectory& trajectory, const ReportUnits& units)
      : columns(trajectory.names(), units), width(columns.size()) {
    values.resize(static_cast<std::size_t>(trajectory.rows() * width));
    for (Index row = 0; row < trajectory.rows(); ++row)
      columns.evaluate(output_row(trajectory, row), std::span(values).subspan(row * width, width));
  }

  double operator()(Index row, Index column) const { return values[static_cast<std::size_t>(row * width + column)]; }
  Index rows() const { return width > 0 ? static_cast<Index>(values.size()) / width : 0; }
  /// Largest magnitude among [first, last).
  double size(Index first, Index last) const {
    double largest = 0;
    for (Index row = 0; row < rows(); ++row)
      for (Index column = first; column < last; ++column)
        if (const double value = std::abs((*this)(row, column)); std::isfinite(value))
          largest = std::max(largest, value);
    return largest;
  }
  bool is_zero(Index column) const {
    for (Index row = 0; row < rows(); ++row)
      if (const double value = (*this)(row, column); value != 0 && !std::isnan(value)) return false;
    return true;
  }

  ReportColumns columns;
  Index width;
  std::vector<double> values;
};

/// Columns of a figure that are drawn: not those that are 0 throughout and need not be told; of too many whole groups,
/// evenly spread.
std::vector<Index> shown_columns(const ReportColumnFigure& figure, Index first, const ColumnTable& table,
                                 Index largest) {
  std::vector<bool> left_out(figure.columns.size());
  for (std::size_t k = 0; k < left_out.size(); ++k)
    left_out[k] = figure.columns[k].zero_out && table.is_zero(first + static_cast<Index>(k));
  std::vector<std::vector<Index>> groups;
  for (std::size_t k = 0; k < left_out.size(); ++k) {
    const ReportColumn& column = figure.columns[k];
    if (left_out[k] || (column.shown_with >= 0 && left_out[static_cast<std::size_t>(column.shown_with)])) continue;
    const bool joins = !groups.empty() && !column.group.empty() &&
                       column.group == figure.columns[static_cast<std::size_t>(groups.back().back())].group;
    if (!joins) groups.emplace_back();
    groups.back().push_back(static_cast<Index>(k));
  }
  std::size_t widest = 1;
  for (const std::vector<Index>& group : groups) widest = std::max(widest, group.size());
  std::vector<Index> shown;
  for (const Index group :
       spread(static_cast<Index>(groups.size()), std::max<Index>(1, largest / static_cast<Index>(widest))))
    shown.insert(shown.end(), groups[group].begin(), groups[group].end());
  return shown;
}

/// A figure over time of the columns from `first` on.
ReportFigure time_figure(const Trajectory& trajectory, const ReportColumnFigure& source, Index first,
                         const ColumnTable& table, const SimulationReportOptions& options) {
  ReportFigure figure;
  figure.title = source.title;
  figure.link = "time";
  figure.x = {"time", "s"};
  figure.y = {source.quantity, source.unit};
  figure.groups = source.groups;
  const std::vector<Index> shown = shown_columns(source, first, table, options.series);
  const Index rows = trajectory.rows(), count = static_cast<Index>(shown.size()),
              points = std::clamp<Index>(options.figure_points / std::max<Index>(count, 1), 4, options.points);
  const bool thin = rows > points;
  if (!thin)
    for (Index row = 0; row < rows; ++row) figure.x_values.push_back(trajectory.t(row));
  std::string last_group;
  Index groups = 0, all_groups = 0;
  for (const ReportColumn& column : source.columns)
    if (std::exchange(last_group, column.group) != column.group) ++all_groups;
  last_group.clear();
  for (const Index k : shown) {
    const ReportColumn& column = source.columns[static_cast<std::size_t>(k)];
    if (std::exchange(last_group, column.group) != column.group) ++groups;
    ReportSeries series;
    series.name = column.name;
    series.group = column.group;
    series.dash = series.hidden = column.hidden;
    auto value = [&](Index row) { return table(row, first + k); };
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
  std::string left_out;
  if (groups < all_groups)
    left_out = fmt::format("{} of {} {} can be chosen, evenly spread. ", groups, all_groups, source.groups);
  else if (source.groups.empty() && count < static_cast<Index>(source.columns.size()) && count >= options.series)
    left_out = fmt::format("{} of {} columns are shown, evenly spread. ", count, source.columns.size());
  const Index all = std::max(rows, trajectory.rows_of_run);
  if (thin || all > rows)
    left_out += fmt::format(
        "Thinned from {} rows to at most {} points per curve: the lowest and the highest value of every {} rows. ", all,
        points, (all + points / 2 - 1) / (points / 2));
  if (!left_out.empty()) left_out += "trajectory.csv holds everything.";
  figure.note = source.note + (source.note.empty() || left_out.empty() ? "" : " ") + left_out;
  return figure;
}

/// One figure per quantity. The axis of a quantity is never stretched below what its size in this run deserves: that of
/// the largest value, and for a rate at least that of a change as large as the quantity over the whole run.
std::vector<ReportFigure> time_figures(const Trajectory& trajectory, const SimulationReportOptions& options) {
  const ColumnTable table(trajectory, options.units);
  const double duration = trajectory.rows() > 0 ? trajectory.t(trajectory.rows() - 1) - trajectory.t(0) : 0;
  std::vector<ReportFigure> figures;
  Index first = 0;
  for (const ReportColumnFigure& source : table.columns.figures()) {
    const Index next = first + static_cast<Index>(source.columns.size());
    ReportFigure figure = time_figure(trajectory, source, first, table, options);
    figure.y.size = std::max(table.size(first, next), source.natural_size);
    if (source.rate && duration > 0 && !figures.empty()) {
      ReportFigure& quantity = figures.back();
      const double rate = figure.y.size;
      figure.y.size = std::max(rate, quantity.y.size / duration);
      quantity.y.size = std::max(quantity.y.size, rate * duration);
    }
    figures.push_back(std::move(figure));
    first = next;
  }
  return figures;
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

/// What the run was made from: with it the run can be repeated.
ReportInputs inputs_of(const ResultHeader& header) {
  const RunInputs& inputs = header.inputs;
  ReportInputs block;
  block.rows = {{"model", header.model}, {"date", inputs.date}, {"version", header.version}};
  for (const auto& [name, text] : inputs.files) block.rows.push_back({"file", name});
  for (const std::string& part : inputs.parts) block.rows.push_back({"earlier part", part});
  block.settings = inputs.settings;
  for (const auto& [name, value] : inputs.parameters) block.parameters.push_back({name, value});
  block.model_text = inputs.model_text;
  return block;
}

std::string event_text(const EventCounts& counts) {
  struct Words {
    const char *one, *many;
  };
  constexpr std::array<Words, kEventKinds.size()> words = {{{"begins to stick", "begin to stick"},
                                                            {"begins to slip", "begin to slip"},
                                                            {"reversal", "reversals"},
                                                            {"opening", "openings"},
                                                            {"closing", "closings"},
                                                            {"impact", "impacts"},
                                                            {"change of facets", "changes of facets"}}};
  std::string parts;
  for (std::size_t k = 0; k < counts.size(); ++k)
    if (counts[k] > 0)
      parts +=
          fmt::format("{}{} {}", parts.empty() ? "" : ", ", counts[k], counts[k] == 1 ? words[k].one : words[k].many);
  return parts.empty() ? "none" : parts;
}

/// Value of an item of the audit; 0 where there is none.
double audited(const Simulation& simulation, std::string_view name) {
  for (const AuditItem& item : simulation.audit)
    if (item.name == name) return item.value;
  return 0;
}

/// Largest of the energies and works of a run.
double energy_size(const Trajectory& trajectory) {
  double size = 0;
  for (Index row = 0; row < trajectory.rows(); ++row) {
    const EnergyLedger& e = trajectory.energy(row);
    for (const double term : {e.kinetic, e.potential, e.work_in, e.friction_loss})
      size = std::max(size, std::abs(term));
  }
  return size;
}

/// What a reader should know before anything else.
std::vector<std::string> notes(const Simulation& simulation) {
  std::vector<std::string> out;
  const double steps = audited(simulation, "steps_with_contact_gain");
  if (steps > 0)
    out.push_back(
        fmt::format("Impacts made {:.3g} J ({:.3g} % of the largest energy or work) in {:g} step{}: Newton's "
                    "impact law with friction can, impact = \"energetic\" cannot.",
                    audited(simulation, "energy_impact_gain"), 100 * audited(simulation, "contact_gain"), steps,
                    steps == 1 ? "" : "s"));
  return out;
}

/// Laws have reactions of their own name, or with _n, _t1, _t2; what else reacts is a constraint.
bool constrained(const TrajectoryNames& names) {
  auto of_law = [&](const std::string& reaction) {
    return std::any_of(names.laws.begin(), names.laws.end(),
                       [&](const std::string& law) { return reaction == law || reaction.starts_with(law + "_"); });
  };
  return !std::all_of(names.reactions.begin(), names.reactions.end(), of_law);
}

/// What a reader wants to know before any curve, in words and with units.
std::vector<ReportFact> facts(const ResultHeader& header, const Simulation& simulation, double wall_seconds) {
  const Trajectory& trajectory = simulation.trajectory;
  const TrajectoryNames& names = trajectory.names();
  const Index rows = trajectory.rows();
  std::vector<ReportFact> out = {
      {"method", header.scheme},
      {"time simulated",
       fmt::format("{:.6g} to {:.6g} s", rows > 0 ? trajectory.t(0) : simulation.final.t, simulation.final.t)},
      {"time steps", static_cast<double>(simulation.steps)},
      {constrained(names) ? "coordinates" : "degrees of freedom", static_cast<double>(names.velocities.size())},
      {"friction laws and contacts", static_cast<double>(names.laws.size())},
      {"events", event_text(summary_data(header, simulation, wall_seconds).events)}};
  auto tell = [&](const char* label, const char* item) {
    // round-off of the energies of the run is not told
    if (const double value = audited(simulation, item); value > 1e-9 * energy_size(trajectory))
      out.push_back({label, fmt::format("{:.4g} J", value)});
  };
  tell("heat from friction", "energy_friction_loss");
  tell("lost in impacts", "energy_impact_loss");
  tell("made by impacts", "energy_impact_gain");
  out.push_back({"computing time", fmt::format("{:.3g} s", wall_seconds)});
  return out;
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
  document.notes = notes(simulation);
  document.facts = facts(header, simulation, wall_seconds);
  for (ReportFigure& figure : time_figures(trajectory, options)) {
    if (figure.title == "Energy balance" && !names.laws.empty())
      document.blocks.push_back(timeline(simulation, options));
    document.blocks.push_back(std::move(figure));
  }
  document.blocks.push_back(ReportAudit{"Audit", simulation.audit});
  document.blocks.push_back(final_state(simulation));
  if (!header.inputs.model_text.empty()) document.blocks.push_back(inputs_of(header));
  return document;
}

}  // namespace stickslip
