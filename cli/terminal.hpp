// SPDX-License-Identifier: Apache-2.0
// The person at the terminal: a progress bar (on a terminal only), and Ctrl-C that stops a run without losing it.
#pragma once

#include <chrono>
#include <string>

#include "stickslip/common/deadline.hpp"

namespace stickslip::cli {

/// From here on SIGINT and SIGTERM ask to stop; a second SIGINT ends the program at once.
void catch_interrupts();
bool interrupted();
/// The same as a flag that solvers look at.
StopRequest interrupt_request();

/// Draws on standard error if that is a terminal and `visible`; silent otherwise.
class ProgressBar {
 public:
  ProgressBar(std::string label, bool visible);
  ~ProgressBar() { finish(); }
  /// fraction in [0, 1]; cheap to call often.
  void update(double fraction);
  /// Removes the bar from the line.
  void finish();

 private:
  std::string label_;
  bool visible_, drawn_ = false;
  int calls_ = 0;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace stickslip::cli
