// SPDX-License-Identifier: Apache-2.0
// Results while a run goes on, and when it has ended. The layout of the files is described in docs/results.md.
//
// result.h5 exists from the start and grows. Rows and events wait in memory and are flushed together after `flush_rows`
// rows or `flush_seconds` of wall-clock time, whichever comes first. A flush appends to each table in turn and hands
// every one to the operating system before it touches the next; `t` comes last. Hence, whenever the process is killed,
//
//     every table has at least as many rows as `t`, and the rows below the length of `t` are complete;
//
// likewise events/t among the events. The checkpoint to go on from has two slots, of which the older is overwritten,
// and a counter that is written after its slot: the slot it names is never half written. (Holds for a killed process. A
// machine that loses its power may lose what the operating system had not yet stored.)
//
// Bad folders and missing permission are InputErrors, full disks OutputErrors, with path and reason. A flush that finds
// the file or its folder renamed, removed or replaced throws LostOutput and writes nothing more. Several writers
// may work in several threads if HDF5 was built thread-safe, as Debian's is.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "stickslip/io/summary.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

struct ResultWriterOptions {
  long flush_rows = 4096;      ///< >= 1
  double flush_seconds = 0.2;  ///< wall-clock time [s], >= 0; 0: after every row
  void validate() const;
};

/// A result whose run goes on: what it holds up to the checkpoint comes first in the new one. It may be the file that
/// the new one replaces; it is replaced when the new one is complete.
struct EarlierResult {
  std::filesystem::path file;
  Checkpoint checkpoint;
  StopRequest stop = nullptr;  ///< ends a long copy with an OutputError; nothing has changed then
};

class ResultWriter {
 public:
  /// Makes the folder and result.h5 in it; CSV, summary and report of an earlier run are removed, so that files of two
  /// runs never stand side by side.
  ResultWriter(const std::filesystem::path& folder, const TrajectoryNames& names, const ResultHeader& header,
               const ResultWriterOptions& options = {}, const EarlierResult* earlier = nullptr);
  /// Without finish() what was added is flushed if possible, and the file keeps the status "running".
  ~ResultWriter();
  ResultWriter(ResultWriter&&) noexcept;

  void add(const OutputRow& row);
  void add(const Event& event);
  /// The state to go on from, stored with the next flush. Where this is never called the last row serves, which between
  /// two steps is an interpolated one.
  void checkpoint(const State& state);
  /// Where simulate() puts its checkpoint when a flush is due, else null; flush_if_due() then does it.
  Checkpoint* wanted_checkpoint();
  void flush_if_due();
  void flush();
  /// The file holds a state to go on from: that of the first row is stored at once, with what the scheme remembers
  /// after the first step.
  bool has_state() const;
  /// Rows that are safe on a kill.
  long flushed_rows() const;

  /// Stores the final state and the outcome and closes result.h5; nothing can be added any more.
  void close(const Simulation& simulation, double wall_seconds);
  /// The same, then write_tables() and, last, summary.json.
  void finish(const Simulation& simulation, double wall_seconds);

 private:
  struct Store;
  std::unique_ptr<Store> store_;
};

/// The text files that the commands leave in a folder of results.
void remove_text_results(const std::filesystem::path& folder);

/// trajectory.csv and events.csv from result.h5 in the folder, part by part. keep_going(fraction), if given, is asked
/// before each file and often; false ends it: the file under way is left out, and so is what follows it, and the answer
/// is false.
bool write_tables(const std::filesystem::path& folder, const std::function<bool(double)>& keep_going = {});

}  // namespace stickslip
