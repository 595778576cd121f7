// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/quasistatic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/compliant/radau_nodes.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {

using radau5::kNodes;
using radau5::kWeights;
constexpr int kBisections = 60;
constexpr double kShortest = 1e-12;  // of the run
constexpr double kLeastPart = 1e-4;  // of the step that the motion allows: the shortest that columns ask for
constexpr double kBorder = 1e-12;    // of the friction limit: there stick and slip are one
constexpr double kAtLimit = 0.99;    // of the friction limit: a contact that is about to slip
constexpr double kNearLimit = 1e-6;  // of the friction limit: what sticks farther from it does not slip at once

}  // namespace

QuasistaticScheme::QuasistaticScheme(const System& system, const CompliantOptions& options, double tolerance,
                                     TimeSpan span, std::vector<double> breakpoints, StopRequest stop,
                                     const Variations* variations, std::shared_ptr<const State> whole_start)
    : system_(system),
      tolerance_(tolerance),
      span_(span),
      stretch_(std::move(breakpoints), span),
      stop_(stop),
      epsilon_(options.epsilon),
      whole_start_(std::move(whole_start)),
      dynamics_(system),
      variations_(variations),
      neighbours_(dynamics_, variations),
      unknowns_(neighbours_.unknowns()),
      switches_(only_polygons(system.laws().contacts())) {
  dynamics_.set_span(span.length());
  switches_.velocity_jump = 0;
  if (!system.kinematics().flat() || !system.laws().contact_source().points_stay())
    throw InputError(
        "run.compliant.quasistatic takes systems given by [matrices] or [equations]; set it to false for bodies with "
        "shapes");
  if (!system.laws().constraints().empty())
    throw InputError(
        fmt::format("run.compliant.quasistatic takes no bilateral constraints, but there is constraint '{}'; use a "
                    "stiff [[spring]] or `potential` in its place, or set it to false",
                    system.laws().constraints().front().name));
  if (dynamics_.contacts().has_static())
    throw InputError(
        "run.compliant.quasistatic takes no static coefficient or limit above the dynamic one: where it gives way "
        "without "
        "inertia the motion jumps; remove mu_static or static_limit, or set it to false");
  dynamics_.drop_inertia();
}

/// Newton's method ends at kNewton of the sizes, and velocities are differences of that over the step: the shorter it
/// is, the less is known of the dampers' force.
CompliantContacts::BorderWidth QuasistaticScheme::border_width(double h) const {
  double way = T_ > 0 ? scale_.tail(T_).maxCoeff() : 0.0;
  for (Index i = 0; i < n_; ++i) way = std::max(way, levers_[i] * scale_[i]);
  way *= kNewton;
  return {kBorder, way, radau5::inverse().cwiseAbs().maxCoeff() * way / h};
}

/// Forces are continuous, but where the model's jump or those of dampers of normals: what sticks inside its limit goes
/// on sticking. In a long step of a stiff contact collocation has solutions that slip at every node, which pass over
/// that.
void QuasistaticScheme::find_what_may_change(double t, double h) {
  const CompliantContacts& contacts = dynamics_.contacts();
  may_change_.assign(pieces_.size(), 1);
  if (stretch_.follows_breakpoint() || contacts.forces_jump()) return;
  residual(t, x_, rate_, F_);
  const ContactPieces sticks{.closed = true, .pulls = false, .tangential = {}};
  ContactPieces slips = sticks;
  slips.tangential.kind = SectionPiece::Kind::facet;
  Vector normal, tangential;
  contacts.forces(normal, tangential);
  for (std::size_t k = 0; k < pieces_.size(); ++k) {
    if (!(pieces_[k] == sticks) || contacts.slots()[k].tangents == 0) continue;
    const double inside = -contacts.border_function(k, sticks, slips);
    may_change_[k] = contacts.on_the_border(k, border_width(h)) ||
                     !(inside > kNearLimit * limit_of(k, normal[static_cast<Index>(k)]));
  }
}

double QuasistaticScheme::limit_of(std::size_t slot, double normal) const {
  const CompliantContacts::Slot& at = dynamics_.contacts().slots()[slot];
  return at.friction >= 0 ? normal : system_.laws().contacts()[static_cast<std::size_t>(at.law)].mu * normal;
}

/// What the contacts do at the nodes is what they did before the step.
bool QuasistaticScheme::same_pieces(double t, double h, const Stages& s) {
  border_.assign(pieces_.size(), 0);
  const CompliantContacts::BorderWidth width = border_width(h);
  for (const std::size_t i : {2u, 1u, 0u}) {
    residual(t + kNodes[i] * h, s.x[i], s.rate[i], F_);
    const std::vector<ContactPieces>& now = dynamics_.contacts().pieces();
    if (fresh_ && i == 2) found_pieces_ = now;  // after a change the end, farthest from it, says what the new modes are
    for (std::size_t k = 0; k < now.size(); ++k) {
      const ContactPieces& before = fresh_ && may_change_[k] ? found_pieces_[k] : pieces_[k];
      const bool undecided = dynamics_.contacts().on_the_border(k, width);
      if (fresh_ && i == 2) border_[k] = undecided;
      if (!(now[k] == before) && !undecided && !border_[k]) return false;
    }
  }
  return true;
}

StepOutcome QuasistaticScheme::no_balance(double t, Solved why) {
  std::string slipping;
  Vector normal, tangential;
  dynamics_.contacts().forces(normal, tangential);
  for (std::size_t k = 0; k < dynamics_.contacts().slots().size(); ++k) {
    const CompliantContacts::Slot& slot = dynamics_.contacts().slots()[k];
    const double force = normal[static_cast<Index>(k)];
    const double limit = limit_of(k, force);
    const bool at_limit = slot.tangents > 0 && tangential.segment(slot.first, slot.tangents).norm() > kAtLimit * limit;
    if (force == 0 || at_limit)
      slipping += fmt::format("{}{} {}", slipping.empty() ? "" : ", ", dynamics_.contacts().name_of(slot),
                              force > 0 ? "slips" : "is open");
  }
  if (why == Solved::singular || !slipping.empty())
    return {Status::refused,
            fmt::format(
                "no balance of forces without inertia at t = {:.9g} s{}{}: a force beyond what friction and springs "
                "can hold has no quasistatic motion. Drive the motion by a spring, a displacement or a moving "
                "surface, or set run.compliant.quasistatic = false",
                t, slipping.empty() ? "" : "; ", slipping)};
  return {Status::not_converged,
          fmt::format("the balance of forces was not found at t = {:.9g} s; raise run.tolerance, or set "
                      "run.compliant.quasistatic = false",
                      t)};
}

void QuasistaticScheme::add_sums(double t, double h, const Stages& s) {
  for (std::size_t i = 0; i < 3; ++i) {
    residual(t + kNodes[i] * h, s.x[i], s.rate[i], F_);
    dynamics_.sum_rates(stretch_.inside(t + kNodes[i] * h), sum_rates_);
    sums_ += h * kWeights[i] * sum_rates_;
  }
}

double QuasistaticScheme::step_factor(double error) {
  constexpr double kGrow = 4, kShrink = 0.2;
  return std::clamp(kSafety * std::pow(std::max(error, 1e-10), -0.2), kShrink, kGrow);
}

/// Of the two half steps against the whole one, over the tolerance.
double QuasistaticScheme::step_error() const {
  double error = 0;
  for (Index i = 0; i < n_ + T_; ++i)
    error = std::max(error, std::abs(second_.x[2][i] - whole_.x[2][i]) /
                                (kHalving * tolerance_ * std::max(scale_[i], std::abs(second_.x[2][i]))));
  return error;
}

/// Velocities are slopes of the collocation's polynomial, order 3 at its end, where positions may follow a drive to
/// round-off over any step. As an error of order 5 that asks for the same length of the step.
double QuasistaticScheme::rate_error(double h) const {
  constexpr double kHalvingOfRates = 7, kRoundings = 10;
  const double noise = kRoundings * kNewton * radau5::inverse().cwiseAbs().maxCoeff() / (0.5 * h);
  double error = 0;
  for (Index i = 0; i < n_; ++i) {
    const double apart = std::abs(second_.rate[2][i] - whole_.rate[2][i]);
    const double size = std::max(speed_[i], std::abs(second_.rate[2][i])), way = std::max(scale_[i], std::abs(x_[i]));
    error = std::max(error, apart / (kHalvingOfRates * tolerance_ * size + noise * way));
  }
  return std::pow(error, 5.0 / 3);
}

/// From t on: whole_, first_ and second_ of a step of at most h whose error is small and in which no contact changes
/// but at its end.
StepOutcome QuasistaticScheme::find_step(double t, double shortest, double& h) {
  changes_ = false;
  double least = HUGE_VAL;
  const auto error_of = [&](double length) {
    const double rate = rate_error(length);
    const bool round_off = rate >= least;  // which a shorter step makes larger
    least = std::min(least, rate);
    return std::max(step_error(), round_off ? 0.0 : rate);
  };
  for (;;) {
    if (raised(stop_)) return {Status::interrupted, ""};
    Solved solved = collocate(t, x_, h, whole_);
    if (solved == Solved::yes && same_pieces(t, h, whole_)) {
      solved = collocate(t, x_, 0.5 * h, first_);
      if (solved == Solved::yes) solved = collocate(t + 0.5 * h, first_.x[2], 0.5 * h, second_);
      if (solved == Solved::yes) {
        const double error = error_of(h);
        const double factor = step_factor(error);
        if (error <= 1) {
          h_ = h * factor;
          return {};
        }
        h *= std::min(factor, kSafety);
        if (h < shortest) return no_balance(t, Solved::no);
        continue;
      }
    }
    if (solved == Solved::yes) {  // a contact changes inside: the longest step before it
      double low = 0, high = h;
      for (int round = 0; round < kBisections && high - low > stretch_.same_time(t); ++round) {
        const double middle = 0.5 * (low + high);
        (collocate(t, x_, middle, whole_) == Solved::yes && same_pieces(t, middle, whole_) ? low : high) = middle;
      }
      if (low <= stretch_.same_time(t)) {  // it changes at once: the end of a shorter step has the new modes
        if (fresh_) h *= 0.25;
        if (h < shortest) return no_balance(t, Solved::no);
        fresh_ = true;
        find_what_may_change(t, last_h_);
        continue;
      }
      h = low;
      collocate(t, x_, h, whole_);
      collocate(t, x_, 0.5 * h, first_);
      collocate(t + 0.5 * h, first_.x[2], 0.5 * h, second_);
      if (const double error = error_of(h); error > 1) {  // too long to say when the contact changes
        h *= std::min(step_factor(error), kSafety);
        if (h < shortest) return no_balance(t, Solved::no);
        continue;
      }
      changes_ = true;
      return {};
    }
    h *= 0.25;
    if (h < shortest) return no_balance(t, solved);
  }
}

/// What the contacts do in a step that begins anew: found_pieces_.
void QuasistaticScheme::find_new_pieces(double t, double h) {
  residual(t + h, second_.x[2], second_.rate[2], F_);
  if (!fresh_) return;
  found_pieces_ = dynamics_.contacts().pieces();
  for (std::size_t k = 0; k < found_pieces_.size(); ++k)
    if (!may_change_[k] || dynamics_.contacts().on_the_border(k, border_width(0.5 * h))) found_pieces_[k] = pieces_[k];
}

/// One accepted step, at most to `limit`.
StepOutcome QuasistaticScheme::advance(double limit, StepRecord& record) {
  const double t = record.state.t;
  if (limit - t <= stretch_.same_time(t)) {  // a jump and a row at one instant, but for round-off
    record.state.t = limit;
    return {};
  }
  const double shortest = std::min(kShortest * span_.length(), 0.5 * (limit - t));
  if (stretch_.follows_breakpoint()) fresh_ = true;  // forces jump or bend here
  double h = std::min(h_, limit - t);
  if (h < limit - t && limit - t - h < 0.1 * h) h = limit - t;
  if (fresh_) find_what_may_change(t, last_h_);
  // Where round-off is all that columns are off by, no step is short enough for them.
  const double least = std::max(shortest, kLeastPart * h);
  for (;;) {
    if (const StepOutcome outcome = find_step(t, shortest, h); outcome.status != Status::success) return outcome;
    find_new_pieces(t, h);
    const double factor = unknowns_ > 0 ? carry_columns(t, h, least) : HUGE_VAL;
    if (!changes_) h_ = std::min(h_, h * factor);
    if (factor >= 1) break;
    h *= factor;
  }
  add_sums(t, 0.5 * h, first_);
  add_sums(t + 0.5 * h, 0.5 * h, second_);
  residual(t + h, second_.x[2], second_.rate[2], F_);
  if (fresh_ && found_pieces_ != pieces_) {
    note_switch(t, record);
    pieces_ = found_pieces_;
    switches_.velocity_jump =
        std::max(*switches_.velocity_jump, (first_.rate[0] - rate_).head(n_).lpNorm<Eigen::Infinity>());
    record.jumped = true;
  }
  fresh_ = changes_;
  last_h_ = 0.5 * h;
  x_ = second_.x[2];
  rate_ = second_.rate[2];
  scale_ = scale_.cwiseMax(x_.cwiseAbs());
  speed_ = speed_.cwiseMax(rate_.head(n_).cwiseAbs());
  record.state.t = h == limit - t ? limit : t + h;
  return {};
}

void QuasistaticScheme::note_switch(double t, StepRecord& record) {
  switches_.add(t, changes(pieces_, found_pieces_));
  note_modes(dynamics_.contacts(), t, record);
}

void QuasistaticScheme::take_state(double t, StepRecord& record) {
  State& s = record.state;
  pack(x_, rate_);
  dynamics_.balance(stretch_.inside(t), y_, F_);
  s.t = recorded_ = t;
  s.q = dynamics_.q();
  s.v = rate_.head(n_);
  s.z = x_.tail(T_);
  const auto gained = [&](Index first, Index count) {
    return sums_.segment(first, count) - sums_reached_.segment(first, count);
  };
  record.reaction_impulse += gained(dynamics_.component_sums(), dynamics_.components());
  if (const Index smooth = dynamics_.smooth_components(); smooth > 0)
    record.smooth_impulse.head(smooth) += gained(dynamics_.smooth_sums(), smooth);
  record.law_work = sums_.tail(record.law_work.size());
  sums_reached_ = sums_;
  record.energy_terms = energy_size_;
  record.energy.work_in = sums_[0];
  record.energy.damper_loss = sums_[1];
  record.energy.friction_loss = sums_[2];
  record.energy.potential = system_.forces().potential_energy(s.q) + dynamics_.contacts().energy();
  const CompliantContacts::Residuals laws = dynamics_.contacts().residuals();
  raise(record.membership, laws.membership);
  raise(record.inclusion, laws.inclusion);
  raise(audit_.step.penetration, dynamics_.contacts().deepest());
  if (unknowns_ > 0) take_sensitivity(record);
}

StepOutcome QuasistaticScheme::step(double t_end, StepRecord& record) {
  clear_step(record);
  audit_.step = {};
  record.reaction_impulse.setZero();
  record.smooth_impulse.setZero();
  const double t_start = step_start_ = record.state.t;
  StepOutcome outcome;
  while (record.state.t < t_end && outcome.status == Status::success) {
    stretch_.enter(record.state.t);
    outcome = advance(std::min(t_end, stretch_.end_after(record.state.t)), record);
  }
  take_state(record.state.t, record);
  record.duration = record.state.t - t_start;
  return outcome;
}

/// Columns are stored at fixed times: another end of the run shifts the time in another way.
bool QuasistaticScheme::exchange(Memory& memory) {
  for (Vector* x : {&x_, &rate_, &scale_, &speed_, &levers_, &sums_reached_, &weights_}) memory.exchange(*x);
  Vector origin = dynamics_.origin();
  memory.exchange(origin);
  dynamics_.set_origin(origin);
  for (double* x : {&h_, &last_h_, &touch_, &energy_size_, &epsilon_, &moved_}) memory.exchange(*x);
  memory.exchange(fresh_);
  memory.exchange(bend_);
  memory.exchange(column_lost_);
  Columns columns;
  if (unknowns_ > 0 && !memory.reading()) columns = at_fixed_time(recorded_, {S_, S_rate_, impulse_columns_});
  for (DenseMatrix* S : {&columns.x, &columns.rate, &columns.impulse, &impulse_reached_}) memory.exchange(*S);
  if (!memory.reading()) return true;
  sums_ = sums_reached_;
  dynamics_.contacts().complete(weights_, epsilon_);
  dynamics_.contacts().follow(std::vector<CompliantContacts::Slot>(dynamics_.contacts().slots()));
  pack(x_, rate_);
  dynamics_.balance(stretch_.inside(recorded_), y_, F_);
  pieces_ = found_pieces_ = dynamics_.contacts().pieces();
  if (unknowns_ == 0) return true;
  columns = at_fixed_time(recorded_, std::move(columns), -1);
  S_ = columns.x;
  S_rate_ = columns.rate;
  impulse_columns_ = columns.impulse;
  return true;
}

std::vector<AuditPart*> QuasistaticScheme::audit_parts() {
  audit_.guarantees.ends_outside = false;
  return {&audit_, &switches_};
}

void QuasistaticScheme::add_notes(std::vector<std::string>& notes) const {
  notes.push_back("quasistatic: inertia is dropped; velocities jump where slip begins or ends");
  if (moved_ > kNotMoved * scale_.maxCoeff())
    notes.push_back(fmt::format("the start was moved by up to {:.3g} into the balance of forces", moved_));
  if (std::find(column_lost_.begin(), column_lost_.end(), 1) != column_lost_.end())
    notes.push_back(
        "several contacts changed at one instant that the unknowns move apart, or a contact without load gets one by "
        "them: derivatives do not exist from there on");
}

}  // namespace stickslip
