// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/shifted_factor.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace stickslip {
namespace {

// A full matrix of few rows costs less than the bookkeeping of a band; a wide band, which runs entry by entry, costs
// more than the blocks of a full one.
constexpr Index kFewRows = 24, kNarrow = 5;  // band if half_width < n/kNarrow
constexpr Index kManyRows = 100;             // from there on sparse factors cost less than full ones,
constexpr Index kWide = 24;                  // and than bands that are wider than that

/// Neighbours of every component, from sorted positions: those of i are [start[i], start[i + 1]).
struct Graph {
  explicit Graph(Index n, const std::vector<std::pair<int, int>>& positions) : start(static_cast<std::size_t>(n) + 1) {
    for (const auto& [i, j] : positions) ++start[static_cast<std::size_t>(i) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    neighbour.reserve(positions.size());
    for (const auto& position : positions) neighbour.push_back(position.second);
  }
  int degree(int i) const { return start[static_cast<std::size_t>(i) + 1] - start[static_cast<std::size_t>(i)]; }
  std::vector<int> start, neighbour;
};

/// Breadth-first from `root` over components not yet numbered, neighbours of small degree first; the numbers continue
/// at order.size(). Returns the last one reached.
int number_from(const Graph& graph, int root, std::vector<char>& seen, std::vector<int>& order) {
  std::size_t next = order.size();
  order.push_back(root);
  seen[static_cast<std::size_t>(root)] = 1;
  for (; next < order.size(); ++next) {
    const auto i = static_cast<std::size_t>(order[next]);
    const std::size_t first = order.size();
    for (int at = graph.start[i]; at < graph.start[i + 1]; ++at) {
      const int j = graph.neighbour[static_cast<std::size_t>(at)];
      if (std::exchange(seen[static_cast<std::size_t>(j)], 1)) continue;
      order.push_back(j);
    }
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(),
                     [&](int a, int b) { return graph.degree(a) < graph.degree(b); });
  }
  return order.back();
}

/// Reverse Cuthill-McKee: every connected part from one of its ends.
std::vector<int> narrow_order(const Graph& graph, Index n) {
  std::vector<int> order, trial;
  std::vector<char> seen(static_cast<std::size_t>(n), 0), tried;
  for (int i = 0; i < n; ++i) {
    if (seen[static_cast<std::size_t>(i)]) continue;
    int root = i;
    for (int round = 0; round < 2; ++round) {  // twice to the far end and back
      tried = seen;
      trial.clear();
      root = number_from(graph, root, tried, trial);
    }
    number_from(graph, root, seen, order);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

void ShiftedFactor::resize(Index n) {
  n_ = n;
  storage_ = Storage::full;
  planned_ = false;
  positions_.clear();
  for (Vector* x : {&real_work_, &real_ordered_}) x->setZero(n);
  for (Eigen::VectorXcd* x : {&complex_work_, &complex_ordered_}) x->setZero(n);
}

bool ShiftedFactor::fits(const MatrixEntries& matrix) const {
  for (const auto& [i, j, value] : matrix.entries)
    if (std::abs(place_[static_cast<std::size_t>(i)] - place_[static_cast<std::size_t>(j)]) > real_band_.half_width())
      return false;
  return true;
}

void ShiftedFactor::plan(const SlopePencil& pencil) {
  planned_ = true;
  storage_ = Storage::full;
  if (n_ <= kFewRows) return;
  for (const MatrixEntries* matrix : {&pencil.slope, &pencil.mass})
    for (const auto& [i, j, value] : matrix->entries)
      if (i != j) {
        positions_.emplace_back(i, j);
        positions_.emplace_back(j, i);
      }
  std::sort(positions_.begin(), positions_.end());
  positions_.erase(std::unique(positions_.begin(), positions_.end()), positions_.end());
  const std::vector<int> order = narrow_order(Graph(n_, positions_), n_);
  place_.resize(static_cast<std::size_t>(n_));
  for (Index k = 0; k < n_; ++k) place_[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] = k;
  Index half_width = 0;
  for (const auto& [i, j] : positions_)
    half_width = std::max(half_width, place_[static_cast<std::size_t>(i)] - place_[static_cast<std::size_t>(j)]);
  const bool many = n_ >= kManyRows;
  if (kNarrow * half_width >= n_ || (many && half_width > kWide)) {
    if (many) storage_ = Storage::sparse;
    return;
  }
  storage_ = Storage::band;
  real_band_.resize(n_, half_width);
  complex_band_.resize(n_, half_width);
}

template <class Scalar>
bool SparseFactor<Scalar>::factorise(Index n, const std::vector<Eigen::Triplet<Scalar>>& entries) {
  matrix_.resize(n, n);
  matrix_.setFromTriplets(entries.begin(), entries.end());
  const std::span<const int> outer(matrix_.outerIndexPtr(), static_cast<std::size_t>(n) + 1);
  const std::span<const int> inner(matrix_.innerIndexPtr(), static_cast<std::size_t>(matrix_.nonZeros()));
  if (!std::ranges::equal(outer, outer_) || !std::ranges::equal(inner, inner_)) {
    lu_.analyzePattern(matrix_);
    outer_.assign(outer.begin(), outer.end());
    inner_.assign(inner.begin(), inner.end());
  }
  lu_.factorize(matrix_);
  return lu_.info() == Eigen::Success;
}

/// f(i, j, value) of σ M - G; the same position may come more than once.
template <class Scalar, class F>
void ShiftedFactor::for_each_entry(const SlopePencil& pencil, Scalar shift, F&& f) const {
  for (const auto& [i, j, value] : pencil.slope.entries) f(i, j, Scalar(-value));
  for (const auto& [i, j, value] : pencil.mass.entries) f(i, j, shift * value);
}

template <class Scalar>
bool ShiftedFactor::factorise_sparse(const SlopePencil& pencil, Scalar shift, SparseFactor<Scalar>& factor) const {
  std::vector<Eigen::Triplet<Scalar>> entries;
  entries.reserve(pencil.slope.entries.size() + pencil.mass.entries.size());
  for_each_entry(pencil, shift, [&](Index i, Index j, Scalar value) {
    entries.emplace_back(static_cast<int>(i), static_cast<int>(j), value);
  });
  return factor.factorise(n_, entries);
}

bool ShiftedFactor::factorise_full() {
  real_lu_.compute(real_matrix_);
  complex_lu_.compute(complex_matrix_);
  for (Index i = 0; i < n_; ++i)
    if (real_lu_.matrixLU()(i, i) == 0.0 || complex_lu_.matrixLU()(i, i) == 0.0) return false;
  return true;
}

bool ShiftedFactor::factorise(const DenseMatrix& J, double real, std::complex<double> complex) {
  mass_ = nullptr;
  storage_ = Storage::full;
  real_matrix_ = -J;
  real_matrix_.diagonal().array() += real;
  complex_matrix_ = -J.cast<std::complex<double>>();
  complex_matrix_.diagonal().array() += complex;
  return factorise_full();
}

bool ShiftedFactor::factorise(const SlopePencil& pencil, double real, std::complex<double> complex) {
  mass_ = &pencil.mass;
  if (!planned_ || (storage_ == Storage::band && !(fits(pencil.slope) && fits(pencil.mass)))) plan(pencil);
  if (storage_ == Storage::sparse)
    return factorise_sparse(pencil, real, real_sparse_) && factorise_sparse(pencil, complex, complex_sparse_);
  if (storage_ == Storage::band) {
    const auto place = [this](Index i) { return place_[static_cast<std::size_t>(i)]; };
    real_band_.set_zero();
    complex_band_.set_zero();
    for_each_entry(pencil, real, [&](Index i, Index j, double value) { real_band_.at(place(i), place(j)) += value; });
    for_each_entry(pencil, complex, [&](Index i, Index j, std::complex<double> value) {
      complex_band_.at(place(i), place(j)) += value;
    });
    return real_band_.factorise() && complex_band_.factorise();
  }
  real_matrix_.setZero(n_, n_);
  complex_matrix_.setZero(n_, n_);
  for_each_entry(pencil, real, [&](Index i, Index j, double value) { real_matrix_(i, j) += value; });
  for_each_entry(pencil, complex,
                 [&](Index i, Index j, std::complex<double> value) { complex_matrix_(i, j) += value; });
  return factorise_full();
}

template <class Band, class Sparse, class Full, class X>
void ShiftedFactor::solve_with(const Band& band, const Sparse& sparse, const Full& full, const X& r, X& work,
                               X& ordered, X& x) {
  const X* right = &r;
  if (mass_) {
    mass_->product(r, work);
    right = &work;
  }
  if (storage_ == Storage::full) {
    x = full.solve(*right);
    return;
  }
  if (storage_ == Storage::sparse) {
    sparse.solve(*right, x);
    return;
  }
  for (Index i = 0; i < r.size(); ++i) ordered[place_[static_cast<std::size_t>(i)]] = (*right)[i];
  band.solve(ordered);
  for (Index i = 0; i < r.size(); ++i) x[i] = ordered[place_[static_cast<std::size_t>(i)]];
}

void ShiftedFactor::solve(const Vector& r, Vector& x) {
  solve_with(real_band_, real_sparse_, real_lu_, r, real_work_, real_ordered_, x);
}

void ShiftedFactor::solve(const Eigen::VectorXcd& r, Eigen::VectorXcd& x) {
  solve_with(complex_band_, complex_sparse_, complex_lu_, r, complex_work_, complex_ordered_, x);
}

}  // namespace stickslip
