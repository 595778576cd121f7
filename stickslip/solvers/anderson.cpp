// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/anderson.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {
constexpr int kPiece = 1536;  // components
}

void Anderson::resize(int size) {
  if (size != size_) {
    size_ = size;
    for (auto* list : {&df_, &dg_})
      for (auto& column : *list) column.resize(size);
    for (auto* x : {&f_, &last_f_, &last_g_}) x->resize(size);
    weighted_.resize(size);
  }
  clear();
}

Anderson::Products Anderson::update(const double* x, const double* g, const double* weights, Index first, Index count) {
  const auto piece = [&](std::vector<double>& column) { return Eigen::Map<Vector>(column.data() + first, count); };
  const Eigen::Map<const Vector> weight(weights + first, count);
  Products products;
  for (Index k = first; k < first + count; ++k) {
    f_[k] = g[k] - x[k];
    products.norm += weights[k] * f_[k] * f_[k];
  }
  auto weighted = weighted_.segment(first, count);
  if (has_last_) {
    std::vector<double>&df = df_[newest_], &dg = dg_[newest_];
    for (Index k = first; k < first + count; ++k) {
      df[k] = f_[k] - last_f_[k];
      dg[k] = g[k] - last_g_[k];
    }
    weighted = weight.cwiseProduct(piece(df));
    for (int c = 0; c < columns_; ++c) products.newest[c] = weighted.dot(piece(df_[c]));
  }
  weighted = weight.cwiseProduct(piece(f_));
  for (int c = 0; c < columns_; ++c) products.f[c] = weighted.dot(piece(df_[c]));
  std::copy_n(g + first, count, last_g_.begin() + first);
  std::copy_n(f_.begin() + first, count, last_f_.begin() + first);
  return products;
}

/// γ from ΔFᵀf. False: a column is too nearly a combination of others.
bool Anderson::solve(Coefficients& gamma) const {
  constexpr double kRidge = 1e-12;  // of the largest column: bounds the coefficients where columns are nearly dependent
  constexpr double kDependent = 1e-14;  // of a column: what is left of it beside the others is round-off
  std::array<Coefficients, kMemory> L;
  double trace = 0;
  for (int c = 0; c < columns_; ++c) trace = std::max(trace, gram_[c][c]);
  for (int i = 0; i < columns_; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = gram_[i][j] + (i == j ? kRidge * trace : 0.0);
      for (int k = 0; k < j; ++k) sum -= L[i][k] * L[j][k];
      if (i == j) {
        if (!(sum > kDependent * gram_[i][i])) return false;
        L[i][i] = std::sqrt(sum);
      } else {
        L[i][j] = sum / L[j][j];
      }
    }
    for (int k = 0; k < i; ++k) gamma[i] -= L[i][k] * gamma[k];
    gamma[i] /= L[i][i];
  }
  for (int i = columns_ - 1; i >= 0; --i) {
    for (int k = i + 1; k < columns_; ++k) gamma[i] -= L[k][i] * gamma[k];
    gamma[i] /= L[i][i];
  }
  return true;
}

double Anderson::step(const double* x, const double* g, const double* weights, double* next, ThreadPool* threads) {
  if (has_last_) newest_ = columns_ < kMemory ? columns_++ : (newest_ + 1) % kMemory;
  const int pieces = (size_ + kPiece - 1) / kPiece;
  const auto count = [&](int k) { return std::min<Index>(kPiece, size_ - Index{k} * kPiece); };
  products_.resize(pieces);
  run_parts(threads, pieces, [&](int k) { products_[k] = update(x, g, weights, Index{k} * kPiece, count(k)); });
  Products sum;
  for (const Products& piece : products_) {
    sum.norm += piece.norm;
    for (int c = 0; c < columns_; ++c) sum.newest[c] += piece.newest[c];
    for (int c = 0; c < columns_; ++c) sum.f[c] += piece.f[c];
  }
  if (has_last_)
    for (int c = 0; c < columns_; ++c) gram_[newest_][c] = gram_[c][newest_] = sum.newest[c];
  has_last_ = true;
  const bool accelerates = columns_ > 0 && solve(sum.f);
  run_parts(threads, pieces, [&](int k) {
    const Index first = Index{k} * kPiece;
    if (next != g) std::copy_n(g + first, count(k), next + first);
    if (!accelerates) return;
    Eigen::Map<Vector> result(next + first, count(k));
    for (int c = 0; c < columns_; ++c) result -= sum.f[c] * Eigen::Map<const Vector>(dg_[c].data() + first, count(k));
  });
  return sum.norm;
}

}  // namespace stickslip
