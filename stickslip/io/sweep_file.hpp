// SPDX-License-Identifier: Apache-2.0
// Results of a sweep: sweep.csv, sweep.h5, summary.json. All of them follow from the rows and the plan alone, so that
// the first is the same bytes, and the second has the same contents bit for bit, however many threads and processes
// there were, and whether or not it was interrupted on the way. (summary.json also has the date and the time it took.)
//
//   sweep.csv      run, <swept number>..., status, message, <kept number>...; one row per run, in the order of the
//   plan.
//                  A run that was not reached has the status `pending`; what a run does not have is empty
//   sweep.h5       swept (runs, axes), outputs (runs, kept numbers; NaN: none), status (runs; -1: not reached),
//                  message (runs; row of messages, -1: none); texts: swept_names, output_names, status_names, messages,
//                  model_text, settings; with everything = true runs/<number>/{trajectory, events} (orbit of a periodic
//                  motion), columns in the attribute of that name
//   summary.json   status (success, failures, interrupted), message, title, model, analysis, kind, runs, done,
//   succeeded,
//                  failed, over [{key, count, minimum, maximum}], outputs [{name, minimum, maximum, mean, deviation,
//                  count; of draws also confidence [low, high] (95 %, of the mean) and quantiles {fraction: value}}],
//                  success_interval [low, high] (95 %, of draws), failures [{run, status, message, values}] (the first
//                  hundred), threads, processes, resumed (runs that were there), wall_seconds, version, date, set,
//                  parameters, model_text
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "stickslip/io/summary.hpp"
#include "stickslip/io/sweep_journal.hpp"
#include "stickslip/io/sweep_outputs.hpp"

namespace stickslip {

/// A sweep as a table.
struct SweepTable {
  const SweepSection& section;
  const SweepPlan& plan;
  const std::vector<SweepRow>& rows;
  std::vector<std::string> outputs;  ///< names of the kept numbers, in the order in which the rows bring them

  SweepTable(const SweepRunner& runner, const std::vector<SweepRow>& rows);
  /// NaN: the run has none.
  double output(long index, std::size_t column) const;
  /// Those of a row in the order of `outputs`.
  void outputs_of(long index, std::vector<double>& values) const;
  long done() const, failed() const;

 private:
  /// Where the columns stand in rows with these names.
  std::vector<std::pair<NameList, std::vector<long>>> places_;
  const std::vector<long>* places_of(const NameList& names) const;
};

/// Of what the runs with numbers have.
struct OutputStatistics {
  long count = 0;
  double minimum = 0, maximum = 0, mean = 0, deviation = 0;  ///< deviation: of the sample, n - 1
  /// Half of the 95 % confidence interval of the mean of independent draws, 1.96 deviation/sqrt(n): for n > 30.
  double half_interval() const;
};
/// The values below which lie these fractions of the runs, between neighbours linearly.
std::vector<double> quantiles_of(const SweepTable& table, std::size_t column, const std::vector<double>& fractions);
/// 95 % confidence interval of the probability of success (Wilson's, 1927).
std::pair<double, double> success_interval(long succeeded, long done);
OutputStatistics statistics_of(const SweepTable& table, std::size_t column);

std::string sweep_csv(const SweepTable& table);
/// `blocks(index)`: the tables of a run.
void write_sweep_h5(const std::filesystem::path& path, const SweepTable& table, const ResultHeader& header,
                    const std::function<std::vector<SweepBlock>(long)>& blocks);

struct SweepEnd {
  Status status = Status::success;  ///< interrupted, or success whether or not runs failed
  std::string message;
  int threads = 1, processes = 1;
  long resumed = 0;
  double wall_seconds = 0;
};
std::string sweep_json(const SweepTable& table, const ResultHeader& header, const SweepEnd& end);
/// "success", "failures" (some runs ended without), "interrupted".
std::string sweep_status(const SweepTable& table, const SweepEnd& end);

/// sweep.csv, sweep.h5 and summary.json, whose text it returns.
std::string write_sweep_tables(const std::filesystem::path& folder, const SweepTable& table, const ResultHeader& header,
                               const SweepEnd& end, const std::function<std::vector<SweepBlock>(long)>& blocks);

/// Everything that a run depends on, for the journal.
std::string sweep_identity(const SweepRunner& runner, const ResultHeader& header);

}  // namespace stickslip
