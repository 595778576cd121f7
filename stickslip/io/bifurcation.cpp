// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/bifurcation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/model_sweep.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/sweep/sweep.hpp"

namespace stickslip {

namespace {

const char* direction(const BifurcationPlan& plan, long index) { return plan.upward(index) ? "up" : "down"; }

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

/// Sizes first, then everything as numbers: modes and facets are small whole ones.
SweepBlock state_block(const State& state) {
  SweepBlock block{"state", {"value"}, {}};
  std::vector<double>& x = block.values;
  for (const std::size_t size : {static_cast<std::size_t>(state.q.size()), static_cast<std::size_t>(state.v.size()),
                                 static_cast<std::size_t>(state.z.size()), state.modes.size(), state.facets.size()})
    x.push_back(static_cast<double>(size));
  for (const Vector* part : {&state.q, &state.v, &state.z}) x.insert(x.end(), part->begin(), part->end());
  for (const Mode mode : state.modes) x.push_back(static_cast<double>(mode));
  for (const ActiveFacets& facets : state.facets)
    for (const int facet : {facets.first, facets.second}) x.push_back(facet);
  return block;
}

std::optional<State> state_of(const std::vector<SweepBlock>& blocks) {
  const auto block = std::find_if(blocks.begin(), blocks.end(), [](const SweepBlock& b) { return b.name == "state"; });
  if (block == blocks.end()) return std::nullopt;
  const double* at = block->values.data();
  const auto size = [&](int k) { return static_cast<Index>(block->values[static_cast<std::size_t>(k)]); };
  State state;
  at += 5;
  for (int k = 0; Vector * part : {&state.q, &state.v, &state.z}) {
    *part = Eigen::Map<const Vector>(at, size(k));
    at += size(k++);
  }
  for (Index k = 0; k < size(3); ++k) state.modes.push_back(static_cast<Mode>(static_cast<int>(*at++)));
  for (Index k = 0; k < size(4); ++k, at += 2)
    state.facets.push_back({static_cast<int>(at[0]), static_cast<int>(at[1])});
  return state;
}

/// Gathers points from the rows of a run.
class Section {
 public:
  Section(std::size_t column, bool strobe, double from) : column_(column), strobe_(strobe), from_(from) {}
  void add(const OutputRow& row) {
    const auto nq = static_cast<std::size_t>(row.q.size());
    const double x = column_ < nq ? row.q[static_cast<Index>(column_)] : row.v[static_cast<Index>(column_ - nq)];
    if (strobe_) {
      if (row.t > from_) points.push_back(x);
      return;
    }
    if (rows_ >= 2 && row.t > from_ && before_ < last_ && last_ >= x) points.push_back(last_);
    before_ = last_;
    last_ = x;
    ++rows_;
  }
  std::vector<double> points;

 private:
  std::size_t column_;
  bool strobe_;
  double from_;  // [s]
  double before_ = 0, last_ = 0;
  long rows_ = 0;
};

}  // namespace

BifurcationPlan BifurcationPlan::parse(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::vector<std::string_view> parts;
  if (equals != std::string::npos && equals > 0) split_fields(std::string_view(text).substr(equals + 1), ':', parts);
  const auto from = parts.size() == 3 ? parse_finite_number(parts[0]) : std::nullopt;
  const auto to = parts.size() == 3 ? parse_finite_number(parts[1]) : std::nullopt;
  const auto count = parts.size() == 3 ? parse_integer(parts[2]) : std::nullopt;
  if (!from || !to || !count)
    throw InputError(
        fmt::format("--over {}: write KEY=FROM:TO:COUNT with at least two values, as omega=0.5:2:200", text));
  BifurcationPlan plan;
  plan.key = text.substr(0, equals);
  plan.from = *from;
  plan.to = *to;
  plan.count = static_cast<long>(*count);
  plan.validate();
  return plan;
}

void BifurcationPlan::validate() const {
  constexpr long kMostValues = 1'000'000;
  const auto fail = [&](const std::string& why) {
    throw InputError(fmt::format("{} from {} to {}: {}", key, from, to, why));
  };
  if (!std::isfinite(from) || !std::isfinite(to) || from == to) fail("give two different ends");
  if (count < 2 || count > kMostValues) fail(fmt::format("{} values; it must be from 2 to {}", count, kMostValues));
  if (transient < 0 || record < 1)
    fail(fmt::format("transient = {} must be >= 0, record = {} >= 1", transient, record));
}

BifurcationRunner::BifurcationRunner(const ModelFile& model, BifurcationPlan plan, StopRequest stop)
    : plan_(std::move(plan)), base_(without_sweep(model)), stop_(stop) {
  if (!model.has_run)
    throw InputError(fmt::format("{}: there is no [run] table; add one with the scheme and its step", model.path));
  column_ = observed_column(model, plan_.observed);
  strobe_ = model.periodic && !plan_.peaks;
  with_overrides(base_, std::vector<std::string>{sweep_setting(base_, plan_.key, plan_.from)});  // mistakes show here
}

SweepRecord BifurcationRunner::settle(long index, const State* before) const {
  SweepRecord record;
  record.index = index;
  const double value = plan_.value_of(index);
  try {
    const ModelFile model = with_overrides(base_, std::vector<std::string>{sweep_setting(base_, plan_.key, value)});
    SimulationOptions options = model.run;
    const double span = options.end_time - options.start_time;
    if (options.steps > 0) options.step = span / static_cast<double>(std::exchange(options.steps, 0));
    const int parts = plan_.transient + plan_.record;
    const double unit = model.periodic ? model.periodic->options.motion_period() : span / parts;
    options.end_time = options.start_time + parts * unit;
    const double recorded_from = options.start_time + plan_.transient * unit;
    options.output_step = 0;
    options.output_times.clear();
    for (int k = 1; strobe_ && k <= plan_.record; ++k)
      options.output_times.push_back(std::min(options.end_time, recorded_from + k * unit));
    State initial = before ? *before : model.initial;
    initial.t = options.start_time;
    Section section(column_, strobe_, recorded_from);
    SimulationHooks hooks;
    hooks.stop = stop_;
    hooks.keep_trajectory = false;
    hooks.on_row = [&](const OutputRow& row) { section.add(row); };
    const Simulation s = simulate(*model.system, initial, options, hooks);
    record.status = s.status;
    record.message = s.message;
    if (s.status == Status::success)
      record.blocks = {{"points", {"point"}, std::move(section.points)}, state_block(s.final)};
  } catch (const InputError& error) {
    record.status = Status::refused;
    record.message = error.what();
  }
  if (record.status != Status::success) record.message = fmt::format("{} = {}: {}", plan_.key, value, record.message);
  return record;
}

Status BifurcationRunner::follow(SweepJournal& journal, const std::function<void(long)>& progress) const {
  std::mutex mutex;
  const auto follow_one = [&](long side) {
    std::optional<State> before;
    for (long index = side * plan_.count; index < (side + 1) * plan_.count && !raised(stop_); ++index) {
      bool known = false;
      {
        const std::lock_guard lock(mutex);
        known = journal.rows()[static_cast<std::size_t>(index)].done;
        if (known)
          if (auto state = state_of(journal.blocks(index))) before = std::move(state);
      }
      if (known) continue;
      SweepRecord record = settle(index, before ? &*before : nullptr);
      if (record.status == Status::interrupted) break;
      // After a failure the next value goes on from the last that succeeded.
      if (auto state = state_of(record.blocks)) before = std::move(state);
      std::vector<SweepRecord> records;
      records.push_back(std::move(record));
      const std::lock_guard lock(mutex);
      journal.append(std::move(records));
    }
    return SweepRecord{};
  };
  SweepHooks hooks;
  hooks.progress = [&](long) {
    const std::lock_guard lock(mutex);
    if (progress) progress(journal.done());
  };
  run_sweep({{0, 1}, follow_one}, {2, stop_}, hooks);
  return journal.done() < plan_.records() ? Status::interrupted : Status::success;
}

std::vector<double> bifurcation_points(const std::vector<SweepBlock>& blocks) {
  for (const SweepBlock& block : blocks)
    if (block.name == "points") return block.values;
  return {};
}

std::string bifurcation_csv(const BifurcationPlan& plan, const SweepJournal& journal) {
  std::string text = fmt::format("direction,{},{}\n", csv_cell(plan.key), csv_cell(plan.observed));
  for (long index = 0; index < plan.records(); ++index)
    for (const double point : bifurcation_points(journal.blocks(index)))
      text += fmt::format("{},{},{}\n", direction(plan, index), plan.value_of(index), point);
  return text;
}

ReportFigure bifurcation_figure(const BifurcationRunner& runner, const SweepJournal& journal) {
  const BifurcationPlan& plan = runner.plan();
  ReportFigure figure;
  figure.title = fmt::format("Bifurcation diagram of {}", plan.observed);
  figure.note = runner.strobe() ? "One point per period, after the transient." : "Peaks after the transient.";
  figure.x = {plan.key, "", false};
  figure.y = {plan.observed, "", false};
  for (const long side : {0L, 1L}) {
    ReportSeries series{direction(plan, side * plan.count), {}, {}, false, true, false, false};
    for (long index = side * plan.count; index < (side + 1) * plan.count; ++index)
      for (const double point : bifurcation_points(journal.blocks(index))) {
        series.x.push_back(plan.value_of(index));
        series.y.push_back(point);
      }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

BifurcationEnd bifurcation_end(const BifurcationPlan& plan, const SweepJournal& journal) {
  BifurcationEnd end;
  end.done = journal.done();
  for (long index = 0; index < plan.records(); ++index) {
    const SweepRow& row = journal.rows()[static_cast<std::size_t>(index)];
    end.points += static_cast<long>(bifurcation_points(journal.blocks(index)).size());
    if (!row.done || row.status == Status::success) continue;
    ++end.failed;
    if (end.message.empty()) end.message = row.message;
  }
  if (end.failed > 0) {
    end.status = "failures";
    end.message =
        fmt::format("{} of {} values ended without success, the first: {}", end.failed, plan.records(), end.message);
  }
  if (end.done < plan.records()) {
    end.status = "interrupted";
    end.message =
        fmt::format("stopped after {} of {} values; the same command goes on from there", end.done, plan.records());
  }
  return end;
}

std::string bifurcation_json(const BifurcationRunner& runner, const ResultHeader& header, const BifurcationEnd& end) {
  using nlohmann::ordered_json;
  const BifurcationPlan& plan = runner.plan();
  const ordered_json json{{"status", end.status},
                          {"message", end.message},
                          {"title", header.title},
                          {"model", header.model},
                          {"parameter", plan.key},
                          {"from", plan.from},
                          {"to", plan.to},
                          {"values", plan.count},
                          {"observed", plan.observed},
                          {"sampling", runner.strobe() ? "period" : "peaks"},
                          {"transient", plan.transient},
                          {"record", plan.record},
                          {"points", end.points},
                          {"done", end.done},
                          {"failed", end.failed},
                          {"resumed", end.resumed},
                          {"wall_seconds", end.wall_seconds},
                          {"version", header.version},
                          {"date", header.inputs.date},
                          {"set", header.inputs.settings},
                          {"model_text", header.inputs.model_text}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ReportDocument bifurcation_report(const BifurcationRunner& runner, const SweepJournal& journal,
                                  const ResultHeader& header, const BifurcationEnd& end) {
  ReportDocument page;
  page.title = header.title.empty() ? header.model : header.title;
  page.subtitle = "bifurcation diagram";
  page.generator = "stickslip " + header.version;
  page.ok = end.ok();
  page.status = end.ok() ? end.status : fmt::format("{}: {}", end.status, end.message);
  page.facts = {{"values", static_cast<double>(runner.plan().count)},
                {"points", static_cast<double>(end.points)},
                {"wall time [s]", end.wall_seconds}};
  page.blocks = {bifurcation_figure(runner, journal)};
  return page;
}

std::string bifurcation_identity(const BifurcationRunner& runner, const std::string& version) {
  const BifurcationPlan& plan = runner.plan();
  const ModelFile& model = runner.model();
  const nlohmann::json identity{{"command", "bifurcation"},  {"version", version},
                                {"model_text", model.text},  {"settings", model.settings},
                                {"files", model.files},      {"over", {plan.key, plan.from, plan.to, plan.count}},
                                {"observed", plan.observed}, {"transient", plan.transient},
                                {"record", plan.record},     {"strobe", runner.strobe()}};
  return identity.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace stickslip
