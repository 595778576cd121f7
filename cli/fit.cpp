// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/motion_results.hpp"
#include "cli/report_page.hpp"
#include "cli/storing.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/boundary_case.hpp"
#include "stickslip/io/fit_result.hpp"
#include "stickslip/io/output_file.hpp"

namespace stickslip::cli {

namespace {

/// Where there is no place of results, nothing is said of one.
void print_summary(const FitResult& result, const ModelFile& model, const std::string& place) {
  const FitProblem& problem = result.problem;
  const FitSolution& solution = result.solution;
  print_out("{}\n", model.title.empty() ? model.path : model.title);
  print_out("  fit to {} values: {} after {} iterations, {} runs in {:.3g} s\n", problem.data.count(),
            to_string(solution.status), solution.iterations, solution.runs, result.wall_seconds);
  for (std::size_t k = 0; k < problem.unknowns.size(); ++k) {
    const Index j = static_cast<Index>(k);
    const double error = solution.standard_errors.size() > j ? solution.standard_errors[j] : HUGE_VAL;
    print_out("  {:<16} = {:<14.8g} {}\n", problem.unknowns[k].name, solution.unknowns[j],
              std::isfinite(error) ? fmt::format("+- {:.2g}", error) : "(not determined)");
  }
  for (std::size_t c = 0; c < solution.column_rms.size(); ++c)
    print_out("  rms of {}: {:.4g}\n", problem.data.columns[c].name, solution.column_rms[c]);
  for (const std::string& note : solution.notes) print_out("  note: {}\n", note);
  if (!place.empty()) print_out("  results: {}\n", place);
  if (!solution.message.empty()) print_error("stickslip: {}\n", solution.message);
}

/// The summary comes last: where it is, all is. What was computed is kept after a stop, nothing new is begun.
void store(ResultFolder& results, const ModelFile& model, FitResult& result) {
  const std::filesystem::path folder = results.open_cleared();
  if (!result.solution.model.empty() && !interrupted())
    result.motion = store_motion(results, result.names, result.header, [&](const SimulationHooks& hooks) {
      return run_fitted(result.problem, result.solution, hooks, result.curves);
    });
  write_text_file(folder / "history.csv", fit_history_csv(result));
  if (result.motion) write_text_file(folder / "fit.csv", fit_csv(result));
  write_report(folder / "report.html", fit_report(result, model));
  write_text_file(folder / "summary.json", fit_json(result));
}

}  // namespace

int fit(const FitCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  if (!model.fit)
    throw InputError(
        fmt::format("{}: there is no [fit] table; add one with unknowns (docs/model-file.md)", command.model));
  const std::string data_path = command.data.empty() ? model.fit->data : command.data;
  if (data_path.empty())
    throw InputError(
        fmt::format("{}: which data? Name a CSV file after the model, or in [fit], data = \"..\"", command.model));
  const FitProblem problem = fit_problem(model, read_measurements(data_path));
  ResultFolder results(command.out.empty() ? std::filesystem::path(command.model).stem().string() + "-fit"
                                           : command.out);
  results.open();  // nobody else's from now on; gone again if nothing comes into it
  FitOptions options = model.fit->options;
  catch_interrupts();
  ProgressBar bar("fitting", !command.json);
  options.stop = interrupt_request();
  options.progress = [&](double fraction) { bar.update(fraction); };
  const auto begin = std::chrono::steady_clock::now();
  const FitSolution solution = fit(problem, options);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  bar.finish();

  FitResult result = fit_result(model, command.model, data_path, problem, solution, wall);
  const std::string failure = unstored([&] { store(results, model, result); });
  if (!failure.empty()) {
    result.solution.status = Status::interrupted;
    result.solution.message = failure;
  }
  if (command.json) {
    write_out(fit_json(result));
    if (!failure.empty()) print_error("stickslip: {}\n", failure);
  } else {
    print_summary(result, model, failure.empty() ? results.path().string() : "");
  }
  return result.solution.status == Status::success ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
