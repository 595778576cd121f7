// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace stickslip::cli {

namespace {
// All that a signal handler may touch: lock-free, so that solvers can look at it as well.
std::atomic<bool> g_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);
int g_output_errno = 0;  // of the first write to standard output that failed

void on_signal(int signal_number) {
  if (g_interrupted.exchange(true)) _exit(128 + signal_number);
}

/// 0, or the reason of the failure. A signal between two parts of a write is none.
int write_all(std::FILE* stream, std::string_view text) {
  while (!text.empty()) {
    errno = 0;
    text.remove_prefix(std::fwrite(text.data(), 1, text.size(), stream));
    if (text.empty()) break;
    if (errno != EINTR) return errno != 0 ? errno : EIO;
    std::clearerr(stream);
  }
  return 0;
}
}  // namespace

void prepare_signals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // a write that a signal interrupts goes on
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return g_interrupted; }
StopRequest interrupt_request() { return &g_interrupted; }

void write_out(std::string_view text) {
  if (g_output_errno == 0) g_output_errno = write_all(stdout, text);
}

void write_error(std::string_view text) { write_all(stderr, text); }

std::string output_failure() {
  while (g_output_errno == 0 && std::fflush(stdout) != 0) {
    if (errno != EINTR) g_output_errno = errno != 0 ? errno : EIO;
  }
  return g_output_errno == 0 || g_output_errno == EPIPE ? "" : std::strerror(g_output_errno);
}

ProgressBar::ProgressBar(std::string label, bool visible)
    : label_(std::move(label)),
      visible_(visible && isatty(STDERR_FILENO)),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

std::string time_left(double elapsed, double fraction) {
  // A tenth of a second of a long run says nothing yet.
  constexpr double kFirst = 0.5, kSmallest = 1e-9, kHour = 3600, kMinute = 60;
  if (!(fraction > kSmallest) || elapsed < kFirst) return "";
  const double left = std::max(1.0, elapsed * (1 - fraction) / fraction);
  if (left >= 100 * kHour) return ">100 h left";
  if (left >= 2 * kHour) return fmt::format("{:.0f} h left", left / kHour);
  if (left >= 2 * kMinute) return fmt::format("{:.0f} min left", left / kMinute);
  return fmt::format("{:.0f} s left", std::ceil(left));
}

void ProgressBar::update(double fraction) {
  if (!visible_ || ++calls_ % 16 != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  winsize size{};
  const int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  const int width = std::clamp(columns - static_cast<int>(label_.size()) - 24, 5, 50);
  const double part = std::clamp(fraction, 0.0, 1.0);  // NaN stays
  const int filled = part >= 0 ? static_cast<int>(part * width) : 0;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  print_error("\r{} [{}{}] {:3.0f} % {:>11} ", label_, std::string(filled, '='), std::string(width - filled, ' '),
              100 * part, time_left(elapsed, part));
  drawn_ = true;
}

void ProgressBar::finish() {
  if (drawn_) write_error("\r\033[K");
  drawn_ = false;
}

}  // namespace stickslip::cli
