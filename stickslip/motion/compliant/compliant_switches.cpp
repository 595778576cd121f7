// SPDX-License-Identifier: Apache-2.0
// Switches of the contacts along a step, and what the audit says of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/radau.hpp"
#include "stickslip/motion/compliant/compliant.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {

constexpr int kMostPushes = 12;         // over a switch, each twice as long as the one before
constexpr int kLongestPush = 24;        // likewise, where the integrator stops before it
constexpr int kMostSwitches = 100;      // between two looks
constexpr int kMostRounds = 200;        // of a search for one
constexpr double kSameInstant = 8;      // round-offs of the clock
constexpr double kBeside = 1e-3;        // of the interval left: how far beside the root of a line
constexpr double kNearEnd = 0.05;       // of a step: how far beside its end a switch may lie for a correction
constexpr double kLeastOfSpeed = 1e-3;  // at a rebound, for an unknown that changes by all of itself
constexpr double kBends = 1;            // tolerances of error in a step that goes over a kink
constexpr int kLooks = 4;               // along a step: switches back and forth between two would hide
constexpr int kLooksContinued = 12;     // along a continuation, which goes through what it passes over
constexpr int kDipLooks = 4;            // at the lowest place of a gap, each time better known

}  // namespace

/// Compares what the contacts do along the step; a change is followed to its instant on the dense output.
void CompliantScheme::look_for_switches(StepRecord& record) {
  const double from = integrator_->t_old(), to = integrator_->t();
  const int looks = continued_ ? kLooksContinued : kLooks;
  double t = from;
  step_pieces_ = pieces_;  // of the whole step up to its first switch, however many fall on that instant
  for (int k = 1; k <= looks; ++k) {
    const double next = k < looks ? from + (to - from) * k / looks : to;
    for (int count = 0; count < kMostSwitches; ++count) {
      double low = t, high = next;
      if (!looks_changed(next) && !touched_between(t, high)) break;
      narrow(low, high);
      const double sharp = high;
      // What changes at the same time but for round-off changes with it.
      if (continued_) high = std::min(next, high + kSameInstant * stretch_.same_time(high));
      if (!looks_changed(high)) break;
      const std::vector<ContactPieces> before = pieces_;
      const bool jump = dynamics_.contacts().jumps_since(before, tolerance_);
      const bool dampers = dynamics_.contacts().dampers_change_since(before, tolerance_);
      const double reach = jump ? low : high;
      t = jump ? sharp : high;
      note_switch(t, record);
      // With the step anyway; columns of hard contacts feel even that.
      const bool ends = !jump && !derives() && to - high <= SmoothStretch::kMoment * stretch_.same_time(high);
      // A touch that ends with the step, or that no stage of it has seen, has no part in its error estimate.
      const bool closes = !dynamics_.contacts().closed_since(before).empty();
      const bool bends = closes || !dynamics_.contacts().can_keep_pieces() ||
                         integrator_->estimate_at_kinks() > kBends || dynamics_.contacts().own_laws_end_since(before);
      if (!continued_ && (!(options_.locate_switches || jump || dampers || bends) || ends)) continue;
      ends_own_law_ = derives() && !closes && dynamics_.contacts().own_laws_end_since(before);
      const double behind = closes ? step_behind_closing(before) : 0;
      touch_until_ = deepest_without_force(high, before);
      step_to(reach, switch_y_);
      end_step_at(low, t, jump, before);
      // A step of the flight says nothing of the contact, and the implicit method's own estimate hardly sees what is
      // lost in a step that is far longer than the contact lasts.
      if (closes) first_step_ = behind;
      return;
    }
    if (k < looks) raise(audit_.step.penetration, deepest_.look(dynamics_.contacts(), next));
    t = next;
  }
}

/// Nothing has changed at t and at next, where the state is placed: whether a contact was touched in between. Then next
/// becomes a time at which it was, and the state is placed there; else it is placed at next again.
bool CompliantScheme::touched_between(double t, double& next) {
  const CompliantContacts& contacts = dynamics_.contacts();
  deepest_.near_touches(contacts, next, dips_);
  for (GapDip& dip : dips_)
    for (int look = 0; look < kDipLooks && dip.may_touch() && dip.time() > t && dip.time() < next; ++look) {
      const double at = dip.time();
      if (looks_changed(at)) {
        next = at;
        return true;
      }
      dip.narrow({at, contacts.gap(dip.slot()), contacts.gap_rate(dip.slot())});
    }
  if (!dips_.empty()) looks_changed(next);
  return false;
}

/// When contacts that have closed at `at` would be deepest if they did not push back: a step from there that goes on
/// for longer may have all its stages where they are open again.
double CompliantScheme::deepest_without_force(double at, const std::vector<ContactPieces>& before) {
  const CompliantContacts& contacts = dynamics_.contacts();
  const std::vector<std::size_t> closed = contacts.closed_since(before);
  const double from = integrator_->t_old(), to = integrator_->t(), far = at - from > to - at ? from : to;
  std::vector<double> rates;
  for (const std::size_t s : closed) rates.push_back(contacts.gap_rate(s));
  integrator_->interpolate(far, y1_);
  double until = HUGE_VAL;
  if (closed.empty() || !dynamics_.place(stretch_.inside(far), y1_)) return until;
  for (std::size_t k = 0; k < closed.size(); ++k) {
    const double acceleration = (contacts.gap_rate(closed[k]) - rates[k]) / (far - at);
    if (rates[k] < 0 && acceleration > 0) until = std::min(until, at - rates[k] / acceleration);
  }
  return until;
}

/// The implicit method knows the rates of stiff deformations better than where these lie beside their friction limit.
bool CompliantScheme::looks_changed(double at) {
  integrator_->interpolate(at, y1_);
  if (!dynamics_.place(stretch_.inside(at), y1_)) return false;
  CompliantContacts& contacts = dynamics_.contacts();
  if (stiff_ && at < integrator_->t()) {
    integrator_->interpolate_rate(at, k1_);
    contacts.decide_by_rates(pieces_, k1_.segment(system_.info().nq() + system_.info().nv(), contacts.tangents()));
  }
  return contacts.pieces() != pieces_;
}

/// Bisection, and where it is known what is 0 at the switch, points to both sides of where a straight line has its
/// root.
void CompliantScheme::narrow(double& low, double& high) {
  const CompliantContacts& contacts = dynamics_.contacts();
  const std::size_t slots = pieces_.size();
  std::vector<ContactPieces> changed = contacts.pieces();
  std::vector<double> at_high(slots), at_low(slots);
  const auto measure = [&](std::vector<double>& values) {
    for (std::size_t s = 0; s < slots; ++s)
      values[s] = pieces_[s] == changed[s] ? NAN : contacts.border_function(s, pieces_[s], changed[s]);
  };
  measure(at_high);
  if (looks_changed(low)) {
    high = low;
    return;
  }
  measure(at_low);
  for (int round = 0; round < kMostRounds && high - low > stretch_.same_time(high); ++round) {
    const double width = high - low;
    double root = high;
    for (std::size_t s = 0; s < slots; ++s)
      if (at_low[s] * at_high[s] < 0) root = std::min(root, low + width * at_low[s] / (at_low[s] - at_high[s]));
    double probe = root + (round % 2 == 0 ? -1 : 1) * std::max(kBeside * width, 0.4 * stretch_.same_time(high));
    if (!(root < high) || !(probe > low && probe < high) || round % 6 == 5) probe = 0.5 * (low + high);
    if (looks_changed(probe)) {
      high = probe;
      changed = contacts.pieces();
      measure(at_high);
    } else {
      low = probe;
      measure(at_low);
    }
  }
}

/// Whether the step at hand can be done on the pieces of its start up to its switch and a little beyond. Coupled
/// contacts cannot keep them.
bool CompliantScheme::pieces_hold() const { return dynamics_.contacts().can_keep_pieces(); }

/// Stages of a step that ends at a switch are less exact than its end and may lie beyond it, where slopes are others by
/// a finite amount. For derivatives pieces are kept there; where they cannot be, steps are shorter and shorter.
std::vector<double> CompliantScheme::lengths_to_switch(double h) const {
  constexpr double kLeft = 1.0 / 8, kLeftOfRoot = 1.0 / 4;  // of the way to the switch
  constexpr double kShortest = 1e-10;                       // of it, at the last
  std::vector<double> lengths;
  const bool coupled = derives() && !pieces_hold();
  const double left = coupled ? kLeft : kLeftOfRoot, last = coupled ? kShortest : shortest_beside_own_law();
  if (coupled || ends_own_law_)
    for (double part = 1; part > last; part *= left, h *= left) lengths.push_back((1 - left) * h);
  lengths.push_back(h);
  return lengths;
}

/// Slopes of p^{3/2} bend like √p where a contact closes or opens, and no estimate of a step sees what they do in it:
/// columns are off by (h/T)^{3/2} of their largest change in the time T of the contact.
double CompliantScheme::shortest_beside_own_law() const { return std::pow(tolerance_, 2.0 / 3); }

/// The first step behind a closing: of the integrator's own choice (0), or so short that what it makes of the slope
/// beside the border is nothing. At the placed state.
double CompliantScheme::step_behind_closing(const std::vector<ContactPieces>& before) {
  if (!derives()) return 0;
  const CompliantContacts& contacts = dynamics_.contacts();
  double shortest = HUGE_VAL;
  for (const std::size_t s : contacts.closed_since(before)) {
    const double weight = weights_[static_cast<Index>(contacts.mode_index(contacts.slots()[s]))];
    const double time = contacts.time_to_stop(s, weight);
    if (!std::isfinite(time)) continue;
    shortest = std::min(shortest, time);
    expect_rebound(s, time, weight);
  }
  return std::isfinite(shortest) ? shortest_beside_own_law() * shortest : 0;
}

/// A change dg of the gap becomes one of the velocity of dg/T in the time T in which a normal law of its own stops what
/// comes in: errors of columns count beside that from the beginning, where slopes are small and made of round-off.
void CompliantScheme::expect_rebound(std::size_t slot, double time, double weight) {
  const Index nq = system_.info().nq(), nv = system_.info().nv();
  Vector row = Vector::Zero(nv), along(nq), kick(nv), moved(nq);
  dynamics_.contacts().for_each_row([&](std::size_t s, int c, const SparseMatrix& Wt, Index at) {
    if (s != slot || c != 0) return;
    for (SparseMatrix::InnerIterator entry(Wt, at); entry; ++entry) row[entry.col()] = entry.value();
  });
  system_.kinematics().rate(dynamics_.q(), row, along);
  if (column_size_.rows() != dynamics_.motion_size()) return;
  const double speed = std::abs(dynamics_.contacts().gap_rate(slot));
  for (Index k = 0; k < unknowns_; ++k) {
    const double p = tape_ ? 0 : std::abs(variations_->value(k));
    const double change =
        std::abs(along.dot(y1_.segment(dynamics_.column_at(k), nq))) / time + (p > 0 ? kLeastOfSpeed * speed / p : 0);
    kick = change / weight * row.cwiseQuotient(mass_diagonal_);
    system_.kinematics().rate(dynamics_.q(), kick, moved);
    double& gain = column_gain_[static_cast<std::size_t>(k)];
    for (Index i = 0; i < nq; ++i) raise(column_size_(i, k), time * std::abs(moved[i]));
    for (Index i = 0; i < nv; ++i) {
      raise(column_size_(nq + i, k), std::abs(kick[i]));
      gain = std::max(gain, std::abs(kick[i]) / size_[nq + i]);
    }
  }
}

/// From where the step at hand began; of a continuation, of the implicit method and for derivatives on its pieces,
/// which hold up to the switch.
void CompliantScheme::step_to(double at, Vector& y) {
  const auto f = [this](double time, const Vector& state, Vector& dydt) { return rate(time, state, dydt); };
  OdeIntegrator& method = rows_integrator_ ? static_cast<OdeIntegrator&>(*rows_integrator_) : *integrator_;
  y = integrator_->y_old();
  part_.end = NAN;
  double t = integrator_->t_old();
  if (at <= t) return;
  const std::vector<double> lengths = lengths_to_switch(at - t);
  const bool one_piece = stiff_ && dynamics_.contacts().can_keep_pieces();  // as every implicit step is
  const bool keep = continued_ || one_piece || (derives() && pieces_hold());
  Vector from;
  for (const double h : lengths) {
    from = y;
    if (keep) dynamics_.contacts().keep_pieces(step_pieces_);
    const bool known = method.single_step(f, t, from, h, y);
    dynamics_.contacts().let_go();
    if (!known) {
      integrator_->interpolate(at, y);
      return;
    }
    t += h;
  }
  if (!rows_integrator_ || lengths.size() > 1) return;
  part_.end = at;
  for (int i = 0; i < 3; ++i) {
    rows_integrator_->stage(i, from, part_.nodes[static_cast<std::size_t>(i)]);
    rows_integrator_->stage_rate(i, lengths.back(), part_.rates[static_cast<std::size_t>(i)]);
  }
}

/// Every contact that changes from `before` to `beyond` has left what it did before. Others may have changed with it.
bool CompliantScheme::passed(const std::vector<ContactPieces>& before, const std::vector<ContactPieces>& beyond) const {
  const std::vector<ContactPieces>& now = dynamics_.contacts().pieces();
  for (std::size_t s = 0; s < now.size(); ++s)
    if (!(before[s] == beyond[s]) && now[s] == before[s]) return false;
  return true;
}

/// The step ends at the switch that step_to() has reached. Where forces jump there, it has ended just before it and is
/// carried over it by its rate, so that they are on one side in all of this step and on the other in all of the next.
void CompliantScheme::end_step_at(double before, double after, bool jump,
                                  const std::vector<ContactPieces>& pieces_before) {
  if (!jump) before = after;
  reached_ = before;
  if (stiff_) {
    reached_y_ = switch_y_;
    reached_part_ = part_;
    carried_sums_.setZero(dynamics_.all_sums());
  }
  if (tape_) record_step(integrator_->t_old(), integrator_->y_old(), before - integrator_->t_old(), true);
  double t = before;
  if (jump) t = carry_over_jump(before, std::max(after - before, stretch_.same_time(after)), pieces_before, switch_y_);
  correct_switches(t, kNearEnd * (t - integrator_->t_old()), pieces_before, jump, switch_y_);
  step_end_ = std::max(t, after);
  first_step_ = integrator_->suggested_step();
  cut_ = true;
}

/// From the pieces `before` to pieces_. The dense output knows the switch to its own accuracy: a step that ends there
/// may already lie beyond.
double CompliantScheme::carry_over_jump(double t, double way, const std::vector<ContactPieces>& before, Vector& y) {
  const std::vector<ContactPieces> beyond = pieces_;
  switch_rate_.resize(y.size());
  if (derives()) {
    rate_before_.resize(y.size());
    if (dynamics_.contacts().can_keep_pieces()) dynamics_.contacts().keep_pieces(before);
    const bool known = rate(t, y, rate_before_);
    dynamics_.contacts().let_go();
    if (!known) return t;
  }
  for (int round = 0; round < kMostPushes; ++round, way *= 2) {
    if (!rate(t, y, switch_rate_) || passed(before, beyond)) break;
    if (stiff_) {
      dynamics_.sum_rates(stretch_.inside(t), rates_);
      carried_sums_ += way * rates_;
    }
    y += way * switch_rate_;
    t += way;
  }
  rate_after_.resize(y.size());
  if (derives() && rate(t, y, rate_after_)) jump_columns(t, closings(t, y, before), y);
  return t;
}

/// Steps that fall to round-off before a switch: the integrator sees the jump or the kink just ahead and cannot cross
/// it. The state is carried over it by its rate.
bool CompliantScheme::push_over_switch(double t, StepRecord& record) {
  switch_y_ = integrator_->y();
  rate_before_.resize(switch_y_.size());
  rate_after_.resize(switch_y_.size());
  if (!rate(t, switch_y_, rate_before_)) return false;
  Vector sum_rates;
  if (stiff_) {
    dynamics_.sum_rates(stretch_.inside(t), sum_rates);
    carried_sums_.setZero(dynamics_.all_sums());
  }
  const std::vector<ContactPieces> before = pieces_;
  double way = stretch_.same_time(t);
  for (int round = 0; round < kLongestPush; ++round, way *= 2) {
    y1_ = switch_y_ + way * rate_before_;
    if (!dynamics_.place(stretch_.inside(t + way), y1_) || dynamics_.contacts().pieces() == before) continue;
    const bool jump = dynamics_.contacts().jumps_since(before, 0);
    note_switch(t + way, record);
    switch_y_ = y1_;
    if (jump && derives() && rate(t + way, switch_y_, rate_after_))
      jump_columns(t + way, closings(t + way, switch_y_, before), switch_y_);
    correct_switches(t + way, way, before, jump, switch_y_);
    step_end_ = t + way;
    sums_base_ = sums_;
    if (stiff_) sums_base_ += way * sum_rates + carried_sums_;
    in_step_ = cut_ = true;
    y_ = switch_y_;
    first_step_ = 0;
    return true;
  }
  return false;
}

void CompliantScheme::note_switch(double t, StepRecord& record) {
  if (stiff_) switch_times_.push_back(t);
  switches_.add(t, changes(pieces_, dynamics_.contacts().pieces()));
  pieces_ = dynamics_.contacts().pieces();
  note_modes(dynamics_.contacts(), t, record);
}

void CompliantScheme::add_notes(std::vector<std::string>& notes) const {
  if (dynamics_.contacts().complete_by_default())
    notes.push_back(
        fmt::format("contacts without a compliance table take stiffness m/epsilon, critical tangential damping and a "
                    "normal damping that "
                    "gives their restitution; friction laws likewise along their direction; epsilon = {:.3g} s^2 ({})",
                    epsilon_,
                    options_.epsilon > 0 ? "run.compliant.epsilon"
                                         : "chosen from the motion at the start, run.compliant.epsilon changes it"));
  if (std::find(column_lost_.begin(), column_lost_.end(), 1) != column_lost_.end())
    notes.push_back(
        "several forces jumped at one instant that the unknowns move apart: derivatives do not exist from there on");
}

std::vector<AuditPart*> CompliantScheme::audit_parts() {
  audit_.guarantees.ends_outside = false;
  // Of the smallest shape, where contacts have the compliance that is made for 2 % of it.
  constexpr double kMostDepth = 0.1;
  const CompliantContacts& contacts = dynamics_.contacts();
  if (!contacts.points_stay() && contacts.all_by_default())
    audit_.guarantees.depth = kMostDepth * system_.laws().contact_source().length();
  std::vector<AuditPart*> parts{&audit_, &switches_};
  if (dynamics_.constraints() > 0) parts.push_back(&constraint_audit_);
  return parts;
}

}  // namespace stickslip
