// SPDX-License-Identifier: Apache-2.0
// The start of a run with compliant contacts, and what is kept of it from call to call.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/compliant/compliant.hpp"
#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

namespace {

/// Fastest rate of the contacts times the length of a run from which on the implicit method is cheaper: explicit steps
/// are about 6 over that rate, implicit ones follow the motion.
constexpr double kStiffTimes = 3e4;
constexpr double kReachOfSearch = 0.05;  // of the smallest shape: how far ahead points are looked for

}  // namespace

/// Bodies that start inside one another: deeper than contacts give way when bodies fall on them, and so strained that
/// they would be thrown many times their own size.
void CompliantScheme::require_apart(const State& s) {
  const CompliantContacts& contacts = dynamics_.contacts();
  if (contacts.points_stay()) return;
  constexpr double kDeep = 0.02;  // of the smallest shape, as in CompliantDynamics::default_epsilon
  constexpr double kThrown = 10;  // times that shape
  const double length = system_.laws().contact_source().length();
  const double energy = system_.inertia().kinetic_energy(s.q, s.v) + length * force_at_start_.lpNorm<Eigen::Infinity>();
  for (std::size_t k = 0; k < contacts.slots().size(); ++k) {
    if (-contacts.gap(k) <= kDeep * length || contacts.energy_of(k) <= kThrown * energy) continue;
    throw InputError(
        fmt::format("contact '{}' starts {:.3g} m inside, {:.2g} of the smallest shape: its compliance would hold "
                    "{:.3g} J and throw the "
                    "bodies apart; move them apart, or lower its stiffness",
                    system_.laws().contacts()[static_cast<std::size_t>(contacts.slots()[k].law)].name, -contacts.gap(k),
                    -contacts.gap(k) / length, contacts.energy_of(k)));
  }
}

/// A contact that slips does so at C⁻¹ (λ_T - z), of which round-off leaves ε λ_T/C. What a damper below kLeast does to
/// the motion is less than that.
void CompliantScheme::require_dampers() {
  constexpr double kLeast =
      1e-11;  // of √(K m): from there on down runs cost ever more, and slip is told from stick by chance
  const CompliantContacts& contacts = dynamics_.contacts();
  for (std::size_t s = 0; s < contacts.slots().size(); ++s) {
    const double ratio =
        contacts.damping_ratio(s, weights_[static_cast<Index>(contacts.mode_index(contacts.slots()[s]))]);
    if (!(ratio < kLeast)) continue;
    throw InputError(
        fmt::format("{}: its tangential damping is {:.2g} of sqrt(stiffness * mass), too small to tell slip from stick "
                    "by; take {:.2g} "
                    "times as much, which changes the motion by about {:.0e} of itself",
                    contacts.name_of(contacts.slots()[s]), ratio, kLeast / ratio, kLeast));
  }
}

/// Penetration at the start is a strain; one that load and speed at the start cannot have brought about is a mistake in
/// the model: contacts that push what they hold many times harder than that. Contacts that press against one another
/// (a grip) do not count, however hard.
void CompliantScheme::require_start(const State& s) {
  if (resumed_) return;
  require_dampers();
  require_apart(s);
  CompliantContacts& contacts = dynamics_.contacts();
  if (!contacts.points_stay()) return;
  constexpr double kTooHard = 100;  // it would be thrown 50 times as far as it is inside
  const CompliantDynamics::Accelerations pushed = dynamics_.accelerations(stretch_.inside(s.t));
  const double possible = pushed.without_contacts + contacts.blow();
  if (!(possible > 0) || !(pushed.all > kTooHard * possible)) return;
  std::size_t worst = 0;
  for (std::size_t k = 0; k < contacts.slots().size(); ++k)
    if (contacts.gap(k) < contacts.gap(worst)) worst = k;
  if (!(contacts.gap(worst) < 0)) return;
  throw InputError(fmt::format(
      "{} starts {:.3g} m inside: its compliance would hold {:.3g} J and push {:.2g} times harder than load and speed "
      "at "
      "the start can have pressed it there; move the start out of it, or lower its stiffness",
      contacts.name_of(contacts.slots()[worst]), -contacts.gap(worst), contacts.energy(), pushed.all / possible));
}

void CompliantScheme::start(StepRecord& record) {
  State& s = record.state;
  CompliantContacts& contacts = dynamics_.contacts();
  stretch_.leave();
  if (dynamics_.constraints() > 0 && !resumed_) {
    const ConsistentStart start = make_consistent(system_, s.t, s.q, s.v, {.span = span_.length()});
    s.q = start.q;
    s.v = start.v;
  }
  dynamics_.contact_weights(s.t, s.q, weights_);
  epsilon_ = dynamics_.default_epsilon(options_.epsilon, s, span_.length());
  contacts.complete(weights_, epsilon_);
  set_scales(s);
  const double reach = kReachOfSearch * system_.laws().contact_source().length();
  if (!resumed_) {
    if (contacts.points_stay() || s.z.size() == 0) {
      DenseMatrix delta = s.z;
      contacts.collect(s.t, s.q, reach, dynamics_.workspace(), delta);
      s.z = delta.col(0);
    }
  }
  dynamics_.set_origin(s.q);
  stiff_ = options_.integrator == CompliantIntegrator::stiff;
  dynamics_.set_layout(true, 0);
  assemble(s);
  if (!resumed_) contacts.hold_all();
  if (!dynamics_.place(s.t, y_)) throw InputError("the contact forces at the start cannot be found");
  if (contacts.hold_or_release()) dynamics_.place(s.t, y_);
  require_start(s);
  if (options_.integrator == CompliantIntegrator::automatic)
    stiff_ = contacts.fastest(weights_) * span_.length() > kStiffTimes;
  dynamics_.set_layout(!stiff_, unknowns_);
  assemble(s);
  if (derives()) {
    neighbours_.make(s, epsilon_);
    neighbours_.follow_breakpoints(system_.breakpoints(span_.start, span_.end), span_);
  }
  if (tape_) {
    seed_probe();
  } else if (unknowns_ > 0) {
    if (record.sensitivity.cols() != unknowns_) record.sensitivity = variations_->initial();
    seed_columns(record.sensitivity);
    dynamics_.set_parameter_slope([this](double t, Index k, Vector& out) { return add_parameter_slope(t, k, out); });
  }
  rates_.setZero(dynamics_.size());
  column_gain_.assign(static_cast<std::size_t>(unknowns_), 0.0);
  column_lost_.assign(static_cast<std::size_t>(unknowns_), 0);
  raise_scales();
  if (rate(s.t, y_, rates_)) raise_scales();
  make_integrator();
  for (Vector* x : {&record.reaction_impulse, &record.jump_impulse}) x->setZero(dynamics_.components());
  record.smooth_impulse.setZero(dynamics_.components());
  record.constraint_impulse.setZero(dynamics_.constraints());
  record.law_work.setZero(dynamics_.laws());
  record.events.reserve(256);
  for (Vector* x : {&sums_, &sums_base_, &sums_reached_}) x->setZero(dynamics_.all_sums());
  dynamics_.place(s.t, y_);
  start_y_ = y_;
  deepest_.begin(contacts, s.t);
  pieces_ = contacts.pieces();
  take_modes(s);
  record.energy = {};
  record.energy.kinetic = system_.inertia().kinetic_energy(s.q, s.v);
  record.energy.potential = system_.forces().potential_energy(s.q) + contacts.energy();
  record.energy.initial = record.energy.kinetic + record.energy.potential;
}

/// y of a state, sums at 0, columns as they are.
void CompliantScheme::assemble(const State& s) {
  const Index nq = system_.info().nq(), nv = system_.info().nv();
  y_.setZero(dynamics_.size());
  dynamics_.put_position(s.q, y_);
  y_.segment(nq, nv) = s.v;
  y_.segment(nq + nv, dynamics_.contacts().tangents()) = s.z;
}

bool CompliantScheme::exchange(Memory& memory) {
  memory.exchange(sums_reached_);
  memory.exchange(dropped_energy_);
  dynamics_.contacts().exchange(memory);
  if (sample_y_.size() == 0) sample_y_ = y_;
  memory.exchange(sample_y_);
  bool stiff = stiff_;
  memory.exchange(stiff);
  Vector origin = dynamics_.origin();
  memory.exchange(origin);
  dynamics_.set_origin(origin);
  if (memory.reading()) {  // the integrator begins anew there
    sums_ = sums_base_ = sums_reached_;
    y_ = sample_y_;
    if (stiff != stiff_) take_integrator(stiff);
    dynamics_.place(stretch_.inside(span_.start), y_);
    deepest_.begin(dynamics_.contacts(), span_.start);
    pieces_ = dynamics_.contacts().pieces();
    in_step_ = false;
    restart_ = true;
    keep_column_sums();
  }
  return true;
}

}  // namespace stickslip
