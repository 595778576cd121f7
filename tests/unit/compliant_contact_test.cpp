// SPDX-License-Identifier: Apache-2.0
// Forces of coupled compliant contacts: conditions of the complementarity problem and of the variational inequality,
// checked from the definitions; slopes against differences.
#include "stickslip/solvers/compliant_contact.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stickslip/common/error.hpp"

namespace stickslip::compliant_contact_test {
namespace {

DenseMatrix random_definite(Index n, std::mt19937& random, double size) {
  std::normal_distribution<double> number;
  DenseMatrix A(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) A(i, j) = number(random);
  return size * (A * A.transpose() / static_cast<double>(n) + 0.2 * DenseMatrix::Identity(n, n));
}

CompliantProblem random_problem(int contacts, std::mt19937& random) {
  std::normal_distribution<double> number;
  CompliantProblem p;
  Index T = 0;
  for (int k = 0; k < contacts; ++k) {
    CompliantPoint point;
    point.mu = 0.2 + 0.1 * k;
    point.tangents = k % 3 == 2 ? 1 : 2;
    point.first = T;
    if (k % 3 == 1) point.section = FrictionSection::regular(6, k % 2 == 0, 0.3);
    T += point.tangents;
    p.points.push_back(point);
  }
  p.K = random_definite(contacts + T, random, 1000);
  p.C = random_definite(T, random, 20);
  const auto fill = [&](Vector& x, Index n, double size) {
    x.resize(n);
    for (Index i = 0; i < n; ++i) x[i] = size * number(random);
  };
  fill(p.gap, contacts, 0.01);
  fill(p.normal_velocity, contacts, 0.1);
  fill(p.deformation, T, 0.005);
  fill(p.velocity, T, 0.3);
  return p;
}

/// The conditions of the problem, relative to the largest force: λ_n, s_n >= 0 and complementary; λ_T in its section
/// with the slip velocity opposite to it (maximal dissipation).
double violation(const CompliantProblem& p, const CompliantSolution& s) {
  const auto N = static_cast<Index>(p.points.size());
  const Index T = p.deformation.size();
  Vector delta(N + T);
  delta << s.separation - p.gap, p.deformation;
  const Vector elastic = p.K * delta;
  const double size = std::max(elastic.lpNorm<Eigen::Infinity>(), (p.C * p.velocity).lpNorm<Eigen::Infinity>());
  double worst = 0;
  for (Index i = 0; i < N; ++i) {
    worst = std::max({worst, -s.normal[i], std::abs(s.normal[i] - elastic[i]), -s.separation[i] * p.K(i, i),
                      std::min(s.normal[i], s.separation[i] * p.K(i, i))});
    const CompliantPoint& point = p.points[static_cast<std::size_t>(i)];
    const double rho = point.mu * s.normal[i];
    const Vector slip = p.C.llt().solve(s.tangential - elastic.tail(T) + p.C * p.velocity);
    const auto l = s.tangential.segment(point.first, point.tangents);
    const auto u = slip.segment(point.first, point.tangents);
    const double speed = p.velocity.lpNorm<Eigen::Infinity>();
    if (point.tangents == 1) {
      worst =
          std::max({worst, std::abs(l[0]) - rho, size * std::abs(rho * std::abs(u[0]) + l[0] * u[0]) / (size * speed)});
      continue;
    }
    worst = std::max(worst, point.section.excess(rho, {l[0], l[1]}));
    double support = rho * u.norm();  // sup of -u·l over the section
    if (!point.section.round()) {
      support = 0;
      for (int k = 0; k < point.section.facets(); ++k)
        support = std::max(support, -rho * (u[0] * point.section.vertex(k)[0] + u[1] * point.section.vertex(k)[1]));
    }
    worst = std::max(worst, std::abs(support + l.dot(u)) / speed);
  }
  return worst / size;
}

TEST(CompliantContact, CoupledForcesSatisfyTheirConditions) {
  std::mt19937 random(11);
  for (const int contacts : {1, 2, 3, 5, 9})
    for (int k = 0; k < 100; ++k) {
      const CompliantProblem p = random_problem(contacts, random);
      CompliantWorkspace workspace;
      CompliantSolution s;
      solve(p, workspace, s);
      ASSERT_EQ(s.status, Status::success);
      EXPECT_LT(violation(p, s), 1e-12) << contacts;
    }
}

TEST(CompliantContact, ForcesDoNotDependOnWhatTheWorkspaceHolds) {
  std::mt19937 random(5);
  CompliantWorkspace used;
  CompliantSolution s, fresh;
  for (int k = 0; k < 200; ++k) {
    CompliantProblem p = random_problem(4, random);
    p.damping_version = static_cast<unsigned long>(k);
    solve(p, used, s);
    CompliantWorkspace clean;
    solve(p, clean, fresh);
    EXPECT_LT((s.tangential - fresh.tangential).norm(), 1e-12 * (1 + fresh.tangential.norm()));
    EXPECT_LT((s.normal - fresh.normal).norm(), 1e-12 * (1 + fresh.normal.norm()));
  }
}

TEST(CompliantContact, SlopesAreThoseOfTheForces) {
  std::mt19937 random(23);
  std::normal_distribution<double> number;
  int compared = 0;
  for (int k = 0; k < 200; ++k) {
    const CompliantProblem p = random_problem(1 + k % 4, random);
    const auto N = static_cast<Index>(p.points.size());
    const Index T = p.deformation.size();
    CompliantVariation d;
    const auto fill = [&](Vector& x, Index n, double size) {
      x.resize(n);
      for (Index i = 0; i < n; ++i) x[i] = size * number(random);
    };
    fill(d.gap, N, 0.01);
    fill(d.normal_velocity, N, 0.1);
    fill(d.deformation, T, 0.005);
    fill(d.velocity, T, 0.3);
    fill(d.mu, N, 0.1);
    fill(d.normal_damping, N, 0);
    fill(d.own_force, N, 0);
    d.K = random_definite(N + T, random, 100);
    d.C = random_definite(T, random, 2);
    CompliantWorkspace w;
    CompliantSolution s, plus, minus;
    solve(p, w, s);
    vary(p, s, w, d);
    const auto moved = [&](double h) {
      CompliantProblem q = p;
      q.gap += h * d.gap;
      q.normal_velocity += h * d.normal_velocity;
      q.deformation += h * d.deformation;
      q.velocity += h * d.velocity;
      q.K += h * d.K;
      q.C += h * d.C;
      for (Index i = 0; i < N; ++i) q.points[static_cast<std::size_t>(i)].mu += h * d.mu[i];
      CompliantWorkspace other;
      CompliantSolution result;
      solve(q, other, result);
      return result;
    };
    const double h = 1e-6;
    plus = moved(h);
    minus = moved(-h);
    if (plus.pieces != s.pieces || minus.pieces != s.pieces) continue;  // a kink lies between
    ++compared;
    const double size = s.normal.norm() + s.tangential.norm() + 1;
    EXPECT_LT(((plus.normal - minus.normal) / (2 * h) - d.normal).norm(), 1e-6 * (d.normal.norm() + size));
    EXPECT_LT(((plus.tangential - minus.tangential) / (2 * h) - d.tangential).norm(),
              1e-6 * (d.tangential.norm() + size));
    EXPECT_LT(((plus.rate - minus.rate) / (2 * h) - d.rate).norm(), 1e-6 * (d.rate.norm() + size));
  }
  EXPECT_GT(compared, 150);
}

TEST(CompliantContact, NormalLawAndDampingOfOneContact) {
  CompliantProblem p;
  CompliantPoint point;
  point.mu = 0.5;
  point.tangents = 1;
  point.own_normal = true;
  point.own_force = 8;
  point.own_slope = 300;
  point.normal_damping = 10;
  p.points = {point};
  p.K = DenseMatrix{{1, 0}, {0, 100}};
  p.C = DenseMatrix{{4}};
  p.gap = Vector{{-0.04}};
  p.normal_velocity = Vector{{0.2}};
  p.deformation = Vector{{-0.1}};
  p.velocity = Vector{{1}};
  CompliantWorkspace w;
  CompliantSolution s;
  solve(p, w, s);
  EXPECT_NEAR(s.normal[0], 8 - 10 * 0.2, 1e-14);
  EXPECT_NEAR(s.tangential[0], -3, 1e-14);  // e = -10, trial -14, limit 3
  p.normal_velocity[0] = 2;                 // the damper would pull
  solve(p, w, s);
  EXPECT_EQ(s.normal[0], 0);
  EXPECT_TRUE(s.pieces[0].pulls);
}

/// weights·vary(changes) = pull_back(weights)·changes, to round-off, for contacts of every kind, alone and coupled.
TEST(CompliantContact, PullingBackIsTheTransposeOfVarying) {
  std::mt19937 random(7);
  std::normal_distribution<double> number;
  const auto fill = [&](auto& x) {
    for (Index i = 0; i < x.size(); ++i) x.data()[i] = number(random);
  };
  int open = 0, closed = 0;
  for (int sample = 0; sample < 300; ++sample) {
    CompliantProblem p = random_problem(1 + sample % 5, random);
    const auto N = static_cast<Index>(p.points.size()), T = p.deformation.size();
    for (CompliantPoint& point : p.points) point.normal_damping = sample % 2 == 0 ? 0.0 : 30.0;
    if (N == 1 && sample % 3 == 0) {
      p.points[0].own_normal = true;
      p.points[0].own_force = std::max(0.0, -2e4 * p.gap[0]);
      p.points[0].own_slope = 2e4;
    }
    CompliantWorkspace workspace;
    CompliantSolution solution;
    solve(p, workspace, solution);
    ASSERT_EQ(solution.status, Status::success);
    for (const ContactPieces& piece : solution.pieces) ++(piece.closed ? closed : open);
    CompliantVariation d{.gap = Vector(N),
                         .normal_velocity = Vector(N),
                         .deformation = Vector(T),
                         .velocity = Vector(T),
                         .mu = Vector(N),
                         .normal_damping = Vector(N),
                         .own_force = Vector(N),
                         .section = {},
                         .K = DenseMatrix(N + T, N + T),
                         .C = DenseMatrix(T, T),
                         .normal = {},
                         .tangential = {},
                         .rate = {}};
    for (Vector* x : {&d.gap, &d.normal_velocity, &d.deformation, &d.velocity, &d.mu, &d.normal_damping, &d.own_force})
      fill(*x);
    for (DenseMatrix* x : {&d.K, &d.C}) fill(*x);
    vary(p, solution, workspace, d);
    CompliantCotangent c;
    c.normal.resize(N);
    for (Vector* x : {&c.tangential, &c.rate}) x->resize(T);
    for (Vector* x : {&c.normal, &c.tangential, &c.rate}) fill(*x);
    pull_back(p, solution, workspace, c);
    const double forward = c.normal.dot(d.normal) + c.tangential.dot(d.tangential) + c.rate.dot(d.rate);
    const double back = c.gap.dot(d.gap) + c.normal_velocity.dot(d.normal_velocity) + c.deformation.dot(d.deformation) +
                        c.velocity.dot(d.velocity) + c.mu.dot(d.mu) + c.normal_damping.dot(d.normal_damping) +
                        c.own_force.dot(d.own_force) + c.K.cwiseProduct(d.K).sum() + c.C.cwiseProduct(d.C).sum();
    const double size =
        c.normal.norm() * d.normal.norm() + c.tangential.norm() * d.tangential.norm() + c.rate.norm() * d.rate.norm();
    EXPECT_NEAR(forward, back, 1e-11 * size) << sample;
  }
  EXPECT_GT(open, 50);
  EXPECT_GT(closed, 200);
}

TEST(CompliantContact, MatricesThatAreNoneAreRefusedWithTheReason) {
  CompliantProblem p;
  p.points.resize(1);
  p.points[0].tangents = 1;
  p.deformation = Vector::Zero(1);
  const auto message = [&] {
    try {
      validate(p, "contact 'floor'");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  p.K = DenseMatrix{{1, 2}, {2, 1}};
  p.C = DenseMatrix{{1}};
  EXPECT_NE(message().find("smallest eigenvalue is -1"), std::string::npos) << message();
  p.K = DenseMatrix{{1, 0.5}, {0, 1}};
  EXPECT_NE(message().find("not symmetric"), std::string::npos) << message();
  p.K = DenseMatrix{{1}};
  EXPECT_NE(message().find("1 x 1"), std::string::npos) << message();
  p.K = DenseMatrix{{1, 0}, {0, 1}};
  p.C = DenseMatrix{{0}};
  EXPECT_NE(message().find("damping"), std::string::npos) << message();
}

}  // namespace
}  // namespace stickslip::compliant_contact_test
