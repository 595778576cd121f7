// SPDX-License-Identifier: Apache-2.0
// Friction-contact problems in files, and what is said of each solution.
#pragma once

#include <string>
#include <vector>

#include "stickslip/io/fclib.hpp"
#include "stickslip/io/solve_result.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip {

/// A folder stands for the .hdf5 and .h5 files in it; each file comes once, however it was named.
std::vector<std::string> problem_files(const std::vector<std::string>& names);

/// What is known before it is solved.
SolveRow solve_row(const std::string& file, const FclibProblem& problem, SolverKind kind);

/// start: zero, guess or solution, the latter two as the file holds them. Empty: zero.
Vector start_of(const std::string& file, const FclibProblem& problem, const std::string& start);

/// Errors of r, computed here: what the solver believes does not count. `failure`: what it threw; empty: nothing.
void judge(const DualProblem& dual, const InclusionSolution& solution, const std::string& failure, double tolerance,
           SolveRow& row);

/// Status and message over all rows; files and tolerance are known.
void conclude(SolveSummary& summary, bool interrupted);

}  // namespace stickslip
