// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/bifurcation.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/storing.hpp"
#include "cli/terminal.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_folder.hpp"
#include "stickslip/io/result_header.hpp"

namespace stickslip::cli {

namespace fs = std::filesystem;

int bifurcation(const BifurcationCommand& command) {
  BifurcationPlan plan = BifurcationPlan::parse(command.over);
  plan.observed = command.observe;
  plan.transient = command.transient;
  plan.record = command.record;
  plan.peaks = command.peaks;
  const ModelFile model = read_model(command.model, command.set);
  catch_interrupts();
  const BifurcationRunner runner(model, plan, interrupt_request());
  const ResultHeader header = result_header(model, command.model);
  ResultFolder folder(command.out.empty() ? fs::path(command.model).stem().string() + "-bifurcation" : command.out);
  const fs::path journal_path = folder.open() / "sweep.journal";
  std::error_code ignored;
  if (command.fresh) fs::remove(journal_path, ignored);
  SweepJournal journal(journal_path, bifurcation_identity(runner, header.version), plan.records());
  folder.open_cleared();
  const long resumed = journal.done();
  if (resumed > 0)
    print_error("stickslip: going on with the diagram in {}: {} of {} values are there\n", folder.path().string(),
                resumed, plan.records());
  ProgressBar bar("bifurcation", !command.json);
  const auto begin = std::chrono::steady_clock::now();
  const Status status = runner.follow(
      journal, [&](long done) { bar.update(static_cast<double>(done) / static_cast<double>(plan.records())); });
  journal.sync();
  bar.finish();
  BifurcationEnd out = bifurcation_end(runner.plan(), journal);
  out.resumed = resumed;
  out.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::string failure = unstored(
      [&] {
        folder.require_in_place();
        write_text_file(folder.path() / "bifurcation.csv", bifurcation_csv(runner.plan(), journal));
        write_report(folder.path() / "report.html", bifurcation_report(runner, journal, header, out));
        write_text_file(folder.path() / "summary.json", bifurcation_json(runner, header, out));
      },
      "what was computed is in sweep.journal: make room, then the same command goes on with it");
  if (!failure.empty()) {
    out.status = to_string(Status::interrupted);
    out.message = failure;
  }
  if (status == Status::success && failure.empty()) fs::remove(journal_path, ignored);
  if (command.json) {
    write_out(bifurcation_json(runner, header, out));
    if (!failure.empty()) print_error("stickslip: {}\n", failure);
  } else {
    print_out("{}\n  {} of {} over {}, {} values up and down: {} points in {:.3g} s\n  results: {}\n",
              header.title.empty() ? header.model : header.title, runner.strobe() ? "one point per period" : "peaks",
              runner.plan().observed, plan.key, plan.count, out.points, out.wall_seconds, folder.path().string());
    if (!out.ok()) print_error("stickslip: {}\n", out.message);
  }
  return out.ok() ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
