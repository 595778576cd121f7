// SPDX-License-Identifier: Apache-2.0
// Results while a run goes on, and when it has ended. The layout of the files is described in docs/results.md.
//
// result.h5 exists from the start and grows. Rows and events wait in memory and are flushed together after `flush_rows`
// rows or `flush_seconds` of wall-clock time, whichever comes first. A flush appends to each table in turn and hands
// every one to the operating system before it touches the next; `t` comes last. Hence, whenever the process is killed,
//
//     every table has at least as many rows as `t`, and the rows below the length of `t` are complete;
//
// likewise events/t among the events. The state to go on from has two slots, of which the older is overwritten, and a
// counter that is written after its slot: the slot it names is never half written.
// (Holds for a killed process. A machine that loses its power may lose what the operating system had not yet stored.)
//
// Bad folders, missing permission and full disks are InputErrors with path and reason. Several writers may work in
// several threads if HDF5 was built thread-safe, as Debian's is.
#pragma once

#include <filesystem>
#include <memory>

#include "stickslip/io/summary.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

struct ResultWriterOptions {
  long flush_rows = 4096;      ///< >= 1
  double flush_seconds = 0.2;  ///< wall-clock time [s], >= 0; 0: after every row
  void validate() const;
};

class ResultWriter {
 public:
  /// Makes the folder and result.h5 in it; CSV, summary and report of an earlier run are removed, so that files of two
  /// runs never stand side by side.
  ResultWriter(const std::filesystem::path& folder, const TrajectoryNames& names, const ResultHeader& header,
               const ResultWriterOptions& options = {});
  /// Without finish() what was added is flushed if possible, and the file keeps the status "running".
  ~ResultWriter();
  ResultWriter(ResultWriter&&) noexcept;

  void add(const OutputRow& row);
  void add(const Event& event);
  /// The state to go on from, stored with the next flush. Where this is never called the last row serves, which between
  /// two steps is an interpolated one.
  void checkpoint(const State& state);
  void flush();
  /// Rows that are safe on a kill.
  long flushed_rows() const;

  /// Stores the final state and the outcome, closes result.h5, then writes trajectory.csv, events.csv and summary.json.
  void finish(const Simulation& simulation, double wall_seconds);

 private:
  struct Store;
  std::unique_ptr<Store> store_;
};

}  // namespace stickslip
