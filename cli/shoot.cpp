// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>

#include "cli/commands.hpp"
#include "cli/motion_results.hpp"
#include "cli/report_page.hpp"
#include "cli/storing.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/boundary_case.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/shooting_result.hpp"

namespace stickslip::cli {

namespace {

/// Where there is no place of results, nothing is said of one.
void print_summary(const ShootingResult& result, const ModelFile& model, const std::string& place) {
  const ShootingProblem& problem = result.problem;
  const ShootingSolution& solution = result.solution;
  print_out("{}\n", model.title.empty() ? model.path : model.title);
  print_out("  {}: {} after {} iterations, {} runs in {:.3g} s\n", method_of(problem, solution),
            to_string(solution.status), solution.iterations, solution.runs, result.wall_seconds);
  constexpr std::size_t kMostLines = 40;
  for (std::size_t k = 0; k < std::min(kMostLines, problem.unknowns.size()); ++k)
    print_out("  {:<16} = {:.12g}\n", problem.unknowns[k].name, solution.unknowns[static_cast<Index>(k)]);
  if (problem.unknowns.size() > kMostLines)
    print_out("  .. and {} more: summary.json\n", problem.unknowns.size() - kMostLines);
  for (Index i = 0; i < solution.conditions.size(); ++i) {
    const Condition& condition = problem.conditions[static_cast<std::size_t>(i)];
    print_out("  condition {} {}: {:.3e} left\n", condition.text(), condition.when(), solution.conditions[i]);
  }
  for (const std::string& note : solution.notes) print_out("  note: {}\n", note);
  if (!place.empty()) print_out("  results: {}\n", place);
  if (!solution.message.empty()) print_error("stickslip: {}\n", solution.message);
}

/// The summary comes last: where it is, all is. What was computed is kept after a stop, nothing new is begun.
void store(ResultFolder& results, const ModelFile& model, ShootingResult& result) {
  const std::filesystem::path folder = results.open_cleared();
  if (!result.solution.history.empty() && !interrupted())
    add_motion(result, store_motion(results, result.names, result.header, [&](const SimulationHooks& hooks) {
                 return follow(result.problem, result.solution, hooks);
               }));
  write_text_file(folder / "history.csv", shooting_history_csv(result));
  write_report(folder / "report.html", shooting_report(result, model));
  write_text_file(folder / "summary.json", shooting_json(result));
}

/// In a thread of its own: the step of very many segments is one factorisation, which no request to stop reaches.
/// Nothing if it has not ended some time after one; the thread then still runs.
std::optional<ShootingSolution> search(const ShootingProblem& problem, const ShootingOptions& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience{5};
  std::packaged_task<ShootingSolution()> task([&] { return shoot(problem, options); });
  std::future<ShootingSolution> found = task.get_future();
  std::thread worker(std::move(task));
  std::optional<Clock::time_point> asked;
  while (found.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    if (!interrupted()) continue;
    if (!asked) asked = Clock::now();
    if (Clock::now() - *asked < kPatience) continue;
    worker.detach();
    return std::nullopt;
  }
  worker.join();
  return found.get();
}

/// Leaving main() would pull the ground from under the search.
[[noreturn]] void leave(ResultFolder& results) {
  results.withdraw();
  print_error(
      "stickslip: interrupted inside a factorisation for all segments; nothing is stored. Take fewer segments\n");
  std::fflush(nullptr);
  _exit(kNoSuccess);
}

}  // namespace

int shoot(const ShootCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  if (!model.shoot)
    throw InputError(fmt::format(
        "{}: there is no [shoot] table; add one with end_time, unknowns and conditions (docs/model-file.md)",
        command.model));
  const ShootingProblem problem = shooting_problem(model);
  ResultFolder results(command.out.empty() ? std::filesystem::path(command.model).stem().string() + "-shoot"
                                           : command.out);
  results.open();  // nobody else's from now on; gone again if nothing comes into it
  ShootingOptions options = model.shoot->options;
  catch_interrupts();
  ProgressBar bar("shooting", !command.json);
  options.stop = interrupt_request();
  options.progress = [&](double fraction) { bar.update(fraction); };
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<ShootingSolution> found = search(problem, options);
  if (!found) leave(results);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  bar.finish();

  ShootingResult result = shooting_result(model, command.model, problem, *found, wall);
  const std::string failure = unstored([&] { store(results, model, result); });
  if (!failure.empty()) {
    result.solution.status = Status::interrupted;
    result.solution.message = failure;
  }
  if (command.json) {
    write_out(shooting_json(result));
    if (!failure.empty()) print_error("stickslip: {}\n", failure);
  } else {
    print_summary(result, model, failure.empty() ? results.path().string() : "");
  }
  return result.solution.status == Status::success ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
