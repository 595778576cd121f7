// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

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

void print_summary(const ShootingProblem& problem, const ShootingSolution& solution, const ModelFile& model,
                   const std::string& results, double wall) {
  print_out("{}\n", model.title.empty() ? model.path : model.title);
  print_out("  {}: {} after {} iterations, {} runs in {:.3g} s\n", method_of(problem, solution),
            to_string(solution.status), solution.iterations, solution.runs, wall);
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
  print_out("  results: {}\n", results);
  if (!solution.message.empty()) print_error("stickslip: {}\n", solution.message);
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
  ShootingOptions options = model.shoot->options;
  catch_interrupts();
  ProgressBar bar("shooting", !command.json);
  options.stop = interrupt_request();
  options.progress = [&](double fraction) { bar.update(fraction); };
  const auto begin = std::chrono::steady_clock::now();
  const ShootingSolution solution = shoot(problem, options);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  bar.finish();

  ShootingResult result = shooting_result(model, command.model, problem, solution, wall);
  const std::filesystem::path& folder = results.path();
  const std::string failure = unstored([&] {
    if (solution.history.empty() || interrupted()) {  // what was computed is kept, nothing new is begun
      results.open_cleared();
    } else {
      result.motion = store_motion(results, result.names, result.header,
                                   [&](const SimulationHooks& hooks) { return follow(problem, solution, hooks); });
    }
    write_text_file(folder / "history.csv", shooting_history_csv(result));
    write_report(folder / "report.html", shooting_report(result, model));
    write_text_file(folder / "summary.json", shooting_json(result));
  });
  if (!failure.empty()) {
    result.solution.status = Status::interrupted;
    result.solution.message = failure;
  }
  if (command.json)
    write_out(shooting_json(result));
  else
    print_summary(problem, solution, model, folder.string(), wall);
  if (!failure.empty()) print_error("stickslip: {}\n", failure);
  return result.solution.status == Status::success ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
