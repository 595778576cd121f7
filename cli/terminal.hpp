// SPDX-License-Identifier: Apache-2.0
// The person at the terminal: text that never ends a run, a progress bar (on a terminal only), and Ctrl-C that stops a
// run without losing it.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>

#include "stickslip/common/deadline.hpp"

namespace stickslip::cli {

/// SIGPIPE and SIGXFSZ are ignored: a reader that has gone, or a file at its size limit, is an error of the write that
/// notices it, not the end of the program. Called once, first.
void prepare_signals();

/// From here on SIGINT and SIGTERM ask to stop; the second one ends the program at once (exit code 128 + signal).
void catch_interrupts();
bool interrupted();
/// The same as a flag that solvers look at.
StopRequest interrupt_request();

/// To standard output and standard error. They throw nothing: what could not be written to standard output is
/// remembered for output_failure(), what could not be written to standard error is lost.
void write_out(std::string_view text);
void write_error(std::string_view text);
template <class... Args>
void print_out(fmt::format_string<Args...> text, Args&&... args) {
  write_out(fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void print_error(fmt::format_string<Args...> text, Args&&... args) {
  write_error(fmt::format(text, std::forward<Args>(args)...));
}
/// Flushes standard output. Empty, or why something is missing there; a reader that closed its end (| head) is no
/// failure.
std::string output_failure();

/// Draws on standard error if that is a terminal and `visible`; silent otherwise.
class ProgressBar {
 public:
  ProgressBar(std::string label, bool visible);
  ~ProgressBar() { finish(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
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

/// "12 s left", "3 min left", "2 h left", after `elapsed` seconds at this fraction; blank while nothing can be said
/// yet.
std::string time_left(double elapsed, double fraction);

}  // namespace stickslip::cli
