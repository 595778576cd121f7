// SPDX-License-Identifier: Apache-2.0
// A step with one law on a few coordinates (a bouncing ball, a block on a table), without any general machinery:
//
//   A v = g + W r,   u = Wᵀ v - w:      D = Wᵀ A⁻¹ W and A⁻¹ W are kept while A_version stays the same, then each step
//   is one solution with the factors of A and one local problem (one_law.hpp), exact.
#pragma once

#include <array>

#include "stickslip/solvers/one_contact.hpp"
#include "stickslip/solvers/problem.hpp"

namespace stickslip {

class SingleLaw {
 public:
  static constexpr int kCoordinates = 12;
  static bool applies(const PrimalProblem& problem) {
    return problem.sets.size() == 1 && problem.A->size() <= kCoordinates;
  }
  /// False if the law has no solution by itself or A is not positive definite: the general path says what is wrong.
  bool solve(const PrimalProblem& problem, InclusionSolution& solution);

 private:
  bool load(const PrimalProblem& problem);

  unsigned long version_ = kNoVersion;
  int n_ = 0, size_ = 0;
  Set set_{};
  std::array<double, kCoordinates * kCoordinates> lu_{};  // row-major, no pivoting: the symmetric part is definite
  std::array<double, 3 * kCoordinates> direction_{}, response_{};  // Wᵀ and (A⁻¹ W)ᵀ, row by component of r
  std::array<double, 9> D_{};
  ContactBlock contact_{};
  double slip_ = 0;
};

}  // namespace stickslip
