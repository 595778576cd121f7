// SPDX-License-Identifier: Apache-2.0
// Limits that follow reactions, c = f(R0 + R1 c): all roots for one law, against closed forms and random convex f.
#include "stickslip/motion/event/limit_loop.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stickslip/io/model_file.hpp"

namespace stickslip::limit_loop_test {
namespace {

/// A system whose friction laws have these limits over the reactions r_a and r_b of two constraints.
ModelFile with_limits(const std::vector<std::string>& limits) {
  std::string text = R"toml(
[matrices]
coordinates = ["x", "y", "z"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
[[constraint]]
name = "a"
position = "y"
[[constraint]]
name = "b"
position = "z"
[run]
scheme = "event"
end_time = 1
)toml";
  for (const std::string& limit : limits) text += fmt::format("[[friction]]\non = \"x\"\nlimit = \"{}\"\n", limit);
  return parse_model(text, "test.toml");
}

struct Fixture {
  explicit Fixture(const std::vector<std::string>& texts) : model(with_limits(texts)), limits(*model.system) {
    limits.place(0, Vector::Zero(3), Vector::Zero(3));
    for (std::size_t k = 0; k < texts.size(); ++k) loop.laws.push_back(k);
  }
  std::vector<Vector> all(const Vector& R0, const DenseMatrix& R1) {
    loop.R0 = R0;
    loop.R1 = R1;
    std::vector<Vector> roots;
    loop.solve_all(limits, roots);
    return roots;
  }
  ModelFile model;
  FollowingLimits limits;
  LimitLoop loop;
};

TEST(LimitLoop, AbsoluteValueHasOneNoneOrTwoRootsAsItsGainSays) {
  Fixture f({"0.5*abs(r_a)"});
  // c = |R0 + g c|/2
  std::vector<Vector> roots = f.all(Vector{{4, 0}}, DenseMatrix{{1.0}, {0.0}});
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_NEAR(roots[0][0], 4, 1e-14);
  EXPECT_TRUE(f.all(Vector{{4, 0}}, DenseMatrix{{2.5}, {0.0}}).empty());
  roots = f.all(Vector{{4, 0}}, DenseMatrix{{-3.0}, {0.0}});
  ASSERT_EQ(roots.size(), 2u);
  EXPECT_NEAR(roots[0][0], 4 / 5.0, 1e-15);
  EXPECT_NEAR(roots[1][0], 4, 1e-14);
  Vector c;
  ASSERT_TRUE(f.loop.solve(f.limits, c));
  EXPECT_NEAR(c[0], 0.8, 1e-15);
  EXPECT_NEAR(f.loop.regularity(), 2.5, 1e-15);
  EXPECT_NEAR(f.loop.regularity_at(f.limits, roots[1]), -0.5, 1e-15);
  roots = f.all(Vector{{0, 0}}, DenseMatrix{{1.0}, {0.0}});
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_EQ(roots[0][0], 0);
}

TEST(LimitLoop, FindsAllRootsOfRandomNormsInAnyUnits) {
  Fixture f({"0.3*sqrt(r_a^2 + 2*r_b^2) + 0.2*abs(r_a - r_b)"});
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> uniform(-4, 4), exponent(-9, 9);
  int several = 0, none = 0;
  for (int sample = 0; sample < 300; ++sample) {
    const double unit = std::pow(10, exponent(generator));
    const Vector R0 = unit * Vector{{uniform(generator), uniform(generator)}};
    const DenseMatrix R1{{uniform(generator)}, {uniform(generator)}};
    auto F = [&](double c) {
      const double a = R0[0] + c * R1(0, 0), b = R0[1] + c * R1(1, 0);
      return c - 0.3 * std::sqrt(a * a + 2 * b * b) - 0.2 * std::abs(a - b);
    };
    // F is concave: its largest value by ternary search over far more than its forces tells how many roots there are.
    double low = 0, high = 1e6 * unit;
    for (int i = 0; i < 300; ++i) {
      const double third = (high - low) / 3;
      (F(low + third) < F(high - third) ? low : high) = F(low + third) < F(high - third) ? low + third : high - third;
    }
    const bool any = F(low) > 1e-9 * unit, grows = F(1e6 * unit) > 0;
    if (std::abs(F(low)) <= 1e-9 * unit) continue;
    const std::vector<Vector> roots = f.all(R0, R1);
    ASSERT_EQ(roots.size(), !any ? 0u : grows ? 1u : 2u) << sample;
    for (const Vector& root : roots) EXPECT_NEAR(F(root[0]), 0, 1e-13 * (std::abs(root[0]) + unit)) << sample;
    several += roots.size() == 2;
    none += roots.empty();
  }
  EXPECT_GT(several, 10);
  EXPECT_GT(none, 10);
}

TEST(LimitLoop, FindsRootsOfLimitsThatAreNotConvex) {
  Fixture f({"min(1 + 0.1*abs(r_a), 3) + max(0, abs(r_a) - 50)*0.9"});
  // c = f(2 c): 1/(1 - 0.2), then from 3 + 1.8 (c - 25) = c down to 52.5
  const std::vector<Vector> roots = f.all(Vector{{0, 0}}, DenseMatrix{{2.0}, {0.0}});
  ASSERT_EQ(roots.size(), 2u);
  EXPECT_NEAR(roots[0][0], 1.25, 1e-14);
  EXPECT_NEAR(roots[1][0], 52.5, 1e-12);
}

TEST(LimitLoop, SeveralLawsAreSolvedTogether) {
  Fixture f({"0.5*abs(r_a)", "0.3*sqrt(r_a^2 + r_b^2)"});
  f.loop.R0 = Vector{{3, -1}};
  f.loop.R1 = DenseMatrix{{0.4, -0.2}, {0.1, 0.5}};
  Vector c;
  ASSERT_TRUE(f.loop.solve(f.limits, c));
  const Vector R = f.loop.R0 + f.loop.R1 * c;
  EXPECT_NEAR(c[0], 0.5 * std::abs(R[0]), 1e-14);
  EXPECT_NEAR(c[1], 0.3 * R.norm(), 1e-14);
  const double step = 1e-6;
  auto value = [&](const Vector& at) {
    const Vector x = f.loop.R0 + f.loop.R1 * at;
    return Vector{{0.5 * std::abs(x[0]), 0.3 * x.norm()}};
  };
  DenseMatrix J = DenseMatrix::Identity(2, 2);
  for (Index k = 0; k < 2; ++k)
    J.col(k) -= (value(c + step * Vector::Unit(2, k)) - value(c - step * Vector::Unit(2, k))) / (2 * step);
  EXPECT_NEAR(f.loop.regularity(), J.determinant(), 1e-9);
}

}  // namespace
}  // namespace stickslip::limit_loop_test
