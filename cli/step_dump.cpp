// SPDX-License-Identifier: Apache-2.0
#include "cli/step_dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/io/fclib.hpp"

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;

// Of the length of a step: times that are nearer to its end than this are its end, however they were rounded.
constexpr double kSameTime = 1e-9;

/// Ascending, each once; all within the run.
std::vector<double> checked_times(std::vector<double> times, const std::string& key, const ModelFile& model) {
  for (const double t : times)
    if (!(t >= model.run.start_time && t <= model.run.end_time))
      throw InputError(
          fmt::format("{} {}: outside the run, which goes from run.start_time = {:.9g} s to run.end_time "
                      "= {:.9g} s; choose a time in it, or raise --set run.end_time=...",
                      key, t, model.run.start_time, model.run.end_time));
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

}  // namespace

StepDump::StepDump(std::vector<double> times, const std::string& key, const ModelFile& model, std::string name,
                   std::function<fs::path()> folder)
    : model_(model),
      name_(std::move(name)),
      folder_(std::move(folder)),
      times_(checked_times(std::move(times), key, model)) {}

void StepDump::look(const StepProblem& step) {
  const bool solved = step.outcome.status == Status::success;
  const double reach = step.end + kSameTime * (step.end - step.start);
  for (; next_ < times_.size() && times_[next_] <= reach; ++next_) take(times_[next_], step, solved);
  if (step.contacts() == 0) return;
  (solved ? last_contact_ : unsolved_) = step.end;
}

void StepDump::take(double time, const StepProblem& step, bool solved) {
  DumpedStep dumped;
  dumped.time = time;
  dumped.start = step.start;
  dumped.end = step.end;
  dumped.solved = solved;
  if (step.contacts() == 0) {
    dumped.message =
        fmt::format("no contact takes part in the step from t = {:.9g} s to {:.9g} s", step.start, step.end) +
        (last_contact_ ? fmt::format("; the last step before with contacts: --at {}", *last_contact_)
                       : std::string("; none did before: choose a later time"));
    steps_.push_back(std::move(dumped));
    return;
  }
  FclibStep file = fclib_step(step);
  dumped.contacts = contact_count(file.problem);
  dumped.dimension = file.problem.dimension;
  if (!solved) dumped.message = step.outcome.message;
  file.problem.info.title = fmt::format("{}, step to t = {:.9g} s", name_, step.end);
  file.problem.info.description =
      fmt::format("contact problem of the step from t = {:.17g} s to t = {:.17g} s of {}, scheme moreau{}", step.start,
                  step.end, model_.path, solved ? "" : "; the step was not solved");
  const fs::path path = folder_() / fmt::format("{}-t{}.hdf5", name_, time);
  write_fclib(path, file.problem);
  if (solved) write_fclib_solution(path, path, file.solution);
  dumped.file = path.string();
  steps_.push_back(std::move(dumped));
}

}  // namespace stickslip::cli
