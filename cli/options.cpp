// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "cli/starters.hpp"
#include "papers/papers.hpp"
#include "stickslip/motion/scheme.hpp"

namespace stickslip::cli {

namespace {

void add_model(CLI::App& app, std::string& model, std::vector<std::string>& set, bool required = true) {
  app.add_option("MODEL", model, "model file (TOML)")->required(required);
  app.add_option("--set", set, "change a key of the model: --set run.step=0.001 (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

/// Where results go, and JSON in the place of words.
template <class Command>
CLI::App* with_results(CLI::App* sub, Command& command, const std::string& folder, const std::string& printed) {
  sub->add_option("--out", command.out, "folder of the results (default: " + folder + ")");
  sub->add_flag("--json", command.json, "print " + printed + " as JSON and nothing else");
  return sub;
}

/// "a | b | c"
template <class Table>
std::string names_of(const Table& table) {
  std::string names;
  for (const auto& entry : table) names += fmt::format("{}{}", names.empty() ? "" : " | ", entry.name);
  return names;
}

CLI::App* add_run(CLI::App& app, RunCommand& command) {
  CLI::App* sub = app.add_subcommand("run", "simulate a model: trajectory, events, audit, report");
  add_model(*sub, command.model, command.set, false);
  sub->add_option("--scheme", command.scheme, names_of(scheme_table()));
  sub->add_option("--out", command.out, "folder of the results (default: named after the model)");
  sub->add_option(
      "--restart", command.restart,
      "go on with the run in this folder (or result.h5), and store it there as one; with --out: there instead");
  sub->add_option("--from", command.from,
                  "repeat the run in this folder from the model, --set and files that it holds (into DIR-again)");
  sub->add_option_function<int>(
         "--threads", [&](int threads) { command.set.push_back(fmt::format("run.threads={}", threads)); },
         "threads that share contacts between bodies (default: one per processor where it pays); same results")
      ->check(CLI::Range(1, 4096));
  sub->add_flag("--json", command.json, "print the summary as JSON and nothing else");
  return sub;
}

CLI::App* add_compare(CLI::App& app, CompareCommand& command) {
  CLI::App* sub = app.add_subcommand("compare", "one model under several schemes: error, observed order, cost");
  add_model(*sub, command.model, command.set);
  sub->add_option("--schemes", command.schemes,
                  "comma-separated (default: those of splitting, moreau, event that take the model)");
  sub->add_option("--steps", command.steps,
                  "comma-separated step sizes in s (default: 4, 2, 1 and 1/2 times the model's)");
  sub->add_option("--epsilons", command.epsilons,
                  "comma-separated: convergence of constraints as spring-dampers (scheme viscoelastic) instead");
  return with_results(sub, command, "MODEL-compare", "the result");
}

CLI::App* add_periodic(CLI::App& app, PeriodicCommand& command) {
  CLI::App* sub = app.add_subcommand("periodic", "a periodic motion with its stability, or a branch of them");
  add_model(*sub, command.model, command.set);
  sub->add_option("--continue", command.branch, "follow the motion over a number of the model")
      ->type_name("PARAM=FROM:TO[:STEP]");
  sub->add_option("--further", command.further, "look for so many branches beside the one that is followed")
      ->check(CLI::Range(0, 1000));
  sub->add_option("--restart", command.restart,
                  "go on with the branch in this folder, and store it there as one; with --out: there instead");
  return with_results(sub, command, "MODEL-periodic", "the summary");
}

CLI::App* add_shoot(CLI::App& app, ShootCommand& command) {
  CLI::App* sub = app.add_subcommand("shoot", "two-point boundary value problem: the unknowns of [shoot]");
  add_model(*sub, command.model, command.set);
  return with_results(sub, command, "MODEL-shoot", "the result");
}

CLI::App* add_fit(CLI::App& app, FitCommand& command) {
  CLI::App* sub = app.add_subcommand("fit", "the unknowns of [fit] from measurements, with standard errors");
  add_model(*sub, command.model, command.set);
  sub->add_option("DATA", command.data, "measurements (CSV); default: fit.data of the model");
  return with_results(sub, command, "MODEL-fit", "the result");
}

CLI::App* add_sweep(CLI::App& app, SweepCommand& command) {
  CLI::App* sub = app.add_subcommand(
      "sweep", "many runs over any numbers of the model: grids, zips, random samples; goes on after a stop or crash");
  add_model(*sub, command.model, command.set);
  sub->add_option("--over", command.over, "sweep a number, beside those of [sweep] (repeatable)")
      ->type_name("KEY=FROM:TO:COUNT | KEY=A,B,..")
      ->allow_extra_args(false);
  sub->add_option("--threads", command.threads, "threads of each process (default: one per processor)")
      ->check(CLI::Range(1, 4096));
  sub->add_flag("--fresh", command.fresh, "begin anew: drop what an unfinished sweep left in the folder");
  with_results(sub, command, "MODEL-sweep", "the summary");
  sub->footer(
      "The same command goes on where a stopped or killed sweep ended. Under mpirun it uses all ranks:\n"
      "  mpirun -n 4 stickslip sweep MODEL.toml\n"
      "Exit codes: 0 every run succeeded, 1 some did not (kept, with their message) or it was stopped, 2 wrong input.");
  return sub;
}

CLI::App* add_basin(CLI::App& app, SweepCommand& command) {
  CLI::App* sub =
      app.add_subcommand("basin", "basins of attraction: which runs of a grid of starts end in the same state");
  add_model(*sub, command.model, command.set);
  sub->add_option("--over", command.over, "two numbers of the start, as initial.position.0=-2:2:50 (repeatable)")
      ->type_name("KEY=FROM:TO:COUNT")
      ->allow_extra_args(false);
  sub->add_option("--resolution", command.resolution = 1e-3,
                  "final states that differ by less, of the range of the motion, are the same")
      ->capture_default_str()
      ->check(CLI::Range(1e-15, 1.0));
  sub->add_option("--threads", command.threads, "threads of each process (default: one per processor)")
      ->check(CLI::Range(1, 4096));
  sub->add_flag("--fresh", command.fresh, "begin anew: drop what an unfinished sweep left in the folder");
  return with_results(sub, command, "MODEL-sweep", "the summary");
}

CLI::App* add_montecarlo(CLI::App& app, SweepCommand& command) {
  CLI::App* sub = app.add_subcommand("montecarlo", "random draws of the numbers of [sweep], with confidence intervals");
  add_model(*sub, command.model, command.set);
  sub->add_option("--count", command.count = 100, "draws")->capture_default_str()->check(CLI::Range(1L, 100000000L));
  sub->add_option("--seed", command.seed, "of the draws (default: that of [sweep], or 1)");
  sub->add_option("--threads", command.threads, "threads of each process (default: one per processor)")
      ->check(CLI::Range(1, 4096));
  sub->add_flag("--fresh", command.fresh, "begin anew: drop what an unfinished sweep left in the folder");
  return with_results(sub, command, "MODEL-sweep", "the summary");
}

CLI::App* add_bifurcation(CLI::App& app, BifurcationCommand& command) {
  CLI::App* sub =
      app.add_subcommand("bifurcation", "what a motion settles on over a number of the model, followed up and down");
  add_model(*sub, command.model, command.set);
  sub->add_option("--over", command.over, "the number")->type_name("KEY=FROM:TO:COUNT")->required();
  sub->add_option("--observe", command.observe, "a coordinate, or v_<coordinate> (default: the first coordinate)");
  sub->add_option("--transient", command.transient,
                  "periods before points are taken; without [periodic] parts of the run")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  sub->add_option("--record", command.record, "periods, or parts, in which they are")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  sub->add_flag("--peaks", command.peaks,
                "peaks, where [periodic] has a period as well (default: one point per period)");
  sub->add_flag("--fresh", command.fresh, "begin anew: drop what an unfinished diagram left in the folder");
  return with_results(sub, command, "MODEL-bifurcation", "the summary");
}

CLI::App* add_check(CLI::App& app, CheckCommand& command) {
  CLI::App* sub = app.add_subcommand("check", "what was understood of a model, with units; no run");
  add_model(*sub, command.model, command.set);
  sub->add_flag("--json", command.json, "print as JSON and nothing else");
  return sub;
}

CLI::App* add_solve(CLI::App& app, SolveCommand& command) {
  CLI::App* sub = app.add_subcommand("solve", "friction-contact problems in FCLIB files: table, profile, report");
  sub->add_option("PROBLEM", command.files, "FCLIB files (HDF5), or folders of them")->required();
  sub->add_option("--solver", command.solver, "one solver of 'stickslip list solvers'")->capture_default_str();
  sub->add_option("--compare", command.compare, "several solvers, comma-separated, or all: performance profile");
  sub->add_option("--tolerance", command.tolerance, "on unit_free, the error that decides")->capture_default_str();
  sub->add_option("--max-seconds", command.max_seconds, "wall-clock time per problem and solver")
      ->capture_default_str();
  sub->add_option("--start", command.start, "start from zero | guess | solution (those stored in the file)")
      ->capture_default_str();
  sub->add_option("--out", command.out, "folder of the results (default: named after the file, or solve)");
  sub->add_option("--write-solution", command.write_solution,
                  "store the solution in a copy of the problem in the results (copy) or in the problem (file)");
  sub->add_flag("--write-local", command.write_local, "store each problem in its local form in the results");
  sub->add_flag("--json", command.json, "print the table as JSON and nothing else");
  return sub;
}

CLI::App* add_dump(CLI::App& app, DumpCommand& command) {
  CLI::App* sub =
      app.add_subcommand("dump", "contact problems of single steps of a run (scheme moreau) as FCLIB files");
  add_model(*sub, command.model, command.set);
  sub->add_option("--at", command.at,
                  "times in s, comma-separated or repeated: the step that contains, or ends at, each")
      ->required()
      ->delimiter(',')
      ->type_name("TIME")
      ->allow_extra_args(false);
  return with_results(sub, command, "MODEL-dump", "what was written");
}

CLI::App* add_plot(CLI::App& app, PlotCommand& command) {
  CLI::App* sub =
      app.add_subcommand("plot", "columns of results as a picture: overlays, phase portraits, sections, spectra");
  sub->add_option("RESULT", command.results, "folders of results, or CSV files")->required();
  sub->add_option("--x", command.x, "column along the axis (default: the first, t)")->type_name("COLUMN");
  sub->add_option("--y", command.y, "columns, comma-separated: a panel each (default: the coordinates)")
      ->type_name("COLUMN,..");
  sub->add_option("--section", command.section, "Poincaré section: points once per so many seconds")
      ->check(CLI::PositiveNumber);
  sub->add_flag("--spectrum", command.spectrum, "amplitudes over frequency");
  sub->add_option("--after", command.after, "leave out what is before this time in s");
  sub->add_option("--out", command.out, "file: .svg, .png or .pdf")->capture_default_str();
  sub->add_option("--title", command.title, "above the picture");
  sub->add_option("--width", command.width, "in pixels")->check(CLI::Range(100.0, 10000.0))->capture_default_str();
  sub->add_option("--height", command.height, "in pixels (default: by the number of panels)")
      ->check(CLI::Range(100.0, 20000.0));
  sub->add_flag("--dark", command.dark, "light on dark");
  sub->add_flag("--json", command.json, "print what was drawn as JSON and nothing else");
  sub->footer(
      "  stickslip plot two-masses                                       coordinates over time\n"
      "  stickslip plot first second --y x1                              two runs over one another\n"
      "  stickslip plot belt --x x --y v_x                               phase portrait\n"
      "  stickslip plot belt --x v_x --y r_belt                          friction over slip\n"
      "  stickslip plot forced-oscillator --x x --y v_x --section 12.566 Poincaré section");
  return sub;
}

CLI::App* add_view(CLI::App& app, ViewCommand& command) {
  CLI::App* sub = app.add_subcommand(
      "view", "results in the browser: a list that keeps up to date, overlays, reports side by side");
  sub->add_option("DIR", command.folders, "folders with results in them or below (default: here)");
  sub->add_option("--port", command.port, "of this machine (default: a free one)")->check(CLI::Range(1, 65535));
  sub->add_flag("--no-browser", command.no_browser, "print the address only");
  sub->add_flag("--json", command.json, "print the address as JSON and nothing else");
  return sub;
}

CLI::App* add_fmu(CLI::App& app, FmuCommand& command) {
  CLI::App* sub = app.add_subcommand("fmu", "the model as a functional mock-up unit (FMI 2.0 for co-simulation)");
  add_model(*sub, command.model, command.set);
  sub->add_option("--out", command.out, "file (default: MODEL.fmu)");
  sub->add_flag("--json", command.json, "print what was written as JSON and nothing else");
  return sub;
}

CLI::App* add_list(CLI::App& app, ListCommand& command) {
  CLI::App* sub = app.add_subcommand("list", "what there is, one line each");
  sub->add_option("WHAT", command.what, "schemes | solvers | laws | models | papers")->required();
  sub->add_flag("--json", command.json, "print as JSON and nothing else");
  return sub;
}

CLI::App* add_new(CLI::App& app, NewCommand& command) {
  CLI::App* sub = app.add_subcommand("new", "write a commented model that runs, to start from");
  sub->add_option("KIND", command.kind, starter_kinds());
  sub->add_option("FILE", command.file, "the file to write (default: KIND.toml)");
  sub->add_flag("--force", command.force, "replace a file that is there");
  return sub;
}

CLI::App* add_doctor(CLI::App& app, DoctorCommand& command) {
  CLI::App* sub = app.add_subcommand("doctor", "versions, threads, MPI, and a self-check in seconds");
  sub->add_flag("--json", command.json, "print as JSON and nothing else");
  return sub;
}

CLI::App* add_completion(CLI::App& app, std::string& shell) {
  CLI::App* sub = app.add_subcommand("completion", "print the completion of a shell, or the manual page");
  sub->add_option("SHELL", shell, "bash | zsh | fish | man")->required();
  sub->footer(
      "bash: source <(stickslip completion bash)   fish: stickslip completion fish | source\n"
      "The manual page: stickslip completion man | man -l -");
  return sub;
}

CLI::App* add_reproduce(CLI::App& app, ReproduceCommand& command) {
  CLI::App* sub =
      app.add_subcommand("reproduce", "reproduce a paper: figures, and a verdict per claim computed from the run");
  sub->add_option("PAPER", command.paper, names_of(paper_table()) + " | all")->default_val("all");
  return with_results(sub, command, "reproduction", "the claims");
}

/// What stands below the options of a command that says nothing else there.
std::string examples_of(std::string_view command) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kExamples{{
      {"run",
       "  stickslip run models/two-masses.toml --scheme event --set run.end_time=5 --out second\n"
       "  stickslip run --restart second --set run.end_time=10            goes on with what is in second/\n"
       "The schemes: stickslip list schemes."},
      {"compare", "  stickslip compare models/two-masses.toml --schemes moreau,splitting --steps 0.02,0.01,0.005"},
      {"periodic",
       "  stickslip periodic models/forced-oscillator.toml --continue omega=0.3:0.8\n"
       "  stickslip periodic models/forced-oscillator.toml --continue omega=0.3:1 --restart "
       "forced-oscillator-periodic"},
      {"shoot", "  stickslip shoot models/puck-to-target.toml"},
      {"fit", "  stickslip fit models/belt-fit.toml models/belt-fit.csv"},
      {"basin", "  stickslip basin MODEL.toml --over initial.position.0=-2:2:50 --over initial.velocity.0=-2:2:50"},
      {"montecarlo",
       "  stickslip montecarlo MODEL.toml --count 1000        draws the distributions of [sweep] in the model"},
      {"bifurcation", "  stickslip bifurcation models/forced-oscillator.toml --over omega=0.5:2:200"},
      {"check", "  stickslip check models/two-masses.toml"},
      {"solve", "  stickslip solve PROBLEM.hdf5 --compare all          the solvers: stickslip list solvers"},
      {"fmu", "  stickslip fmu models/two-masses.toml                writes two_masses.fmu"},
      {"view", "  stickslip view . --no-browser"},
      {"dump", "  stickslip dump models/box-stack.toml --at 0.5"},
      {"list", "  stickslip list laws"},
      {"reproduce", "  stickslip reproduce splitting"},
      {"new", "  stickslip new bodies mine.toml                      without a kind: what kinds there are"},
  }};
  const auto* const found =
      std::find_if(kExamples.begin(), kExamples.end(), [&](const auto& entry) { return entry.first == command; });
  return fmt::format("{}{}Exit codes, schemes, papers: stickslip --help", found == kExamples.end() ? "" : found->second,
                     found == kExamples.end() ? "" : "\n");
}

std::vector<Action> table_of(CLI::App& app, Commands& c, std::function<int(const std::string&)> complete) {
  return {{add_run(app, c.run), [&] { return run(c.run); }},
          {add_compare(app, c.compare),
           [&] { return c.compare.epsilons.empty() ? compare(c.compare) : compare_epsilons(c.compare); }},
          {add_periodic(app, c.periodic), [&] { return periodic(c.periodic); }},
          {add_shoot(app, c.shoot), [&] { return shoot(c.shoot); }},
          {add_fit(app, c.fit), [&] { return fit(c.fit); }},
          {add_sweep(app, c.sweep), [&] { return sweep(c.sweep); }},
          {add_basin(app, c.basin), [&] { return sweep(c.basin); }},
          {add_montecarlo(app, c.montecarlo), [&] { return sweep(c.montecarlo); }},
          {add_bifurcation(app, c.bifurcation), [&] { return bifurcation(c.bifurcation); }},
          {add_check(app, c.check), [&] { return check(c.check); }},
          {add_solve(app, c.solve), [&] { return solve(c.solve); }},
          {add_plot(app, c.plot), [&] { return plot(c.plot); }},
          {add_fmu(app, c.fmu), [&] { return fmu(c.fmu); }},
          {add_view(app, c.view), [&] { return view(c.view); }},
          {add_dump(app, c.dump), [&] { return dump(c.dump); }},
          {add_list(app, c.list), [&] { return list(c.list); }},
          {add_reproduce(app, c.reproduce), [&] { return reproduce(c.reproduce); }},
          {add_new(app, c.new_model), [&] { return new_model(c.new_model); }},
          {add_doctor(app, c.doctor), [&] { return doctor(c.doctor); }},
          {add_completion(app, c.shell), [&, complete] { return complete(c.shell); }}};
}

}  // namespace

std::vector<Action> add_commands(CLI::App& app, Commands& c, std::function<int(const std::string&)> complete) {
  std::vector<Action> actions = table_of(app, c, std::move(complete));
  for (auto& [command, action] : actions)
    if (command->get_footer() == app.get_footer()) command->footer(examples_of(command->get_name()));
  return actions;
}

}  // namespace stickslip::cli
