// SPDX-License-Identifier: Apache-2.0
// The balance of forces at the three nodes of a step, and Newton's method for it.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/compliant/quasistatic.hpp"
#include "stickslip/motion/compliant/radau_nodes.hpp"

namespace stickslip {

namespace {
using radau5::kNodes;
constexpr int kNewtonSteps = 30;
constexpr double kLeastPart = 1e-4;  // of Newton's step, where the whole one leads away
constexpr double kStalled = 1e-11;   // likewise, where it does not fall any more
constexpr double kSingular = 1e-15;  // reciprocal condition: below it no digit of a solution is left
}  // namespace

/// y of the dynamics from x and x'.
void QuasistaticScheme::pack(const Vector& x, const Vector& rate) {
  y_.resize(2 * n_ + T_);
  y_ << x.head(n_), rate.head(n_), x.tail(T_);
}

bool QuasistaticScheme::residual(double t, const Vector& x, const Vector& rate, Vector& F) {
  ++switches_.evaluations;
  pack(x, rate);
  if (!dynamics_.balance(stretch_.inside(t), y_, F)) return false;
  F.tail(T_) -= rate.tail(T_);
  return F.allFinite();
}

/// x' of the nodes from their x, and the balance there; with its slopes, if they are asked for.
bool QuasistaticScheme::balance_nodes(double t, const Vector& x0, double h, Stages& s, bool slopes) {
  const Eigen::Matrix3d& inverse = radau5::inverse();
  const Index n = n_ + T_;
  nodes_.resize(3 * n);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = static_cast<Index>(i);
    s.rate[i].setZero(n);
    for (Index j = 0; j < 3; ++j) s.rate[i] += inverse(row, j) / h * (s.x[static_cast<std::size_t>(j)] - x0);
    if (!residual(t + kNodes[i] * h, s.x[i], s.rate[i], F_)) return false;
    nodes_.segment(row * n, n) = F_;
    if (!slopes) continue;
    dynamics_.balance_slopes(stretch_.inside(t + kNodes[i] * h), by_x_, by_rate_);
    for (Index j = 0; j < 3; ++j) J_.block(row * n, j * n, n, n) = inverse(row, j) / h * by_rate_;
    J_.block(row * n, row * n, n, n) += by_x_;
  }
  return true;
}

/// Rows and columns of J_ to the size 1 each: forces beside moments, lengths beside angles, whatever the units are. A
/// coordinate on which nothing acts stays where it is.
bool QuasistaticScheme::factor_nodes() {
  rows_.resize(J_.rows());
  columns_.resize(J_.cols());
  pinned_.clear();
  for (Index i = 0; i < J_.rows(); ++i) {
    double size = J_.row(i).lpNorm<Eigen::Infinity>();
    if (size == 0 && nodes_[i] == 0 && J_.col(i).lpNorm<Eigen::Infinity>() == 0) {
      pinned_.push_back(i);
      J_(i, i) = size = 1;
    }
    if (!(size > 0 && std::isfinite(size))) return false;
    rows_[i] = 1 / size;
    J_.row(i) *= rows_[i];
  }
  for (Index j = 0; j < J_.cols(); ++j) {
    const double size = J_.col(j).lpNorm<Eigen::Infinity>();
    if (!(size > 0)) return false;
    columns_[j] = 1 / size;
    J_.col(j) *= columns_[j];
  }
  lu_.compute(J_);
  return lu_.rcond() > kSingular;
}

Vector QuasistaticScheme::solve_nodes(const Vector& right) const {
  return columns_.cwiseProduct(lu_.solve(rows_.cwiseProduct(right)));
}

/// Largest change of a component over the nodes, of its size.
double QuasistaticScheme::size_of(const Vector& nodes) const {
  double size = 0;
  for (Index i = 0; i < 3; ++i)
    size = std::max(size, nodes.segment(i * (n_ + T_), n_ + T_).cwiseQuotient(scale_).lpNorm<Eigen::Infinity>());
  return size;
}

/// Takes update_ from the nodes, whole or as much of it as brings the balance nearer: what Newton's step would be at
/// the new place, with the slopes of the old one, must have become smaller. That measure knows no units, and falls
/// along the step however the contacts change behind it.
void QuasistaticScheme::descend(double t, const Vector& x0, double h, Stages& s) {
  const Index n = n_ + T_;
  const double before = size_of(update_);
  const std::array<Vector, 3> from = s.x;
  for (double part = 1;; part *= 0.5) {
    for (std::size_t i = 0; i < 3; ++i) s.x[i] = from[i] - part * update_.segment(static_cast<Index>(i) * n, n);
    if (part < kLeastPart) return;
    if (balance_nodes(t, x0, h, s, false) && size_of(solve_nodes(nodes_)) <= (1 - 0.25 * part) * before) return;
  }
}

/// Newton on all three nodes at once, from the nodes given.
QuasistaticScheme::Solved QuasistaticScheme::newton(double t, const Vector& x0, double h, bool guarded, Stages& s) {
  const Index n = n_ + T_;
  J_.resize(3 * n, 3 * n);
  const double enough = std::max(kNewton, 1e-3 * tolerance_);
  double last = HUGE_VAL;
  for (int round = 0; round < kNewtonSteps; ++round) {
    if (!balance_nodes(t, x0, h, s, true)) return Solved::no;
    if (!factor_nodes()) return Solved::singular;
    update_ = solve_nodes(nodes_);
    if (!update_.allFinite()) return Solved::singular;
    const double change = size_of(update_);
    // Near the solution round-off decides what falls.
    if (guarded && change > enough) {
      descend(t, x0, h, s);
    } else {
      for (std::size_t i = 0; i < 3; ++i) s.x[i] -= update_.segment(static_cast<Index>(i) * n, n);
    }
    // Round-off of the balance may keep the change from falling further.
    if (change <= kNewton || (change <= std::max(enough, kStalled) && change >= 0.5 * last)) break;
    if (round + 1 == kNewtonSteps && change > enough) return Solved::no;
    last = change;
  }
  balance_nodes(t, x0, h, s, false);
  return Solved::yes;
}

/// The balance is monotone in the velocity, but where a contact slips it is flat: from a guess that slips Newton's
/// method may have no slope to follow, or jump to and fro over the slopes of stick. Where every contact is held the
/// balance is as steep as it can be; from what that gives the way leads down.
QuasistaticScheme::Solved QuasistaticScheme::collocate(double t, const Vector& x0, double h, Stages& s) {
  const auto begin = [&](const Vector& rate) {
    for (std::size_t i = 0; i < 3; ++i) s.x[i] = x0 + kNodes[i] * h * rate;
  };
  begin(rate_);
  Solved solved = newton(t, x0, h, false, s);
  if (solved == Solved::yes) return solved;
  const Vector rest = Vector::Zero(n_ + T_);
  begin(rest);
  if ((solved = newton(t, x0, h, false, s)) == Solved::yes) return solved;
  begin(rest);
  if (hold_all(t, x0, h, s) && (solved = newton(t, x0, h, true, s)) == Solved::yes) return solved;
  begin(rate_);
  return newton(t, x0, h, true, s);
}

/// The nodes where contacts that press are held, whatever their force. False: no such balance, or contacts are coupled.
bool QuasistaticScheme::hold_all(double t, const Vector& x0, double h, Stages& s) {
  CompliantContacts& contacts = dynamics_.contacts();
  if (!contacts.can_keep_pieces()) return false;
  residual(t + kNodes[0] * h, s.x[0], rate_, F_);
  std::vector<ContactPieces> held = contacts.pieces();
  for (std::size_t k = 0; k < held.size(); ++k) {
    held[k].tangential = {};
    // Surfaces that just touch: from there a force can only press them together.
    if (contacts.slots()[k].friction < 0 && std::abs(contacts.gap(k)) <= kNotMoved * touch_) held[k].closed = true;
  }
  contacts.keep_pieces(held);
  const Solved solved = newton(t, x0, h, false, s);
  contacts.let_go();
  return solved == Solved::yes;
}

}  // namespace stickslip
