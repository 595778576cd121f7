// SPDX-License-Identifier: Apache-2.0

// Our side of the friction-contact benchmark: the library's own solve(), cold start, set-up inside the clock.
//
//   contact_benchmark solve FILE...             the problems as they are
//   contact_benchmark variants FILE...          changed copies of them (variants.hpp)
//   contact_benchmark packings [--write DIR]    heaps of spheres (packing.hpp), handed over as a time step does, with
//   the
//                                               bodies; --form contacts: without them. --kind K, --name N: one of them
//
// --solver NAME --tolerance T (on strict_error) --seconds S (of CPU time) --repetitions N --seed K. One JSON line per
// problem. Every problem is solved in a process of its own: one that crashes or does not return is a problem not
// solved.

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>

#include "harness.hpp"
#include "packing.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/solvers/residual.hpp"
#include "stickslip/solvers/solve.hpp"
#include "variants.hpp"

namespace {

using namespace contact_benchmark;
using stickslip::DualProblem;
using stickslip::LocalContactProblem;

// Raised when the process has used the CPU time of its limit: the wall clock would count what other processes take.
std::atomic<bool> out_of_time = false;

void stop_after_cpu(double seconds) {
  out_of_time = false;
  std::signal(SIGPROF, [](int) { out_of_time = true; });
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>(1e6 * (seconds - std::floor(seconds)));
  setitimer(ITIMER_PROF, &timer, nullptr);
}

stickslip::SolveOptions solve_options(const Arguments& arguments) {
  stickslip::SolveOptions options;
  options.solver = stickslip::solver_from(arguments.text("solver", "default"));
  options.tolerance = arguments.number("tolerance", 1e-8);
  options.measure = stickslip::StoppingMeasure::strict_error;
  options.max_seconds = 1e6;  // the limit is the stop request
  options.stop = &out_of_time;
  return options;
}

// How a problem is handed over: over contacts, as the files hold it, or over bodies, as a time step does.
using Solve = std::function<stickslip::InclusionSolution(const stickslip::SolveOptions&)>;

std::string result_line(const std::string& label, const DualProblem& dual, const Solve& solve,
                        const Arguments& arguments) {
  const stickslip::SolveOptions options = solve_options(arguments);
  const int most = static_cast<int>(arguments.number("repetitions", 1));
  double best = HUGE_VAL;
  stickslip::InclusionSolution solution;
  for (int run = 0, runs = 1; run < runs; ++run) {
    stop_after_cpu(arguments.number("seconds", 20));
    const double begin = cpu_seconds();
    stickslip::InclusionSolution again = solve(options);
    best = std::min(best, cpu_seconds() - begin);
    if (run == 0) {
      solution = std::move(again);
      runs = repetitions(best, most);
    }
  }
  const stickslip::Residuals errors = stickslip::residuals(dual, solution.r);
  const bool solved = errors.strict_error <= options.tolerance;
  return "{" + label + ", \"contacts\": " + std::to_string(dual.sets.size()) +
         ", \"solved\": " + (solved ? "true" : "false") + ", \"status\": " +
         (solution.status == stickslip::Status::interrupted ? "\"not converged\""
                                                            : json_text(std::string(to_string(solution.status)))) +
         ", \"method\": " + json_text(solution.solver) + ", \"error\": " + json_number(errors.error) +
         ", \"strict_error\": " + json_number(errors.strict_error) +
         ", \"unit_free\": " + json_number(errors.unit_free) +
         ", \"iterations\": " + std::to_string(solution.iterations) + ", \"seconds\": " + json_number(best) + "}";
}

// Solves in a child process and prints its line, or a line that says how it ended.
void run_apart(const std::string& label, const LocalContactProblem& problem, const Arguments& arguments,
               const stickslip::GlobalContactProblem* global = nullptr) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) std::exit(1);
  if (child == 0) {
    limit_cpu(2 * arguments.number("seconds", 20) * std::max(1.0, arguments.number("repetitions", 1) > 1 ? 2.0 : 1.0));
    try {
      const DualProblem dual = to_dual(problem);
      stickslip::SystemMatrix A;
      stickslip::PrimalProblem primal;
      if (global) primal = to_primal(*global, A);
      const Solve solve = [&](const stickslip::SolveOptions& options) {
        return global ? stickslip::solve(primal, options) : stickslip::solve(dual, options);
      };
      std::printf("%s\n", result_line(label, dual, solve, arguments).c_str());
    } catch (const std::exception& error) {
      std::printf("{%s, \"contacts\": %ld, \"solved\": false, \"status\": %s}\n", label.c_str(),
                  static_cast<long>(problem.mu.size()), json_text(error.what()).c_str());
    }
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const bool late = signal_number == SIGXCPU || signal_number == SIGKILL;
  std::printf("{%s, \"contacts\": %ld, \"solved\": false, \"status\": %s}\n", label.c_str(),
              static_cast<long>(problem.mu.size()), late ? "\"killed: out of time\"" : "\"crashed\"");
}

std::string file_label(const std::string& file) {
  return "\"problem\": " + json_text(std::filesystem::path(file).stem().string());
}

void run_files(const Arguments& arguments) {
  for (const std::string& file : arguments.files) run_apart(file_label(file), read_local(file), arguments);
}

void run_variants(const Arguments& arguments) {
  unsigned seed = static_cast<unsigned>(arguments.number("seed", 1));
  for (const std::string& file : arguments.files) {
    for (const variants::Variant& variant : variants::make(read_local(file), seed)) {
      const std::string label = file_label(file) + ", \"kind\": " + json_text(variant.kind) +
                                ", \"strength\": " + json_number(variant.strength) +
                                ", \"seed\": " + std::to_string(variant.seed);
      run_apart(label, variant.problem, arguments);
      if (arguments.options.contains("write"))
        write_fclib(std::filesystem::path(arguments.text("write", ".")) /
                        (std::filesystem::path(file).stem().string() + "-" + variant.kind + "-" +
                         std::to_string(variant.seed) + ".hdf5"),
                    variant.problem);
    }
    ++seed;
  }
}

void run_packings(const Arguments& arguments) {
  constexpr double radius = 0.01;
  struct Heap {
    std::string kind, name;
    std::vector<packing::Sphere> spheres;
    packing::ContactOptions options;
  };
  std::vector<Heap> heaps;
  const std::string only = arguments.text("kind", ""), only_named = arguments.text("name", "");
  auto add = [&](const char* kind, const std::string& name, auto&& make, double wall_distance) {
    if (!only.empty() && only != kind) return;
    packing::ContactOptions options;
    options.wall_distance = wall_distance;
    const std::vector<packing::Sphere> spheres = make();
    for (const double mu : {0.3, 0.7}) {
      options.mu = mu;
      heaps.push_back({kind, name + "-mu" + json_number(mu), spheres, options});
    }
  };
  for (const int n : {8, 9, 11, 13, 14})
    add(
        "pyramid", "pyramid" + std::to_string(n), [&] { return packing::pyramid(n, radius); }, -1);
  for (const int n : {6, 8, 9})
    add(
        "close_packing", "close" + std::to_string(n), [&] { return packing::close_packing(n, n, n, radius); }, -1);
  const unsigned seed = static_cast<unsigned>(arguments.number("seed", 1));
  for (const int n : {400, 800, 1500, 2200}) {
    const double width = 2.2 * radius * std::cbrt(static_cast<double>(n));
    add(
        "deposit", "deposit" + std::to_string(n),
        [&] { return packing::deposit(n, radius, width, seed + static_cast<unsigned>(n)); }, width / 2);
  }
  for (const Heap& heap : heaps) {
    if (!only_named.empty() && only_named != heap.name) continue;
    const stickslip::GlobalContactProblem global = contact_problem(heap.spheres, heap.options);
    LocalContactProblem problem = condense(global);
    problem.info.title = heap.name;
    problem.info.description = "spheres at rest on a floor, one step from rest under gravity";
    if (arguments.options.contains("write"))
      write_fclib(std::filesystem::path(arguments.text("write", ".")) / (heap.name + ".hdf5"), problem);
    if (arguments.text("solve", "yes") == "no") continue;
    run_apart("\"problem\": " + json_text(heap.name) + ", \"kind\": " + json_text(heap.kind) +
                  ", \"mu\": " + json_number(heap.options.mu) + ", \"spheres\": " + std::to_string(heap.spheres.size()),
              problem, arguments, arguments.text("form", "bodies") == "bodies" ? &global : nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const Arguments arguments = parse(argc, argv, 2);
  try {
    if (what == "solve") {
      run_files(arguments);
    } else if (what == "variants") {
      run_variants(arguments);
    } else if (what == "packings") {
      run_packings(arguments);
    } else {
      std::fprintf(stderr, "usage: %s solve|variants|packings [FILE...] [--OPTION VALUE]...\n", argv[0]);
      return 2;
    }
  } catch (const stickslip::InputError& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
  return 0;
}
