// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/summary.hpp"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "stickslip/io/csv_writer.hpp"

namespace stickslip {
namespace {

using Json = nlohmann::ordered_json;

Json numbers(const Vector& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(value);  // dump() writes null for what is not finite
  return list;
}

}  // namespace

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts));
}

EventCounts count_events(const std::vector<Event>& events) {
  EventCounts counts{};
  for (const Event& event : events)
    ++counts[std::find(kEventKinds.begin(), kEventKinds.end(), event.kind) - kEventKinds.begin()];
  return counts;
}

SummaryData summary_data(const ResultHeader& header, const Simulation& simulation, double wall_seconds) {
  const TrajectoryNames& names = simulation.trajectory.names();
  SummaryData data;
  data.header = header;
  data.status = simulation.status;
  data.message = simulation.message;
  data.steps = simulation.steps;
  data.problems = simulation.problems;
  data.end_time = simulation.final.t;
  data.coordinates = names.coordinates;
  data.velocities = velocity_columns(names);
  data.laws = names.laws;
  data.reactions = names.reactions;
  data.final = simulation.final;
  data.final_reaction = simulation.final_reaction;
  data.events = simulation.event_counts;
  if (std::all_of(data.events.begin(), data.events.end(), [](long count) { return count == 0; }))
    data.events = count_events(simulation.trajectory.events);  // of a simulation that was made by hand
  data.audit = simulation.audit;
  data.notes = simulation.notes;
  data.wall_seconds = wall_seconds;
  return data;
}

std::string summary_json(const SummaryData& data) {
  Json modes = Json::array();
  for (const Mode mode : data.final.modes) modes.push_back(to_string(mode));
  Json events = Json::object();
  for (std::size_t k = 0; k < kEventKinds.size(); ++k)
    if (kEventKinds[k] != EventKind::facet || !data.final.facets.empty())  // of runs that follow facets
      events[std::string(to_string(kEventKinds[k]))] = data.events[k];
  Json audit = Json::object();
  for (const AuditItem& item : data.audit)
    audit[item.name] = {{"value", item.value},
                        {"limit", item.guaranteed ? Json(item.limit) : Json()},
                        {"guaranteed", item.guaranteed},
                        {"ok", item.ok},
                        {"unit", item.unit},
                        {"meaning", item.meaning}};
  const RunInputs& inputs = data.header.inputs;
  Json parameters = Json::object(), files = Json::array(), parts = Json::array();
  for (const auto& [name, value] : inputs.parameters) parameters[name] = value;
  for (const auto& [name, text] : inputs.files) files.push_back(name);
  for (const std::string& part : inputs.parts) parts.push_back(Json::parse(part, nullptr, false));
  Json summary = {{"status", to_string(data.status)},
                  {"message", data.message},
                  {"title", data.header.title},
                  {"model", data.header.model},
                  {"scheme", data.header.scheme},
                  {"version", data.header.version},
                  {"steps", data.steps},
                  {"problems", data.problems},
                  {"end_time", data.end_time},
                  {"coordinates", data.coordinates},
                  {"velocities", data.velocities},
                  {"laws", data.laws},
                  {"reactions", data.reactions},
                  {"final",
                   {{"position", numbers(data.final.q)},
                    {"velocity", numbers(data.final.v)},
                    {"reaction", numbers(data.final_reaction)},
                    {"modes", modes}}},
                  {"events", events},
                  {"audit", audit},
                  {"notes", data.notes},
                  {"wall_seconds", data.wall_seconds},
                  {"date", inputs.date},
                  {"set", inputs.settings},
                  {"parameters", parameters},
                  {"files", files},
                  {"model_text", inputs.model_text}};
  if (!parts.empty()) summary["parts"] = parts;
  for (const ActiveFacets& facets : data.final.facets) summary["final"]["facets"].push_back(to_string(facets));
  if (!data.header.internal.empty()) {
    summary["internal"] = data.header.internal;
    summary["final"]["internal"] = numbers(data.final.z);
  }
  return summary.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace stickslip
