// SPDX-License-Identifier: Apache-2.0
#include "stickslip/continuation/deflation.hpp"

#include <cmath>

namespace stickslip {

DeflatedProblem::DeflatedProblem(PathProblem& problem, std::vector<Vector> known, Vector x_scale)
    : problem_(problem), known_(std::move(known)), scale_(std::move(x_scale)) {
  if (scale_.size() == 0) scale_ = Vector::Ones(problem.size());
}

double DeflatedProblem::factor(const Vector& x, Vector* gradient) const {
  double product = 1;
  Vector sum = Vector::Zero(x.size());  // of the logarithmic derivatives
  for (const Vector& x_k : known_) {
    const Vector d = (x - x_k).cwiseQuotient(scale_);
    const double square = d.squaredNorm(), eta = 1 / square + 1;
    product *= eta;
    sum -= (2 / (square * square * eta)) * d.cwiseQuotient(scale_);
  }
  if (gradient) *gradient = product * sum;
  return product;
}

bool DeflatedProblem::residual(const Vector& x, double s, Vector& F) {
  if (!problem_.residual(x, s, F)) return false;
  F *= factor(x, nullptr);
  return F.allFinite();
}

bool DeflatedProblem::jacobian(const Vector& x, double s, DenseMatrix& by_x, Vector& by_s) {
  if (!problem_.residual(x, s, F_) || !problem_.jacobian(x, s, by_x, by_s)) return false;
  Vector gradient;
  const double product = factor(x, &gradient);
  by_x = product * by_x + F_ * gradient.transpose();
  by_s *= product;
  return by_x.allFinite();
}

}  // namespace stickslip
