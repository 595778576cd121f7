// SPDX-License-Identifier: Apache-2.0
// Dual numbers: forward-mode automatic differentiation.
//
//   a + a' ε,  ε² = 0        f(a + a' ε) = f(a) + f'(a) a' ε
//
//   value   a, the function value
//   slope   a', its derivative along the seeded direction
//
// `Dual` carries a first derivative. Nesting gives the mixed second derivative: `SecondDual` with
// x.value = (x, e_i) and x.slope = (e_j, 0) holds ∂²f/∂x_i∂x_j in slope.slope.
//
// The value part is computed exactly as for a plain double. Comparisons look at the value alone.
//
// Where f is not differentiable the slope is a limit of derivatives nearby (what semismooth Newton asks for), always
// the same one:
//   |x| at 0                 +x'   (the right-hand branch)
//   min, max at a tie        slope of the first argument
//   floor, sign              0, also at the jump
//   mod(a, b)                a' - floor(a/b) b', the right-hand branch at the jump
//   x^y                      y x^(y-1) x' + x^y ln(x) y'; a term with x' = 0 (y' = 0) is left out, so that a constant
//                            exponent needs no ln(x); at x = 0 < y the second term is its limit 0
//   f'(x) infinite, x' = 0   0: a constant argument has no slope (sqrt(0) with x' = 0, and sqrt(x²) at 0)
#pragma once

#include <cmath>
#include <compare>

namespace stickslip {

/// The function value itself, whatever the nesting.
constexpr double primal(double x) { return x; }

template <class T>
struct DualNumber {
  T value;
  T slope;

  // Not initialised on purpose: evaluation stacks are arrays of these and must cost nothing to declare.
  DualNumber() = default;
  constexpr DualNumber(double constant) : value(constant), slope(0.0) {}
  constexpr DualNumber(const T& value_part, const T& slope_part) : value(value_part), slope(slope_part) {}

  friend constexpr DualNumber operator-(const DualNumber& a) { return {-a.value, -a.slope}; }
  friend constexpr DualNumber operator+(const DualNumber& a, const DualNumber& b) {
    return {a.value + b.value, a.slope + b.slope};
  }
  friend constexpr DualNumber operator-(const DualNumber& a, const DualNumber& b) {
    return {a.value - b.value, a.slope - b.slope};
  }
  friend constexpr DualNumber operator*(const DualNumber& a, const DualNumber& b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend constexpr DualNumber operator/(const DualNumber& a, const DualNumber& b) {
    const T quotient = a.value / b.value;
    return {quotient, (a.slope - quotient * b.slope) / b.value};
  }
  friend constexpr DualNumber operator+(const DualNumber& a, double b) { return {a.value + b, a.slope}; }
  friend constexpr DualNumber operator-(const DualNumber& a, double b) { return {a.value - b, a.slope}; }
  friend constexpr DualNumber operator-(double a, const DualNumber& b) { return {a - b.value, -b.slope}; }
  friend constexpr DualNumber operator*(const DualNumber& a, double b) { return {a.value * b, a.slope * b}; }
  friend constexpr DualNumber operator/(const DualNumber& a, double b) { return {a.value / b, a.slope / b}; }
  constexpr DualNumber& operator+=(const DualNumber& b) { return *this = *this + b; }
  constexpr DualNumber& operator-=(const DualNumber& b) { return *this = *this - b; }
  constexpr DualNumber& operator*=(const DualNumber& b) { return *this = *this * b; }
  constexpr DualNumber& operator/=(const DualNumber& b) { return *this = *this / b; }

  friend constexpr std::partial_ordering operator<=>(const DualNumber& a, const DualNumber& b) {
    return primal(a.value) <=> primal(b.value);
  }
  friend constexpr bool operator==(const DualNumber& a, const DualNumber& b) {
    return primal(a.value) == primal(b.value);
  }
  friend constexpr DualNumber min(const DualNumber& a, const DualNumber& b) { return b < a ? b : a; }
  friend constexpr DualNumber max(const DualNumber& a, const DualNumber& b) { return a < b ? b : a; }
};

using Dual = DualNumber<double>;
using SecondDual = DualNumber<Dual>;

template <class T>
constexpr double primal(const DualNumber<T>& x) {
  return primal(x.value);
}

/// Zero in every part.
constexpr bool is_zero(double x) { return x == 0.0; }
template <class T>
constexpr bool is_zero(const DualNumber<T>& x) {
  return is_zero(x.value) && is_zero(x.slope);
}

/// f(x) and its slope f'(x) x', given f and f' at the value of x.
template <class T>
DualNumber<T> chain(const T& f, const T& derivative, const DualNumber<T>& x) {
  return {f, is_zero(x.slope) ? T(0.0) : derivative * x.slope};
}

template <class T>
DualNumber<T> sin(const DualNumber<T>& x) {
  using std::cos, std::sin;
  return chain(sin(x.value), cos(x.value), x);
}

template <class T>
DualNumber<T> cos(const DualNumber<T>& x) {
  using std::cos, std::sin;
  return chain(cos(x.value), -sin(x.value), x);
}

template <class T>
DualNumber<T> tan(const DualNumber<T>& x) {
  using std::tan;
  const T f = tan(x.value);
  return chain(f, f * f + T(1.0), x);
}

template <class T>
DualNumber<T> asin(const DualNumber<T>& x) {
  using std::asin, std::sqrt;
  return chain(asin(x.value), T(1.0) / sqrt(T(1.0) - x.value * x.value), x);
}

template <class T>
DualNumber<T> acos(const DualNumber<T>& x) {
  using std::acos, std::sqrt;
  return chain(acos(x.value), T(-1.0) / sqrt(T(1.0) - x.value * x.value), x);
}

template <class T>
DualNumber<T> atan(const DualNumber<T>& x) {
  using std::atan;
  return chain(atan(x.value), T(1.0) / (x.value * x.value + T(1.0)), x);
}

template <class T>
DualNumber<T> atan2(const DualNumber<T>& y, const DualNumber<T>& x) {
  using std::atan2;
  const T numerator = x.value * y.slope - y.value * x.slope;
  const T squared = x.value * x.value + y.value * y.value;
  return {atan2(y.value, x.value), is_zero(numerator) ? T(0.0) : numerator / squared};
}

template <class T>
DualNumber<T> sinh(const DualNumber<T>& x) {
  using std::cosh, std::sinh;
  return chain(sinh(x.value), cosh(x.value), x);
}

template <class T>
DualNumber<T> cosh(const DualNumber<T>& x) {
  using std::cosh, std::sinh;
  return chain(cosh(x.value), sinh(x.value), x);
}

template <class T>
DualNumber<T> tanh(const DualNumber<T>& x) {
  using std::cosh, std::tanh;
  // 1/cosh² rather than 1 - tanh²: no cancellation in the tails.
  const T reciprocal = T(1.0) / cosh(x.value);
  return chain(tanh(x.value), reciprocal * reciprocal, x);
}

template <class T>
DualNumber<T> exp(const DualNumber<T>& x) {
  using std::exp;
  const T f = exp(x.value);
  return chain(f, f, x);
}

template <class T>
DualNumber<T> log(const DualNumber<T>& x) {
  using std::log;
  return chain(log(x.value), T(1.0) / x.value, x);
}

template <class T>
DualNumber<T> sqrt(const DualNumber<T>& x) {
  using std::sqrt;
  const T f = sqrt(x.value);
  return chain(f, T(0.5) / f, x);
}

template <class T>
DualNumber<T> abs(const DualNumber<T>& x) {
  using std::abs;
  return {abs(x.value), primal(x) < 0.0 ? -x.slope : x.slope};
}

template <class T>
DualNumber<T> floor(const DualNumber<T>& x) {
  return std::floor(primal(x));
}

template <class T>
DualNumber<T> pow(const DualNumber<T>& x, double exponent) {
  using std::pow;
  return chain(pow(x.value, exponent), pow(x.value, exponent - 1.0) * exponent, x);
}

template <class T>
DualNumber<T> pow(const DualNumber<T>& x, const DualNumber<T>& y) {
  using std::log, std::pow;
  const T f = pow(x.value, y.value);
  T slope = 0.0;
  if (!is_zero(x.slope)) slope = slope + y.value * pow(x.value, y.value - T(1.0)) * x.slope;
  const bool vanishes = primal(x) == 0.0 && primal(y) > 0.0;
  if (!is_zero(y.slope) && !vanishes) slope = slope + f * log(x.value) * y.slope;
  return {f, slope};
}

template <class T>
DualNumber<T> pow(double x, const DualNumber<T>& y) {
  return pow(DualNumber<T>(x), y);
}

template <class T>
DualNumber<T> hypot(const DualNumber<T>& x, const DualNumber<T>& y) {
  using std::hypot;
  const T f = hypot(x.value, y.value);
  const T numerator = x.value * x.slope + y.value * y.slope;
  return {f, is_zero(numerator) ? T(0.0) : numerator / f};
}

}  // namespace stickslip
