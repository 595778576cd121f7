// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/poisson_expansion.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/common/root_finding.hpp"
#include "stickslip/solvers/one_law.hpp"

namespace stickslip {

Set friction_set(const Set& cone, double normal_impulse) {
  const double limit = cone.limit * std::max(normal_impulse, 0.0);
  if (cone.size == 2) return {SetKind::interval, 1, limit, 0};
  const SetKind kind = cone.kind == SetKind::polygonal_cone ? SetKind::polygon
                       : cone.kind == SetKind::box_cone     ? SetKind::box
                                                            : SetKind::disk;
  return {kind, 2, limit, cone.facets};
}

namespace {

constexpr double kNothing = 1e-14;  // velocity, relative to its terms
constexpr int kDoublings = 200;     // of the impulse; 2²⁰⁰ times the first one is for ever

/// u_N with the normal impulse r[0] = n and the friction that goes with it; u without the contact's impulse is q.
double press(const Set& set, const double* D, const double* q, double n, double* r) {
  const int size = set.size, tangents = size - 1;
  r[0] = n;
  double u = q[0] + D[0] * n;
  if (tangents == 0) return u;
  if (!(set.limit * n > 0)) {
    for (int t = 1; t <= tangents; ++t) r[t] = 0;
    return u;
  }
  std::array<double, 4> block{};
  std::array<double, 2> given{};
  for (int i = 0; i < tangents; ++i) {
    given[static_cast<std::size_t>(i)] = q[1 + i] + D[(1 + i) * size] * n;
    for (int j = 0; j < tangents; ++j) block[static_cast<std::size_t>(i * tangents + j)] = D[(1 + i) * size + 1 + j];
  }
  solve_one_law(friction_set(set, n), block.data(), given.data(), r + 1);
  for (int t = 1; t <= tangents; ++t) u += D[t] * r[t];
  return u;
}

}  // namespace

bool expand(const Set& set, const double* D, const double* q, double least, double* p) {
  const double size = std::abs(q[0]) + D[0] * least;
  const double closing = press(set, D, q, least, p);
  if (closing >= -kNothing * size) return true;
  std::array<double, 3> free{};
  if (q[0] < 0 && solve_one_law(set, D, q, free.data()) && free[0] >= least) {
    std::copy_n(free.begin(), set.size, p);
    return true;
  }
  // Large impulses stick or slip away: u_N grows in the end.
  double low = least, high = std::max(2 * least, D[0] > 0 ? size / D[0] : 0), u_low = closing;
  for (int doubling = 0; doubling < kDoublings; ++doubling, high *= 2) {
    const double u_high = press(set, D, q, high, p);
    if (u_high >= 0) {
      const Root root = find_root([&](double n) { return press(set, D, q, n, p); }, low, u_low, high, u_high, 0.0);
      press(set, D, q, root.x, p);
      return true;
    }
    low = high;
    u_low = u_high;
  }
  return false;
}

}  // namespace stickslip
