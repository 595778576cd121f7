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
  std::error_code error;
  const std::filesystem::path path = std::filesystem::is_directory(result, error) ? result / "result.h5" : result;
  if (!std::filesystem::exists(path, error))
    throw InputError(fmt::format("{}: {}", path.string(), error ? error.message() : "there is no such file"));
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

void read_matrix(const hdf5::File& file, const std::string& name, hsize_t first, hsize_t rows, RowMatrix& values) {
  values.resize(static_cast<Index>(rows), file.has(name) ? static_cast<Index>(hdf5::shape_of(file, name).columns) : 0);
  if (values.cols() > 0) hdf5::read_rows(file, name, Element::float64, first, rows, values.data());
}

template <class Number>
std::vector<Number> read_column(const hdf5::File& file, const std::string& name, Element element, hsize_t first,
                                hsize_t rows) {
  std::vector<Number> values(rows * hdf5::shape_of(file, name).columns);
  hdf5::read_rows(file, name, element, first, rows, values.data());
  return values;
}

template <class Enum>
Enum enum_from(const hdf5::File& file, const char* what, int value) {
  constexpr int count = std::is_same_v<Enum, Mode> ? kModeCount : kEventKindCount;
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

Vector read_slot(const hdf5::File& file, const std::string& name, hsize_t slot) {
  if (!file.has(name)) return Vector();
  Vector values(static_cast<Index>(hdf5::shape_of(file, name).columns));
  hdf5::read_rows(file, name, Element::float64, slot, 1, values.data());
  return values;
}

std::vector<std::string> texts_or_none(const hdf5::File& file, const std::string& name) {
  return file.has(name) ? hdf5::read_texts(file, name) : std::vector<std::string>();
}

}  // namespace

struct ResultStream::Store {
  explicit Store(const std::filesystem::path& result) : file(open_result(result, note)) {
    names.coordinates = hdf5::read_texts(file, "names/coordinates");
    names.velocities = hdf5::read_texts(file, "names/velocities");
    names.laws = hdf5::read_texts(file, "names/laws");
    names.reactions = hdf5::read_texts(file, "names/reactions");
    names.unknowns = texts_or_none(file, "names/sensitivities");
    names.smooth_part = file.has("smooth");
    names.friction_velocity = file.has("friction_velocity");
    names.facets = file.has("facets");
    if (!names.unknowns.empty())
      names.reaction_sensitivity =
          hdf5::shape_of(file, "sensitivity").columns > names.derivatives() * names.unknowns.size();
    rows = complete_rows(
        file, "t",
        {"position", "velocity", "reaction", "smooth", "friction_velocity", "sensitivity", "energy", "modes"});
    events = complete_rows(file, "events/t",
                           {"events/law", "events/kind", "events/before", "events/after", "events/impulse",
                            "events/facets_before", "events/facets_after"});
  }
  std::string note;
  hdf5::File file;
  TrajectoryNames names;
  hsize_t rows = 0, events = 0;
};

ResultStream::ResultStream(const std::filesystem::path& result) {
  const hdf5::Quiet quiet;
  store_ = std::make_unique<Store>(result);
}
ResultStream::~ResultStream() {
  const hdf5::Quiet quiet;
  store_.reset();
}
ResultStream::ResultStream(ResultStream&&) noexcept = default;

const TrajectoryNames& ResultStream::names() const { return store_->names; }
const std::string& ResultStream::note() const { return store_->note; }
long ResultStream::rows() const { return static_cast<long>(store_->rows); }
long ResultStream::events() const { return static_cast<long>(store_->events); }

long ResultStream::block_rows() const {
  constexpr std::size_t kBlockBytes = 8 << 20;
  const TrajectoryNames& n = store_->names;
  const std::size_t row = 8 * (10 + n.coordinates.size() + 2 * n.velocities.size() + 2 * n.reactions.size() +
                               n.unknowns.size() * n.derivatives());
  return static_cast<long>(std::max<std::size_t>(1, kBlockBytes / row));
}

void ResultStream::read_rows(long first, long count, ResultRows& rows) const {
  const hdf5::Quiet quiet;
  const hdf5::File& file = store_->file;
  const auto from = static_cast<hsize_t>(first), n = static_cast<hsize_t>(count);
  rows.t = read_column<double>(file, "t", Element::float64, from, n);
  read_matrix(file, "position", from, n, rows.position);
  read_matrix(file, "velocity", from, n, rows.velocity);
  read_matrix(file, "reaction", from, n, rows.reaction);
  read_matrix(file, "smooth", from, n, rows.smooth);
  read_matrix(file, "friction_velocity", from, n, rows.friction_velocity);
  read_matrix(file, "sensitivity", from, n, rows.sensitivity);
  read_matrix(file, "energy", from, n, rows.energy);
  rows.modes.clear();
  if (file.has("modes"))
    for (const std::int8_t mode : read_column<std::int8_t>(file, "modes", Element::int8, from, n))
      rows.modes.push_back(enum_from<Mode>(file, "mode", mode));
}

void ResultStream::read_events(long first, long count, std::vector<Event>& events) const {
  const hdf5::Quiet quiet;
  const hdf5::File& file = store_->file;
  const std::size_t laws = store_->names.laws.size();
  const auto from = static_cast<hsize_t>(first), n = static_cast<hsize_t>(count);
  const auto t = read_column<double>(file, "events/t", Element::float64, from, n);
  const auto impulse = read_column<double>(file, "events/impulse", Element::float64, from, n);
  const auto law = read_column<std::int32_t>(file, "events/law", Element::int32, from, n);
  const auto kind = read_column<std::int8_t>(file, "events/kind", Element::int8, from, n);
  const auto before = read_column<std::int8_t>(file, "events/before", Element::int8, from, n);
  const auto after = read_column<std::int8_t>(file, "events/after", Element::int8, from, n);
  std::vector<std::int32_t> facets_before, facets_after;
  if (store_->names.facets) {
    facets_before = read_column<std::int32_t>(file, "events/facets_before", Element::int32, from, n);
    facets_after = read_column<std::int32_t>(file, "events/facets_after", Element::int32, from, n);
  }
  events.resize(n);
  for (hsize_t i = 0; i < n; ++i) {
    if (law[i] < 0 || static_cast<std::size_t>(law[i]) >= laws)
      throw InputError(
          fmt::format("{}: event {} names law {} of {}", file.path().string(), from + i + 1, law[i] + 1, laws));
    events[i] = {t[i],
                 law[i],
                 enum_from<EventKind>(file, "event kind", kind[i]),
                 enum_from<Mode>(file, "mode", before[i]),
                 enum_from<Mode>(file, "mode", after[i]),
                 impulse[i]};
    if (facets_before.empty()) continue;
    events[i].facets_before = {facets_before[2 * i], facets_before[2 * i + 1]};
    events[i].facets_after = {facets_after[2 * i], facets_after[2 * i + 1]};
  }
}

void ResultStream::read_points(long row, std::vector<PointForce>& points) const {
  points.clear();
  const hdf5::File& file = store_->file;
  if (!file.has("contact_forces")) return;
  const hdf5::Quiet quiet;
  const auto at = static_cast<hsize_t>(row);
  std::int64_t ends[2] = {0, 0};
  hdf5::read_rows(file, "contact_forces/end", Element::int64, at == 0 ? 0 : at - 1, at == 0 ? 1 : 2, ends);
  if (ends[0] < 0 || ends[1] < 0) return;  // the part of another run, without them
  const auto first = static_cast<hsize_t>(at == 0 ? 0 : ends[0]),
             end = static_cast<hsize_t>(at == 0 ? ends[0] : ends[1]);
  if (end <= first) return;
  const hsize_t n = end - first;
  const auto law = read_column<std::int32_t>(file, "contact_forces/law", Element::int32, first, n);
  const auto one = read_column<std::int32_t>(file, "contact_forces/first", Element::int32, first, n);
  const auto two = read_column<std::int32_t>(file, "contact_forces/second", Element::int32, first, n);
  RowMatrix position, force;
  read_matrix(file, "contact_forces/position", first, n, position);
  read_matrix(file, "contact_forces/force", first, n, force);
  for (hsize_t k = 0; k < n; ++k) {
    PointForce point;
    point.law = law[k];
    point.first = one[k];
    point.second = two[k];
    for (std::size_t i = 0; i < 3; ++i) {
      point.position[i] = position(static_cast<Index>(k), static_cast<Index>(i));
      point.force[i] = force(static_cast<Index>(k), static_cast<Index>(i));
    }
    points.push_back(point);
  }
}

void remove_result_file(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(folder / "result.h5", ignored)) return;
  try {
    const hdf5::Quiet quiet;
    std::string note;
    open_result(folder, note);
  } catch (const InputError&) {
    return;  // someone else's file of this name
  }
  std::filesystem::remove(folder / "result.h5", ignored);
}

ResultFile read_result_file(const std::filesystem::path& result) {
  ResultFile out;
  const ResultHeader header = read_header(result);
  out.title = header.title;
  out.model = header.model;
  out.scheme = header.scheme;
  out.version = header.version;
  const ResultStream stream(result);
  out.note = stream.note();
  {
    const hdf5::Quiet quiet;
    std::string note;
    out.status = hdf5::read_text(open_result(result, note), "outcome/status");
  }
  out.names = stream.names();
  stream.read_rows(0, stream.rows(), out);
  stream.read_events(0, stream.events(), out.events);
  return out;
}

ResultHeader read_header(const std::filesystem::path& result) {
  const hdf5::Quiet quiet;
  std::string note;
  const hdf5::File file = open_result(result, note);
  ResultHeader header;
  header.title = hdf5::read_text_attribute(file, "/", "title");
  header.model = hdf5::read_text_attribute(file, "/", "model");
  header.scheme = hdf5::read_text_attribute(file, "/", "scheme");
  header.version = hdf5::read_text_attribute(file, "/", "version");
  header.bodies = texts_or_none(file, "names/bodies");
  if (!file.has("inputs")) return header;
  RunInputs& inputs = header.inputs;
  inputs.date = hdf5::read_text_attribute(file, "/", "date");
  inputs.model_text = hdf5::read_text(file, "inputs/model_text");
  inputs.settings = hdf5::read_texts(file, "inputs/set");
  inputs.parts = hdf5::read_texts(file, "inputs/parts");
  const std::vector<std::string> names = hdf5::read_texts(file, "inputs/parameter_names");
  const auto values =
      read_column<double>(file, "inputs/parameter_values", Element::float64, 0, static_cast<hsize_t>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) inputs.parameters.emplace_back(names[i], values[i]);
  const std::vector<std::string> files = hdf5::read_texts(file, "inputs/file_names");
  for (std::size_t i = 0; i < files.size(); ++i)
    inputs.files.emplace_back(files[i], hdf5::read_text(file, fmt::format("inputs/file_{}", i)));
  return header;
}

Checkpoint read_checkpoint(const std::filesystem::path& result, std::string* note) {
  const hdf5::Quiet quiet;
  std::string text;
  const hdf5::File file = open_result(result, text);
  if (note != nullptr) *note = text;
  std::int64_t latest = -1;
  hdf5::read_rows(file, "restart/latest", Element::int64, 0, 1, &latest);
  if (latest < 0)
    throw InputError(fmt::format(
        "{}: the run ended (killed, or for want of room) before it stored a state to go on from; run it again",
        file.path().string()));
  const hsize_t slot = static_cast<hsize_t>(latest) % 2;
  Checkpoint checkpoint;
  State& state = checkpoint.state;
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
  if (!file.has("restart/counts")) return checkpoint;
  std::int64_t counts[3] = {0, 0, 0};  // rows, events, words of memory
  hdf5::read_rows(file, "restart/counts", Element::int64, slot, 1, counts);
  checkpoint.rows = static_cast<long>(counts[0]);
  checkpoint.events = static_cast<long>(counts[1]);
  const std::string memory = fmt::format("restart/memory_{}", slot);
  const auto words = static_cast<hsize_t>(std::max<std::int64_t>(counts[2], 0));
  if (words > hdf5::shape_of(file, memory).rows)
    throw InputError(fmt::format("{}: /{} is damaged", file.path().string(), memory));
  checkpoint.memory = Memory(read_column<std::int64_t>(file, memory, Element::int64, 0, words));
  return checkpoint;
}

State read_restart_state(const std::filesystem::path& result, std::string* note) {
  return read_checkpoint(result, note).state;
}

}  // namespace stickslip
