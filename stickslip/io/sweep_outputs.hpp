// SPDX-License-Identifier: Apache-2.0
// The numbers that a run of a sweep leaves, by name. `keep` picks them by the front of their names: "final" keeps all
// of final.position.x, final.velocity.x, ...; "final.position" those of positions; "events.slip" the one.
//
//   run        final.{position, velocity, reaction, internal}.NAME, minimum.COLUMN, maximum.COLUMN, mean.COLUMN (over
//   the
//              rows of the trajectory; mean over time), events.KIND (count), audit.NAME (value), steps, problems,
//              end_time (reached) [s]
//   periodic   period [s], amplitude.NAME, minimum.NAME, maximum.NAME, stick_fraction.LAW, multiplier (largest modulus;
//              without the one that an autonomous orbit always has), stable (1, 0), residual, iterations
//   shoot      unknowns.NAME, residual, iterations, runs
//   fit        unknowns.NAME, standard_errors.NAME, rms, chi_square, iterations, runs
//   all        wall_seconds. Kept, a sweep is no longer the same twice
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/io/measurement_file.hpp"
#include "stickslip/io/model_sweep.hpp"
#include "stickslip/sweep/sweep_record.hpp"

namespace stickslip {

std::vector<std::string> usual_outputs(SweepAnalysis analysis);
/// Throws InputError with the nearest known name if no number of the analysis can begin with `name`.
void require_output(SweepAnalysis analysis, const std::string& name);

/// Runs one point after the other; the same record for the same index, on any thread.
class SweepRunner {
 public:
  /// `model`: with [sweep]; kept by value. The data of a fit are read here. Throws InputError with the place in the
  /// file for a key that the model does not have, and where the table of the analysis is missing.
  SweepRunner(const ModelFile& model, SweepSection section, StopRequest stop);
  const SweepSection& section() const { return section_; }
  const SweepPlan& plan() const { return plan_; }
  const ModelFile& base() const { return base_; }
  /// What a fit is made to, as it was read; null: no fit.
  const std::string* data_text() const { return data_ ? &data_text_ : nullptr; }
  /// A value that the model does not take is a record with status refused and the reason.
  SweepRecord run(long index) const;
  /// The settings with which a command of its own repeats the run.
  std::vector<std::string> settings(long index) const;

 private:
  void require_keys() const;
  SweepRecord analyse(const ModelFile& model) const;
  SweepSection section_;
  SweepPlan plan_;
  ModelFile base_;
  std::optional<MeasurementTable> data_;
  std::string data_text_;
  StopRequest stop_;
};

}  // namespace stickslip
