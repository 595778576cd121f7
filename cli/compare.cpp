// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/storing.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/comparison_result.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_folder.hpp"

namespace stickslip::cli {

namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::vector<double> step_list(const std::string& text, const SimulationOptions& run) {
  std::vector<double> steps;
  for (const std::string& part : split(text)) {
    char* end = nullptr;
    steps.push_back(std::strtod(part.c_str(), &end));
    if (*end != '\0') throw InputError(fmt::format("--steps {}: '{}' is not a number", text, part));
  }
  return steps.empty() ? default_steps(run) : steps;
}

std::string size_text(const ComparedRun& run) {
  return run.tolerance > 0 ? fmt::format("tol {:g}", run.tolerance) : fmt::format("{:.4g}", run.step);
}

}  // namespace

int compare(const CompareCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  if (!model.has_run)
    throw InputError(fmt::format("{}: there is no [run] table; add one with end_time and step", command.model));
  ComparisonOptions options;
  for (const std::string& name : split(command.schemes)) options.schemes.push_back(scheme_from(name));
  if (command.schemes.empty()) options.schemes = comparable_schemes(*model.system);
  options.stop = interrupt_request();
  options.steps = step_list(command.steps, model.run);
  ResultFolder results(command.out.empty() ? std::filesystem::path(command.model).stem().string() + "-compare"
                                           : command.out);
  catch_interrupts();
  ProgressBar bar("comparing", !command.json);
  const Comparison comparison = compare_schemes(*model.system, model.initial, model.run, options, [&](double fraction) {
    bar.update(fraction);
    return !interrupted();
  });
  bar.finish();
  const std::filesystem::path& folder = results.path();
  const std::string json = comparison_json(command.model, comparison);
  const std::string failure = unstored([&] {
    results.open_cleared();
    write_report(folder / "report.html", comparison_report(model, comparison));
    write_text_file(folder / "summary.json", json);
  });
  if (command.json) {
    print_out("{}", json);
  } else {
    print_out("{}\n  reference: {}\n", model.title, reference_text(comparison));
    if (!comparison.reference_note.empty()) print_out("  ({})\n", comparison.reference_note);
    print_out("\n  {:<12}{:>12}{:>10}{:>16}{:>16}{:>10}{:>12}\n", "scheme", "step [s]", "steps", "position error",
              "velocity error", "events", "time [s]");
    for (const ComparedRun& run : comparison.runs)
      print_out("  {:<12}{:>12}{:>10}{:>16.3e}{:>16.3e}{:>10}{:>12.3g}{}\n", to_string(run.scheme), size_text(run),
                run.tolerance > 0 ? "own" : fmt::format("{}", run.simulation.steps), run.position_error,
                run.velocity_error, run.simulation.trajectory.events.size(), run.wall_seconds,
                run.simulation.status == Status::success ? "" : fmt::format("  {}", to_string(run.simulation.status)));
    print_out("\n");
    for (const ObservedOrder& order : comparison.orders)
      print_out("  observed {} of {}: {} in position, {} in velocity\n",
                order.over_tolerance ? "power of the tolerance" : "order", to_string(order.scheme),
                order_text(order.position, order.position_reason), order_text(order.velocity, order.velocity_reason));
    print_out("  results: {}\n", folder.string());
    if (!comparison.message.empty()) print_error("stickslip: {}\n", comparison.message);
  }
  if (!failure.empty()) print_error("stickslip: {}\n", failure);
  return comparison.status == Status::success && failure.empty() ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
