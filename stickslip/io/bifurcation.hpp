// SPDX-License-Identifier: Apache-2.0
// What a motion settles on, over a number of the model: followed upward and downward, each value from the state in
// which the one before ended, so that where two attractors exist both show.
//
// One value is one record of a journal (sweep_journal.hpp): the points that were seen, and the state that the next
// value begins from, to the last bit. Record number: k for the k-th value upward, count + k for the k-th downward. A
// diagram that was stopped or killed goes on behind the last record of each direction.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/report_document.hpp"
#include "stickslip/io/result_header.hpp"
#include "stickslip/io/sweep_journal.hpp"

namespace stickslip {

struct BifurcationPlan {
  std::string key;  ///< as in --set, or the name of a parameter
  double from = 0, to = 1;
  long count = 2;        ///< of values, >= 2
  std::string observed;  ///< a coordinate or v_<coordinate>; empty: the first coordinate
  int transient = 50;    ///< periods before points are taken; without [periodic] parts of the run
  int record = 50;       ///< periods, or parts, in which they are
  bool peaks = false;    ///< where [periodic] has a period as well

  /// KEY=FROM:TO:COUNT. Throws InputError.
  static BifurcationPlan parse(const std::string& text);
  /// Throws InputError: ends that are not finite or the same, too few or too many values.
  void validate() const;
  double value(long k) const { return from + (to - from) * static_cast<double>(k) / static_cast<double>(count - 1); }
  long records() const { return 2 * count; }
  bool upward(long index) const { return index < count; }
  /// Of a record.
  double value_of(long index) const { return value(upward(index) ? index : 2 * count - 1 - index); }
};

class BifurcationRunner {
 public:
  /// Throws InputError: no [run], no such key or column.
  BifurcationRunner(const ModelFile& model, BifurcationPlan plan, StopRequest stop);
  const BifurcationPlan& plan() const { return plan_; }
  const ModelFile& model() const { return base_; }
  /// Points once per period (the Poincaré section of a forced system); else peaks, the greatest rows of the trajectory.
  bool strobe() const { return strobe_; }

  /// One value. `before`: where it begins; null: the start of the model.
  SweepRecord settle(long index, const State* before) const;
  /// All that `journal` does not hold, both directions at the same time. `progress`: records there, some fifty times
  /// per second.
  Status follow(SweepJournal& journal, const std::function<void(long)>& progress) const;

 private:
  BifurcationPlan plan_;
  ModelFile base_;
  StopRequest stop_;
  std::size_t column_ = 0;
  bool strobe_ = false;
};

/// The points of a record, from its tables.
std::vector<double> bifurcation_points(const std::vector<SweepBlock>& blocks);

/// direction, value, point
std::string bifurcation_csv(const BifurcationPlan& plan, const SweepJournal& journal);
ReportFigure bifurcation_figure(const BifurcationRunner& runner, const SweepJournal& journal);

/// How it ended, and how much there is.
struct BifurcationEnd {
  std::string status = "success";  ///< or "failures", "interrupted"
  std::string message;
  long points = 0, done = 0, failed = 0, resumed = 0;
  double wall_seconds = 0;
  bool ok() const { return status == "success"; }
};
BifurcationEnd bifurcation_end(const BifurcationPlan& plan, const SweepJournal& journal);
/// summary.json
std::string bifurcation_json(const BifurcationRunner& runner, const ResultHeader& header, const BifurcationEnd& end);
ReportDocument bifurcation_report(const BifurcationRunner& runner, const SweepJournal& journal,
                                  const ResultHeader& header, const BifurcationEnd& end);

/// Everything that the records depend on, for the journal.
std::string bifurcation_identity(const BifurcationRunner& runner, const std::string& version);

}  // namespace stickslip
