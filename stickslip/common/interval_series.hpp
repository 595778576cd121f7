// SPDX-License-Identifier: Apache-2.0
// Truncated power series whose coefficients are intervals.
//
//   a(s) = Σ_{k<n} a_k s^k + a_n(ξ) s^n:   with a_k enclosed over all expansion points of [t0, t1], a_n bounds what a
//                                          polynomial of degree n - 1 leaves out (Lagrange's remainder)
//
// Recurrences as in taylor.hpp, arithmetic and source as in interval.hpp. Where a function is not smooth or not defined
// on the whole interval its coefficients are the whole line.
#pragma once

#include <array>

#include "stickslip/common/interval.hpp"

namespace stickslip {

/// c_0 .. c_order; those beyond `top` are 0.
struct IntervalSeries {
  static constexpr int kMost = 24;
  std::array<Interval, kMost + 1> c{};
  int order = kMost, top = 0;

  IntervalSeries(int order_, Interval value) : order(order_) { c[0] = value; }
  /// Not smooth: nothing is known but the values.
  static IntervalSeries rough(int order, Interval value);
};

IntervalSeries operator-(const IntervalSeries& a);
IntervalSeries operator+(const IntervalSeries& a, const IntervalSeries& b);
IntervalSeries operator-(const IntervalSeries& a, const IntervalSeries& b);
IntervalSeries operator*(const IntervalSeries& a, const IntervalSeries& b);
IntervalSeries operator/(const IntervalSeries& a, const IntervalSeries& b);
IntervalSeries exp(const IntervalSeries& a);
IntervalSeries log(const IntervalSeries& a);
IntervalSeries pow(const IntervalSeries& a, double p);
IntervalSeries pow(const IntervalSeries& a, const IntervalSeries& p);
IntervalSeries sin(const IntervalSeries& a);
IntervalSeries cos(const IntervalSeries& a);
IntervalSeries tan(const IntervalSeries& a);
IntervalSeries tanh(const IntervalSeries& a);
IntervalSeries sinh(const IntervalSeries& a);
IntervalSeries cosh(const IntervalSeries& a);
IntervalSeries atan(const IntervalSeries& a);
IntervalSeries asin(const IntervalSeries& a);
IntervalSeries acos(const IntervalSeries& a);
IntervalSeries atan2(const IntervalSeries& y, const IntervalSeries& x);
IntervalSeries abs(const IntervalSeries& a);
IntervalSeries floor(const IntervalSeries& a);
IntervalSeries sign(const IntervalSeries& a);
IntervalSeries min(const IntervalSeries& a, const IntervalSeries& b);
IntervalSeries max(const IntervalSeries& a, const IntervalSeries& b);

}  // namespace stickslip
