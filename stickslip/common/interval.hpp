// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic: [lo, hi] holds every value that an operation can have for operands within theirs.
//
// Sums and products are rounded outward (the rounding error itself is computed, so that exact results stay exact);
// values of the library's functions are widened by a few units in the last place. Intervals may be wider than
// necessary, never narrower. Ends may be infinite, the numbers inside are not: 0 · [-∞, ∞] is 0. `whole_line` is what
// nothing is known about, `empty_interval` the range of a function that is nowhere defined (the root of a negative
// number).
//
// Source: Moore, Kearfott, Cloud, Introduction to Interval Analysis, 2009.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace stickslip {

struct Interval {
  double lo, hi;  ///< lo > hi: empty
  bool empty() const { return lo > hi; }
  bool contains(double x) const { return lo <= x && x <= hi; }
  double magnitude() const { return std::max(std::abs(lo), std::abs(hi)); }
  bool is(double x) const { return lo == x && hi == x; }
};

constexpr Interval whole_line() {
  return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
}
constexpr Interval empty_interval() {
  return {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
}

namespace interval_detail {

/// The rounded result moved below or above the exact one, whose difference from it is `error`.
inline double down(double rounded, double error) {
  return error < 0 ? std::nextafter(rounded, -std::numeric_limits<double>::infinity()) : rounded;
}
inline double up(double rounded, double error) {
  return error > 0 ? std::nextafter(rounded, std::numeric_limits<double>::infinity()) : rounded;
}

inline double sum_error(double a, double b, double sum) {
  const double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}
inline double sum_down(double a, double b) { return down(a + b, sum_error(a, b, a + b)); }
inline double sum_up(double a, double b) { return up(a + b, sum_error(a, b, a + b)); }

inline double product(double a, double b) { return a == 0 || b == 0 ? 0.0 : a * b; }
/// Of the sign of what rounding took away or, below the normal numbers, where that is lost, of `side`.
inline double product_error(double a, double b, double rounded, double side) {
  const bool lost = std::abs(rounded) < std::numeric_limits<double>::min() && a != 0 && b != 0;
  return lost ? side : std::fma(a, b, -rounded);
}
inline double product_down(double a, double b) { return down(product(a, b), product_error(a, b, product(a, b), -1)); }
inline double product_up(double a, double b) { return up(product(a, b), product_error(a, b, product(a, b), 1)); }

/// What is no number says nothing.
inline Interval checked(double lo, double hi) { return lo <= hi ? Interval{lo, hi} : whole_line(); }

/// Ends that are values of library functions.
inline Interval widened(double lo, double hi) {
  constexpr double units = 4 * std::numeric_limits<double>::epsilon();
  return checked(lo - units * std::abs(lo), hi + units * std::abs(hi));
}

/// An increasing function of the library.
template <class Function>
Interval increasing(const Interval& a, Function&& f) {
  return a.empty() ? a : widened(f(a.lo), f(a.hi));
}

/// cos(x - shift): largest at shift + 2πk, smallest half a turn later.
template <class Function>
Interval wave(const Interval& a, double shift, Function&& f) {
  constexpr double kTurn = 2 * std::numbers::pi, kLargest = 1e12;  // beyond, rounding of x is felt in x mod 2π
  if (a.empty()) return a;
  if (!(a.hi - a.lo < kTurn) || a.magnitude() > kLargest) return {-1.0, 1.0};
  const auto passes = [&](double at) { return std::floor((a.hi - at) / kTurn) > std::floor((a.lo - at) / kTurn); };
  const double first = f(a.lo), last = f(a.hi);
  const Interval ends = widened(std::min(first, last), std::max(first, last));
  return {passes(shift + 0.5 * kTurn) ? -1.0 : ends.lo, passes(shift) ? 1.0 : ends.hi};
}

}  // namespace interval_detail

inline Interval hull(const Interval& a, const Interval& b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

inline Interval operator+(const Interval& a, const Interval& b) {
  if (a.empty() || b.empty()) return empty_interval();
  return interval_detail::checked(interval_detail::sum_down(a.lo, b.lo), interval_detail::sum_up(a.hi, b.hi));
}
inline Interval operator-(const Interval& a) { return a.empty() ? a : Interval{-a.hi, -a.lo}; }
inline Interval operator-(const Interval& a, const Interval& b) { return a + -b; }

inline Interval operator*(double a, const Interval& b) {
  using namespace interval_detail;
  if (b.empty()) return b;
  return a >= 0 ? checked(product_down(a, b.lo), product_up(a, b.hi))
                : checked(product_down(a, b.hi), product_up(a, b.lo));
}
inline Interval operator*(const Interval& a, const Interval& b) {
  using namespace interval_detail;
  if (a.empty() || b.empty()) return empty_interval();
  if (a.lo >= 0) return checked(product_down(b.lo >= 0 ? a.lo : a.hi, b.lo), product_up(b.hi >= 0 ? a.hi : a.lo, b.hi));
  if (a.hi <= 0) return checked(product_down(b.hi >= 0 ? a.lo : a.hi, b.hi), product_up(b.lo >= 0 ? a.hi : a.lo, b.lo));
  if (b.lo >= 0) return checked(product_down(a.lo, b.hi), product_up(a.hi, b.hi));
  if (b.hi <= 0) return checked(product_down(a.hi, b.lo), product_up(a.lo, b.lo));
  return checked(std::min(product_down(a.lo, b.hi), product_down(a.hi, b.lo)),
                 std::max(product_up(a.lo, b.lo), product_up(a.hi, b.hi)));
}
inline Interval operator/(const Interval& a, const Interval& b) {
  if (a.empty() || b.empty()) return empty_interval();
  if (b.contains(0.0)) return b.is(0.0) && a.is(0.0) ? empty_interval() : whole_line();
  return a * interval_detail::widened(1 / b.hi, 1 / b.lo);
}
inline Interval square(const Interval& a) {
  using namespace interval_detail;
  if (a.empty()) return a;
  const double near = a.contains(0.0) ? 0.0 : std::min(std::abs(a.lo), std::abs(a.hi)), far = a.magnitude();
  return checked(product_down(near, near), product_up(far, far));
}

inline Interval sin(const Interval& a) {
  return interval_detail::wave(a, 0.5 * std::numbers::pi, [](double x) { return std::sin(x); });
}
inline Interval cos(const Interval& a) {
  return interval_detail::wave(a, 0.0, [](double x) { return std::cos(x); });
}
inline Interval cosh(const Interval& a) {
  if (a.empty()) return a;
  const double near = a.contains(0.0) ? 0.0 : std::min(std::abs(a.lo), std::abs(a.hi));
  return interval_detail::widened(std::cosh(near), std::cosh(a.magnitude()));
}

/// a^p
inline Interval power(const Interval& a, double p) {
  if (a.empty()) return a;
  const bool integer = p == std::floor(p);
  if (!integer && a.hi < 0) return empty_interval();
  if (a.lo > 0) {
    const double first = std::pow(a.lo, p), last = std::pow(a.hi, p);
    return interval_detail::widened(std::min(first, last), std::max(first, last));
  }
  if (!integer || p < 0) return whole_line();
  const double far = std::pow(a.magnitude(), p);
  return interval_detail::widened(-far, far);
}

}  // namespace stickslip
