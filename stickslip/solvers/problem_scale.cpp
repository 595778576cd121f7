// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/problem_scale.hpp"

#include <numeric>

namespace stickslip {

namespace {

/// Exponents further apart than this do not share a unit: products of four numbers would leave the range of doubles.
constexpr int kFarApart = 200;

double largest_diagonal(const BlockSparseMatrix& D, int law) {
  double largest = 0;
  const int size = D.block_size(law);
  for (int c = 0; c < size; ++c) largest = std::max(largest, D.diagonal(law)[c * (size + 1)]);
  return largest;
}

bool is_zero(const BlockSparseMatrix& D, const BlockSparseMatrix::Entry& entry, int rows) {
  const double* a = D.values(entry);
  return std::all_of(a, a + rows * D.block_size(entry.column), [](double value) { return value == 0; });
}

int root_of(std::vector<int>& parent, int law) {
  while (parent[law] != law) law = parent[law] = parent[parent[law]];
  return law;
}

/// For each law one law that stands for all that D couples with it.
std::vector<int> coupled_parts(const BlockSparseMatrix& D) {
  std::vector<int> parent(static_cast<std::size_t>(D.blocks()));
  std::iota(parent.begin(), parent.end(), 0);
  for (int k = 0; k < D.blocks(); ++k)
    for (const auto& entry : D.row(k))
      if (!is_zero(D, entry, D.block_size(k))) parent[root_of(parent, k)] = root_of(parent, entry.column);
  for (int k = 0; k < D.blocks(); ++k) parent[k] = root_of(parent, k);
  return parent;
}

/// Of each law that of its part; empty if one serves all.
std::vector<int> own_mobilities(const BlockSparseMatrix& D, int mobility) {
  const std::vector<int> part = coupled_parts(D);
  std::vector<double> largest(part.size(), 0.0);
  for (int k = 0; k < D.blocks(); ++k) largest[part[k]] = std::max(largest[part[k]], largest_diagonal(D, k));
  std::vector<int> own(part.size(), mobility);
  bool apart = false;
  for (std::size_t k = 0; k < part.size(); ++k) {
    const double size = largest[static_cast<std::size_t>(part[k])];
    if (!(size > 0)) continue;
    own[k] = ProblemScale::exponent_of(size);
    apart |= mobility - own[k] > kFarApart;
  }
  return apart ? own : std::vector<int>();
}

}  // namespace

ProblemScale natural_scale(const BlockSparseMatrix& D, const Vector& b) {
  double diagonal = 0, smallest = HUGE_VAL, any = 0;
  for (int k = 0; k < D.blocks(); ++k) {
    const double own = largest_diagonal(D, k);
    diagonal = std::max(diagonal, own);
    if (own > 0) smallest = std::min(smallest, own);
  }
  if (!(diagonal > 0))
    for (const double value : D.all_values()) any = std::max(any, std::abs(value));
  ProblemScale scale{ProblemScale::exponent_of(b.size() > 0 ? b.lpNorm<Eigen::Infinity>() : 0.0),
                     ProblemScale::exponent_of(diagonal > 0 ? diagonal : any)};
  if (diagonal > 0 && scale.mobility - ProblemScale::exponent_of(smallest) > kFarApart)
    scale.own = own_mobilities(D, scale.mobility);
  return scale;
}

}  // namespace stickslip
