// SPDX-License-Identifier: Apache-2.0
// Scheme `compliant` where flights are long and contacts are short: touches that a step of the flight would span, and
// rebounds that last a millionth of the flight. Closed forms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "stickslip/io/model_case.hpp"
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

/// A mass that flies against a spring with damper, which lets go where it would pull, still pressed in by c/K times
/// its speed: restitution e, time of contact.
struct Rebound {
  double mass, stiffness, damping, height, speed;

  double position(double end) const {
    const double w = std::sqrt(stiffness / mass), zeta = damping / (2 * std::sqrt(stiffness * mass));
    const double time = 2 * std::acos(zeta) / (w * std::sqrt(1 - zeta * zeta)), e = std::exp(-zeta * w * time);
    return e * speed * (end - height / speed - time - damping / stiffness);
  }
  /// By the logarithm of one of the numbers above, differences of fourth order.
  double slope(double Rebound::*number, double end) const {
    constexpr double kStep = 1e-3;
    double sum = 0;
    for (const auto& [place, weight] : {std::pair{1, 8.0}, {-1, -8.0}, {2, -1.0}, {-2, 1.0}}) {
      Rebound near = *this;
      near.*number *= std::exp(place * kStep);
      sum += weight * near.position(end);
    }
    return sum / (12 * kStep);
  }
};

Simulation rebound_with_derivatives(const Rebound& r, double end, double tolerance, const char* integrator) {
  const ModelFile model =
      parse_model(fmt::format(R"toml(
[parameters]
m = {}
K = {}
c = {}
[equations]
coordinates = ["z"]
mass = [["m"]]
force = [0]
[[contact]]
name = "floor"
gap = "z"
compliance = {{ stiffness = [["K"]], normal_damping = "c" }}
[initial]
position = [{}]
velocity = [{}]
[run]
scheme = "compliant"
end_time = {}
tolerance = {}
compliant = {{ integrator = "{}" }}
sensitivities = ["m", "K", "c", "initial.position.0", "initial.velocity.0"]
)toml",
                              r.mass, r.stiffness, r.damping, r.height, -r.speed, end, tolerance, integrator),
                  "rebound.toml");
  return make_case(model).run();
}

/// Contacts that last 1e-5 of the flight have slopes K/m of 5e9/s²: a step that ends by round-off of the clock behind
/// the instant at which the contact opens changed dz/dm by a third. What is left is the tolerance of the motion, in
/// columns of start and speed what round-off of the position makes of the time of contact, ε (ω T)².
TEST(CompliantTouch, DerivativesOfHardReboundsAreThoseOfTheClosedForm) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  for (const double zeta : {0.0, 0.15})
    for (const double stiffness : {1e6, 1e8, 1e10})
      for (const double height : {0.1, 10.0})
        for (const char* integrator : {"explicit", "stiff"})
          for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
            const Rebound r{2, stiffness, 2 * zeta * std::sqrt(2 * stiffness), height, 3};
            const double end = 0.8 * height, times = end * std::sqrt(stiffness / r.mass);
            // Where round-off leaves less than six digits of the contact there is nothing to be had at 1e-12.
            if (tolerance < 1e-9 && kEpsilon * times * times > 1e-6) continue;
            const Simulation s = rebound_with_derivatives(r, end, tolerance, integrator);
            ASSERT_EQ(s.status, Status::success) << s.message;
            const double limit = height * (50 * tolerance + 20 * kEpsilon * times * times);
            const auto what = fmt::format("zeta {} stiffness {} height {} {} tolerance {}", zeta, stiffness, height,
                                          integrator, tolerance);
            const auto& S = s.final_sensitivity;
            EXPECT_NEAR(S(0, 0) * r.mass, r.slope(&Rebound::mass, end), limit) << what;
            EXPECT_NEAR(S(0, 1) * r.stiffness, r.slope(&Rebound::stiffness, end), limit) << what;
            EXPECT_NEAR(S(0, 2) * r.damping, r.slope(&Rebound::damping, end), limit) << what;
            EXPECT_NEAR(S(0, 3) * r.height, r.slope(&Rebound::height, end), limit) << what;
            EXPECT_NEAR(-S(0, 4) * r.speed, r.slope(&Rebound::speed, end), limit) << what;
          }
}

}  // namespace
}  // namespace stickslip::compliant_touch_test
