// SPDX-License-Identifier: Apache-2.0
// stickslip compare --epsilons: convergence of the spring-damper replacement of constraints.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/result_folder.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/motion/viscoelastic/epsilon_study.hpp"

namespace stickslip::cli {

namespace {

struct Column {
  const char* name;
  const char* label;
  double EpsilonErrors::*error;
};
constexpr Column kColumns[] = {{"position", "q", &EpsilonErrors::position},
                               {"velocity", "v", &EpsilonErrors::velocity},
                               {"force", "Lambda", &EpsilonErrors::force},
                               {"late_position", "late q", &EpsilonErrors::late_position},
                               {"late_velocity", "late v", &EpsilonErrors::late_velocity},
                               {"late_force", "late Lambda", &EpsilonErrors::late_force},
                               {"force_l2", "L2 Lambda", &EpsilonErrors::force_l2}};

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

nlohmann::ordered_json to_json(const EpsilonErrors& errors) {
  nlohmann::ordered_json json;
  for (const Column& column : kColumns) {
    const double value = errors.*column.error;
    json[column.name] = std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  }
  return json;
}

ReportDocument document(const ModelFile& model, const EpsilonStudy& study) {
  ReportDocument page;
  page.title = model.title.empty() ? model.path : model.title;
  page.subtitle = "convergence of spring-dampers to constraints";
  page.generator = fmt::format("stickslip {}", version());
  page.ok = study.status == Status::success;
  page.status = page.ok ? "success" : study.message;
  ReportTable table{"Errors against the exact motion",
                    "sup over the run, and over its second half (late), when every layer has decayed; Lambda is the "
                    "instantaneous force. Last row: fitted exponents.",
                    {"epsilon"},
                    {},
                    -1};
  for (const Column& column : kColumns) table.columns.emplace_back(column.label);
  for (const char* name : {"evaluations", "steps", "smallest b"}) table.columns.emplace_back(name);
  for (const EpsilonRun& run : study.runs) {
    std::vector<ReportCell> row{run.epsilon};
    for (const Column& column : kColumns) row.push_back(run.errors.*column.error);
    row.push_back(static_cast<double>(run.evaluations));
    row.push_back(static_cast<double>(run.steps));
    row.push_back(run.fast_damping);
    table.rows.push_back(std::move(row));
  }
  std::vector<ReportCell> last{std::string("exponent")};
  for (const Column& column : kColumns) {
    const double exponent = study.exponents.*column.error;
    last.push_back(std::isfinite(exponent) ? ReportCell(exponent) : ReportCell(std::string("-")));
  }
  last.resize(table.columns.size());
  table.rows.push_back(std::move(last));
  ReportFigure errors{"Error against epsilon", "", "", {"epsilon", "", true}, {"error", "", true}, {}, {}, {}};
  for (const Column& column : kColumns) {
    ReportSeries series{column.label, {}, {}, false, true, true, false};
    for (const EpsilonRun& run : study.runs) {
      series.x.push_back(run.epsilon);
      series.y.push_back(run.errors.*column.error);
    }
    errors.series.push_back(std::move(series));
  }
  ReportFigure layers{"Error of Lambda against time",
                      "The initial layer is some sqrt(epsilon) long.",
                      "",
                      {"t", "s", true},
                      {"error of Lambda", "N", true},
                      {},
                      {},
                      {}};
  for (const EpsilonRun& run : study.runs)
    layers.series.push_back(
        {fmt::format("epsilon = {:g}", run.epsilon), run.t, run.force_error, false, false, true, false});
  page.blocks = {table, errors, layers};
  return page;
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
  const std::filesystem::path& folder = results.open_cleared();
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const EpsilonRun& run : study.runs)
    runs.push_back({{"epsilon", run.epsilon},
                    {"errors", to_json(run.errors)},
                    {"evaluations", run.evaluations},
                    {"steps", run.steps},
                    {"fast_damping", run.fast_damping},
                    {"wall_seconds", run.seconds}});
  const std::string json = nlohmann::ordered_json{{"status", to_string(study.status)},
                                                  {"message", study.message},
                                                  {"model", command.model},
                                                  {"reference", {{"scheme", "event"}, {"tolerance", 1e-13}}},
                                                  {"runs", runs},
                                                  {"exponents", to_json(study.exponents)}}
                               .dump(2) +
                           "\n";
  write_text_file(folder / "summary.json", json);
  write_report(folder / "report.html", document(model, study));
  if (command.json) {
    print_out("{}", json);
  } else {
    print_out("{}\n  reference: event, tolerance 1e-13\n\n  {:<10}", model.title, "epsilon");
    for (const Column& column : kColumns) print_out("{:>13}", column.label);
    print_out("{:>13}\n", "evaluations");
    for (const EpsilonRun& run : study.runs) {
      print_out("  {:<10.3g}", run.epsilon);
      for (const Column& column : kColumns) print_out("{:>13.3e}", run.errors.*column.error);
      print_out("{:>13}\n", run.evaluations);
    }
    print_out("  {:<10}", "exponent");
    for (const Column& column : kColumns) {
      const double exponent = study.exponents.*column.error;
      print_out("{:>13}", std::isfinite(exponent) ? fmt::format("{:.3f}", exponent) : "-");
    }
    print_out("\n  results: {}\n", folder.string());
    if (!study.message.empty()) print_error("stickslip: {}\n", study.message);
  }
  return study.status == Status::success ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
