// SPDX-License-Identifier: Apache-2.0
// [sweep] of a model file: which numbers are swept, which analysis runs for each, and what is kept of it.
//
//   over       { "parameters.k" = [1, 2, 3], "friction.0.limit" = { from = 0.1, to = 1, count = 10 }, .. }
//   kind       grid | zip | random | latin (sweep/sweep_plan.hpp); count, seed of the last two
//   analysis   run | periodic | shoot | fit
//   keep       what is gathered (sweep_outputs.hpp); everything = true: trajectories and events as well
//
// An axis is a list, a number, or a table:
//   { from, to, count }             equal parts; spacing = "log": equal ratios; step in place of count
//   { from, to }                    kind random or latin: uniform between them (spacing = "log": their logarithm)
//   { normal = [mean, deviation] }  likewise; lognormal = [median, deviation of the logarithm]; min, max cut it off
//   { random = 100, .. }            so many draws as the list of a grid or zip; of nothing else: whole numbers, for a
//   seed
#pragma once

#include <string>
#include <vector>

#include "stickslip/io/model_file.hpp"
#include "stickslip/sweep/sweep_plan.hpp"

namespace stickslip {

enum class SweepAnalysis { run, periodic, shoot, fit };
std::string_view to_string(SweepAnalysis analysis);

struct SweepSection {
  std::vector<SweepAxis> axes;
  std::vector<std::string> places;  ///< "path:LINE:COLUMN: key '..': " of each axis, for messages
  SweepPlanOptions plan;
  SweepAnalysis analysis = SweepAnalysis::run;
  std::vector<std::string> keep;  ///< never empty
  bool everything = false;
};

/// With the settings of the model. Throws InputError with the place where something is wrong or the table is absent.
SweepSection read_sweep(const ModelFile& model);

/// The same model without [sweep] and settings of it: what each run changes.
ModelFile without_sweep(const ModelFile& model);

/// KEY=VALUE that puts a value in: a parameter by its name, `seed`, anything else by its path.
std::string sweep_setting(const ModelFile& model, const std::string& key, double value);

namespace model_detail {
struct Field;
struct ModelContext;
/// `seed` of the file: a whole number that expressions may name, as other parameters; sweeps draw it.
void read_seed(const Field& field, ModelContext& context);
/// The table alone; axes are checked, but not whether the model has their keys.
SweepSection read_sweep_table(const Field& field);
}  // namespace model_detail

}  // namespace stickslip
