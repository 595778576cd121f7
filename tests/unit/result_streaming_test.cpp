// SPDX-License-Identifier: Apache-2.0
// Memory of a run, results part by part, thinning for the page, and the lock of a folder.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "stickslip/common/error.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/folder_lock.hpp"
#include "stickslip/io/output_error.hpp"
#include "stickslip/io/result_reader.hpp"
#include "stickslip/io/result_thinning.hpp"
#include "stickslip/motion/memory.hpp"
#include "tests/unit/result_samples.hpp"

namespace stickslip::result_streaming_test {
namespace {

namespace fs = std::filesystem;
using samples::TemporaryFolder;

struct Things {
  double x = 0;
  bool flag = false;
  std::vector<char> states;
  std::vector<std::uint64_t> keys;
  Vector v;
  void exchange(Memory& memory) {
    memory.exchange(x);
    memory.exchange(flag);
    memory.exchange(states);
    memory.exchange(keys);
    memory.exchange(v);
  }
};

TEST(Memory, GivesBackEveryBit) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Things things{-0.0, true, {1, 2, 3}, {~0ULL, 7}, Vector(3)};
  things.v << nan, 5e-324, -HUGE_VAL;
  Memory memory;
  ASSERT_TRUE(memory.open("one"));
  things.exchange(memory);
  memory.close();
  Memory stored(memory.words());  // as it comes from a file
  Things back;
  ASSERT_TRUE(stored.open("one"));
  back.exchange(stored);
  EXPECT_TRUE(std::signbit(back.x) && back.flag);
  EXPECT_EQ(back.states, things.states);
  EXPECT_EQ(back.keys, things.keys);
  EXPECT_EQ(std::memcmp(back.v.data(), things.v.data(), 3 * sizeof(double)), 0);
}

TEST(Memory, PassesOverASectionOfAnotherScheme) {
  Memory memory;
  double first = 1, second = 2;
  memory.open("splitting");
  memory.exchange(first);
  memory.close();
  memory.open("run");
  memory.exchange(second);
  memory.close();
  memory.rewind();
  EXPECT_FALSE(memory.open("moreau"));
  double found = 0;
  ASSERT_TRUE(memory.open("run"));
  memory.exchange(found);
  EXPECT_EQ(found, 2);
  memory.close();
  EXPECT_FALSE(memory.open("more"));
}

TEST(Memory, RefusesToReadBeyondItsEnd) {
  Memory memory;
  std::vector<double> values(10, 1.0);
  memory.open("one");
  memory.exchange(values);
  memory.close();
  std::vector<std::int64_t> words = memory.words();
  words.resize(words.size() - 3);
  Memory damaged(words);
  damaged.open("one");
  EXPECT_THROW(damaged.exchange(values), std::length_error);
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Simulation stored_run(const fs::path& folder, long rows, long events) {
  Simulation s = samples::simulation(samples::names(true, true), rows, events);
  ResultWriter writer(folder, s.trajectory.names(), samples::header(), {333, 1e9});
  OutputRow row;
  for (long n = 0; n < rows; ++n) {
    samples::fill_row(n, row);
    writer.add(row);
  }
  for (const Event& event : s.trajectory.events) writer.add(event);
  writer.close(s, 1.0);
  return s;
}

TEST(ResultStream, GivesTheTablesThatTheTrajectoryGives) {
  const TemporaryFolder folder("stream");
  const Simulation s = stored_run(folder.path(), 1234, 77);
  write_trajectory_csv(folder.path() / "memory.csv", s.trajectory);
  write_events_csv(folder.path() / "memory_events.csv", s.trajectory);
  const ResultStream stream(folder.path());
  EXPECT_TRUE(write_trajectory_csv(folder.path() / "file.csv", stream));
  EXPECT_TRUE(write_events_csv(folder.path() / "file_events.csv", stream));
  EXPECT_EQ(text_of(folder.path() / "memory.csv"), text_of(folder.path() / "file.csv"));
  EXPECT_EQ(text_of(folder.path() / "memory_events.csv"), text_of(folder.path() / "file_events.csv"));
  EXPECT_FALSE(write_trajectory_csv(folder.path() / "none.csv", stream, [](double) { return false; }));
  EXPECT_FALSE(fs::exists(folder.path() / "none.csv") || fs::exists(folder.path() / "none.csv.part"));
}

TEST(ResultStream, CopiesTheRowsBeforeACheckpointAndNoneAfterIt) {
  const TemporaryFolder folder("earlier");
  stored_run(folder.path() / "first", 500, 40);
  EarlierResult earlier{folder.path() / "first" / "result.h5", read_checkpoint(folder.path() / "first")};
  EXPECT_EQ(earlier.checkpoint.rows, 500);
  EXPECT_EQ(earlier.checkpoint.events, 40);
  earlier.checkpoint.rows = 321;
  earlier.checkpoint.events = 12;
  {
    ResultWriter writer(folder.path() / "first", samples::names(true, true), samples::header(), {}, &earlier);
    EXPECT_EQ(writer.flushed_rows(), 321);
    OutputRow row;
    samples::fill_row(321, row);
    writer.add(row);
  }
  const ResultFile file = read_result_file(folder.path() / "first");
  ASSERT_EQ(file.rows(), 322);
  EXPECT_EQ(file.events.size(), 12u);
  OutputRow row;
  for (long n = 0; n < 322; ++n) {
    samples::fill_row(n, row);
    EXPECT_EQ(file.t[static_cast<std::size_t>(n)], row.t);
    for (Index i = 0; i < 3; ++i) EXPECT_EQ(file.position(n, i), row.q[i]);
  }
  EXPECT_EQ(read_checkpoint(folder.path() / "first").state.q, earlier.checkpoint.state.q);
}

TEST(Thinning, KeepsEverySpikeAndTrueRows) {
  const TemporaryFolder folder("spikes");
  const TrajectoryNames names = samples::names(false, false);
  constexpr long kRows = 20000;
  {
    ResultWriter writer(folder.path(), names, samples::header(), {4096, 1e9});
    OutputRow row;
    for (long n = 0; n < kRows; ++n) {
      samples::fill_row(n, row);
      row.q.setConstant(std::sin(0.001 * static_cast<double>(n)));
      row.v.setZero();
      row.reaction.setZero();
      if (n == 7777) row.q[1] = 50;
      if (n == 12345) row.reaction[2] = -60;
      writer.add(row);
    }
  }
  const ResultStream stream(folder.path());
  ThinningLimits limits;
  limits.numbers = 1;
  limits.rows = 1000;
  const std::vector<long> chosen = envelope_rows(stream, limits);
  EXPECT_LE(chosen.size(), 1100u);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_EQ(chosen.front(), 0);
  EXPECT_EQ(chosen.back(), kRows - 1);
  for (const long spike : {7777L, 12345L}) EXPECT_TRUE(std::binary_search(chosen.begin(), chosen.end(), spike));
  const Trajectory trajectory = read_trajectory(stream, chosen, false);
  EXPECT_EQ(trajectory.rows_of_run, kRows);
  for (Index k = 0; k < trajectory.rows(); ++k) {
    const long n = chosen[static_cast<std::size_t>(k)];
    EXPECT_EQ(trajectory.t(k), 1e-3 * static_cast<double>(n));
    EXPECT_EQ(trajectory.q(k, 0), std::sin(0.001 * static_cast<double>(n)));
  }
  EXPECT_EQ(envelope_rows(stream).size(), static_cast<std::size_t>(kRows));  // short enough to be drawn whole
}

TEST(Thinning, OfEventsKeepsTheModeAtTheEndOfEachPart) {
  const TemporaryFolder folder("events");
  const TrajectoryNames names = samples::names(false, false);
  constexpr long kEvents = 10000;
  {
    ResultWriter writer(folder.path(), names, samples::header());
    for (long n = 0; n < kEvents; ++n) {
      const bool stick = n / 2 % 2 == 0;
      writer.add(Event{1e-3 * static_cast<double>(n), static_cast<int>(n % 2),
                       stick ? EventKind::stick : EventKind::slip, stick ? Mode::slip_plus : Mode::stick,
                       stick ? Mode::stick : Mode::slip_plus, 0});
    }
  }
  const ResultStream stream(folder.path());
  ThinningLimits limits;
  limits.events = 100;
  const std::vector<Event> kept = thinned_events(stream, limits);
  EXPECT_LE(kept.size(), 102u);
  EXPECT_GE(kept.size(), 90u);
  for (const Event& event : kept) {  // each is an event of the run, but for where it came from
    const long n = std::lround(event.t * 1e3);
    EXPECT_EQ(event.law, n % 2);
    EXPECT_EQ(event.after, n / 2 % 2 == 0 ? Mode::stick : Mode::slip_plus);
  }
  EXPECT_EQ(kept.back().t, 1e-3 * (kEvents - 1));
}

TEST(FolderLock, LetsOneInAtATime) {
  const TemporaryFolder folder("lock");
  {
    const FolderLock first(folder.path());
    EXPECT_TRUE(first.held());
    try {
      const FolderLock second(folder.path());
      FAIL() << "two locks";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(folder.path().string()), std::string::npos);
    }
  }
  EXPECT_TRUE(FolderLock(folder.path()).held());
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(FolderLock, NoticesThatItsFolderIsElsewhere) {
  const TemporaryFolder folder("lock");
  const fs::path place = folder.path() / "results", other = folder.path() / "moved";
  fs::create_directory(place);
  const FolderLock lock(place);
  EXPECT_NO_THROW(lock.require_at(place));
  fs::rename(place, other);
  EXPECT_THROW(lock.require_at(place), LostOutput);
  fs::create_directory(place);  // another one of the same name
  EXPECT_THROW(lock.require_at(place), LostOutput);
  EXPECT_NO_THROW(lock.require_at(other));
}

TEST(ResultWriter, StoresAStateWithTheFirstRow) {
  const TemporaryFolder folder("early");
  ResultWriter writer(folder.path(), samples::names(true, true), samples::header(), {4096, 1e6});
  EXPECT_FALSE(writer.has_state());
  OutputRow row;
  samples::fill_row(0, row);
  writer.add(row);
  EXPECT_TRUE(writer.has_state());
  EXPECT_EQ(read_checkpoint(folder.path()).rows, 1);
}

TEST(ResultWriter, WritesNothingIntoAFileThatReplacedItsOwn) {
  const TemporaryFolder folder("replaced");
  ResultWriter writer(folder.path(), samples::names(true, true), samples::header(), {1, 0});
  OutputRow row;
  samples::fill_row(0, row);
  writer.add(row);
  fs::remove(folder.path() / "result.h5");
  std::ofstream(folder.path() / "result.h5") << "another run's";
  samples::fill_row(1, row);
  EXPECT_THROW(writer.add(row), LostOutput);
  std::ostringstream text;
  text << std::ifstream(folder.path() / "result.h5").rdbuf();
  EXPECT_EQ(text.str(), "another run's");
}

}  // namespace
}  // namespace stickslip::result_streaming_test
