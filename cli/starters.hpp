// SPDX-License-Identifier: Apache-2.0
// The commented models that `stickslip new` writes (cli/starters/), embedded in the program.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stickslip::cli {

struct Starter {
  std::string_view kind;
  std::string_view command;      ///< that runs it
  std::string_view description;  ///< one line
  std::string_view text;
  std::string_view data = {};  ///< of a file KIND.csv beside it; empty: none
};
std::span<const Starter> starter_table();
/// "matrices | equations | .."
std::string starter_kinds();

}  // namespace stickslip::cli
