// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/solve_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

namespace {

namespace fs = std::filesystem;

/// Each file once, at its first place, however it was named.
std::vector<std::string> without_repetitions(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  std::set<fs::path> seen;
  for (const std::string& name : names) {
    std::error_code error;
    const fs::path one = fs::weakly_canonical(name, error);
    if (seen.insert(error ? fs::path(name) : one).second) files.push_back(name);
  }
  return files;
}

}  // namespace

std::vector<std::string> problem_files(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (!fs::is_directory(name)) {
      files.push_back(name);
      continue;
    }
    const std::size_t before = files.size();
    for (const fs::directory_entry& entry : fs::directory_iterator(name))
      if (entry.path().extension() == ".hdf5" || entry.path().extension() == ".h5")
        files.push_back(entry.path().string());
    if (files.size() == before) throw InputError(fmt::format("{}: no .hdf5 or .h5 file in this folder", name));
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return without_repetitions(files);
}

SolveRow solve_row(const std::string& file, const FclibProblem& problem, SolverKind kind) {
  SolveRow row;
  row.file = file;
  row.contacts = contact_count(problem);
  row.dimension = contact_dimension(problem);
  row.form = std::holds_alternative<LocalContactProblem>(problem) ? "local" : "global";
  row.solver = to_string(kind);
  return row;
}

Vector start_of(const std::string& file, const FclibProblem& problem, const std::string& start) {
  if (start == "zero") return {};
  if (start == "solution") {
    if (const auto stored = read_fclib_solution(file, problem)) return reactions_of(*stored);
    throw InputError(fmt::format("{}: has no /solution to start from", file));
  }
  const std::vector<FclibSolution> guesses = read_fclib_guesses(file, problem);
  if (guesses.empty()) throw InputError(fmt::format("{}: has no /guesses to start from", file));
  return reactions_of(guesses.front());
}

void judge(const DualProblem& dual, const InclusionSolution& solution, const std::string& failure, double tolerance,
           SolveRow& row) {
  if (!failure.empty()) {
    row.status = to_string(Status::refused);
    row.message = failure;
    return;
  }
  row.method = solution.solver;
  row.iterations = solution.iterations;
  row.message = solution.message;
  row.status = to_string(solution.status);
  if (solution.r.size() != dual.b.size()) return;
  const Residuals found = residuals(dual, solution.r);
  row.error = found.error;
  row.strict_error = found.strict_error;
  row.unit_free = found.unit_free;
  row.solved = row.unit_free <= tolerance;
  if (row.solved) {
    row.status = to_string(Status::success);
    row.message.clear();
  } else if (solution.status == Status::success) {
    row.status = to_string(Status::not_converged);
  }
  if (!row.solved && row.message.empty())
    row.message =
        fmt::format("unit_free is {:.2e}; try --compare all, a larger --tolerance or --max-seconds", row.unit_free);
}

void conclude(SolveSummary& summary, bool interrupted) {
  std::map<std::string, bool> solved;
  for (const SolveRow& row : summary.rows) solved[row.file] = solved[row.file] || row.solved;
  for (const auto& [file, ok] : solved) summary.solved += ok ? 1 : 0;
  if (interrupted) {
    summary.status = to_string(Status::interrupted);
    summary.message = fmt::format("interrupted; the {} files solved before are kept", summary.solved);
  } else if (summary.solved < summary.files - summary.unread.size()) {
    summary.status = to_string(Status::not_converged);
    summary.message =
        fmt::format("{} of {} files are not solved to unit_free <= {:g}",
                    summary.files - summary.unread.size() - summary.solved, summary.files, summary.tolerance);
  } else if (!summary.unread.empty()) {
    summary.status = "wrong_input";
    summary.message = fmt::format("{} of {} files could not be read", summary.unread.size(), summary.files);
  } else {
    summary.status = to_string(Status::success);
  }
}

}  // namespace stickslip
