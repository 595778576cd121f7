// SPDX-License-Identifier: Apache-2.0
// Damaged FCLIB files: each ends in a problem that is valid or in an InputError that names the file. Never a crash, a
// hang, or an allocation that the size of the file does not justify.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/io/fclib.hpp"
#include "tests/unit/fclib_samples.hpp"

namespace stickslip::fclib_robustness_test {
namespace {

using namespace samples;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

enum Outcome { kRead, kRefused, kNameless };

Outcome outcome(const std::filesystem::path& path) {
  try {
    const FclibProblem problem = read_fclib(path);
    std::visit([](const auto& p) { validate(p); }, problem);
    read_fclib_solution(path, problem);
    read_fclib_guesses(path, problem);
    return kRead;
  } catch (const InputError& error) {
    return std::string(error.what()).starts_with(path.string()) ? kRefused : kNameless;
  }
}

/// The sample of the tests below: everything a file can hold.
std::string sample(const std::filesystem::path& path) {
  std::mt19937 engine(1);
  const GlobalContactProblem problem = random_global(engine, 3, 2, 1);
  write_fclib(path, problem);
  const FclibSolution solution = expand(problem, random_vector(engine, 7));
  write_fclib_solution(path, path, solution);
  write_fclib_guesses(path, path, {solution});
  return bytes_of(path);
}

TEST(DamagedFclibFile, TruncatedAnywhereIsRefused) {
  const ScratchFolder scratch;
  const std::filesystem::path path = scratch.path / "p.hdf5";
  const std::string whole = sample(path);
  ASSERT_EQ(outcome(path), kRead);
  for (std::size_t length = 0; length < whole.size(); length += 61) {
    write_bytes(path, whole.substr(0, length));
    EXPECT_EQ(outcome(path), kRefused) << length << " of " << whole.size() << " bytes";
  }
}

TEST(DamagedFclibFile, FlippedBytesGiveAProblemOrAMessage) {
  const ScratchFolder scratch;
  const std::filesystem::path path = scratch.path / "p.hdf5";
  const std::string whole = sample(path);
  int count[3] = {0, 0, 0};
  std::mt19937 engine(2);
  for (int trial = 0; trial < 1500; ++trial) {
    std::string damaged = whole;
    const int flips = 1 + trial % 3;
    for (int k = 0; k < flips; ++k) damaged[engine() % damaged.size()] = static_cast<char>(engine());
    write_bytes(path, damaged);
    ++count[outcome(path)];
  }
  EXPECT_EQ(count[kNameless], 0);
  EXPECT_GT(count[kRefused], 100);  // otherwise the flips hit nothing but padding
}

TEST(DamagedFclibFile, WhatIsNoFileIsRefusedAtOnce) {
  const ScratchFolder scratch;
  EXPECT_EQ(outcome(scratch.path / "absent.hdf5"), kRefused);
  EXPECT_EQ(outcome(scratch.path), kRefused);
  write_bytes(scratch.path / "text.hdf5", "this is not HDF5\n");
  EXPECT_EQ(outcome(scratch.path / "text.hdf5"), kRefused);
  write_bytes(scratch.path / "empty.hdf5", "");
  EXPECT_EQ(outcome(scratch.path / "empty.hdf5"), kRefused);
  EXPECT_THROW(read_fclib("/dev/zero"), InputError);
}

}  // namespace
}  // namespace stickslip::fclib_robustness_test
