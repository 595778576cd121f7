// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/periodic_case.hpp"

#include <fmt/format.h>

#include "stickslip/common/nearest_name.hpp"
#include "stickslip/common/version.hpp"

namespace stickslip {

namespace {

/// A parameter by its name, anything else by its path.
std::string setting_for(const ModelFile& model, const std::string& name, double value) {
  std::vector<std::string> names;
  for (const auto& parameter : model.parameters) {
    if (parameter.first == name) return fmt::format("parameters.{}={}", name, value);
    names.push_back(parameter.first);
  }
  if (name.find('.') == std::string::npos)
    throw InputError(fmt::format("{}: there is no parameter '{}'{}; other numbers have a path, as friction.shoe.limit",
                                 model.path, name, name_hint(name, names)));
  return fmt::format("{}={}", name, value);
}

}  // namespace

BranchCase branch_case(const ModelFile& model) {
  const double length = model.has_run ? model.run.end_time - model.run.start_time : 0;
  State initial = model.initial;
  initial.t = model.run.start_time;
  return {model.system, std::move(initial), model.periodic->options, length, model.run.event};
}

void require_periodic(const ModelFile& model) {
  if (!model.periodic)
    throw InputError(fmt::format("{}: there is no [periodic] table; add one with period = .. in s", model.path));
}

BranchBuilder branch_builder(const ModelFile& model, const std::string& parameter) {
  return [&model, parameter](double value) {
    return branch_case(with_overrides(model, std::vector<std::string>{setting_for(model, parameter, value)}));
  };
}

PeriodicResult periodic_result(const ModelFile& model, const std::string& named, const BranchOptions& branch) {
  return {{model.title,
           named,
           "",
           std::string(version()),
           {},
           0,
           {},
           {model.text, model.settings, model.parameters, utc_date(), model.files, {}}},
          *model.system,
          {},
          branch,
          {},
          0};
}

void solve_orbit(const ModelFile& model, PeriodicResult& result, const PeriodicHooks& hooks) {
  const BranchCase given = branch_case(model);
  std::optional<Orbit> start;
  if (given.options.start == PeriodicStart::file) start = read_orbit(given.options.start_file, *model.system);
  about_model(model, [&] {
    const PeriodicProblem problem{
        *given.system, given.initial, given.options, given.run_length, given.event, start ? &*start : nullptr, {}};
    result.solution = solve_periodic(problem, hooks);
  });
}

void solve_mode(const ModelFile& model, PeriodicResult& result, StopRequest stop) {
  if (!result.branch_options.parameter.empty())
    throw InputError(fmt::format("{}: [periodic] asks for a mode and a branch; leave one out", model.path));
  const BranchCase given = branch_case(model);
  about_model(model, [&] {
    result.mode = solve_nonlinear_mode(*given.system, given.options, given.initial.q, *model.periodic->mode, stop);
  });
  result.solution.status = result.mode->status;
  result.solution.message = result.mode->message;
  result.solution.method = "nonlinear mode";
  result.solution.period = given.options.motion_period();
}

void take_last_of_branch(PeriodicResult& result) {
  result.solution = result.branch.last;
  if (result.branch.status == Status::success) return;
  result.solution.status = result.branch.status;
  result.solution.message = result.branch.message;
}

}  // namespace stickslip
