// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

double membership_residual(const std::vector<Set>& sets, const Vector& r) {
  double largest = 0;
  Index first = 0;
  for (const Set& set : sets) {
    const double outside = set.kind == SetKind::interval
                               ? std::abs(r[first]) - set.limit
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
  return {0.0, scale > 0 ? map / scale : map, membership_residual(problem.sets, r)};
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
  return result;
}

bool certifies_no_solution(const DualProblem& problem, const Vector& y, double tolerance) {
  if (y.size() != problem.b.size() || !y.allFinite()) return false;
  const DenseMatrix D = to_dense(problem.D);
  const double small = tolerance * y.lpNorm<Eigen::Infinity>();
  Vector image = D.transpose() * y;
  const double negligible = small * std::max(1e-300, D.lpNorm<Eigen::Infinity>());
  for (double& x : image)
    if (std::abs(x) <= negligible) x = 0;
  double bound = problem.b.dot(y);
  Index first = 0;
  for (const Set& set : problem.sets) {
    for (int c = 0; c < set.size; ++c) {
      const double yc = y[first + c];
      const bool in_recession_cone =
          set.kind == SetKind::line || std::abs(yc) <= small || (set.kind == SetKind::half_line && yc > 0);
      if (!in_recession_cone) return false;
    }
    if (set.kind == SetKind::friction_cone || set.kind == SetKind::polygonal_cone || set.kind == SetKind::box_cone)
      return false;
    bound += support(set, {image.data() + first, static_cast<std::size_t>(set.size)});
    first += set.size;
  }
  return bound < -small * problem.b.lpNorm<Eigen::Infinity>();
}

}  // namespace stickslip
