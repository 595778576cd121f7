// SPDX-License-Identifier: Apache-2.0
// What the command line can do, as plain data: made from the parser's own table (main.cpp), so that --help, completion
// and the manual page never differ.
#pragma once

#include <string>
#include <vector>

namespace stickslip::cli {

struct OptionInfo {
  std::string name;  ///< "--out"; of a positional argument its name, "MODEL"
  std::string description;
  std::string value;  ///< what it takes, "KEY=VALUE"; empty: a flag
  bool positional = false, required = false, repeatable = false;

  /// Words it takes, where the description is "a | b | c"; empty: anything.
  std::vector<std::string> choices() const;
  bool takes_folder() const { return name == "--out" || name == "--restart" || name == "--from"; }
};

struct CommandInfo {
  std::string name, description, footer;
  std::vector<OptionInfo> options;
};

struct ProgramInfo {
  std::string version, description, overview, footer;
  std::vector<CommandInfo> commands;
};

/// shell: bash, zsh or fish. Throws InputError for others.
std::string completion_script(const ProgramInfo& program, const std::string& shell);
/// stickslip(1), for man.
std::string manual_page(const ProgramInfo& program);

}  // namespace stickslip::cli
