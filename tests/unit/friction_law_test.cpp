// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/friction_law.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "stickslip/common/error.hpp"
#include "stickslip/laws/set.hpp"

namespace stickslip::friction_law_test {
namespace {

constexpr Mode modes[] = {Mode::open, Mode::stick, Mode::slip_plus, Mode::slip_minus, Mode::slip, Mode::closed};

TEST(FrictionLaw, SticksOnlyAtExactlyZeroVelocity) {
  EXPECT_EQ(mode_of(0.0), Mode::stick);
  EXPECT_EQ(mode_of(-0.0), Mode::stick);
  EXPECT_EQ(mode_of(std::numeric_limits<double>::denorm_min()), Mode::slip_plus);
  EXPECT_EQ(mode_of(-std::numeric_limits<double>::denorm_min()), Mode::slip_minus);
  EXPECT_EQ(mode_of(0.0, -0.0), Mode::stick);
  EXPECT_EQ(mode_of(0.0, 1e-300), Mode::slip);
}

TEST(FrictionLaw, HoldsByTheStaticLimitAndDragsByTheDynamicOne) {
  const FrictionLimits limits{1.0, 1.2};
  EXPECT_EQ(active_limit(limits, Mode::stick), 1.2);
  EXPECT_EQ(active_limit(limits, Mode::slip_plus), 1.0);
  EXPECT_EQ(active_limit(limits, Mode::slip_minus), 1.0);
  EXPECT_EQ(active_limit(limits, Mode::slip), 1.0);
  EXPECT_EQ(active_limit(limits, Mode::open), 0.0);
  EXPECT_EQ(active_limit(limits, Mode::closed), 0.0);
}

TEST(FrictionLaw, RefusesLimitsOutOfOrder) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_NO_THROW(validate(FrictionLimits{0.0, 0.0}));
  EXPECT_NO_THROW(validate(FrictionLimits{1.0, 1.0}));
  EXPECT_NO_THROW(validate(FrictionLimits{1.0, 1.5}));
  EXPECT_THROW(validate(FrictionLimits{-1.0, 1.0}), InputError);
  EXPECT_THROW(validate(FrictionLimits{nan, 1.0}), InputError);
  EXPECT_THROW(validate(FrictionLimits{1.0, nan}), InputError);
  EXPECT_THROW(validate(FrictionLimits{1.0, infinity}), InputError);
  try {
    validate(FrictionLimits{1.0, 0.8});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("limit = 1 and static_limit = 0.8"), std::string::npos) << error.what();
  }
}

TEST(FrictionLaw, WeakeningLessensTheDragAndViscosityAddsToIt) {
  const Weakening none{}, weak{WeakeningShape::algebraic, 0.25, 0.1};
  EXPECT_NEAR(smooth_friction_force(2.0, weak, 0.0, 1e9), 0.5, 1e-15);
  EXPECT_NEAR(smooth_friction_force(2.0, weak, 0.0, -1e9), -0.5, 1e-15);
  EXPECT_DOUBLE_EQ(smooth_friction_force(2.0, none, 0.3, 4.0), -1.2);
  EXPECT_EQ(smooth_friction_force(2.0, weak, 0.3, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(smooth_friction_slope(2.0, weak, 0.3, 0.0), 2.0 * 0.25 / 0.1 - 0.3);
  EXPECT_DOUBLE_EQ(smooth_friction_slope(2.0, none, 0.3, 4.0), -0.3);
}

TEST(FrictionLaw, DissipatesAtEveryVelocityAndForEveryWeakening) {
  // Power (r + c γ(u) - b u) u with r = -c sgn(u), the interval's reaction, is at most -(1 - β) c |u|.
  for (const std::string_view name : weakening_shape_names) {
    const Weakening w{weakening_shape_from(name), 0.9, 0.05};
    for (int i = -400; i <= 400; ++i) {
      const double c = 1.5, u = 0.01 * i, r = i == 0 ? 0.7 : std::copysign(c, -u);
      const double reaction[] = {r}, velocity[] = {u};
      ASSERT_LE(inclusion_residual(interval_set(c), reaction, velocity), 1e-15);
      const double power = (r + smooth_friction_force(c, w, 0.2, u)) * u;
      ASSERT_LE(power, -(1.0 - 0.9) * c * std::abs(u) + 1e-15) << name;
    }
  }
}

TEST(ModeEvents, AreNamedByTheModesOnBothSides) {
  const auto event = [](Mode before, Mode after) { return event_between(before, after); };
  for (const Mode mode : modes) {
    EXPECT_EQ(event(mode, mode), std::nullopt);
    if (mode == Mode::open) continue;
    EXPECT_EQ(event(mode, Mode::open), EventKind::open) << to_string(mode);
    EXPECT_EQ(event(Mode::open, mode), EventKind::close) << to_string(mode);
  }
  for (const Mode slip : {Mode::slip_plus, Mode::slip_minus, Mode::slip}) {
    EXPECT_EQ(event(Mode::stick, slip), EventKind::slip);
    EXPECT_EQ(event(slip, Mode::stick), EventKind::stick);
  }
  EXPECT_EQ(event(Mode::slip_plus, Mode::slip_minus), EventKind::reversal);
  EXPECT_EQ(event(Mode::slip_minus, Mode::slip_plus), EventKind::reversal);
  EXPECT_EQ(event(Mode::closed, Mode::slip), std::nullopt);
  EXPECT_EQ(event(Mode::stick, Mode::closed), std::nullopt);
}

TEST(ModeEvents, AreSpelledAsInTheResultFiles) {
  const char* mode_names[] = {"open", "stick", "slip+", "slip-", "slip", "closed"};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(to_string(modes[i]), mode_names[i]);
  const char* event_names[] = {"stick", "slip", "reversal", "open", "close", "impact"};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(to_string(static_cast<EventKind>(i)), event_names[i]);
}

}  // namespace
}  // namespace stickslip::friction_law_test
