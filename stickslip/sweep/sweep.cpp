// SPDX-License-Identifier: Apache-2.0
#include "stickslip/sweep/sweep.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

long batch_size(double mean_seconds, int threads, int all_threads, long left) {
  constexpr double kBatch = 0.1;  // [s]
  if (mean_seconds <= 0) return threads;
  const double by_time = std::max(1.0, std::floor(kBatch / mean_seconds)) * threads;
  const double fair = std::ceil(static_cast<double>(left) / (2.0 * all_threads)) * threads;
  return static_cast<long>(std::min({by_time, fair, 1e6}));
}

namespace {

using std::chrono::microseconds;

/// Hands out `pending` front to back.
class Dealer {
 public:
  explicit Dealer(const std::vector<long>& pending) : pending_(pending) {}
  std::span<const long> next(double mean_seconds, int threads, int all_threads) {
    const long count = std::min(left(), batch_size(mean_seconds, threads, all_threads, left()));
    const std::span<const long> batch = std::span(pending_).subspan(given_, static_cast<std::size_t>(count));
    given_ += static_cast<std::size_t>(count);
    return batch;
  }
  long left() const { return static_cast<long>(pending_.size() - given_); }

 private:
  const std::vector<long>& pending_;
  std::size_t given_ = 0;
};

}  // namespace

SweepSolution run_sweep(const SweepProblem& problem, const SweepOptions& options, const SweepHooks& hooks,
                        SweepHelpers* helpers) {
  SweepSolution solution;
  const long wanted = static_cast<long>(problem.pending.size());
  const int threads = options.threads > 0 ? options.threads : usable_processors();
  // With helpers somebody may ask at any time; alone there is nothing to hear but the end.
  const microseconds patience = helpers ? microseconds(4000) : microseconds(20000);
  Dealer dealer(problem.pending);
  WorkPool pool(threads, problem.run, options.stop);
  std::vector<SweepHelpers::Asking> asking;
  while (solution.done < wanted && !raised(options.stop)) {
    const int all_threads = threads * (1 + (helpers ? helpers->count() : 0));
    if (dealer.left() > 0 && pool.wants_more(helpers ? kLead : 2 * kLead))
      pool.add(dealer.next(pool.mean_seconds(), threads, all_threads));
    std::vector<SweepRecord> records = pool.take(patience);
    if (helpers) helpers->poll(records, asking);
    for (; !asking.empty() && dealer.left() > 0; asking.pop_back())
      helpers->give(asking.back().helper, dealer.next(asking.back().mean_seconds, asking.back().threads, all_threads));
    solution.done += static_cast<long>(records.size());
    if (!records.empty() && hooks.on_records) hooks.on_records(std::move(records));
    if (hooks.progress) hooks.progress(solution.done);
  }
  if (helpers) helpers->dismiss(solution.done < wanted);
  if (solution.done < wanted) {
    solution.status = Status::interrupted;
    while (true) {  // what was complete when the request came counts
      const bool last = pool.idle();
      std::vector<SweepRecord> records = pool.take(microseconds(1000));
      solution.done += static_cast<long>(records.size());
      if (!records.empty() && hooks.on_records) hooks.on_records(std::move(records));
      if (last) break;
    }
  }
  return solution;
}

}  // namespace stickslip
