// SPDX-License-Identifier: Apache-2.0
// A limit on the wall clock, for iterations that must end.
#pragma once

#include <algorithm>
#include <chrono>

namespace stickslip {

class Deadline {
 public:
  /// 0: none.
  explicit Deadline(double seconds)
      : limited_(seconds > 0),
        end_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                    std::chrono::duration<double>(std::min(seconds, 1e8)))) {}
  bool passed() const { return limited_ && std::chrono::steady_clock::now() >= end_; }

 private:
  bool limited_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace stickslip
