// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>

#include "cli/branch_plot.hpp"
#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/storing.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/branch_file.hpp"
#include "stickslip/io/output_error.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/periodic_case.hpp"
#include "stickslip/io/result_folder.hpp"
#include "stickslip/periodic/require_branch.hpp"

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;

double number_in(const std::string& text, const std::string& whole) {
  try {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    if (used == text.size() && std::isfinite(value)) return value;
  } catch (const std::exception&) {
  }
  throw InputError(
      fmt::format("--continue {}: '{}' is not a number; write PARAM=FROM:TO, as omega=0.5:2", whole, text));
}

/// PARAM=FROM:TO[:STEP]
BranchOptions branch_options(const std::string& text, BranchOptions given) {
  if (text.empty()) return given;
  const std::size_t equals = text.find('='), colon = text.find(':');
  if (equals == std::string::npos || colon == std::string::npos || colon < equals)
    throw InputError(fmt::format("--continue {}: write PARAM=FROM:TO, as omega=0.5:2", text));
  const std::size_t second = text.find(':', colon + 1);
  given.parameter = text.substr(0, equals);
  given.from = number_in(text.substr(equals + 1, colon - equals - 1), text);
  given.to = number_in(text.substr(colon + 1, second == std::string::npos ? second : second - colon - 1), text);
  given.step = 0;
  if (second != std::string::npos) {
    given.step = number_in(text.substr(second + 1), text);
    if (given.step == 0)
      throw InputError(
          fmt::format("--continue {}: a step of 0 leads nowhere; leave it out for a hundredth of the way", text));
  }
  try {
    require_branch(given);
  } catch (const InputError& error) {
    throw InputError(fmt::format("--continue {}: {}", text, error.what()));
  }
  return given;
}

/// A path takes any value of the range: numbers without a fraction, as of harmonics, are none to follow.
void require_range(const BranchBuilder& build, const BranchOptions& branch) {
  constexpr double kBetween = 0.382;  // neither an end nor the middle: a number without a fraction at all three is told
  build(branch.from);
  const double value = branch.from + kBetween * (branch.to - branch.from);
  try {
    build(value);
  } catch (const InputError& error) {
    throw InputError(fmt::format("--continue {}={}:{}: a branch takes every value between, as {:.6g}, and there: {}",
                                 branch.parameter, branch.from, branch.to, value, error.what()));
  }
}

void print_summary(const PeriodicResult& result, const std::string& folder) {
  const PeriodicSolution& s = result.solution;
  print_out("{}\n", result.header.title.empty() ? result.header.model : result.header.title);
  if (result.mode)
    print_out("  {} ({}): {:.3g} s\n", periodic_status_name(s.status), s.method, result.wall_seconds);
  else
    print_out("  {} ({}{}): period {:.12g} s, {} iterations, residual {:.2g}, {:.3g} s\n",
              periodic_status_name(s.status), s.method, s.polished ? ", polished" : "", s.period, s.iterations,
              s.residual, result.wall_seconds);
  const TrajectoryNames names = trajectory_names(result.system, false);
  for (std::size_t i = 0; i < names.coordinates.size() && i < 8 && s.orbit.minimum.size() > 0; ++i)
    print_out("  {:<10} {:.10g} .. {:.10g}, amplitude {:.10g}\n", names.coordinates[i],
              s.orbit.minimum[static_cast<Index>(i)], s.orbit.maximum[static_cast<Index>(i)],
              s.amplitude()[static_cast<Index>(i)]);
  for (std::size_t k = 0; k < names.laws.size() && k < 8 && s.orbit.stick_fraction.size() > 0; ++k)
    print_out("  {:<10} sticks {:.6g} of the period\n", names.laws[k], s.orbit.stick_fraction[static_cast<Index>(k)]);
  if (s.multipliers.size() > 0)
    print_out("  {}; largest multiplier {:.6g}\n",
              s.stable ? (*s.stable ? "stable" : "unstable") : "stability not decided", std::abs(s.multipliers[0]));
  if (!result.branch_options.parameter.empty()) {
    print_out("  branch in {}: {} points from {:.6g} to {:.6g}\n", result.branch_options.parameter,
              result.branch.points.size(), result.branch.points.empty() ? NAN : result.branch.points.front().value,
              result.branch.points.empty() ? NAN : result.branch.points.back().value);
    for (const Bifurcation& b : result.branch.bifurcations)
      print_out("    {} at {:.9g}{}\n", b.kind, b.value,
                b.branch > 0 ? fmt::format(" (further branch {})", b.branch) : "");
  }
  if (result.mode && !result.mode->points.empty()) {
    const NonlinearModePoint &first = result.mode->points.front(), &last = result.mode->points.back();
    print_out(
        "  nonlinear mode, {} amplitudes of {}: from {:.6g} (frequency {:.9g} rad/s, damping ratio {:.6g}) to {:.6g} "
        "({:.9g} rad/s, {:.6g})\n",
        result.mode->points.size(), names.coordinates[static_cast<std::size_t>(result.mode->coordinate)],
        first.amplitude, first.omega, first.damping, last.amplitude, last.omega, last.damping);
  }
  for (const std::string& note : s.notes) print_out("  note: {}\n", note);
  print_out("  results: {}\n", folder);
}

using TimePoint = std::chrono::steady_clock::time_point;

double seconds_since(TimePoint begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The branch point by point, each stored as soon as it is known.
void follow_and_store(const PeriodicCommand& command, const ModelFile& model, const BranchOptions& branch,
                      ResultFolder& folder, TimePoint begin, PeriodicResult& result) {
  const BranchBuilder build = branch_builder(model, branch.parameter);
  require_range(build, branch);  // mistakes show before anything is written
  std::optional<BranchResume> earlier;
  if (!command.restart.empty()) {
    earlier = read_branch(command.restart, branch.parameter, *model.system);
    require_resumable(branch, *earlier);
  }
  if (earlier) {
    result.branch.points = earlier->points;
    result.branch.bifurcations = earlier->bifurcations;
  }
  // What is gone on with stays until it has been stored anew.
  std::error_code ignored;
  const bool in_place = earlier && fs::equivalent(command.restart, folder.path(), ignored);
  if (in_place)
    folder.open();
  else
    folder.open_cleared();
  BranchFile rows(folder.path(), branch.parameter, *model.system, earlier ? &*earlier : nullptr);
  if (in_place)
    for (const char* name : {"summary.json", "report.html"}) fs::remove(folder.path() / name, ignored);
  // A report of what there is so far, so that a long branch can be looked at while it grows.
  LiveBranch live(branch, !command.json, [&] {
    result.solution.status = result.branch.status = Status::interrupted;
    result.solution.message =
        fmt::format("not finished: {} points so far; load the page again", result.branch.points.size());
    result.wall_seconds = seconds_since(begin);
    write_report(folder.path() / "report.html", periodic_report(result));
  });
  BranchHooks hooks;
  hooks.stop = interrupt_request();
  hooks.on_bifurcation = [&](const Bifurcation& found) {
    rows.add(found);
    result.branch.bifurcations.push_back(found);
    live.add(found);
  };
  hooks.on_point = [&](const BranchPoint& point, const Orbit& orbit) {
    rows.add(point);
    if (point.branch == 0) rows.keep_orbit(orbit);
    result.branch.points.push_back(point);
    result.solution.orbit = orbit;
    result.solution.period = point.period;
    live.add(point);
    return !interrupted();
  };
  about_model(model, [&] {
    result.branch = follow_branch(build, branch, hooks, earlier ? &*earlier : nullptr, command.further);
  });
  live.finish();
  rows.keep_orbit(result.branch.last.orbit, true);
  take_last_of_branch(result);
}

/// A full disk ends the branch; what was stored before is there to go on from.
int tell_unwritten(const PeriodicCommand& command, const ResultFolder& folder, const std::string& why,
                   PeriodicResult& result) {
  result.solution.status = result.branch.status = Status::interrupted;
  result.solution.message = result.branch.message = fmt::format(
      "{}; the branch was stopped after {} points; make room and go on with --restart {}, or begin anew where it holds "
      "none",
      why, result.branch.points.size(), folder.path().string());
  if (command.json) write_out(periodic_json(result));
  print_error("stickslip: {}\n", result.solution.message);
  return kNoSuccess;
}

/// What a request to stop leaves, and how to go on.
void tell_stop(const PeriodicCommand& command, const ResultFolder& folder, bool alone, PeriodicResult& result) {
  if (result.solution.status != Status::interrupted || !interrupted()) return;
  std::string& message = result.solution.message;
  if (alone) {
    if (message.empty()) message = "stopped before a periodic motion was found; the files hold the last iterate";
    return;
  }
  message = result.branch.message = fmt::format(
      "stopped after {} points; go on with 'stickslip periodic {}{}{} --restart {}'", result.branch.points.size(),
      command.model, command.branch.empty() ? "" : " --continue ", command.branch, folder.path().string());
}

}  // namespace

int periodic(const PeriodicCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  require_periodic(model);
  const BranchOptions branch = branch_options(command.branch, model.periodic->branch);
  if (!command.restart.empty() && branch.parameter.empty())
    throw InputError(fmt::format(
        "--restart {}: a branch is gone on with; give --continue, or periodic.continue in the model", command.restart));
  if (command.further > 0 && branch.parameter.empty())
    throw InputError(fmt::format("--further {}: beside a branch; give --continue, or periodic.continue in the model",
                                 command.further));
  ResultFolder folder(!command.out.empty()       ? command.out
                      : !command.restart.empty() ? command.restart
                                                 : fs::path(command.model).stem().string() + "-periodic");
  catch_interrupts();
  ProgressBar bar("periodic", !command.json);
  const auto begin = std::chrono::steady_clock::now();
  PeriodicResult result = periodic_result(model, command.model, branch);
  const bool alone = branch.parameter.empty() || model.periodic->mode;
  if (model.periodic->mode) {
    solve_mode(model, result, interrupt_request());
  } else if (branch.parameter.empty()) {
    solve_orbit(model, result, {interrupt_request(), [&](double f) { bar.update(f); }, true});
  } else {
    try {
      follow_and_store(command, model, branch, folder, begin, result);
    } catch (const OutputError& error) {
      return tell_unwritten(command, folder, error.what(), result);
    }
  }
  bar.finish();
  result.wall_seconds = seconds_since(begin);
  tell_stop(command, folder, alone, result);
  const std::string failure = unstored([&] {
    if (alone) folder.open_cleared();
    folder.require_in_place();
    if (result.mode) write_text_file(folder.path() / "mode.csv", mode_csv(*model.system, *result.mode));
    if (!result.solution.orbit.t.empty()) write_orbit(folder.path(), *model.system, result.solution.orbit);
    write_report(folder.path() / "report.html", periodic_report(result));
    write_text_file(folder.path() / "summary.json", periodic_json(result));
  });
  if (!failure.empty()) {
    result.solution.status = Status::interrupted;
    result.solution.message = failure;
  }
  if (command.json)
    write_out(periodic_json(result));
  else
    print_summary(result, folder.path().string());
  if (!result.solution.message.empty() && (!command.json || !failure.empty()))
    print_error("stickslip: {}\n", result.solution.message);
  return result.solution.status == Status::success ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
