// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stickslip/common/error.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_reader.hpp"
#include "stickslip/io/result_writer.hpp"
#include "tests/unit/result_samples.hpp"

namespace stickslip::result_files_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using samples::TemporaryFolder;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::istringstream in(text_of(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

ResultWriter write_all(const fs::path& folder, const Simulation& s, const ResultWriterOptions& options = {}) {
  ResultWriter writer(folder, s.trajectory.names(), samples::header(), options);
  OutputRow row;
  for (long n = 0; n < s.trajectory.rows(); ++n) {
    samples::fill_row(n, row);
    writer.add(row);
  }
  for (const Event& event : s.trajectory.events) writer.add(event);
  return writer;
}

void expect_rows(const ResultFile& file, long rows) {
  ASSERT_EQ(file.rows(), rows);
  OutputRow row;
  for (long n = 0; n < rows; ++n) {
    samples::fill_row(n, row);
    ASSERT_TRUE(same_bits(file.t[n], row.t)) << n;
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(same_bits(file.position(n, i), row.q[i])) << n;
      ASSERT_TRUE(same_bits(file.velocity(n, i), row.v[i])) << n;
      ASSERT_TRUE(same_bits(file.reaction(n, i), row.reaction[i])) << n;
      ASSERT_TRUE(!file.names.smooth_part || same_bits(file.smooth(n, i), row.smooth[i])) << n;
      ASSERT_TRUE(!file.names.friction_velocity || same_bits(file.friction_velocity(n, i), row.friction_velocity[i]))
          << n;
    }
    ASSERT_TRUE(same_bits(file.energy(n, 3), row.energy.friction_loss)) << n;
    ASSERT_TRUE(same_bits(file.energy(n, 6), row.energy.unexplained())) << n;
    ASSERT_EQ(file.modes[2 * n], row.modes[0]);
    ASSERT_EQ(file.modes[2 * n + 1], row.modes[1]);
  }
}

TEST(ResultFiles, StoreEveryRowAndEventToTheLastBit) {
  for (const bool extras : {false, true}) {
    const TemporaryFolder folder("round_trip");
    const Simulation s = samples::simulation(samples::names(extras, extras), 5000, 700);
    // 333 divides neither the rows nor the rows of a chunk: flushes end within chunks
    write_all(folder.path(), s, {333, 1e9}).finish(s, 1.25);
    const ResultFile file = read_result_file(folder.path());
    EXPECT_EQ(file.note, "");
    EXPECT_EQ(file.status, "success");
    EXPECT_EQ(file.title, "A made-up run");
    EXPECT_EQ(file.model, "models/made_up.toml");
    EXPECT_EQ(file.scheme, "moreau");
    EXPECT_EQ(file.version, "0.1.0");
    EXPECT_EQ(file.names.coordinates, s.trajectory.names().coordinates);
    EXPECT_EQ(file.names.reactions, s.trajectory.names().reactions);
    EXPECT_EQ(file.names.smooth_part, extras);
    EXPECT_EQ(file.names.friction_velocity, extras);
    expect_rows(file, 5000);
    ASSERT_EQ(file.events.size(), 700u);
    for (long n = 0; n < 700; ++n) {
      const Event expected = samples::event(n);
      ASSERT_TRUE(same_bits(file.events[n].t, expected.t));
      ASSERT_TRUE(same_bits(file.events[n].impulse, expected.impulse));
      ASSERT_EQ(file.events[n].law, expected.law);
      ASSERT_EQ(file.events[n].kind, expected.kind);
      ASSERT_EQ(file.events[n].before, expected.before);
      ASSERT_EQ(file.events[n].after, expected.after);
    }
  }
}

TEST(ResultFiles, KeepSpecialNumbers) {
  const TemporaryFolder folder("special");
  const double values[] = {std::numeric_limits<double>::quiet_NaN(),  std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(),  -0.0,
                           std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()};
  TrajectoryNames names;
  names.coordinates = names.velocities = {"x"};
  Simulation s;
  s.trajectory = Trajectory(names, 1, 1, 8);
  ResultWriter writer(folder.path(), names, samples::header());
  for (const double value : values) {
    OutputRow row;
    row.t = static_cast<double>(s.trajectory.rows());
    row.q = Vector::Constant(1, value);
    row.v = Vector::Zero(1);
    row.reaction = Vector();
    s.trajectory.append(row);
    writer.add(row);
  }
  s.final = {9.0, Vector::Constant(1, values[0]), Vector::Constant(1, values[1]), Vector(), {}};
  s.audit = {{"inclusion", values[0], 1e-10, true, false, "", ""}};
  s.status = Status::not_finite;
  writer.finish(s, 0.5);

  const ResultFile file = read_result_file(folder.path());
  ASSERT_EQ(file.rows(), 6);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(same_bits(file.position(i, 0), values[i])) << i;
  EXPECT_EQ(file.reaction.cols(), 0);
  EXPECT_EQ(file.status, to_string(Status::not_finite));

  const auto lines = lines_of(folder.path() / "trajectory.csv");
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[0], "t,x,v_x");
  EXPECT_EQ(lines[1], "0,nan,0");
  EXPECT_EQ(lines[2], "1,inf,0");
  EXPECT_EQ(lines[4], "3,-0,0");
  EXPECT_EQ(lines[5], "4,5e-324,0");

  const json summary = json::parse(text_of(folder.path() / "summary.json"));
  EXPECT_TRUE(summary["final"]["position"][0].is_null());
  EXPECT_TRUE(summary["final"]["velocity"][0].is_null());
  EXPECT_TRUE(summary["audit"]["inclusion"]["value"].is_null());
  EXPECT_FALSE(summary["audit"]["inclusion"]["ok"].get<bool>());
}

TEST(ResultFiles, StoreTheStateToGoOnFrom) {
  const TemporaryFolder folder("restart");
  const Simulation s = samples::simulation(samples::names(false, false), 100, 0);
  ResultWriter writer = write_all(folder.path(), s, {1000, 1e9});
  auto expect_state = [&](const State& expected, bool left_open) {
    std::string note;
    const State found = read_restart_state(folder.path() / "result.h5", &note);
    EXPECT_EQ(!note.empty(), left_open) << note;
    EXPECT_TRUE(same_bits(found.t, expected.t));
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(same_bits(found.q[i], expected.q[i]));
      EXPECT_TRUE(same_bits(found.v[i], expected.v[i]));
    }
    EXPECT_EQ(found.z.size(), 0);
    EXPECT_EQ(found.modes, expected.modes);
  };
  expect_state(samples::state(0), true);  // the first row, at once
  writer.flush();
  expect_state(samples::state(99), true);  // the last row
  for (long n = 200; n < 205; ++n) {       // both slots, in turn
    writer.checkpoint(samples::state(n));
    writer.flush();
    expect_state(samples::state(n), true);
  }
  OutputRow row;
  samples::fill_row(300, row);  // a row no longer replaces a true state
  writer.add(row);
  writer.flush();
  expect_state(samples::state(204), true);
  writer.finish(s, 1.0);
  expect_state(s.final, false);
}

TEST(ResultFiles, StoreInternalStatesForARestart) {
  const TemporaryFolder folder("internal");
  ResultHeader header = samples::header();
  header.internal = {"a.d1", "a.d2"};
  ResultWriter writer(folder.path(), samples::names(false, false), header);
  State state = samples::state(3);
  state.z = Vector::LinSpaced(2, 0.25, 0.5);
  state.modes.clear();
  writer.checkpoint(state);
  writer.flush();
  const State found = read_restart_state(folder.path());
  EXPECT_EQ(found.z, state.z);
  EXPECT_TRUE(found.modes.empty());
}

TEST(ResultFiles, CanBeReadWhileTheRunGoesOn) {
  const TemporaryFolder folder("live");
  ResultWriter writer(folder.path(), samples::names(true, true), samples::header(), {64, 1e9});
  EXPECT_EQ(read_result_file(folder.path()).rows(), 0);
  OutputRow row;
  for (long n = 0; n < 100; ++n) {
    samples::fill_row(n, row);
    writer.add(row);
  }
  EXPECT_EQ(writer.flushed_rows(), 65);  // the first one at once
  const ResultFile file = read_result_file(folder.path());
  EXPECT_NE(file.note.find("has not ended"), std::string::npos) << file.note;
  EXPECT_EQ(file.status, "running");
  expect_rows(file, 65);
}

TEST(ResultFiles, WithoutARowHaveNoStateToGoOnFrom) {
  const TemporaryFolder folder("stateless");
  const ResultWriter writer(folder.path(), samples::names(true, true), samples::header());
  EXPECT_NE(message_of([&] { read_restart_state(folder.path()); }).find("before it stored a state"), std::string::npos);
}

TEST(ResultFiles, FlushByWallClockTimeToo) {
  const TemporaryFolder folder("clock");
  ResultWriter writer(folder.path(), samples::names(false, false), samples::header(), {1000000, 0.02});
  OutputRow row;
  samples::fill_row(0, row);
  writer.add(row);
  usleep(30000);
  samples::fill_row(1, row);
  writer.add(row);
  EXPECT_EQ(writer.flushed_rows(), 2);
}

TEST(ResultFiles, KeepWhatWasAddedWhenTheWriterIsLeftByAnException) {
  const TemporaryFolder folder("exception");
  try {
    ResultWriter writer(folder.path(), samples::names(false, false), samples::header());
    OutputRow row;
    for (long n = 0; n < 10; ++n) {
      samples::fill_row(n, row);
      writer.add(row);
    }
    throw std::runtime_error("elsewhere");
  } catch (const std::runtime_error&) {
  }
  const ResultFile file = read_result_file(folder.path());
  EXPECT_NE(file.note.find("has not ended"), std::string::npos) << file.note;
  EXPECT_EQ(file.status, "running");
  expect_rows(file, 10);
}

TEST(ResultFiles, RemoveTheTextFilesOfAnEarlierRun) {
  const TemporaryFolder folder("again");
  const Simulation s = samples::simulation(samples::names(false, false), 20, 3);
  write_all(folder.path(), s).finish(s, 1.0);
  write_text_file(folder.path() / "report.html", "old");
  write_text_file(folder.path() / "notes.txt", "mine");
  const ResultWriter writer(folder.path(), s.trajectory.names(), samples::header());
  for (const char* name : {"trajectory.csv", "events.csv", "summary.json", "report.html"})
    EXPECT_FALSE(fs::exists(folder.path() / name)) << name;
  EXPECT_EQ(text_of(folder.path() / "notes.txt"), "mine");
  EXPECT_EQ(read_result_file(folder.path()).rows(), 0);
}

TEST(CsvFiles, HaveTheColumnsInOrderAndReadBackToTheLastBit) {
  const TemporaryFolder folder("csv");
  const Simulation s = samples::simulation(samples::names(true, true), 300, 12);
  write_all(folder.path(), s).finish(s, 1.0);
  const auto lines = lines_of(folder.path() / "trajectory.csv");
  ASSERT_EQ(lines.size(), 301u);
  EXPECT_EQ(lines[0],
            "t,x1,x2,arm.rz,v_x1,v_x2,v_arm.rz,r_shoe,r_table_t1,r_table_t2,r_shoe_smooth,r_table_t1_smooth,r_table_t2_"
            "smooth,vf_x1,vf_x2,vf_arm.rz");
  OutputRow row;
  for (long n = 0; n < 300; ++n) {
    samples::fill_row(n, row);
    std::vector<double> expected = {row.t};
    for (const Vector* v : {&row.q, &row.v, &row.reaction, &row.smooth, &row.friction_velocity})
      expected.insert(expected.end(), v->begin(), v->end());
    std::istringstream in(lines[n + 1]);
    std::size_t column = 0;
    for (std::string word; std::getline(in, word, ','); ++column) {
      double value = 0;
      std::from_chars(word.data(), word.data() + word.size(), value);
      ASSERT_LT(column, expected.size());
      ASSERT_TRUE(same_bits(value, expected[column])) << word;
    }
    ASSERT_EQ(column, expected.size());
  }
  const auto events = lines_of(folder.path() / "events.csv");
  ASSERT_EQ(events.size(), 13u);
  EXPECT_EQ(events[0], "t,law,kind,before,after,impulse");
  EXPECT_EQ(events[2].substr(0, events[2].rfind(',')), "0.001,table,slip,stick,slip+");
  EXPECT_FALSE(fs::exists(folder.path() / "trajectory.csv.part"));
  EXPECT_FALSE(fs::exists(folder.path() / "result.h5.part"));
}

TEST(CsvFiles, NameVelocitiesAfterTheirCoordinatesUnlessTheyHaveNamesOfTheirOwn) {
  TrajectoryNames names;
  names.coordinates = {"x", "box.x", "box.qw"};
  names.velocities = {"x", "box.vx"};
  EXPECT_EQ(trajectory_columns(names), (std::vector<std::string>{"t", "x", "box.x", "box.qw", "v_x", "box.vx"}));
}

TEST(CsvFiles, QuoteNamesThatWouldBreakALine) {
  EXPECT_EQ(csv_cell("shoe"), "shoe");
  EXPECT_EQ(csv_cell("left, upper"), "\"left, upper\"");
  EXPECT_EQ(csv_cell("the \"big\" one"), "\"the \"\"big\"\" one\"");
  EXPECT_EQ(csv_cell("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_cell(" x"), "\" x\"");
  EXPECT_EQ(csv_cell(""), "");
}

TEST(Summary, HasAllKeysAndCountsEveryKindOfEvent) {
  const Simulation s = samples::simulation(samples::names(false, false), 5, 8);
  const std::string text = summary_json(summary_data(samples::header(), s, 1.5));
  const json summary = json::parse(text);
  for (const char* key : {"status", "message", "model", "scheme", "steps", "end_time", "coordinates", "velocities",
                          "laws", "final", "events", "audit", "wall_seconds", "problems", "title", "version"})
    EXPECT_TRUE(summary.contains(key)) << key;
  EXPECT_EQ(summary["status"], "success");
  EXPECT_EQ(summary["steps"], 4321);
  EXPECT_EQ(summary["problems"], 8765);
  EXPECT_EQ(summary["end_time"], s.final.t);
  EXPECT_EQ(summary["coordinates"], json({"x1", "x2", "arm.rz"}));
  EXPECT_EQ(summary["velocities"], json({"v_x1", "v_x2", "v_arm.rz"}));
  EXPECT_EQ(summary["laws"], json({"shoe", "table"}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(same_bits(summary["final"]["position"][i], s.final.q[i]));
    EXPECT_TRUE(same_bits(summary["final"]["velocity"][i], s.final.v[i]));
    EXPECT_TRUE(same_bits(summary["final"]["reaction"][i], s.final_reaction[i]));
  }
  // events 0..7 take the six kinds in turn
  EXPECT_EQ(summary["events"],
            json({{"stick", 2}, {"slip", 2}, {"reversal", 1}, {"open", 1}, {"close", 1}, {"impact", 1}}));
  EXPECT_EQ(summary["audit"]["inclusion"]["limit"], 1e-10);
  EXPECT_TRUE(summary["audit"]["energy_work_in"]["limit"].is_null());
  EXPECT_EQ(summary["audit"]["energy_work_in"]["unit"], "J");
  EXPECT_EQ(text.substr(0, 15), "{\n  \"status\": \"");
}

TEST(Summary, SurvivesTextThatIsNotUtf8) {
  Simulation s = samples::simulation(samples::names(false, false), 1, 0);
  s.message = "bad \xff byte";
  EXPECT_EQ(json::parse(summary_json(summary_data(samples::header(), s, 0)))["message"], "bad \xEF\xBF\xBD byte");
}

TEST(ResultFolder, ThatIsAFileIsRefusedWithItsPath) {
  const TemporaryFolder folder("file");
  write_text_file(folder.path() / "out", "a file");
  for (const char* name : {"out", "out/below"}) {
    const std::string message =
        message_of([&] { ResultWriter(folder.path() / name, samples::names(false, false), samples::header()); });
    EXPECT_NE(message.find((folder.path() / name).string()), std::string::npos) << message;
  }
  EXPECT_NE(message_of([&] {
              ResultWriter(folder.path() / "out", samples::names(false, false), samples::header());
            }).find("it is a file"),
            std::string::npos);
}

TEST(ResultFolder, WithAFolderInPlaceOfAFileIsRefused) {
  const TemporaryFolder folder("blocked");
  fs::create_directories(folder.path() / "result.h5");
  EXPECT_NE(message_of([&] {
              ResultWriter(folder.path(), samples::names(false, false), samples::header());
            }).find("it is a folder"),
            std::string::npos);
  const TemporaryFolder other("blocked_csv");
  const Simulation s = samples::simulation(samples::names(false, false), 5, 0);
  ResultWriter writer = write_all(other.path(), s);
  fs::create_directories(other.path() / "trajectory.csv");
  EXPECT_NE(message_of([&] { writer.finish(s, 1); }).find("trajectory.csv: cannot write"), std::string::npos);
}

TEST(ResultFolder, WithoutPermissionIsRefusedWithTheReason) {
  if (geteuid() == 0) {
    // root may write everywhere but below /proc
    const std::string message =
        message_of([] { ResultWriter("/proc/stickslip_results", samples::names(false, false), samples::header()); });
    EXPECT_NE(message.find("/proc/stickslip_results: cannot create the folder"), std::string::npos) << message;
    return;
  }
  const TemporaryFolder folder("permission");
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const std::string message =
      message_of([&] { ResultWriter(folder.path(), samples::names(false, false), samples::header()); });
  EXPECT_NE(message.find("ermission denied"), std::string::npos) << message;
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(ResultReader, RefusesWhatIsNoResult) {
  const TemporaryFolder folder("foreign");
  EXPECT_NE(message_of([&] { read_result_file(folder.path()); }).find("result.h5: there is no such file"),
            std::string::npos);
  write_text_file(folder.path() / "result.h5", "t,x\n0,1\n");
  EXPECT_NE(message_of([&] { read_result_file(folder.path()); }).find("result.h5: cannot read the file"),
            std::string::npos);
  EXPECT_NE(message_of([&] { read_restart_state(folder.path()); }).find("result.h5: cannot read the file"),
            std::string::npos);
}

TEST(ResultReader, RefusesATruncatedFile) {
  const TemporaryFolder folder("truncated");
  const Simulation s = samples::simulation(samples::names(true, true), 3000, 50);
  write_all(folder.path(), s).finish(s, 1.0);
  const std::string whole = text_of(folder.path() / "result.h5");
  int refused = 0;
  for (int part = 0; part < 40; ++part) {
    std::ofstream(folder.path() / "cut.h5", std::ios::binary) << whole.substr(0, whole.size() * part / 40);
    try {
      read_result_file(folder.path() / "cut.h5");
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_EQ(refused, 40);
}

/// A file may not grow beyond `bytes`: what a full disk looks like to the program.
int exit_code_with_little_room(rlim_t bytes, const std::function<int()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(action());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

TEST(FullDisk, EndsTheWritingWithAnErrorAndKeepsTheRowsBefore) {
  const TemporaryFolder folder("full");
  const int code = exit_code_with_little_room(2000000, [&] {
    try {
      ResultWriter writer(folder.path(), samples::names(true, true), samples::header(), {500, 1e9});
      OutputRow row;
      for (long n = 0; n < 200000; ++n) {
        samples::fill_row(n, row);
        writer.add(row);
      }
    } catch (const OutputError& error) {
      return std::string(error.what()).find("result.h5: cannot write: File too large") != std::string::npos ? 7 : 8;
    }
    return 9;
  });
  EXPECT_EQ(code, 7);
  const ResultFile file = read_result_file(folder.path());
  EXPECT_GT(file.rows(), 5000);  // 2 MB hold about 2e6 / (23 · 8) = 10^4 rows
  expect_rows(file, file.rows());
}

TEST(FullDisk, LeavesNoHalfTextFile) {
  const TemporaryFolder folder("full_csv");
  const Simulation s = samples::simulation(samples::names(true, true), 20000, 0);
  const int code = exit_code_with_little_room(1000000, [&] {
    try {
      write_trajectory_csv(folder.path() / "trajectory.csv", s.trajectory);
    } catch (const OutputError& error) {
      return std::string(error.what()).find("trajectory.csv: cannot write: File too large") != std::string::npos ? 7
                                                                                                                 : 8;
    }
    return 9;
  });
  EXPECT_EQ(code, 7);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace stickslip::result_files_test
