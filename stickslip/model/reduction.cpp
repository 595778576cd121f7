// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/reduction.hpp"

#include <Spectra/MatOp/SparseSymMatProd.h>
#include <Spectra/SymGEigsShiftSolver.h>
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

using ColumnSparse = Eigen::SparseMatrix<double>;
constexpr Index kDense = 150;             // interior coordinates up to which all modes are computed at once
constexpr double kSingularPivot = 1e-11;  // of the diagonal: round-off of a pivot that is 0

/// Blocks of a matrix by kept (b) and interior (i) coordinates.
struct Blocks {
  DenseMatrix bb;
  ColumnSparse ib, ii;
};

struct Split {
  std::vector<Index> kept, interior;
  std::vector<int> place;  ///< of a coordinate among its own kind
  std::vector<char> is_kept;

  Split(Index n, const std::vector<Index>& b) : kept(b), place(static_cast<std::size_t>(n)), is_kept(place.size(), 0) {
    for (const Index i : b) is_kept[static_cast<std::size_t>(i)] = 1;
    int count = 0;
    for (Index i = 0; i < n; ++i) {
      if (is_kept[static_cast<std::size_t>(i)]) {
        place[static_cast<std::size_t>(i)] = count++;
        continue;
      }
      place[static_cast<std::size_t>(i)] = static_cast<int>(interior.size());
      interior.push_back(i);
    }
  }

  Blocks blocks(const SparseMatrix& A) const {
    const auto b = static_cast<Index>(kept.size()), i = static_cast<Index>(interior.size());
    Blocks result{DenseMatrix::Zero(b, b), ColumnSparse(i, b), ColumnSparse(i, i)};
    std::vector<Eigen::Triplet<double>> ib, ii;
    for (Index row = 0; row < A.rows(); ++row)
      for (SparseMatrix::InnerIterator entry(A, row); entry; ++entry) {
        const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(entry.col());
        if (is_kept[r]) {
          if (is_kept[c]) result.bb(place[r], place[c]) += entry.value();
        } else {
          (is_kept[c] ? ib : ii).emplace_back(place[r], place[c], entry.value());
        }
      }
    result.ib.setFromTriplets(ib.begin(), ib.end());
    result.ii.setFromTriplets(ii.begin(), ii.end());
    return result;
  }
};

using Cholesky = Eigen::SimplicialLDLT<ColumnSparse>;

/// K_ii⁻¹ as Spectra asks for it.
class Inverse {
 public:
  using Scalar = double;
  explicit Inverse(const Cholesky& factor) : factor_(factor) {}
  Eigen::Index rows() const { return factor_.rows(); }
  Eigen::Index cols() const { return factor_.rows(); }
  void set_shift(double) {}  // 0: the factor is that of K_ii
  void perform_op(const double* x, double* y) const {
    Eigen::Map<Vector>(y, rows()) = factor_.solve(Eigen::Map<const Vector>(x, rows()));
  }

 private:
  const Cholesky& factor_;
};

void factorize(const ColumnSparse& K, const Split& split, Cholesky& factor) {
  if (K.rows() == 0) return;
  factor.compute(K);
  const Vector diagonal = K.diagonal();
  bool positive = factor.info() == Eigen::Success;
  if (positive) {
    const Vector pivots = factor.vectorD();
    const Vector permuted = factor.permutationP() * diagonal;
    for (Index i = 0; i < pivots.size(); ++i) positive &= pivots[i] > kSingularPivot * std::abs(permuted[i]);
  }
  if (!positive)
    throw InputError(
        fmt::format("the structure is not held when its {} kept coordinates are (K of the others is not positive "
                    "definite); keep more "
                    "coordinates, such as those of its supports or of all free bodies",
                    split.kept.size()));
}

void interior_modes(const Blocks& M, const Blocks& K, const Cholesky& factor, Index count, DenseMatrix& modes,
                    Vector& frequency) {
  const Index n = K.ii.rows();
  count = std::min(count, n);
  if (count == 0) {
    modes.resize(n, 0);
    frequency.resize(0);
    return;
  }
  if (n <= kDense || count > n / 3) {
    const Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix> solver{DenseMatrix(K.ii), DenseMatrix(M.ii)};
    modes = solver.eigenvectors().leftCols(count);
    frequency = solver.eigenvalues().head(count).cwiseMax(0.0).cwiseSqrt();
  } else {
    Inverse inverse(factor);
    const Spectra::SparseSymMatProd<double> mass(M.ii);
    const Index basis = std::min(n, std::max<Index>(2 * count + 1, 20));
    Spectra::SymGEigsShiftSolver<Inverse, Spectra::SparseSymMatProd<double>, Spectra::GEigsMode::ShiftInvert> solver(
        inverse, const_cast<Spectra::SparseSymMatProd<double>&>(mass), count, basis, 0.0);
    solver.init();
    solver.compute(Spectra::SortRule::LargestMagn, 1000, 1e-12, Spectra::SortRule::SmallestAlge);
    if (solver.info() != Spectra::CompInfo::Successful)
      throw InputError(
          fmt::format("the {} lowest interior modes did not converge; ask for another number of modes", count));
    modes = solver.eigenvectors();
    frequency = solver.eigenvalues().cwiseMax(0.0).cwiseSqrt();
  }
  for (Index k = 0; k < count; ++k) {
    Index largest = 0;
    modes.col(k).cwiseAbs().maxCoeff(&largest);
    modes.col(k) /= modes(largest, k);
  }
}

DenseMatrix congruence(const SparseMatrix& A, const DenseMatrix& T) {
  if (A.rows() == 0) return DenseMatrix::Zero(T.cols(), T.cols());
  const DenseMatrix AT = A * T;
  return T.transpose() * AT;
}

/// Natural frequencies of the reduced model and what is known of their errors.
void estimate_errors(const SparseMatrix& M, const SparseMatrix& K, const Split& split, const Cholesky& factor,
                     Reduction& result) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix> solver(result.K, result.M);
  const Vector& square = solver.eigenvalues();
  const Index count = square.size();
  result.frequency = square.cwiseMax(0.0).cwiseSqrt();
  result.frequency_bound.setZero(count);
  for (Index k = 0; k < count && !split.interior.empty(); ++k) {
    const Vector x = result.T * solver.eigenvectors().col(k), Kx = K * x;
    const double stored = x.dot(Kx);
    constexpr double kRigid = 1e-13;  // of the terms of xᵀ K x: a motion of rigid bodies, exact
    if (!(stored > kRigid * Kx.norm() * x.norm())) continue;
    const Vector r = Kx - square[k] * (M * x);
    Vector inner(static_cast<Index>(split.interior.size()));
    for (std::size_t i = 0; i < split.interior.size(); ++i) inner[static_cast<Index>(i)] = r[split.interior[i]];
    result.frequency_bound[k] = std::sqrt(std::max(0.0, inner.dot(Vector(factor.solve(inner))) / stored));
  }
  result.frequency_error = 0.5 * result.frequency_bound.cwiseAbs2();
}

}  // namespace

void ReductionOptions::validate(Index n) const {
  if (kept.empty()) throw InputError("no coordinate is kept; keep at least those that laws act on");
  for (std::size_t k = 0; k < kept.size(); ++k) {
    if (kept[k] < 0 || kept[k] >= n)
      throw InputError(fmt::format("the kept coordinate {} is not among the {} of the model", kept[k], n));
    if (k > 0 && kept[k] <= kept[k - 1]) throw InputError("kept coordinates must be ascending, without duplicates");
  }
  if (modes < 0) throw InputError(fmt::format("modes = {} must be >= 0", modes));
}

double Reduction::error_up_to(double highest) const {
  double error = 0;
  for (Index k = 0; k < frequency.size() && frequency[k] <= highest; ++k) error = std::max(error, frequency_error[k]);
  return error;
}

Reduction reduce(const SparseMatrix& M, const SparseMatrix& B, const SparseMatrix& K, const ReductionOptions& options) {
  const Index n = M.rows();
  options.validate(n);
  const Split split(n, options.kept);
  const Blocks mass = split.blocks(M), stiffness = split.blocks(K);
  Cholesky factor;
  factorize(stiffness.ii, split, factor);
  const auto b = static_cast<Index>(split.kept.size());
  Reduction result;
  result.kept = split.kept;
  DenseMatrix modes;
  interior_modes(mass, stiffness, factor, options.modes, modes, result.interior_frequency);
  result.T.setZero(n, b + modes.cols());
  DenseMatrix follow = DenseMatrix::Zero(static_cast<Index>(split.interior.size()), b);
  if (!split.interior.empty()) follow = -DenseMatrix(factor.solve(DenseMatrix(stiffness.ib)));
  for (Index k = 0; k < b; ++k) result.T(split.kept[static_cast<std::size_t>(k)], k) = 1;
  for (std::size_t i = 0; i < split.interior.size(); ++i) {
    result.T.row(split.interior[i]).head(b) = follow.row(static_cast<Index>(i));
    result.T.row(split.interior[i]).tail(modes.cols()) = modes.row(static_cast<Index>(i));
  }
  result.M = congruence(M, result.T);
  result.K = congruence(K, result.T);
  result.B = congruence(B, result.T);
  // K_r is block diagonal in exact arithmetic; both are symmetric where M and K are.
  for (DenseMatrix* A : {&result.M, &result.K}) *A = DenseMatrix(0.5 * (*A + A->transpose()));
  result.K.topRightCorner(b, modes.cols()).setZero();
  result.K.bottomLeftCorner(modes.cols(), b).setZero();
  estimate_errors(M, K, split, factor, result);
  return result;
}

}  // namespace stickslip
