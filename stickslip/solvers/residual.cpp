// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/common/plane_norm.hpp"

namespace stickslip {

namespace {
/// The larger of the two, or NaN if one of them is.
void raise(double& largest, double value) {
  if (value > largest || std::isnan(value)) largest = value;
}
}  // namespace

double natural_map_residual(const std::vector<Set>& sets, const Vector& r, const Vector& u, const Vector& rho) {
  double largest = 0;
  Index first = 0;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const Set& set = sets[k];
    if (set.kind == SetKind::interval) {  // the commonest law, without the detour through the general projection
      raise(largest, std::abs(r[first] - std::min(std::max(r[first] - rho[k] * u[first], -set.limit), set.limit)));
      ++first;
      continue;
    }
    if (set.kind == SetKind::half_line) {
      raise(largest, std::abs(r[first] - std::max(r[first] - rho[k] * u[first], 0.0)));
      ++first;
      continue;
    }
    const std::size_t size = static_cast<std::size_t>(set.size);
    raise(largest, inclusion_residual(set, {r.data() + first, size}, {u.data() + first, size}, rho[k]));
    first += set.size;
  }
  return largest;
}

namespace {
template <class Weight, class Factor>
double natural_map_two_norm(const std::vector<Set>& sets, const Vector& r, const Vector& u, Weight&& rho,
                            Factor&& factor) {
  double norm = 0;
  Index first = 0;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const std::size_t size = static_cast<std::size_t>(sets[k].size);
    const double e =
        factor(k) * inclusion_residual(sets[k], {r.data() + first, size}, {u.data() + first, size}, rho(k));
    norm = plane_norm(norm, e);
    first += sets[k].size;
  }
  return norm;
}
}  // namespace

double natural_map_norm(const std::vector<Set>& sets, const Vector& r, const Vector& u) {
  const auto one = [](std::size_t) { return 1.0; };
  return natural_map_two_norm(sets, r, u, one, one);
}

double natural_map_norm(const std::vector<Set>& sets, const Vector& r, const Vector& u, const Vector& rho) {
  return natural_map_two_norm(
      sets, r, u, [&](std::size_t k) { return rho[k]; }, [&](std::size_t k) { return 1 / rho[k]; });
}

double membership_residual(const std::vector<Set>& sets, const Vector& r) {
  double largest = 0;
  Index first = 0;
  for (const Set& set : sets) {
    const double outside = set.kind == SetKind::interval ? std::abs(r[first]) - set.limit
                           : set.kind == SetKind::half_line
                               ? -r[first]
                               : distance(set, {r.data() + first, static_cast<std::size_t>(set.size)});
    raise(largest, outside);
    first += set.size;
  }
  return largest;
}

namespace {
Vector repair_weights(Vector weights) {
  double largest = 0;
  for (double w : weights)
    if (std::isfinite(w)) largest = std::max(largest, w);
  for (double& w : weights)
    if (!(std::isfinite(w) && w > 0)) w = largest > 0 ? largest : 1.0;
  return weights;
}

double scale_of(const std::vector<Set>& sets, const Vector& r, const Vector& u, const Vector& rho) {
  double scale = r.size() ? r.lpNorm<Eigen::Infinity>() : 0.0;
  Index first = 0;
  for (std::size_t k = 0; k < sets.size(); ++k)
    for (int c = 0; c < sets[k].size; ++c) scale = std::max(scale, rho[k] * std::abs(u[first++]));
  return scale;
}

/// error, strict_error and unit_free; b_norm = |b|.
void set_errors(const std::vector<Set>& sets, const Vector& r, const Vector& u, const Vector& rho, double b_norm,
                Residuals& found) {
  const auto over = [](double value, double divisor) { return divisor > 0 ? value / divisor : value; };
  const double plain = natural_map_norm(sets, r, u);
  found.error = over(plain, std::max({b_norm, r.stableNorm(), u.stableNorm()}));
  found.strict_error = over(plain, b_norm);
  double pushed = 0;
  Index first = 0;
  for (std::size_t k = 0; k < sets.size(); ++k)
    for (int c = 0; c < sets[k].size; ++c) pushed = plane_norm(pushed, r[first++] / rho[static_cast<Index>(k)]);
  constexpr double kRoundOff = 0x1p-53;
  const double rounding = b_norm > 0 ? kRoundOff * pushed : 0.0;
  found.unit_free = over(std::max(natural_map_norm(sets, r, u, rho), rounding), b_norm);
}
}  // namespace

Vector natural_weights(const DualProblem& problem) {
  Vector weights(problem.sets.size());
  Index first = 0;
  const auto* dense = std::get_if<DenseMatrix>(&problem.D);
  for (std::size_t k = 0; k < problem.sets.size(); ++k) {
    const int size = problem.sets[k].size;
    double trace = 0;
    if (dense) {
      for (int c = 0; c < size; ++c) trace += (*dense)(first + c, first + c);
    } else {
      const auto& sparse = std::get<BlockSparseMatrix>(problem.D);
      for (const auto& entry : sparse.row(static_cast<int>(k)))
        if (entry.column == static_cast<int>(k))
          for (int c = 0; c < size; ++c) trace += sparse.values(entry)[c * (size + 1)];
    }
    weights[k] = size / trace;
    first += size;
  }
  return repair_weights(weights);
}

Vector natural_weights(const PrimalProblem& problem) {
  Vector weights(problem.sets.size());
  Index first = 0;
  for (std::size_t k = 0; k < problem.sets.size(); ++k) {
    double sum = 0;
    for (int c = 0; c < problem.sets[k].size; ++c, ++first)
      for (SparseMatrix::InnerIterator entry(problem.Wt, first); entry; ++entry)
        sum += entry.value() * entry.value() / (*problem.A)(entry.col(), entry.col());
    weights[k] = problem.sets[k].size / sum;
  }
  return repair_weights(weights);
}

namespace {
/// Exponent of the largest of |r| and ρ|b|.
int reaction_exponent(const Vector& r, const Vector& b, const Vector& rho) {
  if (r.size() == 0 || r.isZero(0) || b.isZero(0)) return 0;
  const auto exponent = [](const Vector& x) { return std::ilogb(x.lpNorm<Eigen::Infinity>()); };
  return std::max(exponent(r), exponent(b) + exponent(rho));
}

/// The same problem with r, u and b in other units of 2^exponent.
Residuals residuals_in_units(const DualProblem& problem, const Vector& r, int exponent) {
  const double down = std::ldexp(1.0, -exponent);
  DualProblem other{problem.D, down * problem.b, problem.sets};
  for (Set& set : other.sets)
    if (!is_cone(set.kind)) set.limit *= down;
  Residuals found = residuals(other, down * r);
  found.membership /= down;
  return found;
}
}  // namespace

Residuals residuals(const DualProblem& problem, const Vector& r) {
  constexpr int kNearTheEnd = 950, kRoom = 900;  // of 1023: sums of r and ρ u must be numbers
  Vector u(r.size());
  multiply(problem.D, r, u);
  u += problem.b;
  const Vector rho = natural_weights(problem);
  if (const int exponent = reaction_exponent(r, problem.b, rho);
      exponent > kNearTheEnd && exponent < 2 * kRoom && r.allFinite() && problem.b.allFinite())
    return residuals_in_units(problem, r, exponent - kRoom);
  const double scale = scale_of(problem.sets, r, u, rho);
  const double map = natural_map_residual(problem.sets, r, u, rho);
  Residuals result;
  result.inclusion = scale > 0 ? map / scale : map;
  result.membership = membership_residual(problem.sets, r);
  set_errors(problem.sets, r, u, rho, problem.b.stableNorm(), result);
  return result;
}

Residuals residuals(const PrimalProblem& problem, const Vector& v, const Vector& r) {
  const Vector Wr = problem.Wt.transpose() * r;
  Vector Av(v.size());
  problem.A->product(v, Av);
  Residuals result;
  const double size = std::max({Av.lpNorm<Eigen::Infinity>(), problem.g.lpNorm<Eigen::Infinity>(),
                                Wr.size() ? Wr.lpNorm<Eigen::Infinity>() : 0.0});
  const double gap = (Av - problem.g - Wr).lpNorm<Eigen::Infinity>();
  result.equation = size > 0 ? gap / size : gap;
  const Vector u = problem.Wt * v - problem.w;
  const Vector rho = natural_weights(problem);
  // Where everything sticks u = 0: the size of the reactions is then that of the load they carry.
  const double scale = std::max(scale_of(problem.sets, r, u, rho), problem.g.lpNorm<Eigen::Infinity>());
  const double map = natural_map_residual(problem.sets, r, u, rho);
  result.inclusion = scale > 0 ? map / scale : map;
  result.membership = membership_residual(problem.sets, r);
  Vector free = problem.g;
  PinnedFactor factor;
  const std::vector<char> none(problem.A->size(), 0);
  if (factor.factorize(*problem.A, none)) factor.solve(free);
  set_errors(problem.sets, r, u, rho, (problem.Wt * free - problem.w).stableNorm(), result);
  return result;
}

namespace {
/// y·D in more digits than D and y have, and how far rounding of D can have moved it: each entry by 2⁻⁵³ of the largest
/// of its block, because the parts that the entries were summed from have the size of that.
struct Image {
  std::vector<long double> value, rounding;

  /// The block of laws that begin at (i0, j0), row by row.
  template <class Entry>
  void add(const Vector& y, Index i0, int rows, Index j0, int columns, Entry&& entry) {
    double largest = 0;
    long double pushed = 0;
    for (int i = 0; i < rows; ++i) {
      pushed += std::abs(static_cast<long double>(y[i0 + i]));
      for (int j = 0; j < columns; ++j) largest = std::max(largest, std::abs(entry(i, j)));
    }
    if (pushed == 0) return;
    for (int j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(j0 + j);
      for (int i = 0; i < rows; ++i) value[at] += static_cast<long double>(entry(i, j)) * y[i0 + i];
      rounding[at] += 0x1p-53L * largest * pushed;
    }
  }
};

Image transposed_product(const DualProblem& problem, const Vector& y) {
  const auto m = static_cast<std::size_t>(y.size());
  Image image{std::vector<long double>(m, 0), std::vector<long double>(m, 0)};
  if (const auto* dense = std::get_if<DenseMatrix>(&problem.D)) {
    Index first = 0;
    for (const Set& row : problem.sets) {
      Index column = 0;
      for (const Set& other : problem.sets) {
        image.add(y, first, row.size, column, other.size,
                  [&](int i, int j) { return (*dense)(first + i, column + j); });
        column += other.size;
      }
      first += row.size;
    }
    return image;
  }
  const auto& blocks = std::get<BlockSparseMatrix>(problem.D);
  for (int k = 0; k < blocks.blocks(); ++k)
    for (const auto& entry : blocks.row(k)) {
      const double* a = blocks.values(entry);
      const int columns = blocks.block_size(entry.column);
      image.add(y, blocks.start(k), blocks.block_size(k), blocks.start(entry.column), columns,
                [&](int i, int j) { return a[i * columns + j]; });
    }
  return image;
}

/// How far the image of law k lies outside the polar of its cone, per unit of |r| (line) or r_N.
double outside_polar(const Set& set, const double* image) {
  if (set.kind == SetKind::line) return std::abs(image[0]);
  std::array<double, 3> s{};
  if (is_cone(set.kind)) shift(set, {image, static_cast<std::size_t>(set.size)}, {s.data(), 3});
  return std::max(0.0, image[0] + s[0]);
}
}  // namespace

bool certifies_no_solution(const DualProblem& problem, const Vector& y, double reach) {
  if (y.size() != problem.b.size() || !y.allFinite()) return false;
  const double b_size = y.size() ? problem.b.lpNorm<Eigen::Infinity>() : 0.0;
  if (!(b_size > 0) || y.isZero(0)) return false;
  const Image image = transposed_product(problem, y);
  const Vector rho = natural_weights(problem);
  // Σ of what r = |b| ρ in every law would add to u·y, over |b|: with D as it is, and what rounding of D could add.
  long double gap = 0, terms = 0, needed = 0, hidden = 0;
  Index first = 0;
  for (std::size_t k = 0; k < problem.sets.size(); ++k) {
    const Set& set = problem.sets[k];
    std::array<double, 3> part{};
    double rounding = 0;
    for (int c = 0; c < set.size; ++c) {
      const double yc = y[first + c];
      const bool pushes_only = set.kind == SetKind::half_line || (is_cone(set.kind) && c == 0);
      if (!(set.kind == SetKind::line || yc == 0 || (pushes_only && yc > 0))) return false;
      gap -= static_cast<long double>(problem.b[first + c]) * yc;
      terms += std::abs(static_cast<long double>(problem.b[first + c]) * yc);
      // Rounding counts as if it helped a solution.
      const auto i = static_cast<std::size_t>(first + c);
      const auto value = static_cast<double>(image.value[i]);
      part[static_cast<std::size_t>(c)] = value;
      rounding += (c == 0 ? 1 : set.limit) * static_cast<double>(image.rounding[i]);
    }
    const bool bounded = !(set.kind == SetKind::line || set.kind == SetKind::half_line || is_cone(set.kind));
    if (bounded) {
      gap -= support(set, {part.data(), static_cast<std::size_t>(set.size)});
    } else {
      needed += outside_polar(set, part.data()) * rho[static_cast<Index>(k)];
      hidden += rounding * rho[static_cast<Index>(k)];
    }
    first += set.size;
  }
  constexpr long double kMargin = 1e-10L;      // of the terms of b·y: below it the sign is no fact about the data
  constexpr long double kHiddenReach = 1e-2L;  // of `reach`: beyond, rounding of D explains any margin
  return gap > kMargin * terms && gap >= reach * (needed + kHiddenReach * hidden) * b_size;
}

}  // namespace stickslip
