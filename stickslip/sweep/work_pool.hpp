// SPDX-License-Identifier: Apache-2.0
// Threads that run what is handed to them, one index at a time, each the next that is free.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/thread_pool.hpp"
#include "stickslip/sweep/sweep_record.hpp"

namespace stickslip {

class WorkPool {
 public:
  using Work = std::function<SweepRecord(long index)>;
  /// `work` is called from several threads at once. Once `stop` is raised nothing new is begun, and what is not
  /// complete by then (status interrupted) is dropped.
  WorkPool(int threads, Work work, StopRequest stop);
  /// Waits for what is running; what has not begun is dropped.
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  void add(std::span<const long> indices);
  /// What has come in, after at most `patience`; at once where threads have nothing left to begin. Throws what work()
  /// threw.
  std::vector<SweepRecord> take(std::chrono::microseconds patience);
  /// More work is wanted: what has not begun lasts for less than `lead` seconds.
  bool wants_more(double lead) const;
  /// Of one run, on the average [s]; 0: not known yet.
  double mean_seconds() const;
  int threads() const { return static_cast<int>(threads_.size()); }
  /// Nothing runs and nothing waits.
  bool idle() const;

 private:
  void serve();
  double mean() const { return finished_ > 0 ? seconds_ / static_cast<double>(finished_) : 0; }

  Work work_;
  StopRequest stop_;
  mutable std::mutex mutex_;
  std::condition_variable begin_, end_;
  std::deque<long> waiting_;
  std::vector<SweepRecord> done_;
  std::exception_ptr failure_;
  long running_ = 0, finished_ = 0;
  double seconds_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stickslip
