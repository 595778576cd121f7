// SPDX-License-Identifier: Apache-2.0
// Everything that reads what others wrote, fed with damaged input: success or InputError, nothing else.
//
//   model        a model file: reading, building the system, what `check` does, the first steps of a run
//   expression   one expression: value, derivatives, series, jumps
//   table        a table of numbers (CSV)
//   matrix       a Matrix Market file
//   fclib        a friction-contact problem (HDF5)
//   robot        a robot file (URDF, MJCF): what is done with a model
//   mesh         a mesh of a robot (STL in text and binary, OBJ)
#pragma once

#include <array>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>

namespace stickslip::fuzz {

inline constexpr std::array<std::string_view, 7> kTargets = {"model", "expression", "table", "matrix",
                                                             "fclib", "robot",      "mesh"};

/// Makes inputs of a target: valid ones, damaged in their bytes, in their numbers (zeros, huge and tiny numbers), or in
/// both. The same seed gives the same inputs.
class Generator {
 public:
  /// `folder`: where files that models name, and samples, are put; it must exist.
  Generator(std::uint64_t seed, std::filesystem::path folder);
  std::string next(std::string_view target);

 private:
  std::mt19937_64 random_;
  std::string fclib_sample_;
};

enum class Outcome { accepted, refused };

/// Any exception but InputError is passed on, and so is a message of the reader that does not name its file.
Outcome feed(std::string_view target, const std::string& input, const std::filesystem::path& folder);

/// The undamaged inputs of a target.
std::vector<std::string> seeds(std::string_view target);

}  // namespace stickslip::fuzz
