// SPDX-License-Identifier: Apache-2.0
// Damaged input of every kind is taken or refused with a message; nothing else can happen. tools/fuzz does the same for
// as long as one likes.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/fuzz/targets.hpp"

namespace stickslip::fuzz_test {
namespace {

namespace fs = std::filesystem;

struct Scratch {
  fs::path path = fs::temp_directory_path() / ("stickslip_fuzz_" + std::to_string(::getpid()));
  Scratch() { fs::create_directories(path); }
  ~Scratch() { fs::remove_all(path); }
};

/// Both outcomes must be common, or the damage tests nothing.
void expect_success_or_refusal(std::string_view target, int cases, int least_accepted, int least_refused) {
  const Scratch scratch;
  fuzz::Generator generator(20240229, scratch.path);
  for (const std::string& seed : fuzz::seeds(target))
    EXPECT_EQ(fuzz::feed(target, seed, scratch.path), fuzz::Outcome::accepted) << seed;
  int accepted = 0, refused = 0;
  for (int k = 0; k < cases; ++k) {
    const std::string input = generator.next(target);
    try {
      (fuzz::feed(target, input, scratch.path) == fuzz::Outcome::accepted ? accepted : refused)++;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << input;
    }
  }
  EXPECT_GT(accepted, least_accepted);
  EXPECT_GT(refused, least_refused);
}

TEST(Fuzz, ModelsAreRunOrRefused) { expect_success_or_refusal("model", 1000, 100, 100); }
TEST(Fuzz, ExpressionsAreEvaluatedOrRefused) { expect_success_or_refusal("expression", 5000, 1000, 500); }
TEST(Fuzz, TablesAreReadOrRefused) { expect_success_or_refusal("table", 20000, 2000, 2000); }
TEST(Fuzz, MatricesAreReadOrRefused) { expect_success_or_refusal("matrix", 20000, 1000, 2000); }
TEST(Fuzz, RobotsAreRunOrRefused) { expect_success_or_refusal("robot", 500, 20, 50); }
TEST(Fuzz, MeshesAreReadOrRefused) { expect_success_or_refusal("mesh", 2000, 50, 50); }
TEST(Fuzz, ContactProblemsAreReadOrRefused) { expect_success_or_refusal("fclib", 500, 50, 20); }

}  // namespace
}  // namespace stickslip::fuzz_test
