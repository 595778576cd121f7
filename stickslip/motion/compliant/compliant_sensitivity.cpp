// SPDX-License-Identifier: Apache-2.0
// Derivatives along the motion: columns of S in the numbers of q, as the integrator carries them, against the tangent
// columns of a step record; and what a parameter changes beside the state.
#include <cmath>
#include <limits>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/motion/compliant/compliant.hpp"
#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

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
