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

void ThreadPool::serve() {
  std::unique_lock lock(mutex_);
  for (long done = 0;;) {
    begin_.wait(lock, [&] { return closing_ || round_ != done; });
    if (closing_) return;
    done = round_;
    const FunctionRef<void(int)> work = *work_;
    lock.unlock();
    take_parts(work);
    lock.lock();
    if (--busy_ == 0) end_.notify_one();
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
    busy_ = static_cast<int>(workers_.size());
    ++round_;
  }
  begin_.notify_all();
  take_parts(work);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [&] { return busy_ == 0; });
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
