// SPDX-License-Identifier: Apache-2.0
// The command line. CLI11 is slow to compile and stays in this one file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/command_table.hpp"
#include "cli/commands.hpp"
#include "cli/starters.hpp"
#include "cli/terminal.hpp"
#include "papers/papers.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/io/hdf5_session.hpp"
#include "stickslip/io/output_error.hpp"
#include "stickslip/motion/scheme.hpp"

namespace {

using namespace stickslip;
using namespace stickslip::cli;

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

constexpr std::string_view kOverview =
    R"(stickslip simulates mechanical systems with dry friction and contact, without smoothing the law away:
what sticks, sticks exactly. A model is a text file (TOML); one model runs under several independent schemes.

  run        simulate a model: trajectory, events, audit, report       stickslip run models/two-masses.toml
  check      what was understood of a model, with units                stickslip check models/two-masses.toml
  compare    one model under several schemes: error, order, cost       stickslip compare models/two-masses.toml
  periodic   a periodic motion, or a branch of them                    stickslip periodic models/forced-oscillator.toml
  shoot      numbers for which conditions at given times hold          stickslip shoot models/puck-to-target.toml
  fit        numbers from measurements, with standard errors           stickslip fit models/belt-fit.toml DATA.csv
  sweep      many runs over numbers of a model, on threads or MPI     stickslip sweep MODEL.toml --over k=1:3:21
  basin, montecarlo, bifurcation: ready sweeps                        stickslip bifurcation MODEL.toml --over omega=0.5:2:200
  view       results in the browser: list, overlays, live progress     stickslip view DIR
  plot       columns of results as SVG, PNG or PDF                     stickslip plot two-masses --x x1 --y v_x1
  solve      friction-contact problems in FCLIB files                  stickslip solve PROBLEM.hdf5
  dump       the contact problem of a step as an FCLIB file            stickslip dump models/box-stack.toml --at 0.5
  fmu        the model as a unit for co-simulation (FMI 2.0)           stickslip fmu MODEL.toml
  reproduce  the figures and numbers of a paper, with a verdict        stickslip reproduce splitting
  list       schemes, solvers, laws, models or papers                  stickslip list laws
  new        a commented model to start from                          stickslip new matrices
  doctor     versions, threads, MPI, and a self-check                 stickslip doctor
  completion of bash, zsh or fish; the manual page                    stickslip completion bash

Results go to a folder named after the model; report.html in it opens in a browser. Every command: --help.
)";

/// "a | b | c"
template <class Table>
std::string names_of(const Table& table) {
  std::string names;
  for (const auto& entry : table) names += fmt::format("{}{}", names.empty() ? "" : " | ", entry.name);
  return names;
}

std::string footer() {
  std::string text = "Schemes (run --scheme NAME):\n";
  for (const SchemeDescription& scheme : scheme_table()) text += fmt::format("  {:<14}{}\n", scheme.name, scheme.source);
  text += "Papers (reproduce NAME):\n";
  for (const PaperInfo& paper : paper_table()) text += fmt::format("  {:<14}{}\n", paper.name, paper.reference);
  return text +
         "Exit codes: 0 success, 1 the run ended without success, 2 the input or the call was wrong.\n"
         "Start here: stickslip run models/two-masses.toml";
}

/// CLI11 only says that a subcommand is required; name the nearest one instead.
std::string misspelt_subcommand(int argc, char** argv, const CLI::App& app) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return "";
  return fmt::format("unknown command '{}'{}; see 'stickslip --help'", argv[1], name_hint(argv[1], names));
}

/// An option given with an empty value is a mistake (an unset variable of the shell), not the option left out.
std::string empty_value(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty() && option->get_items_expected_max() > 0)
        return fmt::format("{}: the value is empty; give one, or leave it out", option->get_name());
  return "";
}

CLI::App* add_run(CLI::App& app, cli::RunCommand& command) {
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
         "threads that look for contacts between bodies (default: one per processor where it pays); same results")
      ->check(CLI::Range(1, 4096));
  sub->add_flag("--json", command.json, "print the summary as JSON and nothing else");
  return sub;
}

CLI::App* add_compare(CLI::App& app, cli::CompareCommand& command) {
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

CLI::App* add_periodic(CLI::App& app, cli::PeriodicCommand& command) {
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

CLI::App* add_shoot(CLI::App& app, cli::ShootCommand& command) {
  CLI::App* sub = app.add_subcommand("shoot", "two-point boundary value problem: the unknowns of [shoot]");
  add_model(*sub, command.model, command.set);
  return with_results(sub, command, "MODEL-shoot", "the result");
}

CLI::App* add_fit(CLI::App& app, cli::FitCommand& command) {
  CLI::App* sub = app.add_subcommand("fit", "the unknowns of [fit] from measurements, with standard errors");
  add_model(*sub, command.model, command.set);
  sub->add_option("DATA", command.data, "measurements (CSV); default: command.data of the model");
  return with_results(sub, command, "MODEL-fit", "the result");
}

CLI::App* add_sweep(CLI::App& app, cli::SweepCommand& command) {
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

CLI::App* add_basin(CLI::App& app, cli::SweepCommand& command) {
  CLI::App* sub = app.add_subcommand("basin", "basins of attraction: which runs of a grid of starts end in the same state");
  add_model(*sub, command.model, command.set);
  sub->add_option("--over", command.over, "two numbers of the start, as initial.position.0=-2:2:50 (repeatable)")
      ->type_name("KEY=FROM:TO:COUNT")
      ->allow_extra_args(false);
  sub->add_option("--resolution", command.resolution = 1e-3, "final states that differ by less, of the range of the motion, are the same")
      ->capture_default_str()
      ->check(CLI::Range(1e-15, 1.0));
  sub->add_option("--threads", command.threads, "threads of each process (default: one per processor)")->check(CLI::Range(1, 4096));
  sub->add_flag("--fresh", command.fresh, "begin anew: drop what an unfinished sweep left in the folder");
  return with_results(sub, command, "MODEL-sweep", "the summary");
}

CLI::App* add_montecarlo(CLI::App& app, cli::SweepCommand& command) {
  CLI::App* sub = app.add_subcommand("montecarlo", "random draws of the numbers of [sweep], with confidence intervals");
  add_model(*sub, command.model, command.set);
  sub->add_option("--count", command.count = 100, "draws")->capture_default_str()->check(CLI::Range(1L, 1000000000L));
  sub->add_option("--seed", command.seed, "of the draws (default: that of [sweep], or 1)");
  sub->add_option("--threads", command.threads, "threads of each process (default: one per processor)")->check(CLI::Range(1, 4096));
  sub->add_flag("--fresh", command.fresh, "begin anew: drop what an unfinished sweep left in the folder");
  return with_results(sub, command, "MODEL-sweep", "the summary");
}

CLI::App* add_bifurcation(CLI::App& app, cli::BifurcationCommand& command) {
  CLI::App* sub = app.add_subcommand("bifurcation", "what a motion settles on over a number of the model, followed up and down");
  add_model(*sub, command.model, command.set);
  sub->add_option("--over", command.over, "the number")->type_name("KEY=FROM:TO:COUNT")->required();
  sub->add_option("--observe", command.observe, "a coordinate, or v_<coordinate> (default: the first coordinate)");
  sub->add_option("--transient", command.transient, "periods before points are taken; without [periodic] parts of the run")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  sub->add_option("--record", command.record, "periods, or parts, in which they are")->capture_default_str()->check(CLI::Range(1, 1000000));
  sub->add_flag("--peaks", command.peaks, "peaks, where [periodic] has a period as well (default: one point per period)");
  return with_results(sub, command, "MODEL-bifurcation", "the summary");
}

CLI::App* add_check(CLI::App& app, cli::CheckCommand& command) {
  CLI::App* sub = app.add_subcommand("check", "what was understood of a model, with units; no run");
  add_model(*sub, command.model, command.set);
  sub->add_flag("--json", command.json, "print as JSON and nothing else");
  return sub;
}

CLI::App* add_solve(CLI::App& app, cli::SolveCommand& command) {
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

CLI::App* add_dump(CLI::App& app, cli::DumpCommand& command) {
  CLI::App* sub = app.add_subcommand("dump", "contact problems of single steps of a run (scheme moreau) as FCLIB files");
  add_model(*sub, command.model, command.set);
  sub->add_option("--at", command.at, "times in s, comma-separated or repeated: the step that contains, or ends at, each")
      ->required()
      ->delimiter(',')
      ->type_name("TIME")
      ->allow_extra_args(false);
  return with_results(sub, command, "MODEL-dump", "what was written");
}

CLI::App* add_plot(CLI::App& app, cli::PlotCommand& command) {
  CLI::App* sub = app.add_subcommand("plot", "columns of results as a picture: overlays, phase portraits, sections, spectra");
  sub->add_option("RESULT", command.results, "folders of results, or CSV files")->required();
  sub->add_option("--x", command.x, "column along the axis (default: the first, t)")->type_name("COLUMN");
  sub->add_option("--y", command.y, "columns, comma-separated: a panel each (default: the coordinates)")->type_name("COLUMN,..");
  sub->add_option("--section", command.section, "Poincaré section: points once per so many seconds")->check(CLI::PositiveNumber);
  sub->add_flag("--spectrum", command.spectrum, "amplitudes over frequency");
  sub->add_option("--after", command.after, "leave out what is before this time in s");
  sub->add_option("--out", command.out, "file: .svg, .png or .pdf")->capture_default_str();
  sub->add_option("--title", command.title, "above the picture");
  sub->add_option("--width", command.width, "in pixels")->check(CLI::Range(100.0, 10000.0))->capture_default_str();
  sub->add_option("--height", command.height, "in pixels (default: by the number of panels)")->check(CLI::Range(100.0, 20000.0));
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

CLI::App* add_view(CLI::App& app, cli::ViewCommand& command) {
  CLI::App* sub = app.add_subcommand("view", "results in the browser: a list that keeps up to date, overlays, reports side by side");
  sub->add_option("DIR", command.folders, "folders with results in them or below (default: here)");
  sub->add_option("--port", command.port, "of this machine (default: a free one)")->check(CLI::Range(1, 65535));
  sub->add_flag("--no-browser", command.no_browser, "print the address only");
  sub->add_flag("--json", command.json, "print the address as JSON and nothing else");
  return sub;
}

CLI::App* add_fmu(CLI::App& app, cli::FmuCommand& command) {
  CLI::App* sub = app.add_subcommand("fmu", "the model as a functional mock-up unit (FMI 2.0 for co-simulation)");
  add_model(*sub, command.model, command.set);
  sub->add_option("--out", command.out, "file (default: MODEL.fmu)");
  sub->add_flag("--json", command.json, "print what was written as JSON and nothing else");
  return sub;
}

CLI::App* add_list(CLI::App& app, cli::ListCommand& command) {
  CLI::App* sub = app.add_subcommand("list", "what there is, one line each");
  sub->add_option("WHAT", command.what, "schemes | solvers | laws | models | papers")->required();
  sub->add_flag("--json", command.json, "print as JSON and nothing else");
  return sub;
}

CLI::App* add_new(CLI::App& app, cli::NewCommand& command) {
  CLI::App* sub = app.add_subcommand("new", "write a commented model that runs, to start from");
  sub->add_option("KIND", command.kind, starter_kinds());
  sub->add_option("FILE", command.file, "the file to write (default: KIND.toml)");
  sub->add_flag("--force", command.force, "replace a file that is there");
  return sub;
}

CLI::App* add_doctor(CLI::App& app, cli::DoctorCommand& command) {
  CLI::App* sub = app.add_subcommand("doctor", "versions, threads, MPI, and a self-check in seconds");
  sub->add_flag("--json", command.json, "print as JSON and nothing else");
  return sub;
}

CLI::App* add_completion(CLI::App& app, std::string& shell) {
  CLI::App* sub = app.add_subcommand("completion", "print the completion of a shell, or the manual page");
  sub->add_option("SHELL", shell, "bash | zsh | fish | man")->required();
  sub->footer("bash: source <(stickslip completion bash)   fish: stickslip completion fish | source\n"
              "The manual page: stickslip completion man | man -l -");
  return sub;
}

/// The table of the parser as data.
ProgramInfo describe_program(const CLI::App& app) {
  ProgramInfo program{"stickslip " + std::string(version()), app.get_description(), std::string(kOverview), app.get_footer(), {}};
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    // A command without a footer of its own has the program's.
    CommandInfo command{sub->get_name(), sub->get_description(),
                        sub->get_footer() == app.get_footer() ? "" : sub->get_footer(), {}};
    for (const CLI::Option* option : sub->get_options()) {
      const bool positional = option->get_positional();
      if (!positional && option->get_lnames().at(0) == "help") continue;
      const bool value = option->get_items_expected_max() > 0;
      command.options.push_back({positional ? option->get_name(true) : "--" + option->get_lnames().at(0),
                                 option->get_description(), value ? option->get_type_name() : "", positional,
                                 option->get_required(), option->get_expected_max() > 1});
    }
    program.commands.push_back(std::move(command));
  }
  return program;
}

int complete(const CLI::App& app, const std::string& shell) {
  const ProgramInfo program = describe_program(app);
  write_out(shell == "man" ? manual_page(program) : completion_script(program, shell));
  return cli::kSuccess;
}

CLI::App* add_reproduce(CLI::App& app, cli::ReproduceCommand& command) {
  CLI::App* sub =
      app.add_subcommand("reproduce", "reproduce a paper: figures, and a verdict per claim computed from the run");
  sub->add_option("PAPER", command.paper, names_of(paper_table()) + " | all")->default_val("all");
  return with_results(sub, command, "reproduction", "the claims");
}

/// The options of every command.
struct Commands {
  cli::RunCommand run;
  cli::CompareCommand compare;
  cli::PeriodicCommand periodic;
  cli::ShootCommand shoot;
  cli::FitCommand fit;
  cli::SweepCommand sweep, basin, montecarlo;
  cli::BifurcationCommand bifurcation;
  cli::CheckCommand check;
  cli::SolveCommand solve;
  cli::PlotCommand plot;
  cli::ViewCommand view;
  cli::FmuCommand fmu;
  cli::DumpCommand dump;
  cli::ListCommand list;
  cli::ReproduceCommand reproduce;
  cli::NewCommand new_model;
  cli::DoctorCommand doctor;
  std::string shell;
};

/// What a command is told by, and what it does.
using Action = std::pair<CLI::App*, std::function<int()>>;
std::vector<Action> add_commands(CLI::App& app, Commands& c) {
  return {{add_run(app, c.run), [&] { return cli::run(c.run); }},
          {add_compare(app, c.compare),
           [&] { return c.compare.epsilons.empty() ? cli::compare(c.compare) : cli::compare_epsilons(c.compare); }},
          {add_periodic(app, c.periodic), [&] { return cli::periodic(c.periodic); }},
          {add_shoot(app, c.shoot), [&] { return cli::shoot(c.shoot); }},
          {add_fit(app, c.fit), [&] { return cli::fit(c.fit); }},
          {add_sweep(app, c.sweep), [&] { return cli::sweep(c.sweep); }},
          {add_basin(app, c.basin), [&] { return cli::sweep(c.basin); }},
          {add_montecarlo(app, c.montecarlo), [&] { return cli::sweep(c.montecarlo); }},
          {add_bifurcation(app, c.bifurcation), [&] { return cli::bifurcation(c.bifurcation); }},
          {add_check(app, c.check), [&] { return cli::check(c.check); }},
          {add_solve(app, c.solve), [&] { return cli::solve(c.solve); }},
          {add_plot(app, c.plot), [&] { return cli::plot(c.plot); }},
          {add_fmu(app, c.fmu), [&] { return cli::fmu(c.fmu); }},
          {add_view(app, c.view), [&] { return cli::view(c.view); }},
          {add_dump(app, c.dump), [&] { return cli::dump(c.dump); }},
          {add_list(app, c.list), [&] { return cli::list(c.list); }},
          {add_reproduce(app, c.reproduce), [&] { return cli::reproduce(c.reproduce); }},
          {add_new(app, c.new_model), [&] { return cli::new_model(c.new_model); }},
          {add_doctor(app, c.doctor), [&] { return cli::doctor(c.doctor); }},
          {add_completion(app, c.shell), [&] { return complete(app, c.shell); }}};
}

/// An exit code where the call has been answered, or refused.
std::optional<int> parse(int argc, char** argv, CLI::App& app) {
  if (const std::string message = misspelt_subcommand(argc, argv, app); !message.empty()) {
    print_error("stickslip: {}\n", message);
    return cli::kWrongInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    write_out(app.help());
    return cli::kSuccess;
  } catch (const CLI::CallForAllHelp&) {
    write_out(app.help("", CLI::AppFormatMode::All));
    return cli::kSuccess;
  } catch (const CLI::CallForVersion& call) {
    print_out("{}\n", call.what());
    return cli::kSuccess;
  } catch (const CLI::ParseError& error) {
    print_error("stickslip: {}\nSee 'stickslip{} --help'.\n", error.what(),
                app.get_subcommands().empty() ? "" : " " + app.get_subcommands()[0]->get_name());
    return cli::kWrongInput;
  }
  for (const CLI::App* chosen : app.get_subcommands())
    if (const std::string message = empty_value(*chosen); !message.empty()) {
      print_error("stickslip: {}\n", message);
      return cli::kWrongInput;
    }
  return std::nullopt;
}

int run_program(int argc, char** argv) {
  if (argc == 1) {
    print_out("{}", kOverview);
    return cli::kSuccess;
  }
  CLI::App app{"Mechanical systems with dry friction and unilateral contact, without smoothing the law away."};
  app.set_version_flag("--version", std::string("stickslip ") + std::string(version()));
  app.require_subcommand(1);
  app.footer(footer());
  Commands commands;
  const std::vector<Action> actions = add_commands(app, commands);
  if (const std::optional<int> code = parse(argc, argv, app)) return *code;
  for (const auto& [command, action] : actions)
    if (*command) return action();
  return cli::kWrongInput;
}

/// Whatever went wrong becomes one message and an exit code.
int guarded(int argc, char** argv) {
  try {
    return run_program(argc, argv);
  } catch (const InputError& error) {
    print_error("stickslip: {}\n", error.what());
    return cli::kWrongInput;
  } catch (const OutputError& error) {
    print_error("stickslip: {}\n", error.what());
    return cli::kNoSuccess;
  } catch (const std::filesystem::filesystem_error& error) {
    print_error("stickslip: {}: {}\n", error.path1().string(), error.code().message());
    return cli::kWrongInput;
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again && error.code() != std::errc::not_enough_memory) {
      print_error("stickslip: {}\n", error.what());
    } else {
      write_error("stickslip: out of memory or threads; reduce the problem, or raise the limits (ulimit -v, -u)\n");
    }
    return cli::kNoSuccess;
  } catch (const std::bad_alloc&) {
    write_error("stickslip: out of memory; reduce the model, or give the machine more\n");
    return cli::kNoSuccess;
  } catch (const std::exception& error) {
    print_error("stickslip: {}; this is a bug of stickslip, please report it with the model and the command\n",
                error.what());
    return cli::kNoSuccess;
  } catch (...) {
    write_error("stickslip: something unknown went wrong; please report it with the model and the command\n");
    return cli::kNoSuccess;
  }
}

}  // namespace

int main(int argc, char** argv) {
  prepare_signals();
  leave_hdf5_open_at_exit();
  const int code = guarded(argc, argv);
  const std::string failure = output_failure();
  if (failure.empty()) return code;
  print_error("stickslip: cannot write to standard output: {}\n", failure);
  return code == cli::kSuccess ? cli::kNoSuccess : code;
}
