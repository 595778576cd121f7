// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/csv_writer.hpp"

#include <algorithm>
#include <charconv>

#include "stickslip/io/output_file.hpp"

namespace stickslip {
namespace {

/// Lines gathered in one block of memory, which is handed on when it is nearly full.
class CsvStream {
 public:
  explicit CsvStream(const std::filesystem::path& path) : file_(path) { block_.reserve(kBlock + 4096); }

  void number(double value) {
    separate();
    char text[32];  // the longest shortest double has 24 characters
    const std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
    block_.append(text, end.ptr);
  }
  void text(std::string_view value) {
    separate();
    block_ += csv_cell(value);
  }
  void end_line() {
    block_ += '\n';
    first_ = true;
    if (block_.size() >= kBlock) hand_on();
  }
  void commit() {
    hand_on();
    file_.commit();
  }

 private:
  static constexpr std::size_t kBlock = 1 << 18;
  void separate() {
    if (!first_) block_ += ',';
    first_ = false;
  }
  void hand_on() {
    file_.write(block_);
    block_.clear();
  }
  OutputFile file_;
  std::string block_;
  bool first_ = true;
};

}  // namespace

std::vector<std::string> sensitivity_columns(const TrajectoryNames& names) {
  std::vector<std::string> numbers = names.coordinates, columns;
  for (std::string& name : velocity_columns(names)) numbers.push_back(std::move(name));
  if (names.reaction_sensitivity)
    for (const std::string& name : names.reactions) numbers.push_back("r_" + name);
  for (const std::string& unknown : names.unknowns)
    for (const std::string& number : numbers) columns.push_back("d_" + number + "_" + unknown);
  return columns;
}

std::vector<std::string> trajectory_columns(const TrajectoryNames& names) {
  std::vector<std::string> columns = {"t"};
  columns.insert(columns.end(), names.coordinates.begin(), names.coordinates.end());
  for (std::string& name : velocity_columns(names)) columns.push_back(std::move(name));
  for (const std::string& name : names.reactions) columns.push_back("r_" + name);
  if (names.smooth_part)
    for (const std::string& name : names.reactions) columns.push_back("r_" + name + "_smooth");
  if (names.friction_velocity)
    for (const std::string& name : names.velocities) columns.push_back("vf_" + name);
  for (std::string& name : sensitivity_columns(names)) columns.push_back(std::move(name));
  return columns;
}

std::string csv_cell(std::string_view text) {
  const bool blank_outside = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!blank_outside && text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

namespace {

void header_line(CsvStream& csv, const TrajectoryNames& names) {
  for (const std::string& name : trajectory_columns(names)) csv.text(name);
  csv.end_line();
}

void event_header(CsvStream& csv, const TrajectoryNames& names) {
  for (const char* name : {"t", "law", "kind", "before", "after", "impulse"}) csv.text(name);
  if (names.facets)
    for (const char* name : {"facets_before", "facets_after"}) csv.text(name);
  csv.end_line();
}

void event_line(CsvStream& csv, const TrajectoryNames& names, const Event& event) {
  csv.number(event.t);
  csv.text(names.laws.at(event.law));
  csv.text(to_string(event.kind));
  csv.text(to_string(event.before));
  csv.text(to_string(event.after));
  csv.number(event.impulse);
  if (names.facets) {
    csv.text(to_string(event.facets_before));
    csv.text(to_string(event.facets_after));
  }
  csv.end_line();
}

/// Parts of `total`, each no larger than `block`; false if someone asked to stop.
template <class Part>
bool in_parts(long total, long block, const std::function<bool(double)>& keep_going, Part&& part) {
  for (long first = 0; first < total; first += block) {
    if (keep_going && !keep_going(static_cast<double>(first) / static_cast<double>(total))) return false;
    part(first, std::min(block, total - first));
  }
  return true;
}

}  // namespace

void write_trajectory_csv(const std::filesystem::path& path, const Trajectory& trajectory) {
  const TrajectoryNames& names = trajectory.names();
  const Index nq = names.coordinates.size(), nv = names.velocities.size(), m = names.reactions.size();
  const Index unknowns = names.unknowns.size(), derivatives = names.derivatives();
  CsvStream csv(path);
  header_line(csv, names);
  for (Index row = 0; row < trajectory.rows(); ++row) {
    csv.number(trajectory.t(row));
    for (Index i = 0; i < nq; ++i) csv.number(trajectory.q(row, i));
    for (Index i = 0; i < nv; ++i) csv.number(trajectory.v(row, i));
    for (Index i = 0; i < m; ++i) csv.number(trajectory.reaction(row, i));
    for (Index i = 0; names.smooth_part && i < m; ++i) csv.number(trajectory.smooth(row, i));
    for (Index i = 0; names.friction_velocity && i < nv; ++i) csv.number(trajectory.friction_velocity(row, i));
    for (Index j = 0; j < unknowns; ++j)
      for (Index i = 0; i < derivatives; ++i) csv.number(trajectory.sensitivity(row, i, j));
    csv.end_line();
  }
  csv.commit();
}

void write_events_csv(const std::filesystem::path& path, const Trajectory& trajectory) {
  CsvStream csv(path);
  event_header(csv, trajectory.names());
  for (const Event& event : trajectory.events) event_line(csv, trajectory.names(), event);
  csv.commit();
}

bool write_trajectory_csv(const std::filesystem::path& path, const ResultStream& result,
                          const std::function<bool(double)>& keep_going) {
  CsvStream csv(path);
  header_line(csv, result.names());
  ResultRows rows;
  const bool whole = in_parts(result.rows(), result.block_rows(), keep_going, [&](long first, long count) {
    result.read_rows(first, count, rows);
    for (Index row = 0; row < rows.rows(); ++row) {
      csv.number(rows.t[static_cast<std::size_t>(row)]);
      for (const RowMatrix* part :
           {&rows.position, &rows.velocity, &rows.reaction, &rows.smooth, &rows.friction_velocity, &rows.sensitivity})
        for (Index i = 0; i < part->cols(); ++i) csv.number((*part)(row, i));
      csv.end_line();
    }
  });
  if (whole) csv.commit();
  return whole;
}

bool write_events_csv(const std::filesystem::path& path, const ResultStream& result,
                      const std::function<bool(double)>& keep_going) {
  constexpr long kBlock = 1 << 16;
  CsvStream csv(path);
  event_header(csv, result.names());
  std::vector<Event> events;
  const bool whole = in_parts(result.events(), kBlock, keep_going, [&](long first, long count) {
    result.read_events(first, count, events);
    for (const Event& event : events) event_line(csv, result.names(), event);
  });
  if (whole) csv.commit();
  return whole;
}

}  // namespace stickslip
