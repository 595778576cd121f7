// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/thread_pool.hpp"

#include <sched.h>

#include <algorithm>

namespace stickslip {

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads) {
  for (int k = 1; k < threads; ++k) workers_.emplace_back([this] { serve(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  begin_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::take_parts(FunctionRef<void(int)> work) {
  for (int k; (k = next_.fetch_add(1)) < parts_;) {
    try {
      work(k);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_ || k < failed_part_) {
        failure_ = std::current_exception();
        failed_part_ = k;
      }
    }
  }
}

namespace {
/// True once `ready` is; false if it is not for some 50 microseconds.
template <class Ready>
bool soon(Ready&& ready) {
  constexpr int kLooks = 1000;
  for (int k = 0; k < kLooks; ++k) {
    if (ready()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return false;
}
}  // namespace

/// Waits for a round after the one given. False: there will be none.
bool ThreadPool::join(long& round, const FunctionRef<void(int)>*& work) {
  soon([&] { return open_ && round_ != round; });
  std::unique_lock lock(mutex_);
  begin_.wait(lock, [&] { return closing_ || (open_ && round_ != round); });
  if (closing_) return false;
  round = round_;
  work = work_;
  ++inside_;
  return true;
}

void ThreadPool::serve() {
  const FunctionRef<void(int)>* work = nullptr;
  for (long round = 0; join(round, work);) {
    take_parts(*work);
    const std::lock_guard lock(mutex_);
    if (--inside_ == 0) end_.notify_one();
  }
}

void ThreadPool::run(int parts, FunctionRef<void(int)> work) {
  if (workers_.empty() || parts <= 1) {
    for (int k = 0; k < parts; ++k) work(k);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    parts_ = parts;
    next_ = 0;
    open_ = true;
    ++round_;
  }
  begin_.notify_all();
  take_parts(work);
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  soon([&] { return inside_ == 0; });
  std::unique_lock lock(mutex_);
  end_.wait(lock, [&] { return inside_ == 0; });
  if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

int part_count(const ThreadPool* pool, std::size_t count, std::size_t least) {
  constexpr int kPerThread = 4;
  if (!pool || pool->threads() == 1) return 1;
  return static_cast<int>(
      std::clamp<std::size_t>(count / least, 1, static_cast<std::size_t>(kPerThread * pool->threads())));
}

void run_parts(ThreadPool* pool, int parts, FunctionRef<void(int)> work) {
  if (pool) return pool->run(parts, work);
  for (int k = 0; k < parts; ++k) work(k);
}

}  // namespace stickslip
