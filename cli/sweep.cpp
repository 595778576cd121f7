// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/ranks.hpp"
#include "cli/report_page.hpp"
#include "cli/storing.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_folder.hpp"
#include "stickslip/io/result_header.hpp"
#include "stickslip/io/sweep_attractors.hpp"
#include "stickslip/io/sweep_file.hpp"
#include "stickslip/io/sweep_journal.hpp"
#include "stickslip/io/sweep_report.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// KEY=FROM:TO:COUNT, or KEY=a,b,c, as a setting of [sweep].
std::string over_setting(const std::string& text) {
  const auto fail = [&](const std::string& why) {
    throw InputError(
        fmt::format("--over {}: {}; write KEY=FROM:TO:COUNT, as k=1:3:21, or KEY=A,B,.., as k=1,2,5", text, why));
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) fail("there is no KEY=");
  const std::string key = text.substr(0, equals), values = text.substr(equals + 1);
  const char separator = values.find(':') != std::string::npos ? ':' : ',';
  std::vector<std::string_view> parts;
  split_fields(values, separator, parts);
  for (const std::string_view part : parts)
    if (!parse_finite_number(part)) fail(fmt::format("{} is not a number", in_quotes(part)));
  if (separator == ',') return fmt::format("sweep.over.{}=[{}]", key, values);
  if (parts.size() != 3 || !parse_integer(parts[2])) fail("a range has two ends and a whole number of values");
  return fmt::format("sweep.over.{}={{from = {}, to = {}, count = {}}}", key, parts[0], parts[1], parts[2]);
}

/// A parameter may be named without its table; the same number twice would leave one of two ranges out.
void require_different(const std::vector<std::string>& over) {
  std::vector<std::string> keys;
  for (const std::string& text : over) {
    std::string key = text.substr(0, text.find('='));
    if (key.find('.') == std::string::npos) key.insert(0, "parameters.");
    if (std::find(keys.begin(), keys.end(), key) != keys.end())
      throw InputError(fmt::format("--over {}: '{}' is swept twice; give all its values once", text, key));
    keys.push_back(std::move(key));
  }
}

/// A setting of [sweep], and what was given that it stands for.
struct Meant {
  std::string setting, given;
};

std::vector<Meant> meant_by(const SweepCommand& command) {
  require_different(command.over);
  std::vector<Meant> meant;
  for (const std::string& over : command.over) meant.push_back({over_setting(over), "--over " + over});
  if (command.resolution > 0)
    meant.push_back({"sweep.keep=[\"final.position\", \"final.velocity\", \"minimum\", \"maximum\"]", "basin"});
  if (command.count > 0) {  // a Latin hypercube stays one
    const bool latin = std::find(command.set.begin(), command.set.end(), "sweep.kind=latin") != command.set.end();
    if (!latin) meant.push_back({"sweep.kind=random", "montecarlo"});
    meant.push_back({fmt::format("sweep.count={}", command.count), fmt::format("--count {}", command.count)});
  }
  if (!command.seed.empty()) meant.push_back({"sweep.seed=" + command.seed, "--seed " + command.seed});
  return meant;
}

/// A message about one of these settings names what was given.
template <class Action>
void as_given(const std::vector<Meant>& meant, const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    const std::string message = error.what();
    for (const Meant& m : meant)
      if (const std::string front = "--set " + m.setting; message.starts_with(front))
        throw InputError(m.given + message.substr(front.size()));
    throw;
  }
}

/// What a helper needs to be the same sweep.
std::string packed(const ModelFile& model) {
  return json{{"path", model.path}, {"text", model.text}, {"settings", model.settings}, {"files", model.files}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

int help(const Ranks& ranks, const SweepCommand& command) {
  std::string text;
  ranks.broadcast(text);
  if (text.empty()) return kSuccess;  // rank 0 says what is wrong
  catch_interrupts();
  const json given = json::parse(text);
  const ModelFile model =
      parse_model(given["text"].get<std::string>(), given["path"].get<std::string>(),
                  given["settings"].get<std::vector<std::string>>(), given["files"].get<std::vector<FileText>>());
  const SweepRunner runner(model, read_sweep(model), interrupt_request());
  ranks.help([&](long index) { return runner.run(index); },
             command.threads > 0 ? command.threads : ranks.usual_threads());
  return kSuccess;
}

/// On a terminal a bar; under mpirun, where there is none, a line every few seconds.
class SweepProgress {
 public:
  SweepProgress(long before, long runs, bool visible, bool lines)
      : bar_("sweep", visible),
        before_(before),
        runs_(runs),
        lines_(visible && lines),
        begin_(Clock::now()),
        last_(begin_) {}
  void update(long done) {
    const double fraction = static_cast<double>(done) / static_cast<double>(std::max(1L, runs_ - before_));
    bar_.update(fraction);
    constexpr auto kEvery = std::chrono::seconds(5);
    const auto now = Clock::now();
    if (!lines_ || now - last_ < kEvery) return;
    last_ = now;
    print_error("stickslip: {} of {} runs, {}\n", before_ + done, runs_,
                time_left(std::chrono::duration<double>(now - begin_).count(), fraction));
  }
  void finish() { bar_.finish(); }

 private:
  using Clock = std::chrono::steady_clock;
  ProgressBar bar_;
  long before_, runs_;
  bool lines_;
  Clock::time_point begin_, last_;
};

std::string values_text(const SweepTable& table, long run) {
  std::string text;
  for (std::size_t k = 0; k < table.plan.axes().size(); ++k)
    text += fmt::format("{}{} = {:.9g}", k ? ", " : "", table.plan.axes()[k].key, table.plan.value(run, k));
  return text;
}

void print_summary(const ModelFile& model, const SweepTable& table, const SweepEnd& end, const std::string& folder) {
  std::string keys;
  for (const SweepAxis& axis : table.plan.axes()) keys += (keys.empty() ? "" : ", ") + axis.key;
  const long done = table.done(), failed = table.failed();
  print_out("{}\n", model.title.empty() ? model.path : model.title);
  print_out("  sweep of {} over {} ({}): {} of {} runs in {:.3g} s, {} thread{}{}{}\n",
            to_string(table.section.analysis), keys, to_string(table.plan.options().kind), done, table.plan.size(),
            end.wall_seconds, end.threads, end.threads == 1 ? "" : "s",
            end.processes > 1 ? fmt::format(" in each of {} processes", end.processes) : "",
            end.resumed > 0 ? fmt::format("; {} were there from before", end.resumed) : "");
  print_out("  {} succeeded{}\n", done - failed, failed > 0 ? fmt::format(", {} failed", failed) : "");
  constexpr std::size_t kMostShown = 12;
  for (std::size_t k = 0; k < table.outputs.size() && k < kMostShown; ++k) {
    const OutputStatistics s = statistics_of(table, k);
    if (s.count > 0)
      print_out("  {:<28} {:.6g} .. {:.6g}, mean {:.6g}\n", table.outputs[k], s.minimum, s.maximum, s.mean);
  }
  if (table.outputs.size() > kMostShown) print_out("  and {} more\n", table.outputs.size() - kMostShown);
  for (long run = 0, shown = 0; run < table.plan.size() && shown < 3; ++run) {
    const SweepRow& row = table.rows[static_cast<std::size_t>(run)];
    if (!row.done || row.status == Status::success) continue;
    print_out("  run {} ({}): {}: {}\n", run, values_text(table, run), to_string(row.status), row.message);
    ++shown;
  }
  print_out("  results: {}\n", folder);
}

/// Nothing that the sweep asked for came out: a word that no run brings.
void mention_unmatched(const SweepTable& table) {
  if (table.done() == table.failed()) return;
  for (const std::string& kept : table.section.keep)
    if (std::none_of(table.outputs.begin(), table.outputs.end(),
                     [&](const std::string& name) { return name == kept || name.starts_with(kept + "."); }))
      print_error("stickslip: note: keep: no run has '{}'\n", kept);
}

/// Basins: basin.csv, a map on the page, and what the attractors are.
void add_basins(const SweepTable& table, double resolution, const fs::path& folder, ReportDocument& page, bool quiet) {
  const Attractors found = find_attractors(table, resolution);
  std::string text = "run";
  for (const SweepAxis& axis : table.plan.axes()) text += "," + csv_cell(axis.key);
  text += ",attractor\n";
  for (long run = 0; run < table.plan.size(); ++run) {
    text += fmt::format("{}", run);
    for (std::size_t k = 0; k < table.plan.axes().size(); ++k) text += fmt::format(",{}", table.plan.value(run, k));
    text += fmt::format(",{}\n", found.of_run[static_cast<std::size_t>(run)]);
  }
  write_text_file(folder / "basin.csv", text);
  ReportTable rows{"Attractors",
                   "States in which runs ended; two are the same within the resolution.",
                   {"attractor", "runs"},
                   {},
                   -1};
  for (const std::string& name : found.names) rows.columns.push_back(name);
  for (std::size_t k = 0; k < found.states.size(); ++k) {
    rows.rows.push_back({static_cast<double>(k), static_cast<double>(found.counts[k])});
    for (const double x : found.states[k]) rows.rows.back().emplace_back(x);
  }
  page.blocks.insert(page.blocks.begin(), rows);
  constexpr std::size_t kMostNamed = 12;
  if (found.states.size() > kMostNamed)
    page.notes.push_back(
        fmt::format("{} states are told apart: where runs have not settled yet, raise run.end_time or --resolution",
                    found.states.size()));
  const std::vector<SweepAxis>& axes = table.plan.axes();
  if (axes.size() >= 2 && table.plan.options().kind == SweepKind::grid) {
    ReportMap map = sweep_map(table, 0, 1, "attractor", [&](long run) {
      const long number = found.of_run[static_cast<std::size_t>(run)];
      return number < 0 ? std::nan("") : static_cast<double>(number);
    });
    map.title = "Basins of attraction";
    for (std::size_t k = 0; k < found.states.size() && found.states.size() <= kMostNamed; ++k)
      map.categories.push_back(fmt::format("{} ({})", k, found.counts[k]));
    page.blocks.insert(page.blocks.begin(), map);
  }
  if (!quiet)
    print_out("  {} states in which runs end{}\n", found.states.size(),
              found.states.size() > kMostNamed ? ": where they have not settled yet, raise run.end_time or --resolution"
                                               : "");
}

int lead(Ranks& ranks, std::unique_ptr<SweepHelpers> helpers, const SweepCommand& command, const ModelFile& model,
         const SweepRunner& runner) {
  ResultFolder folder(command.out.empty() ? fs::path(command.model).stem().string() + "-sweep" : command.out);
  const ResultHeader header = result_header(model, command.model);
  const fs::path& path = folder.open();
  const fs::path journal_path = path / "sweep.journal";
  std::error_code ignored;
  if (command.fresh) fs::remove(journal_path, ignored);
  SweepJournal journal(journal_path, sweep_identity(runner, header), runner.plan().size());  // refuses another's first
  folder.open_cleared();
  SweepEnd end;
  end.resumed = journal.done();
  end.threads = command.threads > 0 ? command.threads : ranks.usual_threads();
  end.processes = ranks.count();
  if (end.resumed > 0)
    print_error("stickslip: going on with the sweep in {}: {} of {} runs are there\n", path.string(), end.resumed,
                runner.plan().size());
  SweepProgress progress(end.resumed, runner.plan().size(), !command.json, ranks.count() > 1);
  const auto begin = std::chrono::steady_clock::now();
  const SweepSolution solution =
      run_sweep({journal.pending(), [&](long index) { return runner.run(index); }}, {end.threads, interrupt_request()},
                {[&](std::vector<SweepRecord>&& records) { journal.append(std::move(records)); },
                 [&](long done) { progress.update(done); }},
                helpers.get());
  journal.sync();
  progress.finish();
  end.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  end.status = solution.status;
  const SweepTable table(runner, journal.rows());
  const long failed = table.failed();
  if (end.status == Status::interrupted)
    end.message = fmt::format("stopped after {} of {} runs; the same command goes on from there", journal.done(),
                              runner.plan().size());
  else if (failed > 0)
    end.message = fmt::format("{} of {} runs ended without success; sweep.csv has the message of each", failed,
                              runner.plan().size());
  std::string summary;
  const auto store = [&] {
    return unstored(
        [&] {
          folder.require_in_place();
          ReportDocument page = sweep_report(table, header, end);
          if (command.resolution > 0) add_basins(table, command.resolution, path, page, command.json);
          write_report(path / "report.html", page);
          summary = write_sweep_tables(path, table, header, end, [&](long index) { return journal.blocks(index); });
        },
        "what was computed is in sweep.journal: make room, then the same command goes on with it");
  };
  // The end of MPI takes as long as the writing: one beside the other. MPI wants to be ended by this thread.
  std::future<std::string> storing = std::async(helpers ? std::launch::async : std::launch::deferred, store);
  helpers.reset();
  ranks.leave();
  const std::string failure = storing.get();
  if (!failure.empty()) {
    end.status = Status::interrupted;
    end.message = failure;
    summary = sweep_json(table, header, end);
  }
  if (end.status == Status::success) fs::remove(journal_path, ignored);
  mention_unmatched(table);
  if (command.json) {
    write_out(summary);
  } else {
    print_summary(model, table, end, path.string());
  }
  if (!end.message.empty() && (!command.json || !failure.empty())) print_error("stickslip: {}\n", end.message);
  return end.status == Status::success && failed == 0 ? kSuccess : kNoSuccess;
}

}  // namespace

int sweep(const SweepCommand& command) {
  Ranks ranks;
  if (ranks.rank() > 0) return help(ranks, command);
  std::string text;
  catch_interrupts();
  std::optional<ModelFile> model;
  std::optional<SweepRunner> runner;
  try {
    const std::vector<Meant> meant = meant_by(command);
    std::vector<std::string> settings = command.set;
    for (const Meant& m : meant) settings.push_back(m.setting);
    as_given(meant, [&] {
      model = read_model(command.model, settings);
      runner.emplace(*model, read_sweep(*model), interrupt_request());
    });
    text = packed(*model);
  } catch (...) {
    ranks.broadcast(text);  // empty: nobody waits for work
    throw;
  }
  ranks.broadcast(text);
  return lead(ranks, ranks.helpers(), command, *model, *runner);  // whatever goes wrong there, they are sent home
}

}  // namespace stickslip::cli
