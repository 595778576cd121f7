// SPDX-License-Identifier: Apache-2.0
// What was found is told even where it cannot be stored: hours of computing must not be lost to a full disk.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "stickslip/io/output_error.hpp"

namespace stickslip::cli {

/// store() writes the files of a command, summary.json last: a folder that has one is complete. Empty, or why not all
/// of them are there and what to do; the results are then told on standard output all the same, and the exit code is 1.
template <class Store>
std::string unstored(const Store& store, std::string_view remedy = "make room and give the command again") {
  try {
    store();
  } catch (const LostOutput& error) {
    return error.what();
  } catch (const OutputError& error) {
    return fmt::format("{}; {}", error.what(), remedy);
  }
  return "";
}

}  // namespace stickslip::cli
