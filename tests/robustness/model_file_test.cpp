// SPDX-License-Identifier: Apache-2.0
// Whatever is wrong with a model file, the answer is one message that says where and what.
#include "stickslip/io/model_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "stickslip/common/error.hpp"

namespace stickslip::model_file_test {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

/// A folder of its own per test, removed at the end.
class ModelFileErrors : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("stickslip_model_file_" + std::to_string(::getpid()) + "_" + info->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }

  static std::string message_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  /// The message must name the file, the line and the cause.
  void expect_error(const std::string& text, int line, const std::string& fragment, const std::string& label) const {
    const std::string path = (folder_ / "model.toml").string();
    const std::string message = message_of([&] { parse_model(text, path); });
    const std::string where = path + ":" + std::to_string(line) + ":";
    EXPECT_TRUE(message.starts_with(where)) << label << "\nexpected " << where << "\ngot " << message;
    EXPECT_NE(message.find(fragment), std::string::npos) << label << "\nexpected '" << fragment << "' in\n" << message;
  }

  fs::path folder_;
};

const std::vector<std::string> kValid = {
    "[matrices]",                      // 1
    "mass      = [[2, 1], [1, 2]]",    // 2
    "stiffness = [[2, -1], [-1, 2]]",  // 3
    "force     = [\"sin(t)\", 0]",     // 4
    "[[friction]]",                    // 5
    "on    = \"x1\"",                  // 6
    "limit = 1.0",                     // 7
    "[initial]",                       // 8
    "velocity = [1, 0]",               // 9
    "[run]",                           // 10
    "step     = 0.01",                 // 11
    "end_time = 1",                    // 12
};

/// The valid model with one line replaced; several lines may replace it.
std::string with_line(int line, const std::string& replacement) {
  std::string text;
  for (std::size_t k = 0; k < kValid.size(); ++k)
    text += (static_cast<int>(k) + 1 == line ? replacement : kValid[k]) + "\n";
  return text;
}

struct Mistake {
  int replaced;  ///< line of kValid
  std::string replacement;
  int line;              ///< expected in the message
  std::string fragment;  ///< expected in the message
};

TEST_F(ModelFileErrors, TheUnchangedModelIsRead) { EXPECT_NO_THROW(parse_model(with_line(0, ""), "model.toml")); }

TEST_F(ModelFileErrors, EveryMistakeInOneLineIsNamedWithItsLine) {
  const std::vector<Mistake> mistakes = {
      // types
      {2, "mass = 3", 2, "key 'matrices.mass': a list of rows"},
      {2, "mass = true", 2, "not true"},
      {2, "mass = [[2, 1], 3]", 2, "key 'matrices.mass[1]': a row"},
      {2, "mass = [[2, true], [1, 2]]", 2, "key 'matrices.mass[0][1]': a number or an expression"},
      {2, "mass = 1979-05-27", 2, "a date or time"},
      {4, "force = true", 4, "key 'matrices.force'"},
      {7, "limit = [1]", 7, "key 'friction.friction1.limit': a number"},
      {11, "step = true", 11, "key 'run.step': a number or an expression of [parameters] must stand here, not true"},
      {11, "step = [0.1]", 11, "not a list of 1"},
      {10, "title = 3\n[run]", 10, "key 'initial.title': unknown key"},
      {1, "title = 3\n[matrices]", 1, "key 'title': a text in quotes must stand here, not the number 3"},
      {1, "run = 3\n[matrices]", 11, "not valid TOML"},
      {5, "[friction]", 5, "two brackets"},
      {8, "[[initial]]", 8, "key 'initial': a table must stand here"},
      // missing and unknown keys
      {2, "", 1, "key 'matrices': 'mass' is missing"},
      {6, "", 5, "key 'friction.friction1': 'on' is missing"},
      {7, "", 5, "'limit' is missing"},
      {11, "", 10, "'step' is missing"},
      {12, "", 10, "'end_time' is missing"},
      {11, "stpe = 0.01", 11, "key 'run.stpe': unknown key (did you mean 'step'?)"},
      {2, "masss = [[1]]", 2, "key 'matrices.masss': unknown key (did you mean 'mass'?)"},
      {7, "limti = 1", 7, "(did you mean 'limit'?)"},
      {9, "velocty = [1, 0]", 9, "(did you mean 'velocity'?)"},
      {10, "[rum]", 10, "key 'rum': unknown key (did you mean 'run'?)"},
      {12, "end_time = 1\n[run.moreua]", 13, "key 'run.moreua': unknown key (did you mean 'moreau'?)"},
      {12, "end_time = 1\n[run.moreau]\nteta = 0.5", 14, "key 'run.moreau.teta': unknown key (did you mean 'theta'?)"},
      {12, "end_time = 1\n[run.splitting]\nsubstep = 2", 14, "(did you mean 'substeps'?)"},
      {12, "end_time = 1\nxyzzy_and_more = 2", 13, "unknown key (known: scheme, step"},
      // matrices
      {2, "mass = []", 2, "no rows"},
      {2, "mass = [[2, 1], [1]]", 2, "key 'matrices.mass[1]': the row has 1 entries"},
      {2, "mass = [[2, 1],\n  [1, 2, 3]]", 3, "key 'matrices.mass[1]': the row has 3 entries"},
      {2, "mass = [[2, 1]]", 2, "must be square"},
      {3, "stiffness = [[1]]", 3, "the matrix is 1 x 1, but there are 2 coordinates"},
      {3, "damping = [[1, 2, 3], [1, 2, 3], [1, 2, 3]]", 3, "the matrix is 3 x 3"},
      {2, "mass = [[2, 1], [0, 2]]", 2, "not symmetric"},
      {2, "mass = [[1, 2], [2, 1]]", 2, "not positive definite"},
      {2, "mass = [[0, 0], [0, 0]]", 2, "not positive definite"},
      {2, "mass = [[nan, 0], [0, 1]]", 2, "must be a finite number"},
      {3, "stiffness = [[inf, 0], [0, 1]]", 3, "the value inf must be a finite number"},
      {3, "stiffness = [[1e999, 0], [0, 1]]", 3, ""},
      {3, "stiffness = [[\"k\", 0], [0, 1]]", 3, "key 'matrices.stiffness[0][0]': unknown name 'k'"},
      {3, "stiffness = [[\"2*\", 0], [0, 1]]", 3, "  2*\n    ^"},
      {3, "stiffness = [[\"x1\", 0], [0, 1]]", 3, "unknown name 'x1'"},
      {3, "stiffness = { diagnal = 1 }", 3, "(did you mean 'diagonal'?)"},
      {3, "stiffness = {}", 3, "exactly one of 'diagonal' and 'tridiagonal'"},
      {3, "stiffness = { diagonal = [1, 2, 3] }", 3, "the matrix is 3 x 3"},
      {3, "stiffness = { tridiagonal = [1, 2] }", 3, "[below, diagonal, above]"},
      {3, "stiffness = { tridiagonal = 2 }", 3, "a list [below, diagonal, above] must stand here"},
      {3, "size = 3", 2, "the matrix is 2 x 2, but there are 3 coordinates"},
      {3, "size = 0", 3, "must lie in [1, 10000000]"},
      {3, "size = 2.5", 3, "must be an integer"},
      {3, "size = 999999999999", 3, "must lie in [1, 10000000]"},
      {3, "coordinates = [\"a\", \"a\"]", 3, "two coordinates are named 'a'"},
      {3, "coordinates = [\"a\"]", 2, "the matrix is 2 x 2, but there are 1 coordinates"},
      {3, "coordinates = [\"t\", \"b\"]", 3, "t is time"},
      {3, "coordinates = [\"sin\", \"b\"]", 3, "has a meaning in expressions"},
      {3, "coordinates = [\"a b\", \"b\"]", 3, "cannot be a coordinate"},
      {3, "coordinates = [\"a\", \"v_a\"]", 3, "the velocity of 'a' is called v_a"},
      {3, "coordinates = [1, 2]", 3, "the name of a coordinate must stand here"},
      {1, "[parameters]\na = 1\n[matrices]\ncoordinates = [\"a\", \"b\"]", 4, "'a' is also a parameter"},
      {1, "[parameters]\nx2 = 1\n[matrices]", 3, "the parameter 'x2' has the name of a coordinate"},
      // force
      {4, "force = [1]", 4, "the list has 1 components, but there are 2 coordinates"},
      {4, "force = [\"sin(t\", 0]", 4, "this '(' is never closed"},
      {4, "force = [\"x3\", 0]", 4, "unknown name 'x3'"},
      {4, "force = [{ table = \"absent.csv\" }, 0]", 4, "absent.csv: no such file"},
      {4, "force = [{ tabel = \"a.csv\" }, 0]", 4, "(did you mean 'table'?)"},
      {4, "force = [{ table = 3 }, 0]", 4, "a file name must stand here"},
      {4, "force = [\"1/0\", 0]", 4, "no finite value"},
      // parameters
      {1, "[parameters]\na = \"b\"\nb = \"a\"\n[matrices]", 2, "'b' is defined later"},
      {1, "[parameters]\na = \"a + 1\"\n[matrices]", 2, "'a' is defined by itself"},
      {1, "[parameters]\na = [1]\n[matrices]", 2, "a number or an expression of [parameters] must stand here"},
      {1, "[parameters]\nt = 1\n[matrices]", 2, "t is time"},
      {1, "[parameters]\npi = 3\n[matrices]", 2, "has a meaning in expressions"},
      {1, "[parameters]\n\"a b\" = 3\n[matrices]", 2, "a name is a letter"},
      {1, "[parameters]\na = 1\na = 2\n[matrices]", 3, "cannot redefine existing"},
      // friction
      {7, "limit = -1", 7, "the limit -1 must be >= 0"},
      {7, "limit = inf", 7, "must be a finite number"},
      {7, "limit = \"-2\"", 7, "the limit -2 must be >= 0"},
      {7, "limit = \"x1 +\"", 7, "an operand is missing"},
      {7, "limit = 1\nstatic_limit = 0.5", 8, "static_limit = 0.5 must be >= limit = 1"},
      {7, "limit = 1\nviscous = -1", 8, "the value -1 must be >= 0"},
      {7, "limit = 1\nweakening = { shape = \"algebraic\", beta = 1, epsilon = 1 }", 8,
       "the value 1 must lie in [0, 1)"},
      {7, "limit = 1\nweakening = { shape = \"algebraic\", beta = 0.1, epsilon = 0 }", 8, "the value 0 must be > 0"},
      {7, "limit = 1\nweakening = { shape = \"cubic\", beta = 0.1, epsilon = 1 }", 8, "\"cubic\" is not one of"},
      {7, "limit = 1\nweakening = { beta = 0.1, epsilon = 1 }", 8, "'shape' is missing"},
      {7, "limit = 1\nweakening = { shape = \"tanh\", beta = 0.1 }", 8, "'epsilon' is missing"},
      {7, "limit = 1\nset = \"box\"", 8, "only planar friction has a set"},
      {7, "limit = 1\nfacets = 8", 8, "only set = \"polygon\" has facets"},
      {7, "limit = 1\nsurface_velocity = [1, 2]", 8, "key 'friction.friction1.surface_velocity'"},
      {6, "on = \"x9\"", 6, "there is no coordinate 'x9'"},
      {6, "on = 1", 6, "a coordinate, a list of two of them, or \"*\" must stand here"},
      {6, "on = [\"x1\"]", 6, "planar friction acts on two"},
      {6, "on = [\"x1\", \"x1\"]", 6, "two different coordinates"},
      {6, "on = [\"x1\", \"x2\"]\nset = \"circle\"", 7, "unknown set 'circle'"},
      {6, "on = [\"x1\", \"x2\"]\nset = \"polygon\"\nfacets = 7", 8, "must be even"},
      {6, "on = [\"x1\", \"x2\"]\nset = \"polygon\"\nfacets = 2", 8, "must lie in [4"},
      {6, "on = [\"x1\", \"x2\"]\nsurface_velocity = 1", 7, "a list of two"},
      {6, "on = \"x1\"\ndirection = [1, 0]", 7, "'on' and 'direction' both"},
      {6, "direction = [1, 0, 0]", 6, "the list has 3 numbers, but there are 2 coordinates"},
      {6, "direction = [0, 0]", 6, "all entries are 0"},
      {6, "direction = [[1, 2], [2, 4]]", 6, "parallel"},
      {6, "direction = [[1, 2], [2, 4], [0, 1]]", 6, "there are 3 lists"},
      {6, "on = [\"x1\", \"x2\"]\nlimit = \"i\"\n[[friction]]\non = \"x1\"", 7, "the index i has no meaning here"},
      {7, "limit = 1\nname = \"a\"\n[[friction]]\nname = \"a\"\non = \"x2\"\nlimit = 1", 10, "two laws are named 'a'"},
      {7, "limit = 1\nname = \"a b\"", 8, "a name cannot be empty"},
      // initial
      {9, "velocity = [1]", 9, "the list has 1 numbers, but there are 2 coordinates"},
      {9, "position = [1, 2, 3]", 9, "the list has 3 numbers"},
      {9, "position = [nan, 2]", 9, "key 'initial.position[0]': the value nan must be a finite number"},
      {9, "position = \"t\"", 9, "unknown name 't'"},
      // run
      {11, "step = 0.01\nscheme = \"moreu\"", 12, "key 'run.scheme': unknown scheme 'moreu' (did you mean 'moreau'?)"},
      {11, "step = 0.01\nscheme = \"compliant\"", 12, "the model has no [[contact]]; use scheme = \"event\""},
      {12, "end_time = 1\ntolerance = 1e-20", 13, "key 'run.tolerance': the value 1e-20 must lie in"},
      {11, "step = 0.01\nsteps = 100", 12, "'step' and 'steps' both"},
      {11, "step = -0.01", 11, "the value -0.01 must be > 0"},
      {11, "step = 0", 11, "must be > 0"},
      {11, "step = 1e-300", 11, "makes more than 1e+12 steps"},
      {11, "steps = 1.5", 11, "must be an integer"},
      {11, "steps = 0", 11, "must lie in [1"},
      {12, "end_time = 0", 12, "the value 0 must be after start_time = 0"},
      {12, "end_time = 1\nstart_time = 2", 12, "must be after start_time = 2"},
      {12, "end_time = inf", 12, "must be a finite number"},
      {12, "end_time = \"2*T\"", 12, "unknown name 'T'"},
      {12, "end_time = 1\nbreakpoints = \"ends\"", 13, "unknown word 'ends'"},
      {12, "end_time = 1\noutput_step = -1", 13, "must be > 0"},
      {12, "end_time = 1\noutput_times = [0.5, 0.2]", 13, "key 'run.output_times[1]': the time 0.2 must be after 0.5"},
      {12, "end_time = 1\noutput_times = [2]", 13, "must lie in the run"},
      {12, "end_time = 1\noutput_step = 0.1\noutput_times = [0.5]", 14, "'output_step' and 'output_times' both"},
      {12, "end_time = 1\n[run.moreau]\ntheta = 0.3", 14, "the value 0.3 must lie in [0.5, 1]"},
      {12, "end_time = 1\n[run.moreau]\nsolver = \"magic\"", 14, "unknown solver 'magic'"},
      {12, "end_time = 1\n[run.moreau]\nlocate_reversals = 1", 14, "true or false must stand here, not the number 1"},
      {12, "end_time = 1\n[run.moreau]\nforce = \"start\"", 14, "unknown force sampling 'start'"},
      {12, "end_time = 1\n[run.splitting]\nvariant = \"strang\"", 14, "key 'run.splitting.variant'"},
      {12, "end_time = 1\n[run.splitting]\nsubsteps = 0", 14, "key 'run.splitting.substeps'"},
      {12, "end_time = 1\n[run.event]\nflow = \"exakt\"", 14, "unknown flow 'exakt' (did you mean 'exact'?)"},
      // later sections and two systems
      {8, "[initial]\n[equations]\nmass = 1", 9, "the system is already given by [matrices]"},
      {8, "[[body]]\nname = \"b\"\n[initial]", 8, "two systems in one file"},
      {8, "[[hinge]]\nname = \"b\"\n[initial]", 8, "two systems in one file"},
      {8, "[sweep]\n[initial]", 8, "name what is swept"},
      // TOML itself
      {6, "on = \"x1", 6, "not valid TOML"},
      {6, "on = x1", 6, "not valid TOML"},
      {6, "on", 6, "not valid TOML"},
      {3, "stiffness = [[2, -1], [-1, 2]", 4, "not valid TOML"},
      {3, "mass = [[1]]", 3, "cannot redefine existing"},
      {10, "[initial]", 10, "not valid TOML"},
      {10, "[&", 10, "a table header needs a name"},
      {10, "[]", 10, "a table header needs a name"},
      {10, "[\r]", 10, "a table header needs a name"},
      {3, "x = [1, {a = 2]}", 3, "']' cannot close '{'"},
      {3, "x = [}", 3, "'}' cannot close '['"},
      {10, "[a.&]", 10, "not valid TOML"},
      {3, "x = " + std::string(10000, '['), 3, "nested more than 64 deep"},
      {3, "x = " + std::string(10000, '{'), 3, "nested more than 64 deep"},
      {3, "a" + std::string(5000, '.') + "b = 1", 3, "more than 32 parts"},
  };
  for (const Mistake& mistake : mistakes)
    expect_error(with_line(mistake.replaced, mistake.replacement), mistake.line, mistake.fragment,
                 mistake.replacement.substr(0, 200));
}

TEST_F(ModelFileErrors, ModelsWithoutASystemOrItsSizeAreRefused) {
  expect_error("title = \"x\"\n", 1, "'matrices' is missing", "no system");
  expect_error("title = \"x\"\n[equations]\nmass = 1\n", 2, "'coordinates' is missing; name them", "equations");
  expect_error("[[body]]\nname = \"a\"\nmass = 1\n[[hinge]]\nname = \"b\"\n", 4,
               "key 'hinge.b': 'parent' is missing; the body it hangs on", "bodies are one system");
  expect_error("[matrices]\nmass = { diagonal = 1 }\nstiffness = { tridiagonal = [-1, 2, -1] }\n", 2,
               "give 'size' or 'coordinates'", "size");
}

const std::vector<std::string> kEquations = {
    "[parameters]",                                   // 1
    "m = 2",                                          // 2
    "[equations]",                                    // 3
    "coordinates = [\"x\", \"y\"]",                   // 4
    "mass        = [[\"m\", 0], [0, \"m + x^2\"]]",   // 5
    "force       = [\"sin(t) - v_x\", \"-m*9.81\"]",  // 6
    "potential   = \"0.5*x^2\"",                      // 7
    "dissipation = \"0.1*v_x^2\"",                    // 8
    "[[contact]]",                                    // 9
    "gap         = \"y - 0.1*t\"",                    // 10
    "slip        = \"x\"",                            // 11
    "mu          = 0.3",                              // 12
    "[[drawing]]",                                    // 13
    "kind        = \"box\"",                          // 14
    "size        = [1, \"m\"]",                       // 15
    "position    = [\"x\", \"y\"]",                   // 16
    "[initial]",                                      // 17
    "position    = [0, 1]",                           // 18
};

TEST_F(ModelFileErrors, EveryMistakeInEquationsContactsAndDrawingsIsNamedWithItsLine) {
  const auto with = [](int line, const std::string& replacement) {
    std::string text;
    for (std::size_t k = 0; k < kEquations.size(); ++k)
      text += (static_cast<int>(k) + 1 == line ? replacement : kEquations[k]) + "\n";
    return text;
  };
  ASSERT_NO_THROW(parse_model(with(0, ""), "model.toml"));
  const std::vector<Mistake> mistakes = {
      // equations
      {3, "[equations]\nstiffness = 1", 4, "key 'equations.stiffness': unknown key (known: coordinates, mass"},
      {4, "", 3, "key 'equations': 'coordinates' is missing"},
      {4, "coordinates = []", 4, "at least one coordinate"},
      {4, "coordinates = [\"x\", \"x\"]", 4, "two coordinates are named 'x'"},
      {4, "coordinates = [\"x\", \"m\"]", 4, "'m' is also a parameter"},
      {4, "coordinates = [\"x\"]", 5, "the matrix has 2 rows, but there are 1 coordinates"},
      {5, "", 3, "'mass' is missing; give the mass matrix, or kinetic_energy"},
      {5, "mass = 3", 5, "key 'equations.mass': a list of rows"},
      {5, "mass = [1, 2]", 5, "key 'equations.mass[0]': a row"},
      {5, "mass = [[1, 0]]", 5, "the matrix has 1 rows"},
      {5, "mass = [[1, 0], [0]]", 5, "key 'equations.mass[1]': the row has 1 entries, but there are 2 coordinates"},
      {5, "mass = [[1, 0],\n [0, \"k\"]]", 6, "key 'equations.mass[1][1]': unknown name 'k'"},
      {5, "mass = [[\"1+t\", 0], [0, 1]]", 5,
       "key 'equations.mass[0][0]': the mass depends on t; it may depend on the coordinates and parameters only"},
      {5, "mass = [[\"1+v_y^2\", 0], [0, 1]]", 5, "the mass depends on v_y"},
      {5, "mass = [[\"1+i\", 0], [0, 1]]", 5, "the index i has no meaning here"},
      {5, "mass = [[0, 0], [0, 1]]", 5, "key 'equations.mass': mass is not positive definite (pivot 0 for 'x')"},
      {5, "mass = [[1, \"x\"], [\"y\", 1]]", 5, "mass is not symmetric: mass[1][0]"},
      {5, "mass = [[1, 0], [0, \"x\"]]", 5, "mass is not positive definite at x = 0, y = 1 (pivot 0 for 'y')"},
      {5, "mass = [[\"nope(x)\", 0], [0, 1]]", 5, "unknown function 'nope'"},
      {5, "mass = [[{ table = \"a.csv\" }, 0], [0, 1]]", 5, "a.csv"},
      {5, "mass = [[1, 0], [0, 1]]\nkinetic_energy = \"v_x^2+v_y^2\"", 6, "both give the inertia"},
      {5, "kinetic_energy = \"v_x^2\"", 5, "kinetic_energy does not depend on v_y: 'y' has no mass"},
      {5, "kinetic_energy = \"v_x^2 + v_y^2 + v_x\"", 5, "not quadratic in the velocities"},
      {5, "kinetic_energy = \"v_x^2 + v_y^2 + t\"", 5, "the kinetic energy depends on t"},
      {5, "kinetic_energy = 3", 5, "kinetic_energy is constant"},
      {5, "kinetic_energy = \"v_x^2 + x*v_y^2\"", 5, "not positive definite at x = 0, y = 1"},
      {6, "force = \"sin(t)\"", 6, "key 'equations.force': a list of one force per coordinate must stand here"},
      {6, "force = [1]", 6, "the list has 1 components, but there are 2 coordinates"},
      {6, "force = [\"z\", 0]", 6, "key 'equations.force[0]': unknown name 'z'"},
      {7, "potential = \"x*t\"", 7, "the potential depends on t"},
      {7, "potential = \"x*v_x\"", 7, "the potential depends on v_x"},
      {7, "potential = [1]", 7, "key 'equations.potential': a number"},
      {8, "dissipation = \"t*v_x^2\"", 8, "the dissipation depends on t"},
      // contact
      {9, "[contact]", 9, "two brackets"},
      {10, "", 9, "key 'contact.contact1': 'gap' is missing"},
      {10, "gap = \"v_x\"", 10, "key 'contact.contact1.gap': the gap depends on v_x; it may depend on t, the"},
      {10, "gap = \"y +\"", 10, "an operand is missing"},
      {10, "gap = \"z\"", 10, "unknown name 'z'"},
      {10, "gap = 3", 9, "gap depends on no coordinate"},
      {10, "gap = \"sin(t)\"", 9, "gap depends on no coordinate"},
      {10, "gap = [\"y\"]", 10, "a number, an expression"},
      {10, "gap = \"y\"\ngpa = 1", 11, "key 'contact.contact1.gpa': unknown key (did you mean 'gap'?)"},
      {10, "between = [\"a\", \"b\"]", 10, "not available in this version; it belongs to bodies; give gap"},
      {10, "gap = \"y\"\ncompliance = { stiffness = 1 }", 11, "'damping' is missing"},
      {10, "gap = \"y\"\nname = \"a b\"", 11, "key 'contact.a b.name': a name cannot be empty"},
      {10, "gap = \"y\"\nname = 3", 11, "a name must stand here, not the number 3"},
      {10, "gap = \"y\"\n[[contact]]\nname = \"contact1\"\ngap = \"x\"", 12, "the name 'contact1' is given twice"},
      {9, "[[friction]]\nname = \"a\"\non = \"x\"\nlimit = 1\n[[contact]]\nname = \"a\"", 14,
       "the name 'a' is given twice"},
      {11, "", 12, "friction acts along a slip; give the tangential displacement, as in slip = \"x\", or remove mu"},
      {12, "", 11, "'mu' is missing; give the friction coefficient, or remove the slip"},
      {11, "slip = []", 11, "there are 0 tangents"},
      {11, "slip = [\"x\", \"y\", \"x\"]", 11, "there are 3 tangents; one (in the plane) or two"},
      {11, "slip = [\"x\", \"w\"]", 11, "key 'contact.contact1.slip[1]': unknown name 'w'"},
      {11, "slip = \"v_x\"", 11, "the slip depends on v_x"},
      {11, "slip = \"t\"", 9, "slip depends on no coordinate"},
      {11, "slip = true", 11, "a number, an expression"},
      {11, "slip = { table = \"a.csv\" }", 11, "an expression, or a list of one or two"},
      {11, "slip = \"x\"\nslip_rows = [[1, 0]]", 12, "'slip' and 'slip_rows' both"},
      {11, "slip_rows = [1, 0]", 11, "key 'contact.contact1.slip_rows[0]': a row"},
      {11, "slip_rows = [[1, 0, 0]]", 11, "the row has 3 entries, but there are 2 coordinates"},
      {11, "slip_rows = [[0, 0]]", 9, "all entries of a row are 0"},
      {11, "slip_rows = [[\"v_x\", 0]]", 11, "the row depends on v_x"},
      {12, "mu = -0.1", 12, "key 'contact.contact1.mu': the value -0.1 must be >= 0"},
      {12, "mu = inf", 12, "must be a finite number"},
      {12, "mu = \"x\"", 12, "unknown name 'x'"},
      {12, "mu = 0.3\nmu_static = 0.2", 13, "mu_static = 0.2 must be >= mu = 0.3"},
      {12, "mu = 0.3\nrestitution = 1.1", 13, "the value 1.1 must lie in [0, 1]"},
      {12, "mu = 0.3\nrestitution = -0.1", 13, "must lie in [0, 1]"},
      {12, "mu = 0.3\ncone = \"disc\"", 13, "unknown cone 'disc' (did you mean 'disk'?)"},
      {12, "mu = 0.3\ncone = \"polygon\"", 13, "with 1 tangents there is no cone to choose"},
      {12, "mu = 0.3\nfacets = 8", 13, "only cone = \"polygon\" has facets"},
      {11, "slip = [\"x\", \"y\"]\ncone = \"polygon\"\nfacets = 7", 13, "must be even"},
      {11, "slip = [\"x\", \"y\"]\ncone = \"polygon\"\nfacets = 2", 13, "must lie in [4"},
      {11, "slip = [\"x\", \"y\"]\nsurface_velocity = 1", 12, "there are two tangents; give a list of two"},
      {12, "mu = 0.3\nsurface_velocity = [1, 2]", 13, "the list has 2 entries, but there are 1 tangents"},
      {12, "mu = 0.3\nsurface_velocity = \"v_x\"", 13, "the surface velocity depends on v_x"},
      {12, "mu = 0.3\nposition = [\"x\", 0]", 13, "'normal' is missing"},
      {12, "mu = 0.3\nnormal = [0, 1]", 13, "'position' is missing"},
      {12, "mu = 0.3\nposition = [\"x\"]\nnormal = [0, 1]", 13, "the list has 1 components"},
      {12, "mu = 0.3\nposition = [\"x\", 0]\nnormal = [0, 1, 0]", 14,
       "the normal has 3 components, but the position has 2"},
      // drawing
      {13, "[drawing]", 13, "two brackets"},
      {14, "", 13, "key 'drawing.drawing1': 'kind' is missing"},
      {14, "kind = \"cube\"", 14, "unknown kind 'cube'"},
      {15, "", 13, "'size' is missing; give the edge lengths [w, h]"},
      {15, "size = [1]", 15, "the list has 1 edge lengths"},
      {15, "size = [1, -2]", 15, "key 'drawing.drawing1.size[1]': the value -2 must be > 0"},
      {15, "size = [1, 2]\nradius = 1", 16, "a drawing of this kind has none"},
      {16, "position = [\"x\"]", 16, "give [x, y] or [x, y, z]"},
      {16, "position = [\"x\", \"v_y\"]", 16, "the place depends on v_y"},
      {16, "position = [0, 0]\nangle = \"v_x\"", 17, "the angle depends on v_x"},
      {14, "kind = \"line\"", 15, "a drawing of this kind has none"},
      {15, "", 13, "'size' is missing"},
      // initial
      {18, "position = [0, 1, 2]", 18, "the list has 3 numbers, but there are 2 coordinates"},
  };
  for (const Mistake& mistake : mistakes)
    expect_error(with(mistake.replaced, mistake.replacement), mistake.line, mistake.fragment, mistake.replacement);
  expect_error("[equations]\ncoordinates = [\"x\"]\nmass = [[1]]\n[[drawing]]\nkind = \"line\"\npoints = [[0, 0]]\n", 6,
               "a line needs two", "one point");
  expect_error(
      "[equations]\ncoordinates = [\"x\"]\nmass = [[1]]\n[[drawing]]\nkind = \"line\"\npoints = [[0, 0], [1, "
      "\"x\"]]\nposition = [0, 0]\n",
      7, "a line has its place from 'points'", "line with position");
}

TEST_F(ModelFileErrors, TextsThatAreNotCleanUtf8AreRefusedBeforeParsing) {
  const std::string head = "# ok\n";
  const std::vector<std::tuple<std::string, int, std::string>> cases = {
      {""s, 1, "the file is empty"},
      {"\n# only a comment\n"s, 1, "the file is empty"},
      {"\xEF\xBB\xBF"s, 1, "the file is empty"},
      {"\x7F\x45LF\x02\x01\x00\x00\x00"s + std::string(4, '\0'), 1, "zero byte"},
      {"\x80\xC0\xFF"s, 1, "the byte 0x80 is not valid UTF-8"},
      {head + "\xEF\xBB\xB5\x0A", 2, "can stand only in quotes and comments"},
      {head + "title = \"a\xC3\"", 2, "the byte 0xC3 is not valid UTF-8"},
      {head + "title = \"\xE2\x82\"", 2, "the byte 0xE2 is not valid UTF-8"},
      {head + "title = \"\xF0\x9F\x98\"", 2, "the byte 0xF0 is not valid UTF-8"},
      {head + "\xF0\x9F\x98", 2, "the byte 0xF0 is not valid UTF-8"},
      {head + "title = \"\xC0\xAF\"", 2, "the byte 0xC0 is not valid UTF-8"},          // overlong '/'
      {head + "title = \"\xE0\x80\xAF\"", 2, "the byte 0xE0 is not valid UTF-8"},      // overlong
      {head + "title = \"\xF0\x80\x80\xAF\"", 2, "the byte 0xF0 is not valid UTF-8"},  // overlong
      {head + "title = \"\xED\xA0\x80\"", 2, "the byte 0xED is not valid UTF-8"},      // surrogate
      {head + "title = \"\xF4\x90\x80\x80\"", 2, "the byte 0xF4 is not valid UTF-8"},  // above U+10FFFF
      {head + "title = \"a\0b\""s, 2, "zero byte"},
      {"\xFF\xFE[\0m\0"s, 1, "UTF-16"},
      {head + "title = \"\"\"a \\\n  \xC2\xA7 b\"\"\"\n", 2, "a backslash cannot be followed by"},
      {head + "title = \"\"\"a \\\xC2\xA7 b\"\"\"\n", 2, "a backslash cannot be followed by"},
      {head + "title = \"\\\xC2\xA7\"\n", 2, "a backslash cannot be followed by"},
      {head + "\xCC\xAA", 2, "can stand only in quotes and comments"},
      {head + "a\xC2\xA7 = 1", 2, "can stand only in quotes and comments"},
      {head + "a = 1\xC2\xA7", 2, "can stand only in quotes and comments"},
      {head + "a = 1'\xC2\xA7'", 2, "cannot stand inside a word"},
      {head + "a = 1.'\xC2\xA7'", 2, "cannot stand inside a word"},
      {head + "a = 1e9['\xCC\xAA']", 2, "'[' cannot stand inside a word"},
      {head + "a = [1,\n2\xC2\xA0]", 3, "can stand only in quotes and comments"},
      {head + "a = 1 \x01", 2, "not valid TOML"},
      {head + "a = \"\x01\"", 2, "not valid TOML"},
  };
  for (const auto& [text, line, fragment] : cases) expect_error(text, line, fragment, text);
}

TEST_F(ModelFileErrors, ByteOrderMarkAndUnicodeInQuotesAndCommentsAreAccepted) {
  const std::string text =
      "\xEF\xBB\xBF# \xC2\xA7 \xF0\x9F\x98\x80\ntitle = \"\xC3\x9C"
      "ber \xE2\x82\xAC \xF0\x9F\x98\x80\"\n" +
      with_line(0, "");
  EXPECT_EQ(parse_model(text, "model.toml").title,
            "\xC3\x9C"
            "ber \xE2\x82\xAC \xF0\x9F\x98\x80");
}

TEST_F(ModelFileErrors, MistakesInFilesTheModelNamesAreGivenWithBothPlaces) {
  write("empty.mtx", "");
  write("header.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
  write("short.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 2 2\n");
  write("range.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n3 2 2\n");
  write("word.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 two\n2 2 2\n");
  write("oblong.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
  write("three.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n2 2 2\n3 3 2\n");
  write("unsorted.csv", "t, f\n0, 1\n2, 1\n1, 1\n");
  write("word.csv", "0, 1\n1, one\n");
  write("narrow.csv", "0\n1\n");
  write("empty.csv", "# nothing\n");
  const std::vector<Mistake> mistakes = {
      {2, "mass = \"absent.mtx\"", 2, "absent.mtx: no such file"},
      {2, "mass = \"\"", 2, "is a directory"},
      {2, "mass = \"empty.mtx\"", 2, "empty.mtx:1: the file is empty"},
      {2, "mass = \"header.mtx\"", 2, "header.mtx:1: entries of the kind 'complex'"},
      {2, "mass = \"short.mtx\"", 2, "short.mtx:4: the file ends after 2 of 3 entries"},
      {2, "mass = \"range.mtx\"", 2, "range.mtx:4: the entry (3, 2) lies outside"},
      {2, "mass = \"word.mtx\"", 2, "word.mtx:3: 'two' is not a finite number"},
      {2, "mass = \"oblong.mtx\"", 2, "is 2 x 1; it must be square"},
      {2, "mass = \"three.mtx\"", 3, "the matrix is 2 x 2, but there are 3 coordinates"},
      {2, "mass = \"a\\u0000b\"", 2, "a file name cannot hold a zero byte"},
      {4, "force = [{ table = \"unsorted.csv\" }, 0]", 4, "unsorted.csv:4: time 1 comes after 2"},
      {4, "force = [0, { table = \"word.csv\" }]", 4, "word.csv:2: 'one' in column 2 is not a finite number"},
      {4, "force = { table = \"narrow.csv\" }", 4, "narrow.csv:1: a table needs two columns"},
      {4, "force = { table = \"empty.csv\" }", 4, "empty.csv:1: the table holds no numbers"},
      {4, "force = { table = \"word.csv\", column = 3 }", 4, "column 3 is asked for, but there are 2"},
      {4, "force = { table = \"word.csv\", column = 1 }", 4, "must lie in [2"},
  };
  for (const Mistake& mistake : mistakes)
    expect_error(with_line(mistake.replaced, mistake.replacement), mistake.line, mistake.fragment, mistake.replacement);
}

TEST_F(ModelFileErrors, FilesThatCannotBeReadAreNamed) {
  const std::string absent = (folder_ / "absent.toml").string();
  EXPECT_EQ(message_of([&] { read_model(absent); }), absent + ": no such file");
  EXPECT_EQ(message_of([&] { read_model(folder_.string()); }), folder_.string() + ": is a directory, not a file");
  EXPECT_EQ(message_of([&] { read_model(""); }), "the name of the file is empty");
  const std::string below = write("file.toml", "") + "/model.toml";
  EXPECT_NE(message_of([&] { read_model(below); }).find(below), std::string::npos);

  const std::string huge = write("huge.toml", "");
  fs::resize_file(huge, (std::uintmax_t{64} << 20) + 1);
  EXPECT_EQ(message_of([&] { read_model(huge); }), huge + ": the file is larger than 64 MiB, the most that is read");

  const std::string locked = write("locked.toml", with_line(0, ""));
  fs::permissions(locked, fs::perms::none);
  if (::geteuid() != 0) {
    EXPECT_NE(message_of([&] { read_model(locked); }).find(locked + ": cannot be opened"), std::string::npos);
  } else {
    EXPECT_NO_THROW(read_model(locked));  // permissions do not bind the superuser
  }
}

TEST_F(ModelFileErrors, MistakesInOverridesNameTheOverride) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"run.stpe=1", "--set run.stpe=1: unknown key (did you mean 'step'?)"},
      {"run.step=-1", "--set run.step=-1: the value -1 must be > 0"},
      {"run.step=true", "--set run.step=true: a number or an expression of [parameters] must stand here, not true"},
      {"run.step=", "--set run.step=: the expression is empty"},
      {"run.step", "--set run.step: write KEY=VALUE"},
      {"=1", "--set =1: a part of the key is empty"},
      {"run..step=1", "a part of the key is empty"},
      {"rnu.step=1", "--set rnu.step=1: key 'rnu': unknown key (did you mean 'run'?)"},
      {"run.step.x=1", "'run.step' is the number 0.01, not a table"},
      {"parameters.k=1", "the model has no parameter 'k'"},
      {"friction.shoe.limit=1", "'friction' has no element 'shoe'"},
      {"friction.frction1.limit=1", "(did you mean 'friction1'?)"},
      {"friction.1.limit=1", "the index 1 must lie in 0 .. 0"},
      {"friction.0.limit=-2", "--set friction.0.limit=-2: key 'friction.friction1.limit': the limit -2 must be >= 0"},
      {"friction.friction1.limit=-2", "--set friction.friction1.limit=-2: the limit -2 must be >= 0"},
      {"friction.0.limit=2*", "an operand is missing"},
      {"initial.position=[0]", "--set initial.position=[0]: the list has 1 numbers"},
      {"initial.position=[0,nan]", "key 'initial.position[1]'"},
      {"run.scheme=evnt", "unknown scheme 'evnt'"},
      {"run.scheme=compliant", "the model has no [[contact]]"},
      {"run.moreau.locate_reversals=maybe", "true or false must stand here, not the text 'maybe'"},
      {"run=3", "--set run=3: a table must stand here"},
      {"equations.mass=1", "--set equations.mass=1: key 'equations': the system is already given by [matrices]"},
      {"title=\xC3(", "not valid UTF-8"},
      {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q=1", "more than 16 parts"},
  };
  for (const auto& [setting, fragment] : cases) {
    const std::vector<std::string> overrides{"run.start_time=0.5", setting};
    const std::string message = message_of([&] { parse_model(with_line(0, ""), "model.toml", overrides); });
    EXPECT_TRUE(message.starts_with("--set " + setting)) << message;
    EXPECT_NE(message.find(fragment), std::string::npos) << "expected '" << fragment << "' in\n" << message;
  }
}

TEST_F(ModelFileErrors, EventRefusesMoreLawsThanItCanWeighAgainstEachOther) {
  auto text = [](int laws) {
    return "[matrices]\nsize = " + std::to_string(laws) +
           "\nmass = { diagonal = 1 }\n[[friction]]\non = \"*\"\nlimit = 1\n[run]\nscheme = \"event\"\nstep = "
           "0.1\nend_time = 1\n";
  };
  EXPECT_EQ(message_of([&] { read_model(write("few.toml", text(1000))); }), "no error");
  const std::string message = message_of([&] { read_model(write("many.toml", text(1001))); });
  EXPECT_NE(message.find("at most 1000 friction laws"), std::string::npos) << message;
  EXPECT_NE(message.find("moreau"), std::string::npos) << message;
  const std::vector<std::string> moreau{"run.scheme=moreau"};
  EXPECT_EQ(message_of([&] { read_model(write("many.toml", text(1001)), moreau); }), "no error");
}

}  // namespace
}  // namespace stickslip::model_file_test
