// SPDX-License-Identifier: Apache-2.0
// Ctrl-C while the library computes without the interpreter's lock.
//
// Python runs handlers of signals in its main thread alone, and only when it is asked to. While an Interrupts lives in
// the main thread, and Ctrl-C means KeyboardInterrupt there, SIGINT also raises a flag that the library looks at inside
// long steps; handlers of other signals are run a few times a second. In other threads nothing is heard.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>

#include "stickslip/common/deadline.hpp"

namespace stickslip::python {

class Interrupts {
 public:
  /// With the lock.
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  StopRequest request() const { return &raised_; }
  /// Without the lock, as often as one likes.
  bool heard();
  /// With the lock, at the end: throws what a handler has raised.
  void rethrow();

 private:
  std::atomic<bool> raised_ = false;
  std::atomic<bool>* outer_ = nullptr;  ///< of the computation that this one was called from
  bool main_ = false, installed_ = false, failed_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Remembers which thread is Python's main one; called when the module is loaded.
void find_main_thread();

}  // namespace stickslip::python
