// SPDX-License-Identifier: Apache-2.0
// Ranges of a function of one variable and of its slope over an interval, by interval arithmetic.
//
//   f(x) ∈ value,  f'(x) ∈ slope   for all x of the interval at which f is defined,      mid = f(middle of the
//   interval)
//
// Sums, products and quotients are rounded outward (the rounding error itself is computed, so that exact results stay
// exact); values of the library's functions are widened by a few units in the last place. Ranges may be wider than
// necessary, never narrower. `whole` is what nothing is known about, `empty` the range of a function that is nowhere
// defined on the interval (the root of a negative number).
//
// Comparisons look at mid alone, as for dual.hpp: an enclosure holds on an interval on which no switch inside f
// changes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace stickslip {

struct Range {
  double low, high;  ///< low > high: empty
  bool empty() const { return low > high; }
  bool contains(double x) const { return low <= x && x <= high; }
};

namespace range_detail {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr Range kWhole{-kInfinity, kInfinity};
inline constexpr Range kEmpty{kInfinity, -kInfinity};

/// The rounded result moved below or above the exact one, whose difference from it is `error`.
inline double down(double rounded, double error) { return error < 0 ? std::nextafter(rounded, -kInfinity) : rounded; }
inline double up(double rounded, double error) { return error > 0 ? std::nextafter(rounded, kInfinity) : rounded; }

inline double sum_error(double a, double b, double sum) {
  const double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

/// What is no number says nothing.
inline Range checked(double low, double high) { return low <= high ? Range{low, high} : kWhole; }

/// Ends that are values of library functions.
inline Range widened(double low, double high) {
  constexpr double units = 4 * std::numeric_limits<double>::epsilon();
  return checked(low - units * std::abs(low), high + units * std::abs(high));
}

inline Range operator+(const Range& a, const Range& b) {
  if (a.empty() || b.empty()) return kEmpty;
  const double low = a.low + b.low, high = a.high + b.high;
  return checked(down(low, sum_error(a.low, b.low, low)), up(high, sum_error(a.high, b.high, high)));
}
inline Range operator-(const Range& a) { return a.empty() ? a : Range{-a.high, -a.low}; }
inline Range operator-(const Range& a, const Range& b) { return a + -b; }

inline Range operator*(const Range& a, const Range& b) {
  if (a.empty() || b.empty()) return kEmpty;
  Range result = kEmpty;
  for (const double x : {a.low, a.high})
    for (const double y : {b.low, b.high}) {
      const double product = x * y, error = std::fma(x, y, -product);
      if (std::isnan(product)) return kWhole;
      result.low = std::min(result.low, down(product, error));
      result.high = std::max(result.high, up(product, error));
    }
  return result;
}
inline Range operator/(const Range& a, const Range& b) {
  if (a.empty() || b.empty()) return kEmpty;
  if (b.contains(0.0)) return b.low == 0 && b.high == 0 && a.low == 0 && a.high == 0 ? kEmpty : kWhole;
  return a * widened(1 / b.high, 1 / b.low);
}
inline Range square(const Range& a) {
  if (a.empty()) return a;
  const double near = a.contains(0.0) ? 0.0 : std::min(std::abs(a.low), std::abs(a.high));
  const double far = std::max(std::abs(a.low), std::abs(a.high));
  return widened(near * near, far * far);
}

/// An increasing function of the library.
template <class Function>
Range increasing(const Range& a, Function&& f) {
  return a.empty() ? a : widened(f(a.low), f(a.high));
}

/// cos(x - shift): largest at shift + 2πk, smallest half a turn later.
template <class Function>
Range wave(const Range& a, double shift, Function&& f) {
  constexpr double kTurn = 2 * std::numbers::pi, kLargest = 1e12;  // beyond, rounding of x is felt in x mod 2π
  if (a.empty()) return a;
  if (!(a.high - a.low < kTurn) || std::max(std::abs(a.low), std::abs(a.high)) > kLargest) return {-1.0, 1.0};
  const auto passes = [&](double at) { return std::floor((a.high - at) / kTurn) > std::floor((a.low - at) / kTurn); };
  const double first = f(a.low), last = f(a.high);
  const Range ends = widened(std::min(first, last), std::max(first, last));
  return {passes(shift + 0.5 * kTurn) ? -1.0 : ends.low, passes(shift) ? 1.0 : ends.high};
}
inline Range sine(const Range& a) {
  return wave(a, 0.5 * std::numbers::pi, [](double x) { return std::sin(x); });
}
inline Range cosine(const Range& a) {
  return wave(a, 0.0, [](double x) { return std::cos(x); });
}

/// a^p
inline Range power(const Range& a, double p) {
  if (a.empty()) return a;
  const bool integer = p == std::floor(p);
  if (!integer && a.high < 0) return kEmpty;
  if (a.low > 0) {
    const double first = std::pow(a.low, p), last = std::pow(a.high, p);
    return widened(std::min(first, last), std::max(first, last));
  }
  if (!integer || p < 0) return kWhole;
  const double far = std::pow(std::max(std::abs(a.low), std::abs(a.high)), p);
  return widened(-far, far);
}

}  // namespace range_detail

struct Enclosure {
  double mid;
  Range value, slope;

  // Not initialised on purpose: evaluation stacks are arrays of these.
  Enclosure() = default;
  constexpr Enclosure(double constant) : mid(constant), value{constant, constant}, slope{0.0, 0.0} {}
  constexpr Enclosure(double middle, const Range& values, const Range& slopes)
      : mid(middle), value(values), slope(slopes) {}

  friend Enclosure operator-(const Enclosure& a) {
    using range_detail::operator-;
    return {-a.mid, -a.value, -a.slope};
  }
  friend Enclosure operator+(const Enclosure& a, const Enclosure& b) {
    using range_detail::operator+;
    return {a.mid + b.mid, a.value + b.value, a.slope + b.slope};
  }
  friend Enclosure operator-(const Enclosure& a, const Enclosure& b) {
    using range_detail::operator-;
    return {a.mid - b.mid, a.value - b.value, a.slope - b.slope};
  }
  friend Enclosure operator*(const Enclosure& a, const Enclosure& b) {
    using namespace range_detail;
    return {a.mid * b.mid, a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Enclosure operator/(const Enclosure& a, const Enclosure& b) {
    using namespace range_detail;
    return {a.mid / b.mid, a.value / b.value, (a.slope - a.value / b.value * b.slope) / b.value};
  }
};

inline double primal(const Enclosure& x) { return x.mid; }

/// f(a) from the ranges of f and f' over those of a.
inline Enclosure chain(double mid, const Range& f, const Range& derivative, const Enclosure& a) {
  using namespace range_detail;
  const bool constant = a.slope.low == 0 && a.slope.high == 0;
  return {mid, f, constant ? a.slope : derivative * a.slope};
}

inline Enclosure sin(const Enclosure& a) {
  return chain(std::sin(a.mid), range_detail::sine(a.value), range_detail::cosine(a.value), a);
}
inline Enclosure cos(const Enclosure& a) {
  using namespace range_detail;
  return chain(std::cos(a.mid), cosine(a.value), -sine(a.value), a);
}
inline Enclosure tan(const Enclosure& a) {
  using namespace range_detail;
  const Range below = cosine(a.value);
  if (below.contains(0.0)) return {std::tan(a.mid), kWhole, kWhole};
  const Range f = sine(a.value) / below;
  return chain(std::tan(a.mid), f, square(f) + Range{1.0, 1.0}, a);
}
/// Functions on [-1, 1]; `direction` -1: decreasing.
template <class Function>
Enclosure inverse_wave(const Enclosure& a, double direction, Function&& f) {
  using namespace range_detail;
  if (a.value.low > 1 || a.value.high < -1) return {f(a.mid), kEmpty, kEmpty};
  if (a.value.low < -1 || a.value.high > 1) return {f(a.mid), kWhole, kWhole};
  const double first = f(a.value.low), last = f(a.value.high);
  const Range root =
      increasing(Range{1.0, 1.0} - square(a.value), [](double x) { return std::sqrt(std::max(x, 0.0)); });
  return chain(f(a.mid), widened(std::min(first, last), std::max(first, last)), Range{direction, direction} / root, a);
}
inline Enclosure asin(const Enclosure& a) {
  return inverse_wave(a, 1.0, [](double x) { return std::asin(x); });
}
inline Enclosure acos(const Enclosure& a) {
  return inverse_wave(a, -1.0, [](double x) { return std::acos(x); });
}
inline Enclosure atan(const Enclosure& a) {
  using namespace range_detail;
  const Range f = increasing(a.value, [](double x) { return std::atan(x); });
  return chain(std::atan(a.mid), f, Range{1.0, 1.0} / (square(a.value) + Range{1.0, 1.0}), a);
}
inline Range cosh_range(const Range& a) {
  using namespace range_detail;
  if (a.empty()) return a;
  const double near = a.contains(0.0) ? 0.0 : std::min(std::abs(a.low), std::abs(a.high));
  return widened(std::cosh(near), std::cosh(std::max(std::abs(a.low), std::abs(a.high))));
}
inline Enclosure sinh(const Enclosure& a) {
  const Range f = range_detail::increasing(a.value, [](double x) { return std::sinh(x); });
  return chain(std::sinh(a.mid), f, cosh_range(a.value), a);
}
inline Enclosure cosh(const Enclosure& a) {
  const Range slope = range_detail::increasing(a.value, [](double x) { return std::sinh(x); });
  return chain(std::cosh(a.mid), cosh_range(a.value), slope, a);
}
inline Enclosure tanh(const Enclosure& a) {
  using namespace range_detail;
  const Range f = increasing(a.value, [](double x) { return std::tanh(x); });
  const Range slope = Range{1.0, 1.0} - square(f);
  return chain(std::tanh(a.mid), f, {std::max(slope.low, 0.0), std::max(slope.high, 0.0)}, a);
}
inline Enclosure exp(const Enclosure& a) {
  const Range f = range_detail::increasing(a.value, [](double x) { return std::exp(x); });
  return chain(std::exp(a.mid), f, f, a);
}
inline Enclosure log(const Enclosure& a) {
  using namespace range_detail;
  if (a.value.empty() || a.value.high < 0) return {std::log(a.mid), kEmpty, kEmpty};
  if (!(a.value.low > 0)) return {std::log(a.mid), kWhole, kWhole};
  const Range f = increasing(a.value, [](double x) { return std::log(x); });
  return chain(std::log(a.mid), f, Range{1.0, 1.0} / a.value, a);
}
inline Enclosure sqrt(const Enclosure& a) {
  using namespace range_detail;
  if (a.value.empty() || a.value.high < 0) return {std::sqrt(a.mid), kEmpty, kEmpty};
  if (a.value.low < 0) return {std::sqrt(a.mid), kWhole, kWhole};
  const Range f = increasing(a.value, [](double x) { return std::sqrt(x); });
  return chain(std::sqrt(a.mid), f, Range{0.5, 0.5} / f, a);
}
inline Enclosure pow(const Enclosure& a, double p) {
  using namespace range_detail;
  return chain(std::pow(a.mid, p), power(a.value, p), Range{p, p} * power(a.value, p - 1), a);
}
inline Enclosure pow(const Enclosure& a, const Enclosure& p) {
  if (p.slope.low == 0 && p.slope.high == 0 && p.value.low == p.value.high) return pow(a, p.mid);
  Enclosure result = exp(p * log(a));
  result.mid = std::pow(a.mid, p.mid);
  return result;
}
/// Of its value only what holds everywhere is known.
inline Enclosure atan2(const Enclosure& y, const Enclosure& x) {
  using namespace range_detail;
  const Range below = square(x.value) + square(y.value);
  return {std::atan2(y.mid, x.mid), widened(-std::numbers::pi, std::numbers::pi),
          (x.value * y.slope - y.value * x.slope) / below};
}
inline Enclosure abs(const Enclosure& a) { return a.mid < 0 ? -a : a; }
inline Enclosure floor(const Enclosure& a) { return std::floor(a.mid); }

}  // namespace stickslip
