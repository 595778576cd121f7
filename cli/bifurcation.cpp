// SPDX-License-Identifier: Apache-2.0
// What a motion settles on, over a number of the model: the attractor is followed upward and downward, each value from
// the state in which the one before ended, so that where two attractors exist both show.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/result_folder.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/model_sweep.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_header.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/sweep/sweep.hpp"

namespace stickslip::cli {

namespace {

struct Range {
  std::string key;
  double from = 0, to = 0;
  long count = 0;
  double value(long k) const { return from + (to - from) * static_cast<double>(k) / static_cast<double>(count - 1); }
};

Range read_range(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::vector<std::string_view> parts;
  if (equals != std::string::npos && equals > 0) split_fields(std::string_view(text).substr(equals + 1), ':', parts);
  const auto from = parts.size() == 3 ? parse_finite_number(parts[0]) : std::nullopt;
  const auto to = parts.size() == 3 ? parse_finite_number(parts[1]) : std::nullopt;
  const auto count = parts.size() == 3 ? parse_integer(parts[2]) : std::nullopt;
  if (!from || !to || !count || *count < 2 || *from == *to)
    throw InputError(fmt::format("--over {}: write KEY=FROM:TO:COUNT with at least two values, as omega=0.5:2:200", text));
  return {text.substr(0, equals), *from, *to, static_cast<long>(*count)};
}

/// Positions, then velocities.
std::size_t observed_column(const ModelFile& model, std::string& name) {
  const TrajectoryNames names = trajectory_names(*model.system, model.run);
  std::vector<std::string> columns = names.coordinates;
  for (std::string& velocity : velocity_columns(names)) columns.push_back(std::move(velocity));
  if (name.empty()) name = columns.at(0);
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end())
    throw InputError(fmt::format("--observe {}: the model has no such column{}", name, name_hint(name, columns)));
  return static_cast<std::size_t>(found - columns.begin());
}

struct Section {
  std::size_t column = 0;
  int transient = 50, record = 50;  ///< periods, or parts of the run where there is no period
  bool strobe = false;              ///< once per period; else peaks
};

/// Points of one value, and the state it ends in.
struct Settled {
  std::vector<double> points;
  State final;
  Status status = Status::success;
  std::string message;
};

Settled settle(const ModelFile& model, const Section& section, const State* before, StopRequest stop) {
  SimulationOptions options = model.run;
  const double span = options.end_time - options.start_time;
  if (options.steps > 0) {
    options.step = span / static_cast<double>(options.steps);
    options.steps = 0;
  }
  const double unit = model.periodic ? model.periodic->options.motion_period() : span / (section.transient + section.record);
  options.end_time = options.start_time + (section.transient + section.record) * unit;
  const double recorded_from = options.start_time + section.transient * unit;
  options.output_step = 0;
  options.output_times.clear();
  if (section.strobe)
    for (int k = 1; k <= section.record; ++k) options.output_times.push_back(std::min(options.end_time, recorded_from + k * unit));
  State initial = before ? *before : model.initial;
  initial.t = options.start_time;
  Settled settled;
  std::vector<double> last;  // of the column: two rows back, one row back
  SimulationHooks hooks;
  hooks.stop = stop;
  hooks.keep_trajectory = false;
  hooks.on_row = [&](const OutputRow& row) {
    const auto nq = static_cast<std::size_t>(row.q.size());
    const double x = section.column < nq ? row.q[static_cast<Index>(section.column)]
                                         : row.v[static_cast<Index>(section.column - nq)];
    if (section.strobe) {
      if (row.t > recorded_from) settled.points.push_back(x);
      return;
    }
    if (last.size() == 2 && row.t > recorded_from && last[0] < last[1] && last[1] >= x) settled.points.push_back(last[1]);
    last.push_back(x);
    if (last.size() > 2) last.erase(last.begin());
  };
  const Simulation s = simulate(*model.system, initial, options, hooks);
  settled.status = s.status;
  settled.message = s.message;
  settled.final = s.final;
  return settled;
}

/// Upward (index 0) or downward (1): rows (value, point), and of failures a message.
SweepRecord follow(const ModelFile& base, const Range& range, const Section& section, long index, StopRequest stop) {
  SweepRecord record;
  record.index = index;
  record.names = std::make_shared<const std::vector<std::string>>();
  SweepBlock block{"points", {"value", "point"}, {}};
  std::optional<State> before;
  for (long k = 0; k < range.count && !raised(stop); ++k) {
    const double value = range.value(index == 0 ? k : range.count - 1 - k);
    Settled settled;
    try {
      const ModelFile model = with_overrides(base, std::vector<std::string>{sweep_setting(base, range.key, value)});
      settled = settle(model, section, before ? &*before : nullptr, stop);
    } catch (const InputError& error) {
      settled.status = Status::refused;
      settled.message = error.what();
    }
    if (settled.status == Status::interrupted) break;  // what was found on the way is kept: the record is no interrupted one
    if (settled.status != Status::success) {
      record.status = settled.status;
      record.message = fmt::format("{} = {}: {}", range.key, value, settled.message);
      continue;  // the next one goes on from the last that succeeded
    }
    before = settled.final;
    for (const double point : settled.points)
      for (const double x : {value, point}) block.values.push_back(x);
  }
  record.blocks = {std::move(block)};
  return record;
}

constexpr std::array kDirections{"up", "down"};

ReportFigure figure_of(const std::vector<SweepRecord>& records, const Range& range, const std::string& observed, bool strobe) {
  ReportFigure figure;
  figure.title = fmt::format("Bifurcation diagram of {}", observed);
  figure.note = strobe ? "One point per period, after the transient." : "Peaks after the transient.";
  figure.x = {range.key, "", false};
  figure.y = {observed, "", false};
  for (const SweepRecord& record : records) {
    ReportSeries series{kDirections[static_cast<std::size_t>(record.index)], {}, {}, false, true, false, false};
    const std::vector<double>& values = record.blocks[0].values;
    for (std::size_t k = 0; k + 1 < values.size(); k += 2) {
      series.x.push_back(values[k]);
      series.y.push_back(values[k + 1]);
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

std::string points_csv(const std::vector<SweepRecord>& records, const Range& range, const std::string& observed) {
  std::string text = fmt::format("direction,{},{}\n", csv_cell(range.key), csv_cell(observed));
  for (const SweepRecord& record : records)
    for (std::size_t k = 0; k + 1 < record.blocks[0].values.size(); k += 2)
      text += fmt::format("{},{},{}\n", kDirections[static_cast<std::size_t>(record.index)], record.blocks[0].values[k],
                          record.blocks[0].values[k + 1]);
  return text;
}

}  // namespace

int bifurcation(const BifurcationCommand& command) {
  const Range range = read_range(command.over);
  const ModelFile model = read_model(command.model, command.set);
  if (!model.has_run)
    throw InputError(fmt::format("{}: there is no [run] table; add one with the scheme and its step", model.path));
  const ModelFile base = without_sweep(model);
  with_overrides(base, std::vector<std::string>{sweep_setting(base, range.key, range.from)});  // mistakes show here
  std::string observed = command.observe;
  Section section{observed_column(model, observed), command.transient, command.record, model.periodic && !command.peaks};
  ResultFolder folder(command.out.empty() ? std::filesystem::path(command.model).stem().string() + "-bifurcation" : command.out);
  catch_interrupts();
  const auto begin = std::chrono::steady_clock::now();
  std::vector<SweepRecord> records;
  SweepHooks hooks;
  hooks.on_records = [&](std::vector<SweepRecord>&& found) {
    for (SweepRecord& record : found) records.push_back(std::move(record));
  };
  const SweepSolution solution =
      run_sweep({{0, 1}, [&](long index) { return follow(base, range, section, index, interrupt_request()); }},
                {2, interrupt_request()}, hooks);
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::string message;
  for (const SweepRecord& record : records)
    if (!record.message.empty()) message = record.message;
  const bool stopped = solution.status == Status::interrupted || interrupted();
  if (stopped) message = "stopped on the way; what was found is kept";
  const ResultHeader header = result_header(model, command.model);
  const bool ok = message.empty();
  long points = 0;
  for (const SweepRecord& record : records) points += static_cast<long>(record.blocks[0].values.size() / 2);
  const std::string status = ok ? "success" : stopped ? "interrupted" : "failures";
  const std::string json = nlohmann::ordered_json{{"status", status},
                                                  {"message", message},
                                                  {"model", command.model},
                                                  {"parameter", range.key},
                                                  {"from", range.from},
                                                  {"to", range.to},
                                                  {"values", range.count},
                                                  {"observed", observed},
                                                  {"sampling", section.strobe ? "period" : "peaks"},
                                                  {"points", points},
                                                  {"wall_seconds", wall},
                                                  {"version", header.version},
                                                  {"date", header.inputs.date},
                                                  {"set", header.inputs.settings},
                                                  {"model_text", header.inputs.model_text}}
                               .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                           "\n";
  folder.open_cleared();
  write_text_file(folder.path() / "summary.json", json);
  write_text_file(folder.path() / "bifurcation.csv", points_csv(records, range, observed));
  ReportDocument page;
  page.title = header.title.empty() ? header.model : header.title;
  page.subtitle = "bifurcation diagram";
  page.generator = "stickslip " + header.version;
  page.ok = ok;
  page.status = ok ? status : fmt::format("{}: {}", status, message);
  page.facts = {{"values", static_cast<double>(range.count)}, {"points", static_cast<double>(points)}, {"wall time [s]", wall}};
  page.blocks = {figure_of(records, range, observed, section.strobe)};
  write_report(folder.path() / "report.html", page);
  if (command.json) {
    write_out(json);
  } else {
    print_out("{}\n  {} of {} over {}, {} values up and down: {} points in {:.3g} s\n  results: {}\n", page.title,
              section.strobe ? "one point per period" : "peaks", observed, range.key, range.count, points, wall,
              folder.path().string());
    if (!ok) print_error("stickslip: {}\n", message);
  }
  return ok ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
