// SPDX-License-Identifier: Apache-2.0
// How a motion without inertia starts: in the nearest balance of forces, with the sizes that its forces make.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/compliant/quasistatic.hpp"

namespace stickslip {

namespace {
constexpr double kFirstStep = 1e-3;    // of the run
constexpr double kRelaxation = 1e-11;  // of the run: the shortest time of a damper over its spring
constexpr double kSettle = 1e-9;       // of the run: the implicit step that puts the start into balance
}  // namespace

void QuasistaticScheme::start(StepRecord& record) {
  State& s = record.state;
  CompliantContacts& contacts = dynamics_.contacts();
  n_ = system_.info().nv();
  const State& first = whole_start_ ? *whole_start_ : s;
  dynamics_.contact_weights(first.t, first.q, weights_);
  epsilon_ = dynamics_.default_epsilon(epsilon_, first, span_.length());
  contacts.complete(weights_, epsilon_);
  DenseMatrix delta = s.z;
  dynamics_.collect(s.t, s.q, 0, delta);
  s.z = delta.col(0);
  T_ = contacts.tangents();
  dynamics_.set_layout(false, 0);
  dynamics_.set_origin(s.q);
  x_.setZero(n_ + T_);
  x_.tail(T_) = s.z;
  rate_.setZero(n_ + T_);
  stretch_.enter(s.t);
  pack(x_, rate_);
  if (!dynamics_.balance(stretch_.inside(s.t), y_, F_))
    throw InputError("the contact forces at the start cannot be found");
  require_dampers();
  find_sizes(s.t);
  Stages settled;
  const Vector before = x_;
  if (unknowns_ > 0) seed(record);
  const double h = kSettle * span_.length();
  if (collocate(s.t - h, x_, h, settled) == Solved::yes) {  // ends at the start
    vary_settled(s.t - h, h, settled, false);
    x_.head(n_) = settled.x[2].head(n_);
    rate_.setZero();
    // With the start in balance a second tiny step has the velocity that belongs to it.
    if (collocate(s.t, x_, h, settled) == Solved::yes) {
      vary_settled(s.t, h, settled, true);
      rate_ = settled.rate[2];
    }
  }
  moved_ = (x_ - before).head(n_).lpNorm<Eigen::Infinity>();
  pack(x_, rate_);
  dynamics_.balance(stretch_.inside(s.t), y_, F_);
  pieces_ = found_pieces_ = contacts.pieces();
  h_ = kFirstStep * span_.length();
  last_h_ = kSettle * span_.length();
  for (Vector* x : {&record.reaction_impulse, &record.smooth_impulse, &record.jump_impulse})
    x->setZero(dynamics_.components());
  record.constraint_impulse.resize(0);
  record.law_work.setZero(dynamics_.laws());
  for (Vector* x : {&sums_, &sums_reached_}) x->setZero(dynamics_.all_sums());
  s.modes.resize(static_cast<std::size_t>(dynamics_.laws()));
  for (std::size_t k = 0; k < s.modes.size(); ++k) s.modes[k] = contacts.mode(k);
  if (contacts.has_facets()) {
    s.facets.resize(s.modes.size());
    for (std::size_t k = 0; k < s.facets.size(); ++k) s.facets[k] = contacts.facets(k);
  }
  record.energy = {};
  step_start_ = s.t;
  take_state(s.t, record);
  record.energy.initial = record.energy.kinetic + record.energy.potential;
}

/// Whether a contact slips is told by its damper's force: one that is round-off beside that of the spring tells
/// nothing.
void QuasistaticScheme::require_dampers() const {
  const CompliantContacts& contacts = dynamics_.contacts();
  for (std::size_t k = 0; k < contacts.slots().size(); ++k) {
    const double time = contacts.relaxation_of(k), least = kRelaxation * span_.length();
    if (time >= least) continue;
    throw InputError(fmt::format(
        "run.compliant.quasistatic: the damper of {} relaxes in {:.2g} s, less than {:g} of the run: its force is lost "
        "in "
        "the rounding of the spring's, and with it whether the contact slips; raise its damping by a factor of {:.2g}, "
        "which "
        "no motion will show",
        contacts.name_of(contacts.slots()[k]), time, kRelaxation, least / time));
  }
}

/// What forces make of the springs of the contacts is the size of every motion here; of a coordinate, what moves a
/// contact as far. Where nothing presses at the start, the forces of later on count.
void QuasistaticScheme::find_sizes(double t) {
  constexpr int kLooks = 8;
  const CompliantContacts& contacts = dynamics_.contacts();
  levers_.setZero(n_);
  contacts.for_each_row([&](std::size_t, int, const SparseMatrix& Wt, Index row) {
    for (SparseMatrix::InnerIterator entry(Wt, row); entry; ++entry)
      levers_[entry.col()] = std::max(levers_[entry.col()], std::abs(entry.value()));
  });
  double force = contacts.force_size(), softest = HUGE_VAL;
  const auto look = [&] {
    for (Index i = 0; i < n_; ++i)
      if (levers_[i] > 0) force = std::max(force, std::abs(F_[i]) / levers_[i]);
  };
  look();
  const bool at_rest = force == 0;
  for (int k = 1; k <= kLooks && force == 0; ++k)
    if (residual(t + k * (span_.end - t) / kLooks, x_, rate_, F_)) look();
  for (std::size_t k = 0; k < contacts.slots().size(); ++k) softest = std::min(softest, contacts.stiffness_of(k));
  const double way = touch_ = force > 0 && std::isfinite(softest) ? force / softest : 1.0;
  energy_size_ = at_rest ? force * way : 0.0;
  scale_.setConstant(n_ + T_, way);
  for (Index i = 0; i < n_; ++i)
    if (levers_[i] > 0) scale_[i] = way / levers_[i];
  speed_ = scale_.head(n_) / span_.length();
  Vector sizes(2 * n_ + T_);
  sizes << scale_.head(n_), speed_, scale_.tail(T_);
  dynamics_.set_sizes(sizes);
}

}  // namespace stickslip
