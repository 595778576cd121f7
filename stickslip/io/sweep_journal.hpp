// SPDX-License-Identifier: Apache-2.0
// sweep.journal: the records of a sweep in the order in which they came in, so that a sweep can be killed at any time
// and go on. First what the sweep is made of (a text), then frames (sweep/sweep_record.hpp). A record is handed to the
// operating system as soon as it has come in, and to the disk every second. What a kill cut off at the end is dropped
// when the journal is opened again.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/sweep/sweep_record.hpp"

namespace stickslip {

/// What is kept of a run in memory; its tables stay in the journal.
struct SweepRow {
  bool done = false;
  Status status = Status::success;
  std::string message;
  NameList names;
  std::vector<double> values;
  std::size_t place = 0, length = 0;  ///< of the record in the journal; length 0: it has no tables
};

class SweepJournal {
 public:
  /// Makes it, or goes on with the one that is there. `identity`: everything that a run depends on. Throws InputError
  /// if what is there belongs to another sweep, OutputError if it cannot be written.
  SweepJournal(std::filesystem::path path, const std::string& identity, long runs);
  ~SweepJournal();
  SweepJournal(const SweepJournal&) = delete;
  SweepJournal& operator=(const SweepJournal&) = delete;

  /// A record that is there already is not stored again.
  void append(std::vector<SweepRecord>&& records);
  void sync();
  const std::vector<SweepRow>& rows() const { return rows_; }
  long done() const { return done_; }
  /// Runs that are not there, ascending.
  std::vector<long> pending() const;
  /// The tables of a run, from the file.
  std::vector<SweepBlock> blocks(long index) const;

 private:
  void open_existing(const std::string& identity);
  void keep(SweepRecord&& record, std::size_t place, std::size_t length);
  void write(std::string_view bytes);
  std::filesystem::path path_;
  int file_ = -1;
  std::size_t size_ = 0;
  std::size_t first_ = 0;  // where the records begin
  RecordEncoder encoder_;
  std::vector<SweepRow> rows_;
  long done_ = 0;
  std::chrono::steady_clock::time_point synced_;
};

}  // namespace stickslip
