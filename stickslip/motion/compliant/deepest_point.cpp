// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/deepest_point.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

/// Smallest value on [0, 1] of the cubic with values g0, g1 and slopes r0 < 0 < r1 at its ends.
double lowest(double g0, double r0, double g1, double r1) {
  const double rise = g1 - g0, b = 3 * rise - 2 * r0 - r1, a = r0 + r1 - 2 * rise;
  const double s = -r0 / (b + std::sqrt(std::max(0.0, b * b - 3 * a * r0)));
  return s > 0 && s < 1 ? g0 + s * (r0 + s * (b + s * a)) : std::min(g0, g1);
}

}  // namespace

void DeepestPoint::begin(const CompliantContacts& contacts, double t) {
  t_ = t;
  gap_.resize(contacts.slot_count());
  rate_.resize(contacts.slot_count());
  for (Index s = 0; s < gap_.size(); ++s) {
    gap_[s] = contacts.gap(static_cast<std::size_t>(s));
    rate_[s] = contacts.gap_rate(static_cast<std::size_t>(s));
  }
}

double DeepestPoint::look(const CompliantContacts& contacts, double t) {
  const double h = t - t_;
  const bool known = h > 0 && gap_.size() == contacts.slot_count();
  double deepest = contacts.deepest();
  for (Index s = 0; known && s < gap_.size(); ++s) {
    const double rate = contacts.gap_rate(static_cast<std::size_t>(s));
    if (rate_[s] < 0 && rate > 0)
      deepest = std::max(deepest, -lowest(gap_[s], h * rate_[s], contacts.gap(static_cast<std::size_t>(s)), h * rate));
  }
  begin(contacts, t);
  return deepest;
}

}  // namespace stickslip
