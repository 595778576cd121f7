// SPDX-License-Identifier: Apache-2.0
// stickslip compare --epsilons: convergence of the spring-damper replacement of constraints.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/storing.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/epsilon_result.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_folder.hpp"

namespace stickslip::cli {

namespace {

std::vector<double> epsilon_list(const std::string& text) {
  std::vector<double> epsilons;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    char* end = nullptr;
    epsilons.push_back(std::strtod(part.c_str(), &end));
    if (part.empty() || *end != '\0') throw InputError(fmt::format("--epsilons {}: '{}' is not a number", text, part));
  }
  return epsilons;
}

}  // namespace

int compare_epsilons(const CompareCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  if (!model.has_run)
    throw InputError(fmt::format("{}: there is no [run] table; add one with end_time", command.model));
  EpsilonStudyOptions options;
  options.epsilons = epsilon_list(command.epsilons);
  options.tolerance = std::min(model.run.tolerance, 1e-10);
  options.integrator = model.run.viscoelastic.integrator;
  options.stop = interrupt_request();
  ResultFolder results(command.out.empty() ? std::filesystem::path(command.model).stem().string() + "-compare"
                                           : command.out);
  catch_interrupts();
  ProgressBar bar("comparing", !command.json);
  const EpsilonStudy study = study_epsilon(*model.system, model.initial, model.run.start_time, model.run.end_time,
                                           options, [&](double fraction) {
                                             bar.update(fraction);
                                             return !interrupted();
                                           });
  bar.finish();
  const std::filesystem::path& folder = results.path();
  const std::string json = epsilon_json(command.model, study);
  const std::string failure = unstored([&] {
    results.open_cleared();
    write_report(folder / "report.html", epsilon_report(model, study));
    write_text_file(folder / "summary.json", json);
  });
  if (command.json) {
    print_out("{}", json);
  } else {
    print_out("{}\n  reference: event, tolerance 1e-13\n\n  {:<10}", model.title, "epsilon");
    for (const EpsilonColumn& column : kEpsilonColumns) print_out("{:>13}", column.label);
    print_out("{:>13}\n", "evaluations");
    for (const EpsilonRun& run : study.runs) {
      print_out("  {:<10.3g}", run.epsilon);
      for (const EpsilonColumn& column : kEpsilonColumns) print_out("{:>13.3e}", run.errors.*column.error);
      print_out("{:>13}\n", run.evaluations);
    }
    print_out("  {:<10}", "exponent");
    for (const EpsilonColumn& column : kEpsilonColumns) {
      const double exponent = study.exponents.*column.error;
      print_out("{:>13}", std::isfinite(exponent) ? fmt::format("{:.3f}", exponent) : "-");
    }
    print_out("\n  results: {}\n", folder.string());
    if (!study.message.empty()) print_error("stickslip: {}\n", study.message);
  }
  if (!failure.empty()) print_error("stickslip: {}\n", failure);
  return study.status == Status::success && failure.empty() ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
