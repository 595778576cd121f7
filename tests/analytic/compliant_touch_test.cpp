// SPDX-License-Identifier: Apache-2.0
// Scheme `compliant` where flights are long and contacts are short: touches that a step of the flight would span, and
// rebounds that last a millionth of the flight. Closed forms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/case.hpp"

namespace stickslip::compliant_touch_test {
namespace {

struct Flight {
  double mass, stiffness, height, speed, force;  ///< speed > 0: downwards
  double damping = 0;                            ///< normal [N s/m]; the closed form has none

  double contact_time() const {
    const double w = std::sqrt(stiffness / mass), turn = std::atan2(-landing() / w, -force / stiffness);
    return 2 * (std::numbers::pi + turn) / w;
  }
  double landing() const { return std::sqrt(speed * speed - 2 * force / mass * height); }
  /// At `end` after one contact, which gives the speed of landing back.
  double position(double end) const {
    const double fall = 2 * height / (speed + landing()), left = end - fall - contact_time();
    return landing() * left + 0.5 * force / mass * left * left;
  }
  Simulation follow(double end, double tolerance, const char* integrator, bool locate = true) const {
    const ModelFile model =
        parse_model(fmt::format(R"toml(
[matrices]
coordinates = ["z"]
mass = [[{}]]
force = [{}]
[[contact]]
name = "floor"
gap = "z"
compliance = {{ stiffness = {}, normal_damping = {} }}
[initial]
position = [{}]
velocity = [{}]
[run]
scheme = "compliant"
end_time = {}
tolerance = {}
compliant = {{ integrator = "{}", locate_switches = {} }}
)toml",
                                mass, force, stiffness, damping, height, -speed, end, tolerance, integrator, locate),
                    "flight.toml");
    return simulate(*model.system, model.initial, model.run);
  }
};

/// A parabola of 1 m whose turn lies `dip` below the contact, in other units of length too. Without the contact the end
/// is 13 to 400,000 tolerances off, which no error estimate sees.
TEST(CompliantTouch, ADipAtTheTurnOfAFlightIsSeen) {
  for (const double length : {1.0, 1e-6, 1e6})
    for (const double dip : {1e-9, 1e-6, 1e-4, 1e-2})
      for (const char* integrator : {"explicit", "stiff", "automatic"})
        for (const double tolerance : {1e-6, 1e-9})
          for (const bool locate : {true, false}) {
            const Flight flight{1, 1e4, length, 2 * length * std::sqrt(1 + dip), 2 * length};
            const Simulation s = flight.follow(2, tolerance, integrator, locate);
            ASSERT_EQ(s.status, Status::success) << s.message;
            EXPECT_LT(std::abs(s.final.q[0] - flight.position(2)), tolerance * length)
                << integrator << " dip " << dip << " length " << length << " tolerance " << tolerance << locate;
          }
}

/// Steps of the flight are up to a million times longer than the contact: `stiff` took one behind the closing, whose
/// estimate does not see that the rebound is lost.
TEST(CompliantTouch, HardContactsThrowBackWhatFellForLong) {
  for (const double stiffness : {1e6, 1e8, 1e10})
    for (const double height : {0.01, 0.1, 1.0, 10.0})
      for (const char* integrator : {"explicit", "stiff", "automatic"})
        for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
          const Flight flight{2, stiffness, height, 3, -1};
          const double end = 0.5 * height + flight.contact_time();
          const Simulation s = flight.follow(end, tolerance, integrator);
          ASSERT_EQ(s.status, Status::success) << s.message;
          EXPECT_LT(std::abs(s.final.q[0] - flight.position(end)), 5 * tolerance * height)
              << integrator << " stiffness " << stiffness << " height " << height << " tolerance " << tolerance;
        }
}

/// Where a damper makes the force jump as the contact closes: the same under both methods, with audits that hold.
TEST(CompliantTouch, DampedHardContactsThrowBackTheSameUnderBothMethods) {
  for (const double stiffness : {1e6, 1e8, 1e10})
    for (const double height : {0.01, 0.1, 1.0, 10.0})
      for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
        const Flight flight{2, stiffness, height, 3, -1, 0.3 * std::sqrt(2 * stiffness)};
        const double end = 0.5 * height + flight.contact_time();
        const Simulation one = flight.follow(end, tolerance, "explicit"),
                         other = flight.follow(end, tolerance, "stiff");
        ASSERT_EQ(one.status, Status::success) << one.message;
        ASSERT_EQ(other.status, Status::success) << other.message;
        EXPECT_LT(std::abs(one.final.q[0] - other.final.q[0]), 10 * tolerance * height)
            << " stiffness " << stiffness << " height " << height << " tolerance " << tolerance;
      }
}

}  // namespace
}  // namespace stickslip::compliant_touch_test
