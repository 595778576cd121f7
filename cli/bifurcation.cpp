// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/bifurcation.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/result_folder.hpp"
#include "cli/terminal.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_header.hpp"

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// How it ended, and how much there is.
struct Outcome {
  std::string status = "success", message;
  long points = 0, done = 0, failed = 0, resumed = 0;
  double wall_seconds = 0;
  bool ok() const { return status == "success"; }
};

Outcome outcome_of(const BifurcationPlan& plan, const SweepJournal& journal) {
  Outcome out;
  out.done = journal.done();
  for (long index = 0; index < plan.records(); ++index) {
    const SweepRow& row = journal.rows()[static_cast<std::size_t>(index)];
    out.points += static_cast<long>(bifurcation_points(journal.blocks(index)).size());
    if (!row.done || row.status == Status::success) continue;
    ++out.failed;
    if (out.message.empty()) out.message = row.message;
  }
  if (out.failed > 0) {
    out.status = "failures";
    out.message = fmt::format("{} of {} values ended without success, the first: {}", out.failed, plan.records(), out.message);
  }
  if (out.done < plan.records()) {
    out.status = "interrupted";
    out.message = fmt::format("stopped after {} of {} values; the same command goes on from there", out.done, plan.records());
  }
  return out;
}

std::string summary_of(const BifurcationRunner& runner, const ResultHeader& header, const Outcome& out) {
  const BifurcationPlan& plan = runner.plan();
  const ordered_json json{{"status", out.status},
                          {"message", out.message},
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
                          {"points", out.points},
                          {"done", out.done},
                          {"failed", out.failed},
                          {"resumed", out.resumed},
                          {"wall_seconds", out.wall_seconds},
                          {"version", header.version},
                          {"date", header.inputs.date},
                          {"set", header.inputs.settings},
                          {"model_text", header.inputs.model_text}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ReportDocument page_of(const BifurcationRunner& runner, const SweepJournal& journal, const ResultHeader& header,
                       const Outcome& out) {
  ReportDocument page;
  page.title = header.title.empty() ? header.model : header.title;
  page.subtitle = "bifurcation diagram";
  page.generator = "stickslip " + header.version;
  page.ok = out.ok();
  page.status = out.ok() ? out.status : fmt::format("{}: {}", out.status, out.message);
  page.facts = {{"values", static_cast<double>(runner.plan().count)},
                {"points", static_cast<double>(out.points)},
                {"wall time [s]", out.wall_seconds}};
  page.blocks = {bifurcation_figure(runner, journal)};
  return page;
}

}  // namespace

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
    print_error("stickslip: going on with the diagram in {}: {} of {} values are there\n", folder.path().string(), resumed,
                plan.records());
  ProgressBar bar("bifurcation", !command.json);
  const auto begin = std::chrono::steady_clock::now();
  const Status status = runner.follow(
      journal, [&](long done) { bar.update(static_cast<double>(done) / static_cast<double>(plan.records())); });
  journal.sync();
  bar.finish();
  Outcome out = outcome_of(runner.plan(), journal);
  out.resumed = resumed;
  out.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  folder.require_in_place();
  const std::string summary = summary_of(runner, header, out);
  write_text_file(folder.path() / "bifurcation.csv", bifurcation_csv(runner.plan(), journal));
  write_text_file(folder.path() / "summary.json", summary);
  write_report(folder.path() / "report.html", page_of(runner, journal, header, out));
  if (status == Status::success) fs::remove(journal_path, ignored);
  if (command.json) {
    write_out(summary);
  } else {
    print_out("{}\n  {} of {} over {}, {} values up and down: {} points in {:.3g} s\n  results: {}\n",
              header.title.empty() ? header.model : header.title, runner.strobe() ? "one point per period" : "peaks",
              runner.plan().observed, plan.key, plan.count, out.points, out.wall_seconds, folder.path().string());
    if (!out.ok()) print_error("stickslip: {}\n", out.message);
  }
  return out.ok() ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
