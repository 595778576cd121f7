// SPDX-License-Identifier: Apache-2.0
// Many runs at once: on the threads of this process and, where there are any, of others (MPI ranks).
//
// Work is handed out as it is asked for, in batches that last about a twentieth of a second, so that neither a slow run
// nor a slow machine holds the others up. Records come back in the order in which runs end; each is a function of its
// index alone, so that whoever sorts them has the same result for any number of threads and processes.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/sweep/sweep_record.hpp"
#include "stickslip/sweep/work_pool.hpp"

namespace stickslip {

struct SweepProblem {
  std::vector<long> pending;  ///< indices to run, in the order in which they are begun
  WorkPool::Work run;         ///< from several threads at once; a run that `stop` ended has status interrupted
};

struct SweepOptions {
  int threads = 0;  ///< 0: one per processor that this process may use
  StopRequest stop = nullptr;
};

struct SweepHooks {
  /// Called from the thread that called run_sweep(), with what has come in since.
  std::function<void(std::vector<SweepRecord>&&)> on_records;
  /// Runs that have come in; some fifty times per second.
  std::function<void(long done)> progress;
};

/// Other processes that take part.
class SweepHelpers {
 public:
  virtual ~SweepHelpers() = default;
  struct Asking {
    int helper;
    int threads;          ///< of the helper
    double mean_seconds;  ///< of a run there; 0: not known yet
  };
  /// Adds what has come in: records, and who asks for work. Does not wait.
  virtual void poll(std::vector<SweepRecord>& records, std::vector<Asking>& asking) = 0;
  virtual void give(int helper, std::span<const long> indices) = 0;
  /// There is no more work: they end, at once where `stopped`.
  virtual void dismiss(bool stopped) = 0;
  virtual int count() const = 0;
};

struct SweepSolution {
  Status status = Status::success;  ///< or interrupted
  long done = 0;                    ///< records handed to on_records
};

/// `helpers` may be null. What a run throws ends the sweep and is thrown here.
SweepSolution run_sweep(const SweepProblem& problem, const SweepOptions& options, const SweepHooks& hooks,
                        SweepHelpers* helpers = nullptr);

/// How many runs a batch has: about a twentieth of a second of work, and not more than a fair part of what is left.
long batch_size(double mean_seconds, int threads, int all_threads, long left);

/// What does not begin yet lasts at least as long [s]: more than a message takes.
inline constexpr double kLead = 0.05;

}  // namespace stickslip
