// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/shifted_factor.hpp"

#include <algorithm>
#include <numeric>

namespace stickslip {
namespace {

// A full matrix of few rows costs less than the bookkeeping of a band; a wide band, which runs entry by entry, costs
// more than the blocks of a full one.
constexpr Index kFewRows = 24, kNarrow = 5;  // band if half_width < n/kNarrow

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
  banded_ = planned_ = false;
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
  banded_ = false;
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
  banded_ = kNarrow * half_width < n_;
  if (!banded_) return;
  real_band_.resize(n_, half_width);
  complex_band_.resize(n_, half_width);
}

template <class Matrix, class Scalar>
void ShiftedFactor::assemble(const SlopePencil& pencil, Scalar shift, Matrix& to) const {
  auto entry = [&](Index i, Index j) -> Scalar& {
    if constexpr (requires { to.at(i, j); }) {
      return to.at(place_[static_cast<std::size_t>(i)], place_[static_cast<std::size_t>(j)]);
    } else {
      return to(i, j);
    }
  };
  for (const auto& [i, j, value] : pencil.slope.entries) entry(i, j) -= value;
  for (const auto& [i, j, value] : pencil.mass.entries) entry(i, j) += shift * value;
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
  banded_ = false;
  real_matrix_ = -J;
  real_matrix_.diagonal().array() += real;
  complex_matrix_ = -J.cast<std::complex<double>>();
  complex_matrix_.diagonal().array() += complex;
  return factorise_full();
}

bool ShiftedFactor::factorise(const SlopePencil& pencil, double real, std::complex<double> complex) {
  mass_ = &pencil.mass;
  if (!planned_ || (banded_ && !(fits(pencil.slope) && fits(pencil.mass)))) plan(pencil);
  if (banded_) {
    real_band_.set_zero();
    complex_band_.set_zero();
    assemble(pencil, real, real_band_);
    assemble(pencil, complex, complex_band_);
    return real_band_.factorise() && complex_band_.factorise();
  }
  real_matrix_.setZero(n_, n_);
  complex_matrix_.setZero(n_, n_);
  assemble(pencil, real, real_matrix_);
  assemble(pencil, complex, complex_matrix_);
  return factorise_full();
}

namespace {
template <class Band, class Full, class X>
void solve_with(bool banded, const Band& band, const Full& full, const MatrixEntries* mass,
                const std::vector<Index>& place, const X& r, X& work, X& ordered, X& x) {
  const X* right = &r;
  if (mass) {
    mass->product(r, work);
    right = &work;
  }
  if (!banded) {
    x = full.solve(*right);
    return;
  }
  for (Index i = 0; i < r.size(); ++i) ordered[place[static_cast<std::size_t>(i)]] = (*right)[i];
  band.solve(ordered);
  for (Index i = 0; i < r.size(); ++i) x[i] = ordered[place[static_cast<std::size_t>(i)]];
}
}  // namespace

void ShiftedFactor::solve(const Vector& r, Vector& x) {
  solve_with(banded_, real_band_, real_lu_, mass_, place_, r, real_work_, real_ordered_, x);
}

void ShiftedFactor::solve(const Eigen::VectorXcd& r, Eigen::VectorXcd& x) {
  solve_with(banded_, complex_band_, complex_lu_, mass_, place_, r, complex_work_, complex_ordered_, x);
}

}  // namespace stickslip
