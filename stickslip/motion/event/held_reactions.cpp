// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/held_reactions.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

constexpr double kRank = 1e-11;          // singular values of columns of length 1
constexpr double kContradiction = 1e-9;  // of the terms of an equation
constexpr double kMoves = 1e-9;          // of columns of length 1: the choice among reactions acts on the motion
constexpr double kFree = 1e-10;          // of a bound of weight 1: less, and no choice changes its slack
constexpr double kFound = 1e-12;     // of the largest force: a choice that was found is in the sets, to its own error
constexpr double kRoundOff = 1e-13;  // of the largest force: a reaction on the border of its set is in it

}  // namespace

double ReactionBound::slack(const Vector& x) const {
  double value = constant + (normal >= 0 ? slope * x[normal] : 0.0);
  if (slopes.size() > 0) value += shift + slopes.dot(x);
  if (tangents == 1) value -= sign * x[tangent];
  if (tangents == 2) value -= std::hypot(x[tangent], x[tangent + 1]);
  return value;
}

ReactionBound pushing(int law, Index normal) {
  ReactionBound bound;
  bound.law = law;
  bound.slope = 1;
  bound.normal = normal;
  return bound;
}

void append_friction_bounds(int law, double constant, double slope, Index normal, Index tangent, int tangents,
                            std::vector<ReactionBound>& bounds) {
  ReactionBound bound{law, constant, slope, 1, normal, tangent, tangents, 0, {}};
  bounds.push_back(bound);
  if (tangents != 1) return;
  bound.sign = -1;
  bounds.push_back(bound);
}

void HeldReactions::factor(const DenseMatrix& V, const DenseMatrix& U) {
  const Index k = V.cols();
  weight_ = V.colwise().norm();
  // A row that constraints block has no length; its reaction is compared with the others' as theirs are.
  const double longest = k > 0 ? weight_.maxCoeff() : 0.0;
  for (Index i = 0; i < k; ++i)
    if (!(weight_[i] > 0)) weight_[i] = longest > 0 ? longest : 1.0;
  const auto inverse = weight_.cwiseInverse().asDiagonal();
  qr_.compute(V * inverse);
  const DenseMatrix& packed = qr_.matrixQR();
  rank_ = 0;
  while (rank_ < std::min(V.rows(), k) && std::abs(packed(rank_, rank_)) > kRank) ++rank_;
  const DenseMatrix scaled = U * inverse;
  K_ = (qr_.householderQ().transpose() * scaled).topRows(rank_);
  redundant_ = rank_ < k;
  choice_moves_ = false;
  regularity_ = 1;
  if (!redundant_) {
    lu_.compute(K_);
    regularity_ = lu_.determinant() * qr_.colsPermutation().determinant();
    for (Index i = 0; i < k; ++i) regularity_ *= packed(i, i);
    return;
  }
  Z_.setIdentity(k, k);
  inner_rank_ = 0;
  if (rank_ == 0) return;
  svd_.compute(K_, Eigen::ComputeThinU | Eigen::ComputeFullV);
  const Vector& s = svd_.singularValues();
  while (inner_rank_ < s.size() && s[inner_rank_] > kRank * s[0]) ++inner_rank_;
  Z_ = svd_.matrixV().rightCols(k - inner_rank_);
  choice_moves_ = (scaled * Z_).norm() > kMoves;
}

void HeldReactions::shortest(const Vector& g, Vector& x) const {
  const Index k = weight_.size();
  x.setZero(k);
  if (rank_ == 0) return;
  Vector c = qr_.colsPermutation().transpose() * g.cwiseQuotient(weight_);
  c.conservativeResize(rank_);
  qr_.matrixQR().topLeftCorner(rank_, rank_).triangularView<Eigen::Upper>().transpose().solveInPlace(c);
  if (!redundant_) {
    x = lu_.solve(c);
  } else {
    const Vector along = svd_.matrixU().leftCols(inner_rank_).transpose() * c;
    x = svd_.matrixV().leftCols(inner_rank_) * along.cwiseQuotient(svd_.singularValues().head(inner_rank_));
  }
  x = x.cwiseQuotient(weight_);
}

bool HeldReactions::consistent(const Vector& g, const Vector& size, const Vector& x) const {
  if (!x.allFinite()) return false;
  if (!redundant_) return true;
  if (rank_ == 0) return (g.cwiseAbs().array() <= kContradiction * size.array()).all();
  const Vector scaled = x.cwiseProduct(weight_), c = K_ * scaled;
  const Vector got = qr_.matrixQR().topRows(rank_).triangularView<Eigen::Upper>().transpose() * c;
  const Vector wanted = qr_.colsPermutation().transpose() * g.cwiseQuotient(weight_);
  const Vector terms = qr_.colsPermutation().transpose() * size.cwiseQuotient(weight_);
  const double reaction = (K_.cwiseAbs() * scaled.cwiseAbs()).maxCoeff();
  for (Index i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - wanted[i]) <= kContradiction * (terms[i] + reaction))) return false;
  return true;
}

double HeldReactions::force_scale(const std::vector<ReactionBound>& bounds, const Vector& x) const {
  double scale = x.size() > 0 ? x.cwiseProduct(weight_).lpNorm<Eigen::Infinity>() : 0.0;
  for (const ReactionBound& bound : bounds) scale = std::max(scale, bound.constant * weight_of(bound));
  return scale;
}

double HeldReactions::relative_slack(const ReactionBound& bound, const Vector& x) const {
  return bound.slack(x) * weight_of(bound);
}

void HeldReactions::nearest(const Vector& x_ref, Vector& x) const {
  if (!redundant_) return;
  const Vector along = Z_.transpose() * (x_ref - x).cwiseProduct(weight_);
  x += (Z_ * along).cwiseQuotient(weight_);
}

DenseMatrix HeldReactions::choices() const {
  return redundant_ ? DenseMatrix(weight_.cwiseInverse().asDiagonal() * Z_) : DenseMatrix(weight_.size(), 0);
}

bool HeldReactions::smallest_within(const std::vector<ReactionBound>& bounds, const std::vector<double>& inset,
                                    Vector& x, double given_scale) const {
  const double scale = given_scale > 0 ? given_scale : force_scale(bounds, x);
  auto asked = [&](std::size_t j) { return (inset.empty() ? 0.0 : inset[j]) - kRoundOff; };
  if (!(scale > 0)) return std::all_of(inset.begin(), inset.end(), [](double i) { return i <= 0; });
  auto all_hold = [&](const Vector& at, double slack) {
    for (std::size_t j = 0; j < bounds.size(); ++j)
      if (!(relative_slack(bounds[j], at) >= (asked(j) - slack) * scale)) return false;
    return true;
  };
  if (all_hold(x, 0)) return true;
  if (!redundant_) return false;
  const DenseMatrix freedom = choices();
  const Index d = Z_.cols();
  DenseMatrix G(0, d);
  Vector h(0);
  auto cut = [&](const ReactionBound& bound, double wanted, double e1, double e2) {
    Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(d);
    double value = bound.constant;
    auto add = [&](Index i, double factor) {
      row += factor * freedom.row(i);
      value += factor * x[i];
    };
    if (bound.normal >= 0) add(bound.normal, bound.slope);
    value += bound.shift;
    for (Index i = 0; i < bound.slopes.size(); ++i) add(i, bound.slopes[i]);
    if (bound.tangents > 0) add(bound.tangent, -e1);
    if (bound.tangents > 1) add(bound.tangent + 1, -e2);
    const double weight = weight_of(bound), length = row.norm() * weight;
    if (!(length > kFree)) return value * weight >= wanted * scale;  // no choice changes it
    G.conservativeResize(G.rows() + 1, d);
    h.conservativeResize(G.rows());
    G.row(G.rows() - 1) = row * (weight / length);
    h[G.rows() - 1] = (wanted - value * weight / scale) / length;
    return true;
  };
  for (std::size_t j = 0; j < bounds.size(); ++j)
    if (bounds[j].tangents < 2 && !cut(bounds[j], asked(j), bounds[j].sign, 0)) return false;
  Vector y, trial;
  constexpr int kRounds = 60;
  for (int round = 0; round < kRounds; ++round) {
    if (!least_distance(G, h, y)) return false;
    trial = x + scale * (freedom * y);
    bool added = false;
    for (std::size_t j = 0; j < bounds.size(); ++j) {
      const ReactionBound& bound = bounds[j];
      if (bound.tangents < 2 || relative_slack(bound, trial) >= (asked(j) - kRoundOff) * scale) continue;
      const double r1 = trial[bound.tangent], r2 = trial[bound.tangent + 1], r = std::hypot(r1, r2);
      if (!(r > 0) || !cut(bound, asked(j), r1 / r, r2 / r)) return false;
      added = true;
    }
    if (!added) break;
  }
  if (!all_hold(trial, kFound)) return false;
  x = trial;
  return true;
}

namespace {

/// min |E u - f|, u >= 0, for f = the last unit vector. Returns E u - f.
Vector nonnegative_residual(const DenseMatrix& E) {
  const Index rows = E.rows(), m = E.cols();
  std::vector<Index> passive;
  std::vector<char> in(static_cast<std::size_t>(m), 0);
  Vector u = Vector::Zero(m), residual = -Vector::Unit(rows, rows - 1);
  constexpr double kTiny = 1e-14;
  for (Index round = 0; round < 3 * m + 10; ++round) {
    const Vector gain = -(E.transpose() * residual);
    Index best = -1;
    for (Index j = 0; j < m; ++j)
      if (!in[static_cast<std::size_t>(j)] && gain[j] > kTiny * E.col(j).norm() && (best < 0 || gain[j] > gain[best]))
        best = j;
    if (best < 0) break;
    passive.push_back(best);
    in[static_cast<std::size_t>(best)] = 1;
    while (!passive.empty()) {
      DenseMatrix part(rows, static_cast<Index>(passive.size()));
      for (std::size_t i = 0; i < passive.size(); ++i) part.col(static_cast<Index>(i)) = E.col(passive[i]);
      const Vector s = part.colPivHouseholderQr().solve(Vector(Vector::Unit(rows, rows - 1)));
      double step = 1;
      for (std::size_t i = 0; i < passive.size(); ++i)
        if (s[static_cast<Index>(i)] <= 0)
          step = std::min(step, u[passive[i]] / (u[passive[i]] - s[static_cast<Index>(i)]));
      if (!std::isfinite(step)) step = 0;
      if (step == 1 && s.minCoeff() <= 0) step = 0;  // 0 of 0: the newest column brings nothing
      for (std::size_t i = 0; i < passive.size(); ++i)
        u[passive[i]] += step * (s[static_cast<Index>(i)] - u[passive[i]]);
      if (step == 1) break;
      // At least the column that limits the step leaves, whatever round-off made of it.
      const Index least =
          *std::min_element(passive.begin(), passive.end(), [&](Index a, Index b) { return u[a] < u[b]; });
      u[least] = 0;
      std::erase_if(passive, [&](Index j) {
        if (u[j] > kTiny * u.lpNorm<Eigen::Infinity>()) return false;
        u[j] = 0;
        in[static_cast<std::size_t>(j)] = 0;
        return true;
      });
    }
    residual = E * u - Vector::Unit(rows, rows - 1);
  }
  return residual;
}

}  // namespace

namespace {

/// One local search: from the tangents at `point` on.
bool within_tangents(const HeldReactions& held, const BoundsAt& bounds_at, double inset, double scale,
                     const Vector& shortest, Vector point, std::vector<ReactionBound>& bounds, Vector& x) {
  constexpr int kMostPoints = 30, kHalvings = 8;  // a violation is to fall, not to be least
  constexpr double kFalls = 0.98;                 // of the violation before
  Vector trial;
  auto within = [&](double at) {
    trial = shortest;
    return held.smallest_within(bounds, std::vector<double>(bounds.size(), at), trial, scale);
  };
  auto in_sets = [&] {  // with limits that are not convex the tangents alone do not say so
    bounds_at(trial, bounds);
    return std::all_of(bounds.begin(), bounds.end(), [&](const ReactionBound& bound) {
      return held.relative_slack(bound, trial) >= (inset - 2 * kFound) * scale;
    });
  };
  double last = HUGE_VAL;
  for (int round = 0; round < kMostPoints; ++round) {
    bounds_at(point, bounds);
    if (within(inset)) {
      if (in_sets()) {
        x = trial;
        return true;
      }
      point = trial;
      continue;
    }
    double low = 0, high = 0;
    for (const ReactionBound& bound : bounds)
      high = std::max(high, inset - held.relative_slack(bound, shortest) / scale);
    high = std::min(high, last);  // which the point before has
    if (!std::isfinite(high)) return false;
    for (int half = 0; half < kHalvings; ++half) (within(inset - 0.5 * (low + high)) ? high : low) = 0.5 * (low + high);
    if (!(high < kFalls * last) || !within(inset - high)) return false;
    last = high;
    point = trial;
  }
  return false;
}

}  // namespace

bool smallest_within(const HeldReactions& held, const BoundsAt& bounds_at, double inset,
                     std::vector<ReactionBound>& bounds, Vector& x) {
  constexpr double kFar = 16;  // of the largest force: beyond where a reaction that a limit follows turns
  const Vector shortest = x;
  bounds_at(shortest, bounds);
  const double scale = held.force_scale(bounds, shortest);  // one for all points: violations are compared
  if (!(scale > 0)) return inset <= 0;
  if (within_tangents(held, bounds_at, inset, scale, shortest, shortest, bounds, x)) return true;
  const DenseMatrix ways = held.choices() * (kFar * scale);
  for (Index j = 0; j < ways.cols(); ++j)
    for (const double way : {1.0, -1.0})
      if (within_tangents(held, bounds_at, inset, scale, shortest, shortest + way * ways.col(j), bounds, x))
        return true;
  return false;
}

bool least_distance(const DenseMatrix& G, const Vector& h, Vector& y) {
  const Index d = G.cols();
  y.setZero(d);
  if (h.size() == 0 || h.maxCoeff() <= 0) return true;
  DenseMatrix E(d + 1, G.rows());
  E.topRows(d) = G.transpose();
  E.row(d) = h.transpose();
  const Vector residual = nonnegative_residual(E);
  constexpr double kNone = 1e-13;  // |y| beyond 1e6 of the scale is no solution
  if (!(-residual[d] > kNone)) return false;
  y = residual.head(d) / -residual[d];
  constexpr double kHolds = 1e-11;
  return ((G * y - h).array() >= -kHolds * (1 + y.norm())).all();
}

}  // namespace stickslip
