// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/sweep_outputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/boundary_case.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/model_case.hpp"
#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/periodic_result.hpp"
#include "stickslip/io/summary.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip {

namespace {

/// First words of the names of an analysis; with a dot: more follows.
const std::vector<std::string>& known_outputs(SweepAnalysis analysis) {
  static const std::vector<std::string> run{
      "final.position.", "final.velocity.", "final.reaction.", "final.internal.", "minimum.", "maximum.",    "mean.",
      "events.",         "audit.",          "steps",           "problems",        "end_time", "wall_seconds"};
  static const std::vector<std::string> periodic{"period",          "amplitude.",  "minimum.", "maximum.",
                                                 "stick_fraction.", "multiplier",  "stable",   "residual",
                                                 "iterations",      "wall_seconds"};
  static const std::vector<std::string> shoot{"unknowns.", "residual", "iterations", "runs", "wall_seconds"};
  static const std::vector<std::string> fit{"unknowns.", "standard_errors.", "rms", "chi_square", "iterations",
                                            "runs",      "wall_seconds"};
  switch (analysis) {
    case SweepAnalysis::run:
      return run;
    case SweepAnalysis::periodic:
      return periodic;
    case SweepAnalysis::shoot:
      return shoot;
    case SweepAnalysis::fit:
      break;
  }
  return fit;
}

/// Numbers with names, those alone that are kept.
class Outputs {
 public:
  explicit Outputs(const std::vector<std::string>& keep)
      : keep_(keep), names_(std::make_shared<std::vector<std::string>>()) {}

  /// Something whose name begins with `front` ("final.position.") is kept.
  bool wants(std::string_view front) const {
    const std::string_view bare = front.ends_with('.') ? front.substr(0, front.size() - 1) : front;
    return std::any_of(keep_.begin(), keep_.end(), [&](const std::string& kept) {
      return covers(kept, bare) || std::string_view(kept).starts_with(front);
    });
  }
  void add(std::string name, double value) {
    if (std::none_of(keep_.begin(), keep_.end(), [&](const std::string& kept) { return covers(kept, name); })) return;
    names_->push_back(std::move(name));
    values_.push_back(value);
  }
  template <class Values>
  void add_list(std::string_view front, const std::vector<std::string>& names, const Values& values) {
    if (!wants(front)) return;
    const std::size_t count = std::min(names.size(), static_cast<std::size_t>(values.size()));
    for (std::size_t k = 0; k < count; ++k) add(fmt::format("{}{}", front, names[k]), values[static_cast<Index>(k)]);
  }
  void into(SweepRecord& record) {
    record.names = std::move(names_);
    record.values = std::move(values_);
  }

 private:
  /// name is `kept`, or begins with it and a dot.
  static bool covers(std::string_view kept, std::string_view name) {
    return name.starts_with(kept) && (name.size() == kept.size() || name[kept.size()] == '.');
  }
  const std::vector<std::string>& keep_;
  std::shared_ptr<std::vector<std::string>> names_;
  std::vector<double> values_;
};

/// Least, greatest and mean of every column over the rows of a run.
class ColumnRange {
 public:
  explicit ColumnRange(std::size_t columns)
      : least_(columns, HUGE_VAL), greatest_(columns, -HUGE_VAL), area_(columns, 0), last_(columns, 0) {}

  void add(const OutputRow& row) {
    std::size_t k = 0;
    for (const Vector* part : {&row.q, &row.v, &row.reaction})
      for (const double x : *part) take(k++, x, row.t);
    if (!begun_) first_t_ = row.t;
    begun_ = true;
    last_t_ = row.t;
  }
  void into(Outputs& outputs, const std::vector<std::string>& names) const {
    if (!begun_) return;
    outputs.add_list("minimum.", names, Eigen::Map<const Vector>(least_.data(), size()));
    outputs.add_list("maximum.", names, Eigen::Map<const Vector>(greatest_.data(), size()));
    Vector mean = Eigen::Map<const Vector>(area_.data(), size()) / (last_t_ - first_t_);
    outputs.add_list("mean.", names, mean);
  }

 private:
  Index size() const { return static_cast<Index>(least_.size()); }
  void take(std::size_t k, double x, double t) {
    if (k >= least_.size()) return;
    least_[k] = std::min(least_[k], x);
    greatest_[k] = std::max(greatest_[k], x);
    if (begun_) area_[k] += 0.5 * (x + last_[k]) * (t - last_t_);
    last_[k] = x;
  }
  std::vector<double> least_, greatest_, area_, last_;
  double first_t_ = 0, last_t_ = 0;
  bool begun_ = false;
};

/// Coordinates, velocities and reactions, as columns of trajectory.csv.
std::vector<std::string> column_names(const TrajectoryNames& names) {
  std::vector<std::string> columns = names.coordinates;
  for (std::string& name : velocity_columns(names)) columns.push_back(std::move(name));
  for (const std::string& name : names.reactions) columns.push_back("r_" + name);
  return columns;
}

SweepBlock trajectory_block(const Trajectory& trajectory) {
  const TrajectoryNames& names = trajectory.names();
  SweepBlock block{"trajectory", {"t"}, {}};
  for (std::string& name : column_names(names)) block.columns.push_back(std::move(name));
  const Index nq = static_cast<Index>(names.coordinates.size()), nv = static_cast<Index>(names.velocities.size()),
              m = static_cast<Index>(names.reactions.size());
  for (Index row = 0; row < trajectory.rows(); ++row) {
    block.values.push_back(trajectory.t(row));
    for (Index i = 0; i < nq; ++i) block.values.push_back(trajectory.q(row, i));
    for (Index i = 0; i < nv; ++i) block.values.push_back(trajectory.v(row, i));
    for (Index i = 0; i < m; ++i) block.values.push_back(trajectory.reaction(row, i));
  }
  return block;
}

/// t, number of the law, number of the kind (order of kEventKinds).
SweepBlock events_block(const std::vector<Event>& events) {
  SweepBlock block{"events", {"t", "law", "kind"}, {}};
  for (const Event& event : events)
    for (const double x : {event.t, static_cast<double>(event.law), static_cast<double>(event.kind)})
      block.values.push_back(x);
  return block;
}

void analyse_run(const ModelFile& model, const SweepSection& section, StopRequest stop, Outputs& outputs,
                 SweepRecord& record) {
  const TrajectoryNames names = trajectory_names(*model.system, model.run);
  SimulationHooks hooks;
  hooks.stop = stop;
  hooks.keep_going = [stop](const State&) { return !raised(stop); };
  hooks.keep_trajectory = section.everything;
  std::optional<ColumnRange> range;
  if (outputs.wants("minimum.") || outputs.wants("maximum.") || outputs.wants("mean.")) {
    range.emplace(names.coordinates.size() + names.velocities.size() + names.reactions.size());
    hooks.on_row = [&](const OutputRow& row) { range->add(row); };
  }
  const Simulation s = model.run.sensitivities.empty() ? simulate(*model.system, model.initial, model.run, hooks)
                                                       : make_case(model).run(hooks);
  record.status = s.status;
  record.message = s.message;
  outputs.add_list("final.position.", names.coordinates, s.final.q);
  outputs.add_list("final.velocity.", names.velocities, s.final.v);
  outputs.add_list("final.reaction.", names.reactions, s.final_reaction);
  if (const auto internal = describe(model.run.scheme).internal; internal && outputs.wants("final.internal."))
    outputs.add_list("final.internal.", internal(*model.system), s.final.z);
  if (range) range->into(outputs, column_names(names));
  if (outputs.wants("events."))
    for (std::size_t k = 0; k < kEventKinds.size(); ++k)
      outputs.add(fmt::format("events.{}", to_string(kEventKinds[k])), static_cast<double>(s.event_counts[k]));
  if (outputs.wants("audit."))
    for (const AuditItem& item : s.audit) outputs.add(fmt::format("audit.{}", item.name), item.value);
  outputs.add("steps", static_cast<double>(s.steps));
  outputs.add("problems", static_cast<double>(s.problems));
  outputs.add("end_time", s.final.t);
  if (section.everything) record.blocks = {trajectory_block(s.trajectory), events_block(s.trajectory.events)};
}

/// The multiplier 1 of an autonomous orbit says nothing of its stability.
double largest_multiplier(const PeriodicSolution& s, bool autonomous) {
  std::vector<double> moduli;
  std::size_t nearest = 0;
  for (const auto& value : s.multipliers) {
    if (std::abs(value - 1.0) < std::abs(s.multipliers[static_cast<Index>(nearest)] - 1.0)) nearest = moduli.size();
    moduli.push_back(std::abs(value));
  }
  if (autonomous && !moduli.empty()) moduli.erase(moduli.begin() + static_cast<long>(nearest));
  return moduli.empty() ? NAN : *std::max_element(moduli.begin(), moduli.end());
}

void analyse_periodic(const ModelFile& model, const SweepSection& section, StopRequest stop, Outputs& outputs,
                      SweepRecord& record) {
  State initial = model.initial;
  initial.t = model.run.start_time;
  const PeriodicOptions& options = model.periodic->options;
  std::optional<Orbit> start;
  if (options.start == PeriodicStart::file) start = read_orbit(options.start_file, *model.system);
  const double length = model.has_run ? model.run.end_time - model.run.start_time : 0;
  const PeriodicSolution s = solve_periodic(
      {*model.system, initial, options, length, model.run.event, start ? &*start : nullptr, {}}, {stop, {}, true});
  record.status = s.status;
  record.message = s.message;
  const TrajectoryNames names = trajectory_names(*model.system, false);
  outputs.add("period", s.period);
  outputs.add_list("amplitude.", names.coordinates, s.amplitude());
  outputs.add_list("minimum.", names.coordinates, s.orbit.minimum);
  outputs.add_list("maximum.", names.coordinates, s.orbit.maximum);
  outputs.add_list("stick_fraction.", names.laws, s.orbit.stick_fraction);
  outputs.add("multiplier", largest_multiplier(s, options.autonomous));
  outputs.add("stable", s.stable ? (*s.stable ? 1 : 0) : NAN);
  outputs.add("residual", s.residual);
  outputs.add("iterations", s.iterations);
  if (!section.everything) return;
  SweepBlock block{"orbit", {"t"}, {}};
  for (const std::string& name : names.coordinates) block.columns.push_back(name);
  for (std::string& name : velocity_columns(names)) block.columns.push_back(std::move(name));
  for (std::size_t k = 0; k < s.orbit.t.size(); ++k) {
    block.values.push_back(s.orbit.t[k]);
    block.values.insert(block.values.end(), s.orbit.q[k].begin(), s.orbit.q[k].end());
    block.values.insert(block.values.end(), s.orbit.v[k].begin(), s.orbit.v[k].end());
  }
  record.blocks = {std::move(block)};
}

std::vector<std::string> names_of(const std::vector<Unknown>& unknowns) {
  std::vector<std::string> names;
  for (const Unknown& unknown : unknowns) names.push_back(unknown.name);
  return names;
}

void analyse_shoot(const ModelFile& model, StopRequest stop, Outputs& outputs, SweepRecord& record) {
  const ShootingProblem problem = shooting_problem(model);
  ShootingOptions options = model.shoot->options;
  options.stop = stop;
  const ShootingSolution s = shoot(problem, options);
  record.status = s.status;
  record.message = s.message;
  outputs.add_list("unknowns.", names_of(problem.unknowns), s.unknowns);
  outputs.add("residual", s.history.empty() ? NAN : s.residual);
  outputs.add("iterations", s.iterations);
  outputs.add("runs", static_cast<double>(s.runs));
}

void analyse_fit(const ModelFile& model, const MeasurementTable& data, StopRequest stop, Outputs& outputs,
                 SweepRecord& record) {
  const FitProblem problem = fit_problem(model, data);
  FitOptions options = model.fit->options;
  options.stop = stop;
  const FitSolution s = fit(problem, options);
  record.status = s.status;
  record.message = s.message;
  outputs.add_list("unknowns.", names_of(problem.unknowns), s.unknowns);
  outputs.add_list("standard_errors.", names_of(problem.unknowns), s.standard_errors);
  outputs.add("rms", s.standard_errors.size() > 0 ? s.rms : NAN);
  outputs.add("chi_square", s.chi_square);
  outputs.add("iterations", s.iterations);
  outputs.add("runs", static_cast<double>(s.runs));
}

/// The table of the analysis must be there before a thousand runs say so.
void require_table(const ModelFile& model, SweepAnalysis analysis) {
  const bool there = analysis == SweepAnalysis::run        ? model.has_run
                     : analysis == SweepAnalysis::periodic ? model.periodic.has_value()
                     : analysis == SweepAnalysis::shoot    ? model.shoot.has_value()
                                                           : model.fit.has_value();
  if (!there)
    throw InputError(fmt::format("{}: sweep.analysis = \"{}\", but there is no [{}] table; add one", model.path,
                                 to_string(analysis), to_string(analysis)));
}

/// What is kept of each run must fit, whatever the runs themselves need.
void require_memory(long runs) {
  constexpr double kBytes = 512;  // of a row with a few numbers, of the plan, and of the texts made of them
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double needed = kBytes * static_cast<double>(runs);
  if (needed > there)
    throw InputError(
        fmt::format("these are {:g} runs, whose results take {:.3g} GB; this machine has {:.3g} GB: give fewer values, "
                    "or sweep in parts",
                    static_cast<double>(runs), needed / 1e9, there / 1e9));
}

}  // namespace

std::vector<std::string> usual_outputs(SweepAnalysis analysis) {
  switch (analysis) {
    case SweepAnalysis::run:
      return {"final.position", "final.velocity", "events", "steps"};
    case SweepAnalysis::periodic:
      return {"period", "amplitude", "stick_fraction", "multiplier", "stable", "residual"};
    case SweepAnalysis::shoot:
      return {"unknowns", "residual", "iterations"};
    case SweepAnalysis::fit:
      break;
  }
  return {"unknowns", "standard_errors", "rms", "iterations"};
}

void require_output(SweepAnalysis analysis, const std::string& name) {
  std::vector<std::string> words;
  for (const std::string& known : known_outputs(analysis)) {
    // "final" and "final.position.x" both belong to "final.position."
    const bool more = known.ends_with('.');
    if (name == known || (more && (name.starts_with(known) || known.starts_with(name + ".")))) return;
    words.push_back(more ? known.substr(0, known.size() - 1) : known);
  }
  throw InputError(fmt::format("'{}' is no result of {}{}", name, to_string(analysis), name_hint(name, words)));
}

SweepRunner::SweepRunner(const ModelFile& model, SweepSection section, StopRequest stop)
    : section_(std::move(section)), plan_(section_.axes, section_.plan), base_(without_sweep(model)), stop_(stop) {
  require_table(model, section_.analysis);
  require_memory(plan_.size());
  if (section_.analysis == SweepAnalysis::fit) {
    if (base_.fit->data.empty())
      throw InputError(fmt::format("{}: which data are fitted? Name a CSV file in [fit], data = \"..\"", base_.path));
    constexpr std::size_t kLargestData = 1024 * kMebibyte;
    data_text_ = read_text_file(base_.fit->data, kLargestData);
    data_ = parse_measurements(data_text_, base_.fit->data);
  }
  require_keys();
}

void SweepRunner::require_keys() const {
  TomlNode root = *base_.document;
  for (std::size_t k = 0; k < section_.axes.size(); ++k) {
    const std::string& key = section_.axes[k].key;
    try {
      const std::string setting = sweep_setting(base_, key, plan_.value(0, k));
      try {  // what the file has can be set, whether or not this value is possible
        model_detail::find_value(*root.table(), setting.substr(0, setting.find('=')));
      } catch (const InputError&) {
        with_overrides(base_, std::vector<std::string>{setting});
      }
    } catch (const InputError& error) {
      throw InputError(section_.places[k] + error.what());
    }
  }
}

std::vector<std::string> SweepRunner::settings(long index) const {
  std::vector<std::string> settings;
  for (std::size_t k = 0; k < section_.axes.size(); ++k)
    settings.push_back(sweep_setting(base_, section_.axes[k].key, plan_.value(index, k)));
  return settings;
}

SweepRecord SweepRunner::analyse(const ModelFile& model) const {
  SweepRecord record;
  Outputs outputs(section_.keep);
  const auto begin = std::chrono::steady_clock::now();
  switch (section_.analysis) {
    case SweepAnalysis::run:
      analyse_run(model, section_, stop_, outputs, record);
      break;
    case SweepAnalysis::periodic:
      analyse_periodic(model, section_, stop_, outputs, record);
      break;
    case SweepAnalysis::shoot:
      analyse_shoot(model, stop_, outputs, record);
      break;
    case SweepAnalysis::fit:
      analyse_fit(model, *data_, stop_, outputs, record);
      break;
  }
  outputs.add("wall_seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  outputs.into(record);
  return record;
}

SweepRecord SweepRunner::run(long index) const {
  SweepRecord record;
  try {
    std::vector<std::string> values = settings(index);
    if (base_.has_run && base_.bodies) values.emplace_back("run.threads=1");  // the runs themselves are on threads
    record = analyse(with_overrides(base_, values));
  } catch (const InputError& error) {
    record.status = Status::refused;
    record.message = error.what();
  } catch (const std::bad_alloc&) {
    throw;  // of the whole sweep, not of this run
  } catch (const std::exception& error) {
    record.status = Status::refused;
    record.message = fmt::format("{}; this is a bug of stickslip, please report it with the model", error.what());
  }
  record.index = index;
  return record;
}

}  // namespace stickslip
