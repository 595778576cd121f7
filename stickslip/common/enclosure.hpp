// SPDX-License-Identifier: Apache-2.0
// Ranges of a function of one variable and of its slope over an interval, by interval arithmetic.
//
//   f(x) ∈ value,  f'(x) ∈ slope   for all x of the interval at which f is defined,      mid = f(middle of the
//   interval)
//
// Arithmetic as in interval.hpp: ranges may be wider than necessary, never narrower; the range of a function that is
// nowhere defined on the interval (the root of a negative number) is empty.
//
// Comparisons look at mid alone, as for dual.hpp: an enclosure holds on an interval on which no switch inside f
// changes.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/common/interval.hpp"

namespace stickslip {

struct Enclosure {
  double mid;
  Interval value, slope;

  // Not initialised on purpose: evaluation stacks are arrays of these.
  Enclosure() = default;
  constexpr Enclosure(double constant) : mid(constant), value{constant, constant}, slope{0.0, 0.0} {}
  constexpr Enclosure(double middle, const Interval& values, const Interval& slopes)
      : mid(middle), value(values), slope(slopes) {}

  friend Enclosure operator-(const Enclosure& a) { return {-a.mid, -a.value, -a.slope}; }
  friend Enclosure operator+(const Enclosure& a, const Enclosure& b) {
    return {a.mid + b.mid, a.value + b.value, a.slope + b.slope};
  }
  friend Enclosure operator-(const Enclosure& a, const Enclosure& b) {
    return {a.mid - b.mid, a.value - b.value, a.slope - b.slope};
  }
  friend Enclosure operator*(const Enclosure& a, const Enclosure& b) {
    return {a.mid * b.mid, a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Enclosure operator/(const Enclosure& a, const Enclosure& b) {
    return {a.mid / b.mid, a.value / b.value, (a.slope - a.value / b.value * b.slope) / b.value};
  }
};

inline double primal(const Enclosure& x) { return x.mid; }

/// f(a) from the ranges of f and f' over those of a.
inline Enclosure chain(double mid, const Interval& f, const Interval& derivative, const Enclosure& a) {
  const bool constant = a.slope.is(0);
  return {mid, f, constant ? a.slope : derivative * a.slope};
}

inline Enclosure sin(const Enclosure& a) { return chain(std::sin(a.mid), sin(a.value), cos(a.value), a); }
inline Enclosure cos(const Enclosure& a) { return chain(std::cos(a.mid), cos(a.value), -sin(a.value), a); }
inline Enclosure tan(const Enclosure& a) {
  const Interval below = cos(a.value);
  if (below.contains(0.0)) return {std::tan(a.mid), whole_line(), whole_line()};
  const Interval f = sin(a.value) / below;
  return chain(std::tan(a.mid), f, square(f) + Interval{1.0, 1.0}, a);
}
/// Functions on [-1, 1]; `direction` -1: decreasing.
template <class Function>
Enclosure inverse_wave(const Enclosure& a, double direction, Function&& f) {
  using namespace interval_detail;
  if (a.value.lo > 1 || a.value.hi < -1) return {f(a.mid), empty_interval(), empty_interval()};
  if (a.value.lo < -1 || a.value.hi > 1) return {f(a.mid), whole_line(), whole_line()};
  const double first = f(a.value.lo), last = f(a.value.hi);
  const Interval root =
      increasing(Interval{1.0, 1.0} - square(a.value), [](double x) { return std::sqrt(std::max(x, 0.0)); });
  return chain(f(a.mid), widened(std::min(first, last), std::max(first, last)), Interval{direction, direction} / root,
               a);
}
inline Enclosure asin(const Enclosure& a) {
  return inverse_wave(a, 1.0, [](double x) { return std::asin(x); });
}
inline Enclosure acos(const Enclosure& a) {
  return inverse_wave(a, -1.0, [](double x) { return std::acos(x); });
}
inline Enclosure atan(const Enclosure& a) {
  using namespace interval_detail;
  const Interval f = increasing(a.value, [](double x) { return std::atan(x); });
  return chain(std::atan(a.mid), f, Interval{1.0, 1.0} / (square(a.value) + Interval{1.0, 1.0}), a);
}
inline Enclosure sinh(const Enclosure& a) {
  const Interval f = interval_detail::increasing(a.value, [](double x) { return std::sinh(x); });
  return chain(std::sinh(a.mid), f, cosh(a.value), a);
}
inline Enclosure cosh(const Enclosure& a) {
  const Interval slope = interval_detail::increasing(a.value, [](double x) { return std::sinh(x); });
  return chain(std::cosh(a.mid), cosh(a.value), slope, a);
}
inline Enclosure tanh(const Enclosure& a) {
  using namespace interval_detail;
  const Interval f = increasing(a.value, [](double x) { return std::tanh(x); });
  const Interval slope = Interval{1.0, 1.0} - square(f);
  return chain(std::tanh(a.mid), f, {std::max(slope.lo, 0.0), std::max(slope.hi, 0.0)}, a);
}
inline Enclosure exp(const Enclosure& a) {
  const Interval f = interval_detail::increasing(a.value, [](double x) { return std::exp(x); });
  return chain(std::exp(a.mid), f, f, a);
}
inline Enclosure log(const Enclosure& a) {
  using namespace interval_detail;
  if (a.value.empty() || a.value.hi < 0) return {std::log(a.mid), empty_interval(), empty_interval()};
  if (!(a.value.lo > 0)) return {std::log(a.mid), whole_line(), whole_line()};
  const Interval f = increasing(a.value, [](double x) { return std::log(x); });
  return chain(std::log(a.mid), f, Interval{1.0, 1.0} / a.value, a);
}
inline Enclosure sqrt(const Enclosure& a) {
  using namespace interval_detail;
  if (a.value.empty() || a.value.hi < 0) return {std::sqrt(a.mid), empty_interval(), empty_interval()};
  if (a.value.lo < 0) return {std::sqrt(a.mid), whole_line(), whole_line()};
  const Interval f = increasing(a.value, [](double x) { return std::sqrt(x); });
  return chain(std::sqrt(a.mid), f, Interval{0.5, 0.5} / f, a);
}
inline Enclosure pow(const Enclosure& a, double p) {
  return chain(std::pow(a.mid, p), power(a.value, p), Interval{p, p} * power(a.value, p - 1), a);
}
inline Enclosure pow(const Enclosure& a, const Enclosure& p) {
  if (p.slope.is(0) && p.value.lo == p.value.hi) return pow(a, p.mid);
  Enclosure result = exp(p * log(a));
  result.mid = std::pow(a.mid, p.mid);
  return result;
}
/// Of its value only what holds everywhere is known.
inline Enclosure atan2(const Enclosure& y, const Enclosure& x) {
  using namespace interval_detail;
  const Interval below = square(x.value) + square(y.value);
  return {std::atan2(y.mid, x.mid), widened(-std::numbers::pi, std::numbers::pi),
          (x.value * y.slope - y.value * x.slope) / below};
}
inline Enclosure abs(const Enclosure& a) { return a.mid < 0 ? -a : a; }
inline Enclosure floor(const Enclosure& a) { return std::floor(a.mid); }

}  // namespace stickslip
