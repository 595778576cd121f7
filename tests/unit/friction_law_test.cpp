// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/friction_law.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "stickslip/laws/set.hpp"
#include "stickslip/laws/weakening.hpp"

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

TEST(FrictionLaw, DissipatesAtEveryVelocityAndForEveryWeakening) {
  // Power (r + c γ(u) - b u) u with r = -c sgn(u), the interval's reaction, is at most -(1 - β) c |u|.
  for (const std::string_view name : weakening_shape_names) {
    const Weakening w{weakening_shape_from(name), 0.9, 0.05};
    for (int i = -400; i <= 400; ++i) {
      const double c = 1.5, u = 0.01 * i, r = i == 0 ? 0.7 : std::copysign(c, -u);
      const double reaction[] = {r}, velocity[] = {u};
      ASSERT_LE(inclusion_residual(interval_set(c), reaction, velocity), 1e-15);
      const double power = (r + c * weakening(w, u) - 0.2 * u) * u;
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
