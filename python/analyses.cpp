// SPDX-License-Identifier: Apache-2.0
// The analyses of a case beside a run: what the commands of the program of the same names do, without their files.
#include <fmt/format.h>
#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cmath>
#include <complex>

#include "python/bindings.hpp"
#include "python/interrupts.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/boundary_case.hpp"
#include "stickslip/io/comparison_result.hpp"
#include "stickslip/io/epsilon_result.hpp"
#include "stickslip/io/fit_result.hpp"
#include "stickslip/io/model_check.hpp"
#include "stickslip/io/periodic_case.hpp"
#include "stickslip/io/shooting_result.hpp"
#include "stickslip/io/solve_case.hpp"

namespace py = pybind11;

namespace stickslip::python {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Cases are handed over by value: another thread may set them meanwhile.

/// Runs work(Interrupts&) without the lock; Ctrl-C is an exception afterwards.
template <class Work>
void compute(const Work& work) {
  Interrupts interrupts;
  {
    const py::gil_scoped_release unlocked;
    work(interrupts);
  }
  interrupts.rethrow();
}

Findings check(const PythonCase c) {
  Findings found;
  compute([&](Interrupts&) {
    const ModelFile model = c.current();
    found.json = check_json(model.path, model, check_model(model));
  });
  return found;
}

Findings compare(const PythonCase c, const std::vector<std::string>& schemes, const std::vector<double>& steps) {
  c.require_run();
  Findings found;
  compute([&](Interrupts& interrupts) {
    const ModelFile model = c.current();
    ComparisonOptions options;
    for (const std::string& name : schemes) options.schemes.push_back(scheme_from(name));
    if (schemes.empty()) options.schemes = comparable_schemes(*model.system);
    options.steps = steps.empty() ? default_steps(model.run) : steps;
    options.stop = interrupts.request();
    const Comparison comparison =
        compare_schemes(*model.system, model.initial, model.run, options, [&](double) { return !interrupts.heard(); });
    found.json = comparison_json(model.path, comparison);
    found.page = comparison_report(model, comparison);
  });
  return found;
}

Findings compare_epsilons(const PythonCase c, const std::vector<double>& epsilons) {
  c.require_run();
  Findings found;
  compute([&](Interrupts& interrupts) {
    const ModelFile model = c.current();
    EpsilonStudyOptions options;
    options.epsilons = epsilons;
    options.tolerance = std::min(model.run.tolerance, 1e-10);
    options.integrator = model.run.viscoelastic.integrator;
    options.stop = interrupts.request();
    const EpsilonStudy study = study_epsilon(*model.system, model.initial, model.run.start_time, model.run.end_time,
                                             options, [&](double) { return !interrupts.heard(); });
    found.json = epsilon_json(model.path, study);
    found.page = epsilon_report(model, study);
  });
  return found;
}

/// An orbit as rows of a run, which have names and can be drawn.
std::shared_ptr<Result> rows_of(const PythonCase& c, const System& system, const Orbit& orbit) {
  auto result = std::make_shared<Result>();
  TrajectoryNames names = trajectory_names(system, false);
  names.smooth_part = false;
  Trajectory rows(names, system.info().nq(), system.info().nv(), static_cast<Index>(orbit.t.size()));
  for (std::size_t k = 0; k < orbit.t.size(); ++k) {
    OutputRow row;
    row.t = orbit.t[k];
    row.q = orbit.q[k];
    row.v = orbit.v[k];
    const auto components = static_cast<Index>(names.reactions.size());
    row.reaction = Vector::Constant(components, std::nan(""));  // those of constraints are not known
    if (k < orbit.r.size())
      row.reaction.head(std::min(components, orbit.r[k].size())) =
          orbit.r[k].head(std::min(components, orbit.r[k].size()));
    if (k < orbit.modes.size()) row.modes = orbit.modes[k];
    row.modes.resize(names.laws.size(), Mode::stick);
    rows.append(row);
  }
  rows.events = orbit.events;
  result->run.trajectory = std::move(rows);
  result->made_of = std::make_shared<const PythonCase>(c);
  result->name_columns();
  return result;
}

py::dict branch_tables(const Branch& branch) {
  std::vector<double> value, period, residual;
  std::vector<Vector> amplitude, minimum, maximum, sticks;
  py::list stable, number, multipliers, rejected;
  for (const BranchPoint& p : branch.points) {
    value.push_back(p.value);
    period.push_back(p.period);
    residual.push_back(p.residual);
    amplitude.push_back(p.amplitude);
    minimum.push_back(p.minimum);
    maximum.push_back(p.maximum);
    sticks.push_back(p.stick_fraction);
    stable.append(p.stable ? py::object(py::bool_(*p.stable)) : py::none());
    number.append(p.branch);
    rejected.append(p.rejected);
    multipliers.append(
        py::array_t<std::complex<double>>(static_cast<py::ssize_t>(p.multipliers.size()), p.multipliers.data()));
  }
  py::dict tables;
  tables["value"] = array_of(value);
  tables["period"] = array_of(period);
  tables["residual"] = array_of(residual);
  tables["amplitude"] = table_of(amplitude);
  tables["minimum"] = table_of(minimum);
  tables["maximum"] = table_of(maximum);
  tables["stick_fraction"] = table_of(sticks);
  tables["stable"] = stable;
  tables["branch"] = number;
  tables["multipliers"] = multipliers;
  tables["rejected"] = rejected;
  return tables;
}

void follow(const ModelFile& model, const BranchOptions& branch, int further, Interrupts& interrupts,
            PeriodicResult& result) {
  const BranchBuilder build = branch_builder(model, branch.parameter);
  BranchHooks hooks;
  hooks.stop = interrupts.request();
  hooks.on_point = [&](const BranchPoint&, const Orbit&) { return !interrupts.heard(); };
  about_model(model, [&] { result.branch = follow_branch(build, branch, hooks, nullptr, further); });
  take_last_of_branch(result);
}

Findings periodic(const PythonCase c, int further) {
  Findings found;
  std::optional<ModelFile> model;
  std::optional<PeriodicResult> result;
  compute([&](Interrupts& interrupts) {
    model = c.current();
    require_periodic(*model);
    const BranchOptions& branch = model->periodic->branch;
    if (further > 0 && branch.parameter.empty())
      throw InputError(fmt::format("further = {}: beside a branch; give continue_", further));
    result.emplace(periodic_result(*model, model->path, branch));
    const auto begin = Clock::now();
    if (model->periodic->mode) {
      solve_mode(*model, *result, interrupts.request());
    } else if (branch.parameter.empty()) {
      solve_orbit(*model, *result, {interrupts.request(), [&](double) { interrupts.heard(); }, true});
    } else {
      follow(*model, branch, further, interrupts, *result);
    }
    result->wall_seconds = seconds_since(begin);
    found.json = periodic_json(*result);
    found.page = periodic_report(*result);
    if (!result->solution.orbit.t.empty()) found.motion = rows_of(c, *model->system, result->solution.orbit);
  });
  if (!result->branch_options.parameter.empty()) found.tables["branch"] = branch_tables(result->branch);
  return found;
}

/// The motion that a search ended with, and the two ways to see it.
template <class Found>
void keep_motion(const PythonCase& c, const FoundMotion& motion, const Found& result, Findings& found) {
  found.motion = std::make_shared<Result>();
  found.motion->run = motion.simulation;
  found.motion->wall_seconds = motion.wall_seconds;
  found.motion->name_columns();
  found.motion->made_of = std::make_shared<const PythonCase>(PythonCase(
      with_overrides(*c.model, std::vector<std::string>(result.header.inputs.settings.begin() +
                                                            static_cast<std::ptrdiff_t>(c.model->settings.size()),
                                                        result.header.inputs.settings.end())),
      c.functions));
}

Findings shoot(const PythonCase c) {
  Findings found;
  compute([&](Interrupts& interrupts) {
    const ModelFile model = c.current();
    if (!model.shoot)
      throw InputError(fmt::format(
          "{}: there is no [shoot] table; add one with end_time, unknowns and conditions (docs/model-file.md)",
          model.path));
    const ShootingProblem problem = shooting_problem(model);
    ShootingOptions options = model.shoot->options;
    options.stop = interrupts.request();
    options.progress = [&](double) { interrupts.heard(); };
    auto begin = Clock::now();
    const ShootingSolution solution = stickslip::shoot(problem, options);
    ShootingResult result = shooting_result(model, model.path, problem, solution, seconds_since(begin));
    if (!solution.history.empty() && !interrupts.heard()) {
      begin = Clock::now();
      SimulationHooks hooks;
      hooks.stop = interrupts.request();
      FoundMotion motion{stickslip::follow(problem, solution, hooks)};
      motion.wall_seconds = seconds_since(begin);
      keep_motion(c, motion, result, found);
      add_motion(result, std::move(motion));
    }
    found.json = shooting_json(result);
    found.page = shooting_report(result, model);
  });
  return found;
}

Findings fit(const PythonCase c, const std::string& path, const std::string& text) {
  Findings found;
  compute([&](Interrupts& interrupts) {
    const ModelFile model = c.current();
    if (!model.fit)
      throw InputError(
          fmt::format("{}: there is no [fit] table; add one with unknowns (docs/model-file.md)", model.path));
    const std::string file = path.empty() ? model.fit->data : path;
    if (text.empty() && file.empty())
      throw InputError(fmt::format("{}: which data? Give fit(data), or in [fit], data = \"..\"", model.path));
    const FitProblem problem =
        fit_problem(model, text.empty() ? read_measurements(file) : parse_measurements(text, "data"));
    FitOptions options = model.fit->options;
    options.stop = interrupts.request();
    options.progress = [&](double) { interrupts.heard(); };
    auto begin = Clock::now();
    const FitSolution solution = stickslip::fit(problem, options);
    FitResult result =
        fit_result(model, model.path, text.empty() ? file : "data", problem, solution, seconds_since(begin));
    if (!solution.model.empty() && !interrupts.heard()) {
      begin = Clock::now();
      SimulationHooks hooks;
      hooks.stop = interrupts.request();
      FoundMotion motion{run_fitted(problem, solution, hooks, result.curves)};
      motion.wall_seconds = seconds_since(begin);
      keep_motion(c, motion, result, found);
      result.motion = std::move(motion);
    }
    found.json = fit_json(result);
    found.page = fit_report(result, model);
  });
  return found;
}

struct SolveArguments {
  std::vector<std::string> files, solvers;
  std::string start;
  double tolerance, max_seconds;
};

/// All solvers on one file; the best reactions, or none.
Vector solve_file(const std::string& file, const SolveArguments& given, Interrupts& interrupts, SolveSummary& summary) {
  const FclibProblem problem = read_fclib(file);
  const Vector start = start_of(file, problem, given.start);
  const LocalContactProblem local = std::holds_alternative<LocalContactProblem>(problem)
                                        ? std::get<LocalContactProblem>(problem)
                                        : condense(std::get<GlobalContactProblem>(problem));
  const DualProblem dual = to_dual(local);
  Vector best;
  double smallest = HUGE_VAL;
  for (const std::string& name : given.solvers) {
    SolveOptions options;
    options.solver = solver_from(name);
    options.tolerance = given.tolerance;
    options.measure = StoppingMeasure::strict_error;
    options.max_seconds = given.max_seconds;
    options.stop = interrupts.request();
    SolveRow row = solve_row(file, problem, options.solver);
    InclusionSolution solution;
    std::string failure;
    const auto begin = Clock::now();
    try {
      solution = stickslip::solve(dual, options, start);
    } catch (const InputError& error) {
      failure = error.what();
    }
    row.seconds = seconds_since(begin);
    judge(dual, solution, failure, given.tolerance, row);
    if (row.unit_free < smallest) {
      smallest = row.unit_free;
      best = solution.r;
    }
    summary.rows.push_back(row);
    if (interrupts.heard()) break;
  }
  return best;
}

Findings solve(const SolveArguments& given) {
  Findings found;
  std::map<std::string, Vector> reactions;
  compute([&](Interrupts& interrupts) {
    SolveSummary summary;
    const std::vector<std::string> files = problem_files(given.files);
    summary.files = files.size();
    summary.tolerance = given.tolerance;
    summary.max_seconds = given.max_seconds;
    for (const std::string& file : files) {
      try {
        reactions[file] = solve_file(file, given, interrupts, summary);
      } catch (const InputError& error) {
        const std::string message = error.what();
        const std::string told = message.starts_with(file) ? message : file + ": " + message;
        if (files.size() == 1) throw InputError(told);
        summary.unread.push_back({file, told});
      }
      if (interrupts.heard()) break;
    }
    conclude(summary, interrupts.heard());
    found.json = solve_json(summary);
    found.page = solve_report(summary);
  });
  for (const auto& [file, r] : reactions)
    found.tables[py::str(file)] = array_of(std::vector<double>(r.begin(), r.end()));
  return found;
}

}  // namespace

void bind_analyses(py::module_& module) {
  py::class_<Findings>(module, "_Findings")
      .def_readonly("json", &Findings::json)
      .def_readonly("motion", &Findings::motion)
      .def_readonly("tables", &Findings::tables)
      .def("html", [](const Findings& f) { return page_html(f.page); });
  module.def("_check", &check);
  module.def("_compare", &compare);
  module.def("_compare_epsilons", &compare_epsilons);
  module.def("_periodic", &periodic);
  module.def("_shoot", &shoot);
  module.def("_fit", &fit);
  module.def("_solve", [](std::vector<std::string> files, std::vector<std::string> solvers, std::string start,
                          double tolerance, double max_seconds) {
    return solve({std::move(files), std::move(solvers), std::move(start), tolerance, max_seconds});
  });
}

}  // namespace stickslip::python
