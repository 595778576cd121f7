// SPDX-License-Identifier: Apache-2.0
// What a step leaves behind: impulses, modes, events, residuals, and what the next one remembers of its points.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/moreau/moreau.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

namespace {

constexpr double kLastBit = 0x1p-53;                                       // of an impulse
constexpr double kOfMotion = 16 * std::numeric_limits<double>::epsilon();  // rounding of a solve, in the metric of A
constexpr double kRounding = 1e-12;   // of what the impulses of a step could make of a velocity
constexpr double kInsideCone = 1e-9;  // relative: what counts as inside the friction cone
constexpr double kAtRest = 1e-12;     // slip after an impact, relative to the approach
constexpr double kRest = 1e-13;       // slip, relative to the velocities that meet there: a few hundred roundings

/// How far p lies inside the cone, relative to its normal component; <= 0 on the surface.
double inclusion_margin(const Set& set, const double* p) {
  if (set.size == 2) return set.limit - std::abs(p[1]) / p[0];
  switch (set.kind) {
    case SetKind::box_cone:
      return set.limit - std::max(std::abs(p[1]), std::abs(p[2])) / p[0];
    case SetKind::polygonal_cone: {
      // The largest blow-up of the tangential part that stays inside.
      const std::array<double, 3> grown{p[0], p[1] * (1 + kInsideCone), p[2] * (1 + kInsideCone)};
      return contains(set, grown, 0.0) ? 2 * kInsideCone : 0.0;
    }
    default:
      return set.limit - std::hypot(p[1], p[2]) / p[0];
  }
}

/// A plain loop: the vectors of small systems are shorter than the preparation of a vectorised one. NaN stays NaN.
double largest_entry(const Vector& x) {
  double largest = 0;
  for (Index i = 0; i < x.size(); ++i) raise(largest, std::abs(x[i]));
  return largest;
}

}  // namespace

Mode MoreauScheme::point_mode(const Active& point) const {
  const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
  const double* p = solution_.r.data() + point.first;
  const double* u = solution_.u.data() + point.first;
  const double speed = law.tangents == 0 ? 0.0 : law.tangents == 1 ? std::abs(u[1]) : std::hypot(u[1], u[2]);
  if (!(p[0] > 0)) {
    // An impact whose law left nothing for the rest of the step to carry: its velocity decides.
    if (!has_impact_ || !(impact_impulse_[point.first] > 0)) return Mode::open;
    if (law.tangents == 0) return Mode::closed;
    if (speed <= kAtRest * std::abs(u0_[point.first])) return Mode::stick;
    return law.tangents == 2 ? Mode::slip : mode_of(u[1]);
  }
  if (law.tangents == 0) return Mode::closed;
  // Inside the cone it sticks; on its surface the velocity decides, as far as the step tells it from rest.
  const double inside = inclusion_margin(law.set(friction_coefficient(point)), p);
  if (inside > kInsideCone || speed <= kRest * velocity_at_hand(point)) return Mode::stick;
  if (law.tangents == 2) return Mode::slip;
  return u[1] > 0 ? Mode::slip_plus : Mode::slip_minus;
}

/// What is left of a slip that contacts, constraints or other laws stop is round-off of the velocities that meet there.
Mode MoreauScheme::friction_mode(Index law) const {
  const Mode mode = laws_.mode(law, solution_.u);
  if (mode == Mode::stick || lean_ || stops_exactly_) return mode;
  for (Index i = laws_.first(law); i < laws_.first(law) + laws_.size(law); ++i) {
    double at_hand = std::abs(problem_.w[i]);
    for (SparseMatrix::InnerIterator entry(problem_.Wt, i); entry; ++entry)
      at_hand += std::abs(entry.value()) * (std::abs(v_m_[entry.col()]) + std::abs(v_free_[entry.col()]));
    if (!(std::abs(solution_.u[i]) <= kRest * at_hand)) return mode;
  }
  return Mode::stick;
}

/// More than round-off of the impulses that meet there: of two contacts on either side of a guide one is loaded.
bool MoreauScheme::carries_load(const Active& active) const {
  constexpr double kTerms = 16 * std::numeric_limits<double>::epsilon();
  const double p = impulses()[active.first];
  if (!(p > 0)) return false;
  for (SparseMatrix::InnerIterator entry(found_.Wt, active.row); entry; ++entry)
    if (p * std::abs(entry.value()) > kTerms * load_[entry.col()]) return true;
  return false;
}

void MoreauScheme::record_friction(StepRecord& record) {
  const Vector& total = impulses();
  for (Index i = 0, friction = laws_.components(); i < friction; ++i)
    record.reaction_impulse[i] = total[i] + spring_impulse_[i];
}

void MoreauScheme::record_points(double h, StepRecord& record) {
  const Vector& total = impulses();
  for (Index i = laws_.components(); i < record.reaction_impulse.size(); ++i)
    record.reaction_impulse[i] = record.jump_impulse[i] = 0;
  record.point_forces.clear();
  for (std::size_t k = 0; k < law_mode_.size(); ++k) {
    law_impact_[k] = 0;
    law_mode_[k] = Mode::open;
  }
  for (Active& active : active_) {
    const auto law = static_cast<std::size_t>(active.law);
    const double* p = total.data() + active.first;
    active.mode = active.found == frozen_.point ? record.state.modes[static_cast<std::size_t>(laws_.laws()) + law]
                                                : point_mode(active);
    if (!carries_load(active)) continue;
    if (active.impact) law_impact_[law] = 1;
    // A law that acts at several points sticks as long as one of them does.
    if (law_mode_[law] != Mode::stick) law_mode_[law] = active.mode;
    const ContactSite& point = found_.points[static_cast<std::size_t>(active.found)];
    if (!point.has_frame) continue;
    PointForce force{static_cast<int>(laws_.laws()) + active.law, point.position, {}, point.first, point.second};
    for (int c = 0; c < contacts_[law].size(); ++c)
      for (std::size_t i = 0; i < 3; ++i) force.force[i] += point.frame[3 * static_cast<std::size_t>(c) + i] * p[c] / h;
    record.point_forces.push_back(force);
  }
  for (const Active& active : active_) {
    const auto law = static_cast<std::size_t>(active.law);
    for (int c = 0; c < contacts_[law].size(); ++c) {
      const Index i = active.first + c, to = contact_first_[law] + c;
      // A law of its own tells the blow from what the forces ask for; Newton's gives both in one.
      const double jump = !active.impact ? 0.0 : has_impact_ ? impact_impulse_[i] : total[i];
      record.jump_impulse[to] += jump;
      record.reaction_impulse[to] += total[i] - jump;
    }
  }
}

void MoreauScheme::record_contact_modes(double t, StepRecord& record) {
  std::vector<Mode>& modes = record.state.modes;
  for (std::size_t k = 0; k < law_mode_.size(); ++k) {
    const auto law = static_cast<std::size_t>(laws_.laws()) + k;
    const Mode before = modes[law];
    Mode after = law_mode_[k];
    if (law_impact_[k]) {
      record.jumped = true;
      // Where restitution throws it back, the contact is open again at the end of the step.
      if (contacts_[k].restitution > 0) after = rebounds(k) ? Mode::open : after;
      record.events.push_back(
          {t, static_cast<int>(law), EventKind::impact, before, after, record.jump_impulse[contact_first_[k]]});
    }
    const double at = std::isnan(contact_stop_time_[k]) ? t : contact_stop_time_[k];
    if (const auto kind = after == before ? std::nullopt : event_between(before, after))
      record.events.push_back({at, static_cast<int>(law), *kind, before, after, 0});
    modes[law] = after;
    const bool stopped =
        frozen_.point >= 0 && static_cast<std::size_t>(found_.points[static_cast<std::size_t>(frozen_.point)].law) == k;
    contact_stop_time_[k] = stopped ? t : std::numeric_limits<double>::quiet_NaN();
  }
}

bool MoreauScheme::rebounds(std::size_t law) const {
  for (const Active& active : active_)
    if (static_cast<std::size_t>(active.law) == law && impulses()[active.first] > 0 &&
        !(solution_.u[active.first] - active.bias > 0))
      return false;
  return true;
}

double MoreauScheme::row_terms(Index row) const {
  const SparseMatrix& Wt = problem_.Wt;
  double sum = std::abs(problem_.w[row]);
  for (int at = Wt.outerIndexPtr()[row]; at < Wt.outerIndexPtr()[row + 1]; ++at)
    sum += std::abs(Wt.valuePtr()[at] * solution_.v[Wt.innerIndexPtr()[at]]);
  return sum;
}

double MoreauScheme::row_rounding(Index row) const {
  constexpr double kTerms = 16 * std::numeric_limits<double>::epsilon();
  return kTerms * row_terms(row);
}

double MoreauScheme::momentum_at_hand() const {
  double twice_energy = 0;
  for (Index i = 0; i < v_free_.size(); ++i) {
    const double speed = std::abs(solution_.v[i]) + std::abs(v_free_[i] - v_m_[i]);
    twice_energy += speed * speed / inverse_diagonal_[i];
  }
  return std::sqrt(twice_energy);
}

/// W_iᵀ A⁻¹ W_i
double MoreauScheme::mobility(Index row) {
  scratch_.setZero();
  for (SparseMatrix::InnerIterator entry(problem_.Wt, row); entry; ++entry) scratch_[entry.col()] = entry.value();
  factor_.solve(scratch_);
  return std::max(0.0, row_times(problem_.Wt, row, scratch_));
}

/// Natural map of the laws at (v, p) as moreau.hpp defines it; leaves u1_ behind.
double MoreauScheme::law_residual(bool forgiving) {
  const SparseMatrix& Wt = problem_.Wt;
  u1_.resize(Wt.rows());
  for (Index row = 0; row < Wt.rows(); ++row) u1_[row] = row_times(Wt, row, solution_.v) - problem_.w[row];
  auto free_speed = [&](Index first, Index end) {
    double speed = 0;
    for (Index row = first; row < end; ++row) raise(speed, std::abs(row_times(Wt, row, v_free_) - problem_.w[row]));
    return speed;
  };
  // A mechanism that falls freely leaves its stops alone: what moves them is the rounding of its motion as a whole.
  // So it is with friction between bodies that constraints join, in the short parts of a step around a stop.
  const double momentum = active_.empty() && !constrained_.any() ? 0.0 : momentum_at_hand();
  const double contact_speed = free_speed(laws_.components(), Wt.rows());
  double largest = 0;
  Index first = 0;
  for (std::size_t k = 0; k < problem_.sets.size(); ++k) {
    const Set& set = problem_.sets[k];
    const auto size = static_cast<std::size_t>(set.size);
    const double rho = weights_[static_cast<Index>(k)];
    const double e = inclusion_residual(set, {solution_.r.data() + first, size}, {u1_.data() + first, size}, rho) / rho;
    double rounding = 0;
    const bool contact = k >= static_cast<std::size_t>(laws_.laws());
    for (int c = 0; forgiving && c < set.size; ++c) raise(rounding, row_rounding(first + c));
    if (forgiving) raise(rounding, kOfMotion * momentum / std::sqrt(rho));
    for (int c = 0; forgiving && constrained_.any() && c < set.size; ++c)
      raise(rounding, kOfMotion * constrained_.velocity_terms(first + c));
    const double speed = contact ? contact_speed : std::max(free_speed(first, first + set.size), set.limit / rho);
    // A link of a chain gives way where all those below it need not: more than the diagonal says. Free bodies do not.
    if (forgiving && momentum > 0 && !drift_kick_ && !constrained_.any() &&
        e - rounding > options_.solver.tolerance * speed)
      for (int c = 0; c < set.size; ++c) raise(rounding, kOfMotion * momentum * std::sqrt(mobility(first + c)));
    double excess = std::isnan(e) ? e : std::max(0.0, e - rounding);
    // Velocities are known no better than the impulses that make them: 1e14 kg leave two digits to 1 kg below them.
    if (forgiving && contact)
      raise(excess, kLastBit * solution_.r.segment(first, set.size).cwiseAbs().maxCoeff() / rho);
    raise(largest, speed > 0 ? excess / speed : excess);
    first += set.size;
  }
  return largest;
}

/// To max_i |(M v0)_i| A_ii^(-1/2): what g is the difference of where strong dampers all but stop the motion in a step.
void MoreauScheme::raise_to_momentum_before(double& scale) {
  if (!linear_) return;
  const Vector& inverse = inverse_diagonal();
  double largest2 = 0;
  for (Index i = 0; i < Mv_.size(); ++i) raise(largest2, Mv_[i] * Mv_[i] * inverse[i]);
  if (largest2 > scale * scale) scale = std::sqrt(largest2);
}

void MoreauScheme::record_friction_balance(StepRecord& record) {
  raise_to_momentum_before(residuals_.momentum);
  record_residuals(problem_, laws_, solution_.v, solution_.r, residuals_, record, momentum_audit_, stick_audit_);
}

/// The step's equation and its laws, seen from v and p alone; load_ holds the terms of the equation.
void MoreauScheme::record_balance(StepRecord& record) {
  raise_to_momentum_before(momentum_scale_);
  const Index m = solution_.r.size();
  const SparseMatrix& Wt = problem_.Wt;
  for (Index i = 0; i < balance_.size(); ++i) balance_[i] = problem_.g[i];
  for (Index k = 0; k < m; ++k)
    for (int at = Wt.outerIndexPtr()[k]; at < Wt.outerIndexPtr()[k + 1]; ++at)
      balance_[Wt.innerIndexPtr()[at]] += Wt.valuePtr()[at] * solution_.r[k];
  if (constrained_.any()) balance_.noalias() += constrained_.rows().transpose() * constrained_.impulse();
  step_matrix_.value().add_product(-1.0, solution_.v, balance_);
  const BalanceSize size = balance_size(balance_, load_, inverse_diagonal_);
  raise(momentum_scale_, size.terms);
  raise(momentum_audit_.step, momentum_scale_ > 0 ? size.residual / momentum_scale_ : size.residual);
  record.energy_terms = size.energy;
  contact_audit_.step.approach = approach_speed_;
  if (m == 0) return;
  double& terms = stick_audit_.step.terms = 0;
  for (Index i = 0; i < laws_.components(); ++i) {
    double velocity = std::abs(problem_.w[i]);
    for (int at = Wt.outerIndexPtr()[i]; at < Wt.outerIndexPtr()[i + 1]; ++at) {
      const Index j = Wt.innerIndexPtr()[at];
      velocity += std::abs(Wt.valuePtr()[at]) * load_[j] * inverse_diagonal_[j];
    }
    terms = std::max(terms, velocity * record.duration);
  }
  const double residual = law_residual();
  raise(record.inclusion, blows_ > 0 ? inclusion_before_blows_ : residual);
  const double outside = membership_residual(problem_.sets, solution_.r), largest = largest_entry(solution_.r);
  raise(record.membership, largest > 0 ? outside / largest : outside);
}

/// Largest sum of velocities of which a component of the contact is made, before the step and without reactions.
double MoreauScheme::velocity_at_hand(const Active& active) const {
  double largest = 0;
  for (int c = 0; c < contacts_[static_cast<std::size_t>(active.law)].size(); ++c) {
    double sum = std::abs(problem_.w[active.first + c]);
    for (int at = found_.Wt.outerIndexPtr()[active.row + c]; at < found_.Wt.outerIndexPtr()[active.row + c + 1]; ++at) {
      const Index i = found_.Wt.innerIndexPtr()[at];
      sum += std::abs(found_.Wt.valuePtr()[at]) *
             (std::abs(v_m_[i]) + std::abs(v_free_[i]) + kRounding * load_[i] * inverse_diagonal_[i]);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

/// Velocities against the law that the solver left, contact by contact.
void MoreauScheme::record_contact_velocity() {
  double fastest = 0;
  at_hand_.clear();
  for (const Active& active : active_) {
    at_hand_.push_back(velocity_at_hand(active));
    fastest = std::max(fastest, at_hand_.back());
  }
  constexpr double kShare = 1e-3;  // a contact without any motion of its own still feels its neighbours
  for (std::size_t k = 0; k < active_.size(); ++k) {
    const Active& active = active_[k];
    const double p = solution_.r[active.first], u = u1_[active.first];
    const double against = u < 0 ? -u : std::min(u, p / weights_[laws_.laws() + static_cast<Index>(k)]);
    if (against > 0) raise(contact_audit_.step.velocity, against / std::max(at_hand_[k], kShare * fastest));
  }
}

std::vector<AuditPart*> MoreauScheme::audit_parts() {
  constexpr double kContactVelocity = 0.05;  // far above what the solver's tolerance leaves, far below giving way
  std::vector<AuditPart*> parts{&momentum_audit_, &stick_audit_};
  if (constrained_.any()) parts.push_back(&constraint_audit_);
  if (constrained_.any() && laws_.limits_depend_on_reactions()) parts.push_back(&reaction_audit_);
  if (contacts_.empty()) return parts;
  contact_audit_.guarantees.velocity = kContactVelocity;
  contact_audit_.guarantees.length = length_;
  // A blow leaves a point the way of a step inside, those that wait for theirs another.
  constexpr double kPenetrationSteps = 2;
  if (options_.contact_rule == ContactRule::stabilised && options_.start_penetration == 0)
    contact_audit_.guarantees.steps = kPenetrationSteps;
  contact_audit_.guarantees.no_gain = impacts_never_gain(contacts_);
  // Of the energy at hand: a step that ends between two blows of Newton's law leaves points to the next one.
  constexpr double kBetweenBlows = 1e-2;
  const auto rebounds = [](const ContactElement& c) { return c.impact == ImpactLaw::newton && c.restitution > 0; };
  if (std::any_of(contacts_.begin(), contacts_.end(), rebounds)) contact_audit_.guarantees.gain = kBetweenBlows;
  parts.push_back(&contact_audit_);
  return parts;
}

void MoreauScheme::remember_points() {
  last_sorted_.clear();
  last_keys_.resize(active_.size());
  last_first_.resize(active_.size());
  last_stuck_.resize(active_.size());
  last_normal_.resize(active_.size());
  last_position_.resize(3 * active_.size());
  for (std::size_t k = 0; k < active_.size(); ++k) {
    last_keys_[k] = found_.points[static_cast<std::size_t>(active_[k].found)].key;
    last_first_[k] = static_cast<int>(active_[k].first);
    last_stuck_[k] = active_[k].mode == Mode::stick;
    last_normal_[k] = u1_[active_[k].first] - active_[k].bias;
    const ContactSite& point = found_.points[static_cast<std::size_t>(active_[k].found)];
    if (!point.has_frame) continue;
    std::copy(point.position.begin(), point.position.end(), last_position_.begin() + 3 * static_cast<long>(k));
  }
  last_impulse_.resize(solution_.r.size());
  for (Index i = 0; i < last_impulse_.size(); ++i) last_impulse_[i] = solution_.r[i];
  stepped_ = true;
}

}  // namespace stickslip
