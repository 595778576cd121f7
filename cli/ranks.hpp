// SPDX-License-Identifier: Apache-2.0
// All processes of one call under mpirun. MPI stays in this one file, and is begun only where there are several.
//
// Rank 0 reads, hands out work, stores and prints; the others help. Messages: a helper sends what it has and whether it
// wants more; rank 0 answers with indices or sends it home. A helper that leaves early (a signal) ends the sweep:
// everything that reached rank 0 is in the journal by then.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stickslip/sweep/sweep.hpp"

namespace stickslip::cli {

class Ranks {
 public:
  /// Throws InputError under mpirun with several ranks if the program was built without MPI.
  Ranks();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int count() const { return count_; }
  /// Threads of this process where nothing else is said: processors over the ranks that share this machine.
  int usual_threads() const;
  /// The text of rank 0 becomes everyone's.
  void broadcast(std::string& text) const;

  /// Of rank 0; null where it is alone.
  std::unique_ptr<SweepHelpers> helpers() const;
  /// What the other ranks do until they are sent home.
  void help(const WorkPool::Work& work, int threads) const;
  /// Ends MPI, for good, once all ranks have come here. Nothing of helpers() may be left. The destructor does it, too.
  void leave();

 private:
  int rank_ = 0, count_ = 1, local_ = 1;
  bool begun_ = false;
};

/// "Open MPI 4.1.4", or why there is none.
std::string mpi_description();

}  // namespace stickslip::cli
