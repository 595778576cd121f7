// SPDX-License-Identifier: Apache-2.0
// From the primal form to the dual one where A falls apart into small blocks (free bodies, small mechanisms):
//
//   D = Wᵀ A⁻¹ W,   b = Wᵀ A⁻¹ g - w,   v = A⁻¹ g + A⁻¹ W r
//
// The connected components of A (dense LU each, up to kLargestComponent coordinates) are found from its entries. Laws k
// and l are coupled if their directions touch a common component c, and then D_kl = Σ_c W_kcᵀ A_c⁻¹ W_lc: the cost is
// proportional to the number of such pairs. A matrix with larger components is factorised as a whole and D is filled
// column by column.
//
// Everything is kept while A_version stays the same; memory is kept in any case.
#pragma once

#include <span>
#include <vector>

#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/common/thread_pool.hpp"
#include "stickslip/solvers/body_factor.hpp"
#include "stickslip/solvers/problem.hpp"

namespace stickslip {

class Condensation {
 public:
  static constexpr int kLargestComponent = BodyBlocks::kLargestComponent;
  /// Brings D and b up to date. Throws InputError if a component of A is singular. `threads` may be null; D is the
  /// same.
  void refresh(const PrimalProblem& problem, ThreadPool* threads = nullptr);
  /// v = A⁻¹ (g + W r) for the g of the last refresh.
  void velocity(const PrimalProblem& problem, const Vector& r, Vector& v);
  const BlockSparseMatrix& D() const { return D_; }
  const Vector& b() const { return b_; }
  /// A and W of the last refresh block by block; null where A has a component that is too large.
  const BodyBlocks* bodies(const PrimalProblem& problem);
  /// size/trace(D_kk): the weights of the natural map.
  const Vector& weights() const { return weights_; }

 private:
  void find_components(const SystemMatrix& A);
  void factorize_components(const SystemMatrix& A);
  void solve_components(Vector& x) const;
  void collect_incidences(const PrimalProblem& problem, ThreadPool* threads);
  void build_blocks(const PrimalProblem& problem, ThreadPool* threads);
  void fill_rows(PartRange laws, std::vector<std::size_t>& position);
  void build_whole(const PrimalProblem& problem);
  void set_weights();

  BlockSparseMatrix D_;
  Vector b_, free_, weights_;
  unsigned long version_ = kNoVersion;
  Index coordinates_ = -1, components_of_r_ = -1;
  bool whole_ = false;  // A has a large component

  // Components of A: their coordinates, and factors.
  std::vector<int> root_, component_, local_, component_starts_, members_, pivots_;
  std::vector<std::size_t> factor_starts_;
  std::vector<double> factors_;
  mutable std::vector<double> gathered_;
  PinnedFactor factor_;
  std::vector<char> none_pinned_;

  // Incidences (law, component): W_kc (size x n_c) and A_c⁻¹ W_kc (n_c x size), both row by law component.
  using Incidence = BodyBlocks::Incidence;
  std::vector<Incidence> incidences_;
  std::vector<std::size_t> law_starts_, by_component_starts_;
  std::vector<int> by_component_;  // incidences ordered by component
  std::vector<int> sizes_;
  std::vector<double> directions_, responses_;
  std::vector<std::size_t> row_starts_, position_;
  std::vector<std::vector<std::size_t>> positions_;  // of the columns of a row among its entries, for each part
  std::vector<int> columns_, mark_;
  std::vector<double> matrices_;  // the components of A themselves
  BodyBlocks bodies_;
};

}  // namespace stickslip
