// SPDX-License-Identifier: Apache-2.0
#include "cli/ranks.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

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
    throw InputError("this program was built without MPI; install libopenmpi-dev and build it again, or leave mpirun out");
}
Ranks::~Ranks() = default;
void Ranks::broadcast(std::string&) const {}
std::unique_ptr<SweepHelpers> Ranks::helpers() const { return nullptr; }
void Ranks::help(const WorkPool::Work&, int) const {}
std::string mpi_description() { return "none: built without it (install libopenmpi-dev and build again)"; }

#else

namespace {

enum Tag : int { kReport = 1, kWork, kHome };

/// What a report begins with; records follow.
struct ReportHead {
  std::int32_t wants = 0;    ///< 1: more work
  std::int32_t leaves = 0;   ///< 1: nothing more comes from here
  std::int32_t threads = 1;
  double mean_seconds = 0;
};

bool waiting(int source, int tag, MPI_Status& status) {
  int there = 0;
  MPI_Iprobe(source, tag, MPI_COMM_WORLD, &there, &status);
  return there != 0;
}

std::string receive(const MPI_Status& status) {
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  std::string message(static_cast<std::size_t>(bytes), '\0');
  MPI_Recv(message.data(), bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return message;
}

class RankHelpers final : public SweepHelpers {
 public:
  explicit RankHelpers(int others) : decoders_(static_cast<std::size_t>(others) + 1), there_(others) {}
  /// Where an error ended the sweep, the others must not wait for ever.
  ~RankHelpers() override {
    if (!dismissed_) dismiss(true);
  }

  void poll(std::vector<SweepRecord>& records, std::vector<Asking>& asking) override {
    MPI_Status status;
    while (waiting(MPI_ANY_SOURCE, kReport, status)) take(receive(status), status.MPI_SOURCE, records, &asking);
    if (left_ && !interrupted()) raise(SIGTERM);  // the rest of the sweep cannot be complete: stop as by a signal
  }
  void give(int helper, std::span<const long> indices) override {
    const std::vector<std::int64_t> numbers(indices.begin(), indices.end());
    MPI_Send(numbers.data(), static_cast<int>(numbers.size() * sizeof(std::int64_t)), MPI_BYTE, helper, kWork,
             MPI_COMM_WORLD);
  }
  void dismiss(bool stopped) override {
    dismissed_ = true;
    for (std::size_t rank = 1; rank < decoders_.size(); ++rank) {
      const std::int32_t at_once = stopped;
      MPI_Send(&at_once, sizeof at_once, MPI_BYTE, static_cast<int>(rank), kHome, MPI_COMM_WORLD);
    }
    std::vector<SweepRecord> dropped;
    MPI_Status status;
    while (there_ > 0) {
      while (waiting(MPI_ANY_SOURCE, kReport, status)) take(receive(status), status.MPI_SOURCE, dropped, nullptr);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  int count() const override { return static_cast<int>(decoders_.size()) - 1; }

 private:
  void take(const std::string& message, int source, std::vector<SweepRecord>& records, std::vector<Asking>* asking) {
    ReportHead head;
    std::memcpy(&head, message.data(), sizeof head);
    decoders_[static_cast<std::size_t>(source)].decode(
        std::string_view(message).substr(sizeof head),
        [&](SweepRecord&& record, std::size_t, std::size_t) { records.push_back(std::move(record)); });
    if (head.leaves) {
      --there_;
      left_ = true;
    } else if (head.wants && asking) {
      asking->push_back({source, head.threads, head.mean_seconds});
    }
  }
  std::vector<RecordDecoder> decoders_;  // by rank
  int there_;
  bool left_ = false, dismissed_ = false;
};

}  // namespace

Ranks::Ranks() {
  if (started_ranks() <= 1) return;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &count_);
  MPI_Comm shared;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
  MPI_Comm_size(shared, &local_);
  MPI_Comm_free(&shared);
}

Ranks::~Ranks() {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun) MPI_Finalize();
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
  const auto report = [&](const ReportHead& head) {
    std::string message(reinterpret_cast<const char*>(&head), sizeof head);
    message += frames;
    frames.clear();
    reported = Clock::now();
    MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, 0, kReport, MPI_COMM_WORLD);
  };
  WorkPool pool(threads, work, interrupt_request());
  while (!interrupted() && !(home && (at_once || pool.idle()))) {
    for (const SweepRecord& record : pool.take(std::chrono::microseconds(1000))) encoder.encode(record, frames);
    MPI_Status status;
    if (waiting(0, kWork, status)) {
      const std::string message = receive(status);
      std::vector<long> indices(message.size() / sizeof(std::int64_t));
      static_assert(sizeof(long) == sizeof(std::int64_t));
      std::memcpy(indices.data(), message.data(), message.size());
      pool.add(indices);
      asked = false;
    }
    if (waiting(0, kHome, status)) {
      std::int32_t flag = 0;
      std::memcpy(&flag, receive(status).data(), sizeof flag);
      home = true;
      at_once = flag != 0;
    }
    const bool wants = !home && !asked && pool.wants_more(kLead);
    if (wants || (!frames.empty() && Clock::now() - reported > kReportEvery)) {
      report({wants, 0, pool.threads(), pool.mean_seconds()});
      asked |= wants;
    }
  }
  if (at_once && !interrupted()) raise(SIGTERM);  // ends what is running
  for (const SweepRecord& record : pool.take(std::chrono::microseconds(0))) encoder.encode(record, frames);
  report({0, 1, pool.threads(), pool.mean_seconds()});
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
