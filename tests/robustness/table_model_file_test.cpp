// SPDX-License-Identifier: Apache-2.0
// [tables] of model files: what they mean in a run, and what is said about mistakes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::table_model_file_test {
namespace {

namespace fs = std::filesystem;

class TableModelFile : public ::testing::Test {
 protected:
  TableModelFile() { fs::create_directories(folder_); }
  ~TableModelFile() override { fs::remove_all(folder_); }
  std::string path() const { return (folder_ / "model.toml").string(); }
  void write(const char* name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::string refusal(const std::string& text) const {
    try {
      parse_model(text, path());
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("stickslip_tables_" + std::to_string(::getpid()));
};

const std::string kSystem = "[matrices]\nmass = [[1]]\n";
const std::string kRun = "[run]\nstep = 0.01\nend_time = 3\n";

TEST_F(TableModelFile, AForceFromAFileGivesTheMotionOfItsIntegral) {
  write("load.csv", "# a ramp\nt, unused, f\n0, 9, 0\n1, 9, 2\n2, 9, 2\n");
  const std::string text = "[parameters]\nk = 0.5\n[tables]\nload = { file = \"load.csv\", column = 3 }\n" + kSystem +
                           "force = [\"k*load(t)\"]\n" + kRun;
  for (const char* scheme : {"moreau", "event"}) {
    const std::vector<std::string> set{"run.scheme=" + std::string(scheme)};
    const ModelFile model = parse_model(text, path(), set);
    EXPECT_EQ(model.system->breakpoints(0, 3), (std::vector<double>{1, 2}));
    const Simulation run = simulate(*model.system, model.initial, model.run);
    ASSERT_EQ(run.status, Status::success) << run.message;
    EXPECT_NEAR(run.final.v[0], 0.5 + 2, 1e-12)
        << scheme;  // ∫ t dt to 1, then 1 N to 3 s: constant after the last point
    EXPECT_NEAR(run.final.q[0], 1.0 / 6 + 0.5 * 2 + 2, 1e-5) << scheme;
  }
}

TEST_F(TableModelFile, CanStandInEveryExpression) {
  const std::string tables = "[tables]\nf = { x = [0, 1, 2], y = [1, 2, 0.5], interpolation = \"cubic\" }\n";
  EXPECT_EQ(refusal(tables + kSystem +
                    "force = \"f(t + i)\"\n[[friction]]\non = \"x1\"\nlimit = \"f(x1)\"\nsurface_velocity = "
                    "\"f(t)\"\n[[contact]]\ngap = \"x1 + f(t)\"\n[initial]\nposition = [\"f(0.5)\"]\n" +
                    kRun),
            "");
  EXPECT_EQ(
      refusal(tables +
              "[equations]\ncoordinates = [\"x\", \"y\"]\nmass = [[\"f(x)\", 0], [0, 1]]\npotential = "
              "\"f(y)^2\"\n[[constraint]]\nposition = \"y - f(x) + 1\"\n[[constraint]]\nrow = [\"f(t)\", 1]\nrate "
              "= \"f(t)\"\n[initial]\nconsistent = \"project\"\n"),
      "");
  EXPECT_EQ(
      refusal(tables +
              "[[body]]\nname = \"a\"\nmass = \"f(1)\"\nforce = [\"f(t)\", 0, 0]\n[[shape]]\nbody = \"a\"\nkind = "
              "\"sphere\"\nradius = 1\n"),
      "");
}

/// A mass on a spring whose foot follows a road: against the same road written as an expression.
TEST_F(TableModelFile, ARoadOfLinesIsTheRoadOfAnExpression) {
  const std::string table = "[tables]\nroad = { x = [0, 1, 2, 3], y = [0, 0.5, 0, 0] }\n";
  const auto final = [&](const std::string& head, const std::string& road, const char* scheme) {
    const std::string text = head + kSystem + "stiffness = [[40]]\ndamping = [[2]]\nforce = [\"40*" + road + "\"]\n" +
                             "[[friction]]\non = \"x1\"\nlimit = 0.3\n" + kRun;
    const std::vector<std::string> set{"run.scheme=" + std::string(scheme)};
    const ModelFile model = parse_model(text, path(), set);
    return simulate(*model.system, model.initial, model.run).final.q[0];
  };
  const std::string written = "if(2*t < 1, 0.5*2*t, if(2*t < 2, 0.5*(2 - 2*t), 0))";
  for (const char* scheme : {"moreau", "event"})
    EXPECT_NEAR(final(table, "road(2*t)", scheme), final("", written, scheme), 1e-11) << scheme;
}

TEST_F(TableModelFile, MistakesNameFileLineAndColumn) {
  write("bad.csv", "t, f\n0, 1\n1, abc\n");
  write("back.csv", "0, 1\n2, 1\n1, 1\n");
  struct Case {
    std::string tables, expected;
  };
  for (const Case& c : {
           Case{"road = { file = \"bad.csv\" }", "model.toml:2:17: key 'tables.road.file': "},
           {"road = { file = \"bad.csv\" }", "bad.csv:3: 'abc' in column 2 is not a finite number"},
           {"road = { file = \"back.csv\" }", "back.csv:3: time 1 comes after 2"},
           {"road = { file = \"none.csv\" }", "none.csv"},
           {"road = { file = \"bad.csv\", column = 1 }", "must lie in [2, 100000]"},
           {"road = { file = \"bad.csv\", column = 7 }", "column 7 is asked for, but there are 2 columns"},
           {"road = { fiel = \"bad.csv\" }", "(did you mean 'file'?)"},
           {"road = { x = [0, 1], y = [1] }", "the list has 1 entries, but x has 2"},
           {"road = { x = [0, 1] }", "'y' is missing"},
           {"road = { x = [1, 0], y = [1, 2] }", "times must ascend"},
           {"road = { x = [0, 0], y = [1, 2], interpolation = \"cubic\" }", "a cubic spline has no jumps"},
           {"road = { x = [0, 1], y = [1, 2], interpolation = \"cubik\" }", "(did you mean 'cubic'?)"},
           {"road = 3", "a table must stand here"},
           {"road = {}", "give the points by file"},
           {"sin = { x = [0], y = [1] }", "has a meaning in expressions"},
           {"t = { x = [0], y = [1] }", "t is time"},
           {"x1 = { x = [0], y = [1] }", "the table 'x1' has the name of a coordinate"},
       }) {
    const std::string message = refusal("[tables]\n" + c.tables + "\n" + kSystem);
    EXPECT_NE(message.find(c.expected), std::string::npos) << c.tables << "\n" << message;
  }
}

TEST_F(TableModelFile, AnglesAreSeenInTheExpressions) {
  const auto angles = [&](const std::string& lines) {
    return parse_model("[equations]\ncoordinates = [\"a\", \"b\", \"x\"]\nmass = [[1,0,0],[0,1,0],[0,0,1]]\n" + lines,
                       path())
        .angles;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(angles("force = [0, 0, 0]\n"), Names{});
  EXPECT_EQ(angles("potential = \"cos(a) + sin(b - a)*x\"\n"), (Names{"a", "b"}));
  EXPECT_EQ(angles("force = [\"sin(3*x)\", \"sin(a*2)\", \"cos((a + b))\"]\n"), Names{});
  EXPECT_EQ(angles("angles = [\"x\"]\npotential = \"cos(a)\"\n"), Names{"x"});
  EXPECT_THROW(angles("angles = [\"y\"]\n"), InputError);
}

}  // namespace
}  // namespace stickslip::table_model_file_test
