// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/result_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stickslip/common/error.hpp"
#include "stickslip/io/hdf5_file.hpp"

namespace stickslip {
namespace {

using hdf5::Element;

hdf5::File open_result(const std::filesystem::path& result, std::string& note) {
  const std::filesystem::path path = std::filesystem::is_directory(result) ? result / "result.h5" : result;
  if (!std::filesystem::exists(path)) throw InputError(fmt::format("{}: there is no such file", path.string()));
  bool left_open = false;
  hdf5::File file = hdf5::File::read(path, left_open);
  if (H5Aexists(file.id(), "format") <= 0 || hdf5::read_text_attribute(file, "/", "format") != "stickslip result 1")
    throw InputError(fmt::format("{}: this is not a result of stickslip", path.string()));
  note.clear();
  if (left_open || hdf5::read_text(file, "outcome/status") == "running")
    note = fmt::format(
        "{}: the run that writes this file has not ended, or was killed or failed; it was read up to its last flush",
        path.string());
  return file;
}

RowMatrix read_matrix(const hdf5::File& file, const std::string& name, hsize_t rows) {
  if (!file.has(name)) return RowMatrix(static_cast<Index>(rows), 0);
  RowMatrix values(static_cast<Index>(rows), static_cast<Index>(hdf5::shape_of(file, name).columns));
  hdf5::read_rows(file, name, Element::float64, 0, rows, values.data());
  return values;
}

template <class Number>
std::vector<Number> read_column(const hdf5::File& file, const std::string& name, Element element, hsize_t rows) {
  std::vector<Number> values(rows * hdf5::shape_of(file, name).columns);
  hdf5::read_rows(file, name, element, 0, rows, values.data());
  return values;
}

template <class Enum>
Enum enum_from(const hdf5::File& file, const char* what, int value) {
  constexpr int count = 6;  // of Mode and of EventKind
  if (value < 0 || value >= count)
    throw InputError(fmt::format("{}: {} {} is unknown", file.path().string(), what, value));
  return static_cast<Enum>(value);
}

/// Complete rows of the named tables; `t` is the one that is written last.
hsize_t complete_rows(const hdf5::File& file, const std::string& t, std::initializer_list<const char*> others) {
  hsize_t rows = hdf5::shape_of(file, t).rows;
  for (const char* name : others)
    if (file.has(name)) rows = std::min(rows, hdf5::shape_of(file, name).rows);
  double last = 0;
  for (; rows > 0; --rows) {
    hdf5::read_rows(file, t, Element::float64, rows - 1, 1, &last);
    if (!std::isnan(last)) break;
  }
  return rows;
}

std::vector<Event> read_events(const hdf5::File& file, std::size_t laws) {
  const hsize_t n =
      complete_rows(file, "events/t", {"events/law", "events/kind", "events/before", "events/after", "events/impulse"});
  const auto t = read_column<double>(file, "events/t", Element::float64, n);
  const auto impulse = read_column<double>(file, "events/impulse", Element::float64, n);
  const auto law = read_column<std::int32_t>(file, "events/law", Element::int32, n);
  const auto kind = read_column<std::int8_t>(file, "events/kind", Element::int8, n);
  const auto before = read_column<std::int8_t>(file, "events/before", Element::int8, n);
  const auto after = read_column<std::int8_t>(file, "events/after", Element::int8, n);
  std::vector<Event> events(n);
  for (hsize_t i = 0; i < n; ++i) {
    if (law[i] < 0 || static_cast<std::size_t>(law[i]) >= laws)
      throw InputError(fmt::format("{}: event {} names law {} of {}", file.path().string(), i + 1, law[i] + 1, laws));
    events[i] = {t[i],
                 law[i],
                 enum_from<EventKind>(file, "event kind", kind[i]),
                 enum_from<Mode>(file, "mode", before[i]),
                 enum_from<Mode>(file, "mode", after[i]),
                 impulse[i]};
  }
  return events;
}

Vector read_slot(const hdf5::File& file, const std::string& name, hsize_t slot) {
  if (!file.has(name)) return Vector();
  Vector values(static_cast<Index>(hdf5::shape_of(file, name).columns));
  hdf5::read_rows(file, name, Element::float64, slot, 1, values.data());
  return values;
}

}  // namespace

ResultFile read_result_file(const std::filesystem::path& result) {
  const hdf5::Quiet quiet;
  ResultFile out;
  const hdf5::File file = open_result(result, out.note);
  out.title = hdf5::read_text_attribute(file, "/", "title");
  out.model = hdf5::read_text_attribute(file, "/", "model");
  out.scheme = hdf5::read_text_attribute(file, "/", "scheme");
  out.version = hdf5::read_text_attribute(file, "/", "version");
  out.status = hdf5::read_text(file, "outcome/status");
  out.names.coordinates = hdf5::read_texts(file, "names/coordinates");
  out.names.velocities = hdf5::read_texts(file, "names/velocities");
  out.names.laws = hdf5::read_texts(file, "names/laws");
  out.names.reactions = hdf5::read_texts(file, "names/reactions");
  out.names.smooth_part = file.has("smooth");
  out.names.friction_velocity = file.has("friction_velocity");

  const hsize_t rows =
      complete_rows(file, "t", {"position", "velocity", "reaction", "smooth", "friction_velocity", "energy", "modes"});
  out.t = read_column<double>(file, "t", Element::float64, rows);
  out.position = read_matrix(file, "position", rows);
  out.velocity = read_matrix(file, "velocity", rows);
  out.reaction = read_matrix(file, "reaction", rows);
  out.smooth = read_matrix(file, "smooth", rows);
  out.friction_velocity = read_matrix(file, "friction_velocity", rows);
  out.energy = read_matrix(file, "energy", rows);
  if (file.has("modes"))
    for (const std::int8_t mode : read_column<std::int8_t>(file, "modes", Element::int8, rows))
      out.modes.push_back(enum_from<Mode>(file, "mode", mode));
  out.events = read_events(file, out.names.laws.size());
  return out;
}

State read_restart_state(const std::filesystem::path& result, std::string* note) {
  const hdf5::Quiet quiet;
  std::string text;
  const hdf5::File file = open_result(result, text);
  if (note != nullptr) *note = text;
  std::int64_t latest = -1;
  hdf5::read_rows(file, "restart/latest", Element::int64, 0, 1, &latest);
  if (latest < 0)
    throw InputError(
        fmt::format("{}: the run was killed before it stored a state to go on from", file.path().string()));
  const hsize_t slot = static_cast<hsize_t>(latest) % 2;
  State state;
  hdf5::read_rows(file, "restart/t", Element::float64, slot, 1, &state.t);
  state.q = read_slot(file, "restart/position", slot);
  state.v = read_slot(file, "restart/velocity", slot);
  state.z = read_slot(file, "restart/internal", slot);
  if (file.has("restart/modes")) {
    std::vector<std::int8_t> modes(hdf5::shape_of(file, "restart/modes").columns);
    hdf5::read_rows(file, "restart/modes", Element::int8, slot, 1, modes.data());
    // -1: the state had no modes; they follow from v
    if (std::find(modes.begin(), modes.end(), -1) == modes.end())
      for (const std::int8_t mode : modes) state.modes.push_back(enum_from<Mode>(file, "mode", mode));
  }
  return state;
}

}  // namespace stickslip
