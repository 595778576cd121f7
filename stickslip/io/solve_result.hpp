// SPDX-License-Identifier: Apache-2.0
// What solvers made of friction-contact problems, as data, and what is written of it: summary.json, problems.csv,
// report.html.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "stickslip/io/report_document.hpp"

namespace stickslip {

/// One solver on one problem.
struct SolveRow {
  std::string file, form;  ///< form: local or global
  long contacts = 0;
  int dimension = 0;
  std::string status, message;
  std::string solver, method;  ///< asked for; what the automatic choice became
  double error = std::numeric_limits<double>::quiet_NaN(), strict_error = error;
  double unit_free = error;  ///< the same in every system of units
  int iterations = 0;
  double seconds = 0;  ///< CPU time of the solving thread
  bool solved = false;
};

struct SolveSummary {
  std::string status, message;
  std::size_t files = 0, solved = 0;  ///< a file is solved if one of the compared solvers solved it
  double tolerance = 0, max_seconds = 0;
  std::vector<SolveRow> rows;
  struct Unread {
    std::string file, message;
  };
  std::vector<Unread> unread;
};

/// Performance profile (Dolan and Moré, Math. Program. 91, 2002): the fraction of the problems that a solver solves
/// within a time, or, with several solvers, within a multiple τ of the time of the best solver on that problem.
struct Profile {
  std::string solver;
  std::vector<double> x;         ///< time [s], or τ >= 1; ascending; where the fraction jumps
  std::vector<double> fraction;  ///< from x on
};
std::vector<Profile> performance_profiles(const std::vector<SolveRow>& rows);

std::string solve_json(const SolveSummary& summary);
std::string solve_csv(const std::vector<SolveRow>& rows);
ReportDocument solve_report(const SolveSummary& summary);

}  // namespace stickslip
