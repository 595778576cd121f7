// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

namespace stickslip::cli {

namespace {
// All that a signal handler may touch: lock-free, so that solvers can look at it as well.
std::atomic<bool> g_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int signal_number) {
  if (g_interrupted.exchange(true) && signal_number == SIGINT) _exit(130);
}
}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return g_interrupted; }
StopRequest interrupt_request() { return &g_interrupted; }

ProgressBar::ProgressBar(std::string label, bool visible)
    : label_(std::move(label)),
      visible_(visible && isatty(STDERR_FILENO)),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

void ProgressBar::update(double fraction) {
  if (!visible_ || ++calls_ % 16 != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  winsize size{};
  const int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  const int width = std::clamp(columns - static_cast<int>(label_.size()) - 24, 5, 50);
  const int filled = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * width);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = fraction > 0 ? elapsed * (1 - fraction) / fraction : 0;
  fmt::print(stderr, "\r{} [{}{}] {:3.0f} % {:>5.0f} s left ", label_, std::string(filled, '='),
             std::string(width - filled, ' '), 100 * fraction, left);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::finish() {
  if (drawn_) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  }
  drawn_ = false;
}

}  // namespace stickslip::cli
