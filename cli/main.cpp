// SPDX-License-Identifier: Apache-2.0
// The command line: what was asked for, and what becomes of everything that goes wrong.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>

#include "cli/command_table.hpp"
#include "cli/example_models.hpp"
#include "cli/options.hpp"
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

constexpr std::string_view kOverview =
    R"(stickslip simulates mechanical systems with dry friction and contact, without smoothing the law away:
what sticks, sticks exactly. A model is a text file (TOML); one model runs under several independent schemes.

  run        simulate a model: trajectory, events, audit, report       stickslip run models/two-masses.toml
  check      what was understood of a model, with units                stickslip check models/two-masses.toml
  compare    one model under several schemes: error, order, cost       stickslip compare models/two-masses.toml
  periodic   a periodic motion, or a branch of them                    stickslip periodic models/forced-oscillator.toml
  shoot      numbers for which conditions at given times hold          stickslip shoot models/puck-to-target.toml
  fit        numbers from measurements, with standard errors           stickslip fit models/belt-fit.toml DATA.csv
  sweep      many runs over numbers of a model, on threads or MPI      stickslip sweep MODEL.toml --over k=1:3:21
  basin, montecarlo, bifurcation: ready sweeps                         stickslip bifurcation MODEL.toml --over omega=0.5:2:200
  view       results in the browser: list, overlays, live progress     stickslip view DIR
  plot       columns of results as SVG, PNG or PDF                     stickslip plot two-masses --x x1 --y v_x1
  solve      friction-contact problems in FCLIB files                  stickslip solve PROBLEM.hdf5
  dump       the contact problem of a step as an FCLIB file            stickslip dump models/box-stack.toml --at 0.5
  fmu        the model as a unit for co-simulation (FMI 2.0)           stickslip fmu MODEL.toml
  reproduce  the figures and numbers of a paper, with a verdict        stickslip reproduce splitting
  list       schemes, solvers, laws, models or papers                  stickslip list laws
  new        a commented model to start from                           stickslip new matrices
  doctor     versions, threads, MPI, and a self-check                  stickslip doctor
  completion of bash, zsh or fish; the manual page                     stickslip completion bash

Results go to a folder named after the model; report.html in it opens in a browser. Every command: --help.
)";

std::string footer() {
  std::string text = "Schemes (run --scheme NAME):\n";
  for (const SchemeDescription& scheme : scheme_table())
    text += fmt::format("  {:<14}{}\n", scheme.name, scheme.source);
  text += "Papers (reproduce NAME):\n";
  for (const PaperInfo& paper : paper_table()) text += fmt::format("  {:<14}{}\n", paper.name, paper.reference);
  return text +
         "Exit codes: 0 success, 1 it ended without success (a run that failed, Ctrl-C, a full disk; what was computed "
         "is\n"
         "kept), 2 the input or the call was wrong, 128 + the number of the signal after a second Ctrl-C.\n"
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

/// The table of the parser as data.
ProgramInfo describe_program(const CLI::App& app) {
  ProgramInfo program{
      "stickslip " + std::string(version()), app.get_description(), std::string(kOverview), app.get_footer(), {}};
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandInfo command{sub->get_name(), sub->get_description(), sub->get_footer(), {}};
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
  const std::vector<Action> actions =
      add_commands(app, commands, [&](const std::string& shell) { return complete(app, shell); });
  if (const std::optional<int> code = parse(argc, argv, app)) return *code;
  for (const auto& [command, action] : actions)
    if (*command) return action();
  return cli::kWrongInput;
}

/// What stands before `end` in a message that ends so; empty: it does not.
std::filesystem::path named_before(const std::string& message, std::string_view end) {
  return message.ends_with(end) ? message.substr(0, message.size() - end.size()) : "";
}

/// A model that is not there: one of the manual's examples that came with the program, or a file of nearly that name.
/// Where a folder was named, the model beside it, from which the folder may have its name.
std::string file_hint(const std::string& message) {
  std::error_code ignored;
  std::filesystem::path folder = named_before(message, ": is a directory, not a file");
  if (!folder.empty()) {
    if (!folder.has_filename()) folder = folder.parent_path();  // a slash at the end
    folder += ".toml";
    return std::filesystem::exists(folder, ignored) ? fmt::format("; did you mean {}?", folder.string()) : "";
  }
  const std::filesystem::path wanted = named_before(message, ": no such file");
  if (wanted.extension() != ".toml") return "";
  const std::filesystem::path there = example_models_folder() / wanted.filename();
  if (std::filesystem::exists(there, ignored))
    return fmt::format("; one of that name came with the program: {}", there.string());
  std::vector<std::string> models;
  const std::filesystem::path place = wanted.has_parent_path() ? wanted.parent_path() : std::filesystem::path(".");
  for (const auto& entry : std::filesystem::directory_iterator(place, ignored))
    if (entry.path().extension() == ".toml") models.push_back(entry.path().filename().string());
  std::sort(models.begin(), models.end());
  const std::string near = nearest_name(wanted.filename().string(), models);
  return near.empty() ? "" : fmt::format("; did you mean {}?", (wanted.parent_path() / near).string());
}

/// A message that ends with the system's reason says what to do as well.
std::string room_hint(std::string_view message) {
  return message.find("make room") == std::string_view::npos ? "; make room and give the command again" : "";
}

/// Whatever went wrong becomes one message and an exit code.
int guarded(int argc, char** argv) {
  try {
    return run_program(argc, argv);
  } catch (const InputError& error) {
    print_error("stickslip: {}{}\n", error.what(), file_hint(error.what()));
    return cli::kWrongInput;
  } catch (const LostOutput& error) {
    print_error("stickslip: {}\n", error.what());
    return cli::kNoSuccess;
  } catch (const OutputError& error) {
    print_error("stickslip: {}{}\n", error.what(), room_hint(error.what()));
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
