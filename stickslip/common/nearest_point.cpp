// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/nearest_point.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/common/decompositions.hpp"

namespace stickslip {

namespace {

constexpr int kMostIterations = 200;
constexpr double kRoundOff = 1e-13;  // of the terms of a row
constexpr double kDescent = 1e-4;    // of the gain that the slope of the dual promises
constexpr double kShortest = 1e-10;  // of Newton's step
constexpr double kBend = 1e-6;       // least curvature of the dual, of the largest it can have

struct Dual {
  const DenseMatrix& A;  // in units of D: y is D y
  const Vector &b, &low, &high;

  Vector point(const Vector& nu) const { return (A.transpose() * nu).cwiseMax(low).cwiseMin(high); }
  double value(const Vector& nu) const {
    const Vector y = point(nu);
    return b.dot(nu) - (A.transpose() * nu).dot(y) + 0.5 * y.squaredNorm();
  }
  Vector residual(const Vector& y) const { return b - A * y; }
  bool solved(const Vector& y) const {
    const Vector terms = A.cwiseAbs() * y.cwiseAbs() + b.cwiseAbs();
    return (residual(y).cwiseAbs().array() <= kRoundOff * terms.array()).all();
  }
};

}  // namespace

std::optional<Vector> nearest_point(const DenseMatrix& A, const Vector& b, const Vector& D, const Vector& low,
                                    const Vector& high) {
  const DenseMatrix scaled = A * D.cwiseInverse().asDiagonal();
  const Vector from = D.cwiseProduct(low), to = D.cwiseProduct(high);
  const Dual dual{scaled, b, from, to};
  Vector nu = Vector::Zero(A.rows());
  for (int round = 0; round < kMostIterations; ++round) {
    const Vector force = scaled.transpose() * nu, y = dual.point(nu);
    if (dual.solved(y)) return y.cwiseQuotient(D);
    DenseMatrix free = scaled;
    for (Index j = 0; j < free.cols(); ++j)
      if (force[j] < from[j] || force[j] > to[j]) free.col(j).setZero();
    const Vector slope = dual.residual(y);
    // Where too few are free the dual bends in some directions only, and rises straight in the others: up to the next
    // bound.
    DenseMatrix curvature = free * free.transpose();
    curvature.diagonal().array() += kBend * scaled.squaredNorm();
    const Vector step = curvature.llt().solve(slope);
    double part = 1;
    const double now = dual.value(nu), gain = kDescent * step.dot(slope), noise = kRoundOff * std::abs(now);
    while (part > kShortest && !(dual.value(nu + part * step) >= now + part * gain - noise)) part *= 0.5;
    if (part <= kShortest) break;
    nu += part * step;
  }
  const Vector y = dual.point(nu);
  return dual.solved(y) ? std::optional(Vector(y.cwiseQuotient(D))) : std::nullopt;
}

}  // namespace stickslip
