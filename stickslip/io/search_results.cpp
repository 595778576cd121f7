// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/search_results.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/io/csv_writer.hpp"

namespace stickslip {

using nlohmann::ordered_json;

ordered_json json_number(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr); }

ordered_json json_numbers(const Vector& values) {
  ordered_json list = ordered_json::array();
  for (const double value : values) list.push_back(json_number(value));
  return list;
}

ordered_json json_by_name(std::span<const Unknown> unknowns, const Vector& values) {
  ordered_json object = ordered_json::object();
  for (std::size_t k = 0; k < unknowns.size(); ++k)
    object[unknowns[k].name] = json_number(values[static_cast<Index>(k)]);
  return object;
}

ordered_json json_final(const Simulation& simulation) {
  ordered_json final{{"t", simulation.final.t},
                     {"position", json_numbers(simulation.final.q)},
                     {"velocity", json_numbers(simulation.final.v)},
                     {"reaction", json_numbers(simulation.final_reaction)}};
  if (simulation.final.z.size() > 0) final["internal"] = json_numbers(simulation.final.z);
  return final;
}

void add_run_keys(ordered_json& json, const ResultHeader& header, const TrajectoryNames& names) {
  json["title"] = header.title;
  json["model"] = header.model;
  json["scheme"] = header.scheme;
  json["version"] = header.version;
  json["coordinates"] = names.coordinates;
  json["velocities"] = names.velocities;
  json["laws"] = names.laws;
  json["reactions"] = names.reactions;
  json["date"] = header.inputs.date;
  json["set"] = header.inputs.settings;
  ordered_json parameters = ordered_json::object();
  for (const auto& [name, value] : header.inputs.parameters) parameters[name] = json_number(value);
  json["parameters"] = parameters;
  json["model_text"] = header.inputs.model_text;
}

std::string history_csv(const std::string& measure, std::span<const Unknown> unknowns,
                        std::span<const SearchStep> history) {
  std::string text = "iteration," + measure;
  for (const Unknown& unknown : unknowns) text += "," + csv_cell(unknown.name);
  text += "\n";
  for (std::size_t k = 0; k < history.size(); ++k) {
    text += fmt::format("{},{}", k, history[k].measure);
    for (const double value : history[k].unknowns) text += fmt::format(",{}", value);
    text += "\n";
  }
  return text;
}

ReportFigure history_figure(const std::string& measure, const std::string& note, std::span<const SearchStep> history) {
  ReportFigure figure{"History", note, "", {"iteration", "", false}, {measure, "", true}, {}, {}, {}};
  ReportSeries series{measure, {}, {}, false, true, true, false};
  for (std::size_t k = 0; k < history.size(); ++k)
    if (history[k].measure > 0) {
      series.x.push_back(static_cast<double>(k));
      series.y.push_back(history[k].measure);
    }
  figure.series = {series};
  return figure;
}

ReportTable history_table(const std::string& measure, std::span<const Unknown> unknowns,
                          std::span<const SearchStep> history) {
  ReportTable table{"Iterations", "", {"iteration", measure}, {}, -1};
  for (const Unknown& unknown : unknowns) table.columns.push_back(unknown.name);
  for (std::size_t k = 0; k < history.size(); ++k) {
    table.rows.push_back({static_cast<double>(k), history[k].measure});
    for (const double value : history[k].unknowns) table.rows.back().emplace_back(value);
  }
  return table;
}

}  // namespace stickslip
