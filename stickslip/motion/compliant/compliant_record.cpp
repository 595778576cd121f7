// SPDX-License-Identifier: Apache-2.0
// The motion on a tape, and the way back along it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "stickslip/common/radau.hpp"
#include "stickslip/motion/compliant/compliant.hpp"
#include "stickslip/motion/compliant/compliant_adjoint.hpp"
#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

/// One column goes along that is nobody's derivative, so that the error of steps counts in slopes as well as in the
/// motion: where these bend more sharply than the motion (√p of Hertz's law, where the force is p^{3/2}), steps that
/// are right for the motion are not for its derivatives. A change of the start in all directions at once.
void CompliantScheme::seed_probe() {
  const Index nv = system_.info().nv();
  DenseMatrix start(2 * nv, 1);
  for (Index i = 0; i < nv; ++i) {
    const double unlike = 1 + 0.3 * std::sin(static_cast<double>(i));  // no direction that a symmetry would spare
    start(i, 0) = unlike * way_[i];
    start(nv + i, 0) = -unlike * size_[size_.size() - nv + i];
  }
  seed_columns(start);
}

void CompliantScheme::record_on(CompliantTape& tape) {
  tape_ = &tape;
  unknowns_ = options_.fixed_step() ? 0 : 1;
}

/// The step that was just taken; `cut`: up to the switch that ended it, as step_to() went there.
void CompliantScheme::record_step(double t, const Vector& y, double h, bool cut) {
  if (!(h > 0)) return;
  const bool keeps = pieces_hold();
  const auto f = [this](double time, const Vector& state, Vector& dydt) { return rate(time, state, dydt); };
  OdeIntegrator& method = rows_integrator_ ? static_cast<OdeIntegrator&>(*rows_integrator_) : *integrator_;
  Vector from = y, to(y.size());
  const std::vector<double> lengths = cut ? lengths_to_switch(h) : std::vector<double>{h};
  const bool watched = std::exchange(watching_, false);
  for (std::size_t part = 0; part < lengths.size(); ++part, from = to) {
    TapeStep step{.method = stiff_ ? TapeMethod::radau : TapeMethod::dormand_prince, .t = t, .h = lengths[part]};
    step.y = from.head(dynamics_.motion_size());
    if (keeps) step.kept = step_pieces_;
    const bool again = part + 1 < lengths.size() || stiff_;
    if (again && keeps) dynamics_.contacts().keep_pieces(step_pieces_);
    const bool known = !again || method.single_step(f, t, from, step.h, to);
    dynamics_.contacts().let_go();
    if (!known) break;
    for (int i = 0; stiff_ && i < 3; ++i) rows_integrator_->stage(i, from, step.stages[static_cast<std::size_t>(i)]);
    t += step.h;
    tape_->push_back(std::move(step));
  }
  watching_ = watched;
}

void CompliantScheme::record_fixed_step(double t, double h, const std::vector<ContactPieces>* kept) {
  const bool heun = options_.integrator == CompliantIntegrator::heun;
  TapeStep step{.method = heun ? TapeMethod::heun : TapeMethod::rk4, .t = t, .h = h};
  step.y = y_.head(dynamics_.motion_size());
  if (kept) step.kept = *kept;
  tape_->push_back(std::move(step));
}

void CompliantScheme::mark(Index functional, double t, const Vector& weights) {
  TapeMark mark{functional, weights};
  t = stretch_.inside(t);
  if (sample_y_.size() > 0 && dynamics_.place(t, sample_y_) && dynamics_.accelerate(t)) {
    Vector motion;
    dynamics_.motion_rate(motion);
    mark.by_unknown.setZero(neighbours_.unknowns());
    for (Index j = 0; j < mark.by_unknown.size(); ++j)
      mark.by_unknown[j] = -neighbours_.shift(t, j).value * weights.dot(motion.head(weights.size()));
  }
  tape_->push_back(std::move(mark));
}

/// Slots that stay where they are, some of them held or let go.
void CompliantScheme::record_holds(const std::vector<CompliantContacts::Slot>& before) {
  if (!tape_) return;
  const auto& now = dynamics_.contacts().slots();
  if (std::equal(before.begin(), before.end(), now.begin(),
                 [](const auto& a, const auto& b) { return a.held == b.held; }))
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
