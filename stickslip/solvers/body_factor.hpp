// SPDX-License-Identifier: Apache-2.0
// (I + T D) z = g with T block diagonal (one block per law), over contacts or, where D = Wᵀ A⁻¹ W is known as such,
// over bodies:
//
//   (A + W T Wᵀ) y = W g,      z = g - T Wᵀ y
//
// In a heap a body has several contacts and each contact three components, so that the second form has fewer unknowns
// and, bodies being coupled to fewer others than contacts are, sparser factors. The one with fewer unknowns is taken.
//
// Coordinates are scaled by powers of two so that the diagonal of A has entries of one size: rows of metres and radians
// are then exchanged alike in every system of units.
//
// A is made of small blocks (condensation.hpp). Blocks that mostly the same laws touch, such as the coordinates of one
// body, form one node of the factorisation (block_lu.hpp).
#pragma once

#include <span>
#include <vector>

#include "stickslip/solvers/block_lu.hpp"
#include "stickslip/solvers/contact_system.hpp"

namespace stickslip {

/// W law by law and A block by block, in given units; spans into the memory of a Condensation.
struct BodyBlocks {
  static constexpr int kLargestComponent = 64;  ///< coordinates of a block of A
  struct Incidence {
    int law, component;
    std::size_t offset;  ///< of its directions
  };
  std::span<const int> component_starts;    ///< coordinates of the components of A
  std::span<const std::size_t> law_starts;  ///< incidences of each law
  std::span<const Incidence> incidences;
  std::span<const double> directions;  ///< of each incidence: components of the law x coordinates
  std::span<const std::size_t> matrix_starts;
  std::span<const double> matrices;  ///< of each component: its part of A, column-major
};

/// Coordinates that a law touches.
int freedoms_of(const BodyBlocks& bodies);

template <int N>
class BodyFactor {
 public:
  /// bodies may be null. The pattern is analysed again only if it has changed.
  void load(const ContactSystem<N>& system, const BodyBlocks* bodies);
  bool over_bodies() const { return bodies_ != nullptr; }
  /// T: N x N row-major per law, in the units of the system.
  bool factorize(const double* T);
  /// Of det(I + T D), where det A > 0.
  int sign() const { return lu_.sign(); }
  /// g → z
  void solve(double* g);

 private:
  void group(const BodyBlocks& bodies);
  void load_bodies(const BodyBlocks& bodies);
  void scale(const BodyBlocks& bodies);
  void fill_bodies(const double* T);

  const ContactSystem<N>* system_ = nullptr;
  const BodyBlocks* bodies_ = nullptr;
  double unit_ = 1;  // mobility of the system's units: D = unit D_given
  BlockLu lu_;
  std::vector<std::size_t> rows_;
  std::vector<int> columns_, sizes_, starts_;
  std::vector<char> active_;
  std::vector<double> T_, y_, work_;
  // Bodies: node and place in it of each component, blocks by entry of the pattern.
  std::vector<int> node_, place_, entry_;  // entry_: of each pair of incidences of a law
  std::vector<std::size_t> pair_starts_, block_starts_, own_entry_;
  std::vector<double> blocks_, directions_, matrices_;  // the last two scaled
};

}  // namespace stickslip
