// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/one_contact.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "stickslip/laws/set.hpp"
#include "stickslip/solvers/one_law.hpp"
#include "tests/unit/law_checks.hpp"

namespace stickslip::one_contact_test {
namespace {

using samples::Engine;
using Block = Eigen::Matrix3d;

/// |r - P(r - ρ (u + s(u)))| over max(|r|, ρ |q|): zero for solutions, whatever the units.
double relative_residual(const Set& set, const DenseMatrix& D, const Vector& q, const Vector& r) {
  const double scale = D.cwiseAbs().maxCoeff(), rho = scale > 0 ? 1 / scale : 1.0;
  const Vector u = D * r + q;
  const std::size_t n = static_cast<std::size_t>(set.size);
  const double size = std::max(r.lpNorm<Eigen::Infinity>(), rho * q.lpNorm<Eigen::Infinity>());
  return inclusion_residual(set, {r.data(), n}, {u.data(), n}, rho) / (size > 0 ? size : 1.0);
}

/// Does any solution exist? By the definition: open, stick, or some sliding direction θ, scanned finely. For D with an
/// inverse.
bool solution_exists(double mu, const Block& D, const Eigen::Vector3d& q) {
  if (q[0] >= 0) return true;
  const Eigen::Vector3d stick = D.fullPivLu().solve(-q);
  if (std::hypot(stick[1], stick[2]) <= mu * stick[0]) return true;
  auto twist = [&](double theta, bool& pushes) {
    const Eigen::Vector3d ray(1, mu * std::cos(theta), mu * std::sin(theta));
    const double n = -q[0] / D.row(0).dot(ray);
    const Eigen::Vector3d u = D * (n * ray) + q;
    pushes = n > 0 && u[1] * ray[1] + u[2] * ray[2] <= 0;  // friction opposes the slip
    return u[1] * ray[2] - u[2] * ray[1];
  };
  constexpr int steps = 4000;
  bool before = false;
  double last = twist(0, before);
  for (int k = 1; k <= steps; ++k) {
    bool now = false;
    const double next = twist(2 * std::numbers::pi * k / steps, now);
    if (before && now && (next > 0) != (last > 0)) return true;
    last = next;
    before = now;
  }
  return false;
}

Block random_block(Engine& engine, int kind) {
  Block G;
  for (int k = 0; k < 9; ++k) G.data()[k] = samples::draw(engine, -1, 1);
  Block D = G * G.transpose() + 0.05 * Block::Identity();
  if (kind == 1) D += 0.5 * (G - G.transpose());                 // not symmetric
  if (kind == 2) D = G;                                          // anything
  if (kind == 3) D = G.leftCols(2) * G.leftCols(2).transpose();  // rank 2
  if (kind == 4) D = G.col(0) * G.col(0).transpose();            // rank 1
  if (kind == 5) D *= std::pow(10.0, samples::draw(engine, -8, 8));
  return D;
}

TEST(OneContact, IsSolvedWheneverASolutionExists) {
  Engine engine(400);
  int open = 0, stick = 0, slide = 0, none = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    const int kind = trial % 6;
    const double mu = trial % 7 == 0 ? samples::draw(engine, 0.5, 3) : samples::draw(engine, 0.05, 1);
    const Block D = random_block(engine, kind);
    const Eigen::Vector3d q(samples::draw(engine, -1, 0.2), samples::draw(engine, -1, 1), samples::draw(engine, -1, 1));
    std::array<double, 9> row_major;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) row_major[3 * i + j] = D(i, j);
    Vector r = Vector::Zero(3);
    double l = 0;
    const ContactState state = solve_contact(contact_block(mu, row_major.data()), q.data(), r.data(), l);
    open += state == ContactState::open;
    stick += state == ContactState::stick;
    slide += state == ContactState::slide;
    none += state == ContactState::none;
    if (state != ContactState::none) {
      // Regular blocks to round-off times their condition (the smallest eigenvalue is 0.05); the enumeration to 1e-9.
      EXPECT_LE(relative_residual(friction_cone_set(mu, 3), D, q, r), kind == 0 || kind == 5 ? 1e-12 : 1e-9) << trial;
    } else {
      EXPECT_FALSE(kind == 0 || kind == 1 || kind == 5) << "positive definite symmetric part: always solvable";
      if (kind == 2) {
        EXPECT_FALSE(solution_exists(mu, D, q)) << trial;
      }
    }
  }
  for (const int count : {open, stick, slide, none}) EXPECT_GT(count, 100);
}

TEST(OneContact, SlidingMatchesTheClosedFormOfAnIsotropicBlock) {
  // D = I, q = (-1, t, 0): r_N = 1, stick up to t = μ, then r_T = -μ and u_T = t - μ.
  const std::array<double, 9> identity{1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (const double t : {0.1, 0.29999, 0.3, 0.30001, 0.5, 10.0, 1e8}) {
    const std::array<double, 3> q{-1, t, 0};
    std::array<double, 3> r{};
    double l = 0;
    const ContactState state = solve_contact(contact_block(0.3, identity.data()), q.data(), r.data(), l);
    EXPECT_EQ(state, t <= 0.3 ? ContactState::stick : ContactState::slide);
    EXPECT_NEAR(r[0], 1, 1e-15);
    EXPECT_NEAR(r[1], -std::min(t, 0.3), 1e-15);
    EXPECT_NEAR(r[2], 0, 1e-15);
  }
}

TEST(OneContact, WithoutFrictionOnlyTheNormalPushes) {
  const std::array<double, 9> D{2, 0.3, 0, 0.3, 1, 0, 0, 0, 1}, zero{};
  const std::array<double, 3> q{-1, 5, -3}, away{1, 2, 3};
  std::array<double, 3> r{1, 1, 1};
  double l = 0;
  EXPECT_EQ(solve_contact(contact_block(0, D.data()), q.data(), r.data(), l), ContactState::slide);
  EXPECT_EQ(r, (std::array<double, 3>{0.5, 0, 0}));
  EXPECT_EQ(solve_contact(contact_block(0.5, zero.data()), q.data(), r.data(), l), ContactState::none);
  EXPECT_EQ(solve_contact(contact_block(0.5, zero.data()), away.data(), r.data(), l), ContactState::open);
}

TEST(PlanarContact, IsSolvedWheneverOneOfItsFourCandidatesHolds) {
  Engine engine(401);
  int none = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const double mu = samples::draw(engine, 0.0, 2);
    DenseMatrix D(2, 2);
    for (Index k = 0; k < 4; ++k) D.data()[k] = samples::draw(engine, -1, 1);
    if (trial % 2) D = (D * D.transpose()).eval();
    const Vector q = samples::random_vector(engine, 2);
    const std::array<double, 4> block{D(0, 0), D(0, 1), D(1, 0), D(1, 1)};
    Vector r = Vector::Zero(2);
    if (solve_planar_contact(mu, block.data(), q.data(), r.data()) != ContactState::none) {
      EXPECT_LE(relative_residual(friction_cone_set(mu, 2), D, q, r), 1e-9);
      continue;
    }
    ++none;
    EXPECT_LT(q[0], 0);
    const Vector stick = D.fullPivLu().solve(-q);
    EXPECT_FALSE(std::abs(stick[1]) < mu * stick[0] - 1e-9);
    for (const double slope : {mu, -mu}) {
      const double n = -q[0] / (D(0, 0) + slope * D(0, 1));
      const double u = q[1] + (D(1, 0) + slope * D(1, 1)) * n;
      EXPECT_FALSE(n > 0 && slope * u < -1e-9 * std::abs(n)) << trial;
    }
  }
  EXPECT_GT(none, 100);
}

TEST(OneLaw, IsExactForEverySetAndEveryPositiveBlock) {
  Engine engine(402);
  for (const Set& set : samples::all_sets()) {
    for (int trial = 0; trial < 40; ++trial) {
      const Index n = set.size;
      DenseMatrix D = samples::random_spd(engine, n, 0.1);
      if (trial % 2) samples::add_skew(engine, D, 0.3);
      const Vector q = samples::random_vector(engine, n, 2.0);
      std::array<double, 9> block{};
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) block[i * n + j] = D(i, j);
      Vector r = Vector::Zero(n);
      // The section of a polygonal cone with a large coefficient may turn D + ... indefinite: then there need not be
      // one.
      if (!solve_one_law(set, block.data(), q.data(), r.data())) {
        EXPECT_TRUE(is_cone(set.kind) && set.limit > 1) << samples::label(set);
        continue;
      }
      EXPECT_LE(relative_residual(set, D, q, r), 1e-11) << samples::label(set);
    }
  }
}

TEST(OneLaw, PlanarFrictionHasASolutionForAnyBlock) {
  Engine engine(403);
  for (int trial = 0; trial < 2000; ++trial) {
    const Set set = trial % 3 == 0 ? disk_set(0.7) : trial % 3 == 1 ? polygon_set(0.7, 6) : box_set(0.7);
    DenseMatrix D(2, 2);
    for (Index k = 0; k < 4; ++k) D.data()[k] = samples::draw(engine, -1, 1);
    if (trial % 4 == 0) D.setZero();
    if (trial % 4 == 1) D = DenseMatrix(D.col(0) * D.col(0).transpose());
    const Vector q = samples::random_vector(engine, 2);
    const std::array<double, 4> block{D(0, 0), D(0, 1), D(1, 0), D(1, 1)};
    Vector r = Vector::Zero(2);
    ASSERT_TRUE(solve_one_law(set, block.data(), q.data(), r.data()));
    EXPECT_LE(relative_residual(set, D, q, r), 1e-9) << trial << " " << samples::label(set);
  }
}

}  // namespace
}  // namespace stickslip::one_contact_test
