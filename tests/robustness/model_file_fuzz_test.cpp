// SPDX-License-Identifier: Apache-2.0
// A model file that was damaged at random is read or refused with a message; nothing else can happen.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// Bytes that mean something to the format, and bytes that mean nothing anywhere.
std::string random_piece(std::mt19937& random) {
  static const std::vector<std::string> pieces = {"[",
                                                  "]",
                                                  "[[",
                                                  "]]",
                                                  "{",
                                                  "}",
                                                  "\"",
                                                  "'",
                                                  "\"\"\"",
                                                  "'''",
                                                  "\\",
                                                  "\n",
                                                  "\r",
                                                  "#",
                                                  "=",
                                                  ".",
                                                  ",",
                                                  "-",
                                                  "+",
                                                  "_",
                                                  "0x",
                                                  "0b1",
                                                  "1e9",
                                                  "inf",
                                                  "nan",
                                                  "true",
                                                  "1979-05-27",
                                                  "07:32:00",
                                                  "\\u00e9",
                                                  "\\U0010FFFF",
                                                  "\xC2\xA7",
                                                  "\xC2\xA0",
                                                  "\xE2\x80\x83",
                                                  "\xE2\x80\xA8",
                                                  "\xEF\xBB\xBF",
                                                  "\xEF\xBB\xB5",
                                                  "\xCC\xAA",
                                                  "\xED\xA0\x80",
                                                  "\xF0\x9F\x98\x80",
                                                  std::string(1, '\0'),
                                                  "\x7F",
                                                  "\x0B",
                                                  "x1",
                                                  "i",
                                                  "pi",
                                                  "sin(",
                                                  ")",
                                                  "*",
                                                  "\"x1\"",
                                                  "[run]\n",
                                                  "[[friction]]\n",
                                                  "a.b.c = 1\n",
                                                  "\\\n",
                                                  "\\ \n \xC2\xA7"};
  return pieces[random() % pieces.size()];
}

std::string mutated(std::string text, std::mt19937& random) {
  const int changes = 1 + static_cast<int>(random() % 3);
  for (int k = 0; k < changes && !text.empty(); ++k) {
    const std::size_t at = random() % text.size(), length = 1 + random() % 8;
    switch (random() % 6) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << (random() % 8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, random_piece(random));
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        text.insert(at, text.substr(random() % text.size(), length));
        break;
      default:
        text[at] = static_cast<char>(random());
        break;
    }
  }
  return text;
}

TEST(ModelFileFuzz, MutatedModelsAreReadOrRefusedButNeverAnythingElse) {
  const fs::path folder = fs::temp_directory_path() / ("stickslip_model_fuzz_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "m.mtx") << "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 1\n2 2 2\n";
  std::ofstream(folder / "load.csv") << "t, f\n0, 1\n1, 2\n";
  const std::vector<std::string> seeds = {
      "title = \"\xC3\x9C"
      "ber\" # \xE2\x82\xAC\n[parameters]\nk = 2.0\nc = \"k/4\"\n[matrices]\ncoordinates = [\"a\", 'b']\nmass = [[2, "
      "1], [1, 2]]\n"
      "stiffness = [[\"k\", -1], [-1, \"k\"]]\nforce = [\"if(t < 1, sin(2*pi*t), v_a)\", { table = \"load.csv\", "
      "column = 2 }]\n"
      "[[friction]]\nname = \"shoe\"\non = \"a\"\nlimit = \"1 + a^2\"\nstatic_limit = 1.2\nweakening = { shape = "
      "\"tanh\", beta = 0.3, epsilon = 0.1 }\n"
      "[[friction]]\ndirection = [1, -1]\nlimit = 0.5\nsurface_velocity = \"sin(t)\"\n[initial]\nposition = [0, "
      "0.1]\nvelocity = \"c*i\"\n"
      "[run]\nscheme = \"moreau\"\nsteps = 100\nend_time = 4\n[run.moreau]\nlocate_reversals = true\n",
      "title = \"\"\"two \\\n   lines\n\"\"\"\n[matrices]\nmass = \"m.mtx\"\ndamping = { diagonal = \"0.1*(i+1)\" "
      "}\nstiffness = { tridiagonal = [-1, 2, -1] }\n"
      "force = \"cos(t + i)\"\n[[friction]]\non = \"*\"\nlimit = \"1 + i\"\n[[friction]]\non = [\"x1\", \"x2\"]\nlimit "
      "= 1\nset = \"polygon\"\nfacets = 8\n"
      "[run]\nstep = 0.01\nend_time = 1_0.5e-1\noutput_times = [\n  0.5, # half\n  1,\n]\n"};
  const std::string path = (folder / "model.toml").string();
  for (const std::string& seed : seeds) ASSERT_NO_THROW(parse_model(seed, path));

  std::mt19937 random(20240229);
  int read = 0, refused = 0;
  for (int k = 0; k < 20000; ++k) {
    const std::string text = mutated(seeds[static_cast<std::size_t>(k) % seeds.size()], random);
    try {
      parse_model(text, path);
      ++read;
    } catch (const InputError& error) {
      ++refused;
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with(path + ":")) << message;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << text;
    }
  }
  fs::remove_all(folder);
  // Both outcomes must be common, or the mutations test nothing.
  EXPECT_GT(read, 200);
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace stickslip
