// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/weakening.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "stickslip/common/error.hpp"

namespace stickslip::weakening_test {
namespace {

constexpr WeakeningShape shapes[] = {WeakeningShape::algebraic, WeakeningShape::arctan, WeakeningShape::tanh,
                                     WeakeningShape::clamp, WeakeningShape::exponential};
constexpr double rounding = 8.0 * std::numeric_limits<double>::epsilon();

TEST(Weakening, HasTheSlopeOfItsDifferenceQuotient) {
  // Central difference with h = 1e-5 ε: truncation γ''' h²/6 <= 1e-10 β/ε, rounding 1e-16/1e-5 = 1e-11 β/ε. Across the
  // kinks of clamp (±ε) and of the exponential's curvature (0) nothing is asked.
  std::mt19937_64 random(51);
  std::uniform_real_distribution<double> position(-6.0, 6.0);
  for (const WeakeningShape shape : shapes) {
    for (const double epsilon : {1e-4, 0.1, 3.0}) {
      const Weakening w{shape, 0.4, epsilon};
      for (int i = 0; i < 2000; ++i) {
        const double x = position(random), h = 1e-5 * epsilon, v = x * epsilon;
        if (std::abs(std::abs(x) - 1.0) < 1e-4 || std::abs(x) < 1e-4) continue;
        const double quotient = (weakening(w, v + h) - weakening(w, v - h)) / (2.0 * h);
        ASSERT_NEAR(quotient, weakening_slope(w, v), 1e-9 * w.beta / epsilon) << to_string(shape) << " at " << x;
      }
      // At rest every shape is differentiable; the exponential's curvature jumps there by 2β/ε², hence the error h/ε.
      const double h = 1e-7 * epsilon;
      const double quotient = (weakening(w, h) - weakening(w, -h)) / (2.0 * h);
      EXPECT_NEAR(quotient, weakening_slope(w, 0.0), 2e-7 * w.beta / epsilon) << to_string(shape);
    }
  }
}

TEST(Weakening, IsOddNonDecreasingAndBoundedByBeta) {
  for (const WeakeningShape shape : shapes) {
    const Weakening w{shape, 0.7, 0.05};
    double previous = 0.0;
    for (int i = 0; i <= 20000; ++i) {
      const double v = 1e-4 * i, gamma = weakening(w, v);
      ASSERT_GE(gamma, previous - rounding) << to_string(shape) << " at " << v;
      ASSERT_LE(gamma, w.beta * (1.0 + rounding)) << to_string(shape);
      ASSERT_EQ(weakening(w, -v), -gamma) << to_string(shape);
      ASSERT_EQ(weakening_slope(w, -v), weakening_slope(w, v)) << to_string(shape);
      ASSERT_GE(weakening_slope(w, v), 0.0) << to_string(shape);
      ASSERT_LE(weakening_slope(w, v), weakening_slope(w, 0.0)) << to_string(shape);
      previous = gamma;
    }
    EXPECT_EQ(weakening(w, 0.0), 0.0);
  }
}

TEST(Weakening, TendsToBetaAtSpeedsWhoseSquareOverflows) {
  for (const WeakeningShape shape : shapes) {
    for (const double epsilon : {1e-200, 1.0}) {
      const Weakening w{shape, 0.7, epsilon};
      EXPECT_NEAR(weakening(w, 1e200), 0.7, rounding) << to_string(shape);
      EXPECT_NEAR(weakening(w, -1e200), -0.7, rounding) << to_string(shape);
      EXPECT_EQ(weakening_slope(w, 1e200), 0.0) << to_string(shape);
    }
  }
}

TEST(Weakening, TakesItsClosedFormsAtTheVelocityScale) {
  const double e = std::exp(1.0);
  const auto at_scale = [](WeakeningShape shape) { return weakening({shape, 0.5, 0.2}, 0.2); };
  EXPECT_NEAR(at_scale(WeakeningShape::algebraic), 0.5 / std::sqrt(2.0), rounding);
  EXPECT_NEAR(at_scale(WeakeningShape::arctan), 0.25, rounding);
  EXPECT_NEAR(at_scale(WeakeningShape::tanh), 0.5 * (e * e - 1.0) / (e * e + 1.0), rounding);
  EXPECT_NEAR(at_scale(WeakeningShape::clamp), 0.5, rounding);
  EXPECT_NEAR(at_scale(WeakeningShape::exponential), 0.5 * (1.0 - 1.0 / e), rounding);
  EXPECT_EQ(weakening_slope({WeakeningShape::clamp, 0.5, 0.2}, 0.2), 2.5);  // the inner slope at the kink
  EXPECT_EQ(weakening({}, 3.0), 0.0);
  EXPECT_EQ(weakening_slope({}, 3.0), 0.0);
}

TEST(Weakening, IsFoundByItsNameAndOnlyByIt) {
  for (const std::string_view name : weakening_shape_names) EXPECT_EQ(to_string(weakening_shape_from(name)), name);
  EXPECT_EQ(weakening_shape_from("algebraic"), WeakeningShape::algebraic);
  EXPECT_EQ(weakening_shape_from("exponential"), WeakeningShape::exponential);
  for (const char* wrong : {"", "Tanh", "stribeck"}) {
    try {
      weakening_shape_from(wrong);
      FAIL() << wrong;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("algebraic arctan"), std::string::npos) << error.what();
    }
  }
}

TEST(Weakening, RefusesParametersThatWouldDriveTheMotion) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const WeakeningShape shape : shapes) {
    EXPECT_NO_THROW(validate(Weakening{shape, 0.0, 0.1}));
    EXPECT_NO_THROW(validate(Weakening{shape, 0.999, 0.1}));
    for (const double beta : {-0.1, 1.0, nan, infinity})
      EXPECT_THROW(validate(Weakening{shape, beta, 0.1}), InputError);
    for (const double scale : {0.0, -1.0, nan, infinity}) {
      EXPECT_THROW(validate(Weakening{shape, 0.5, scale}), InputError);
    }
  }
  EXPECT_NO_THROW(validate(Weakening{}));
  try {
    validate(Weakening{WeakeningShape::tanh, 1.5, 0.1});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "weakening: beta = 1.5 must satisfy 0 <= beta < 1");
  }
}

}  // namespace
}  // namespace stickslip::weakening_test
