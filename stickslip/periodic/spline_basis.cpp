// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/spline_basis.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

/// The p-th derivative of the B-spline of this degree over [0, degree + 1] with unit elements.
double cardinal(int degree, int p, double y) {
  if (p > 0) return degree == 0 ? 0.0 : cardinal(degree - 1, p - 1, y) - cardinal(degree - 1, p - 1, y - 1);
  if (degree == 0) return y >= 0 && y < 1 ? 1.0 : 0.0;
  return (y * cardinal(degree - 1, 0, y) + (degree + 1 - y) * cardinal(degree - 1, 0, y - 1)) / degree;
}

}  // namespace

void require_stable_pair(int p_x, int p_r) {
  if ((p_x == 2 || p_x == 3) && p_r == 1) return;
  const bool checkerboard = p_r == 0;
  throw InputError(fmt::format(
      "periodic.spline_displacement = {}, spline_reaction = {}: {}; the stable pairs are 2, 1 and 3, 1", p_x, p_r,
      checkerboard
          ? "this pair does not converge, a reaction that changes its sign from element to element moves nothing"
          : "this pair is not known to be stable"));
}

SplineBasis::Local SplineBasis::make_local(int degree, double width) {
  Local local{degree, {}};
  for (int p = 0; p < 3; ++p) {
    local.value[p].resize(degree + 1, kSamples);
    double scale = 1;
    for (int k = 0; k < p; ++k) scale /= width;
    for (int k = 0; k <= degree; ++k)
      for (int j = 0; j < kSamples; ++j)
        local.value[p](k, j) = scale * cardinal(degree, p, degree - k + (j + 0.5) / kSamples);
  }
  return local;
}

SplineBasis::SplineBasis(int elements, int displacement_degree, int reaction_degree)
    : n_(elements),
      displacement_(make_local(displacement_degree, 2 * std::numbers::pi / elements)),
      reaction_(make_local(reaction_degree, 2 * std::numbers::pi / elements)) {
  require_stable_pair(displacement_degree, reaction_degree);
}

void SplineBasis::evaluate(BasisField field, Eigen::Ref<const Vector> x, int p, Eigen::Ref<Vector> samples) const {
  const Local& f = local(field);
  for (Index e = 0; e < n_; ++e)
    for (int j = 0; j < kSamples; ++j) {
      double sum = 0;
      for (int k = 0; k <= f.degree; ++k) sum += x[function(e, k, f.degree)] * f.value[p](k, j);
      samples[e * kSamples + j] = sum;
    }
}

double SplineBasis::value(Eigen::Ref<const Vector> x, int p, double angle) const {
  const int degree = displacement_.degree;
  const double width = 2 * std::numbers::pi / static_cast<double>(n_), place = angle / width,
               element = std::floor(place);
  const Index e = (static_cast<Index>(element) % n_ + n_) % n_;
  double sum = 0;
  for (int k = 0; k <= degree; ++k)
    sum += x[function(e, k, degree)] * cardinal(degree, p, degree - k + place - element);
  return sum / std::pow(width, p);
}

void SplineBasis::test(BasisField field, Eigen::Ref<const Vector> samples, Eigen::Ref<Vector> tested) const {
  const Local& f = local(field);
  tested.setZero();
  for (Index e = 0; e < n_; ++e)
    for (int j = 0; j < kSamples; ++j)
      for (int k = 0; k <= f.degree; ++k)
        tested[function(e, k, f.degree)] += f.value[0](k, j) * samples[e * kSamples + j] / kSamples;
}

void SplineBasis::product(BasisField test, BasisField trial, int p, Eigen::Ref<const Vector> d, DenseMatrix& P) const {
  const Local &a = local(test), &b = local(trial);
  P.setZero(n_, n_);
  for (Index e = 0; e < n_; ++e)
    for (int j = 0; j < kSamples; ++j) {
      const double weight = d[e * kSamples + j] / kSamples;
      if (weight == 0) continue;
      for (int k = 0; k <= a.degree; ++k)
        for (int l = 0; l <= b.degree; ++l)
          P(function(e, k, a.degree), function(e, l, b.degree)) += weight * a.value[0](k, j) * b.value[p](l, j);
    }
}

void SplineBasis::fit(BasisField field, Eigen::Ref<const Vector> samples, Eigen::Ref<Vector> coefficients) const {
  DenseMatrix gram;
  product(field, field, 0, Vector::Ones(this->samples()), gram);
  Vector right(n_);
  test(field, samples, right);
  coefficients = gram.partialPivLu().solve(right);
}

}  // namespace stickslip
