// SPDX-License-Identifier: Apache-2.0
#include "python/interrupts.hpp"

#include <signal.h>

namespace py = pybind11;

namespace stickslip::python {

namespace {

unsigned long g_main = 0;
std::atomic<std::atomic<bool>*> g_flag = nullptr;
static_assert(std::atomic<std::atomic<bool>*>::is_always_lock_free);
struct sigaction g_python {};  // the handler of the interpreter

void on_signal(int number) {
  if (std::atomic<bool>* flag = g_flag.load()) flag->store(true);
  g_python.sa_handler(number);
}

bool means_keyboard_interrupt() {
  static const py::handle get = py::object(py::module_::import("signal").attr("getsignal")).release();
  static const py::handle usual = py::object(py::module_::import("signal").attr("default_int_handler")).release();
  return get(SIGINT).is(usual);
}

}  // namespace

void find_main_thread() {
  g_main = py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
}

Interrupts::Interrupts(std::atomic<bool>* flag)
    : raised_(flag ? *flag : own_), main_(PyThread_get_thread_ident() == g_main) {
  if (!main_ || !means_keyboard_interrupt()) return;
  outer_ = g_flag.exchange(&raised_);
  if (outer_) return;
  struct sigaction ours {};
  sigaction(SIGINT, nullptr, &g_python);
  const bool handler =
      (g_python.sa_flags & SA_SIGINFO) == 0 && g_python.sa_handler != SIG_DFL && g_python.sa_handler != SIG_IGN;
  if (!handler) {
    g_flag = nullptr;
    return;
  }
  ours = g_python;
  ours.sa_handler = on_signal;
  sigaction(SIGINT, &ours, nullptr);
  installed_ = true;
}

Interrupts::~Interrupts() {
  if (installed_) sigaction(SIGINT, &g_python, nullptr);
  if (installed_ || outer_) g_flag = outer_;
}

bool Interrupts::heard() {
  constexpr std::chrono::milliseconds kPause{50};  // asking takes the lock
  if (!main_ || raised_) return raised_;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kPause) return false;
  last_ = now;
  const py::gil_scoped_acquire lock;
  failed_ = PyErr_CheckSignals() != 0;
  if (failed_) raised_ = true;
  return raised_;
}

void Interrupts::rethrow() {
  if (failed_ || (main_ && PyErr_CheckSignals() != 0)) throw py::error_already_set();
}

}  // namespace stickslip::python
