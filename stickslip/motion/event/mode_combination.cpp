// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/mode_combination.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/common/decompositions.hpp"

namespace stickslip {

double slip_sign(Mode mode) { return mode == Mode::slip_plus ? 1.0 : mode == Mode::slip_minus ? -1.0 : 0.0; }

namespace {

constexpr double kSymmetric = 1e-12;  // of the entries of D: round-off

/// D = VᵀU where the caller knows D alone.
void factors_of(const DenseMatrix& D, DenseMatrix& V, DenseMatrix& U) {
  auto keep = [&] {
    V = D.transpose();
    U = DenseMatrix::Identity(D.rows(), D.cols());
  };
  if ((D - D.transpose()).cwiseAbs().sum() > kSymmetric * D.cwiseAbs().sum()) return keep();
  const Eigen::LDLT<DenseMatrix> factor(D);
  if (factor.vectorD().minCoeff() < -kSymmetric * factor.vectorD().cwiseAbs().maxCoeff()) return keep();
  const DenseMatrix L = factor.matrixL();
  V = factor.vectorD().cwiseMax(0).cwiseSqrt().asDiagonal() * L.transpose();
  V = V * factor.transpositionsP();
  U = V;
}

}  // namespace

ModeCombination::ModeCombination(const DecisionProblem& problem, double tolerance)
    : outside(tolerance), problem_(problem), tolerance_(tolerance), V_(problem.rows), U_(problem.columns) {
  if (V_.cols() != problem.D.cols()) factors_of(problem.D, V_, U_);
  b_size_ = problem.b_size.size() == problem.b.size() ? problem.b_size : Vector(problem.b.cwiseAbs());
  Index row = 0;
  for (const DecisionLaw& law : problem.laws) {
    first_.push_back(row);
    row += law.set.size;
    limit_.push_back(law.set.limit);
    static_limit_.push_back(law.static_limit);
  }
}

void ModeCombination::pose(const std::vector<Mode>& modes) {
  modes_ = modes;
  const Index m = problem_.b.size();
  rows_.clear();
  columns_.resize(m, m);
  loop_.laws.clear();
  looped_.clear();
  Index k = 0;
  for (std::size_t l = 0; l < modes_.size(); ++l) {
    const DecisionLaw& law = problem_.laws[l];
    const Index i = first_[l];
    const Mode mode = modes_[l];
    if (law.follows >= 0 && mode != Mode::stick) {
      loop_.laws.push_back(static_cast<std::size_t>(law.follows));
      looped_.push_back(l);
    }
    if (mode == Mode::open || mode == Mode::slip || law.slips) continue;
    if (law.set.kind == SetKind::interval) {
      if (mode == Mode::stick) add_unknown(i, k++);
      continue;
    }
    add_unknown(i, k);
    if (mode != Mode::stick && law.set.size == 2) columns_(i + 1, k) = -law.set.limit * slip_sign(mode);
    ++k;
    if (mode == Mode::stick) add_unknown(i + 1, k++);
  }
  if (k == 0) return;
  DenseMatrix V(V_.rows(), k);
  for (Index i = 0; i < k; ++i) V.col(i) = V_.col(rows_[i]);
  held_.factor(V, U_ * columns_.leftCols(k));
}

void ModeCombination::add_unknown(Index i, Index column) {
  rows_.push_back(i);
  columns_.col(column).setZero();
  columns_(i, column) = 1;
}

/// r of a friction law that slips, per unit of its limit.
void ModeCombination::slip_force(std::size_t l, double c, Vector& r) const {
  const DecisionLaw& law = problem_.laws[l];
  if (!law.slips) {
    r[first_[l]] = -c * slip_sign(modes_[l]);
    return;
  }
  for (int i = 0; i < law.set.size; ++i) r[first_[l] + i] = c * law.force[static_cast<std::size_t>(i)];
}

/// r with forces `fixed` and the shortest reactions of the rows that hold, u' = b + D r along those being 0.
Vector ModeCombination::held_response(const Vector& b, const Vector& fixed) {
  const auto k = static_cast<Index>(rows_.size());
  if (k == 0) return fixed;
  const Vector free = b + problem_.D * fixed;
  Vector g(k), x;
  for (Index i = 0; i < k; ++i) g[i] = -free[rows_[i]];
  held_.shortest(g, x);
  return fixed + columns_.leftCols(k) * x;
}

const std::vector<Vector>& ModeCombination::find_limits() {
  if (loop_.laws.empty()) {
    roots_.assign(1, Vector());
    return roots_;
  }
  const Index m = problem_.b.size();
  const Vector zero = Vector::Zero(m);
  for (const std::size_t l : looped_) limit_[l] = 0;
  loop_.R0 = problem_.R0 + problem_.R1 * held_response(problem_.b, fixed_forces());
  loop_.R1.resize(problem_.R0.size(), static_cast<Index>(looped_.size()));
  for (std::size_t j = 0; j < looped_.size(); ++j) {
    Vector unit = zero;
    slip_force(looped_[j], 1, unit);
    loop_.R1.col(static_cast<Index>(j)) = problem_.R1 * held_response(zero, unit);
  }
  loop_.solve_all(*problem_.limits, roots_);
  return roots_;
}

void ModeCombination::set_limits(const Vector& c) {
  for (std::size_t j = 0; j < looped_.size(); ++j) limit_[looped_[j]] = c[static_cast<Index>(j)];
}

Vector ModeCombination::fixed_forces() const {
  Vector fixed = Vector::Zero(problem_.b.size());
  for (std::size_t l = 0; l < modes_.size(); ++l)
    if (problem_.laws[l].slips || (problem_.laws[l].set.kind == SetKind::interval && modes_[l] != Mode::stick))
      slip_force(l, limit_[l], fixed);
  return fixed;
}

bool ModeCombination::solve(const Vector& limits) {
  set_limits(limits);
  if (!solve_mode()) return false;
  if (problem_.limits) follow();
  return true;
}

/// r and u' of one combination; false where it has none.
bool ModeCombination::solve_mode() {
  within_ = false;
  const Vector fixed = fixed_forces();
  const auto k = static_cast<Index>(rows_.size());
  bounds_.clear();
  x_.resize(0);
  r_ = fixed;
  if (k > 0) {
    Vector g(k), size(k);
    const Vector b = problem_.b + problem_.D * fixed;
    const Vector terms = b_size_ + problem_.D.cwiseAbs() * fixed.cwiseAbs();
    for (Index i = 0; i < k; ++i) {
      g[i] = -b[rows_[i]];
      size[i] = terms[rows_[i]];
    }
    held_.shortest(g, x_);
    if (!held_.consistent(g, size, x_)) return false;
    within_ = held_.redundant();
    if (!choose_reactions(fixed)) return false;
    r_ = fixed + columns_.leftCols(k) * x_;
  }
  a_ = problem_.b + problem_.D * r_;
  scale_ = b_size_ + problem_.D.cwiseAbs() * r_.cwiseAbs();
  for (const Index i : rows_) a_[i] = 0;
  return true;
}

/// x within the sets where it is not unique.
bool ModeCombination::choose_reactions(const Vector& fixed) {
  const auto k = static_cast<Index>(rows_.size());
  if (problem_.limits) {
    r_ = fixed + columns_.leftCols(k) * x_;
    follow();
  }
  collect_bounds();
  if (!within_) return true;
  const double inset = outside > tolerance_ ? -outside : 0.0;
  if (!problem_.limits) return held_.smallest_within(bounds_, std::vector<double>(bounds_.size(), inset), x_);
  const BoundsAt tangents = [&](const Vector& x, std::vector<ReactionBound>& /*bounds_*/) { follow_choice(fixed, x); };
  return smallest_within(held_, tangents, inset, bounds_, x_);
}

void ModeCombination::follow_choice(const Vector& fixed, const Vector& x) {
  const auto k = static_cast<Index>(rows_.size());
  const auto columns = columns_.leftCols(k);
  r_ = fixed + columns * x;
  follow();
  collect_bounds();
  const Vector R = problem_.R0 + problem_.R1 * r_;
  const DenseMatrix dR = problem_.R1 * columns;
  for (ReactionBound& bound : bounds_) {
    const int law = problem_.laws[static_cast<std::size_t>(bound.law)].follows;
    if (law < 0) continue;
    bound.slopes.resize(k);
    for (Index j = 0; j < k; ++j) {
      const double slope = problem_.limits->static_along(static_cast<std::size_t>(law), R, dR.col(j)).slope;
      bound.slopes[j] = std::isfinite(slope) ? slope : 0.0;
    }
    bound.shift = -bound.slopes.dot(x);
  }
}

/// Limits of laws that stick at r_; true: some changed.
bool ModeCombination::follow() {
  const Vector R = problem_.R0 + problem_.R1 * r_;
  bool changed = false;
  for (std::size_t l = 0; l < modes_.size(); ++l) {
    const int law = problem_.laws[l].follows;
    if (law < 0) continue;
    if (modes_[l] == Mode::stick) limit_[l] = problem_.limits->limit(static_cast<std::size_t>(law), R);
    const double c_s = std::max(limit_[l], problem_.limits->static_limit(static_cast<std::size_t>(law), R));
    changed |= std::abs(c_s - static_limit_[l]) > tolerance_ * c_s;
    static_limit_[l] = c_s;
  }
  return changed;
}

/// Sets of the unknowns, in their order.
void ModeCombination::collect_bounds() {
  bounds_.clear();
  Index k = 0;
  for (std::size_t l = 0; l < modes_.size(); ++l) {
    const DecisionLaw& law = problem_.laws[l];
    const Mode mode = modes_[l];
    const int id = static_cast<int>(l);
    if (mode == Mode::open || mode == Mode::slip || law.slips) continue;
    if (law.set.kind == SetKind::interval) {
      if (mode == Mode::stick) append_friction_bounds(id, static_limit_[l], 0, -1, k++, 1, bounds_);
      continue;
    }
    bounds_.push_back(pushing(id, k));
    if (mode == Mode::stick) append_friction_bounds(id, 0, static_limit_[l], k, k + 1, 1, bounds_);
    k += mode == Mode::stick ? 2 : 1;
  }
}

bool ModeCombination::admissible() const {
  const double force = r_.size() > 0 ? r_.lpNorm<Eigen::Infinity>() : 0;
  for (std::size_t l = 0; l < modes_.size(); ++l) {
    const DecisionLaw& law = problem_.laws[l];
    const Index i = first_[l];
    const Mode mode = modes_[l];
    // The limit of an interval is a force, that of a cone a coefficient.
    const double tiny_force = outside * (force + (law.set.kind == SetKind::interval ? static_limit_[l] : 0.0));
    if (mode == Mode::slip || law.slips) continue;
    if (law.set.kind == SetKind::interval) {
      if (mode == Mode::stick) {
        if (!within_ && std::abs(r_[i]) > static_limit_[l] + tiny_force) return false;
      } else if (!(slip_sign(mode) * a_[i] > tolerance_ * scale_[i])) {
        return false;
      }
      continue;
    }
    if (mode == Mode::open) {
      if (!(a_[i] >= -tolerance_ * scale_[i])) return false;
      continue;
    }
    if (!within_ && !(r_[i] >= -tiny_force)) return false;
    if (!within_ && mode == Mode::stick && std::abs(r_[i + 1]) > static_limit_[l] * r_[i] + tiny_force) return false;
    if (slip_sign(mode) != 0 && !(slip_sign(mode) * a_[i + 1] > tolerance_ * scale_[i + 1])) return false;
  }
  return true;
}

}  // namespace stickslip
