// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/polynomial.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include "stickslip/common/root_finding.hpp"

namespace stickslip {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t kCapacity = kLargestDegree + 1;
// Halvings after which an interval holds no two doubles that differ at s ~ 1.
constexpr int kDeepest = 52;

using Coefficients = std::array<double, kCapacity>;

/// Bernstein coefficients b_0..b_n on [lo, hi].
struct Piece {
  double lo, hi;
  Coefficients b;
};

double absolute_sum(std::span<const double> c) {
  double sum = 0;
  for (const double x : c) sum += std::abs(x);
  return sum;
}

double roundoff(std::span<const double> c) { return kEpsilon * static_cast<double>(c.size() + 1) * absolute_sum(c); }

std::span<const double> without_trailing_zeros(std::span<const double> c) {
  while (!c.empty() && c.back() == 0.0) c = c.first(c.size() - 1);
  return c;
}

void to_bernstein(std::span<const double> c, Coefficients& b) {
  const std::size_t n = c.size() - 1;
  double binomial = 1;
  for (std::size_t i = 0; i <= n; ++i) {
    b[i] = c[i] / binomial;
    binomial = binomial * static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  for (std::size_t r = 1; r <= n; ++r)
    for (std::size_t j = n; j >= r; --j) b[j] += b[j - 1];
}

/// de Casteljau: b becomes the part left of `ratio`, right the part to the right of it.
void split(Coefficients& b, std::size_t n, double ratio, Coefficients& right) {
  for (std::size_t j = 0; j <= n; ++j) right[j] = b[j];
  // right[0..n-r] holds level r of the triangle; its first entries are the left part.
  for (std::size_t r = 1; r <= n; ++r) {
    for (std::size_t j = 0; j + r <= n; ++j) right[j] += ratio * (right[j + 1] - right[j]);
    b[r] = right[0];
  }
}

bool all_positive(const Coefficients& b, std::size_t n) {
  for (std::size_t j = 0; j <= n; ++j)
    if (!(b[j] > 0)) return false;
  return true;
}

enum class Signs { no_fall, one_fall, falls_at_start, undecided };

Signs signs(const Coefficients& b, std::size_t n, double shift) {
  if (b[0] + shift < 0) return Signs::falls_at_start;
  std::size_t j = 0;
  while (j <= n && b[j] + shift >= 0) ++j;
  if (j > n) return Signs::no_fall;
  while (j <= n && b[j] + shift <= 0) ++j;
  return j > n ? Signs::one_fall : Signs::undecided;
}

bool is_noise(const Coefficients& b, std::size_t n, double shift, double noise) {
  for (std::size_t j = 0; j <= n; ++j)
    if (std::abs(b[j] + shift) > noise) return false;
  return true;
}

/// The first interval in which p + shift falls below 0, with one sign change of its coefficients (lo = hi: at lo).
/// Where p + shift is no more than noise, its signs mean nothing and halving would not end: such a piece counts as
/// touching.
std::optional<Piece> first_fall(const Piece& whole, std::size_t n, double shift, double noise) {
  std::array<Piece, kDeepest + 2> stack;
  std::array<int, kDeepest + 2> depth;
  std::size_t size = 1;
  stack[0] = whole;
  depth[0] = 0;
  while (size > 0) {
    Piece& piece = stack[size - 1];
    Signs found = signs(piece.b, n, shift);
    if (found == Signs::undecided && (depth[size - 1] >= kDeepest || is_noise(piece.b, n, shift, noise)))
      found = Signs::no_fall;
    switch (found) {
      case Signs::no_fall:
        --size;
        break;
      case Signs::falls_at_start:
        piece.hi = piece.lo;
        return piece;
      case Signs::one_fall:
        return piece;
      case Signs::undecided: {
        // The left half goes on top of the stack.
        Piece& left = stack[size];
        const double middle = 0.5 * (piece.lo + piece.hi);
        left.b = piece.b;
        split(left.b, n, 0.5, piece.b);
        left.lo = piece.lo;
        left.hi = middle;
        piece.lo = middle;
        depth[size] = ++depth[size - 1];
        ++size;
        break;
      }
    }
  }
  return std::nullopt;
}

/// The fall of p + shift in (lo, hi), one sign change of its coefficients. It may be zero (or round-off) at an end as
/// well, where it touches: such an end is moved inwards first.
double refine(std::span<const double> c, double lo, double hi, double shift) {
  const auto f = [&](double s) { return evaluate_compensated(c, s) + shift; };
  double at_lo = f(lo), at_hi = f(hi);
  while (!(at_lo > 0 && at_hi < 0)) {
    const double middle = 0.5 * (lo + hi);
    if (middle <= lo || middle >= hi) return at_lo > 0 ? hi : lo;
    const double value = f(middle);
    (value > 0 ? lo : hi) = middle;
    (value > 0 ? at_lo : at_hi) = value;
    if (value == 0) return middle;
  }
  return find_root(f, lo, at_lo, hi, at_hi, 0.0).x;
}

/// The last s in [from, s1] at which p falls to 0; p(s1) <= 0. `from` if p is not positive in between.
double last_fall_before(std::span<const double> c, double from, double s1) {
  const std::size_t n = c.size() - 1;
  Coefficients b, spare;
  to_bernstein(c, b);
  if (s1 < 1) split(b, n, s1, spare);
  if (from > 0) {
    split(b, n, from / s1, spare);
    b = spare;
  }
  // Backwards and with the other sign, the last fall is the first one.
  Piece backward{0, 1, {}};
  for (std::size_t j = 0; j <= n; ++j) backward.b[j] = -b[n - j];
  const std::optional<Piece> rise = first_fall(backward, n, 0.0, 0.5 * roundoff(c));
  if (!rise) return from;
  const double length = s1 - from;
  return refine(c, std::max(from, s1 - rise->hi * length), s1 - rise->lo * length, 0.0);
}

}  // namespace

double evaluate(std::span<const double> c, double s) {
  double sum = 0;
  for (std::size_t i = c.size(); i-- > 0;) sum = sum * s + c[i];
  return sum;
}

double evaluate_derivative(std::span<const double> c, double s) {
  double sum = 0;
  for (std::size_t i = c.size(); i-- > 1;) sum = sum * s + static_cast<double>(i) * c[i];
  return sum;
}

double evaluate_compensated(std::span<const double> c, double s) {
  double sum = 0, correction = 0;
  for (std::size_t i = c.size(); i-- > 0;) {
    const double product = sum * s, product_error = std::fma(sum, s, -product);
    const double next = product + c[i], part = next - product;
    const double sum_error = (product - (next - part)) + (c[i] - part);
    correction = correction * s + (product_error + sum_error);
    sum = next;
  }
  return sum + correction;
}

std::optional<double> first_root(std::span<const double> c, double from, double graze) {
  assert(c.size() <= kCapacity && from >= 0 && from <= 1 && graze >= 0);
  std::size_t zeros = 0;
  while (zeros < c.size() && c[zeros] == 0.0) ++zeros;
  if (zeros == c.size()) return std::nullopt;
  const std::span<const double> g = without_trailing_zeros(c.subspan(zeros));
  if (from == 0 && g[0] < 0) return 0.0;
  double bound = g[0];
  for (std::size_t i = 1; i < g.size(); ++i) bound += std::min(g[i], 0.0);
  if (bound > 0) return std::nullopt;

  // g has the sign of p; only the depth of a dip must be that of p itself.
  const std::span<const double> measured = graze > 0 ? without_trailing_zeros(c) : g;
  const std::size_t n = measured.size() - 1;
  Piece whole{from, 1, {}};
  to_bernstein(measured, whole.b);
  if (from > 0) {
    Coefficients right;
    split(whole.b, n, from, right);
    whole.b = right;
  }
  if (all_positive(whole.b, n)) return std::nullopt;
  if (!std::isfinite(absolute_sum(g))) return std::nullopt;

  const double noise = roundoff(measured), shift = graze + noise;
  const std::optional<Piece> fall = first_fall(whole, n, shift, 0.5 * noise);
  if (!fall) {
    const bool ends_falling = graze == 0 && evaluate_compensated(g, 1) <= 0 && evaluate_derivative(g, 1) < 0;
    if (!ends_falling || from == 1) return std::nullopt;
    return last_fall_before(g, from, 1);
  }
  if (graze == 0 && fall->b[0] > 0 && signs(fall->b, n, 0.0) == Signs::one_fall)
    return refine(g, fall->lo, fall->hi, 0.0);
  return last_fall_before(g, from, refine(measured, fall->lo, fall->hi, shift));
}

PolynomialFit::PolynomialFit(int degree) : degree_(degree) {
  assert(degree >= 2 && degree <= kLargestFitDegree);
  const int n = degree;
  const auto cosine = [n](int k) { return std::cos(std::numbers::pi * (k % (2 * n)) / n); };
  for (int j = 0; j <= n; ++j) nodes_[static_cast<std::size_t>(j)] = 0.5 * (1 - cosine(j));
  nodes_[static_cast<std::size_t>(n)] = 1;
  for (int k = 0; k <= n; ++k)
    for (int j = 0; j <= n; ++j) {
      const double halves = (k == 0 || k == n ? 0.5 : 1.0) * (j == 0 || j == n ? 0.5 : 1.0);
      chebyshev_[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)] =
          halves * (k % 2 ? -2.0 : 2.0) / n * cosine(k * j);
    }
  // T_k+1 = (4 s - 2) T_k - T_k-1: integers below 2⁵³, exact.
  monomial_[0][0] = 1;
  monomial_[1][0] = -1;
  monomial_[1][1] = 2;
  for (std::size_t k = 1; k < static_cast<std::size_t>(n); ++k)
    for (std::size_t i = 0; i <= k + 1; ++i)
      monomial_[k + 1][i] = (i > 0 ? 4 * monomial_[k][i - 1] : 0.0) - 2 * monomial_[k][i] - monomial_[k - 1][i];
}

double PolynomialFit::fit(std::span<const double> values, std::span<double> c) const {
  const auto count = static_cast<std::size_t>(degree_) + 1;
  assert(values.size() == count && c.size() == count);
  Row a;
  for (std::size_t k = 0; k < count; ++k) {
    a[k] = 0;
    for (std::size_t j = 0; j < count; ++j) a[k] += chebyshev_[k][j] * values[j];
  }
  for (std::size_t i = 0; i < count; ++i) {
    c[i] = 0;
    for (std::size_t k = count; k-- > i;) c[i] += a[k] * monomial_[k][i];
  }
  return std::abs(a[count - 2]) + std::abs(a[count - 1]);
}

}  // namespace stickslip
