// SPDX-License-Identifier: Apache-2.0
// Contact problems of single steps of a run, as FCLIB files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/step_dump.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/result_folder.hpp"

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;

/// Why times are missing that the run never came to.
std::string missing_message(const StepDump& dump, const Simulation& simulation) {
  if (dump.done()) return "";
  return fmt::format("t = {} s was not reached: {}", dump.next(), simulation.message) +
         (dump.unsolved() ? fmt::format("; --at {} keeps the problem of that step", *dump.unsolved()) : "");
}

void print_json(const StepDump& dump, const std::string& status, const std::string& message) {
  nlohmann::ordered_json json{{"status", status}, {"message", message}, {"steps", nlohmann::ordered_json::array()}};
  for (const DumpedStep& step : dump.steps())
    json["steps"].push_back({{"time", step.time},
                             {"start", step.start},
                             {"end", step.end},
                             {"file", step.file},
                             {"contacts", step.contacts},
                             {"dimension", step.dimension},
                             {"solved", step.solved},
                             {"message", step.message}});
  write_out(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void print_words(const StepDump& dump, const std::string& message) {
  for (const DumpedStep& step : dump.steps()) {
    if (!step.file.empty())
      print_out("  t = {:<12.9g}{:>6} contact{} in {}D  {}{}\n", step.time, step.contacts,
                step.contacts == 1 ? " " : "s", step.dimension, step.file, step.solved ? "" : "  (step not solved)");
    if (!step.message.empty()) print_error("stickslip: --at {}: {}\n", step.time, step.message);
  }
  if (!message.empty()) print_error("stickslip: {}\n", message);
}

}  // namespace

int dump(const DumpCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  if (!model.has_run)
    throw InputError(fmt::format("{}: there is no [run] table; add one with end_time and step", model.path));
  ResultFolder folder(command.out.empty() ? fs::path(fs::path(command.model).stem().string() + "-dump")
                                          : fs::path(command.out));
  StepDump steps(command.at, "--at", model, fs::path(command.model).stem().string(), [&] { return folder.open(); });
  catch_interrupts();
  ProgressBar bar("running", !command.json);
  SimulationHooks hooks;
  hooks.keep_trajectory = false;
  hooks.stop = interrupt_request();
  const double span = model.run.end_time - model.run.start_time;
  hooks.keep_going = [&](const State& state) {
    bar.update((state.t - model.run.start_time) / span);
    return !steps.done() && !interrupted();
  };
  Simulation simulation;
  try {
    simulation = simulate_step_problems(*model.system, model.initial, model.run, hooks,
                                        [&](const StepProblem& step) { steps.look(step); });
  } catch (const InputError& error) {
    const std::string message = error.what();
    throw InputError(message.starts_with(model.path) ? message : fmt::format("{}: {}", model.path, message));
  }
  bar.finish();
  const std::string message = missing_message(steps, simulation);
  const bool none_there =
      std::any_of(steps.steps().begin(), steps.steps().end(), [](const DumpedStep& step) { return step.file.empty(); });
  const bool unsolved =
      std::any_of(steps.steps().begin(), steps.steps().end(), [](const DumpedStep& step) { return !step.solved; });
  const bool ended = !message.empty() || unsolved;
  if (command.json)
    print_json(steps,
               ended        ? std::string(to_string(simulation.status))
               : none_there ? "wrong_input"
                            : "success",
               message);
  else
    print_words(steps, message);
  return ended ? kNoSuccess : none_there ? kWrongInput : kSuccess;
}

}  // namespace stickslip::cli
