// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "stickslip/common/dormand_prince.hpp"
#include "stickslip/common/dormand_prince_table.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/polynomial.hpp"
#include "stickslip/common/radau.hpp"

namespace stickslip::ode_test {
namespace {

Vector vector(std::initializer_list<double> values) {
  Vector v(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), v.data());
  return v;
}

OdeOptions tolerances(double relative, double absolute) {
  OdeOptions options;
  options.relative_tolerance = relative;
  options.absolute_tolerance = absolute;
  return options;
}

/// Steps to t_end; the end is reached exactly.
Vector run(OdeIntegrator& integrator, OdeFunction f, double t0, const Vector& y0, double t_end) {
  integrator.restart(t0, y0);
  while (integrator.t() < t_end) {
    const OdeStep outcome = integrator.step(f, t_end);
    EXPECT_EQ(outcome, OdeStep::accepted) << "at t = " << integrator.t();
    if (outcome != OdeStep::accepted) break;
  }
  return integrator.y();
}

/// y' = y cos t + (z - sin t)², z' = cos t: y = exp(sin t), z = sin t.
const auto smooth_problem = [](double t, const Vector& y, Vector& f) {
  const double d = y[1] - std::sin(t);
  f[0] = y[0] * std::cos(t) + d * d;
  f[1] = y[0] * std::exp(-y[1]) * std::cos(t);
  return true;
};
Vector smooth_solution(double t) { return vector({std::exp(std::sin(t)), std::sin(t)}); }

/// Kepler's ellipse with eccentricity e: period 2π.
const auto kepler = [](double, const Vector& y, Vector& f) {
  const double r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * std::sqrt(r2);
  f << y[2], y[3], -y[0] / r3, -y[1] / r3;
  return true;
};
Vector kepler_start(double e) { return vector({1 - e, 0, 0, std::sqrt((1 + e) / (1 - e))}); }

std::unique_ptr<OdeIntegrator> make(int which, const OdeOptions& options) {
  if (which == 0) return std::make_unique<DormandPrince>(options);
  return std::make_unique<Radau>(options);
}

class EveryIntegrator : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ode, EveryIntegrator, testing::Values(0, 1),
                         [](const auto& each) { return each.param == 0 ? "DormandPrince" : "Radau"; });

TEST_P(EveryIntegrator, SingleStepsShowTheOrderOfTheMethod) {
  const auto integrator = make(GetParam(), tolerances(1e-13, 1e-13));
  integrator->restart(0, smooth_solution(0));
  std::vector<double> errors;
  // Steps large enough that the error of the finest run stays above round-off.
  const int coarse = GetParam() == 0 ? 8 : 40;
  for (const int steps : {coarse, 2 * coarse}) {
    const double h = 4.0 / steps;
    Vector y = smooth_solution(0), next;
    for (int n = 0; n < steps; ++n) {
      ASSERT_TRUE(integrator->single_step(smooth_problem, n * h, y, h, next));
      y = next;
    }
    errors.push_back((y - smooth_solution(4)).norm());
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), integrator->order(), 0.6) << errors[0] << ' ' << errors[1];
  EXPECT_GT(errors[1], 1e-13);
}

TEST_P(EveryIntegrator, DenseOutputHasItsOrderAndMeetsBothEnds) {
  std::vector<double> errors;
  const double coarse = GetParam() == 0 ? 0.4 : 0.1;
  for (const double h : {coarse, coarse / 2}) {
    OdeOptions options = tolerances(1e-2, 1e-2);
    options.first_step = options.largest_step = h;
    const auto integrator = make(GetParam(), options);
    integrator->restart(0.3, smooth_solution(0.3));
    ASSERT_EQ(integrator->step(smooth_problem, 10), OdeStep::accepted);
    ASSERT_NEAR(integrator->t(), 0.3 + h, 1e-15);
    Vector y;
    integrator->interpolate(integrator->t_old(), y);
    EXPECT_EQ(y, integrator->y_old());
    integrator->interpolate(integrator->t(), y);
    EXPECT_EQ(y, integrator->y());
    // The polynomial itself joins the end to the round-off of its sum.
    std::vector<double> c(static_cast<std::size_t>(integrator->degree()) + 1);
    integrator->coefficients(0, c);
    EXPECT_NEAR(std::accumulate(c.begin(), c.end(), 0.0), integrator->y()[0], 1e-14);
    double error = 0;
    for (int k = 1; k < 20; ++k) {
      const double t = 0.3 + h * k / 20;
      integrator->interpolate(t, y);
      error = std::max(error, (y - smooth_solution(t)).norm());
      integrator->coefficients(0, c);
      EXPECT_NEAR(evaluate(c, k / 20.0), y[0], 1e-14);
    }
    errors.push_back(error);
  }
  // Local error: one more than the degree of the polynomial.
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), GetParam() == 0 ? 8 : 4, 0.6) << errors[0] << ' ' << errors[1];
}

TEST_P(EveryIntegrator, ErrorFollowsTheToleranceThatWasAskedFor) {
  double last = 1;
  for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
    const auto integrator = make(GetParam(), tolerances(tolerance, tolerance));
    const Vector y = run(*integrator, kepler, 0, kepler_start(0.3), 2 * std::numbers::pi);
    const double error = (y - kepler_start(0.3)).norm();
    // Every step adds at most about its tolerance, and the orbit carries errors on without much growth.
    EXPECT_LT(error, 2 * tolerance * static_cast<double>(integrator->counters().accepted)) << "tolerance " << tolerance;
    EXPECT_LT(error, 0.1 * last) << "tolerance " << tolerance;
    last = error;
  }
}

TEST_P(EveryIntegrator, StepEndsExactlyAtTheLimitAndKeepsItsOwnSize) {
  const auto integrator = make(GetParam(), tolerances(1e-6, 1e-8));
  integrator->restart(0, smooth_solution(0));
  for (int n = 0; n < 5; ++n) ASSERT_EQ(integrator->step(smooth_problem, 100), OdeStep::accepted);
  const double wanted = integrator->suggested_step(), limit = integrator->t() + 1e-3 * wanted;
  ASSERT_EQ(integrator->step(smooth_problem, limit), OdeStep::accepted);
  EXPECT_EQ(integrator->t(), limit);
  EXPECT_GE(integrator->suggested_step(), wanted);
  EXPECT_LT((integrator->y() - smooth_solution(limit)).norm(), 1e-5);
}

TEST_P(EveryIntegrator, ReintegratingAnAcceptedStepGivesItsState) {
  const auto integrator = make(GetParam(), tolerances(1e-9, 1e-9));
  integrator->restart(0, kepler_start(0.5));
  Vector again;
  for (int n = 0; n < 20; ++n) {
    ASSERT_EQ(integrator->step(kepler, 10), OdeStep::accepted);
    const double t = integrator->t();
    ASSERT_TRUE(
        integrator->single_step(kepler, integrator->t_old(), integrator->y_old(), t - integrator->t_old(), again));
    // The explicit step is the same arithmetic; the implicit one agrees to the tolerance of its equations.
    EXPECT_LT((again - integrator->y()).norm(), GetParam() == 0 ? 1e-15 : 1e-11);
    EXPECT_EQ(integrator->t(), t);
  }
}

TEST_P(EveryIntegrator, AStepThatCannotBeEvaluatedIsReduced) {
  // y' = 1/(2y), y = sqrt(1 - t) going down to 0: f refuses y <= 0, which a large first step meets.
  const auto root = [](double, const Vector& y, Vector& f) {
    if (y[0] <= 0) return false;
    f[0] = -0.5 / y[0];
    return true;
  };
  OdeOptions options = tolerances(1e-8, 1e-10);
  options.first_step = 5;
  const auto integrator = make(GetParam(), options);
  const Vector y = run(*integrator, root, 0, vector({1}), 0.9);
  EXPECT_NEAR(y[0], std::sqrt(0.1), 1e-6);
  EXPECT_GT(integrator->counters().rejected, 0);
  // Beyond the end of the solution the step falls to round-off, and the state stays at the last accepted one.
  OdeStep outcome = OdeStep::accepted;
  while (outcome == OdeStep::accepted) outcome = integrator->step(root, 2);
  EXPECT_EQ(outcome, OdeStep::step_too_small);
  EXPECT_GT(integrator->y()[0], 0);
  EXPECT_LE(integrator->t(), 1 + 1e-6);
}

TEST_P(EveryIntegrator, ValuesThatAreNotFiniteAreNotAccepted) {
  const auto pole = [](double, const Vector& y, Vector& f) {
    f[0] = y[0] > 1e3 ? std::numeric_limits<double>::quiet_NaN() : y[0] * y[0];
    return true;
  };
  const auto integrator = make(GetParam(), tolerances(1e-8, 1e-8));
  integrator->restart(0, vector({1}));
  OdeStep outcome = OdeStep::accepted;
  while (outcome == OdeStep::accepted) outcome = integrator->step(pole, 2);
  EXPECT_EQ(outcome, OdeStep::step_too_small);
  EXPECT_NEAR(integrator->t(), 0.999, 1e-6);  // y = 1/(1-t) = 1000
  EXPECT_LE(integrator->y()[0], 1e3 * (1 + 1e-6));
}

TEST_P(EveryIntegrator, RestartForgetsThePast) {
  const auto used = make(GetParam(), tolerances(1e-8, 1e-10)), fresh = make(GetParam(), tolerances(1e-8, 1e-10));
  run(*used, kepler, 0, kepler_start(0.7), 3);
  const Vector a = run(*used, kepler, 0, kepler_start(0.2), 5), b = run(*fresh, kepler, 0, kepler_start(0.2), 5);
  EXPECT_EQ(a, b);
}

TEST_P(EveryIntegrator, NumberOfStepsIsLimited) {
  OdeOptions options = tolerances(1e-10, 1e-10);
  options.max_steps = 5;
  const auto integrator = make(GetParam(), options);
  integrator->restart(0, kepler_start(0.5));
  OdeStep outcome = OdeStep::accepted;
  int count = 0;
  while (outcome == OdeStep::accepted && ++count < 100) outcome = integrator->step(kepler, 100);
  EXPECT_EQ(outcome, OdeStep::too_many_steps);
}

TEST_P(EveryIntegrator, ScalesOfComponentsSetTheirOwnAccuracy) {
  // The same oscillator in two units: with matching scales the steps are the same up to round-off.
  const auto oscillator = [](double unit) {
    return [unit](double, const Vector& y, Vector& f) {
      f << y[1] * unit, -y[0] / unit;
      return true;
    };
  };
  OdeOptions plain = tolerances(1e-7, 1e-7), scaled = plain;
  const double unit = 1024;
  scaled.absolute_scale = vector({unit, 1});
  const auto a = make(GetParam(), plain), b = make(GetParam(), scaled);
  const auto f = oscillator(1), g = oscillator(unit);
  run(*a, f, 0, vector({1, 0}), 20);
  run(*b, g, 0, vector({unit, 0}), 20);
  EXPECT_EQ(a->counters().accepted, b->counters().accepted);
  EXPECT_NEAR(a->y()[0], b->y()[0] / unit, 1e-8);
}

TEST(OdeStop, IsHeardBeforeTheNextEvaluationAndLeavesTheStateOfTheLastStep) {
  for (const int which : {0, 1}) {
    std::atomic<bool> stop = false;
    OdeOptions options = tolerances(1e-10, 1e-10);
    options.stop = &stop;
    const auto integrator = make(which, options);
    long evaluations = 0;
    const auto f = [&](double t, const Vector& y, Vector& dydt) {
      stop = ++evaluations >= 500;
      return kepler(t, y, dydt);
    };
    integrator->restart(0, kepler_start(0.5));
    OdeStep outcome = OdeStep::accepted;
    double t = 0;
    while (outcome == OdeStep::accepted) {
      t = integrator->t();
      outcome = integrator->step(f, 1e9);
    }
    EXPECT_EQ(outcome, OdeStep::stopped);
    EXPECT_EQ(evaluations, 500);
    EXPECT_EQ(integrator->t(), t);
    EXPECT_GT(t, 0);
    stop = false;
    evaluations = 0;
    EXPECT_EQ(integrator->step(f, 1e9), OdeStep::accepted);  // and it goes on when asked
  }
}

TEST(OdeStep, DoesNotDependOnTheUnitOfTime) {
  for (const int which : {0, 1})
    for (const double unit : {0x1p20, 0x1p-20}) {
      const auto a = make(which, tolerances(1e-8, 1e-8)), b = make(which, tolerances(1e-8, 1e-8));
      const auto scaled = [&](double t, const Vector& y, Vector& dydt) {
        kepler(t / unit, y, dydt);
        dydt /= unit;
        return true;
      };
      const Vector plain = run(*a, kepler, 0, kepler_start(0.5), 7),
                   other = run(*b, scaled, 0, kepler_start(0.5), 7 * unit);
      EXPECT_EQ(a->counters().accepted, b->counters().accepted);
      EXPECT_LT((plain - other).norm(), 1e-12);
    }
}

TEST(OdeStep, GivesUpAtTheStartAfterTheSameAttemptsInAllUnitsOfTime) {
  const auto rejected = [](double unit) {
    const auto f = [unit](double t, const Vector&, Vector& dydt) {
      dydt.setConstant(1 / unit);
      return t == 0;
    };
    DormandPrince integrator(tolerances(1e-9, 1e-12));
    integrator.restart(0, vector({1}));
    EXPECT_EQ(integrator.step(f, unit), OdeStep::step_too_small);
    return integrator.counters().rejected;
  };
  EXPECT_GT(rejected(1), 0);
  EXPECT_EQ(rejected(std::ldexp(1.0, 20)), rejected(1));
  EXPECT_EQ(rejected(std::ldexp(1.0, -20)), rejected(1));
}

TEST(OdeOptions, RefuseWhatMakesNoSense) {
  EXPECT_THROW(DormandPrince(tolerances(0, 1)), InputError);
  EXPECT_THROW(DormandPrince(tolerances(1e-6, -1)), InputError);
  OdeOptions options;
  options.absolute_scale = vector({1, 0});
  EXPECT_THROW(Radau{options}, InputError);
  options = {};
  options.largest_step = 0;
  EXPECT_THROW(Radau{options}, InputError);
}

TEST(DormandPrince, TableSatisfiesItsQuadratureConditions) {
  const auto moment = [](std::span<const dop853::Term> row, int power) {
    double sum = 0;
    for (const auto& [stage, w] : row)
      sum += w * (power ? std::pow(dop853::kNodes[static_cast<std::size_t>(stage)], power) : 1.0);
    return sum;
  };
  // Weights up to 500 in the dense rows: 1e-13 is their round-off.
  for (std::size_t i = 1; i < 16; ++i) {
    EXPECT_NEAR(moment(dop853::kRows[i], 0), dop853::kNodes[i], 1e-14) << "row " << i;
    if (i < 3) continue;
    EXPECT_NEAR(moment(dop853::kRows[i], 1), std::pow(dop853::kNodes[i], 2) / 2, 1e-14) << "row " << i;
  }
  for (int k = 0; k < 8; ++k) EXPECT_NEAR(moment(dop853::kRows[12], k), 1.0 / (k + 1), 1e-14) << "power " << k;
  EXPECT_GT(std::abs(moment(dop853::kRows[12], 8) - 1.0 / 9), 1e-8);
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(moment(dop853::kError5, k), 0, 1e-14) << "power " << k;
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(moment(dop853::kError3, k), 0, 1e-14) << "power " << k;
  for (const auto& row : dop853::kDense)
    for (int k = 0; k < 2; ++k) EXPECT_NEAR(moment(row, k), 0, 1e-12);
}

TEST(DormandPrince, DenseOutputOfAPolynomialOfDegreeSevenIsExact) {
  const auto f = [](double t, const Vector&, Vector& dydt) {
    for (Index k = 0; k < 7; ++k) dydt[k] = static_cast<double>(k + 1) * std::pow(t, static_cast<double>(k));
    return true;
  };
  OdeOptions options = tolerances(0.5, 10);
  options.first_step = options.largest_step = 1;
  DormandPrince integrator(options);
  integrator.restart(0, Vector::Zero(7));
  ASSERT_EQ(integrator.step(f, 1), OdeStep::accepted);
  ASSERT_EQ(integrator.t(), 1);
  // Component k is t^(k+1): one coefficient 1, the others 0 but for round-off of sums with weights up to 500.
  std::array<double, 8> c;
  for (Index k = 0; k < 7; ++k) {
    integrator.coefficients(k, c);
    for (Index i = 0; i < 8; ++i)
      EXPECT_NEAR(c[static_cast<std::size_t>(i)], i == k + 1 ? 1 : 0, 1e-12) << i << ' ' << k;
  }
}

TEST(DormandPrince, ArenstorfOrbitClosesAfterItsPeriod) {
  // Hairer, Nørsett, Wanner I, II.0 (0.1): restricted three-body problem, period to 30 digits.
  const double mu = 0.012277471, period = 17.0652165601579625588917206249;
  const auto f = [mu](double, const Vector& y, Vector& dydt) {
    const double nu = 1 - mu;
    const double d1 = std::pow((y[0] + mu) * (y[0] + mu) + y[1] * y[1], 1.5);
    const double d2 = std::pow((y[0] - nu) * (y[0] - nu) + y[1] * y[1], 1.5);
    dydt << y[2], y[3], y[0] + 2 * y[3] - nu * (y[0] + mu) / d1 - mu * (y[0] - nu) / d2,
        y[1] - 2 * y[2] - nu * y[1] / d1 - mu * y[1] / d2;
    return true;
  };
  const Vector start = vector({0.994, 0, 0, -2.00158510637908252240537862224});
  DormandPrince integrator(tolerances(1e-13, 1e-13));
  const Vector end = run(integrator, f, 0, start, period);
  // The orbit multiplies errors by about 1e6 in velocity; 1e-13 · 1e6 with two digits to spare.
  EXPECT_LT((end - start).head(2).norm(), 1e-7);
  EXPECT_LT((end - start).norm(), 1e-5);
  EXPECT_LT(integrator.counters().accepted, 500);
}

TEST(DormandPrince, DenseOutputOffSavesEvaluations) {
  OdeOptions options = tolerances(1e-9, 1e-9);
  DormandPrince with(options);
  options.dense_output = false;
  DormandPrince without(options);
  const Vector a = run(with, kepler, 0, kepler_start(0.3), 5), b = run(without, kepler, 0, kepler_start(0.3), 5);
  EXPECT_EQ(a, b);
  const OdeCounters& c = without.counters();
  EXPECT_EQ(with.counters().evaluations - c.evaluations, 3 * c.accepted);
}

// (1 - y²) μ y' - y in the scaling of Hairer and Wanner II, IV.10 (VDPOL): ε y_2' = (1 - y_1²) y_2 - y_1.
const auto van_der_pol = [](double epsilon) {
  return [epsilon](double, const Vector& y, Vector& f) {
    f << y[1], ((1 - y[0] * y[0]) * y[1] - y[0]) / epsilon;
    return true;
  };
};

TEST(Radau, VanDerPolReachesItsPublishedValues) {
  const auto f = van_der_pol(1e-6);
  const OdeJacobian jacobian = [](double, const Vector& y, DenseMatrix& J) {
    J << 0, 1, (-2 * y[0] * y[1] - 1) / 1e-6, (1 - y[0] * y[0]) / 1e-6;
    return true;
  };
  for (const bool analytic : {true, false})
    for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
      Radau integrator(tolerances(tolerance, tolerance), analytic ? jacobian : OdeJacobian{});
      const Vector one = run(integrator, f, 0, vector({2, 0}), 1);
      // Hairer and Wanner's reference values at t = 1 and t = 2. Relaxation jumps shift in time by local errors.
      const double accepted = 20 * tolerance;
      EXPECT_NEAR(one[0], -1.863646254808130, accepted) << tolerance << ' ' << analytic;
      EXPECT_NEAR(one[1], 0.7535430865435460, accepted) << tolerance << ' ' << analytic;
      while (integrator.t() < 2) ASSERT_EQ(integrator.step(f, 2), OdeStep::accepted);
      EXPECT_NEAR(integrator.y()[0], 1.706167732170456, accepted) << tolerance << ' ' << analytic;
      EXPECT_NEAR(integrator.y()[1], -0.8928097010248257, accepted) << tolerance << ' ' << analytic;
    }
}

TEST(Radau, VanDerPolInUnscaledTimeReachesTheValuesOfTheTestSet) {
  const double mu = 1000;
  const auto f = [mu](double, const Vector& y, Vector& dydt) {
    dydt << y[1], mu * (1 - y[0] * y[0]) * y[1] - y[0];
    return true;
  };
  OdeOptions options = tolerances(1e-11, 1e-11);
  options.absolute_scale = vector({1, 1e-3});
  Radau integrator(options);
  const Vector y = run(integrator, f, 0, vector({2, 0}), 2000);
  // Test Set for IVP Solvers, problem vdpolm: printed to 16 digits.
  EXPECT_NEAR(y[0], 1.706167732170469, 1e-10);
  EXPECT_NEAR(y[1], -0.8928097010248125e-3, 1e-13);
}

TEST(Radau, RobertsonReachesItsPublishedValuesOverElevenDecades) {
  const auto f = [](double, const Vector& y, Vector& dydt) {
    const double a = 0.04 * y[0], b = 1e4 * y[1] * y[2], c = 3e7 * y[1] * y[1];
    dydt << -a + b, a - b - c, c;
    return true;
  };
  OdeOptions options = tolerances(1e-10, 1e-10);
  options.absolute_scale = vector({1e-8, 1e-14, 1});
  Radau integrator(options);
  const Vector y = run(integrator, f, 0, vector({1, 0, 0}), 1e11);
  // Test Set for IVP Solvers, problem rober.
  EXPECT_NEAR(y[0], 0.2083340149701255e-07, 1e-9 * 0.2083340149701255e-07);
  EXPECT_NEAR(y[1], 0.8333360770334713e-13, 1e-9 * 0.8333360770334713e-13);
  EXPECT_NEAR(y[2], 0.9999999791665050, 1e-13);
  EXPECT_LT(integrator.counters().accepted, 2000);
}

TEST(Radau, StiffLinearProblemFollowsItsSlowSolutionWhateverTheStiffness) {
  // Prothero and Robinson: y' = -(y - cos t)/ε - sin t, y = cos t from y(0) = 1; coupled so that the stiff direction is
  // not a coordinate.
  for (const double epsilon : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
    const auto f = [epsilon](double t, const Vector& y, Vector& dydt) {
      const double fast = -(y[0] + y[1] - std::cos(t)) / epsilon, slow = y[0] - y[1];
      // s = y_0 + y_1 → cos t at rate 1/ε, d = y_0 - y_1 = exp(-t).
      const double ds = fast - std::sin(t), dd = -slow;
      dydt << 0.5 * (ds + dd), 0.5 * (ds - dd);
      return true;
    };
    Radau integrator(tolerances(1e-11, 1e-11));
    const Vector y = run(integrator, f, 0, vector({1, 0}), 3);
    EXPECT_NEAR(y[0] + y[1], std::cos(3.0), 1e-9) << epsilon;
    EXPECT_NEAR(y[0] - y[1], std::exp(-3.0), 1e-9) << epsilon;
    EXPECT_LT(integrator.counters().accepted, 3000) << epsilon;
  }
}

TEST(Radau, FastTransientFromInconsistentStartIsResolvedAndLeft) {
  // y' = -(y - 1)/ε: y = 1 - exp(-t/ε). The step grows by decades after the layer.
  const double epsilon = 1e-8;
  const auto f = [epsilon](double, const Vector& y, Vector& dydt) {
    dydt[0] = -(y[0] - 1) / epsilon;
    return true;
  };
  Radau integrator(tolerances(1e-10, 1e-10));
  integrator.restart(0, vector({0}));
  double worst = 0;
  while (integrator.t() < 1) {
    ASSERT_EQ(integrator.step(f, 1), OdeStep::accepted);
    worst = std::max(worst, std::abs(integrator.y()[0] + std::expm1(-integrator.t() / epsilon)));
  }
  EXPECT_LT(worst, 1e-9);
  EXPECT_LT(integrator.counters().accepted, 300);
}

TEST(Radau, ConstrainedPendulumOfStiffSpringKeepsItsEnergyAndLength) {
  // A pendulum of unit length held by spring and damper 1/ε² and 2/ε: after the transient the length differs from 1 by
  // the tension times ε².
  const double epsilon = 1e-4, g = 9.81;
  const auto f = [=](double, const Vector& y, Vector& dydt) {
    const double r = std::hypot(y[0], y[1]), nx = y[0] / r, ny = y[1] / r, rate = nx * y[2] + ny * y[3];
    const double tension = (r - 1) / (epsilon * epsilon) + 2 * rate / epsilon;
    dydt << y[2], y[3], -tension * nx, -tension * ny - g;
    return true;
  };
  // At rest at 90 degrees the tension is 0: a consistent start.
  Radau integrator(tolerances(1e-9, 1e-11));
  const Vector y = run(integrator, f, 0, vector({1, 0, 0, 0}), 2);
  const double energy = 0.5 * (y[2] * y[2] + y[3] * y[3]) + g * y[1];
  EXPECT_NEAR(energy, 0, 1e-4);                              // loss by the damper: O(ε) of the small radial rate
  EXPECT_NEAR(std::hypot(y[0], y[1]), 1, 5 * 3 * g * 1e-8);  // tension at most 3 g
  EXPECT_LT(integrator.counters().accepted, 5000);
}

TEST(Radau, JacobianAndFactorsAreKeptOnASmoothLinearProblem) {
  const auto f = [](double t, const Vector& y, Vector& dydt) {
    dydt << -1000 * (y[0] - std::cos(t)), -y[1];
    return true;
  };
  Radau integrator(tolerances(1e-8, 1e-8));
  run(integrator, f, 0, vector({1, 1}), 10);
  const OdeCounters& c = integrator.counters();
  EXPECT_LE(c.jacobians, 3);  // it is constant: once, and again only after a rejected step
  EXPECT_LT(c.factorisations, c.accepted);
}

}  // namespace
}  // namespace stickslip::ode_test
