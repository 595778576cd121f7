// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/result_reader.hpp"
#include "stickslip/io/result_writer.hpp"
#include "stickslip/io/simulation_report.hpp"
#include "stickslip/io/simulation_scene.hpp"

namespace stickslip::cli {

namespace {

double expected_rows(const SimulationOptions& run) {
  if (!run.output_times.empty()) return static_cast<double>(run.output_times.size());
  const double span = run.end_time - run.start_time;
  if (run.output_step > 0) return span / run.output_step;
  return run.steps > 0 ? static_cast<double>(run.steps) : span / run.step;
}

double value_of(const std::vector<AuditItem>& audit, std::string_view name) {
  for (const AuditItem& item : audit)
    if (item.name == name) return item.value;
  return 0;
}

/// Energy from nothing must not hide in a file.
void print_impact_gain(const std::vector<AuditItem>& audit) {
  const double steps = value_of(audit, "steps_with_contact_gain");
  if (!(steps > 0)) return;
  fmt::print(
      "  energy: impacts made {:.3g} J ({:.3g} % of the largest energy or work) in {:g} step{}; Newton's law with "
      "friction can, impact = \"energetic\" cannot\n",
      value_of(audit, "energy_impact_gain"), 100 * value_of(audit, "contact_gain"), steps, steps == 1 ? "" : "s");
}

void print_summary(const ModelFile& model, const Simulation& simulation, const std::filesystem::path& folder,
                   double wall) {
  const auto counts = count_events(simulation.trajectory.events);
  std::string events;
  for (std::size_t k = 0; k < kEventKinds.size(); ++k)
    if (counts[k] > 0)
      events += fmt::format("{}{} {}", events.empty() ? "" : ", ", counts[k], to_string(kEventKinds[k]));
  fmt::print("{}\n", model.title.empty() ? model.path : model.title);
  fmt::print("  {}: {} steps to t = {:.9g} s in {:.3g} s{}\n", to_string(model.run.scheme), simulation.steps,
             simulation.final.t, wall,
             simulation.status == Status::success ? "" : fmt::format(" ({})", to_string(simulation.status)));
  fmt::print("  events: {}\n", events.empty() ? "none" : events);
  for (const AuditItem& item : simulation.audit)
    if (item.guaranteed || item.name == "stuck_motion" || item.name == "energy")
      fmt::print("  audit: {:<13}{:>10.3g}{}  {}\n", item.name, item.value,
                 item.guaranteed ? fmt::format(" {} {:.2g}", item.ok ? "<=" : "ABOVE", item.limit) : " (no guarantee)",
                 item.meaning);
  print_impact_gain(simulation.audit);
  for (const std::string& note : simulation.notes) fmt::print("  note: {}\n", note);
  fmt::print("  results: {}\n", folder.string());
  if (!simulation.message.empty()) fmt::print(stderr, "stickslip: {}\n", simulation.message);
}

ReportUnits report_units(const ModelFile& model) {
  ReportUnits units{model.angles, {}};
  for (const FrictionElement& law : model.system->friction())
    if (acts_on_angles(model, law)) units.moments.push_back(law.name);
  return units;
}

/// Size of State::z: one deformation per row that the scheme makes a spring of.
Index internal_states(const ModelFile& model) {
  if (model.run.scheme != SchemeKind::viscoelastic) return 0;
  Index rows = static_cast<Index>(model.system->constraints().size());
  for (const FrictionElement& element : model.system->friction()) rows += element.size();
  return rows;
}

}  // namespace

int run(const RunCommand& command) {
  std::vector<std::string> overrides = command.set;
  if (!command.scheme.empty()) {
    try {
      scheme_from(command.scheme);
    } catch (const InputError& error) {
      throw InputError(fmt::format("--scheme {}: {}", command.scheme, error.what()));
    }
    overrides.push_back("run.scheme=" + command.scheme);
  }
  ModelFile model = read_model(command.model, overrides);
  if (!model.has_run)
    throw InputError(fmt::format(
        "{}: there is no [run] table; add one with end_time and step, or use 'stickslip check'", command.model));
  if (!command.restart.empty()) {
    std::string note;
    model.initial = read_restart_state(command.restart, &note);
    if (!note.empty()) fmt::print(stderr, "stickslip: {}\n", note);
    model.run.start_time = model.initial.t;
    if (model.run.start_time >= model.run.end_time)
      throw InputError(
          fmt::format("--restart {}: the stored state is at t = {:.9g} s, at or after run.end_time = {:.9g} s; raise "
                      "it with --set run.end_time=...",
                      command.restart, model.run.start_time, model.run.end_time));
  }
  const std::filesystem::path folder =
      command.out.empty() ? std::filesystem::path(command.model).stem() : std::filesystem::path(command.out);
  const ResultHeader header{model.title,
                            command.model,
                            std::string(to_string(model.run.scheme)),
                            std::string(version()),
                            internal_states(model),
                            expected_rows(model.run)};
  const TrajectoryNames names = trajectory_names(*model.system, model.run.scheme == SchemeKind::splitting);

  catch_interrupts();
  ProgressBar bar("running", !command.json);
  const double span = model.run.end_time - model.run.start_time;
  std::optional<ResultWriter> writer;  // the folder appears with the first row: a wrong model leaves nothing behind
  long steps = 0;
  SimulationHooks hooks;
  auto opened = [&]() -> ResultWriter& { return writer ? *writer : writer.emplace(folder, names, header); };
  hooks.on_row = [&](const OutputRow& row) { opened().add(row); };
  hooks.on_event = [&](const Event& event) { opened().add(event); };
  hooks.keep_going = [&](const State& state) {
    if (++steps % 64 == 0 && writer) writer->checkpoint(state);
    bar.update((state.t - model.run.start_time) / span);
    return !interrupted();
  };
  hooks.stop = interrupt_request();
  const auto begin = std::chrono::steady_clock::now();
  const Simulation simulation = simulate(*model.system, model.initial, model.run, hooks);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  bar.finish();
  opened().finish(simulation, wall);
  ReportDocument report = simulation_report(header, simulation, wall, {.units = report_units(model)});
  report.notes.insert(report.notes.end(), simulation.notes.begin(), simulation.notes.end());
  if (std::optional<ReportScene> scene = simulation_scene(model, simulation))
    report.blocks.insert(report.blocks.begin(), std::move(*scene));
  write_report(folder / "report.html", report);
  if (command.json) {
    fmt::print("{}", summary_json(summary_data(header, simulation, wall)));
  } else {
    print_summary(model, simulation, folder, wall);
  }
  return simulation.status == Status::success ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
