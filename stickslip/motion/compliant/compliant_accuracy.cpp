// SPDX-License-Identifier: Apache-2.0
// What errors are small beside, and the integrators that keep them so.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/dormand_prince.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/radau.hpp"
#include "stickslip/motion/compliant/compliant.hpp"
#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

namespace {

constexpr double kShortWay = 1e-2;       // of speed times run: what a coordinate is measured by that hardly moves
constexpr double kShare = 1e-3;          // of the kinetic energy: the same for velocities
constexpr double kUncontrolled = 1e100;  // size of sums of reactions, whose error follows that of the motion
constexpr Index kEnergies = 3;           // sums of work and losses
constexpr double kEnergyLeeway = 1e4;    // an error of 10 tolerances of the energy of the motion
constexpr double kLeastGain = 1e-3;      // of the motion, for an unknown that changes by all of itself
// Of a column of derivatives: what differences around contacts give, with a margin for the many stages of explicit
// steps.
constexpr double kColumnRoundOff = 1e-11, kExplicitColumnAccuracy = 1e-9;
constexpr double kSmallPart = 1e-6;  // of a column, of a component that contacts hold: smaller ones are round-off
constexpr double kRoundOffs = 0.5;   // of the numbers that a gap is made of, as an error estimate of some stages has it
constexpr Index kDenseJacobian = 60;  // components up to which the Jacobian is dense

}  // namespace

void CompliantScheme::set_scales(const State& s) {
  const Index nq = system_.info().nq(), nv = system_.info().nv();
  const double span = span_.length();
  Vector speed(nv);
  Vector& mass = mass_diagonal_;
  mass.setOnes(nv);
  system_.inertia().mass(s.q, dynamics_.workspace()).for_each([&](Index i, Index j, double value) {
    if (i == j) mass[i] = value;
  });
  force_at_start_.setZero(nv);
  system_.force(stretch_.inside(s.t), s.q, s.v, dynamics_.workspace(), force_at_start_);
  for (Index i = 0; i < nv; ++i) speed[i] = std::max(std::abs(s.v[i]), std::abs(force_at_start_[i]) / mass[i] * span);
  double vigour = std::sqrt(mass.cwiseProduct(speed.cwiseAbs2()).sum());
  if (!(vigour > 0)) vigour = std::sqrt(mass.maxCoeff()) * (span > 0 ? 1 / span : 1);
  for (Index i = 0; i < nv; ++i) speed[i] = std::max(speed[i], kShare * vigour / std::sqrt(mass[i]));
  way_ = kShortWay * span * speed;
  size_.resize(nq + nv);
  for (Index i = 0; i < nq; ++i) size_[i] = nq == nv ? way_[i] : 1.0;
  if (nq != nv) {  // numbers of positions that are no lengths count as they are
    Vector moved(nq), rate(nq);
    for (Index i = 0; i < nv; ++i) {
      rate.setZero();
      system_.kinematics().rate(s.q, Vector(Vector::Unit(nv, i) * way_[i]), moved);
      rate = moved.cwiseAbs();
      for (Index k = 0; k < nq; ++k) size_[k] = i == 0 ? rate[k] : std::max(size_[k], rate[k]);
    }
    for (Index k = 0; k < nq; ++k)
      if (!(size_[k] > 0)) size_[k] = std::max(std::abs(s.q[k]), way_.minCoeff());
  }
  size_.tail(nv) = kShortWay * speed;
  q_start_ = s.q;
  energy_size_ = 0.5 * vigour * vigour;
}

/// Error weights of all of y. Deformations count beside the way that the largest force makes in their spring; columns
/// of sensitivities beside what the motion is, times how fast the unknown moves it.
void CompliantScheme::raise_scales() {
  const Index n = size_.size(), T = dynamics_.contacts().tangents(), motion = dynamics_.motion_size();
  for (Index i = 0; i < n; ++i) size_[i] = std::max(size_[i], std::abs(y_[i]));
  force_size_ = std::max(force_size_, dynamics_.contacts().force_size());
  scale_.setConstant(dynamics_.size(), kUncontrolled);
  scale_.head(n) = size_;
  const double weight = force_at_start_.lpNorm<Eigen::Infinity>();
  for (std::size_t s = 0; s < dynamics_.contacts().slots().size(); ++s) {
    const CompliantContacts::Slot& slot = dynamics_.contacts().slots()[s];
    const double k = dynamics_.contacts().stiffness_of(s);
    const double strain = std::max(force_size_, weight) / (k > 0 ? k : 1.0);
    for (int c = 0; c < slot.tangents; ++c) scale_[n + slot.first + c] = strain > 0 ? strain : size_.maxCoeff();
  }
  dynamics_.set_sizes(scale_.head(n + T));
  const double energy = kEnergyLeeway * energy_size_;
  if (dynamics_.sums_size() > 0 && energy > 0 && std::isfinite(energy))
    scale_.segment(motion, kEnergies).setConstant(energy);
  if (column_size_.rows() != motion) column_size_.setZero(motion, unknowns_);
  for (Index k = 0; k < unknowns_; ++k) {
    double& gain = column_gain_[static_cast<std::size_t>(k)];
    // An unknown that moves nothing (a limit that is not reached) leaves round-off, which is no column to be accurate
    // in.
    if (const double p = tape_ ? 0 : std::abs(variations_->value(k)); p > 0) gain = std::max(gain, kLeastGain / p);
    const Index at = dynamics_.column_at(k);
    for (Index i = 0; i < motion; ++i) {
      gain = std::max(gain, std::abs(y_[at + i]) / scale_[i]);
      if (rates_.size() == y_.size())
        gain = std::max(gain, kShortWay * span_.length() * std::abs(rates_[at + i]) / scale_[i]);
    }
    const double floor = std::max(1.0, (stiff_ ? kColumnRoundOff : kExplicitColumnAccuracy) / absolute_tolerance());
    // A component that contacts hold has a size of its own, far below what it would be without them.
    double* own = column_size_.col(k).data();
    for (Index i = 0; i < motion; ++i) {
      own[i] = std::max(own[i], std::abs(y_[at + i]));
      const double all = gain * scale_[i], part = own[i] > 0 ? std::clamp(own[i], kSmallPart * all, all) : all;
      scale_[at + i] = gain > 0 ? floor * part : kUncontrolled;
    }
  }
  raise_to_round_off();
}

/// A gap is known to the round-off ε L of the numbers that it is made of, its force to K ε L and friction to μ K ε L:
/// velocities shake by that over a step, or over the time in which the contact swings back, if that is less; positions
/// by what they do in a step, deformations that slip by ε L. Errors below are none of the method, and steps that were
/// made for them would become ever shorter.
void CompliantScheme::raise_to_round_off() {
  const CompliantContacts& contacts = dynamics_.contacts();
  const Index nq = system_.info().nq(), nv = system_.info().nv();
  const double h = integrator_ ? integrator_->suggested_step() : 0.0;
  Vector shaking = Vector::Zero(nv), moved = Vector::Zero(nq);
  contacts.for_each_row([&](std::size_t s, int c, const SparseMatrix& Wt, Index row) {
    const CompliantContacts::Slot& slot = contacts.slots()[s];
    if (slot.law < 0) return;
    const double way = kRoundOffs * std::numeric_limits<double>::epsilon() * contacts.gap_terms(s, dynamics_.q());
    const double k = contacts.stiffness_of(s);
    const double rate = std::sqrt(k * contacts.weight_of(s, weights_));
    const double part = c == 0 ? 1.0 : system_.laws().contacts()[static_cast<std::size_t>(slot.law)].mu;
    const double impulse = part * k * way * (rate * h < 1 ? h : 1 / rate);
    for (SparseMatrix::InnerIterator entry(Wt, row); entry; ++entry)
      shaking[entry.col()] += std::abs(entry.value()) * impulse / mass_diagonal_[entry.col()];
    if (c > 0) raise(scale_[nq + nv + slot.first + c - 1], way / absolute_tolerance());
    if (c == 0) raise_columns_to_round_off(s, Wt, row);
  });
  system_.kinematics().rate(dynamics_.q(), shaking, moved);
  for (Index i = 0; i < nq; ++i) raise(scale_[i], h * std::abs(moved[i]) / absolute_tolerance());
  for (Index i = 0; i < nv; ++i) raise(scale_[nq + i], shaking[i] / absolute_tolerance());
}

/// Deformations that do not move at all have columns that are the round-off of those of the gap.
void CompliantScheme::raise_columns_to_round_off(std::size_t s, const SparseMatrix& Wt, Index row) {
  if (!system_.kinematics().flat()) return;
  const CompliantContacts::Slot& slot = dynamics_.contacts().slots()[s];
  const Index deformations = system_.info().nq() + system_.info().nv() + slot.first;
  for (Index k = 0; k < unknowns_; ++k) {
    const Index at = dynamics_.column_at(k);
    double terms = 0;
    for (SparseMatrix::InnerIterator entry(Wt, row); entry; ++entry)
      terms += std::abs(entry.value() * y_[at + entry.col()]);
    const double way = kRoundOffs * std::numeric_limits<double>::epsilon() * terms;
    for (int c = 0; c < slot.tangents; ++c) raise(scale_[at + deformations + c], way / absolute_tolerance());
  }
}

void CompliantScheme::make_integrator() {
  if (!scale_.allFinite() || !(scale_.minCoeff() > 0))
    throw InputError(
        "positions, velocities, forces or masses at the start are so large or so small that what the motion makes of "
        "them "
        "cannot be written as a number; check their values and units");
  Vector q;
  dynamics_.position_of(y_, q);
  // Points of shapes jump from feature to feature, which differences of a dense Jacobian would take for slopes.
  const bool many = dynamics_.motion_size() > kDenseJacobian || !dynamics_.contacts().points_stay();
  sparse_ = many && unknowns_ == 0 && dynamics_.sparse_jacobian(q);
  OdeOptions ode;
  ode.stop = stop_;
  const double diluted = std::sqrt(static_cast<double>(dynamics_.motion_size() + unknowns_ * dynamics_.motion_size()) /
                                   static_cast<double>(dynamics_.size()));  // sums count in the mean and have no error
  ode.relative_tolerance = tolerance_ * diluted;
  ode.absolute_tolerance = diluted * absolute_tolerance();
  ode.absolute_scale = scale_;
  if (!stiff_) {
    integrator_ = std::make_unique<DormandPrince>(ode);
    set_continuation();
    return;
  }
  const auto guarded = [this](auto&& f) {
    try {
      return f();
    } catch (const InputError&) {
      return false;
    }
  };
  const auto make = [&]() -> std::unique_ptr<Radau> {
    if (!sparse_)
      return std::make_unique<Radau>(ode, OdeJacobian([this, guarded](double t, const Vector& y, DenseMatrix& J) {
                                       return guarded([&] { return dense_jacobian(stretch_.inside(t), y, J); });
                                     }));
    return std::make_unique<Radau>(ode, OdePencil([this, guarded](double t, const Vector& y, SlopePencil& J) {
                                     return guarded([&] { return dynamics_.jacobian(stretch_.inside(t), y, J); });
                                   }));
  };
  integrator_ = make();
  set_continuation();
  rows_integrator_ = make();
  rows_integrator_->restart(0, y_);
}

/// Columns of S move by the same slopes as the motion; what they do to one another is nothing.
bool CompliantScheme::dense_jacobian(double t, const Vector& y, DenseMatrix& J) {
  const Index n = dynamics_.motion_size();
  J.setZero();
  DenseMatrix motion(n, n);
  if (!dynamics_.jacobian(t, y, motion)) return false;
  J.topLeftCorner(n, n) = motion;
  for (Index k = 0; k < unknowns_; ++k) J.block(dynamics_.column_at(k), dynamics_.column_at(k), n, n) = motion;
  return true;
}

}  // namespace stickslip
