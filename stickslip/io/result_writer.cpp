// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/result_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/hdf5_file.hpp"
#include "stickslip/io/output_file.hpp"

namespace stickslip {
namespace {

using Clock = std::chrono::steady_clock;
using hdf5::Element;

const std::vector<std::string> kEnergyColumns = {"kinetic",     "potential",   "work_in",    "friction_loss",
                                                 "damper_loss", "impact_loss", "unexplained"};
constexpr std::size_t kPendingBytes = 8 << 20;  // wide rows are flushed earlier than flush_rows

template <class Enum>
std::vector<std::string> enum_names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(to_string(static_cast<Enum>(i)));
  return names;
}

/// Rows that wait, and the table they go to.
template <class Number>
struct Pending {
  hdf5::Table table;
  std::vector<Number> values;
  std::size_t width = 1;
  void flush(const hdf5::File& file) {
    if (values.empty()) return;
    table.append(file, values.data(), values.size() / width);
    values.clear();
  }
};

void make_file(const std::filesystem::path& path, const TrajectoryNames& names, const ResultHeader& header) {
  const hsize_t nq = names.coordinates.size(), nv = names.velocities.size(), m = names.reactions.size(),
                laws = names.laws.size();
  hdf5::File file = hdf5::File::create(path);
  make_text_attribute(file, "/", "format", "stickslip result 1");
  make_text_attribute(file, "/", "title", header.title);
  make_text_attribute(file, "/", "model", header.model);
  make_text_attribute(file, "/", "scheme", header.scheme);
  make_text_attribute(file, "/", "version", header.version);
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

  auto table = [&](const std::string& name, Element element, hsize_t columns, const char* unit) {
    hdf5::make_table(file, name, element, columns, header.expected_rows);
    if (*unit != '\0') make_text_attribute(file, name, "unit", unit);
  };
  if (nq > 0) table("position", Element::float64, nq, "m, rad");
  if (nv > 0) table("velocity", Element::float64, nv, "m/s, rad/s");
  if (m > 0) table("reaction", Element::float64, m, "N, N m");
  if (m > 0 && names.smooth_part) table("smooth", Element::float64, m, "N, N m");
  if (nv > 0 && names.friction_velocity) table("friction_velocity", Element::float64, nv, "m/s, rad/s");
  table("energy", Element::float64, kEnergyColumns.size(), "J");
  make_texts_attribute(file, "energy", "columns", kEnergyColumns);
  const std::vector<std::string> modes = enum_names<Mode>(6), kinds = enum_names<EventKind>(6);
  if (laws > 0) {
    table("modes", Element::int8, laws, "");
    make_texts_attribute(file, "modes", "names", modes);
  }
  table("t", Element::float64, 0, "s");

  hdf5::make_group(file, "events");
  table("events/law", Element::int32, 0, "");
  table("events/kind", Element::int8, 0, "");
  table("events/before", Element::int8, 0, "");
  table("events/after", Element::int8, 0, "");
  table("events/impulse", Element::float64, 0, "N s");
  table("events/t", Element::float64, 0, "s");
  make_texts_attribute(file, "events/kind", "names", kinds);
  make_texts_attribute(file, "events/before", "names", modes);
  make_texts_attribute(file, "events/after", "names", modes);

  hdf5::make_group(file, "restart");
  make_array(file, "restart/t", Element::float64, 2, 0);
  if (nq > 0) make_array(file, "restart/position", Element::float64, 2, nq);
  if (nv > 0) make_array(file, "restart/velocity", Element::float64, 2, nv);
  if (header.internal_states > 0) make_array(file, "restart/internal", Element::float64, 2, header.internal_states);
  if (laws > 0) make_array(file, "restart/modes", Element::int8, 2, laws);
  make_array(file, "restart/latest", Element::int64, 1, 0);
  file.close();
}

/// Complete before it gets its name: there is no moment at which result.h5 exists and cannot be read.
hdf5::File make_and_open(const std::filesystem::path& path, const TrajectoryNames& names, const ResultHeader& header) {
  if (std::filesystem::is_directory(path))
    throw InputError(fmt::format("{}: cannot write: it is a folder", path.string()));
  std::filesystem::path part = path;
  part += ".part";
  make_file(part, names, header);
  std::error_code error;
  std::filesystem::rename(part, path, error);
  if (error) throw InputError(fmt::format("{}: cannot write: {}", path.string(), error.message()));
  return hdf5::File::append(path);
}

void remove_earlier_results(const std::filesystem::path& folder) {
  for (const char* name : {"trajectory.csv", "events.csv", "summary.json", "report.html"}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / name, ignored)) std::filesystem::remove(folder / name, ignored);
  }
}

}  // namespace

void ResultWriterOptions::validate() const {
  if (flush_rows < 1) throw InputError(fmt::format("flush_rows = {} must be >= 1", flush_rows));
  if (!(flush_seconds >= 0)) throw InputError(fmt::format("flush_seconds = {} must be >= 0", flush_seconds));
}

struct ResultWriter::Store {
  Store(std::filesystem::path folder_, TrajectoryNames names_, ResultHeader header_,
        const ResultWriterOptions& options_);
  bool due() const {
    return waiting >= options.flush_rows || static_cast<std::size_t>(waiting) * row_bytes >= kPendingBytes ||
           events.t.values.size() * 16 >= kPendingBytes || Clock::now() - last_flush >= interval;
  }
  void flush();
  void append_pending();
  void write_restart();
  void abandon();
  void copy(Pending<double>& to, const Vector& from) {
    assert(static_cast<std::size_t>(from.size()) == to.width || to.width == 0);
    to.values.insert(to.values.end(), from.data(), from.data() + from.size());
  }

  std::filesystem::path folder;
  TrajectoryNames names;
  ResultHeader header;
  ResultWriterOptions options;
  Clock::duration interval;
  hdf5::File file;
  Pending<double> position, velocity, reaction, smooth, friction_velocity, energy, t;
  Pending<std::int8_t> modes;
  struct {
    Pending<double> t, impulse;
    Pending<std::int32_t> law;
    Pending<std::int8_t> kind, before, after;
  } events;
  State restart;
  bool restart_known = false, restart_from_rows = true, restart_changed = false;
  std::int64_t checkpoints = 0;
  std::vector<std::int8_t> mode_bytes;
  long waiting = 0;
  std::size_t row_bytes = 0;
  Clock::time_point last_flush = Clock::now();
  bool broken = false;  ///< a write failed and was reported: nothing more is written
};

ResultWriter::Store::Store(std::filesystem::path folder_, TrajectoryNames names_, ResultHeader header_,
                           const ResultWriterOptions& options_)
    : folder(std::move(folder_)),
      names(std::move(names_)),
      header(std::move(header_)),
      options(options_),
      interval(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(std::min(options_.flush_seconds, 1e9)))),
      file(make_and_open(folder / "result.h5", names, header)) {
  auto open = [&](auto& pending, const std::string& name, Element element, std::size_t width) {
    pending.width = width;
    if (width == 0) return;
    pending.table = hdf5::Table(file, name, element);
    row_bytes += width * sizeof(pending.values[0]);
  };
  const std::size_t nq = names.coordinates.size(), nv = names.velocities.size(), m = names.reactions.size();
  open(position, "position", Element::float64, nq);
  open(velocity, "velocity", Element::float64, nv);
  open(reaction, "reaction", Element::float64, m);
  open(smooth, "smooth", Element::float64, names.smooth_part ? m : 0);
  open(friction_velocity, "friction_velocity", Element::float64, names.friction_velocity ? nv : 0);
  open(energy, "energy", Element::float64, kEnergyColumns.size());
  open(modes, "modes", Element::int8, names.laws.size());
  open(t, "t", Element::float64, 1);
  open(events.law, "events/law", Element::int32, 1);
  open(events.kind, "events/kind", Element::int8, 1);
  open(events.before, "events/before", Element::int8, 1);
  open(events.after, "events/after", Element::int8, 1);
  open(events.impulse, "events/impulse", Element::float64, 1);
  open(events.t, "events/t", Element::float64, 1);
}

void ResultWriter::Store::flush() {
  last_flush = Clock::now();
  if (broken || (waiting == 0 && events.t.values.empty() && !restart_changed)) return;
  const hdf5::Quiet quiet;
  try {
    append_pending();
  } catch (const InputError&) {
    abandon();
    throw;
  }
}

void ResultWriter::Store::append_pending() {
  events.law.flush(file);
  events.kind.flush(file);
  events.before.flush(file);
  events.after.flush(file);
  events.impulse.flush(file);
  events.t.flush(file);
  position.flush(file);
  velocity.flush(file);
  reaction.flush(file);
  smooth.flush(file);
  friction_velocity.flush(file);
  energy.flush(file);
  modes.flush(file);
  t.flush(file);
  waiting = 0;
  if (restart_known) write_restart();
  file.flush();
}

/// After a write that failed HDF5 still stores, on closing, a header that speaks of data that never came, and then
/// nobody can open the file. With the header of before the file is like that of a killed run: readable up to the last
/// flush.
void ResultWriter::Store::abandon() {
  broken = true;
  char superblock[48];  // version 3, which the latest format uses
  std::FILE* raw = std::fopen(file.path().c_str(), "r+b");
  const bool saved = raw != nullptr && std::fread(superblock, 1, sizeof superblock, raw) == sizeof superblock;
  for (Pending<double>* p :
       {&position, &velocity, &reaction, &smooth, &friction_velocity, &energy, &t, &events.t, &events.impulse})
    p->table = {};
  for (Pending<std::int8_t>* p : {&modes, &events.kind, &events.before, &events.after}) p->table = {};
  events.law.table = {};
  file.abandon();
  if (saved && std::fseek(raw, 0, SEEK_SET) == 0) std::fwrite(superblock, 1, sizeof superblock, raw);
  if (raw != nullptr) std::fclose(raw);
}

void ResultWriter::Store::write_restart() {
  const std::int64_t slot = checkpoints % 2;
  mode_bytes.assign(names.laws.size(), -1);
  for (std::size_t i = 0; i < std::min(restart.modes.size(), mode_bytes.size()); ++i)
    mode_bytes[i] = static_cast<std::int8_t>(restart.modes[i]);
  write_row(file, "restart/t", Element::float64, slot, &restart.t);
  if (restart.q.size() > 0) write_row(file, "restart/position", Element::float64, slot, restart.q.data());
  if (restart.v.size() > 0) write_row(file, "restart/velocity", Element::float64, slot, restart.v.data());
  if (restart.z.size() > 0) write_row(file, "restart/internal", Element::float64, slot, restart.z.data());
  if (!mode_bytes.empty()) write_row(file, "restart/modes", Element::int8, slot, mode_bytes.data());
  write_row(file, "restart/latest", Element::int64, 0, &checkpoints);
  ++checkpoints;
  restart_changed = false;
}

ResultWriter::ResultWriter(const std::filesystem::path& folder, const TrajectoryNames& names,
                           const ResultHeader& header, const ResultWriterOptions& options) {
  options.validate();
  create_folder(folder);
  const hdf5::Quiet quiet;
  store_ = std::make_unique<Store>(folder, names, header, options);
  remove_earlier_results(folder);
}

ResultWriter::ResultWriter(ResultWriter&&) noexcept = default;

ResultWriter::~ResultWriter() {
  if (!store_) return;
  const hdf5::Quiet quiet;
  try {
    store_->flush();
  } catch (const InputError&) {
    // whoever called add() or flush() has been told, or is on the way out with an exception of its own
  }
  store_.reset();
}

void ResultWriter::add(const OutputRow& row) {
  Store& s = *store_;
  if (s.broken) return;
  s.copy(s.position, row.q);
  s.copy(s.velocity, row.v);
  s.copy(s.reaction, row.reaction);
  if (s.smooth.width > 0) s.copy(s.smooth, row.smooth);
  if (s.friction_velocity.width > 0) s.copy(s.friction_velocity, row.friction_velocity);
  const EnergyLedger& e = row.energy;
  s.energy.values.insert(s.energy.values.end(), {e.kinetic, e.potential, e.work_in, e.friction_loss, e.damper_loss,
                                                 e.impact_loss, e.unexplained()});
  assert(row.modes.size() == s.modes.width);
  for (const Mode mode : row.modes) s.modes.values.push_back(static_cast<std::int8_t>(mode));
  s.t.values.push_back(row.t);
  ++s.waiting;
  if (s.restart_from_rows && s.header.internal_states == 0) {
    s.restart.t = row.t;
    s.restart.q = row.q;
    s.restart.v = row.v;
    s.restart.modes = row.modes;
    s.restart_known = s.restart_changed = true;
  }
  if (s.due()) s.flush();
}

void ResultWriter::add(const Event& event) {
  Store& s = *store_;
  if (s.broken) return;
  assert(event.law >= 0 && event.law < static_cast<int>(s.names.laws.size()));
  s.events.law.values.push_back(event.law);
  s.events.kind.values.push_back(static_cast<std::int8_t>(event.kind));
  s.events.before.values.push_back(static_cast<std::int8_t>(event.before));
  s.events.after.values.push_back(static_cast<std::int8_t>(event.after));
  s.events.impulse.values.push_back(event.impulse);
  s.events.t.values.push_back(event.t);
  if (s.due()) s.flush();
}

void ResultWriter::checkpoint(const State& state) {
  Store& s = *store_;
  assert(state.z.size() == s.header.internal_states);
  s.restart = state;
  s.restart_from_rows = false;
  s.restart_known = s.restart_changed = true;
  if (s.due()) s.flush();
}

void ResultWriter::flush() { store_->flush(); }

long ResultWriter::flushed_rows() const { return static_cast<long>(store_->t.table.rows()); }

void ResultWriter::finish(const Simulation& simulation, double wall_seconds) {
  Store& s = *store_;
  const SummaryData summary = summary_data(s.header, simulation, wall_seconds);
  if (!s.broken) {
    const hdf5::Quiet quiet;
    s.restart = simulation.final;
    s.restart_known = s.restart_changed = true;
    s.flush();
    auto number = [&](const char* name, double value) {
      write_row(s.file, std::string("outcome/") + name, Element::float64, 0, &value);
    };
    number("steps", static_cast<double>(simulation.steps));
    number("problems", static_cast<double>(simulation.problems));
    number("end_time", simulation.final.t);
    number("wall_seconds", wall_seconds);
    write_text(s.file, "outcome/message", simulation.message);
    write_text(s.file, "outcome/status", to_string(simulation.status));
    s.file.flush();
  }
  const std::filesystem::path folder = s.folder;
  {
    const hdf5::Quiet quiet;
    store_.reset();
  }
  write_trajectory_csv(folder / "trajectory.csv", simulation.trajectory);
  write_events_csv(folder / "events.csv", simulation.trajectory);
  write_text_file(folder / "summary.json", summary_json(summary));
}

}  // namespace stickslip
