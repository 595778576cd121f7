// SPDX-License-Identifier: Apache-2.0
// A run that is killed at any moment leaves a result.h5 that can be read and holds every row that had been flushed.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "stickslip/io/result_reader.hpp"
#include "stickslip/io/result_writer.hpp"
#include "tests/unit/result_samples.hpp"

namespace stickslip::killed_run_test {
namespace {

using samples::TemporaryFolder;

/// Writes rows, events and checkpoints until it is killed, and tells through `pipe` how many rows were flushed.
[[noreturn]] void write_endlessly(const std::filesystem::path& folder, const ResultWriterOptions& options, int pipe) {
  try {
    ResultWriter writer(folder, samples::names(true, true), samples::header(), options);
    OutputRow row;
    long told = 0;
    for (long n = 0;; ++n) {
      samples::fill_row(n, row);
      writer.add(row);
      if (n % 5 == 0) writer.add(samples::event(n / 5));
      writer.checkpoint({row.t, row.q, row.v, Vector(), row.modes});
      if (writer.flushed_rows() != told) {
        told = writer.flushed_rows();
        if (write(pipe, &told, sizeof told) != sizeof told) _exit(3);
      }
    }
  } catch (const std::exception&) {
    _exit(4);
  }
}

/// Short runs, one after the other, into the same folder.
[[noreturn]] void run_again_and_again(const std::filesystem::path& folder, long rows) {
  try {
    const Simulation s = samples::simulation(samples::names(true, true), rows, 10);
    for (;;) {
      ResultWriter writer(folder, s.trajectory.names(), samples::header(), {50, 1e9});
      OutputRow row;
      for (long n = 0; n < rows; ++n) {
        samples::fill_row(n, row);
        writer.add(row);
      }
      for (const Event& event : s.trajectory.events) writer.add(event);
      writer.finish(s, 1.0);
      usleep(3000);  // so that some kills find a run that has ended
    }
  } catch (const std::exception&) {
    _exit(4);
  }
}

struct Killed {
  long told = 0;        ///< rows flushed as far as the child could say
  bool killed = false;  ///< by us, not ended by itself
};

template <class Child>
Killed kill_after(int microseconds, Child&& child_runs) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    child_runs(ends[1]);
  }
  close(ends[1]);
  usleep(static_cast<useconds_t>(microseconds));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  Killed result;
  result.killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  for (long told = 0; read(ends[0], &told, sizeof told) == sizeof told;) result.told = told;
  close(ends[0]);
  return result;
}

::testing::AssertionResult holds_the_formula(const ResultFile& file) {
  OutputRow row;
  for (long n = 0; n < file.rows(); ++n) {
    samples::fill_row(n, row);
    bool same =
        file.t[n] == row.t && file.energy(n, 0) == row.energy.kinetic && file.energy(n, 6) == row.energy.unexplained();
    for (int i = 0; i < 3; ++i)
      same = same && file.position(n, i) == row.q[i] && file.velocity(n, i) == row.v[i] &&
             file.reaction(n, i) == row.reaction[i] && file.smooth(n, i) == row.smooth[i] &&
             file.friction_velocity(n, i) == row.friction_velocity[i];
    same = same && file.modes[2 * n] == row.modes[0] && file.modes[2 * n + 1] == row.modes[1];
    if (!same) return ::testing::AssertionFailure() << "row " << n << " of " << file.rows();
  }
  for (std::size_t k = 0; k < file.events.size(); ++k) {
    const Event expected = samples::event(static_cast<long>(k)), found = file.events[k];
    if (found.t != expected.t || found.law != expected.law || found.kind != expected.kind ||
        found.before != expected.before || found.after != expected.after || found.impulse != expected.impulse)
      return ::testing::AssertionFailure() << "event " << k << " of " << file.events.size();
  }
  return ::testing::AssertionSuccess();
}

void kill_often(int kills, unsigned seed, const ResultWriterOptions& options) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> delay(5000, 150000);
  long most = 0;
  for (int k = 0; k < kills; ++k) {
    const TemporaryFolder folder("killed");
    const Killed run = kill_after(delay(random), [&](int pipe) { write_endlessly(folder.path(), options, pipe); });
    ASSERT_TRUE(run.killed);
    if (!std::filesystem::exists(folder.path() / "result.h5")) {
      EXPECT_EQ(run.told, 0);  // killed before the file had its name
      continue;
    }
    const ResultFile file = read_result_file(folder.path());
    EXPECT_EQ(file.status, "running");
    EXPECT_GE(file.rows(), run.told);
    // every fifth row has an event, and a flush stores both
    EXPECT_GE(static_cast<long>(file.events.size()), run.told / 5);
    EXPECT_TRUE(holds_the_formula(file));
    most = std::max(most, file.rows());
    if (run.told == 0) continue;
    std::string note;
    const State state = read_restart_state(folder.path(), &note);
    EXPECT_NE(note.find("killed"), std::string::npos);
    const State expected = samples::state(std::lround(state.t * 1e3));
    EXPECT_EQ(state.t, expected.t);
    EXPECT_EQ(state.q, expected.q);
    EXPECT_EQ(state.v, expected.v);
    EXPECT_EQ(state.modes, expected.modes);
  }
  EXPECT_GT(most, 0) << "no run came as far as a flush: the test shows nothing";
}

// A flush after every row makes it likely that the kill hits a write.
TEST(KilledRun, KeepsEveryFlushedRowWhenItIsKilledWhileFlushing) { kill_often(20, 1, {1, 1e9}); }

TEST(KilledRun, KeepsEveryFlushedRowWithTheUsualFlushes) { kill_often(20, 2, {}); }

TEST(KilledRun, LeavesAReadableFileAlsoWhileItStartsAndEnds) {
  constexpr long rows = 200;
  std::mt19937 random(3);
  std::uniform_int_distribution<int> delay(20000, 80000);
  int whole = 0, part = 0;
  for (int k = 0; k < 30 || (k < 300 && (whole == 0 || part == 0)); ++k) {
    const TemporaryFolder folder("killed_at_end");
    ASSERT_TRUE(kill_after(delay(random), [&](int) { run_again_and_again(folder.path(), rows); }).killed);
    if (!std::filesystem::exists(folder.path() / "result.h5")) continue;
    const ResultFile file = read_result_file(folder.path());
    EXPECT_TRUE(holds_the_formula(file));
    EXPECT_LE(file.rows(), rows);
    if (file.status == "success") {
      EXPECT_EQ(file.rows(), rows);
      EXPECT_EQ(file.events.size(), 10u);
      ++whole;
    } else {
      EXPECT_EQ(file.status, "running");
      ++part;
    }
  }
  EXPECT_GT(whole, 0) << "no kill came after a run: the test shows too little";
  EXPECT_GT(part, 0) << "no kill came within a run: the test shows too little";
}

}  // namespace
}  // namespace stickslip::killed_run_test
