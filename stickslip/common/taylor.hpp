// SPDX-License-Identifier: Apache-2.0
// Truncated power series: a function of one variable with all its derivatives up to order N, by automatic
// differentiation.
//
//   a(s) = Σ_k a_k s^k,   k = 0..N        a_k = a^(k)(0)/k!
//
// Products, quotients and elementary functions follow from the differential equations they satisfy (Griewank, Walther,
// Evaluating Derivatives, 2008, chapter 13), e.g. e = exp(a): k e_k = Σ_{i=1..k} i a_i e_{k-i}. Every coefficient is
// exact to round-off. Comparisons look at the value a_0 alone; at a kink the branch is that of dual.hpp, so a series
// holds on the side of its point where no switch changes.
#pragma once

#include <array>
#include <cmath>
#include <compare>

namespace stickslip {

template <int N>
struct TaylorSeries {
  std::array<double, N + 1> c;

  // Not initialised on purpose: evaluation stacks are arrays of these.
  TaylorSeries() = default;
  constexpr TaylorSeries(double constant) : c{} { c[0] = constant; }
  /// a_0 + a_1 s
  constexpr TaylorSeries(double value, double slope) : c{} {
    c[0] = value;
    c[1] = slope;
  }

  friend TaylorSeries operator-(TaylorSeries a) {
    for (double& x : a.c) x = -x;
    return a;
  }
  friend TaylorSeries operator+(TaylorSeries a, const TaylorSeries& b) {
    for (int k = 0; k <= N; ++k) a.c[k] += b.c[k];
    return a;
  }
  friend TaylorSeries operator-(TaylorSeries a, const TaylorSeries& b) {
    for (int k = 0; k <= N; ++k) a.c[k] -= b.c[k];
    return a;
  }
  friend TaylorSeries operator*(const TaylorSeries& a, const TaylorSeries& b) {
    TaylorSeries p;
    for (int k = 0; k <= N; ++k) {
      p.c[k] = 0;
      for (int i = 0; i <= k; ++i) p.c[k] += a.c[i] * b.c[k - i];
    }
    return p;
  }
  friend TaylorSeries operator/(const TaylorSeries& a, const TaylorSeries& b) {
    TaylorSeries q;
    for (int k = 0; k <= N; ++k) {
      double sum = a.c[k];
      for (int i = 0; i < k; ++i) sum -= q.c[i] * b.c[k - i];
      q.c[k] = sum / b.c[0];
    }
    return q;
  }
  friend TaylorSeries operator+(TaylorSeries a, double b) {
    a.c[0] += b;
    return a;
  }
  friend TaylorSeries operator-(TaylorSeries a, double b) {
    a.c[0] -= b;
    return a;
  }
  friend TaylorSeries operator-(double a, const TaylorSeries& b) { return -b + a; }
  friend TaylorSeries operator*(TaylorSeries a, double b) {
    for (double& x : a.c) x *= b;
    return a;
  }
  friend TaylorSeries operator/(TaylorSeries a, double b) {
    for (double& x : a.c) x /= b;
    return a;
  }
  TaylorSeries& operator+=(const TaylorSeries& b) { return *this = *this + b; }
  TaylorSeries& operator-=(const TaylorSeries& b) { return *this = *this - b; }
  TaylorSeries& operator*=(const TaylorSeries& b) { return *this = *this * b; }
  TaylorSeries& operator/=(const TaylorSeries& b) { return *this = *this / b; }

  friend std::partial_ordering operator<=>(const TaylorSeries& a, const TaylorSeries& b) { return a.c[0] <=> b.c[0]; }
  friend bool operator==(const TaylorSeries& a, const TaylorSeries& b) { return a.c[0] == b.c[0]; }
  friend TaylorSeries min(const TaylorSeries& a, const TaylorSeries& b) { return b < a ? b : a; }
  friend TaylorSeries max(const TaylorSeries& a, const TaylorSeries& b) { return a < b ? b : a; }
};

using Taylor = TaylorSeries<24>;

template <int N>
constexpr double primal(const TaylorSeries<N>& x) {
  return x.c[0];
}

/// f with f(0) given and f' = a' g.
template <int N>
TaylorSeries<N> integrate_chain(double value, const TaylorSeries<N>& a, const TaylorSeries<N>& g) {
  TaylorSeries<N> f(value);
  for (int k = 1; k <= N; ++k) {
    for (int i = 1; i <= k; ++i) f.c[k] += i * a.c[i] * g.c[k - i];
    f.c[k] /= k;
  }
  return f;
}

template <int N>
TaylorSeries<N> exp(const TaylorSeries<N>& a) {
  TaylorSeries<N> e(std::exp(a.c[0]));
  for (int k = 1; k <= N; ++k) {
    for (int i = 1; i <= k; ++i) e.c[k] += i * a.c[i] * e.c[k - i];
    e.c[k] /= k;
  }
  return e;
}

/// s' = a' c, c' = factor a' s: factor -1 for sine and cosine, +1 for the hyperbolic ones.
template <int N>
void sine_pair(const TaylorSeries<N>& a, double factor, TaylorSeries<N>& s, TaylorSeries<N>& c) {
  for (int k = 1; k <= N; ++k) {
    for (int i = 1; i <= k; ++i) {
      s.c[k] += i * a.c[i] * c.c[k - i];
      c.c[k] += factor * i * a.c[i] * s.c[k - i];
    }
    s.c[k] /= k;
    c.c[k] /= k;
  }
}
template <int N>
TaylorSeries<N> sin(const TaylorSeries<N>& a) {
  TaylorSeries<N> s(std::sin(a.c[0])), c(std::cos(a.c[0]));
  sine_pair(a, -1, s, c);
  return s;
}
template <int N>
TaylorSeries<N> cos(const TaylorSeries<N>& a) {
  TaylorSeries<N> s(std::sin(a.c[0])), c(std::cos(a.c[0]));
  sine_pair(a, -1, s, c);
  return c;
}
template <int N>
TaylorSeries<N> sinh(const TaylorSeries<N>& a) {
  TaylorSeries<N> s(std::sinh(a.c[0])), c(std::cosh(a.c[0]));
  sine_pair(a, 1, s, c);
  return s;
}
template <int N>
TaylorSeries<N> cosh(const TaylorSeries<N>& a) {
  TaylorSeries<N> s(std::sinh(a.c[0])), c(std::cosh(a.c[0]));
  sine_pair(a, 1, s, c);
  return c;
}
/// f' = a' (1 + sign f²): the tangent (+) and the hyperbolic tangent (-), which must not overflow.
template <int N>
TaylorSeries<N> tangent(const TaylorSeries<N>& a, double value, double sign) {
  TaylorSeries<N> f(value), square(0.0);
  square.c[0] = 1 + sign * value * value;
  for (int k = 1; k <= N; ++k) {
    for (int i = 1; i <= k; ++i) f.c[k] += i * a.c[i] * square.c[k - i];
    f.c[k] /= k;
    for (int i = 0; i <= k; ++i) square.c[k] += sign * f.c[i] * f.c[k - i];
  }
  return f;
}
template <int N>
TaylorSeries<N> tan(const TaylorSeries<N>& a) {
  return tangent(a, std::tan(a.c[0]), 1);
}
template <int N>
TaylorSeries<N> tanh(const TaylorSeries<N>& a) {
  return tangent(a, std::tanh(a.c[0]), -1);
}
template <int N>
TaylorSeries<N> log(const TaylorSeries<N>& a) {
  return integrate_chain(std::log(a.c[0]), a, TaylorSeries<N>(1.0) / a);
}
template <int N>
TaylorSeries<N> pow(const TaylorSeries<N>& a, double p) {
  TaylorSeries<N> r(std::pow(a.c[0], p));
  for (int k = 1; k <= N; ++k) {
    for (int i = 1; i <= k; ++i) r.c[k] += (p * i - (k - i)) * a.c[i] * r.c[k - i];
    r.c[k] /= k * a.c[0];
  }
  return r;
}
template <int N>
TaylorSeries<N> sqrt(const TaylorSeries<N>& a) {
  return pow(a, 0.5);
}
template <int N>
TaylorSeries<N> pow(const TaylorSeries<N>& a, const TaylorSeries<N>& p) {
  bool constant = true;
  for (int k = 1; k <= N; ++k) constant &= p.c[k] == 0;
  return constant ? pow(a, p.c[0]) : exp(p * log(a));
}
template <int N>
TaylorSeries<N> pow(double a, const TaylorSeries<N>& p) {
  return pow(TaylorSeries<N>(a), p);
}
template <int N>
TaylorSeries<N> hypot(const TaylorSeries<N>& a, const TaylorSeries<N>& b) {
  return sqrt(a * a + b * b);
}
template <int N>
TaylorSeries<N> atan(const TaylorSeries<N>& a) {
  return integrate_chain(std::atan(a.c[0]), a, TaylorSeries<N>(1.0) / (a * a + 1.0));
}
template <int N>
TaylorSeries<N> asin(const TaylorSeries<N>& a) {
  return integrate_chain(std::asin(a.c[0]), a, pow(1.0 - a * a, -0.5));
}
template <int N>
TaylorSeries<N> acos(const TaylorSeries<N>& a) {
  return integrate_chain(std::acos(a.c[0]), a, -pow(1.0 - a * a, -0.5));
}
template <int N>
TaylorSeries<N> atan2(const TaylorSeries<N>& y, const TaylorSeries<N>& x) {
  const TaylorSeries<N> g = TaylorSeries<N>(1.0) / (x * x + y * y);
  TaylorSeries<N> f = integrate_chain(0.0, y, x * g) - integrate_chain(0.0, x, y * g);
  f.c[0] = std::atan2(y.c[0], x.c[0]);
  return f;
}
template <int N>
TaylorSeries<N> abs(const TaylorSeries<N>& a) {
  return a.c[0] < 0 ? -a : a;
}
template <int N>
TaylorSeries<N> floor(const TaylorSeries<N>& a) {
  return std::floor(a.c[0]);
}

}  // namespace stickslip
