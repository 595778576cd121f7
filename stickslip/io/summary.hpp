// SPDX-License-Identifier: Apache-2.0
// summary.json: how a run ended, in one object. Keys, in this order:
//
//   status, message, title, model, scheme, version, steps, problems, end_time (reached) [s],
//   coordinates, velocities, laws, reactions (names), final {position, velocity, reaction, modes},
//   notes [sentences] (run_notes.hpp),
//   events {kind: count, every kind}, audit {name: {value, limit, guaranteed, ok, unit, meaning}}, wall_seconds,
//   date (of the start, ISO 8601, UTC), set (every --set), parameters {name: value}, files (names of those that the
//   model reads), model_text, parts (of a run that went on: what was given for the parts before)
//
// `limit` is null where nothing is guaranteed. JSON has no number for infinity and not-a-number: they are null.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "stickslip/motion/simulate.hpp"

namespace stickslip {

/// Everything that a run is made from.
struct RunInputs {
  std::string model_text;
  std::vector<std::string> settings;                       ///< every --set, in order
  std::vector<std::pair<std::string, double>> parameters;  ///< with their values in this run
  std::string date;                                        ///< of the start: 2026-11-16T14:48:47Z
  std::vector<std::pair<std::string, std::string>> files;  ///< that the model names, as (path, text)
  /// Of a run that went on: one JSON object per part before this one, {until, date, version, scheme, set}.
  std::vector<std::string> parts;
};
/// The time now, ISO 8601, UTC.
std::string utc_date();

/// What is known about a run before it starts.
struct ResultHeader {
  std::string title;
  std::string model;  ///< the model file as the user named it
  std::string scheme;
  std::string version;                     ///< of stickslip
  std::vector<std::string> internal = {};  ///< names of State::z, where their number is fixed
  double expected_rows = 0;           ///< of the trajectory, roughly; 0: unknown. Long runs are stored in larger pieces
  std::vector<std::string> bodies{};  ///< names for PointForce::first and second
  RunInputs inputs{};
};

inline constexpr std::array kEventKinds = {EventKind::stick, EventKind::slip,   EventKind::reversal, EventKind::open,
                                           EventKind::close, EventKind::impact, EventKind::facet};
using EventCounts = std::array<long, kEventKinds.size()>;  ///< in the order of kEventKinds
EventCounts count_events(const std::vector<Event>& events);

struct SummaryData {
  ResultHeader header;
  Status status = Status::success;
  std::string message;
  long steps = 0, problems = 0;
  double end_time = 0;  ///< reached [s]
  std::vector<std::string> coordinates, velocities, laws, reactions;
  State final;
  Vector final_reaction;  ///< mean over the last step [N, N m]
  EventCounts events{};
  std::vector<AuditItem> audit;
  std::vector<std::string> notes;
  double wall_seconds = 0;
};
SummaryData summary_data(const ResultHeader& header, const Simulation& simulation, double wall_seconds);

/// Indented by two spaces, ends with a line break.
std::string summary_json(const SummaryData& data);

}  // namespace stickslip
