// SPDX-License-Identifier: Apache-2.0
// When an iteration must end: a limit on the wall clock, and a request from outside (another thread, a signal).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace stickslip {

/// A flag that someone else raises; null: nobody does. It must outlive the computation that looks at it.
using StopRequest = const std::atomic<bool>*;

inline bool raised(StopRequest stop) { return stop && stop->load(std::memory_order_relaxed); }

class Deadline {
 public:
  /// 0: none.
  explicit Deadline(double seconds, StopRequest stop = nullptr)
      : stop_(stop),
        limited_(seconds > 0),
        end_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                    std::chrono::duration<double>(std::min(seconds, 1e8)))) {}
  bool passed() const { return stopped() || (limited_ && std::chrono::steady_clock::now() >= end_); }
  bool stopped() const { return raised(stop_); }

 private:
  StopRequest stop_;
  bool limited_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace stickslip
