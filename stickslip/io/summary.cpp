// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/summary.hpp"

#include <algorithm>
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
  data.events = count_events(simulation.trajectory.events);
  data.audit = simulation.audit;
  data.notes = simulation.notes;
  data.wall_seconds = wall_seconds;
  return data;
}

std::string summary_json(const SummaryData& data) {
  Json modes = Json::array();
  for (const Mode mode : data.final.modes) modes.push_back(to_string(mode));
  Json events = Json::object();
  for (std::size_t k = 0; k < kEventKinds.size(); ++k) events[std::string(to_string(kEventKinds[k]))] = data.events[k];
  Json audit = Json::object();
  for (const AuditItem& item : data.audit)
    audit[item.name] = {{"value", item.value},
                        {"limit", item.guaranteed ? Json(item.limit) : Json()},
                        {"guaranteed", item.guaranteed},
                        {"ok", item.ok},
                        {"unit", item.unit},
                        {"meaning", item.meaning}};
  const Json summary = {{"status", to_string(data.status)},
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
                        {"notes", data.notes},
                        {"events", events},
                        {"audit", audit},
                        {"wall_seconds", data.wall_seconds}};
  return summary.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace stickslip
