// SPDX-License-Identifier: Apache-2.0
// The motion on a tape, and the way back along it.
#include <algorithm>

#include "stickslip/common/radau.hpp"
#include "stickslip/motion/compliant/compliant.hpp"
#include "stickslip/motion/compliant/compliant_adjoint.hpp"
#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

void CompliantScheme::record_on(CompliantTape& tape) {
  tape_ = &tape;
  unknowns_ = 0;
}

/// The step that was just taken; `cut`: up to the switch that ended it, where reached_part_ is known.
void CompliantScheme::record_step(double t, const Vector& y, double h, bool cut) {
  if (!(h > 0)) return;
  TapeStep step{.method = stiff_ ? TapeMethod::radau : TapeMethod::dormand_prince, .t = t, .h = h};
  step.y = y.head(dynamics_.motion_size());
  if (cut && continued_) step.kept = step_pieces_;
  if (stiff_) {
    if (!cut) step_to(t + h, y1_);
    step.stages = part_.nodes;
  }
  tape_->push_back(std::move(step));
}

void CompliantScheme::record_fixed_step(double t, double h) {
  const bool heun = options_.integrator == CompliantIntegrator::heun;
  tape_->push_back(TapeStep{.method = heun ? TapeMethod::heun : TapeMethod::rk4, .t = t, .h = h,
                            .y = y_.head(dynamics_.motion_size())});
}

void CompliantScheme::record_jump(double t, const Vector& before, const Vector& after,
                                  const std::vector<std::size_t>& slots, const Vector& y) {
  const Index n = dynamics_.motion_size(), count = static_cast<Index>(slots.size());
  const Index at_delta = system_.info().nq() + system_.info().nv();
  const Vector f = before.head(n), delta = y.segment(at_delta, n - at_delta);
  TapeJump jump{f - after.head(n), DenseMatrix(n, count), DenseMatrix::Zero(neighbours_.unknowns(), count)};
  Vector unit = Vector::Zero(n);
  for (Index k = 0; k < count; ++k) {
    const std::size_t slot = slots[static_cast<std::size_t>(k)];
    const double by_time = jump_slope(t, y, slot, f, 1);
    for (Index i = 0; i < n; ++i) {
      unit[i] = 1;
      jump.by_state(i, k) = -jump_slope(t, y, slot, unit, 0) / by_time;
      unit[i] = 0;
    }
    dynamics_.place(stretch_.inside(t), y);
    for (Index j = 0; j < neighbours_.unknowns(); ++j)
      jump.by_unknown(j, k) = -neighbours_.sum(stretch_.inside(t), j, delta, [&](const CompliantContacts& near) {
        return near.jump_function(slot);
      }) / by_time;
  }
  dynamics_.place(stretch_.inside(t), y);
  tape_->push_back(std::move(jump));
}

/// Slots that stay where they are, some of them held or let go.
void CompliantScheme::record_holds(const std::vector<CompliantContacts::Slot>& before) {
  if (!tape_) return;
  const auto& now = dynamics_.contacts().slots();
  if (std::equal(before.begin(), before.end(), now.begin(), [](const auto& a, const auto& b) { return a.held == b.held; }))
    return;
  const Index T = dynamics_.contacts().tangents();
  tape_->push_back(TapeSlots{before, DenseMatrix::Identity(T, T)});
}

bool CompliantScheme::gradient(Index functionals, DenseMatrix& gradient, bool& exists) {
  CompliantAdjoint adjoint(dynamics_, neighbours_, stretch_);
  DenseMatrix start;
  if (!adjoint.sweep(*tape_, functionals, stop_, gradient, start)) return false;
  exists = adjoint.exists();
  if (!variations_) return true;
  for (Index j = 0; j < variations_->size(); ++j)
    gradient.col(j) += start.transpose() * column_of(start_y_, variations_->initial(), j);
  return true;
}

}  // namespace stickslip
