// SPDX-License-Identifier: Apache-2.0
// Files of friction-contact problems in the format of FCLIB (HDF5), in and out. Layout, as libfclib 3.1 writes it:
//
//   /fclib_local   spacedim, W, [V, R], vectors/{q, mu, [s]}, [info/{title, description, math_info}]
//   /fclib_global  spacedim, M, H, [G], vectors/{f, w, mu, [b]}, [info]
//   a matrix       m, n (rows, columns), nzmax, nz, p, i, x
//                    nz = -2   compressed rows:     p (m + 1) starts, i columns, x values
//                    nz = -1   compressed columns:  p (n + 1) starts, i rows, x values
//                    nz >= 0   triplets:            i rows, p columns, x values, the first nz of each
//   /solution      v (global), u, r, l (with bilateral constraints);   /guesses  number_of_guesses, 1/{v, u, r, l}, ...
//
// Departures: the comment in libfclib's header exchanges i and p of triplets; the files of the collection do not, and
// so does this reader not. Repeated entries of a matrix are added. nzmax is ignored: the arrays know their length.
//
// A file is input like any other: nothing is allocated before the sizes of all arrays have been compared with each
// other and with what the file really stores, and every mistake is an InputError naming file, dataset, value and
// remedy.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "stickslip/io/fclib_problem.hpp"

namespace stickslip {

enum class FclibStorage { triplets, compressed_columns, compressed_rows };

/// The problem of the file, validated. With both a local and a global one, the local one.
FclibProblem read_fclib(const std::filesystem::path& path);
/// The stored solution; nothing if there is none. Sizes are checked against `problem`.
std::optional<FclibSolution> read_fclib_solution(const std::filesystem::path& path, const FclibProblem& problem);
std::vector<FclibSolution> read_fclib_guesses(const std::filesystem::path& path, const FclibProblem& problem);

/// A new file with the problem; an existing one is replaced. It appears under its name only when it is complete.
void write_fclib(const std::filesystem::path& path, const FclibProblem& problem,
                 FclibStorage storage = FclibStorage::compressed_rows);
/// A copy of `source` with the solution in place of the one it may have had. `target` may be `source`: the file is
/// replaced in one step, so that no failure on the way can damage it.
void write_fclib_solution(const std::filesystem::path& source, const std::filesystem::path& target,
                          const FclibSolution& solution);
/// The same for guesses.
void write_fclib_guesses(const std::filesystem::path& source, const std::filesystem::path& target,
                         const std::vector<FclibSolution>& guesses);

}  // namespace stickslip
