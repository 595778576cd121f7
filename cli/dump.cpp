// SPDX-License-Identifier: Apache-2.0
// Contact problems of single steps of a run, as FCLIB files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "stickslip/io/result_folder.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/fclib.hpp"
#include "stickslip/io/fclib_step.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;

// Of the length of a step: times that are nearer to its end than this are its end, however they were rounded.
constexpr double kSameTime = 1e-9;

/// Ascending, each once; all within the run.
std::vector<double> checked_times(const DumpCommand& command, const ModelFile& model) {
  std::vector<double> times = command.at;
  for (const double t : times)
    if (!(t >= model.run.start_time && t <= model.run.end_time))
      throw InputError(fmt::format("--at {}: outside the run, which goes from run.start_time = {:.9g} s to run.end_time "
                                   "= {:.9g} s; choose a time in it, or raise --set run.end_time=...",
                                   t, model.run.start_time, model.run.end_time));
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

struct DumpedStep {
  double time = 0, start = 0, end = 0;
  std::string file;     ///< empty: there was nothing to write
  std::string message;  ///< why not, or why the step is not solved
  Index contacts = 0;
  int dimension = 0;
  bool solved = false;
};

class Dump {
 public:
  Dump(const DumpCommand& command, const ModelFile& model, ResultFolder& folder)
      : model_(model),
        folder_(folder),
        name_(fs::path(command.model).stem().string()),
        times_(checked_times(command, model)) {}

  /// Takes the step if one of the times that are left is in it.
  void look(const StepProblem& step) {
    const bool solved = step.outcome.status == Status::success;
    const double reach = step.end + kSameTime * (step.end - step.start);
    for (; next_ < times_.size() && times_[next_] <= reach; ++next_) take(times_[next_], step, solved);
    if (step.contacts() == 0) return;
    (solved ? last_contact_ : unsolved_) = step.end;
  }
  bool done() const { return next_ == times_.size(); }
  double next() const { return times_[next_]; }
  /// End of the step that ended the run, where that has contacts.
  const std::optional<double>& unsolved() const { return unsolved_; }
  const std::vector<DumpedStep>& steps() const { return steps_; }

 private:
  void take(double time, const StepProblem& step, bool solved) {
    DumpedStep dumped;
    dumped.time = time;
    dumped.start = step.start;
    dumped.end = step.end;
    dumped.solved = solved;
    if (step.contacts() == 0) {
      dumped.message = fmt::format("no contact takes part in the step from t = {:.9g} s to {:.9g} s", step.start, step.end) +
                       (last_contact_ ? fmt::format("; the last step before with contacts: --at {}", *last_contact_)
                                      : std::string("; none did before: choose a later time"));
      steps_.push_back(std::move(dumped));
      return;
    }
    FclibStep file = fclib_step(step);
    dumped.contacts = contact_count(file.problem);
    dumped.dimension = file.problem.dimension;
    if (!solved) dumped.message = step.outcome.message;
    file.problem.info.title = fmt::format("{}, step to t = {:.9g} s", name_, step.end);
    file.problem.info.description =
        fmt::format("contact problem of the step from t = {:.17g} s to t = {:.17g} s of {}, scheme moreau{}", step.start,
                    step.end, model_.path, solved ? "" : "; the step was not solved");
    const fs::path path = folder_.open() / fmt::format("{}-t{}.hdf5", name_, time);
    write_fclib(path, file.problem);
    if (solved) write_fclib_solution(path, path, file.solution);
    dumped.file = path.string();
    steps_.push_back(std::move(dumped));
  }

  const ModelFile& model_;
  ResultFolder& folder_;
  std::string name_;
  std::vector<double> times_;
  std::size_t next_ = 0;
  std::optional<double> last_contact_, unsolved_;
  std::vector<DumpedStep> steps_;
};

/// Why times are missing that the run never came to.
std::string missing_message(const Dump& dump, const Simulation& simulation) {
  if (dump.done()) return "";
  return fmt::format("t = {} s was not reached: {}", dump.next(), simulation.message) +
         (dump.unsolved() ? fmt::format("; --at {} keeps the problem of that step", *dump.unsolved()) : "");
}

void print_json(const Dump& dump, const std::string& status, const std::string& message) {
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

void print_words(const Dump& dump, const std::string& message) {
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
  Dump steps(command, model, folder);
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
  const bool none_there = std::any_of(steps.steps().begin(), steps.steps().end(),
                                      [](const DumpedStep& step) { return step.file.empty(); });
  const bool unsolved = std::any_of(steps.steps().begin(), steps.steps().end(),
                                    [](const DumpedStep& step) { return !step.solved; });
  const bool ended = !message.empty() || unsolved;
  if (command.json)
    print_json(steps, ended ? std::string(to_string(simulation.status)) : none_there ? "wrong_input" : "success", message);
  else
    print_words(steps, message);
  return ended ? kNoSuccess : none_there ? kWrongInput : kSuccess;
}

}  // namespace stickslip::cli
