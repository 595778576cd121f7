// SPDX-License-Identifier: Apache-2.0
#include "stickslip/continuation/path_following.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "stickslip/common/error.hpp"
#include "stickslip/continuation/deflation.hpp"

namespace stickslip::path_following_test {
namespace {

/// One unknown, F and its derivatives given; a test function where one is given.
struct Curve final : PathProblem {
  std::function<double(double, double)> f, by_x, by_s, watched;
  Index size() const override { return 1; }
  bool residual(const Vector& x, double s, Vector& F) override {
    F = Vector::Constant(1, f(x[0], s));
    return std::isfinite(F[0]);
  }
  bool jacobian(const Vector& x, double s, DenseMatrix& A, Vector& b) override {
    A = DenseMatrix::Constant(1, 1, by_x(x[0], s));
    b = Vector::Constant(1, by_s(x[0], s));
    return true;
  }
  TestKind kind = TestKind::root;
  Index tests() const override { return watched ? 1 : 0; }
  TestKind test_kind(Index) const override { return kind; }
  bool test(const Vector& x, double s, Vector& values) override {
    values[0] = watched(x[0], s);
    return true;
  }
};

Curve circle() {
  Curve c;
  c.f = [](double x, double s) { return x * x + s * s - 1; };
  c.by_x = [](double x, double) { return 2 * x; };
  c.by_s = [](double, double s) { return 2 * s; };
  return c;
}

TEST(PathFollowing, CircleIsFollowedThroughItsFoldAndBackOutOfTheRange) {
  Curve c = circle();
  const Path path = follow_path(c, Vector::Constant(1, 1.0), {.from = 0, .to = 3, .largest_step = 0.1});
  EXPECT_EQ(path.status, Status::success) << path.message;
  // The range of s is [0, 3]: the path ends where it comes back through s = 0, on the other side of the circle.
  EXPECT_NEAR(path.points.back().s, 0, 1e-12);
  EXPECT_NEAR(path.points.back().x[0], -1, 1e-10);
  ASSERT_EQ(path.special.size(), 1u);
  EXPECT_EQ(path.special[0].kind, SpecialPoint::Kind::fold);
  EXPECT_NEAR(path.special[0].point.s, 1, 1e-10);
  for (const PathPoint& p : path.points) EXPECT_NEAR(p.x[0] * p.x[0] + p.s * p.s, 1, 1e-10);
}

/// Cosine and sine of the response of x'' + 2 zeta x' + x = cos s t.
struct Resonance final : PathProblem {
  double zeta = 0.01;
  bool grows = true;  ///< its size is known
  Index size() const override { return 2; }
  bool residual(const Vector& x, double s, Vector& F) override {
    DenseMatrix A;
    Vector by_s;
    jacobian(x, s, A, by_s);
    F = A * x - Vector::Unit(2, 0);
    return true;
  }
  bool jacobian(const Vector& x, double s, DenseMatrix& A, Vector& by_s) override {
    A.resize(2, 2);
    A << 1 - s * s, 2 * zeta * s, -2 * zeta * s, 1 - s * s;
    by_s = Vector(2);
    by_s << -2 * s * x[0] + 2 * zeta * x[1], -2 * zeta * x[0] - 2 * s * x[1];
    return true;
  }
  double magnitude(const Vector& x, double) override { return grows ? 2 * x.norm() : 1; }
};

TEST(PathFollowing, ResonanceIsGoneOverWithStepsOfOneSizeBesideTheSolution) {
  for (const bool up : {true, false}) {
    Resonance curve;
    PathOptions options{.from = up ? 0.5 : 2, .to = up ? 2 : 0.5, .step = 0.05, .largest_step = 0.1 / 1.5};
    options.largest_turn = 0.7;
    const Path path = follow_path(curve, Vector::Zero(2), options);
    ASSERT_EQ(path.status, Status::success) << path.message;
    EXPECT_LE(path.points.size(), 120u);
    EXPECT_TRUE(path.special.empty());
    double peak = 0, widest = 0;
    for (std::size_t k = 1; k < path.points.size(); ++k) {
      const PathPoint &a = path.points[k - 1], &b = path.points[k];
      peak = std::max(peak, b.x.norm());
      widest = std::max(widest, (b.x - a.x).norm() / std::min(a.x.norm(), b.x.norm()));
    }
    EXPECT_NEAR(peak, 1 / (2 * curve.zeta), 0.5);
    EXPECT_LT(widest, 0.3);
    curve.grows = false;
    options.max_points = 1000;
    EXPECT_EQ(follow_path(curve, Vector::Zero(2), options).points.size(), 1000u);  // of the size at its beginning
  }
}

TEST(PathFollowing, ClosedCurveIsWalkedOnce) {
  Curve c = circle();
  PathOptions options{.from = 0, .to = 2, .lowest = -2, .highest = 2};
  const Path path = follow_path(c, Vector::Constant(1, 1.0), options);
  EXPECT_EQ(path.status, Status::success) << path.message;
  EXPECT_TRUE(path.closed);
  EXPECT_EQ(path.special.size(), 2u);
  double length = 0;
  for (std::size_t k = 1; k < path.points.size(); ++k)
    length += std::hypot(path.points[k].x[0] - path.points[k - 1].x[0], path.points[k].s - path.points[k - 1].s);
  EXPECT_NEAR(length, 6.28, 0.2);  // one turn: chords of steps up to 0.1 long, and the last step passes the start
}

TEST(PathFollowing, CubicHasTwoFoldsWhereItsSlopeVanishes) {
  Curve c;
  c.f = [](double x, double s) { return s - (x * x * x - x); };
  c.by_x = [](double x, double) { return 1 - 3 * x * x; };
  c.by_s = [](double, double) { return 1.0; };
  const Path path = follow_path(c, Vector::Constant(1, -1.4), {.from = -1, .to = 1});
  ASSERT_EQ(path.status, Status::success) << path.message;
  EXPECT_DOUBLE_EQ(path.points.back().s, 1);
  ASSERT_EQ(path.special.size(), 2u);
  const double x = 1 / std::sqrt(3.0), s = 2 / (3 * std::sqrt(3.0));
  EXPECT_NEAR(path.special[0].point.s, s, 1e-9);
  EXPECT_NEAR(path.special[0].point.x[0], -x, 1e-6);
  EXPECT_NEAR(path.special[1].point.s, -s, 1e-9);
  EXPECT_NEAR(path.special[1].point.x[0], x, 1e-6);
}

Curve pitchfork() {
  Curve c;
  c.f = [](double x, double s) { return x * x * x - s * x; };
  c.by_x = [](double x, double s) { return 3 * x * x - s; };
  c.by_s = [](double x, double) { return -x; };
  return c;
}

TEST(PathFollowing, PitchforkIsFoundOnTheTrivialBranchAndLeftAlongTheOther) {
  Curve c = pitchfork();
  const Path path = follow_path(c, Vector::Zero(1), {.from = -1, .to = 1.1});
  ASSERT_EQ(path.status, Status::success);
  ASSERT_EQ(path.special.size(), 1u);
  const SpecialPoint& branch = path.special[0];
  EXPECT_EQ(branch.kind, SpecialPoint::Kind::branch_point);
  EXPECT_NEAR(branch.point.s, 0, 1e-7);
  EXPECT_NEAR(std::abs(branch.across[0]) / branch.across.norm(), 1, 1e-6);

  PathOptions along{.from = branch.point.s + 1e-4, .to = 1.0};
  const Path other = follow_path(c, Vector::Constant(1, 1e-2), along);
  ASSERT_EQ(other.status, Status::success) << other.message;
  EXPECT_NEAR(std::abs(other.points.back().x[0]), 1, 1e-9);
}

TEST(PathFollowing, ZeroOfATestFunctionIsLocated) {
  Curve c = circle();
  c.watched = [](double x, double) { return x - 0.6; };
  const Path path = follow_path(c, Vector::Constant(1, 1.0), {.from = 0, .to = 0.95});
  ASSERT_EQ(path.special.size(), 1u);
  EXPECT_EQ(path.special[0].kind, SpecialPoint::Kind::test);
  EXPECT_NEAR(path.special[0].point.s, 0.8, 1e-7);
}

TEST(PathFollowing, JumpOfATestFunctionIsNoRootAndARootBesideAPoleIsOne) {
  Curve c = circle();
  c.watched = [](double x, double) { return x > 0.6 ? 3.0 : -0.5; };
  EXPECT_TRUE(follow_path(c, Vector::Constant(1, 1.0), {.from = 0, .to = 0.95}).special.empty());
  c.watched = [](double x, double) {
    return x > 0.6 ? 1 / std::sqrt(x - 0.6) - 10 : 1.0;
  };  // root at 0.61, jump at 0.6
  const Path path = follow_path(c, Vector::Constant(1, 1.0), {.from = 0, .to = 0.95, .largest_step = 0.005});
  ASSERT_EQ(path.special.size(), 1u);
  EXPECT_NEAR(path.special[0].point.x[0], 0.61, 1e-7);
}

TEST(PathFollowing, ChangeOfACountIsLocatedWhateverItsSize) {
  Curve c = circle();
  c.kind = TestKind::count;
  c.watched = [](double x, double) { return x > 0.8 ? 2.0 : x > 0.6 ? 4.0 : 1.0; };
  const Path path = follow_path(c, Vector::Constant(1, 1.0), {.from = 0, .to = 0.95});
  ASSERT_EQ(path.special.size(), 2u);
  EXPECT_NEAR(path.special[0].point.x[0], 0.8, 1e-7);
  EXPECT_NEAR(path.special[1].point.x[0], 0.6, 1e-7);
}

TEST(PathFollowing, DeterminantThatJumpsAtAKinkIsNoBranchPoint) {
  Curve c;  // x = s for x < 0, and beyond it the path goes on with the other sign of F
  c.f = [](double x, double s) { return x < 0 ? x - s : s - x; };
  c.by_x = [](double x, double) { return x < 0 ? 1.0 : -1.0; };
  c.by_s = [](double x, double) { return x < 0 ? -1.0 : 1.0; };
  const Path path = follow_path(c, Vector::Constant(1, -1.0), {.from = -1, .to = 1.1});
  ASSERT_EQ(path.status, Status::success) << path.message;
  EXPECT_NEAR(path.points.back().x[0], 1.1, 1e-10);
  EXPECT_TRUE(path.special.empty());
}

TEST(PathFollowing, KinkOfAPiecewiseSmoothPathIsPassed) {
  Curve c;
  c.f = [](double x, double s) { return x - 2 * std::max(s, 0.0); };
  c.by_x = [](double, double) { return 1.0; };
  c.by_s = [](double, double s) { return s > 0 ? -2.0 : 0.0; };
  const Path path = follow_path(c, Vector::Zero(1), {.from = -1, .to = 1});
  ASSERT_EQ(path.status, Status::success) << path.message;
  EXPECT_NEAR(path.points.back().x[0], 2, 1e-10);
}

TEST(PathFollowing, EndOfTheModelIsAStatusThatKeepsThePath) {
  Curve c;  // nothing beyond s = 1/2
  c.f = [](double x, double s) { return s > 0.5 ? NAN : x - s; };
  c.by_x = [](double, double) { return 1.0; };
  c.by_s = [](double, double) { return -1.0; };
  const Path path = follow_path(c, Vector::Zero(1), {.from = 0, .to = 1});
  EXPECT_EQ(path.status, Status::not_converged);
  EXPECT_NE(path.message.find("could not be followed"), std::string::npos);
  EXPECT_NEAR(path.points.back().s, 0.5, 1e-5);
}

TEST(PathFollowing, UnitsOfXAndSDoNotMatter) {
  for (const double unit : {1e-6, 1e6}) {
    Curve c;
    c.f = [=](double x, double s) { return s / unit - (std::pow(x * unit, 3) - x * unit); };
    c.by_x = [=](double x, double) { return -unit * (3 * x * x * unit * unit - 1); };
    c.by_s = [=](double, double) { return 1 / unit; };
    PathOptions options{.from = -unit, .to = unit};
    options.x_scale = Vector::Constant(1, 1 / unit);
    const Path path = follow_path(c, Vector::Constant(1, -1.4 / unit), options);
    ASSERT_EQ(path.status, Status::success) << path.message;
    ASSERT_EQ(path.special.size(), 2u);
    EXPECT_NEAR(path.special[0].point.s / unit, 2 / (3 * std::sqrt(3.0)), 1e-9);
  }
}

TEST(PathFollowing, StopRequestAndHookEndIt) {
  Curve c = circle();
  const Path path = follow_path(c, Vector::Constant(1, 1.0), {.from = 0, .to = 0.9},
                                [](const PathPoint&, Index number) { return number < 3; });
  EXPECT_EQ(path.status, Status::interrupted);
  EXPECT_EQ(path.points.size(), 4u);
}

TEST(PathFollowing, OptionsThatMakeNoSenseAreRefused) {
  EXPECT_THROW((PathOptions{.from = 1, .to = 1}.validate()), InputError);
  EXPECT_THROW((PathOptions{.from = 0, .to = 1, .step = 2}.validate()), InputError);
  EXPECT_THROW((PathOptions{.from = 0, .to = 1, .tolerance = 0}.validate()), InputError);
}

TEST(Deflation, OneStartFindsAllThreeRootsOfACubic) {
  Curve c = pitchfork();
  std::vector<Vector> known;
  for (int k = 0; k < 3; ++k) {
    DeflatedProblem deflated(c, known);
    Vector x = Vector::Constant(1, 0.3);
    ASSERT_TRUE(solve_at(deflated, 1.0, {.from = 0, .to = 1, .max_corrections = 30}, x)) << k;
    for (const Vector& other : known) EXPECT_GT((x - other).norm(), 0.5);
    EXPECT_NEAR(x[0] * x[0] * x[0] - x[0], 0, 1e-9);
    known.push_back(x);
  }
}

TEST(Deflation, JacobianIsThatOfTheDeflatedResidual) {
  Curve c = pitchfork();
  DeflatedProblem deflated(c, {Vector::Constant(1, 1.0), Vector::Zero(1)}, Vector::Constant(1, 0.7));
  const double x = 0.4, s = 1.2, d = 1e-6;
  DenseMatrix A;
  Vector b, plus, minus;
  ASSERT_TRUE(deflated.jacobian(Vector::Constant(1, x), s, A, b));
  deflated.residual(Vector::Constant(1, x + d), s, plus);
  deflated.residual(Vector::Constant(1, x - d), s, minus);
  EXPECT_NEAR(A(0, 0), (plus[0] - minus[0]) / (2 * d), 1e-6);
  deflated.residual(Vector::Constant(1, x), s + d, plus);
  deflated.residual(Vector::Constant(1, x), s - d, minus);
  EXPECT_NEAR(b[0], (plus[0] - minus[0]) / (2 * d), 1e-6);
}

}  // namespace
}  // namespace stickslip::path_following_test
