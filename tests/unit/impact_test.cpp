// SPDX-License-Identifier: Apache-2.0
// Impact laws with friction: closed forms of Routh's cases, energy, and where the three laws agree.
#include "stickslip/solvers/impact.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <random>

#include "stickslip/common/error.hpp"

namespace stickslip::impact_test {
namespace {

ImpactSolution solved(const ImpactProblem& problem) {
  ImpactWorkspace workspace;
  ImpactSolution solution;
  solve(problem, {}, workspace, solution);
  EXPECT_EQ(solution.status, Status::success) << solution.message;
  return solution;
}

ImpactProblem one_contact(const DenseMatrix& D, const Vector& u, double mu, double e, ImpactLaw law) {
  const int size = static_cast<int>(u.size());
  return {D, u, {{size == 1 ? half_line_set() : friction_cone_set(mu, size), e, law}}};
}

/// Tip of a uniform rod of mass and length 1 at the angle θ to the ground: normal up, tangent along the ground.
DenseMatrix rod(double theta) {
  const double c = std::cos(theta), s = std::sin(theta);
  DenseMatrix D(2, 2);
  D << 1 + 3 * c * c, -3 * s * c, -3 * s * c, 1 + 3 * s * s;
  return D;
}

Vector vector(std::initializer_list<double> values) {
  Vector x(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), x.begin());
  return x;
}

double kinetic(const DenseMatrix& D, const Vector& u) { return 0.5 * u.dot(D.ldlt().solve(u)); }

/// One slope of u_N after another: slip until the impulse `stop`, then `second`; the work of both phases in between.
double rebound(double u0, double first, double second, double stop, double e) {
  const double u_stop = u0 + first * stop;
  EXPECT_LT(u_stop, 0) << "the slip must stop during compression";
  const double taken = -stop * (u0 + u_stop) / 2 + u_stop * u_stop / (2 * second);
  return e * std::sqrt(2 * second * taken);
}

TEST(Impact, SlidingThroughoutReturnsTheVelocityTimesE) {
  const DenseMatrix D = rod(1.0);
  const double mu = 0.1, e = 0.6;
  const Vector u = vector({-1, 5});
  const double slope = D(0, 0) - mu * D(0, 1), p = (1 + e) / slope;
  for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::energetic}) {
    const ImpactSolution s = solved(one_contact(D, u, mu, e, law));
    EXPECT_NEAR(s.u[0], e, 1e-14) << to_string(law);
    EXPECT_NEAR(s.p[0], p, 1e-14) << to_string(law);
    EXPECT_NEAR(s.p[1], -mu * p, 1e-14) << to_string(law);
  }
}

TEST(Impact, SlipThatSticksInCompression) {
  const DenseMatrix D = rod(1.0);
  const double mu = 0.9, e = 0.7, slip = 0.3;
  ASSERT_GT(mu, std::abs(D(1, 0)) / D(1, 1));  // it can be held
  const double stop = slip / (mu * D(1, 1) - D(1, 0));
  const double first = D(0, 0) - mu * D(0, 1), second = D(0, 0) - D(0, 1) * D(0, 1) / D(1, 1);
  const ImpactSolution s = solved(one_contact(D, vector({-1, slip}), mu, e, ImpactLaw::energetic));
  EXPECT_NEAR(s.u[0], rebound(-1, first, second, stop, e), 1e-14);
  EXPECT_NEAR(s.u[1], 0, 1e-15);
}

/// Friction is too weak to hold the tip that the coupling has stopped: it turns round inside the impact.
TEST(Impact, SlipThatReversesInCompression) {
  const DenseMatrix D = rod(1.0);
  const double mu = 0.1, e = 0.7, slip = 0.2;
  const double before = D(1, 0) - mu * D(1, 1), after = D(1, 0) + mu * D(1, 1);  // slope of the slip
  ASSERT_LT(after, 0);
  const double stop = slip / -before;
  const double first = D(0, 0) - mu * D(0, 1), second = D(0, 0) + mu * D(0, 1);
  const ImpactSolution s = solved(one_contact(D, vector({-1, slip}), mu, e, ImpactLaw::energetic));
  EXPECT_NEAR(s.u[0], rebound(-1, first, second, stop, e), 1e-14);
  EXPECT_NEAR(s.u[1], after * (s.p[0] - stop), 1e-14);
  EXPECT_LT(s.u[1], -0.1);  // against the slip before
  EXPECT_NEAR(s.p[1], -mu * stop + mu * (s.p[0] - stop), 1e-14);
}

/// Friction presses the tip in until the slip ends: D_NN - μ D_NT < 0.
TEST(Impact, JamEndsWithTheSlip) {
  DenseMatrix D(2, 2);
  D << 1, 1.2, 1.2, 2;
  const double mu = 1.5, e = 0.8, slip = 1, stop = slip / (mu * D(1, 1) - D(1, 0));
  const double first = D(0, 0) - mu * D(0, 1), second = D(0, 0) - D(0, 1) * D(0, 1) / D(1, 1);
  ASSERT_LT(first, 0);
  const Vector u = vector({-0.1, slip});
  const ImpactSolution s = solved(one_contact(D, u, mu, e, ImpactLaw::energetic));
  EXPECT_NEAR(s.u[0], rebound(-0.1, first, second, stop, e), 1e-14);
  EXPECT_GT(s.u[0], 0.1);  // faster than it came, at the cost of the slip
  EXPECT_LT(s.work, 0);
  EXPECT_LT(solved(one_contact(D, u, mu, e, ImpactLaw::poisson)).work, 0);
}

TEST(Impact, NewtonsLawMakesEnergyWhereTheOthersTakeIt) {
  const DenseMatrix D = rod(std::numbers::pi / 4);
  const double e = 0.9, mu = 0.7;
  // Of all slips the one with the least energy for this approach: u_T = D_TN/D_NN u_N. It sticks afterwards.
  const Vector u = vector({-1, -D(1, 0) / D(0, 0)});
  const double before = kinetic(D, u), coupling = D(0, 1) * D(0, 1) / (D(0, 0) * D(1, 1));
  const ImpactSolution newton = solved(one_contact(D, u, mu, e, ImpactLaw::newton));
  EXPECT_NEAR(newton.u[1], 0, 1e-14);
  EXPECT_NEAR(newton.work, (e * e / (1 - coupling) - 1) * before, 1e-14);
  EXPECT_GT(newton.work, 0.2 * before);
  EXPECT_LT(solved(one_contact(D, u, mu, e, ImpactLaw::poisson)).work, 0);
  const ImpactSolution energetic = solved(one_contact(D, u, mu, e, ImpactLaw::energetic));
  EXPECT_LT(energetic.work, 0);
  EXPECT_NEAR(energetic.work, kinetic(D, energetic.u) - before, 1e-14);
}

class RandomImpacts {
 public:
  double in(double low, double high) { return std::uniform_real_distribution<>(low, high)(generator_); }
  /// D of `rows` directions on `coordinates` unit masses, and a velocity that they can have.
  void system(Index rows, Index coordinates, ImpactProblem& problem) {
    DenseMatrix W(coordinates, rows);
    Vector v(coordinates);
    for (double& x : W.reshaped()) x = in(-1, 1);
    for (double& x : v) x = in(-1, 1);
    problem.D = W.transpose() * W;
    problem.u = W.transpose() * v;
  }
  ImpactProblem impact(int contacts, int size, ImpactLaw law, bool one_e) {
    ImpactProblem problem;
    const Index rows = contacts * size;
    system(rows, rows + 2, problem);
    const double e = in(0, 1), mu = in(0, 1.5);
    for (int k = 0; k < contacts; ++k)
      problem.contacts.push_back(
          {size == 1 ? half_line_set() : friction_cone_set(mu, size), one_e ? e : in(0, 1), law});
    return problem;
  }

 private:
  std::mt19937 generator_{7};
};

void expect_no_gain(const ImpactProblem& problem, double tolerance, const char* what) {
  const ImpactSolution s = solved(problem);
  const double size = problem.u.cwiseAbs().dot(s.p.cwiseAbs());
  EXPECT_LE(s.work, tolerance * size) << what;
  Index row = 0;
  for (const ImpactContact& contact : problem.contacts) {
    EXPECT_GE(s.u[row], -1e-8 * problem.u.norm()) << what;
    EXPECT_LE(s.p.segment(row + 1, contact.set.size - 1).norm(), contact.set.limit * s.p[row] * (1 + 1e-9) + 1e-14)
        << what;
    row += contact.set.size;
  }
}

TEST(Impact, TheEnergeticLawNeverMakesEnergy) {
  RandomImpacts random;
  for (int trial = 0; trial < 20; ++trial)
    for (const int size : {1, 2, 3}) {
      expect_no_gain(random.impact(1, size, ImpactLaw::energetic, true), 1e-12, "one");
      expect_no_gain(random.impact(2, size, ImpactLaw::energetic, false), 1e-9, "two");
    }
}

/// A plate on four feet: reactions are redundant.
TEST(Impact, APlateOnFourFeetMakesNoEnergyEither) {
  RandomImpacts random;
  for (int trial = 0; trial < 12; ++trial) {
    DenseMatrix W = DenseMatrix::Zero(6, 12);  // unit mass, inertia 0.1
    const double mu = random.in(0, 1), e = random.in(0, 1);
    ImpactProblem problem;
    for (int foot = 0; foot < 4; ++foot) {
      const Eigen::Vector3d arm(foot % 2 ? 0.5 : -0.5, foot / 2 ? 0.3 : -0.3, -0.1);
      for (int c = 0; c < 3; ++c) {
        const Eigen::Vector3d direction = Eigen::Vector3d::Unit((c + 2) % 3);  // z first
        W.col(3 * foot + c) << direction, arm.cross(direction) / std::sqrt(0.1);
      }
      problem.contacts.push_back({friction_cone_set(mu, 3), trial % 2 ? e : random.in(0, 1),
                                  trial % 3 ? ImpactLaw::energetic : ImpactLaw::poisson});
      if (trial % 3 == 0) problem.contacts.back().restitution = e;
    }
    Vector v(6);
    for (double& x : v) x = random.in(-1, 1);
    v[2] = -2;
    problem.D = W.transpose() * W;
    problem.u = W.transpose() * v;
    expect_no_gain(problem, 1e-9, "plate");
  }
}

TEST(Impact, PoissonsLawWithOneRestitutionOrWithoutFrictionNeverMakesEnergy) {
  RandomImpacts random;
  for (int trial = 0; trial < 40; ++trial) {
    for (const int size : {1, 2, 3}) {
      expect_no_gain(random.impact(1, size, ImpactLaw::poisson, true), 1e-13, "one");
      expect_no_gain(random.impact(3, size, ImpactLaw::poisson, true), 1e-12, "three");
    }
    expect_no_gain(random.impact(3, 1, ImpactLaw::poisson, false), 1e-12, "without friction");
  }
}

/// Different e with friction: the limit of the statement above.
TEST(Impact, PoissonsLawWithDifferentRestitutionsCanMakeEnergy) {
  RandomImpacts random;
  int gains = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    ImpactProblem problem = random.impact(2, 2, ImpactLaw::poisson, true);
    problem.contacts[0].restitution = 1;
    problem.contacts[1].restitution = 0;
    for (ImpactContact& contact : problem.contacts) contact.set.limit = 1.5;
    ImpactWorkspace workspace;
    ImpactSolution s;
    solve(problem, {}, workspace, s);
    gains += s.status == Status::success && s.work > 1e-6;
  }
  EXPECT_GT(gains, 0);
}

/// What the two phases of Poisson's law say, seen from the impulses alone.
TEST(Impact, PoissonsLawGivesBackTheImpulseOfCompression) {
  RandomImpacts random;
  for (int trial = 0; trial < 50; ++trial) {
    ImpactProblem problem = random.impact(2, 2, ImpactLaw::poisson, true);
    const ImpactSolution whole = solved(problem);
    const double e = problem.contacts[0].restitution;
    for (ImpactContact& contact : problem.contacts) contact.restitution = 0;
    const ImpactSolution compression = solved(problem);
    for (const Index row : {0, 2}) {
      const double back = whole.p[row] - compression.p[row];
      EXPECT_GE(back, e * compression.p[row] - 1e-12);
      EXPECT_NEAR((back - e * compression.p[row]) * whole.u[row], 0, 1e-11);  // more only where it would close again
    }
  }
}

TEST(Impact, WithoutCouplingOfNormalAndTangentAllLawsAreOne) {
  // A ball: D_NN = 1, D_TT = 7/2 in both directions. Slides through, or is stopped.
  for (const double mu : {0.1, 0.8})
    for (const int size : {2, 3}) {
      DenseMatrix D = 3.5 * DenseMatrix::Identity(size, size);
      D(0, 0) = 1;
      Vector u = size == 2 ? vector({-2, 1.5}) : vector({-2, 1.2, -0.9});
      const double e = 0.5, p_N = 3, stop = 1.5 / 3.5;
      const double p_T = std::min(mu * p_N, stop);
      for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::energetic}) {
        const ImpactSolution s = solved(one_contact(D, u, mu, e, law));
        EXPECT_NEAR(s.p[0], p_N, 1e-11) << to_string(law);
        EXPECT_NEAR(s.p.tail(size - 1).norm(), p_T, 1e-11) << to_string(law);
        EXPECT_NEAR(s.u[0], 1, 1e-11) << to_string(law);
      }
    }
}

TEST(Impact, TheIntegratedPathAgreesWithTheClosedForm) {
  RandomImpacts random;
  for (int trial = 0; trial < 200; ++trial) {
    ImpactProblem problem = random.impact(1, 2, ImpactLaw::energetic, true);
    if (problem.u[0] >= 0) problem.u *= -1;
    const ImpactSolution closed = solved(problem);
    EnergeticPath path;
    path.start(problem.D, problem.u);
    path.add(problem.contacts[0].set, problem.contacts[0].restitution);
    Vector p;
    ASSERT_EQ(path.follow(20, nullptr, p), Status::success);
    EXPECT_FALSE(path.collapsed());
    EXPECT_LT((p - closed.p).norm(), 1e-10 * closed.p.norm()) << trial;
  }
}

/// A slip along an axis of symmetry keeps its direction: the spatial path is the planar one.
TEST(Impact, ASpatialImpactInAPlaneOfSymmetryIsThePlanarOne) {
  for (const double slip : {0.3, 5.0}) {
    DenseMatrix D = DenseMatrix::Zero(3, 3);
    D.topLeftCorner(2, 2) = rod(1.0);
    D(2, 2) = 1.7;
    const ImpactSolution planar = solved(one_contact(rod(1.0), vector({-1, slip}), 0.4, 0.7, ImpactLaw::energetic));
    const ImpactSolution spatial = solved(one_contact(D, vector({-1, slip, 0}), 0.4, 0.7, ImpactLaw::energetic));
    EXPECT_LT((spatial.p.head(2) - planar.p).norm(), 1e-11);
    EXPECT_NEAR(spatial.p[2], 0, 1e-13);
    // Turned in the tangential plane: the same, turned.
    DenseMatrix R = DenseMatrix::Identity(3, 3);
    R.bottomRightCorner(2, 2) << 0.6, -0.8, 0.8, 0.6;
    const ImpactSolution turned =
        solved(one_contact(R * D * R.transpose(), R * vector({-1, slip, 0}), 0.4, 0.7, ImpactLaw::energetic));
    EXPECT_LT((turned.p - R * spatial.p).norm(), 1e-10);
  }
}

/// The direction of slip turns through the impact. Independent: many small steps of the impulse, extrapolated.
TEST(Impact, TheSpatialPathFollowsTheTurningSlip) {
  DenseMatrix D(3, 3);
  D << 1, 0.3, -0.2, 0.3, 2, 0.4, -0.2, 0.4, 1.2;
  const Vector u0 = vector({-1, 0.7, -1.6});
  const double mu = 0.3;
  const ImpactSolution s = solved(one_contact(D, u0, mu, 0, ImpactLaw::energetic));  // up to the end of compression
  auto midpoint = [&](int steps) {
    const double dp = s.p[0] / steps;
    Vector u = u0;
    for (int k = 0; k < steps; ++k) {
      auto rate = [&](const Vector& x) -> Vector {
        const Vector slip = x.tail(2).normalized();
        return D * vector({1, -mu * slip[0], -mu * slip[1]});
      };
      u += dp * rate(u + 0.5 * dp * rate(u));
    }
    return u;
  };
  const Vector coarse = midpoint(2000), fine = midpoint(4000), exact = (4 * fine - coarse) / 3;
  EXPECT_LT((s.u - exact).norm(), 1e-9);
  EXPECT_NEAR(s.u[0], 0, 1e-11);
  EXPECT_GT(std::abs(std::atan2(exact[2], exact[1]) - std::atan2(u0[2], u0[1])), 0.05);  // it did turn
}

TEST(Impact, ContactsThatDoNotKnowOfEachOtherAreImpactsOfTheirOwn) {
  RandomImpacts random;
  for (const ImpactLaw law : {ImpactLaw::poisson, ImpactLaw::energetic}) {
    const ImpactProblem a = one_contact(rod(1.0), vector({-1, 0.3}), 0.5, 0.7, law);
    const ImpactProblem b = one_contact(rod(0.4), vector({-2, -0.1}), 0.5, 0.2, law);
    ImpactProblem both{DenseMatrix::Zero(4, 4), Vector(4), {a.contacts[0], b.contacts[0]}};
    both.D.topLeftCorner(2, 2) = a.D;
    both.D.bottomRightCorner(2, 2) = b.D;
    both.u << a.u, b.u;
    const ImpactSolution s = solved(both);
    EXPECT_EQ(s.p.head(2), solved(a).p);
    EXPECT_EQ(s.p.tail(2), solved(b).p);
  }
}

/// A plate that lands flat: equal impulses, no spin, the velocity of a single contact.
TEST(Impact, ASymmetricLandingStaysSymmetric) {
  const double J = 0.1, arm = 0.5;  // of mass 1 on two feet, without friction
  DenseMatrix D(2, 2);
  D << 1 + arm * arm / J, 1 - arm * arm / J, 1 - arm * arm / J, 1 + arm * arm / J;
  for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::energetic}) {
    const ImpactSolution s = solved({D, vector({-2, -2}), {{half_line_set(), 0.6, law}, {half_line_set(), 0.6, law}}});
    EXPECT_NEAR(s.u[0], 1.2, 1e-9) << to_string(law);
    EXPECT_NEAR(s.u[1], 1.2, 1e-9) << to_string(law);
    EXPECT_NEAR(s.p[0], 1.6, 1e-9) << to_string(law);
  }
}

/// Three equal balls in a row, e = 1: Newton sends two on together, springs send most of it to the last.
TEST(Impact, ARowOfBallsKeepsMomentumAndEnergy) {
  DenseMatrix D(2, 2);
  D << 2, -1, -1, 2;
  const Vector u = vector({-1, 0});
  const auto velocities = [](const ImpactSolution& s) { return vector({1 - s.p[0], s.p[0] - s.p[1], s.p[1]}); };
  const auto impact = [&](ImpactLaw law) {
    return velocities(solved({D, u, {{half_line_set(), 1, law}, {half_line_set(), 1, law}}}));
  };
  const Vector newton = impact(ImpactLaw::newton), energetic = impact(ImpactLaw::energetic);
  EXPECT_LT((newton - vector({-1.0 / 3, 2.0 / 3, 2.0 / 3})).norm(), 1e-13);
  EXPECT_LT((energetic - vector({-0.1303, 0.1502, 0.9800})).norm(), 1e-4);  // equal linear springs, known
  EXPECT_NEAR(energetic.sum(), 1, 1e-12);
  EXPECT_NEAR(energetic.squaredNorm(), 1, 1e-9);
  EXPECT_GT(energetic[2], 0.98);
  EXPECT_LT(std::abs(energetic[0]), 0.15);
}

TEST(Impact, TheStrongestLawHoldsForAllContactsOfOneImpact) {
  RandomImpacts random;
  ImpactProblem problem = random.impact(2, 2, ImpactLaw::energetic, false);
  problem.u[0] = -1;
  const ImpactSolution all = solved(problem);
  problem.contacts[1].law = ImpactLaw::newton;
  EXPECT_EQ(solved(problem).p, all.p);
}

/// Lengths times L, masses times m, times times T: D times 1/m, u times L/T, p times m L/T.
TEST(Impact, UnitsDoNotMatter) {
  RandomImpacts random;
  for (const ImpactLaw law : {ImpactLaw::poisson, ImpactLaw::energetic})
    for (const int size : {1, 2, 3})
      for (int contacts = 1; contacts <= 2; ++contacts) {
        const ImpactProblem plain = random.impact(contacts, size, law, true);
        const Vector p = solved(plain).p;
        for (const double mass : {0x1p-20, 0x1p20})
          for (const double speed : {0x1p-20, 0x1p20}) {
            ImpactProblem other = plain;
            other.D /= mass;
            other.u *= speed;
            EXPECT_LE((solved(other).p / (mass * speed) - p).norm(), 1e-12 * p.norm())
                << to_string(law) << " size " << size << " contacts " << contacts;
          }
      }
}

TEST(Impact, NothingHappensWhereNothingApproaches) {
  for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::energetic}) {
    const ImpactSolution s = solved(one_contact(rod(1.0), vector({0.2, 1}), 0.5, 0.7, law));
    EXPECT_EQ(s.p, Vector::Zero(2)) << to_string(law);
    EXPECT_EQ(s.work, 0);
  }
}

TEST(Impact, KnowsItsNames) {
  for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::energetic})
    EXPECT_EQ(impact_law_from(to_string(law)), law);
  try {
    impact_law_from("energtic");
    FAIL() << "an unknown word was taken";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("energetic"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace stickslip::impact_test
