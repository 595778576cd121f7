// SPDX-License-Identifier: Apache-2.0
// Steps of the integrators with error control: over kinks, and from the explicit method to the implicit one.
#include <algorithm>
#include <cmath>
#include <utility>

#include "stickslip/common/dormand_prince.hpp"
#include "stickslip/motion/compliant/compliant.hpp"

namespace stickslip {

namespace {

// From the explicit to the implicit method, in evaluations of the right-hand side: an explicit step costs
// kExplicitCost; of the implicit one kImplicitSteps are thought of, each with a Jacobian and kNewtonCost.
constexpr double kNearBorder = 0.4;  // of the border of stability; the rate below is found to within a factor of two
constexpr int kStepsPerLook = 40;
constexpr int kPowerRounds = 12;
constexpr double kProbe = 1e-6;  // of the sizes of components: a change of the state that is small
constexpr double kExplicitCost = 15, kImplicitSteps = 50, kNewtonCost = 12, kSparseJacobian = 8;
constexpr double kShorter = 0.25;  // of a step that is done anew

}  // namespace

/// A step that fails because a contact changed in it is tried again on the pieces of its start, whose motion is smooth:
/// that goes through, and its dense output says where the change is. Else a step would have to shrink to it by trial
/// and error, at each kink anew.
OdeStep CompliantScheme::integrate(double limit) {
  const auto f = [this](double t, const Vector& y, Vector& dydt) { return rate(t, y, dydt); };
  continued_ = saw_change_ = false;
  watching_ = !without_continuation_;
  const OdeStep step = integrator_->step(f, limit);
  watching_ = without_continuation_ = false;
  return step;
}

void CompliantScheme::set_continuation() {
  if (!dynamics_.contacts().can_keep_pieces()) return;
  integrator_->set_continuation({[this] {
                                   if (!watching_ || !std::exchange(saw_change_, false)) return false;
                                   dynamics_.contacts().keep_pieces(pieces_);
                                   return true;
                                 },
                                 [this](bool accepted) {
                                   dynamics_.contacts().let_go();
                                   continued_ = accepted;
                                 },
                                 [this] { return watching_ && saw_change_; }});
}

/// A step on kept pieces that is not to be: begun anew, without them.
void CompliantScheme::step_back(double t) {
  y_ = integrator_->y_old();
  first_step_ = kShorter * (integrator_->t() - integrator_->t_old());
  in_step_ = cut_ = false;
  without_continuation_ = true;
  step_end_ = t;
  begin(t);
  if (dynamics_.place(stretch_.inside(t), y_)) deepest_.begin(dynamics_.contacts(), t);
}

/// Largest |J x|/|x| by the power method, J the slope of the right-hand side on the pieces at hand; x goes on from the
/// last time. [1/s]
double CompliantScheme::fastest_rate(double t) {
  const Index n = dynamics_.motion_size();
  const auto size = [&](const Vector& x) { return x.head(n).cwiseQuotient(scale_.head(n)).lpNorm<Eigen::Infinity>(); };
  if (power_.size() != n) {
    power_.resize(n);
    for (Index i = 0; i < n; ++i) power_[i] = scale_[i] * (1 + 0.3 * std::sin(static_cast<double>(i)));
  }
  for (Vector* x : {&k1_, &k2_}) x->resize(y_.size());
  if (!rate(t, y_, k1_)) return 0;
  dynamics_.contacts().keep_pieces(pieces_);
  double fastest = 0;
  for (int round = 0; round < kPowerRounds; ++round) {
    const double before = size(power_);
    if (!(before > 0) || !std::isfinite(before)) break;
    y1_ = y_;
    y1_.head(n) += kProbe / before * power_;
    if (!rate(t, y1_, k2_)) break;
    power_ = (k2_ - k1_).head(n) / kProbe;
    fastest = size(power_);
  }
  dynamics_.contacts().let_go();
  return fastest;
}

/// Notes where stability limits explicit steps and the implicit method would get to the end for less.
void CompliantScheme::watch_stiffness() {
  if (options_.integrator != CompliantIntegrator::automatic || stiff_ || (unknowns_ > 0 && !tape_) || cut_) return;
  if (!dynamics_.contacts().can_keep_pieces() || ++steps_since_look_ < kStepsPerLook) return;
  const double h = integrator_->t() - integrator_->t_old(), left = (span_.end - integrator_->t()) / h;
  const double jacobian = sparse_ ? kSparseJacobian : 4.0 * static_cast<double>(dynamics_.motion_size());
  if (kExplicitCost * left < kImplicitSteps * (jacobian + kNewtonCost)) return;
  steps_since_look_ = 0;
  y_ = integrator_->y();
  want_stiff_ = h * fastest_rate(integrator_->t()) > kNearBorder * DormandPrince::kStable;
}

/// From the state that is reached on with the implicit method, for the rest of the run.
void CompliantScheme::go_stiff() {
  want_stiff_ = false;
  if (!restart_) y_ = integrator_->y();
  fixed_evaluations_ += counters().evaluations;
  sums_ = y_.segment(dynamics_.motion_size(), dynamics_.sums_size());
  take_integrator(true);
}

void CompliantScheme::take_integrator(bool stiff) {
  const Index n = dynamics_.motion_size();
  DenseMatrix kept(n, 1 + unknowns_);
  kept.col(0) = y_.head(n);
  for (Index k = 0; k < unknowns_; ++k) kept.col(1 + k) = y_.segment(dynamics_.column_at(k), n);
  stiff_ = stiff;
  dynamics_.set_layout(!stiff_, unknowns_);
  y_.setZero(dynamics_.size());
  y_.head(n) = kept.col(0);
  for (Index k = 0; k < unknowns_; ++k) y_.segment(dynamics_.column_at(k), n) = kept.col(1 + k);
  rates_.resize(0);
  raise_scales();
  make_integrator();
  first_step_ = 0;
  restart_ = true;
}

}  // namespace stickslip
