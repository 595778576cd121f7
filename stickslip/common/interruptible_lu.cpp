// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/interruptible_lu.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace stickslip {

namespace {
constexpr Index kPanel = 64;  // columns; of 3000 rows the product behind a panel takes some tenths of a second
}

void InterruptibleLu::factor_panel(Index first, Index columns) {
  const Index n = lu_.rows(), end = first + columns;
  for (Index j = first; j < end; ++j) {
    Index pivot = 0;
    lu_.col(j).tail(n - j).cwiseAbs().maxCoeff(&pivot);
    pivot += j;
    if (pivot != j) {
      lu_.row(j).swap(lu_.row(pivot));
      std::swap(order_[static_cast<std::size_t>(j)], order_[static_cast<std::size_t>(pivot)]);
      sign_ = -sign_;
    }
    if (lu_(j, j) < 0) sign_ = -sign_;
    if (lu_(j, j) == 0 || !std::isfinite(lu_(j, j))) {
      sign_ = 0;
      return;
    }
    const Index below = n - j - 1, right = end - j - 1;
    lu_.col(j).tail(below) /= lu_(j, j);
    if (right > 0)
      lu_.block(j + 1, j + 1, below, right).noalias() -= lu_.col(j).tail(below) * lu_.row(j).segment(j + 1, right);
  }
}

bool InterruptibleLu::compute(const DenseMatrix& A, StopRequest stop) {
  lu_ = A;
  sign_ = 1;
  const Index n = A.rows();
  norm_ = n > 0 ? A.cwiseAbs().colwise().sum().maxCoeff() : 0;
  order_.resize(static_cast<std::size_t>(n));
  std::iota(order_.begin(), order_.end(), Index{0});
  for (Index first = 0; first < n; first += kPanel) {
    if (raised(stop)) return false;
    const Index columns = std::min(kPanel, n - first), rest = n - first - columns;
    factor_panel(first, columns);
    if (sign_ == 0) return false;
    if (rest == 0) break;
    auto right = lu_.block(first, first + columns, columns, rest);
    lu_.block(first, first, columns, columns).triangularView<Eigen::UnitLower>().solveInPlace(right);
    lu_.block(first + columns, first + columns, rest, rest).noalias() -=
        lu_.block(first + columns, first, rest, columns) * right;
  }
  return true;
}

DenseMatrix InterruptibleLu::solve(const DenseMatrix& b) const {
  DenseMatrix x(b.rows(), b.cols());
  for (Index i = 0; i < b.rows(); ++i) x.row(i) = b.row(order_[static_cast<std::size_t>(i)]);
  lu_.triangularView<Eigen::UnitLower>().solveInPlace(x);
  lu_.triangularView<Eigen::Upper>().solveInPlace(x);
  return x;
}

DenseMatrix InterruptibleLu::solve_transposed(const DenseMatrix& b) const {
  DenseMatrix y = b, x(b.rows(), b.cols());
  lu_.transpose().triangularView<Eigen::Lower>().solveInPlace(y);
  lu_.transpose().triangularView<Eigen::UnitUpper>().solveInPlace(y);
  for (Index i = 0; i < b.rows(); ++i) x.row(order_[static_cast<std::size_t>(i)]) = y.row(i);
  return x;
}

double InterruptibleLu::rcond() const {
  const Index n = lu_.rows();
  if (n == 0) return 1;
  DenseMatrix x = DenseMatrix::Constant(n, 1, 1.0 / static_cast<double>(n));
  double inverse = 0;
  Index last = -1;
  for (int k = 0; k < 5; ++k) {
    const DenseMatrix y = solve(x);
    const double size = y.cwiseAbs().sum();
    if (!std::isfinite(size)) return 0;
    if (size <= inverse) break;
    inverse = size;
    const DenseMatrix slope = solve_transposed(y.unaryExpr([](double v) { return v < 0 ? -1.0 : 1.0; }));
    Index at = 0;
    slope.col(0).cwiseAbs().maxCoeff(&at);
    if (at == last || std::abs(slope(at, 0)) <= slope.col(0).dot(x.col(0))) break;
    x.setZero();
    x(at, 0) = 1;
    last = at;
  }
  return norm_ > 0 && inverse > 0 ? 1 / (norm_ * inverse) : 0;
}

}  // namespace stickslip
