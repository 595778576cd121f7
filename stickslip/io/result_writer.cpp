// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/result_writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/file_identity.hpp"
#include "stickslip/io/hdf5_file.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_layout.hpp"

namespace stickslip {
namespace {

using Clock = std::chrono::steady_clock;
using hdf5::Element;

constexpr std::size_t kPendingBytes = 8 << 20;  // wide rows are flushed earlier than flush_rows

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

/// Complete and open before it gets its name: there is no moment at which result.h5 exists and cannot be read, or holds
/// less than before, and no reader can come in between with a lock of its own.
hdf5::File make_and_open(const std::filesystem::path& path, const TrajectoryNames& names, const ResultHeader& header,
                         const EarlierResult* earlier) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw InputError(fmt::format("{}: cannot write: it is a folder", path.string()));
  std::filesystem::path part = path;
  part += ".part";
  try {
    make_result_file(part, names, header);
    if (earlier != nullptr) copy_earlier(part, *earlier);
    hdf5::File file = hdf5::File::append(part);
    if (earlier != nullptr) write_checkpoint(file, earlier->checkpoint, names.laws.size(), 0);
    file.rename(path);
    return file;
  } catch (...) {
    std::filesystem::remove(part, error);
    throw;
  }
}

}  // namespace

void ResultWriterOptions::validate() const {
  if (flush_rows < 1) throw InputError(fmt::format("flush_rows = {} must be >= 1", flush_rows));
  if (!(flush_seconds >= 0)) throw InputError(fmt::format("flush_seconds = {} must be >= 0", flush_seconds));
}

struct ResultWriter::Store {
  Store(std::filesystem::path folder_, TrajectoryNames names_, ResultHeader header_,
        const ResultWriterOptions& options_, const EarlierResult* earlier);
  bool due() const {
    return waiting >= options.flush_rows || static_cast<std::size_t>(waiting) * row_bytes >= kPendingBytes ||
           events.t.values.size() * 16 >= kPendingBytes || points.t.values.size() * 68 >= kPendingBytes ||
           Clock::now() - last_flush >= interval;
  }
  void flush();
  void require_in_place() const;
  void append_pending();
  void add_points(const OutputRow& row);
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
  Pending<double> position, velocity, reaction, smooth, friction_velocity, sensitivity, energy, t;
  Pending<std::int8_t> modes;
  Pending<std::int32_t> facets;
  struct {
    Pending<double> t, impulse;
    Pending<std::int32_t> law, facets_before, facets_after;
    Pending<std::int8_t> kind, before, after;
  } events;
  struct {
    Pending<std::int64_t> end;
    Pending<double> t, position, force;
    Pending<std::int32_t> law, first, second;
    std::int64_t count = 0;
  } points;
  Checkpoint restart;
  bool restart_known = false, restart_from_rows = true, restart_changed = false;
  std::int64_t checkpoints = 0;
  long rows = 0, event_rows = 0;  // added so far, those of the earlier result included
  long waiting = 0;
  std::size_t row_bytes = 0;
  Clock::time_point last_flush = Clock::now(), last_checkpoint = Clock::now();
  bool flush_at_next_step = false;
  bool memorised = false;  ///< a state with what the scheme remembers was asked for
  bool broken = false;     ///< a write failed and was reported: nothing more is written
};

ResultWriter::Store::Store(std::filesystem::path folder_, TrajectoryNames names_, ResultHeader header_,
                           const ResultWriterOptions& options_, const EarlierResult* earlier)
    : folder(std::move(folder_)),
      names(std::move(names_)),
      header(std::move(header_)),
      options(options_),
      interval(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(std::min(options_.flush_seconds, 1e9)))),
      file(make_and_open(folder / "result.h5", names, header, earlier)) {
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
  open(sensitivity, "sensitivity", Element::float64, names.derivatives() * names.unknowns.size());
  open(energy, "energy", Element::float64, energy_columns().size());
  open(modes, "modes", Element::int8, names.laws.size());
  open(facets, "facets", Element::int32, names.facets ? 2 * names.laws.size() : 0);
  open(t, "t", Element::float64, 1);
  open(events.law, "events/law", Element::int32, 1);
  open(events.kind, "events/kind", Element::int8, 1);
  open(events.before, "events/before", Element::int8, 1);
  open(events.after, "events/after", Element::int8, 1);
  open(events.facets_before, "events/facets_before", Element::int32, names.facets ? 2 : 0);
  open(events.facets_after, "events/facets_after", Element::int32, names.facets ? 2 : 0);
  open(events.impulse, "events/impulse", Element::float64, 1);
  open(events.t, "events/t", Element::float64, 1);
  if (!header.bodies.empty()) {
    open(points.t, "contact_forces/t", Element::float64, 1);
    open(points.law, "contact_forces/law", Element::int32, 1);
    open(points.first, "contact_forces/first", Element::int32, 1);
    open(points.second, "contact_forces/second", Element::int32, 1);
    open(points.position, "contact_forces/position", Element::float64, 3);
    open(points.force, "contact_forces/force", Element::float64, 3);
    open(points.end, "contact_forces/end", Element::int64, 1);
    points.count = static_cast<std::int64_t>(points.t.table.rows());
  }
  rows = static_cast<long>(t.table.rows());
  event_rows = static_cast<long>(events.t.table.rows());
  if (earlier != nullptr) {
    restart = earlier->checkpoint;
    restart_from_rows = false;
    checkpoints = 1;
  }
}

void ResultWriter::Store::flush() {
  last_flush = Clock::now();
  if (broken || (waiting == 0 && events.t.values.empty() && !restart_changed)) return;
  const hdf5::Quiet quiet;
  try {
    require_in_place();
    append_pending();
  } catch (const OutputError&) {
    abandon();
    throw;
  }
}

/// Rows that nobody will find, or that are beside another run's, must not be computed for hours.
void ResultWriter::Store::require_in_place() const {
  if (still_at(file.descriptor(), file.path())) return;
  throw LostOutput(
      fmt::format("{}: the file was removed, renamed or replaced while the run wrote it (or its folder was)",
                  file.path().string()));
}

void ResultWriter::Store::append_pending() {
  events.law.flush(file);
  events.kind.flush(file);
  events.before.flush(file);
  events.after.flush(file);
  events.facets_before.flush(file);
  events.facets_after.flush(file);
  events.impulse.flush(file);
  events.t.flush(file);
  points.t.flush(file);
  points.law.flush(file);
  points.first.flush(file);
  points.second.flush(file);
  points.position.flush(file);
  points.force.flush(file);
  points.end.flush(file);
  position.flush(file);
  velocity.flush(file);
  reaction.flush(file);
  smooth.flush(file);
  friction_velocity.flush(file);
  sensitivity.flush(file);
  energy.flush(file);
  modes.flush(file);
  facets.flush(file);
  t.flush(file);
  waiting = 0;
  if (restart_known && restart_changed) write_checkpoint(file, restart, names.laws.size(), checkpoints++);
  restart_changed = false;
  file.flush();
}

/// After a write that failed HDF5 still stores, on closing, a header that speaks of data that never came, and then
/// nobody can open the file. With the header of before the file is like that of a killed run: readable up to the last
/// flush. (By the file's own descriptor: its path may name another run's by now.)
void ResultWriter::Store::abandon() {
  broken = true;
  char superblock[48];  // version 3, which the latest format uses
  const int raw = dup(file.descriptor());
  const bool saved = raw >= 0 && pread(raw, superblock, sizeof superblock, 0) == ssize_t{sizeof superblock};
  for (Pending<double>* p : {&position, &velocity, &reaction, &smooth, &friction_velocity, &sensitivity, &energy, &t,
                             &events.t, &events.impulse, &points.t, &points.position, &points.force})
    p->table = {};
  for (Pending<std::int8_t>* p : {&modes, &events.kind, &events.before, &events.after}) p->table = {};
  for (Pending<std::int32_t>* p :
       {&facets, &events.law, &events.facets_before, &events.facets_after, &points.law, &points.first, &points.second})
    p->table = {};
  points.end.table = {};
  file.abandon();
  if (saved) [[maybe_unused]]
    const ssize_t restored = pwrite(raw, superblock, sizeof superblock, 0);
  if (raw >= 0) ::close(raw);
}

ResultWriter::ResultWriter(const std::filesystem::path& folder, const TrajectoryNames& names,
                           const ResultHeader& header, const ResultWriterOptions& options,
                           const EarlierResult* earlier) {
  options.validate();
  create_folder(folder);
  const hdf5::Quiet quiet;
  store_ = std::make_unique<Store>(folder, names, header, options, earlier);
  remove_text_results(folder);
}

ResultWriter::ResultWriter(ResultWriter&&) noexcept = default;

ResultWriter::~ResultWriter() {
  if (!store_) return;
  const hdf5::Quiet quiet;
  try {
    store_->flush();
  } catch (const OutputError&) {
    // whoever called add() or flush() has been told, or is on the way out with an exception of its own
  }
  store_.reset();
}

namespace {

void add_facets(const ActiveFacets& facets, Pending<std::int32_t>& to) {
  to.values.push_back(facets.first);
  to.values.push_back(facets.second);
}

}  // namespace

void ResultWriter::add(const OutputRow& row) {
  Store& s = *store_;
  if (s.broken) return;
  s.copy(s.position, row.q);
  s.copy(s.velocity, row.v);
  s.copy(s.reaction, row.reaction);
  if (s.smooth.width > 0) s.copy(s.smooth, row.smooth);
  if (s.friction_velocity.width > 0) s.copy(s.friction_velocity, row.friction_velocity);
  if (s.sensitivity.width > 0)
    s.sensitivity.values.insert(s.sensitivity.values.end(), row.sensitivity.data(),
                                row.sensitivity.data() + row.sensitivity.size());
  const EnergyLedger& e = row.energy;
  s.energy.values.insert(s.energy.values.end(), {e.kinetic, e.potential, e.work_in, e.friction_loss, e.damper_loss,
                                                 e.impact_loss, e.unexplained(), e.correction, e.initial});
  assert(row.modes.size() == s.modes.width);
  for (const Mode mode : row.modes) s.modes.values.push_back(static_cast<std::int8_t>(mode));
  for (std::size_t k = 0; k < s.facets.width / 2; ++k)
    add_facets(k < row.facets.size() ? row.facets[k] : ActiveFacets{}, s.facets);
  s.t.values.push_back(row.t);
  ++s.waiting;
  ++s.rows;
  if (!s.header.bodies.empty()) s.add_points(row);
  if (s.restart_from_rows && s.header.internal.empty()) {
    s.restart.state = {row.t, row.q, row.v, Vector(), row.modes};
    s.restart.rows = s.rows;
    s.restart.events = s.event_rows;
    s.restart_known = s.restart_changed = true;
  }
  if (s.due() || (s.checkpoints == 0 && s.restart_known)) s.flush();
}

void ResultWriter::add(const Event& event) {
  Store& s = *store_;
  if (s.broken) return;
  assert(event.law >= 0 && event.law < static_cast<int>(s.names.laws.size()));
  s.events.law.values.push_back(event.law);
  s.events.kind.values.push_back(static_cast<std::int8_t>(event.kind));
  s.events.before.values.push_back(static_cast<std::int8_t>(event.before));
  s.events.after.values.push_back(static_cast<std::int8_t>(event.after));
  if (s.events.facets_before.width > 0) {
    add_facets(event.facets_before, s.events.facets_before);
    add_facets(event.facets_after, s.events.facets_after);
  }
  s.events.impulse.values.push_back(event.impulse);
  s.events.t.values.push_back(event.t);
  ++s.event_rows;
  if (s.due()) s.flush();
}

void ResultWriter::Store::add_points(const OutputRow& row) {
  for (const PointForce& point : row.point_forces) {
    points.t.values.push_back(row.t);
    points.law.values.push_back(point.law);
    points.first.values.push_back(point.first);
    points.second.values.push_back(point.second);
    points.position.values.insert(points.position.values.end(), point.position.begin(), point.position.end());
    points.force.values.insert(points.force.values.end(), point.force.begin(), point.force.end());
  }
  points.count += static_cast<std::int64_t>(row.point_forces.size());
  points.end.values.push_back(points.count);
}

void ResultWriter::checkpoint(const State& state) {
  Store& s = *store_;
  s.restart.state = state;
  s.restart.memory.clear();
  s.restart.rows = s.rows;
  s.restart.events = s.event_rows;
  s.restart_from_rows = false;
  s.restart_known = s.restart_changed = true;
  if (s.due()) s.flush();
}

Checkpoint* ResultWriter::wanted_checkpoint() {
  Store& s = *store_;
  if (s.broken) return nullptr;
  // Rows may have been flushed in between without one.
  if (s.memorised && !s.due() && Clock::now() - s.last_checkpoint < s.interval) return nullptr;
  s.memorised = true;
  s.last_checkpoint = Clock::now();
  s.restart_from_rows = false;
  s.restart_known = s.restart_changed = true;
  s.flush_at_next_step = true;
  return &s.restart;
}

void ResultWriter::flush_if_due() {
  Store& s = *store_;
  if (std::exchange(s.flush_at_next_step, false)) s.flush();
}

void ResultWriter::flush() { store_->flush(); }

bool ResultWriter::has_state() const { return store_->checkpoints > 0; }

long ResultWriter::flushed_rows() const { return static_cast<long>(store_->t.table.rows()); }

void ResultWriter::close(const Simulation& simulation, double wall_seconds) {
  Store& s = *store_;
  const hdf5::Quiet quiet;
  if (!s.broken) {
    s.restart = simulation.last;
    s.restart.state = simulation.final;
    s.restart.rows = s.rows;
    s.restart.events = s.event_rows;
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
  store_.reset();
}

void remove_text_results(const std::filesystem::path& folder) {
  for (const char* name : {"trajectory.csv", "events.csv", "problems.csv", "history.csv", "fit.csv", "orbit.csv",
                           "branch.csv", "branch.h5", "mode.csv", "sweep.csv", "sweep.h5", "sweep.h5.part", "basin.csv",
                           "bifurcation.csv", "summary.json", "report.html"}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / name, ignored)) std::filesystem::remove(folder / name, ignored);
  }
}

void ResultWriter::finish(const Simulation& simulation, double wall_seconds) {
  const std::filesystem::path folder = store_->folder;
  const SummaryData summary = summary_data(store_->header, simulation, wall_seconds);
  close(simulation, wall_seconds);
  write_tables(folder);
  write_text_file(folder / "summary.json", summary_json(summary));
}

bool write_tables(const std::filesystem::path& folder, const std::function<bool(double)>& keep_going) {
  const ResultStream stream(folder);
  auto go_on = [&] { return !keep_going || keep_going(0); };
  return go_on() && write_trajectory_csv(folder / "trajectory.csv", stream, keep_going) && go_on() &&
         write_events_csv(folder / "events.csv", stream, keep_going) && go_on();
}

}  // namespace stickslip
