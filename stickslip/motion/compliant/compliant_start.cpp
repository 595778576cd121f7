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
    const double ratio = contacts.damping_ratio(s, contacts.weight_of(s, weights_));
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
  if (whole_start_) return;
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
  const auto put_on_constraints = [&](State& state) {
    if (dynamics_.constraints() == 0) return;
    const ConsistentStart start = make_consistent(system_, state.t, state.q, state.v, {.span = span_.length()});
    state.q = start.q;
    state.v = start.v;
  };
  put_on_constraints(s);
  State first = whole_start_ ? *whole_start_ : s;
  if (whole_start_) put_on_constraints(first);
  dynamics_.contact_weights(first.t, first.q, weights_);
  epsilon_ = dynamics_.default_epsilon(options_.epsilon, first, span_.length());
  contacts.complete(weights_, epsilon_);
  set_scales(s);
  const double reach = kReachOfSearch * system_.laws().contact_source().length();
  DenseMatrix delta = contacts.points_stay() ? s.z : Vector();  // else only the memory knows whose they are
  dynamics_.collect(s.t, s.q, reach, delta);
  s.z = delta.col(0);
  dynamics_.set_origin(s.q);
  stiff_ = options_.integrator == CompliantIntegrator::stiff;
  dynamics_.set_layout(true, 0);
  assemble(s);
  contacts.hold_all(s.modes);
  if (!dynamics_.place(s.t, y_)) throw InputError("the contact forces at the start cannot be found");
  if (contacts.hold_or_release()) dynamics_.place(s.t, y_);
  require_start(s);
  if (options_.integrator == CompliantIntegrator::automatic)
    stiff_ = contacts.fastest(weights_) * span_.length() > kStiffTimes;
  dynamics_.set_layout(!stiff_, unknowns_);
  assemble(s);
  if (derives()) {
    neighbours_.make(first, epsilon_);
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
  recorded_ = s.t;
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

/// Columns of the motion at fixed times: where breakpoints lie that another end of the run brings, nobody knows yet.
void CompliantScheme::exchange_columns(Memory& memory, Vector& y) {
  const Index n = dynamics_.motion_size();
  DenseMatrix columns(n, unknowns_);
  for (Index k = 0; k < unknowns_ && !memory.reading(); ++k) columns.col(k) = y.segment(dynamics_.column_at(k), n);
  memory.exchange(columns);
  memory.exchange(column_lost_);
  if (!memory.reading()) return;
  if (columns.rows() != n || columns.cols() != unknowns_) throw std::length_error("the memory of the run is damaged");
  for (Index k = 0; k < unknowns_; ++k) y.segment(dynamics_.column_at(k), n) = columns.col(k);
}

/// The integrator begins anew at a state that was stored; columns are still to come.
void CompliantScheme::go_on_from(const Vector& motion, bool stiff) {
  stiff_ = stiff;
  dynamics_.set_layout(!stiff_, unknowns_);
  y_.setZero(dynamics_.size());
  y_.head(dynamics_.motion_size()) = motion;
  sums_ = sums_base_ = sums_reached_;
  if (dynamics_.sums_size() > 0) y_.segment(dynamics_.motion_size(), dynamics_.sums_size()) = sums_;
  in_step_ = false;
  restart_ = true;
  first_step_ = 0;
  step_start_ = recorded_;
}

bool CompliantScheme::exchange(Memory& memory) {
  CompliantContacts& contacts = dynamics_.contacts();
  memory.exchange(sums_reached_);
  memory.exchange(dropped_energy_);
  memory.exchange(epsilon_);
  memory.exchange(weights_);
  if (memory.reading()) contacts.complete(weights_, epsilon_);
  contacts.exchange(memory);
  bool stiff = stiff_;
  memory.exchange(stiff);
  Vector origin = dynamics_.origin(), now = sample_y_.size() > 0 ? sample_y_ : y_;
  memory.exchange(origin);
  dynamics_.set_origin(origin);
  if (!memory.reading()) put_columns_at_fixed_time(recorded_, now);
  Vector motion = now.head(std::min(now.size(), dynamics_.motion_size()));
  memory.exchange(motion);
  if (memory.reading()) go_on_from(motion, stiff);
  exchange_columns(memory, memory.reading() ? y_ : now);
  if (!memory.reading()) return true;
  neighbours_.follow();
  put_columns_at_fixed_time(recorded_, y_, -1);
  sample_y_ = y_;
  dynamics_.place(stretch_.inside(recorded_), y_);
  rates_.resize(0);
  raise_scales();
  make_integrator();
  deepest_.begin(contacts, recorded_);
  pieces_ = contacts.pieces();
  keep_column_sums();
  return true;
}

}  // namespace stickslip
