// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/step_dump.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/io/model_case.hpp"
#include "stickslip/io/model_dump.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/result_folder.hpp"
#include "stickslip/io/result_header.hpp"
#include "stickslip/io/result_reader.hpp"
#include "stickslip/io/result_thinning.hpp"
#include "stickslip/io/result_writer.hpp"
#include "stickslip/io/simulation_report.hpp"
#include "stickslip/io/simulation_scene.hpp"

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;

double value_of(const std::vector<AuditItem>& audit, std::string_view name) {
  for (const AuditItem& item : audit)
    if (item.name == name) return item.value;
  return 0;
}

/// Energy from nothing must not hide in a file.
void print_impact_gain(const std::vector<AuditItem>& audit) {
  const double steps = value_of(audit, "steps_with_contact_gain");
  if (!(steps > 0)) return;
  print_out(
      "  energy: impacts made {:.3g} J ({:.3g} % of the largest energy or work) in {:g} step{}; Newton's law with "
      "friction can, impact = \"energetic\" cannot\n",
      value_of(audit, "energy_impact_gain"), 100 * value_of(audit, "contact_gain"), steps, steps == 1 ? "" : "s");
}

void print_summary(const ModelFile& model, const SummaryData& summary, const std::string& results) {
  std::string events;
  for (std::size_t k = 0; k < kEventKinds.size(); ++k)
    if (summary.events[k] > 0)
      events += fmt::format("{}{} {}", events.empty() ? "" : ", ", summary.events[k], to_string(kEventKinds[k]));
  print_out("{}\n", model.title.empty() ? model.path : model.title);
  print_out("  {}: {} steps to t = {:.9g} s in {:.3g} s{}\n", summary.header.scheme, summary.steps, summary.end_time,
            summary.wall_seconds,
            summary.status == Status::success ? "" : fmt::format(" ({})", to_string(summary.status)));
  print_out("  events: {}\n", events.empty() ? "none" : events);
  for (const AuditItem& item : summary.audit)
    if (item.guaranteed || item.name == "stuck_motion" || item.name == "energy")
      print_out("  audit: {:<13}{:>10.3g}{}  {}\n", item.name, item.value,
                item.guaranteed ? fmt::format(" {} {:.2g}", item.ok ? "<=" : "ABOVE", item.limit) : " (no guarantee)",
                item.meaning);
  print_impact_gain(summary.audit);
  for (const std::string& note : summary.notes) print_out("  note: {}\n", note);
  if (!results.empty()) print_out("  results: {}\n", results);
}

/// The folder of a result that was named by it or by its result.h5.
fs::path folder_of(const std::string& result) {
  std::error_code ignored;
  const fs::path path(result);
  if (fs::is_directory(path, ignored)) return path;
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool same_folder(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return a == b || fs::equivalent(a, b, ignored);
}

/// From the file, or from the text, settings and files that an earlier result holds.
ModelFile open_model(const RunCommand& command) {
  std::vector<std::string> overrides = command.set;
  if (!command.scheme.empty()) {
    try {
      scheme_from(command.scheme);
    } catch (const InputError& error) {
      throw InputError(fmt::format("--scheme {}: {}", command.scheme, error.what()));
    }
    overrides.push_back("run.scheme=" + command.scheme);
  }
  if (!command.from.empty() && !(command.model.empty() && command.restart.empty()))
    throw InputError("--from repeats a stored run; give it without MODEL and --restart (further --set are possible)");
  const std::string& stored = command.from.empty() ? command.restart : command.from;
  if (command.model.empty() && stored.empty())
    throw InputError("run: MODEL is missing; name a model file, or give --from or --restart with a folder of results");
  if (!command.model.empty()) return read_model(command.model, overrides);
  const ResultHeader header = read_header(stored);
  if (header.inputs.model_text.empty())
    throw InputError(fmt::format("{}: this result does not hold its model; name the model file", stored));
  overrides.insert(overrides.begin(), header.inputs.settings.begin(), header.inputs.settings.end());
  return parse_model(header.inputs.model_text, header.model, overrides, header.inputs.files);
}

fs::path results_folder(const RunCommand& command) {
  if (!command.out.empty()) return command.out;
  if (!command.restart.empty()) return folder_of(command.restart);
  if (command.from.empty()) return fs::path(command.model).stem();
  fs::path folder = folder_of(command.from).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // a slash at the end
  return folder += "-again";                                  // what is repeated stays as it is
}

void require_same_names(const std::string& result, const TrajectoryNames& stored, const TrajectoryNames& now) {
  auto compare = [&](const char* what, const std::vector<std::string>& a, const std::vector<std::string>& b) {
    if (a == b) return;
    throw InputError(fmt::format("--restart {}: its {} are {}, those of the model {}; it is another model", result,
                                 what, fmt::join(a, ", "), fmt::join(b, ", ")));
  };
  compare("coordinates", stored.coordinates, now.coordinates);
  compare("velocities", stored.velocities, now.velocities);
  compare("laws", stored.laws, now.laws);
  compare("reactions", stored.reactions, now.reactions);
  compare("sensitivities", stored.unknowns, now.unknowns);
}

/// Changes to the model that the first part had and this one has not: they may have been forgotten.
void mention_missing_settings(const RunInputs& earlier, const ModelFile& model) {
  for (const std::string& setting : earlier.settings)
    if (!setting.starts_with("run.") &&
        std::find(model.settings.begin(), model.settings.end(), setting) == model.settings.end())
      print_error("stickslip: note: the part before ran with --set {}, this one does not\n", setting);
}

/// The run goes on from a stored one.
EarlierResult open_earlier(const RunCommand& command, const ModelFile& model, const TrajectoryNames& names,
                           const fs::path& folder, ResultHeader& header) {
  std::string note;
  EarlierResult earlier;
  earlier.stop = interrupt_request();
  earlier.file = folder_of(command.restart) / "result.h5";
  std::error_code ignored;
  if (!fs::is_directory(command.restart, ignored)) earlier.file = command.restart;
  earlier.checkpoint = read_checkpoint(earlier.file, &note);
  if (!note.empty()) print_error("stickslip: {}\n", note);
  require_same_names(command.restart, ResultStream(earlier.file).names(), names);
  const double t = earlier.checkpoint.state.t;
  bool complete = true;
  for (const char* name : {"trajectory.csv", "events.csv", "summary.json", "report.html"})
    complete &= fs::exists(folder / name, ignored);
  if (t >= model.run.end_time && (complete || !same_folder(folder, folder_of(command.restart))))
    throw InputError(
        fmt::format("--restart {}: the stored state is at t = {:.9g} s, at or after run.end_time = {:.9g} s; raise "
                    "it with --set run.end_time=...",
                    command.restart, t, model.run.end_time));
  if (t < model.run.start_time)
    throw InputError(fmt::format("--restart {}: the stored state is at t = {:.9g} s, before run.start_time = {:.9g} s",
                                 command.restart, t, model.run.start_time));
  const ResultHeader before = read_header(earlier.file);
  mention_missing_settings(before.inputs, model);
  header.inputs.parts = before.inputs.parts;
  header.inputs.parts.push_back(nlohmann::ordered_json{
      {"until", t},
      {"date", before.inputs.date},
      {"version", before.version},
      {"scheme", before.scheme},
      {"set",
       before.inputs.settings}}.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return earlier;
}

/// Why a write on the way ended the run, and what to do; the folder keeps what was stored before.
struct WriteFailure {
  std::string reason;
  bool lost = false;      ///< the folder is no longer where it was
  bool can_go_on = true;  ///< a state was stored

  std::string message(double t, const fs::path& folder) const {
    const std::string stopped = fmt::format("{}; the run was stopped at t = {:.9g} s", reason, t);
    if (lost && can_go_on)
      return fmt::format(
          "{}; if the folder was renamed, it holds what was stored before: go on with 'stickslip run --restart' and "
          "its new name",
          stopped);
    if (lost) return stopped;
    if (!can_go_on)
      return fmt::format("{} before anything to go on from was stored; make room and run it again", stopped);
    return fmt::format(
        "{}, and result.h5 holds what was stored before; make room and go on with 'stickslip run --restart {}'",
        stopped, folder.string());
  }
};

std::string with_file(const ModelFile& model, const std::string& message) {
  return message.starts_with(model.path) ? message : fmt::format("{}: {}", model.path, message);
}

/// What the model makes impossible is said with the name of its file; messages about the folder have theirs.
Simulation simulate_model(const ModelFile& model, const fs::path& folder, const SimulationHooks& hooks,
                          StepDump* dump) {
  try {
    Simulation simulation = dump ? simulate_step_problems(*model.system, model.initial, model.run, hooks,
                                                          [&](const StepProblem& step) { dump->look(step); })
                                 : make_case(model).run(hooks);
    if (simulation.status == Status::refused) simulation.message = with_file(model, simulation.message);
    return simulation;
  } catch (const InputError& error) {
    const std::string message = error.what();
    // Not the name alone: 'f' also begins the word "friction".
    const bool about_folder = message.starts_with(folder.string() + '/') || message.starts_with(folder.string() + ':');
    throw InputError(about_folder ? message : with_file(model, message));
  }
}

/// The page, from what was stored.
bool write_page(const ModelFile& model, const ResultHeader& header, const Simulation& simulation, double wall,
                const fs::path& folder, const std::function<bool(double)>& keep_going) {
  constexpr long kFrames = 600;
  const ResultStream stream(folder);
  Simulation drawn = simulation;
  drawn.trajectory = read_trajectory(stream, envelope_rows(stream, {}, keep_going), false);
  drawn.trajectory.events = thinned_events(stream);
  if (!keep_going(1)) return false;
  ReportDocument report = simulation_report(header, drawn, wall, {.units = report_units(model)});
  report.notes.insert(report.notes.end(), simulation.notes.begin(), simulation.notes.end());
  drawn.trajectory = read_trajectory(stream, even_rows(stream.rows(), kFrames), true);
  if (!keep_going(1)) return false;
  if (std::optional<ReportScene> scene = simulation_scene(model, drawn))
    report.blocks.insert(report.blocks.begin(), std::move(*scene));
  write_report(folder / "report.html", report);
  return true;
}

/// Rows, events and states as they come. The folder appears with the first of them: a wrong model leaves nothing
/// behind.
class Storage {
 public:
  /// All are kept by reference; earlier may be null.
  Storage(ResultFolder& folder, const TrajectoryNames& names, const ResultHeader& header, const EarlierResult* earlier)
      : folder_(folder), names_(names), header_(header), earlier_(earlier) {}

  /// action(ResultWriter&); nothing is stored any more once one has failed.
  template <class Action>
  void store(const Action& action) {
    ResultWriter& results = opened();
    if (failure_) return;
    try {
      action(results);
    } catch (const LostOutput& error) {
      failure_ = WriteFailure{error.what(), true, results.has_state()};
    } catch (const OutputError& error) {
      failure_ = WriteFailure{error.what(), false, results.has_state()};
    }
  }
  Checkpoint* wanted_checkpoint() { return failure_ ? nullptr : opened().wanted_checkpoint(); }
  const std::optional<WriteFailure>& failure() const { return failure_; }
  /// Closes what is left of the file.
  void give_up() { writer_.reset(); }

 private:
  ResultWriter& opened() {
    if (writer_) return *writer_;
    try {
      return writer_.emplace(folder_.open(), names_, header_, ResultWriterOptions{}, earlier_);
    } catch (...) {
      folder_.withdraw();
      throw;
    }
  }

  ResultFolder& folder_;
  const TrajectoryNames& names_;
  const ResultHeader& header_;
  const EarlierResult* earlier_;
  std::optional<ResultWriter> writer_;
  std::optional<WriteFailure> failure_;
};

/// With its wall-clock time.
std::pair<Simulation, double> simulate_into(Storage& storage, const ModelFile& model, const fs::path& folder,
                                            const EarlierResult* earlier, ProgressBar& bar, StepDump* dump) {
  const double begin_time = earlier ? earlier->checkpoint.state.t : model.run.start_time;
  const double span = model.run.end_time - begin_time;
  SimulationHooks hooks;
  hooks.keep_trajectory = false;
  if (earlier) hooks.resume = &earlier->checkpoint;
  hooks.on_row = [&](const OutputRow& row) { storage.store([&](ResultWriter& results) { results.add(row); }); };
  hooks.on_event = [&](const Event& event) { storage.store([&](ResultWriter& results) { results.add(event); }); };
  hooks.checkpoint = [&] { return storage.wanted_checkpoint(); };
  hooks.keep_going = [&](const State& state) {
    storage.store([](ResultWriter& results) { results.flush_if_due(); });
    bar.update((state.t - begin_time) / span);
    return !interrupted() && !storage.failure();
  };
  hooks.stop = interrupt_request();
  const auto begin = std::chrono::steady_clock::now();
  Simulation simulation = simulate_model(model, folder, hooks, dump);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  bar.finish();
  return {std::move(simulation), wall};
}

/// What is made of result.h5 once the run is over.
struct OtherFiles {
  std::string unwritten;  ///< why not all of them are there; empty: they are
  bool lost = false;      ///< the folder is no longer where it was
};
OtherFiles write_other_files(const ModelFile& model, const ResultHeader& header, const Simulation& simulation,
                             const SummaryData& summary, double wall, ResultFolder& folder, bool quiet) {
  const std::string rest =
      fmt::format("result.h5 is complete: 'stickslip run --restart {}' writes the rest", folder.path().string());
  const bool stopped = interrupted();  // from here on a first signal ends the writing, a second one the program
  ProgressBar writing("writing", !quiet);
  auto keep_going = [&](double fraction) {
    folder.require_in_place();
    writing.update(fraction);
    return stopped || !interrupted();
  };
  OtherFiles files;
  try {
    if (keep_going(0) && write_tables(folder.path(), keep_going) && keep_going(1) &&
        write_page(model, header, simulation, wall, folder.path(), keep_going))
      write_text_file(folder.path() / "summary.json", summary_json(summary));  // last: a folder that has it is complete
    else
      files.unwritten = "interrupted while the results were written; " + rest;
  } catch (const LostOutput& error) {
    files = {error.what(), true};
  } catch (const InputError& error) {  // result.h5 has gone: the call was right all the same
    files.unwritten = error.what();
  } catch (const OutputError& error) {
    files.unwritten = fmt::format("{}; make room; {}", error.what(), rest);
  }
  writing.finish();
  return files;
}

}  // namespace

int run(const RunCommand& command) {
  const ModelFile model = open_model(command);
  if (!model.has_run)
    throw InputError(fmt::format(
        "{}: there is no [run] table; add one with end_time and step, or use 'stickslip check'", model.path));
  ResultFolder folder(results_folder(command));
  ResultHeader header = result_header(model, command.model.empty() ? model.path : command.model);
  const TrajectoryNames names = trajectory_names(*model.system, model.run);
  std::optional<EarlierResult> earlier;
  if (!command.restart.empty()) earlier = open_earlier(command, model, names, folder.path(), header);
  const EarlierResult* before = earlier ? &*earlier : nullptr;
  std::error_code ignored;
  const bool replaces = !earlier && command.out.empty() && fs::exists(folder.path() / "result.h5", ignored);

  catch_interrupts();
  ProgressBar bar("running", !command.json);
  Storage storage(folder, names, header, before);
  std::optional<StepDump> dump;
  if (std::vector<double> times = dump_times(model); !times.empty()) {
    if (before) std::erase_if(times, [&](double t) { return t <= before->checkpoint.state.t; });
    dump.emplace(times, "run.dump:", model, fs::path(model.path).stem().string(), [&] { return folder.open(); });
  }
  auto [simulation, wall] = simulate_into(storage, model, folder.path(), before, bar, dump ? &*dump : nullptr);
  if (dump)
    for (const DumpedStep& step : dump->steps())
      if (!step.message.empty())
        simulation.notes.push_back(fmt::format("run.dump: t = {} s: {}", step.time, step.message));
  simulation.notes.insert(simulation.notes.begin(), model.notes.begin(), model.notes.end());
  storage.store([&, &run = simulation, seconds = wall](ResultWriter& results) { results.close(run, seconds); });
  const std::optional<WriteFailure>& failure = storage.failure();
  if (failure) {
    simulation.status = Status::interrupted;
    simulation.message = failure->message(simulation.final.t, folder.path());
    storage.give_up();
  }
  const SummaryData summary = summary_data(header, simulation, wall);
  OtherFiles files;
  if (!failure) files = write_other_files(model, header, simulation, summary, wall, folder, command.json);

  if (command.json) {
    write_out(summary_json(summary));
    if (replaces)
      print_error("stickslip: the results in {} replace those of an earlier run; --out DIR keeps both\n",
                  folder.path().string());
  } else {
    const std::string place = folder.path().string() + (replaces ? " (in place of an earlier run's)" : "");
    print_summary(model, summary, files.lost || (failure && failure->lost) ? "" : place);
  }
  if (!simulation.message.empty() && (!command.json || failure)) print_error("stickslip: {}\n", simulation.message);
  if (!files.unwritten.empty()) print_error("stickslip: {}\n", files.unwritten);
  return simulation.status == Status::success && files.unwritten.empty() ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
