// SPDX-License-Identifier: Apache-2.0
// Columns of results, and the figure of a `plot` command made of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/figure.hpp"

namespace stickslip::cli {

struct ResultTable {
  std::string label, path;
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;  ///< per column; NaN: no number
};

/// trajectory.csv of a run (result.h5 while it goes on), orbit.csv or branch.csv of periodic motions, sweep.csv of a
/// sweep, bifurcation.csv; or the file itself. Throws InputError.
ResultTable read_result_table(const std::string& result);
/// Where the numbers of a folder of results are (a run that goes on has no text yet); empty: it has none.
std::string result_table_name(const std::filesystem::path& folder);

Figure compose_figure(const PlotCommand& command, const std::vector<ResultTable>& tables);

}  // namespace stickslip::cli
