// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/interval_series.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stickslip {

namespace {

using interval_detail::increasing;
using interval_detail::widened;

/// f with f' = a' g: k f_k = Σ i a_i g_{k-i}
IntervalSeries integrated(const Interval& value, const IntervalSeries& a, const IntervalSeries& g) {
  IntervalSeries f(a.order, value);
  f.top = a.top == 0 ? 0 : a.order;
  for (int k = 1; k <= f.top; ++k) {
    Interval sum{};
    for (int i = 1; i <= std::min(k, a.top); ++i) sum = sum + static_cast<double>(i) * (a.c[i] * g.c[k - i]);
    f.c[k] = (1.0 / k) * sum;
  }
  return f;
}

/// s' = c a', c' = turn s a': sine and cosine (turn = -1) or the hyperbolic ones (+1).
void sine_pair(const IntervalSeries& a, double turn, IntervalSeries& s, IntervalSeries& c) {
  s.top = c.top = a.top == 0 ? 0 : a.order;
  for (int k = 1; k <= s.top; ++k) {
    Interval ds{}, dc{};
    for (int i = 1; i <= std::min(k, a.top); ++i) {
      const Interval ia = static_cast<double>(i) * a.c[i];
      ds = ds + ia * c.c[k - i];
      dc = dc + ia * s.c[k - i];
    }
    s.c[k] = (1.0 / k) * ds;
    c.c[k] = (turn / k) * dc;
  }
}

/// f' = (1 + sign f²) a': tangent and its hyperbolic kin.
IntervalSeries tangent(const IntervalSeries& a, const Interval& value, double sign) {
  IntervalSeries f(a.order, value), w(a.order, Interval{1, 1} + sign * square(value));
  f.top = w.top = a.top == 0 ? 0 : a.order;
  for (int k = 1; k <= f.top; ++k) {
    Interval sum{}, squared{};
    for (int i = 1; i <= std::min(k, a.top); ++i) sum = sum + static_cast<double>(i) * (a.c[i] * w.c[k - i]);
    f.c[k] = (1.0 / k) * sum;
    for (int i = 0; i <= k; ++i) squared = squared + f.c[i] * f.c[k - i];
    w.c[k] = sign * squared;
  }
  return f;
}

}  // namespace

IntervalSeries IntervalSeries::rough(int order, Interval value) {
  IntervalSeries a(order, value);
  for (int k = 1; k <= order; ++k) a.c[k] = whole_line();
  a.top = order;
  return a;
}

IntervalSeries operator-(const IntervalSeries& a) {
  IntervalSeries r = a;
  for (int k = 0; k <= a.top; ++k) r.c[k] = -a.c[k];
  return r;
}
IntervalSeries operator+(const IntervalSeries& a, const IntervalSeries& b) {
  IntervalSeries r(a.order, a.c[0]);
  r.top = std::max(a.top, b.top);
  for (int k = 0; k <= r.top; ++k) r.c[k] = a.c[k] + b.c[k];
  return r;
}
IntervalSeries operator-(const IntervalSeries& a, const IntervalSeries& b) { return a + -b; }
IntervalSeries operator*(const IntervalSeries& a, const IntervalSeries& b) {
  IntervalSeries r(a.order, a.c[0]);
  r.top = std::min(a.order, a.top + b.top);
  for (int k = 0; k <= r.top; ++k) {
    Interval sum{};
    for (int i = std::max(0, k - b.top); i <= std::min(k, a.top); ++i) sum = sum + a.c[i] * b.c[k - i];
    r.c[k] = sum;
  }
  return r;
}
namespace {

/// x/b moved towards `side` where it is rounded: to the last bit, so that a quotient below an integer stays below it.
double quotient(double x, double b, double side) {
  const double rounded = x / b, rest = std::fma(-rounded, b, x) / b;
  const bool beyond = side > 0 ? rest > 0 : rest < 0;
  return beyond ? std::nextafter(rounded, side) : rounded;
}

Interval quotient(const Interval& a, const Interval& b) {
  const Interval wide = a / b;
  if (b.lo != b.hi || !std::isfinite(wide.lo) || !std::isfinite(wide.hi)) return wide;
  const double low = b.lo > 0 ? a.lo : a.hi, high = b.lo > 0 ? a.hi : a.lo;
  return {std::max(wide.lo, quotient(low, b.lo, -HUGE_VAL)), std::min(wide.hi, quotient(high, b.lo, HUGE_VAL))};
}

}  // namespace

IntervalSeries operator/(const IntervalSeries& a, const IntervalSeries& b) {
  if (b.c[0].contains(0)) return IntervalSeries::rough(a.order, whole_line());
  IntervalSeries r(a.order, quotient(a.c[0], b.c[0]));
  r.top = b.top == 0 ? a.top : a.order;
  for (int k = 1; k <= r.top; ++k) {
    Interval sum = a.c[k];
    for (int i = 1; i <= std::min(k, b.top); ++i) sum = sum - b.c[i] * r.c[k - i];
    r.c[k] = sum / b.c[0];
  }
  return r;
}
IntervalSeries exp(const IntervalSeries& a) {
  IntervalSeries r(a.order, increasing(a.c[0], [](double x) { return std::exp(x); }));
  r.top = a.top == 0 ? 0 : a.order;
  for (int k = 1; k <= r.top; ++k) {
    Interval sum{};
    for (int i = 1; i <= std::min(k, a.top); ++i) sum = sum + static_cast<double>(i) * (a.c[i] * r.c[k - i]);
    r.c[k] = (1.0 / k) * sum;
  }
  return r;
}
IntervalSeries log(const IntervalSeries& a) {
  if (!(a.c[0].lo > 0)) return IntervalSeries::rough(a.order, whole_line());
  return integrated(increasing(a.c[0], [](double x) { return std::log(x); }), a, IntervalSeries(a.order, {1, 1}) / a);
}
IntervalSeries pow(const IntervalSeries& a, double p) {
  constexpr double kMostProducts = 64;
  if (p >= 0 && p <= kMostProducts && p == std::floor(p)) {
    IntervalSeries r(a.order, {1, 1}), x = a;
    for (auto rest = static_cast<unsigned>(p); rest != 0; rest >>= 1) {
      if (rest & 1u) r = r * x;
      const Interval value = square(x.c[0]);  // tighter than the product with itself
      x = x * x;
      x.c[0] = value;
    }
    return r;
  }
  if (p < 0 && p == std::floor(p)) return IntervalSeries(a.order, {1, 1}) / pow(a, -p);
  if (!(a.c[0].lo > 0)) {
    const bool root = p > 0 && a.c[0].lo >= 0;
    return IntervalSeries::rough(a.order, root ? widened(0, std::pow(a.c[0].hi, p)) : whole_line());
  }
  IntervalSeries r(a.order, power(a.c[0], p));
  r.top = a.top == 0 ? 0 : a.order;
  for (int k = 1; k <= r.top; ++k) {
    Interval sum{};
    for (int i = 1; i <= std::min(k, a.top); ++i) sum = sum + (p * i - (k - i)) * (a.c[i] * r.c[k - i]);
    r.c[k] = (1.0 / k) * (sum / a.c[0]);
  }
  return r;
}
IntervalSeries pow(const IntervalSeries& a, const IntervalSeries& p) {
  if (p.top == 0 && p.c[0].is(p.c[0].lo)) return pow(a, p.c[0].lo);
  return exp(p * log(a));
}
IntervalSeries sin(const IntervalSeries& a) {
  IntervalSeries s(a.order, sin(a.c[0])), c(a.order, cos(a.c[0]));
  sine_pair(a, -1, s, c);
  return s;
}
IntervalSeries cos(const IntervalSeries& a) {
  IntervalSeries s(a.order, sin(a.c[0])), c(a.order, cos(a.c[0]));
  sine_pair(a, -1, s, c);
  return c;
}
IntervalSeries sinh(const IntervalSeries& a) {
  IntervalSeries s(a.order, increasing(a.c[0], [](double x) { return std::sinh(x); }));
  IntervalSeries c(a.order, cosh(a.c[0]));
  sine_pair(a, 1, s, c);
  return s;
}
IntervalSeries cosh(const IntervalSeries& a) { return IntervalSeries(a.order, {0.5, 0.5}) * (exp(a) + exp(-a)); }
IntervalSeries tan(const IntervalSeries& a) {
  if (cos(a.c[0]).contains(0)) return IntervalSeries::rough(a.order, whole_line());
  return tangent(a, increasing(a.c[0], [](double x) { return std::tan(x); }), 1);
}
IntervalSeries tanh(const IntervalSeries& a) {
  return tangent(a, increasing(a.c[0], [](double x) { return std::tanh(x); }), -1);
}
IntervalSeries atan(const IntervalSeries& a) {
  const IntervalSeries one(a.order, {1, 1});
  return integrated(increasing(a.c[0], [](double x) { return std::atan(x); }), a, one / (one + pow(a, 2)));
}
IntervalSeries asin(const IntervalSeries& a) {
  const IntervalSeries one(a.order, {1, 1});
  return integrated(increasing(a.c[0], [](double x) { return std::asin(x); }), a, pow(one - pow(a, 2), -0.5));
}
IntervalSeries acos(const IntervalSeries& a) {
  return IntervalSeries(a.order, widened(std::numbers::pi / 2, std::numbers::pi / 2)) - asin(a);
}
IntervalSeries atan2(const IntervalSeries& y, const IntervalSeries& x) {
  const IntervalSeries g = IntervalSeries(y.order, {1, 1}) / (pow(x, 2) + pow(y, 2));
  return integrated(widened(-std::numbers::pi, std::numbers::pi), y, x * g) - integrated({0, 0}, x, y * g);
}
IntervalSeries abs(const IntervalSeries& a) {
  if (a.c[0].lo >= 0) return a;
  if (a.c[0].hi <= 0) return -a;
  return IntervalSeries::rough(a.order, {0, a.c[0].magnitude()});
}
IntervalSeries floor(const IntervalSeries& a) {
  const Interval value{std::floor(a.c[0].lo), std::floor(a.c[0].hi)};
  return value.lo == value.hi ? IntervalSeries(a.order, value) : IntervalSeries::rough(a.order, value);
}
IntervalSeries sign(const IntervalSeries& a) {
  if (a.c[0].lo > 0) return {a.order, {1, 1}};
  if (a.c[0].hi < 0) return {a.order, {-1, -1}};
  return IntervalSeries::rough(a.order, {-1, 1});
}
IntervalSeries min(const IntervalSeries& a, const IntervalSeries& b) {
  if (a.c[0].hi <= b.c[0].lo) return a;
  if (b.c[0].hi <= a.c[0].lo) return b;
  return IntervalSeries::rough(a.order, {std::min(a.c[0].lo, b.c[0].lo), std::min(a.c[0].hi, b.c[0].hi)});
}
IntervalSeries max(const IntervalSeries& a, const IntervalSeries& b) { return -min(-a, -b); }

}  // namespace stickslip
