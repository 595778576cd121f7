// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/mode_decision.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace stickslip::mode_decision_test {
namespace {

DecisionProblem hinges(const DenseMatrix& M, const Vector& Q, const Vector& limit, LawRole role = LawRole::stuck) {
  DecisionProblem problem;
  problem.D = M.inverse();
  problem.b = problem.D * Q;
  for (Index i = 0; i < Q.size(); ++i) problem.laws.push_back({interval_set(limit[i]), limit[i], role});
  return problem;
}

// Sheet of paper 2, section 2: what deciding hinge by hinge gets wrong.
TEST(ModeDecision, DoesNotReleaseBothHingesWhoseLockedForcesExceedTheirLimits) {
  const Decision d = decide_modes(hinges(DenseMatrix{{2, 1}, {1, 1}}, Vector{{3, 1.2}}, Vector{{1, 1}}));
  EXPECT_EQ(d.modes[0], Mode::slip_plus);
  EXPECT_EQ(d.modes[1], Mode::stick);
  EXPECT_NEAR(d.acceleration[0], 1, 1e-15);
  EXPECT_NEAR(d.acceleration[1], 0, 1e-15);
  EXPECT_NEAR(d.r[0], -1, 1e-15);
  EXPECT_NEAR(d.r[1], -0.2, 1e-15);
  EXPECT_EQ(d.admissible, 1);
}

TEST(ModeDecision, FindsAHingeThatSlipsAgainstTheSignOfItsLockedForce) {
  const Decision d = decide_modes(hinges(DenseMatrix{{2, 1}, {1, 1}}, Vector{{0.2, 11}}, Vector{{0.1, 10}}));
  EXPECT_EQ(d.modes[0], Mode::slip_minus);
  EXPECT_EQ(d.modes[1], Mode::slip_plus);
  EXPECT_NEAR(d.acceleration[0], -0.7, 1e-14);
  EXPECT_NEAR(d.acceleration[1], 1.7, 1e-14);
}

TEST(ModeDecision, ReportsATieWhereTheForceEqualsTheLimit) {
  const Decision d = decide_modes(hinges(DenseMatrix{{1.0}}, Vector{{2.0}}, Vector{{2.0}}));
  EXPECT_EQ(d.modes[0], Mode::stick);
  EXPECT_TRUE(d.tied[0]);
}

struct Random {
  std::mt19937 generator;
  double operator()(double low, double high) { return std::uniform_real_distribution<double>(low, high)(generator); }
};

DecisionProblem random_hinges(Random& random, int n) {
  DenseMatrix A(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) A(i, j) = random(-1, 1);
  DenseMatrix M = A * A.transpose();
  M.diagonal().array() += std::pow(10, random(-2, 0));
  Vector Q(n), limit(n);
  for (Index i = 0; i < n; ++i) {
    Q[i] = random(-3, 3);
    limit[i] = random(0, 2);
  }
  return hinges(M, Q, limit);
}

// For every law: |r| <= c, r = -c sgn(a) where a is not 0.
double violation(const DecisionProblem& problem, const Decision& d) {
  const Vector a = problem.b + problem.D * d.r;
  double worst = 0;
  for (Index i = 0; i < a.size(); ++i) {
    const double c = problem.laws[i].set.limit,
                 size = std::abs(problem.b[i]) + problem.D.row(i).cwiseAbs().dot(d.r.cwiseAbs());
    const bool slips = d.modes[i] == Mode::slip_plus || d.modes[i] == Mode::slip_minus;
    worst = std::max(worst, (std::abs(d.r[i]) - c) / (c + 1e-300));
    if (!slips) worst = std::max(worst, std::abs(a[i]) / size);
    if (slips) worst = std::max(worst, std::abs(d.r[i] + std::copysign(c, a[i])) / c);
  }
  return worst;
}

// Shares nothing with the decision: a Gauss-Jordan solve per mode, conditions written out.
bool brute_force(const DecisionProblem& problem, Vector& acceleration) {
  const int n = static_cast<int>(problem.b.size());
  long modes = 1;
  for (int i = 0; i < n; ++i) modes *= 3;
  for (long code = 0; code < modes; ++code) {
    std::vector<int> s(n);
    long rest = code;
    for (int i = 0; i < n; ++i, rest /= 3) s[i] = static_cast<int>(rest % 3) - 1;
    std::vector<std::vector<double>> T(n, std::vector<double>(n + 1, 0.0));
    for (int i = 0; i < n; ++i) {
      if (s[i] != 0) {
        T[i][i] = 1;
        T[i][n] = -s[i] * problem.laws[i].set.limit;
      } else {
        for (int j = 0; j < n; ++j) T[i][j] = problem.D(i, j);
        T[i][n] = -problem.b[i];
      }
    }
    for (int k = 0; k < n; ++k) {
      int pivot = k;
      for (int i = k; i < n; ++i)
        if (std::abs(T[i][k]) > std::abs(T[pivot][k])) pivot = i;
      std::swap(T[k], T[pivot]);
      for (int i = 0; i < n; ++i) {
        if (i == k) continue;
        const double f = T[i][k] / T[k][k];
        for (int j = k; j <= n; ++j) T[i][j] -= f * T[k][j];
      }
    }
    bool right = true;
    acceleration = problem.b;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) acceleration[i] += problem.D(i, j) * T[j][n] / T[j][j];
    for (int i = 0; i < n && right; ++i) {
      if (s[i] == 0) right = std::abs(T[i][n] / T[i][i]) <= problem.laws[i].set.limit;
      if (s[i] != 0) right = s[i] * acceleration[i] > 0;
    }
    if (right) return true;
  }
  return false;
}

TEST(ModeDecision, SatisfiesTheInclusionToRoundOffOnThousandsOfRandomSystems) {
  Random random{std::mt19937(1)};
  for (int trial = 0; trial < 6000; ++trial) {
    const int n = 2 + trial % 11;
    const DecisionProblem problem = random_hinges(random, n);
    const Decision d = decide_modes(problem);
    ASSERT_EQ(d.status, Status::success) << "trial " << trial << ": " << d.message;
    // Conditions up to 1e4: eight digits of room above round-off of the solve.
    ASSERT_LT(violation(problem, d), 1e-11) << "trial " << trial << ", n = " << n;
  }
}

TEST(ModeDecision, AgreesWithEnumerationOfAllModes) {
  Random random{std::mt19937(2)};
  for (int trial = 0; trial < 2000; ++trial) {
    const int n = trial < 1950 ? 2 + trial % 5 : 7 + trial % 2;
    const DecisionProblem problem = random_hinges(random, n);
    const Decision d = decide_modes(problem);
    Vector expected;
    ASSERT_TRUE(brute_force(problem, expected)) << "trial " << trial;
    ASSERT_LT((d.acceleration - expected).lpNorm<Eigen::Infinity>(), 1e-9 * (1 + expected.lpNorm<Eigen::Infinity>()))
        << "trial " << trial << ", n = " << n;
  }
}

TEST(ModeDecision, KeepsStuckHingesStuckUpToTheStaticLimit) {
  DecisionProblem problem = hinges(DenseMatrix{{1.0}}, Vector{{1.5}}, Vector{{1.0}});
  problem.laws[0].static_limit = 2;
  Decision d = decide_modes(problem);
  EXPECT_EQ(d.modes[0], Mode::stick);
  EXPECT_EQ(d.admissible, 2) << "slipping with the dynamic limit is admissible as well";
  problem.laws[0].role = LawRole::released;
  d = decide_modes(problem);
  EXPECT_EQ(d.modes[0], Mode::slip_plus);
  EXPECT_NEAR(d.acceleration[0], 0.5, 1e-15);
}

// Nine laws that do not act on each other: each of the four with c < |Q| < c_s may stick or slip, the others have no
// choice.
TEST(ModeDecision, CountsAllModesOfLawsThatDoNotActOnEachOther) {
  constexpr int n = 9, kEither = 4;
  DecisionProblem problem = hinges(DenseMatrix(DenseMatrix::Identity(n, n)), Vector::Zero(n), Vector::Ones(n));
  for (int i = 0; i < n; ++i) {
    problem.laws[static_cast<std::size_t>(i)].static_limit = 1.3;
    problem.b[i] = (i % 2 == 0 ? 1 : -1) * (i < kEither ? 1.2 : i < 7 ? 0.9 : 1.5);
  }
  const Decision d = decide_modes(problem);
  ASSERT_EQ(d.status, Status::success);
  EXPECT_EQ(d.admissible, 1 << kEither);
  for (int i = 0; i < n; ++i) {
    const Mode slips = i % 2 == 0 ? Mode::slip_plus : Mode::slip_minus;
    EXPECT_EQ(d.modes[static_cast<std::size_t>(i)], i < 7 ? Mode::stick : slips) << i;
  }
}

TEST(ModeDecision, HoldsWithRedundantHingesWhatTheyHoldTogether) {
  // The same axis locked twice, each with limit 1: together they hold a force of 1.9.
  DecisionProblem problem;
  problem.D = DenseMatrix::Ones(2, 2);
  problem.b = Vector::Constant(2, 1.9);
  problem.laws = {{interval_set(1), 1, LawRole::stuck}, {interval_set(1), 1, LawRole::stuck}};
  Decision d = decide_modes(problem);
  ASSERT_EQ(d.status, Status::success) << d.message;
  EXPECT_NEAR(d.r.sum(), -1.9, 1e-9);
  EXPECT_EQ(d.modes[0], Mode::stick);
  EXPECT_EQ(d.modes[1], Mode::stick);
  problem.b.setConstant(2.5);
  d = decide_modes(problem);
  EXPECT_NEAR(d.acceleration[0], 0.5, 1e-9);
  EXPECT_EQ(d.modes[0], Mode::slip_plus);
}

// A rod sliding on the ground: D_NN - μ D_NT < 0 and b < 0 leave no acceleration, b > 0 two of them.
TEST(ModeDecision, CountsNoneAndTwoInPainlevesParadox) {
  DecisionProblem problem;
  problem.D = DenseMatrix{{-0.2}};
  problem.b = Vector{{-1.0}};
  problem.laws = {{half_line_set(), 0, LawRole::stuck}};
  problem.monotone = false;
  EXPECT_EQ(decide_modes(problem).status, Status::no_solution);
  problem.b[0] = 1;
  problem.D = DenseMatrix{{-0.2, 0.1}, {0, 1}};
  problem.b = Vector{{1.0, -1.0}};
  problem.laws.push_back({half_line_set(), 0, LawRole::stuck});
  const Decision d = decide_modes(problem);
  EXPECT_EQ(d.status, Status::success);
  EXPECT_EQ(d.admissible, 2);
}

/// A foot that is pressed on a slope: it slips beyond its angle of friction, however small the forces are.
TEST(ModeDecision, OfAContactDoesNotDependOnTheUnitOfForce) {
  for (const double unit : {1e-100, 1e-30, 1e-12, 1.0, 1e12, 1e100})
    for (const double slope : {0.3, 0.59, 0.61, 0.9}) {
      DecisionProblem problem;
      problem.D = DenseMatrix{{2, 0.3}, {0.3, 1}};
      const Vector held{{3, 3 * slope}};  // the reaction that would hold it
      problem.b = -problem.D * held * unit;
      problem.laws.push_back({friction_cone_set(0.6, 2), 0.6, LawRole::stuck});
      const Decision d = decide_modes(problem);
      EXPECT_EQ(d.modes[0], slope < 0.6 ? Mode::stick : Mode::slip_minus) << unit << ", " << slope;
      EXPECT_EQ(d.admissible, 1) << unit << ", " << slope;
    }
}

}  // namespace
}  // namespace stickslip::mode_decision_test
