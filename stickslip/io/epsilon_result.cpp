// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/epsilon_result.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "stickslip/common/version.hpp"

namespace stickslip {

namespace {

nlohmann::ordered_json to_json(const EpsilonErrors& errors) {
  nlohmann::ordered_json json;
  for (const EpsilonColumn& column : kEpsilonColumns) {
    const double value = errors.*column.error;
    json[column.name] = std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  }
  return json;
}

}  // namespace

std::string epsilon_json(const std::string& named, const EpsilonStudy& study) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const EpsilonRun& run : study.runs)
    runs.push_back({{"epsilon", run.epsilon},
                    {"errors", to_json(run.errors)},
                    {"evaluations", run.evaluations},
                    {"steps", run.steps},
                    {"fast_damping", run.fast_damping},
                    {"wall_seconds", run.seconds}});
  return nlohmann::ordered_json{{"status", to_string(study.status)},
                                {"message", study.message},
                                {"model", named},
                                {"reference", {{"scheme", "event"}, {"tolerance", 1e-13}}},
                                {"runs", runs},
                                {"exponents", to_json(study.exponents)}}
             .dump(2) +
         "\n";
}

ReportDocument epsilon_report(const ModelFile& model, const EpsilonStudy& study) {
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
  for (const EpsilonColumn& column : kEpsilonColumns) table.columns.emplace_back(column.label);
  for (const char* name : {"evaluations", "steps", "smallest b"}) table.columns.emplace_back(name);
  for (const EpsilonRun& run : study.runs) {
    std::vector<ReportCell> row{run.epsilon};
    for (const EpsilonColumn& column : kEpsilonColumns) row.push_back(run.errors.*column.error);
    row.push_back(static_cast<double>(run.evaluations));
    row.push_back(static_cast<double>(run.steps));
    row.push_back(run.fast_damping);
    table.rows.push_back(std::move(row));
  }
  std::vector<ReportCell> last{std::string("exponent")};
  for (const EpsilonColumn& column : kEpsilonColumns) {
    const double exponent = study.exponents.*column.error;
    last.push_back(std::isfinite(exponent) ? ReportCell(exponent) : ReportCell(std::string("-")));
  }
  last.resize(table.columns.size());
  table.rows.push_back(std::move(last));
  ReportFigure errors{"Error against epsilon", "", "", {"epsilon", "", true}, {"error", "", true}, {}, {}, {}};
  for (const EpsilonColumn& column : kEpsilonColumns) {
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

}  // namespace stickslip
