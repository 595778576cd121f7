// SPDX-License-Identifier: Apache-2.0
// Derivatives through rebounds on normal laws of one's own, φ = k pⁿ, whose contacts last a millionth of the flight:
// by columns and by the adjoint, against the closed form.
//
// A contact turns a change of the gap into one of the velocity of about T/T_c of it and takes that back before it
// opens: that is what the tolerance of columns is relative to, and what is left of round-off ε (π T/T_c)².
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "stickslip/io/model_case.hpp"
#include "stickslip/motion/gradient.hpp"

namespace stickslip::compliant_own_law_derivative_test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// A mass between two walls, which begins halfway with the speed v towards the first one.
struct Bounces {
  double mass, stiffness, exponent, speed, distance, end;

  /// 2 ∫ dp/√(v² - 2 k p^{n+1}/((n + 1) m)) up to the deepest place.
  double contact_time() const {
    const double n1 = exponent + 1, deepest = std::pow(0.5 * n1 * mass * speed * speed / stiffness, 1 / n1);
    return 2 * deepest / speed * std::sqrt(std::numbers::pi) * std::tgamma(1 + 1 / n1) / std::tgamma(0.5 + 1 / n1);
  }
  int hits() const {
    return static_cast<int>((end - 0.5 * distance / speed) / (contact_time() + distance / speed)) + 1;
  }
  double position() const {
    const double next = 0.5 * distance / speed + hits() * (contact_time() + distance / speed);
    const double away = (next - end) * speed;
    return hits() % 2 == 0 ? away : distance - away;
  }
  double velocity() const { return hits() % 2 == 0 ? -speed : speed; }
  /// By the logarithm of one of the numbers above, differences of fourth order.
  double slope(double Bounces::*number) const {
    constexpr double kStep = 1e-4;
    double sum = 0;
    for (const auto& [place, weight] : {std::pair{1, 8.0}, {-1, -8.0}, {2, -1.0}, {-2, 1.0}}) {
      Bounces near = *this;
      near.*number *= std::exp(place * kStep);
      sum += weight * near.position();
    }
    return sum / (12 * kStep);
  }
  Case make(const char* law, double tolerance, const char* integrator) const {
    return make_case(
        parse_model(fmt::format(R"toml(
[parameters]
m = {}
k = {}
v = {}
L = {}
n = {}
[matrices]
coordinates = ["x"]
mass = [["m"]]
[[contact]]
name = "left"
gap = "x"
compliance = {{ stiffness = "k", {} }}
[[contact]]
name = "right"
gap = "L - x"
compliance = {{ stiffness = "k", {} }}
[initial]
position = ["L/2"]
velocity = ["-v"]
[run]
scheme = "compliant"
end_time = {}
tolerance = {}
compliant = {{ integrator = "{}" }}
)toml",
                                mass, stiffness, speed, distance, exponent, law, law, end, tolerance, integrator),
                    "bounces.toml"));
  }
};

constexpr std::pair<const char*, double Bounces::*> kNumbers[] = {{"m", &Bounces::mass},
                                                                  {"k", &Bounces::stiffness},
                                                                  {"v", &Bounces::speed},
                                                                  {"L", &Bounces::distance},
                                                                  {"n", &Bounces::exponent}};

/// Position and velocity at the end, by the first `count` numbers.
GradientSolution derivatives(const Case& model, std::size_t count, DerivativeMethod method) {
  std::vector<std::string> unknowns;
  for (const auto& [name, member] : std::span(kNumbers).first(count)) unknowns.push_back(name);
  std::vector<Functional> ends;
  for (const Index i : {0, 1})
    ends.push_back({model.options().end_time, [i](const State& state, Vector& slope) {
                      slope.setZero();
                      slope[i] = 1;
                      return i == 0 ? state.q[0] : state.v[0];
                    }});
  const Variations variations(model, unknowns);
  return solve(GradientProblem{model.system(), model.initial(), model.options(), variations, ends}, {method, nullptr});
}

/// Of the speed, and times the way of the position.
double limit(const Bounces& b, double tolerance, DerivativeMethod method) {
  // Steps of the tape are those of one column that is nobody's.
  const double share = method == DerivativeMethod::adjoint ? 30 : 6, times = b.end / b.contact_time();
  return b.hits() * (share * tolerance * times + 5 * kEpsilon * std::pow(std::numbers::pi * times, 2));
}

void expect_closed_form(const Bounces& b, const char* law, const char* integrator, double tolerance,
                        std::size_t count) {
  const Case model = b.make(law, tolerance, integrator);
  for (const DerivativeMethod method : {DerivativeMethod::forward, DerivativeMethod::adjoint}) {
    const GradientSolution s = derivatives(model, count, method);
    ASSERT_EQ(s.status, Status::success) << s.message;
    const double part = limit(b, tolerance, method);
    for (std::size_t j = 0; j < count; ++j) {
      const auto [name, member] = kNumbers[j];
      const auto what =
          fmt::format("d/d{} of k = {} n = {} {} {} {} hits tolerance {} {}", name, b.stiffness, b.exponent, law,
                      integrator, b.hits(), tolerance, method == DerivativeMethod::adjoint ? "adjoint" : "columns");
      const auto at = static_cast<Index>(j);
      EXPECT_NEAR(s.gradient(0, at) * b.*member, b.slope(member), part * b.speed * b.end) << what;
      EXPECT_NEAR(s.gradient(1, at) * b.*member, member == &Bounces::speed ? b.velocity() : 0, part * b.speed) << what;
    }
  }
}

/// Had no continuation beyond their border, on which steps end a little beside it: 3e-4 off after five hits at K/m =
/// 1e8/s², the spring 9e-8.
TEST(CompliantOwnLaw, DerivativesWithExponentOneAreThoseOfTheSpring) {
  for (const double stiffness : {1e4, 1e6, 1e8})
    for (const double end : {0.9, 4.8})
      for (const char* integrator : {"explicit", "stiff"})
        for (const double tolerance : {1e-6, 1e-9}) {
          const Bounces b{1, stiffness, 1, 1, 1, end};
          for (const char* law : {"normal_damping = 0", "exponent = 1", "normal_force = 'k*penetration'"})
            expect_closed_form(b, law, integrator, tolerance, 4);
        }
}

/// Slopes of p^{3/2} bend like √p where contacts close and open: dv/dv0 of fifteen hits was 0.78, and lower tolerances
/// did not help.
TEST(CompliantOwnLaw, DerivativesOfHardReboundsAreThoseOfTheClosedForm) {
  for (const Bounces& b :
       {Bounces{2e-6, 1e5, 1.5, 1, 1, 0.9}, Bounces{2e-6, 1e5, 1.5, 1, 1, 4.8}, Bounces{2e-6, 1e5, 1.5, 1, 1, 14.8},
        Bounces{2e-3, 5e9, 1.5, 5, 10, 1.2}, Bounces{2e-3, 5e9, 1.5, 5, 1, 1.8}, Bounces{2, 1e5, 1.5, 1, 1, 4.6}})
    for (const char* integrator : {"explicit", "stiff", "automatic"})
      for (const double tolerance : {1e-6, 1e-9}) expect_closed_form(b, "exponent = 'n'", integrator, tolerance, 5);
}

/// Damped laws have no closed form, but nothing depends on the units of mass and time, and an earlier hit is the same.
TEST(CompliantOwnLaw, DerivativesOfDampedReboundsScale) {
  constexpr double kMass = 2e-6, kStiffness = 1e5, kDamping = 0.01, kSpeed = 1, kHeight = 0.5, kEnd = 0.9;
  for (const double exponent : {1.0, 1.5, 2.5})
    for (const char* integrator : {"explicit", "stiff"})
      for (const double tolerance : {1e-6, 1e-9}) {
        const Case model = make_case(parse_model(
            fmt::format(R"toml(
[parameters]
m = {}
k = {}
c = {}
[matrices]
coordinates = ["x"]
mass = [["m"]]
[[contact]]
name = "wall"
gap = "x"
compliance = {{ stiffness = "k", exponent = {}, normal_damping = "c" }}
[initial]
position = [{}]
velocity = [{}]
[run]
scheme = "compliant"
end_time = {}
tolerance = {}
compliant = {{ integrator = "{}" }}
sensitivities = ["m", "k", "c", "initial.position.0", "initial.velocity.0"]
)toml",
                        kMass, kStiffness, kDamping, exponent, kHeight, -kSpeed, kEnd, tolerance, integrator),
            "damped.toml"));
        const Simulation s = model.run();
        const double out = s.final.v[0],
                     times = kEnd / Bounces{kMass, kStiffness, exponent, kSpeed, 1, 1}.contact_time();
        const double limit = 2 * tolerance * times + 5 * kEpsilon * std::pow(std::numbers::pi * times, 2);
        const auto what = fmt::format("n {} {} tolerance {}: {}", exponent, integrator, tolerance, s.message);
        const DenseMatrix& S = s.final_sensitivity;
        ASSERT_EQ(S.cols(), 5) << what;
        const auto by = [&](Index row) { return Vector(S.row(row).transpose()); };
        const Vector x = by(0), v = by(1);
        EXPECT_NEAR(v[3], 0, limit) << what;
        EXPECT_NEAR(x[3], -out / kSpeed, limit) << what;
        EXPECT_NEAR(kMass * v[0] + kStiffness * v[1] + kDamping * v[2], 0, limit) << what;
        EXPECT_NEAR(kMass * x[0] + kStiffness * x[1] + kDamping * x[2], 0, limit) << what;
        EXPECT_NEAR(-kSpeed * v[4] + 2 * kStiffness * v[1] + kDamping * v[2], out, limit) << what;
        EXPECT_NEAR(-kSpeed * x[4] + 2 * kStiffness * x[1] + kDamping * x[2], kEnd * out, limit) << what;
      }
}

}  // namespace
}  // namespace stickslip::compliant_own_law_derivative_test
