// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/orbit_path.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stickslip {

namespace {
constexpr double kComplex = 1e-6;  // imaginary part of a multiplier, beside 1: less is a double real one and its error
constexpr double kSticks = 1e-9;   // of the period: what polished orbits know a stick to
constexpr std::array<std::string_view, 4> kTests{"period_doubling", "neimark_sacker", "stick_onset", "grazing"};
}  // namespace

BranchPoint branch_point(double value, const PeriodicSolution& solution) {
  BranchPoint point;
  point.value = value;
  point.period = solution.period;
  point.residual = solution.residual;
  point.amplitude = solution.amplitude();
  point.minimum = solution.orbit.minimum;
  point.maximum = solution.orbit.maximum;
  point.stick_fraction = solution.orbit.stick_fraction;
  point.stable = solution.stable;
  point.multipliers = solution.multipliers;
  point.polished = solution.polished;
  for (const Certificate& certificate : solution.certificates)
    if (!certificate.ok && point.rejected.empty()) point.rejected = certificate.name;
  return point;
}

Vector bifurcation_tests(const PeriodicSolution& solution) {
  Vector values = Vector::Constant(static_cast<Index>(kTests.size()), NAN);
  if (solution.multipliers.size() > 0) {
    std::complex<double> product = 1;
    double pair = -1;
    for (const auto& value : solution.multipliers) {
      product *= 1.0 + value;
      if (std::abs(value.imag()) > kComplex) pair = std::max(pair, std::abs(value));
    }
    values[0] = product.real();
    if (pair >= 0) values[1] = pair - 1;
  }
  if (!solution.polished) return values;
  const Orbit& orbit = solution.orbit;
  if (orbit.stick_fraction.size() > 0)
    values[2] = static_cast<double>((orbit.stick_fraction.array() > kSticks).count());
  values[3] = static_cast<double>(impacts(orbit));
  return values;
}

TestKind bifurcation_test_kind(Index test) { return test < 2 ? TestKind::root : TestKind::count; }

std::ptrdiff_t impacts(const Orbit& orbit) {
  return std::count_if(orbit.events.begin(), orbit.events.end(),
                       [](const Event& event) { return event.kind == EventKind::impact; });
}

std::string_view bifurcation_name(Index test) { return kTests[static_cast<std::size_t>(test)]; }

const PeriodicSolution& OrbitPath::solution(const Vector& x, double s) {
  if (s != s_ || x != x_) {
    last_ = solve(x, s);
    x_ = x;
    s_ = s;
  }
  return last_;
}

bool OrbitPath::test(const Vector& x, double s, Vector& values) {
  values = bifurcation_tests(solution(x, s));
  return true;
}

double OrbitPath::magnitude(const Vector& x, double s) {
  constexpr double kWholeMotion = 2;
  return kWholeMotion * motion_size(x, s);
}

TestKind OrbitPath::test_kind(Index k) const { return bifurcation_test_kind(k); }
std::string_view OrbitPath::test_name(Index k) const { return bifurcation_name(k); }

bool OrbitPath::confirms(const SpecialPoint& special) {
  if (special.kind != SpecialPoint::Kind::branch_point) return true;
  const PeriodicSolution& there = solution(special.point.x, special.point.s);
  const auto neutral =
      static_cast<std::size_t>((autonomous() ? 1 : 0) + there.held + there.shifts);  // 1 whatever the motion
  if (static_cast<std::size_t>(there.multipliers.size()) <= neutral) return true;    // nothing is known to say no
  std::vector<double> from_one;
  for (const auto& value : there.multipliers) from_one.push_back(std::abs(value - 1.0));
  std::sort(from_one.begin(), from_one.end());
  return from_one[neutral] <= multiplier_error();
}

}  // namespace stickslip
