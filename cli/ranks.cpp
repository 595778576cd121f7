// SPDX-License-Identifier: Apache-2.0
#include "cli/ranks.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>

#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"

#ifdef STICKSLIP_WITH_MPI
#include <mpi.h>
#endif

namespace stickslip::cli {

namespace {

/// What mpirun and srun say to the processes that they start; 1: none did.
int started_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"})
    if (const char* value = std::getenv(name)) return std::max(1, std::atoi(value));
  return 1;
}

}  // namespace

int Ranks::usual_threads() const {
  const int machine = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  return std::max(1, std::min(usable_processors(), machine / local_));
}

#ifndef STICKSLIP_WITH_MPI

Ranks::Ranks() {
  if (started_ranks() > 1)
    throw InputError(
        "this program was built without MPI; install libopenmpi-dev and build it again, or leave mpirun out");
}
Ranks::~Ranks() = default;
void Ranks::leave() {}
void Ranks::broadcast(std::string&) const {}
std::unique_ptr<SweepHelpers> Ranks::helpers() const { return nullptr; }
void Ranks::help(const WorkPool::Work&, int) const {}
std::string mpi_description() { return "none: built without it (install libopenmpi-dev and build again)"; }

#else

namespace {

enum Tag : int { kReport = 1, kWork, kHome };

/// What a report begins with; records follow.
struct ReportHead {
  std::int32_t wants = 0;   ///< 1: more work
  std::int32_t leaves = 0;  ///< 1: nothing more comes from here
  std::int32_t threads = 1;
  double mean_seconds = 0;
};

/// Messages go and come without waiting: where one does not fit into the buffers of MPI, sender and receiver must both
/// be there, and MPI waits by turning in circles, on the processor that the runs need.
class Outgoing {
 public:
  explicit Outgoing(int to, Tag tag) : to_(to), tag_(tag) {}
  ~Outgoing() { finish(); }
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;
  bool under_way() {
    if (request_ == MPI_REQUEST_NULL) return false;
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    return done == 0;
  }
  /// Only where none is under way.
  void send(std::string message) {
    message_ = std::move(message);
    MPI_Isend(message_.data(), static_cast<int>(message_.size()), MPI_BYTE, to_, tag_, MPI_COMM_WORLD, &request_);
  }
  void finish() {
    while (under_way()) pause();
  }
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

 private:
  int to_;
  Tag tag_;
  std::string message_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class Incoming {
 public:
  explicit Incoming(int from, int tag) : from_(from), tag_(tag) {}
  /// The next message that has arrived as a whole. The one before it has been taken.
  bool next(std::string& message, int& tag) {
    if (request_ == MPI_REQUEST_NULL) {
      int there = 0, bytes = 0;
      MPI_Message handle;
      MPI_Status status;
      MPI_Improbe(from_, tag_, MPI_COMM_WORLD, &there, &handle, &status);
      if (!there) return false;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      arrived_tag_ = status.MPI_TAG;
      message_.resize(static_cast<std::size_t>(bytes));
      MPI_Imrecv(message_.data(), bytes, MPI_BYTE, &handle, &request_);
    }
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    if (!done) return false;
    message = std::move(message_);
    tag = arrived_tag_;
    return true;
  }

 private:
  int from_, tag_, arrived_tag_ = 0;
  std::string message_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

std::string bytes_of(const void* data, std::size_t size) { return std::string(static_cast<const char*>(data), size); }

class RankHelpers final : public SweepHelpers {
 public:
  explicit RankHelpers(int others) : there_(others) {
    for (int rank = 1; rank <= others; ++rank) others_.emplace_back(rank);
  }
  /// Where an error ended the sweep, the others must not wait for ever.
  ~RankHelpers() override {
    if (!dismissed_) dismiss(true);
  }

  void poll(std::vector<SweepRecord>& records, std::vector<Asking>& asking) override {
    for (Other& other : others_) take(other, records, &asking);
    if (left_ && !interrupted()) raise(SIGTERM);  // the rest of the sweep cannot be complete: stop as by a signal
  }
  void give(int helper, std::span<const long> indices) override {
    const std::vector<std::int64_t> numbers(indices.begin(), indices.end());
    Other& other = others_[static_cast<std::size_t>(helper - 1)];
    other.work.finish();  // it has been answered before it asks again
    other.work.send(bytes_of(numbers.data(), numbers.size() * sizeof(std::int64_t)));
  }
  void dismiss(bool stopped) override {
    dismissed_ = true;
    const std::int32_t at_once = stopped;
    for (Other& other : others_) other.home.send(bytes_of(&at_once, sizeof at_once));
    std::vector<SweepRecord> dropped;
    while (there_ > 0) {
      for (Other& other : others_) take(other, dropped, nullptr);
      Outgoing::pause();
    }
  }
  int count() const override { return static_cast<int>(others_.size()); }

 private:
  struct Other {
    explicit Other(int number) : rank(number), reports(number, kReport), work(number, kWork), home(number, kHome) {}
    int rank;
    RecordDecoder decoder;
    Incoming reports;
    Outgoing work, home;
  };
  void take(Other& other, std::vector<SweepRecord>& records, std::vector<Asking>* asking) {
    std::string message;
    for (int tag = 0; other.reports.next(message, tag);) {
      ReportHead head;
      std::memcpy(&head, message.data(), sizeof head);
      other.decoder.decode(
          std::string_view(message).substr(sizeof head),
          [&](SweepRecord&& record, std::size_t, std::size_t) { records.push_back(std::move(record)); });
      if (head.leaves) {
        --there_;
        left_ = true;
      } else if (head.wants && asking) {
        asking->push_back({other.rank, head.threads, head.mean_seconds});
      }
    }
  }
  std::deque<Other> others_;  // they stay where they are: MPI writes into them
  int there_;
  bool left_ = false, dismissed_ = false;
};

/// Open MPI looks for every kind of network when it begins, a third of a second long; for some messages in a tenth of a
/// second sockets and shared memory will do. What was said to mpirun (--mca pml, --mca btl) or in the environment
/// stands.
void prefer_plain_network() {
  constexpr int kKeepOthers = 0;
  if (std::getenv("OMPI_MCA_pml") || std::getenv("OMPI_MCA_btl")) return;
  setenv("OMPI_MCA_pml", "ob1", kKeepOthers);
  setenv("OMPI_MCA_btl", "self,vader,tcp", kKeepOthers);
}

}  // namespace

Ranks::Ranks() {
  if (started_ranks() <= 1) return;
  prefer_plain_network();
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  begun_ = true;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &count_);
  MPI_Comm shared;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
  MPI_Comm_size(shared, &local_);
  MPI_Comm_free(&shared);
}

Ranks::~Ranks() { leave(); }

void Ranks::leave() {
  if (!std::exchange(begun_, false)) return;
  // Some come earlier than others: they must not wait inside MPI_Finalize, which never rests.
  MPI_Request all;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (int there = 0; MPI_Test(&all, &there, MPI_STATUS_IGNORE), !there;) Outgoing::pause();
  MPI_Finalize();
}

void Ranks::broadcast(std::string& text) const {
  if (count_ == 1) return;
  std::uint64_t size = text.size();
  MPI_Bcast(&size, sizeof size, MPI_BYTE, 0, MPI_COMM_WORLD);
  text.resize(size);
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 30;  // counts are int
  for (std::uint64_t from = 0; from < size; from += kPiece)
    MPI_Bcast(text.data() + from, static_cast<int>(std::min(kPiece, size - from)), MPI_BYTE, 0, MPI_COMM_WORLD);
}

std::unique_ptr<SweepHelpers> Ranks::helpers() const {
  return count_ == 1 ? nullptr : std::make_unique<RankHelpers>(count_ - 1);
}

void Ranks::help(const WorkPool::Work& work, int threads) const {
  using Clock = std::chrono::steady_clock;
  constexpr auto kReportEvery = std::chrono::milliseconds(100);
  RecordEncoder encoder;
  std::string frames;
  auto reported = Clock::now();
  bool asked = false, home = false, at_once = false;
  Outgoing reports(0, kReport);
  Incoming orders(0, MPI_ANY_TAG);
  const auto report = [&](const ReportHead& head) {
    reports.send(bytes_of(&head, sizeof head) + frames);
    frames.clear();
    reported = Clock::now();
  };
  WorkPool pool(threads, work, interrupt_request());
  while (!interrupted() && !(home && (at_once || pool.idle()))) {
    for (const SweepRecord& record : pool.take(std::chrono::microseconds(4000))) encoder.encode(record, frames);
    std::string message;
    for (int tag = 0; orders.next(message, tag);) {
      if (tag == kWork) {
        std::vector<long> indices(message.size() / sizeof(std::int64_t));
        static_assert(sizeof(long) == sizeof(std::int64_t));
        std::memcpy(indices.data(), message.data(), message.size());
        pool.add(indices);
        asked = false;
      } else {
        std::int32_t flag = 0;
        std::memcpy(&flag, message.data(), sizeof flag);
        home = true;
        at_once = flag != 0;
      }
    }
    if (reports.under_way()) continue;
    const bool wants = !home && !asked && pool.wants_more(kLead);
    // Nothing more to do: the last records are waited for.
    const bool due = pool.idle() || Clock::now() - reported > kReportEvery;
    if (wants || (!frames.empty() && due)) {
      report({wants, 0, pool.threads(), pool.mean_seconds()});
      asked |= wants;
    }
  }
  if (at_once && !interrupted()) raise(SIGTERM);  // ends what is running
  for (const SweepRecord& record : pool.take(std::chrono::microseconds(0))) encoder.encode(record, frames);
  reports.finish();
  report({0, 1, pool.threads(), pool.mean_seconds()});
  reports.finish();
}

std::string mpi_description() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string_view words(text, static_cast<std::size_t>(length));
  words = words.substr(0, words.find_first_of(",\n"));
  if (words.starts_with("Open MPI v")) return fmt::format("Open MPI {}", words.substr(10));
  return std::string(words);
}

#endif

}  // namespace stickslip::cli
