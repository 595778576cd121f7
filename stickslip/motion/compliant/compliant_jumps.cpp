// SPDX-License-Identifier: Apache-2.0
// Derivatives over instants at which forces jump.
//
//   S⁺ = S⁻ + Σ_k (f⁻ - f_k) dt_k/dp,      f_k: the rate if force k alone had jumped
//
// with f⁻ - f_k of the instant at which the force jumps and carried on from there by the slopes before; what slopes
// after it do up to the end of the step is added by compliant_kinks.cpp. It holds for forces that do not see one
// another: contacts that are not coupled have f⁻ - f⁺ = Σ_k (f⁻ - f_k), and where the jump of one does not change the
// rate of what the others wait for, dg_j/dt, their order is of no matter. Where it is of matter the derivative exists
// only if the unknown moves all of them alike.
#include <cmath>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/motion/compliant/compliant.hpp"
#include "stickslip/motion/compliant/stencil.hpp"
#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

namespace {
constexpr double kTogether = 1e-6;  // of a shift of time or a rate: what stays as it is
}  // namespace

/// f of the motion at (t, y).
bool CompliantScheme::motion_rate(double t, const Vector& y, Vector& f) {
  const double at = stretch_.inside(t);
  if (!dynamics_.place(at, y) || !dynamics_.accelerate(at)) return false;
  dynamics_.motion_rate(f);
  return f.allFinite();
}

CompliantScheme::ForceJumps CompliantScheme::closings(double t, const Vector& y,
                                                      const std::vector<ContactPieces>& before) {
  CompliantContacts& contacts = dynamics_.contacts();
  const Index n = dynamics_.motion_size();
  dynamics_.place(stretch_.inside(t), y);
  const std::vector<ContactPieces> after = contacts.pieces();
  ForceJumps jumps{contacts.closed_since(before), rate_before_.head(n), {}};
  if (!contacts.can_keep_pieces()) {
    jumps.change = (rate_before_ - rate_after_).head(n);
    return jumps;
  }
  const auto on = [&](const std::vector<ContactPieces>& pieces, const Vector& at, Vector& f) {
    contacts.keep_pieces(pieces);
    const bool known = motion_rate(t, at, f);
    contacts.let_go();
    return known;
  };
  jumps.change.setZero(n, static_cast<Index>(jumps.slots.size()));
  Vector f, f_before, border, change;
  if (on(before, y, f)) jumps.before = f;
  for (std::size_t k = 0; k < jumps.slots.size(); ++k) {
    const std::size_t slot = jumps.slots[k];
    std::vector<ContactPieces> alone = before;
    alone[slot] = after[slot];
    const double passed = since_switch(t, y, before, slot, after[slot], jumps.before);
    const double late = std::isfinite(passed) ? passed : 0;
    border = y;  // hard contacts push back K v τ already where the clock says that they close
    border.head(n) -= late * jumps.before;
    if (!on(before, border, f_before) || !on(alone, border, f)) continue;
    change = f_before - f;
    contacts.keep_pieces(before);
    if (motion_rate(t, y, f)) dynamics_.vary(stretch_.inside(t), change, f);
    contacts.let_go();
    jumps.change.col(static_cast<Index>(k)) = change + late * f;
  }
  return jumps;
}

CompliantScheme::ForceJumps CompliantScheme::releases(double t, const Vector& y,
                                                      const std::vector<CompliantContacts::Slot>& held,
                                                      const std::vector<std::size_t>& given_way) {
  CompliantContacts& contacts = dynamics_.contacts();
  const Index n = dynamics_.motion_size();
  ForceJumps jumps{given_way, rate_before_.head(n), {}};
  if (!contacts.can_keep_pieces()) {
    jumps.change = (rate_before_ - rate_after_).head(n);
    return jumps;
  }
  jumps.change.setZero(n, static_cast<Index>(given_way.size()));
  Vector f;
  for (std::size_t k = 0; k < given_way.size(); ++k) {
    std::vector<CompliantContacts::Slot> alone = held;
    alone[given_way[k]].held = false;
    contacts.swap_holds(alone);
    if (motion_rate(t, y, f)) jumps.change.col(static_cast<Index>(k)) = jumps.before - f;
  }
  contacts.swap_holds(held);
  return jumps;
}

/// What contacts do on the side of a jump before it, as far as they can keep it: there jump_function() is smooth,
/// however near another switch is.
std::vector<ContactPieces> CompliantScheme::pieces_before_jump(std::size_t slot) const {
  const CompliantContacts& contacts = dynamics_.contacts();
  if (!contacts.can_keep_pieces()) return {};
  std::vector<ContactPieces> pieces = contacts.pieces();
  if (contacts.slots()[slot].held) {
    pieces[slot].closed = true;
    pieces[slot].pulls = false;
    pieces[slot].tangential = {};
  }
  return pieces;
}

double CompliantScheme::slope_along(double t, const Vector& y, const std::vector<ContactPieces>& pieces,
                                    const Vector& x, double by_time, const std::function<double()>& value,
                                    double longest) {
  const Index n = dynamics_.motion_size();
  double step = by_time != 0 ? kStencilStep * span_.length() : HUGE_VAL;
  for (Index i = 0; i < n; ++i)
    if (x[i] != 0) step = std::min(step, kStencilStep * scale_[i] / std::abs(x[i]));
  if (!std::isfinite(step)) return 0;
  step = std::min(step, longest);
  double slope = 0;
  probe_ = y;
  if (!pieces.empty()) dynamics_.contacts().keep_pieces(pieces);
  for (const auto& [place, weight] : kStencil) {
    probe_.head(n) = y.head(n) + place * step * x;
    dynamics_.place(stretch_.inside(t + place * step * by_time), probe_);
    slope += weight / step * value();
  }
  dynamics_.contacts().let_go();
  return slope;
}

double CompliantScheme::small_beside_penetration(double t, const Vector& y, std::size_t slot, const Vector& x,
                                                 double by_time) {
  const CompliantContacts& contacts = dynamics_.contacts();
  if (!contacts.has_own_law(slot)) return HUGE_VAL;
  const double rate = slope_along(t, y, {}, x, by_time, [&] { return contacts.gap(slot); });
  dynamics_.place(stretch_.inside(t), y);
  return rate != 0 ? kStencilStep * std::abs(contacts.gap(slot) / rate) : HUGE_VAL;
}

/// Of jump_function().
double CompliantScheme::jump_slope(double t, const Vector& y, std::size_t slot,
                                   const std::vector<ContactPieces>& pieces, const Vector& x, double by_time) {
  const CompliantContacts& contacts = dynamics_.contacts();  // where it is held, a limit of friction is μ φ
  const double longest =
      contacts.slots()[slot].held ? small_beside_penetration(t, y, slot, x, by_time) : double{HUGE_VAL};
  return slope_along(
      t, y, pieces, x, by_time, [&] { return contacts.jump_function(slot); }, longest);
}

/// ∂g/∂p of a slot at fixed (t, y).
double CompliantScheme::jump_slope_by_unknown(double t, const Vector& y, std::size_t slot,
                                              const std::vector<ContactPieces>& pieces, Index unknown) {
  const Index motion = system_.info().nq() + system_.info().nv();
  dynamics_.place(stretch_.inside(t), y);
  const Vector delta = y.segment(motion, dynamics_.contacts().tangents());
  return neighbours_.sum(stretch_.inside(t), unknown, delta, pieces,
                         [&](const CompliantContacts& near) { return near.jump_function(slot); });
}

/// dg_k/dt before the jumps, and whether those of the others leave it as it is.
CompliantScheme::Approach CompliantScheme::approach(double t, const Vector& y, const ForceJumps& jumps, std::size_t k) {
  Approach way;
  dynamics_.place(stretch_.inside(t), y);
  way.pieces = pieces_before_jump(jumps.slots[k]);
  way.rate = jump_slope(t, y, jumps.slots[k], way.pieces, jumps.before, 1);
  if (jumps.slots.size() == 1) return way;
  if (!dynamics_.contacts().can_keep_pieces()) return way.alone = false, way;
  const Vector others = jumps.change.rowwise().sum() - jumps.change.col(static_cast<Index>(k));
  if (others.isZero(0)) return way;
  const double after = jump_slope(t, y, jumps.slots[k], way.pieces, jumps.before - others, 1);
  way.alone = std::abs(after - way.rate) <= kTogether * std::abs(way.rate);
  return way;
}

void CompliantScheme::jump_columns(double t, const ForceJumps& jumps, Vector& y) {
  if (jumps.slots.empty()) return;
  const Index n = dynamics_.motion_size(), count = static_cast<Index>(jumps.slots.size());
  std::vector<Approach> ways;
  bool alone = true;
  for (std::size_t k = 0; k < jumps.slots.size(); ++k) {
    ways.push_back(approach(t, y, jumps, k));
    alone &= ways.back().alone;
  }
  if (tape_) {
    const TapeJump jump = record_jump(t, jumps, ways, alone, y);
    for (Index k = 0; k < unknowns_; ++k) {
      auto column = y.segment(dynamics_.column_at(k), n);
      const Vector later = jump.by_state.transpose() * column;
      column += alone ? Vector(jump.change * later) : Vector(later[0] * jump.change.rowwise().sum());
    }
    tape_->push_back(jump);
    return;
  }
  Vector later(count);
  for (Index unknown = 0; unknown < unknowns_; ++unknown) {
    const Vector x = y.segment(dynamics_.column_at(unknown), n);
    for (Index k = 0; k < count; ++k) {
      const std::size_t slot = jumps.slots[static_cast<std::size_t>(k)];
      const Approach& way = ways[static_cast<std::size_t>(k)];
      later[k] = -(jump_slope(t, y, slot, way.pieces, x, 0) + jump_slope_by_unknown(t, y, slot, way.pieces, unknown)) /
                 way.rate;
    }
    auto column = y.segment(dynamics_.column_at(unknown), n);
    if (alone) {
      for (Index k = 0; k < count; ++k)
        if (!jumps.change.col(k).isZero(0)) column += later[k] * jumps.change.col(k);
      continue;
    }
    const bool apart = !(later.maxCoeff() - later.minCoeff() <= kTogether * later.lpNorm<Eigen::Infinity>());
    column_lost_[static_cast<std::size_t>(unknown)] |= apart;
    if (!apart) column += later.mean() * jumps.change.rowwise().sum();
  }
  dynamics_.place(stretch_.inside(t), y);
}

TapeJump CompliantScheme::record_jump(double t, const ForceJumps& jumps, const std::vector<Approach>& ways, bool alone,
                                      const Vector& y) {
  const Index n = dynamics_.motion_size(), count = static_cast<Index>(ways.size());
  TapeJump jump{jumps.change, DenseMatrix(n, count), DenseMatrix::Zero(neighbours_.unknowns(), count), alone};
  Vector unit = Vector::Zero(n);
  for (Index k = 0; k < count; ++k) {
    const std::size_t slot = jumps.slots[static_cast<std::size_t>(k)];
    const Approach& way = ways[static_cast<std::size_t>(k)];
    for (Index i = 0; i < n; ++i) {
      unit[i] = 1;
      jump.by_state(i, k) = -jump_slope(t, y, slot, way.pieces, unit, 0) / way.rate;
      unit[i] = 0;
    }
    for (Index j = 0; j < neighbours_.unknowns(); ++j)
      jump.by_unknown(j, k) = -jump_slope_by_unknown(t, y, slot, way.pieces, j) / way.rate;
  }
  dynamics_.place(stretch_.inside(t), y);
  return jump;
}

}  // namespace stickslip
