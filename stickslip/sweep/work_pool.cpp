// SPDX-License-Identifier: Apache-2.0
#include "stickslip/sweep/work_pool.hpp"

#include <algorithm>
#include <utility>

namespace stickslip {

namespace {
/// Runs above this are not handed over before a thread is free: the last ones would wait behind each other.
constexpr double kLongRun = 0.1;
}  // namespace

WorkPool::WorkPool(int threads, Work work, StopRequest stop) : work_(std::move(work)), stop_(stop) {
  for (int k = 0; k < std::max(1, threads); ++k) threads_.emplace_back([this] { serve(); });
}

WorkPool::~WorkPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    waiting_.clear();
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    begin_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (raised(stop_)) waiting_.resize(std::min<std::size_t>(waiting_.size(), 1));
    if (closing_) return;
    const long index = waiting_.front();
    waiting_.pop_front();
    ++running_;
    lock.unlock();
    SweepRecord record;
    std::exception_ptr failure;
    const auto begin = std::chrono::steady_clock::now();
    if (!raised(stop_)) try {
        record = work_(index);
      } catch (...) {
        failure = std::current_exception();
      }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const bool complete = !raised(stop_) || (record.names && record.status != Status::interrupted);
    lock.lock();
    --running_;
    ++finished_;
    seconds_ += seconds;
    if (failure) {
      failure_ = failure;
    } else if (complete) {
      done_.push_back(std::move(record));
    }
    if (waiting_.empty() || failure) end_.notify_one();
  }
}

void WorkPool::add(std::span<const long> indices) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.end(), indices.begin(), indices.end());
  }
  begin_.notify_all();
}

std::vector<SweepRecord> WorkPool::take(std::chrono::microseconds patience) {
  std::unique_lock lock(mutex_);
  end_.wait_for(lock, patience, [this] { return failure_ || (waiting_.empty() && !done_.empty()); });
  if (failure_) std::rethrow_exception(failure_);
  return std::exchange(done_, {});
}

bool WorkPool::wants_more(double lead) const {
  const std::lock_guard lock(mutex_);
  const auto threads = static_cast<double>(threads_.size());
  if (finished_ == 0 || mean() > kLongRun) return waiting_.empty() && running_ < static_cast<long>(threads_.size());
  return waiting_.empty() || static_cast<double>(waiting_.size()) * mean() < lead * threads;
}

double WorkPool::mean_seconds() const {
  const std::lock_guard lock(mutex_);
  return mean();
}

bool WorkPool::idle() const {
  const std::lock_guard lock(mutex_);
  return running_ == 0 && waiting_.empty();
}

}  // namespace stickslip
