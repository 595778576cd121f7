// SPDX-License-Identifier: Apache-2.0
// A few threads that share the parts of one piece of work and wait for the next in between: for a moment awake, because
// the sweeps of a solver follow each other within microseconds, then asleep. A thread that comes too late for a piece
// of work is not waited for.
//
// What each part computes and where it puts it must depend on the number of the part alone: then results do not depend
// on how many threads there are, nor on who took which part.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "stickslip/common/function_ref.hpp"

namespace stickslip {

/// Processors that this process may use.
int usable_processors();

class ThreadPool {
 public:
  /// Threads in all, the caller's among them; >= 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  /// work(k) for k = 0 .. parts - 1, each once, and waits for all. Throws what the part of the lowest number threw.
  /// From one thread at a time.
  void run(int parts, FunctionRef<void(int)> work);

 private:
  void serve();
  bool join(long& round, const FunctionRef<void(int)>*& work);
  void take_parts(FunctionRef<void(int)> work);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const FunctionRef<void(int)>* work_ = nullptr;
  std::atomic<int> next_{0}, inside_{0};  // the next part; workers that take parts
  std::atomic<long> round_{0};
  std::atomic<bool> open_{false};  // workers may join
  int parts_ = 0;
  bool closing_ = false;
  std::exception_ptr failure_;
  int failed_part_ = 0;
};

/// Part k of `parts` nearly equal ones of 0 .. count - 1.
struct PartRange {
  std::size_t begin, end;
};
inline PartRange part_range(std::size_t count, int parts, int k) {
  const auto p = static_cast<std::size_t>(parts), i = static_cast<std::size_t>(k);
  return {count * i / p, count * (i + 1) / p};
}
/// Into how many parts to cut `count` items of which at least `least` are worth a part: a few per thread, so that none
/// waits long for the last. `pool` may be null: one.
int part_count(const ThreadPool* pool, std::size_t count, std::size_t least);
/// pool->run, or one part after the other where there is none.
void run_parts(ThreadPool* pool, int parts, FunctionRef<void(int)> work);

}  // namespace stickslip
