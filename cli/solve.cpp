// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/solve.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>

#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/storing.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/fclib.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_folder.hpp"
#include "stickslip/io/solve_case.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What one solver made of one problem; `failure` if it threw.
struct Attempt {
  InclusionSolution solution;
  double seconds = 0;
  std::string failure;
};

/// Runs in a thread of its own, so that the bar moves and Ctrl-C is noticed whatever the solver does. Nothing on
/// Ctrl-C; the thread then still runs and owns what it needs.
std::optional<Attempt> attempt(std::shared_ptr<const DualProblem> problem, const SolveOptions& options,
                               const Vector& start, const std::function<void(double)>& on_wait) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false;
    Attempt result;
  };
  auto shared = std::make_shared<Shared>();
  std::thread worker([shared, problem, options, start] {
    Attempt result;
    const double begin = thread_cpu_seconds();
    try {
      result.solution = stickslip::solve(*problem, options, start);
    } catch (const std::bad_alloc&) {
      result.failure = "out of memory; solve a smaller problem, or give the machine more";
    } catch (const std::exception& error) {
      result.failure = error.what();
    }
    result.seconds = thread_cpu_seconds() - begin;
    const std::lock_guard lock(shared->mutex);
    shared->result = std::move(result);
    shared->done = true;
    shared->ended.notify_one();
  });
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(shared->mutex);
  while (!shared->ended.wait_for(lock, std::chrono::milliseconds(20), [&] { return shared->done; })) {
    on_wait(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (!interrupted()) continue;
    worker.detach();
    return std::nullopt;
  }
  lock.unlock();
  worker.join();
  return std::move(shared->result);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<SolverKind> chosen_solvers(const SolveCommand& command) {
  if (command.compare.empty()) return {solver_from(command.solver)};
  std::vector<SolverKind> kinds;
  if (command.compare == "all") {
    // What takes no cones would only fill the table with refusals.
    for (const SolverInfo& info : solver_table())
      if (info.kind != SolverKind::active_set) kinds.push_back(info.kind);
    return kinds;
  }
  for (const std::string& name : split(command.compare)) {
    const SolverKind kind = solver_from(name);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  if (kinds.empty()) throw InputError(fmt::format("--compare {}: names no solver", command.compare));
  return kinds;
}

void check_options(const SolveCommand& command, const std::vector<std::string>& files, const fs::path& folder) {
  auto one_of = [](const char* option, const std::string& value, std::vector<std::string> known) {
    if (std::find(known.begin(), known.end(), value) == known.end())
      throw InputError(fmt::format("{} {}: unknown{}", option, value, name_hint(value, known)));
  };
  if (!(command.tolerance > 0) || !std::isfinite(command.tolerance))
    throw InputError(fmt::format("--tolerance {}: must be a finite number above 0", command.tolerance));
  if (!(command.max_seconds > 0))
    throw InputError(fmt::format("--max-seconds {}: must be positive", command.max_seconds));
  one_of("--start", command.start, {"zero", "guess", "solution"});
  if (!command.write_solution.empty()) one_of("--write-solution", command.write_solution, {"copy", "file"});
  if (command.write_solution != "copy" && !command.write_local) return;
  std::set<std::string> names;
  for (const std::string& file : files) {
    const fs::path name = fs::path(file).filename();
    if (!names.insert(name.string()).second)
      throw InputError(
          fmt::format("{}: two files have this name, their copies would too; solve them one by one", name.string()));
    if (command.write_solution == "copy" && fs::exists(folder / name) && fs::exists(file) &&
        fs::equivalent(folder / name, file))
      throw InputError(
          fmt::format("{}: its copy would replace it; choose another --out, or --write-solution file", file));
  }
}

void write_row(const SolveRow& row, std::size_t width) {
  auto number = [](double x) { return std::isfinite(x) ? fmt::format("{:.2e}", x) : std::string("-"); };
  print_out("  {:<{}}{:>10}  {:<15}{:<26}{:>11}{:>14}{:>12}{:>12}\n", fs::path(row.file).stem().string(), width,
            row.contacts, row.status, row.solver, number(row.error), number(row.strict_error), row.iterations,
            fmt::format("{:.3g}", row.seconds));
  std::fflush(stdout);
}

class Session {
 public:
  Session(const SolveCommand& command, std::vector<std::string> files, ResultFolder& folder)
      : command_(command),
        files_(std::move(files)),
        results_(folder),
        folder_(folder.path()),
        solvers_(chosen_solvers(command)),
        bar_("solving", !command.json) {
    for (const std::string& file : files_) width_ = std::max(width_, fs::path(file).stem().string().size() + 2);
  }

  int run() {
    if (!command_.json)
      print_out("  {:<{}}{:>10}  {:<15}{:<26}{:>11}{:>14}{:>12}{:>12}\n", "file", width_, "contacts", "status",
                "solver", "error", "strict_error", "iterations", "seconds");
    for (std::size_t k = 0; k < files_.size() && !stopped_ && !interrupted(); ++k) solve_file(k);
    stopped_ = stopped_ || interrupted();
    bar_.finish();
    if (summary_.rows.empty()) return stopped_ ? kNoSuccess : kWrongInput;  // nothing to keep
    finish();
    const int code = wrong_input_ ? kWrongInput : summary_.status == "success" ? kSuccess : kNoSuccess;
    if (stopped_) {  // a solver may still be running in its thread; leaving main() would pull the ground from under it
      std::fflush(nullptr);
      _exit(code);
    }
    return code;
  }

 private:
  void solve_file(std::size_t k) {
    const std::string& file = files_[k];
    FclibProblem problem;
    LocalContactProblem local;
    Vector start;
    auto dual = std::make_shared<DualProblem>();
    try {
      problem = read_fclib(file);
      start = start_of(file, problem, command_.start);
      local = std::holds_alternative<LocalContactProblem>(problem) ? std::get<LocalContactProblem>(problem)
                                                                   : condense(std::get<GlobalContactProblem>(problem));
      *dual = to_dual(local);
      if (command_.write_local) {
        open_folder();
        write_fclib(folder_ / (fs::path(file).stem().string() + "-local.hdf5"), local);
      }
    } catch (const InputError& error) {
      bar_.finish();
      const std::string message = error.what();
      print_error("stickslip: {}\n", message.starts_with(file) ? message : file + ": " + message);
      wrong_input_ = true;
      summary_.unread.push_back({file, message});
      return;
    }
    Vector best;
    double best_error = HUGE_VAL;
    for (std::size_t s = 0; s < solvers_.size() && !stopped_; ++s) {
      SolveRow row = solve_row(file, problem, solvers_[s]);
      auto show = [&](double seconds) {
        const double part = std::min(seconds / command_.max_seconds, 1.0);
        const auto each = static_cast<double>(solvers_.size()), all = static_cast<double>(files_.size());
        bar_.update((static_cast<double>(k) + (static_cast<double>(s) + part) / each) / all);
      };
      show(0);
      const std::optional<Attempt> done = attempt(dual, options(solvers_[s]), start, show);
      if (done) {
        row.seconds = done->seconds;
        judge(*dual, done->solution, done->failure, command_.tolerance, row);
        if (row.solved && row.unit_free < best_error) {
          best_error = row.unit_free;
          best = done->solution.r;
        }
      } else {
        row.status = to_string(Status::interrupted);
        stopped_ = true;
      }
      bar_.finish();
      if (!command_.json) write_row(row, width_);
      summary_.rows.push_back(std::move(row));
    }
    if (best.size() > 0 && !command_.write_solution.empty()) write_solution(file, problem, best);
  }

  SolveOptions options(SolverKind kind) const {
    SolveOptions options;
    options.solver = kind;
    options.tolerance = command_.tolerance;
    options.measure = StoppingMeasure::strict_error;
    options.max_seconds = command_.max_seconds;
    return options;
  }

  void write_solution(const std::string& file, const FclibProblem& problem, const Vector& reactions) {
    const FclibSolution solution = std::visit([&](const auto& p) { return expand(p, reactions); }, problem);
    const bool copy = command_.write_solution == "copy";
    if (copy) open_folder();
    write_fclib_solution(file, copy ? folder_ / fs::path(file).filename() : fs::path(file), solution);
  }

  void finish() {
    summary_.files = files_.size();
    summary_.tolerance = command_.tolerance;
    summary_.max_seconds = command_.max_seconds;
    conclude(summary_, stopped_);
    const std::string failure = unstored([&] {
      open_folder();
      write_text_file(folder_ / "problems.csv", solve_csv(summary_.rows));
      write_report(folder_ / "report.html", solve_report(summary_));
      write_text_file(folder_ / "summary.json", solve_json(summary_));
    });
    if (!failure.empty()) {
      summary_.status = "interrupted";
      summary_.message = failure;
    }
    if (command_.json)
      print_out("{}", solve_json(summary_));
    else
      print_out("  solved: {} of {}; results: {}\n", summary_.solved, files_.size(), folder_.string());
    if (!summary_.message.empty() && (!command_.json || !failure.empty()))
      print_error("stickslip: {}\n", summary_.message);
  }

  /// Results of an earlier command leave the folder before the first file of this one comes.
  void open_folder() {
    if (std::exchange(opened_, true)) {
      results_.require_in_place();
    } else {
      results_.open_cleared();
    }
  }

  const SolveCommand& command_;
  std::vector<std::string> files_;
  ResultFolder& results_;
  const fs::path& folder_;
  std::vector<SolverKind> solvers_;
  ProgressBar bar_;
  std::size_t width_ = 6;
  SolveSummary summary_;
  bool stopped_ = false, wrong_input_ = false, opened_ = false;
};

}  // namespace

int solve(const SolveCommand& command) {
  std::vector<std::string> files = problem_files(command.files);
  fs::path folder = command.out;
  if (command.out.empty()) folder = files.size() == 1 ? fs::path(files.front()).stem() : fs::path("solve");
  check_options(command, files, folder);
  ResultFolder results(folder);
  Session session(command, std::move(files), results);
  catch_interrupts();
  return session.run();
}

}  // namespace stickslip::cli
