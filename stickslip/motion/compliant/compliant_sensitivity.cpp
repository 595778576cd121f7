// SPDX-License-Identifier: Apache-2.0
// Derivatives along the motion: columns of S in the numbers of q, as the integrator carries them, against the tangent
// columns of a step record; and what a parameter changes beside the state.
#include <cmath>
#include <limits>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/motion/compliant/compliant.hpp"
#include "stickslip/motion/compliant/stencil.hpp"
#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

namespace {
constexpr double kTogether = 1e-6;  // of a shift of time: jumps that stay at one instant
}  // namespace

/// x of one unknown at the state y.
Vector CompliantScheme::column_of(const Vector& y, const DenseMatrix& S, Index k) const {
  const Index nq = system_.info().nq(), nv = system_.info().nv(), T = dynamics_.contacts().tangents();
  Vector q, rate(nq), column = Vector::Zero(nq + nv + T);
  const Vector tangent = S.col(k).head(nv);
  dynamics_.position_of(y, q);
  system_.kinematics().rate(q, tangent, rate);
  column.head(nq) = rate;
  column.segment(nq, nv) = S.col(k).segment(nv, nv);
  if (S.rows() == 2 * nv + T) column.tail(T) = S.col(k).tail(T);
  return column;
}

void CompliantScheme::seed_columns(const DenseMatrix& S) {
  for (Index k = 0; k < unknowns_; ++k)
    y_.segment(dynamics_.column_at(k), dynamics_.motion_size()) = column_of(y_, S, k);
}

/// Forces and deformations stay, the pieces of the contacts too.
double CompliantScheme::add_parameter_slope(double t, Index unknown, Vector& rate) {
  if (CompliantDynamics::DataChange* change = neighbours_.slope(t, unknown)) dynamics_.add_data_change(*change, rate);
  return neighbours_.shift(t, unknown).slope;
}

bool CompliantScheme::moves_breakpoints() const {
  for (Index k = 0; k < unknowns_; ++k)
    if (neighbours_.shifts(k)) return true;
  return false;
}

/// A place between breakpoints comes earlier or later with the unknown: at a fixed time the motion is elsewhere by its
/// own rate.
void CompliantScheme::put_columns_at_fixed_time(double t, Vector& y, double sign) {
  if (!moves_breakpoints()) return;
  const Index n = dynamics_.motion_size();
  if (!dynamics_.place(stretch_.inside(t), y) || !dynamics_.accelerate(stretch_.inside(t))) return;
  Vector motion, reactions;
  dynamics_.motion_rate(motion);
  dynamics_.reaction_rate(reactions);
  for (Index k = 0; k < unknowns_; ++k) {
    const double later = sign * neighbours_.shift(stretch_.inside(t), k).value;
    if (later == 0) continue;
    y.segment(dynamics_.column_at(k), n) -= later * motion;
    if (dynamics_.sums_size() > 0) y.segment(dynamics_.column_at(k) + n, reactions.size()) -= later * reactions;
  }
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

/// d/dx of jump_function() along a change x of the motion and `by_time` of the time, on the pieces given, if any.
double CompliantScheme::jump_slope(double t, const Vector& y, std::size_t slot,
                                   const std::vector<ContactPieces>& pieces, const Vector& x, double by_time) {
  const Index n = dynamics_.motion_size();
  double step = by_time != 0 ? kStencilStep * span_.length() : HUGE_VAL;
  for (Index i = 0; i < n; ++i)
    if (x[i] != 0) step = std::min(step, kStencilStep * scale_[i] / std::abs(x[i]));
  if (!std::isfinite(step)) return 0;
  double slope = 0;
  probe_ = y;
  if (!pieces.empty()) dynamics_.contacts().keep_pieces(pieces);
  for (const auto& [place, weight] : kStencil) {
    probe_.head(n) = y.head(n) + place * step * x;
    dynamics_.place(stretch_.inside(t + place * step * by_time), probe_);
    slope += weight / step * dynamics_.contacts().jump_function(slot);
  }
  dynamics_.contacts().let_go();
  return slope;
}

void CompliantScheme::jump_columns(double t, const Vector& before, const Vector& after,
                                   const std::vector<std::size_t>& slots, Vector& y) {
  if (tape_) {
    record_jump(t, before, after, slots, y);
    return;
  }
  const Index n = dynamics_.motion_size(), nq = system_.info().nq(), nv = system_.info().nv();
  const Vector jump = before.head(n) - after.head(n), f = before.head(n);
  for (Index k = 0; k < unknowns_; ++k) {
    const Vector x = y.segment(dynamics_.column_at(k), n);
    double earliest = HUGE_VAL, latest = -HUGE_VAL;
    for (const std::size_t slot : slots) {
      dynamics_.place(stretch_.inside(t), y);
      const std::vector<ContactPieces> pieces = pieces_before_jump(slot);
      double change = jump_slope(t, y, slot, pieces, x, 0);
      dynamics_.place(stretch_.inside(t), y);
      const Vector delta = y.segment(nq + nv, dynamics_.contacts().tangents());
      change += neighbours_.sum(stretch_.inside(t), k, delta, pieces,
                                [&](const CompliantContacts& near) { return near.jump_function(slot); });
      const double later = -change / jump_slope(t, y, slot, pieces, f, 1);
      earliest = std::min(earliest, later);
      latest = std::max(latest, later);
    }
    if (slots.empty()) continue;
    const bool apart = !(latest - earliest <= kTogether * std::max(std::abs(earliest), std::abs(latest)));
    column_lost_[static_cast<std::size_t>(k)] |= apart;
    if (!apart) y.segment(dynamics_.column_at(k), n) += 0.5 * (earliest + latest) * jump;
  }
  dynamics_.place(stretch_.inside(t), y);
}

void CompliantScheme::take_sensitivity(const Vector& y, StepRecord& record) {
  const Index nq = system_.info().nq(), nv = system_.info().nv(), T = dynamics_.contacts().tangents();
  record.sensitivity.resize(2 * nv + T, unknowns_);
  const bool flat = system_.kinematics().flat();
  if (!flat) {
    T_.resize(nq, nv);
    Vector unit = Vector::Zero(nv), rate(nq);
    for (Index i = 0; i < nv; ++i) {
      unit[i] = 1;
      system_.kinematics().rate(record.state.q, unit, rate);
      T_.col(i) = rate;
      unit[i] = 0;
    }
  }
  const Index components = dynamics_.reactions();
  record.reaction_sensitivity.resize(dynamics_.sums_size() > 0 ? components : 0, unknowns_);
  for (Index k = 0; k < unknowns_; ++k) {
    const Index at = dynamics_.column_at(k);
    if (flat) {
      record.sensitivity.col(k).head(nv) = y.segment(at, nv);
    } else {
      record.sensitivity.col(k).head(nv) = T_.householderQr().solve(y.segment(at, nq));
    }
    record.sensitivity.col(k).tail(nv + T) = y.segment(at + nq, nv + T);
    if (column_lost_[static_cast<std::size_t>(k)])
      record.sensitivity.col(k).setConstant(std::numeric_limits<double>::quiet_NaN());
    if (dynamics_.sums_size() == 0) continue;
    if (column_reached_.size() != components * unknowns_) column_reached_.setZero(components * unknowns_);
    const auto reached = column_reached_.segment(k * components, components);
    const double duration = record.state.t - step_start_;
    const Vector now = y.segment(at + dynamics_.motion_size(), components);
    if (duration > 0) record.reaction_sensitivity.col(k) = (now - reached) / duration;
  }
}

}  // namespace stickslip
