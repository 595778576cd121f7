// SPDX-License-Identifier: Apache-2.0
// What every command can be told: its options, into the struct that the command takes. CLI11 is slow to compile and
// stays in options.cpp and main.cpp.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"

namespace CLI {
class App;
}

namespace stickslip::cli {

/// The options of every command.
struct Commands {
  RunCommand run;
  CompareCommand compare;
  PeriodicCommand periodic;
  ShootCommand shoot;
  FitCommand fit;
  SweepCommand sweep, basin, montecarlo;
  BifurcationCommand bifurcation;
  CheckCommand check;
  SolveCommand solve;
  PlotCommand plot;
  ViewCommand view;
  FmuCommand fmu;
  DumpCommand dump;
  ListCommand list;
  ReproduceCommand reproduce;
  NewCommand new_model;
  DoctorCommand doctor;
  std::string shell;
};

/// What a command is told by, and what it does.
using Action = std::pair<CLI::App*, std::function<int()>>;
/// `complete` prints the completion of a shell.
std::vector<Action> add_commands(CLI::App& app, Commands& commands, std::function<int(const std::string&)> complete);

}  // namespace stickslip::cli
