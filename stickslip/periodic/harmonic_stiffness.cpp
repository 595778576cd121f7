// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/harmonic_stiffness.hpp"

#include <Eigen/LU>
#include <Eigen/SparseLU>
#include <cassert>
#include <map>
#include <optional>

namespace stickslip {

namespace {

using Complex = std::complex<double>;
using ColumnSparse = Eigen::SparseMatrix<Complex>;
constexpr Index kDense = 200;              // eliminated coordinates up to which a dense factor is as fast
constexpr double kSingular = 1e-14;        // reciprocal condition: no digit of the response is left
constexpr Index kRemembered = 20'000'000;  // numbers of solved columns that are kept for expand(): 320 MB

/// An entry of M, B or K that a wave turns by `turn` times its phase.
struct Entry {
  int row, col, turn;
  double value;
};

/// One block of Z from M, B, K: rows and columns kept or eliminated.
struct Block {
  std::vector<Entry> M, B, K;
  Index rows = 0, cols = 0;

  /// f(row, col, z) for every entry.
  template <class F>
  void for_each(double w, double phase, F&& f) const {
    const auto add = [&](const std::vector<Entry>& list, Complex factor) {
      for (const Entry& e : list)
        f(e.row, e.col, e.turn == 0 ? factor * e.value : factor * e.value * std::polar(1.0, e.turn * phase));
    };
    add(K, 1.0);
    add(B, Complex(0, w));
    add(M, -w * w);
  }
  ComplexMatrix dense(double w, double phase) const {
    ComplexMatrix Z = ComplexMatrix::Zero(rows, cols);
    for_each(w, phase, [&](int i, int j, Complex z) { Z(i, j) += z; });
    return Z;
  }
  ColumnSparse sparse(double w, double phase) const {
    std::vector<Eigen::Triplet<Complex>> all;
    for_each(w, phase, [&](int i, int j, Complex z) { all.emplace_back(i, j, z); });
    ColumnSparse Z(rows, cols);
    Z.setFromTriplets(all.begin(), all.end());
    Z.makeCompressed();
    return Z;
  }
  /// Y += ∂Z/∂ω X
  void add_slope(double w, double phase, const ComplexMatrix& X, ComplexMatrix& Y) const {
    const auto add = [&](const std::vector<Entry>& list, Complex factor) {
      for (const Entry& e : list) Y.row(e.row) += factor * e.value * std::polar(1.0, e.turn * phase) * X.row(e.col);
    };
    add(B, Complex(0, 1));
    add(M, -2 * w);
  }
};

/// Z_ee⁻¹
class Factor {
 public:
  bool compute(const Block& ee, double w, double phase) {
    if (ee.rows <= kDense) {
      dense_.emplace(ee.dense(w, phase));
      return dense_->rcond() > kSingular;
    }
    sparse_.emplace();
    sparse_->compute(ee.sparse(w, phase));
    return sparse_->info() == Eigen::Success;
  }
  bool solve(const ComplexMatrix& X, ComplexMatrix& Y) const {
    if (dense_) {
      Y = dense_->solve(X);
    } else {
      Y = sparse_->solve(X);
    }
    return Y.allFinite();
  }

 private:
  std::optional<Eigen::PartialPivLU<ComplexMatrix>> dense_;
  mutable std::optional<Eigen::SparseLU<ColumnSparse>> sparse_;
};

}  // namespace

struct HarmonicElimination::Parts {
  std::vector<int> place;  ///< of a coordinate among its own kind; of a right one, that of its left
  std::vector<char> kept, right;
  std::vector<Index> left;  ///< of a coordinate: itself, or that on the other cut
  Block cc, ce, ec, ee;
  double angle = 0;

  /// Z_ee⁻¹ [Z_ec, F_e] of a harmonic, as solved last.
  struct Solved {
    double omega;
    ComplexVector F;
    ComplexMatrix Y;
  };
  mutable std::map<int, Solved> solved;
  mutable Index remembered = 0;

  /// Tᴴ F over all coordinates; entries of right ones are 0.
  ComplexVector folded(const ComplexVector& F, double phase) const {
    ComplexVector G = F;
    if (angle == 0 && !has_right) return G;
    for (Index i = 0; i < F.size(); ++i)
      if (right[static_cast<std::size_t>(i)]) {
        G[left[static_cast<std::size_t>(i)]] += std::polar(1.0, phase) * F[i];
        G[i] = 0;
      }
    return G;
  }
  bool has_right = false;
};

HarmonicElimination::~HarmonicElimination() = default;

HarmonicElimination::HarmonicElimination(const LinearPart& linear, std::vector<Index> kept,
                                         const CyclicSymmetry& cyclic)
    : linear_(linear), kept_(std::move(kept)), parts_(std::make_unique<Parts>()) {
  const auto n = static_cast<std::size_t>(linear.M.size());
  Parts& p = *parts_;
  p.place.assign(n, 0);
  p.kept.assign(n, 0);
  p.right.assign(n, 0);
  p.left.resize(n);
  p.angle = cyclic.angle();
  for (std::size_t i = 0; i < n; ++i) p.left[i] = static_cast<Index>(i);
  for (const auto& [left, right] : cyclic.pairs) {
    p.right[static_cast<std::size_t>(right)] = 1;
    p.left[static_cast<std::size_t>(right)] = left;
    p.has_right = true;
  }
  for (const Index i : kept_) {
    assert(!p.right[static_cast<std::size_t>(i)]);
    p.kept[static_cast<std::size_t>(i)] = 1;
  }
  int c = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (p.right[i]) continue;
    if (!p.kept[i]) eliminated_.push_back(static_cast<Index>(i));
    p.place[i] = p.kept[i] ? c++ : static_cast<int>(eliminated_.size()) - 1;
  }
  const auto e = static_cast<Index>(eliminated_.size());
  p.cc.rows = p.cc.cols = p.ce.rows = p.ec.cols = c;
  p.ee.rows = p.ee.cols = p.ec.rows = p.ce.cols = e;
  const auto sort = [&](const SystemMatrix& A, std::vector<Entry> Block::*list) {
    A.for_each([&](Index row, Index col, double value) {
      if (value == 0) return;
      const auto i = static_cast<std::size_t>(p.left[static_cast<std::size_t>(row)]),
                 j = static_cast<std::size_t>(p.left[static_cast<std::size_t>(col)]);
      Block& block = p.kept[i] ? (p.kept[j] ? p.cc : p.ce) : (p.kept[j] ? p.ec : p.ee);
      const int turn = p.right[static_cast<std::size_t>(row)] - p.right[static_cast<std::size_t>(col)];
      (block.*list).push_back({p.place[i], p.place[j], turn, value});
    });
  };
  sort(linear.M, &Block::M);
  sort(linear.B, &Block::B);
  sort(linear.K, &Block::K);
}

HarmonicStiffness HarmonicElimination::stiffness(double omega, const ComplexVector& F, int h, bool slope) const {
  const Parts& p = *parts_;
  const Index c = p.cc.rows, e = p.ee.rows;
  const double phase = h * p.angle;
  const ComplexVector G = p.folded(F, phase);
  HarmonicStiffness result;
  result.S = p.cc.dense(omega, phase);
  if (slope) {
    result.S_omega = ComplexMatrix::Zero(c, c);
    p.cc.add_slope(omega, phase, ComplexMatrix::Identity(c, c), result.S_omega);
  }
  result.load.resize(c);
  for (Index i = 0; i < c; ++i) result.load[i] = G[kept_[static_cast<std::size_t>(i)]];
  if (e == 0) return result;
  ComplexMatrix right(e, c + 1), Y;
  right.leftCols(c) = p.ec.dense(omega, phase);
  for (Index i = 0; i < e; ++i) right(i, c) = G[eliminated_[static_cast<std::size_t>(i)]];
  Factor factor;
  if (!factor.compute(p.ee, omega, phase) || !factor.solve(right, Y)) {
    result.singular = true;
    return result;
  }
  const ComplexMatrix Z_ce = p.ce.dense(omega, phase);
  result.S -= Z_ce * Y.leftCols(c);
  result.load -= Z_ce * Y.col(c);
  if (slope) {
    // S' = [1, -Z_ce Z_ee⁻¹] Z' [1; -Z_ee⁻¹ Z_ec]
    const ComplexMatrix X = -Y.leftCols(c);
    ComplexMatrix lower = ComplexMatrix::Zero(e, c), upper = ComplexMatrix::Zero(c, c), solved;
    p.ec.add_slope(omega, phase, ComplexMatrix::Identity(c, c), lower);
    p.ee.add_slope(omega, phase, X, lower);
    p.ce.add_slope(omega, phase, X, upper);
    if (factor.solve(lower, solved)) result.S_omega += upper - Z_ce * solved;
  }
  if (!p.solved.count(h)) p.remembered += Y.size();
  if (p.remembered <= kRemembered) p.solved[h] = {omega, F, std::move(Y)};
  return result;
}

ComplexVector HarmonicElimination::expand(double omega, const ComplexVector& F, const ComplexVector& x_kept,
                                          int h) const {
  const Parts& p = *parts_;
  const Index c = p.cc.rows, e = p.ee.rows;
  const double phase = h * p.angle;
  ComplexVector x = ComplexVector::Zero(F.size());
  for (std::size_t i = 0; i < kept_.size(); ++i) x[kept_[i]] = x_kept[static_cast<Index>(i)];
  if (e > 0) {
    const auto known = p.solved.find(h);
    ComplexMatrix inner;
    if (known != p.solved.end() && known->second.omega == omega && known->second.F == F) {
      inner = known->second.Y.col(c) - known->second.Y.leftCols(c) * x_kept;
    } else {
      const ComplexVector G = p.folded(F, phase);
      ComplexMatrix right = -(p.ec.dense(omega, phase) * x_kept);
      for (Index i = 0; i < e; ++i) right(i, 0) += G[eliminated_[static_cast<std::size_t>(i)]];
      Factor factor;
      if (!factor.compute(p.ee, omega, phase) || !factor.solve(right, inner)) inner = ComplexMatrix::Zero(e, 1);
    }
    for (Index i = 0; i < e; ++i) x[eliminated_[static_cast<std::size_t>(i)]] = inner(i, 0);
  }
  for (Index i = 0; i < x.size() && p.has_right; ++i)
    if (p.right[static_cast<std::size_t>(i)]) x[i] = std::polar(1.0, -phase) * x[p.left[static_cast<std::size_t>(i)]];
  return x;
}

}  // namespace stickslip
