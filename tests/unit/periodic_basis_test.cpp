// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/periodic/extremes.hpp"
#include "stickslip/periodic/fourier_basis.hpp"
#include "stickslip/periodic/law_equality.hpp"
#include "stickslip/periodic/spline_basis.hpp"

namespace stickslip::periodic_basis_test {
namespace {

Vector random_vector(Index n, std::mt19937& random) {
  std::normal_distribution<double> normal;
  Vector x(n);
  for (double& value : x) value = normal(random);
  return x;
}

/// The columns of <φ_k, d φ_l^(p)> are the tests of d times the p-th derivative of each basis function.
void expect_products(const PeriodicBasis& basis, BasisField test, BasisField trial, int most) {
  std::mt19937 random(7);
  const Vector d = random_vector(basis.samples(), random);
  for (int p = 0; p <= most; ++p) {
    DenseMatrix P;
    basis.product(test, trial, p, d, P);
    Vector unit = Vector::Zero(basis.size(trial)), samples(basis.samples()), column(basis.size(test));
    for (Index l = 0; l < unit.size(); ++l) {
      unit[l] = 1;
      basis.evaluate(trial, unit, p, samples);
      unit[l] = 0;
      basis.test(test, d.cwiseProduct(samples), column);
      EXPECT_LT((P.col(l) - column).norm(), 1e-11 * (1 + column.norm())) << "p = " << p << ", column " << l;
    }
  }
}

TEST(FourierBasis, EvaluatesHarmonicsAndTheirDerivatives) {
  const FourierBasis basis(3, 30);
  const Vector x{{0.5, 1.0, 2.0, 0.0, 0.0, -1.0, 0.25}};
  Vector samples(30);
  for (int p = 0; p < 3; ++p) {
    basis.evaluate(BasisField::displacement, x, p, samples);
    for (Index j = 0; j < 30; ++j) {
      const double a = basis.angle(j), turn = p * M_PI / 2;
      const double exact = (p == 0 ? 0.5 : 0.0) + std::cos(a + turn) + 2 * std::sin(a + turn) +
                           std::pow(3, p) * (-std::cos(3 * a + turn) + 0.25 * std::sin(3 * a + turn));
      EXPECT_NEAR(samples[j], exact, 1e-12);
    }
  }
}

TEST(FourierBasis, ProductsAreThoseOfTheSamples) {
  for (const int samples : {24, 31, 40})
    expect_products(FourierBasis(5, samples), BasisField::displacement, BasisField::reaction, 2);
}

TEST(FourierBasis, FitGivesCoefficientsBack) {
  const FourierBasis basis(6, 48);
  std::mt19937 random(3);
  const Vector x = random_vector(13, random);
  Vector samples(48), back(13);
  basis.evaluate(BasisField::displacement, x, 0, samples);
  basis.fit(BasisField::displacement, samples, back);
  EXPECT_LT((back - x).norm(), 1e-13);
}

TEST(SplineBasis, ProductsAreThoseOfTheSamples) {
  const SplineBasis basis(12, 3, 1);
  expect_products(basis, BasisField::displacement, BasisField::displacement, 2);
  expect_products(basis, BasisField::reaction, BasisField::displacement, 1);
  expect_products(basis, BasisField::displacement, BasisField::reaction, 0);
}

TEST(SplineBasis, ApproximatesASmoothFunctionWithItsOrder) {
  for (const int degree : {2, 3}) {
    double last = 0;
    for (const int n : {20, 40}) {
      const SplineBasis basis(n, degree, 1);
      Vector samples(basis.samples()), x(n), slope(basis.samples());
      for (Index j = 0; j < samples.size(); ++j) samples[j] = std::sin(basis.angle(j));
      basis.fit(BasisField::displacement, samples, x);
      basis.evaluate(BasisField::displacement, x, 1, slope);
      double error = 0;
      for (Index j = 0; j < samples.size(); ++j) error = std::max(error, std::abs(slope[j] - std::cos(basis.angle(j))));
      if (last > 0) {
        EXPECT_NEAR(std::log2(last / error), degree, 0.4);
      }
      last = error;
    }
  }
}

TEST(SplineBasis, UnstablePairsAreRefusedWithTheReason) {
  EXPECT_NO_THROW(require_stable_pair(2, 1));
  EXPECT_NO_THROW(require_stable_pair(3, 1));
  for (const auto& [x, r] : {std::pair{1, 0}, {2, 0}, {1, 1}, {3, 2}})
    EXPECT_THROW(require_stable_pair(x, r), InputError);
  try {
    require_stable_pair(1, 0);
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("does not converge"), std::string::npos);
  }
}

/// Derivatives of an equality against central differences, at points that are no kinks.
template <class Equality>
void expect_slopes(Equality equality, int n, bool contact) {
  std::mt19937 random(11);
  const double h = 1e-6;
  for (int sample = 0; sample < 40; ++sample) {
    Vector r = random_vector(n, random), u = random_vector(n, random);
    const double c = 0.3 + std::abs(random_vector(1, random)[0]);
    const LawEquality e = equality(r.data(), u.data(), c);
    for (int b = 0; b < n; ++b) {
      Vector plus = r, minus = r;
      plus[b] += h, minus[b] -= h;
      const LawEquality p = equality(plus.data(), u.data(), c), m = equality(minus.data(), u.data(), c);
      for (int a = 0; a < n; ++a) EXPECT_NEAR(e.by_r[a * n + b], (p.value[a] - m.value[a]) / (2 * h), 1e-6);
      plus = minus = u;
      plus[b] += h, minus[b] -= h;
      const LawEquality pu = equality(r.data(), plus.data(), c), mu = equality(r.data(), minus.data(), c);
      for (int a = 0; a < n; ++a) EXPECT_NEAR(e.by_u[a * n + b], (pu.value[a] - mu.value[a]) / (2 * h), 1e-6);
    }
    const LawEquality pc = equality(r.data(), u.data(), c + h), mc = equality(r.data(), u.data(), c - h);
    for (int a = 0; a < n; ++a)
      EXPECT_NEAR(contact ? e.by_gap[a] : e.by_c[a], (pc.value[a] - mc.value[a]) / (2 * h), 1e-6);
  }
}

TEST(LawEquality, SlopesOfFrictionAreExact) {
  for (const double smoothing : {0.0, 0.1})
    for (const Set& set : {interval_set(1), disk_set(1), box_set(1)})
      expect_slopes(
          [&](const double* r, const double* u, double c) {
            Set limited = set;
            limited.limit = c;
            return friction_equality(LawForm::projection, limited, r, u, 0.7, smoothing);
          },
          set.size, false);
  for (const LawForm form : {LawForm::min, LawForm::max})
    expect_slopes([&](const double* r, const double* u,
                      double c) { return friction_equality(form, interval_set(c), r, u, 0.7, 0); },
                  1, false);
}

TEST(LawEquality, SlopesOfContactsAreExact) {
  for (const double smoothing : {0.0, 0.1})
    for (const int size : {2, 3})
      expect_slopes(
          [&](const double* r, const double* u, double gap) {
            return contact_equality(LawForm::projection, friction_cone_set(0.4, size), r, u, gap - 0.8, 0.9, 0.7,
                                    smoothing, 2.0);
          },
          size, true);
}

TEST(LawEquality, ProjectionKnowsTheDirectionAndThePaperDoesNot) {
  const double c = 2, u = 0.5;
  for (const double r : {c, -c}) {
    const double projection = friction_equality(LawForm::projection, interval_set(c), &r, &u, 1, 0).value[0];
    EXPECT_EQ(projection, r < 0 ? 0 : 0.5);  // r - clip(r - ρ u): friction along the motion is no solution
    for (const LawForm form : {LawForm::min, LawForm::max})
      EXPECT_EQ(friction_equality(form, interval_set(c), &r, &u, 1, 0).value[0], 0);
  }
}

template <class Basis>
Orbit sampled(const Basis& basis, const Vector& coefficients, double period) {
  const Index n = basis.samples();
  Vector q(n), v(n);
  basis.evaluate(BasisField::displacement, coefficients, 0, q);
  basis.evaluate(BasisField::displacement, coefficients, 1, v);
  Orbit orbit;
  orbit.period = period;
  for (Index j = 0; j < n; ++j) {
    orbit.t.push_back(basis.angle(j) * period / (2 * std::numbers::pi));
    orbit.q.push_back(Vector::Constant(1, q[j]));
    orbit.v.push_back(Vector::Constant(1, v[j] * 2 * std::numbers::pi / period));
  }
  read_rows(orbit);
  return orbit;
}

/// The extremes of a function from its values at very many angles, to 1e-12 of it.
template <class Basis>
std::pair<double, double> searched(const Basis& basis, const Vector& coefficients) {
  constexpr int kMany = 1 << 20;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int k = 0; k < kMany; ++k) {
    const double q = basis.value(coefficients, 0, 2 * std::numbers::pi * k / kMany);
    low = std::min(low, q);
    high = std::max(high, q);
  }
  return {low, high};
}

template <class Basis>
void expect_located(const Basis& basis, const Vector& coefficients) {
  Orbit orbit = sampled(basis, coefficients, 0.3);
  const double rows = orbit.maximum[0];
  locate_extremes([&](const Vector& x, int p, double angle) { return basis.value(x, p, angle); },
                  coefficients.transpose(), basis.angle(0), orbit);
  const auto [low, high] = searched(basis, coefficients);
  EXPECT_NEAR(orbit.minimum[0], low, 1e-10);
  EXPECT_NEAR(orbit.maximum[0], high, 1e-10);
  EXPECT_GT(orbit.maximum[0] - rows, 1e-5);  // rows alone do not have it
}

TEST(OrbitExtremes, OfHarmonicsAreThoseOfTheFunctionNotOfItsSamples) {
  Vector x(7);
  x << 0.1, 1, 0.3, -0.2, 0.7, 0.05, -0.3;
  expect_located(FourierBasis(3, 12), x);
}

TEST(OrbitExtremes, OfSplinesAreThoseOfTheFunctionNotOfItsSamples) {
  for (const int degree : {2, 3}) {
    const SplineBasis basis(9, degree, 1);
    Vector x(9);
    for (Index k = 0; k < 9; ++k) x[k] = std::sin(1.3 * static_cast<double>(k * k));
    expect_located(basis, x);
  }
}

TEST(OrbitExtremes, ValuesAtOneAngleAreThoseOfTheSamples) {
  const SplineBasis spline(9, 3, 1);
  const FourierBasis fourier(4, 36);
  const Vector x = Vector::LinSpaced(9, -1, 2).array().cube();
  Vector samples;
  for (int p = 0; p < 3; ++p) {
    samples.resize(spline.samples());
    spline.evaluate(BasisField::displacement, x, p, samples);
    for (Index j = 0; j < samples.size(); j += 5)
      EXPECT_NEAR(spline.value(x, p, spline.angle(j)), samples[j], 1e-11) << p << " " << j;
    samples.resize(fourier.samples());
    fourier.evaluate(BasisField::displacement, x, p, samples);
    for (Index j = 0; j < samples.size(); j += 5)
      EXPECT_NEAR(fourier.value(x, p, fourier.angle(j)), samples[j], 1e-11) << p << " " << j;
  }
}

}  // namespace
}  // namespace stickslip::periodic_basis_test
