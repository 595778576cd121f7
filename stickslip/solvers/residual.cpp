// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/common/pinned_factor.hpp"

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
      const double e = r[first] - std::min(std::max(r[first] - rho[k] * u[first], -set.limit), set.limit);
      raise(largest, e * e);
      ++first;
      continue;
    }
    if (set.kind == SetKind::half_line) {
      const double e = r[first] - std::max(r[first] - rho[k] * u[first], 0.0);
      raise(largest, e * e);
      ++first;
      continue;
    }
    const std::size_t size = static_cast<std::size_t>(set.size);
    std::array<double, 3> moved, projected, s;
    shift(set, {u.data() + first, size}, {s.data(), size});
    for (std::size_t c = 0; c < size; ++c) moved[c] = r[first + c] - rho[k] * (u[first + c] + s[c]);
    project(set, {moved.data(), size}, {projected.data(), size});
    double square = 0;
    for (std::size_t c = 0; c < size; ++c) square += (r[first + c] - projected[c]) * (r[first + c] - projected[c]);
    raise(largest, square);
    first += set.size;
  }
  return std::sqrt(largest);
}

namespace {
template <class Weight, class Factor>
double natural_map_two_norm(const std::vector<Set>& sets, const Vector& r, const Vector& u, Weight&& rho,
                            Factor&& factor) {
  double sum = 0;
  Index first = 0;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const std::size_t size = static_cast<std::size_t>(sets[k].size);
    const double e =
        factor(k) * inclusion_residual(sets[k], {r.data() + first, size}, {u.data() + first, size}, rho(k));
    sum += e * e;
    first += sets[k].size;
  }
  return std::sqrt(sum);
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

double stopping_error(const Residuals& found, StoppingMeasure measure) {
  switch (measure) {
    case StoppingMeasure::inclusion:
      return found.inclusion;
    case StoppingMeasure::error:
      return found.error;
    case StoppingMeasure::strict_error:
      return found.strict_error;
    case StoppingMeasure::unit_free:
      return found.unit_free;
  }
  return found.inclusion;
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
  found.error = over(plain, std::max({b_norm, r.norm(), u.norm()}));
  found.strict_error = over(plain, b_norm);
  found.unit_free = over(natural_map_norm(sets, r, u, rho), b_norm);
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

Residuals residuals(const DualProblem& problem, const Vector& r) {
  Vector u(r.size());
  multiply(problem.D, r, u);
  u += problem.b;
  const Vector rho = natural_weights(problem);
  const double scale = scale_of(problem.sets, r, u, rho);
  const double map = natural_map_residual(problem.sets, r, u, rho);
  Residuals result;
  result.inclusion = scale > 0 ? map / scale : map;
  result.membership = membership_residual(problem.sets, r);
  set_errors(problem.sets, r, u, rho, problem.b.norm(), result);
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
  set_errors(problem.sets, r, u, rho, (problem.Wt * free - problem.w).norm(), result);
  return result;
}

bool certifies_no_solution(const DualProblem& problem, const Vector& y, double tolerance) {
  if (y.size() != problem.b.size() || !y.allFinite()) return false;
  const double small = tolerance * (y.size() ? y.lpNorm<Eigen::Infinity>() : 0.0);
  double norm = 0;
  Vector image = Vector::Zero(y.size());  // Dᵀy
  if (const auto* dense = std::get_if<DenseMatrix>(&problem.D)) {
    image.noalias() = dense->transpose() * y;
    norm = dense->lpNorm<Eigen::Infinity>();
  } else {
    const auto& blocks = std::get<BlockSparseMatrix>(problem.D);
    for (int k = 0; k < blocks.blocks(); ++k)
      for (const auto& entry : blocks.row(k)) {
        const double* a = blocks.values(entry);
        for (int i = 0; i < blocks.block_size(k); ++i)
          for (int j = 0; j < blocks.block_size(entry.column); ++j, ++a) {
            image[blocks.start(entry.column) + j] += *a * y[blocks.start(k) + i];
            norm = std::max(norm, std::abs(*a));
          }
      }
  }
  const double negligible = small * std::max(1e-300, norm);
  for (double& x : image)
    if (std::abs(x) <= negligible) x = 0;
  double bound = problem.b.dot(y);
  Index first = 0;
  for (const Set& set : problem.sets) {
    for (int c = 0; c < set.size; ++c) {
      const double yc = y[first + c];
      const bool pushes_only = set.kind == SetKind::half_line || (is_cone(set.kind) && c == 0);
      if (!(set.kind == SetKind::line || std::abs(yc) <= small || (pushes_only && yc > 0))) return false;
    }
    bound += support(set, {image.data() + first, static_cast<std::size_t>(set.size)});
    first += set.size;
  }
  return bound < -small * problem.b.lpNorm<Eigen::Infinity>();
}

}  // namespace stickslip
