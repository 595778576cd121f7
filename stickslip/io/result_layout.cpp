// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/result_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "stickslip/common/error.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/output_error.hpp"

namespace stickslip {
namespace {

using hdf5::Element;

template <class Enum>
std::vector<std::string> enum_names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(to_string(static_cast<Enum>(i)));
  return names;
}

void make_inputs(hdf5::File& file, const RunInputs& inputs) {
  hdf5::make_group(file, "inputs");
  make_texts(file, "inputs/model_text", {inputs.model_text});
  make_texts(file, "inputs/set", inputs.settings);
  make_texts(file, "inputs/parts", inputs.parts);
  std::vector<std::string> names, files;
  std::vector<double> values;
  for (const auto& [name, value] : inputs.parameters) {
    names.push_back(name);
    values.push_back(value);
  }
  make_texts(file, "inputs/parameter_names", names);
  make_numbers(file, "inputs/parameter_values", values);
  for (const auto& [name, text] : inputs.files) {
    make_texts(file, fmt::format("inputs/file_{}", files.size()), {text});
    files.push_back(name);
  }
  make_texts(file, "inputs/file_names", files);
}

struct TableOfRows {
  const char* name;
  Element element;
  std::size_t bytes;
};
constexpr TableOfRows kRowTables[] = {{"position", Element::float64, 8},
                                      {"velocity", Element::float64, 8},
                                      {"reaction", Element::float64, 8},
                                      {"smooth", Element::float64, 8},
                                      {"friction_velocity", Element::float64, 8},
                                      {"sensitivity", Element::float64, 8},
                                      {"energy", Element::float64, 8},
                                      {"modes", Element::int8, 1},
                                      {"facets", Element::int32, 4},
                                      {"contact_forces/end", Element::int64, 8},
                                      {"t", Element::float64, 8}};
constexpr TableOfRows kEventTables[] = {
    {"events/law", Element::int32, 4},           {"events/kind", Element::int8, 1},
    {"events/before", Element::int8, 1},         {"events/after", Element::int8, 1},
    {"events/facets_before", Element::int32, 4}, {"events/facets_after", Element::int32, 4},
    {"events/impulse", Element::float64, 8},     {"events/t", Element::float64, 8}};
constexpr TableOfRows kPointTables[] = {
    {"contact_forces/t", Element::float64, 8},        {"contact_forces/law", Element::int32, 4},
    {"contact_forces/first", Element::int32, 4},      {"contact_forces/second", Element::int32, 4},
    {"contact_forces/position", Element::float64, 8}, {"contact_forces/force", Element::float64, 8}};

/// The first `count` rows of each table. What the earlier file does not have is not-a-number there, or -1.
void copy_tables(const hdf5::File& from, const hdf5::File& to, std::span<const TableOfRows> tables, hsize_t count,
                 StopRequest stop) {
  constexpr std::size_t kBlockBytes = 8 << 20;
  for (const TableOfRows& entry : tables) {
    if (!to.has(entry.name)) continue;
    hdf5::Table table(to, entry.name, entry.element);
    const std::size_t columns = hdf5::shape_of(to, entry.name).columns;
    const bool known = from.has(entry.name) && hdf5::shape_of(from, entry.name).columns == columns;
    const hsize_t block = std::max<hsize_t>(1, kBlockBytes / (columns * entry.bytes));
    std::vector<char> bytes(std::min(block, std::max<hsize_t>(count, 1)) * columns * entry.bytes, char(-1));
    for (hsize_t first = 0; first < count; first += block) {
      if (stop && stop->load())
        throw OutputError("stopped while the rows of the earlier part were copied; nothing has changed");
      const hsize_t rows = std::min(block, count - first);
      if (known) hdf5::read_rows(from, entry.name, entry.element, first, rows, bytes.data());
      table.append(to, bytes.data(), rows);
    }
  }
}

void make_description(hdf5::File& file, const TrajectoryNames& names, const ResultHeader& header) {
  make_text_attribute(file, "/", "format", "stickslip result 1");
  make_text_attribute(file, "/", "title", header.title);
  make_text_attribute(file, "/", "model", header.model);
  make_text_attribute(file, "/", "scheme", header.scheme);
  make_text_attribute(file, "/", "version", header.version);
  make_text_attribute(file, "/", "date", header.inputs.date);
  make_text_attribute(file, "/", "units", "SI: s, m, rad, m/s, rad/s, N, N m, N s, J");
  // Datasets and not attributes: what changes at the end then lies outside of every header.
  hdf5::make_group(file, "outcome");
  make_text(file, "outcome/status", "running", 64);
  make_text(file, "outcome/message", "", 2000);
  for (const char* name : {"steps", "problems", "end_time", "wall_seconds"})
    make_array(file, std::string("outcome/") + name, Element::float64, 1, 0);
  hdf5::make_group(file, "names");
  make_texts(file, "names/coordinates", names.coordinates);
  make_texts(file, "names/velocities", names.velocities);
  make_texts(file, "names/laws", names.laws);
  make_texts(file, "names/reactions", names.reactions);
  make_texts(file, "names/sensitivities", names.unknowns);
  make_texts(file, "names/bodies", header.bodies);
  make_inputs(file, header.inputs);
}

/// Tables that grow; `unit` may be empty.
struct GrowingTables {
  hdf5::File& file;
  hsize_t expected_rows;
  void operator()(const std::string& name, Element element, hsize_t columns, const char* unit) const {
    hdf5::make_table(file, name, element, columns, expected_rows);
    if (*unit != '\0') make_text_attribute(file, name, "unit", unit);
  }
};

void make_rows(hdf5::File& file, const TrajectoryNames& names, hsize_t expected_rows) {
  const GrowingTables table{file, expected_rows};
  const hsize_t nq = names.coordinates.size(), nv = names.velocities.size(), m = names.reactions.size();
  if (nq > 0) table("position", Element::float64, nq, "m, rad");
  if (nv > 0) table("velocity", Element::float64, nv, "m/s, rad/s");
  if (m > 0) table("reaction", Element::float64, m, "N, N m");
  if (m > 0 && names.smooth_part) table("smooth", Element::float64, m, "N, N m");
  if (nv > 0 && names.friction_velocity) table("friction_velocity", Element::float64, nv, "m/s, rad/s");
  if (!names.unknowns.empty()) {
    table("sensitivity", Element::float64, names.derivatives() * names.unknowns.size(), "");
    make_texts_attribute(file, "sensitivity", "columns", sensitivity_columns(names));
  }
  table("energy", Element::float64, energy_columns().size(), "J");
  make_texts_attribute(file, "energy", "columns", energy_columns());
  if (!names.laws.empty()) {
    table("modes", Element::int8, names.laws.size(), "");
    make_texts_attribute(file, "modes", "names", enum_names<Mode>(kModeCount));
    if (names.facets) table("facets", Element::int32, 2 * names.laws.size(), "");
  }
  table("t", Element::float64, 0, "s");
}

void make_events(hdf5::File& file, const TrajectoryNames& names, hsize_t expected_rows) {
  const GrowingTables table{file, expected_rows};
  hdf5::make_group(file, "events");
  table("events/law", Element::int32, 0, "");
  table("events/kind", Element::int8, 0, "");
  table("events/before", Element::int8, 0, "");
  table("events/after", Element::int8, 0, "");
  if (names.facets) {
    table("events/facets_before", Element::int32, 2, "");
    table("events/facets_after", Element::int32, 2, "");
  }
  table("events/impulse", Element::float64, 0, "N s");
  table("events/t", Element::float64, 0, "s");
  make_texts_attribute(file, "events/kind", "names", enum_names<EventKind>(kEventKindCount));
  make_texts_attribute(file, "events/before", "names", enum_names<Mode>(kModeCount));
  make_texts_attribute(file, "events/after", "names", enum_names<Mode>(kModeCount));
}

void make_contact_forces(hdf5::File& file, hsize_t expected_rows) {
  const GrowingTables table{file, expected_rows};
  hdf5::make_group(file, "contact_forces");
  table("contact_forces/end", Element::int64, 0, "");
  table("contact_forces/t", Element::float64, 0, "s");
  for (const char* name : {"law", "first", "second"})
    table(std::string("contact_forces/") + name, Element::int32, 0, "");
  table("contact_forces/position", Element::float64, 3, "m");
  table("contact_forces/force", Element::float64, 3, "N");
}

/// Two states in turn, so that one is whole while the other is written.
void make_restart(hdf5::File& file, const TrajectoryNames& names, std::size_t internal) {
  hdf5::make_group(file, "restart");
  make_array(file, "restart/counts", Element::int64, 2, 3);
  hdf5::make_table(file, "restart/memory_0", Element::int64, 0, 0);
  hdf5::make_table(file, "restart/memory_1", Element::int64, 0, 0);
  make_array(file, "restart/t", Element::float64, 2, 0);
  if (!names.coordinates.empty()) make_array(file, "restart/position", Element::float64, 2, names.coordinates.size());
  if (!names.velocities.empty()) make_array(file, "restart/velocity", Element::float64, 2, names.velocities.size());
  if (internal > 0) make_array(file, "restart/internal", Element::float64, 2, internal);
  if (!names.laws.empty()) make_array(file, "restart/modes", Element::int8, 2, names.laws.size());
  make_array(file, "restart/latest", Element::int64, 1, 0);
}

}  // namespace

const std::vector<std::string>& energy_columns() {
  static const std::vector<std::string> columns = {"kinetic",       "potential",   "work_in",
                                                   "friction_loss", "damper_loss", "impact_loss",
                                                   "unexplained",   "correction",  "initial"};
  return columns;
}

void make_result_file(const std::filesystem::path& path, const TrajectoryNames& names, const ResultHeader& header) {
  hdf5::File file = hdf5::File::create(path);
  make_description(file, names, header);
  make_rows(file, names, header.expected_rows);
  make_events(file, names, header.expected_rows);
  if (!header.bodies.empty()) make_contact_forces(file, header.expected_rows);
  make_restart(file, names, header.internal.size());
  file.close();
}

void copy_earlier(const std::filesystem::path& part, const EarlierResult& earlier) {
  bool left_open = false;
  const hdf5::File from = hdf5::File::read(earlier.file, left_open);
  hdf5::File to = hdf5::File::append(part);
  const auto rows = static_cast<hsize_t>(earlier.checkpoint.rows);
  if (rows > hdf5::shape_of(from, "t").rows ||
      static_cast<hsize_t>(earlier.checkpoint.events) > hdf5::shape_of(from, "events/t").rows)
    throw InputError(fmt::format("{}: rows are missing before the stored state", earlier.file.string()));
  std::int64_t points = 0;
  if (rows > 0 && to.has("contact_forces") && from.has("contact_forces"))
    hdf5::read_rows(from, "contact_forces/end", Element::int64, rows - 1, 1, &points);
  copy_tables(from, to, kPointTables, static_cast<hsize_t>(points), earlier.stop);
  copy_tables(from, to, kRowTables, rows, earlier.stop);
  copy_tables(from, to, kEventTables, static_cast<hsize_t>(earlier.checkpoint.events), earlier.stop);
  to.close();
}

void write_checkpoint(const hdf5::File& file, const Checkpoint& checkpoint, std::size_t laws, std::int64_t number) {
  const std::int64_t slot = number % 2;
  const State& state = checkpoint.state;
  std::vector<std::int8_t> modes(laws, -1);
  for (std::size_t i = 0; i < std::min(state.modes.size(), modes.size()); ++i)
    modes[i] = static_cast<std::int8_t>(state.modes[i]);
  write_row(file, "restart/t", Element::float64, slot, &state.t);
  if (state.q.size() > 0) write_row(file, "restart/position", Element::float64, slot, state.q.data());
  if (state.v.size() > 0) write_row(file, "restart/velocity", Element::float64, slot, state.v.data());
  if (state.z.size() > 0 && file.has("restart/internal"))
    write_row(file, "restart/internal", Element::float64, slot, state.z.data());
  if (!modes.empty()) write_row(file, "restart/modes", Element::int8, slot, modes.data());
  const std::vector<std::int64_t>& words = checkpoint.memory.words();
  const std::string memory = fmt::format("restart/memory_{}", slot);
  hdf5::Table(file, memory, Element::int64).overwrite(file, words.data(), words.size());
  const std::int64_t counts[3] = {checkpoint.rows, checkpoint.events, static_cast<std::int64_t>(words.size())};
  write_row(file, "restart/counts", Element::int64, slot, counts);
  write_row(file, "restart/latest", Element::int64, 0, &number);
}

}  // namespace stickslip
