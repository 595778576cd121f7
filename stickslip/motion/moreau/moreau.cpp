// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/moreau.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/moreau/articulated_step.hpp"

namespace stickslip {

namespace {

constexpr double kTouching = 1e-9;              // of the smallest shape: closer counts as touching
constexpr double kPenetrationTolerance = 1e-6;  // of the smallest shape: deeper is corrected
constexpr double kTouchingOfWay = 1e-9;         // the same, of the way of a step, where there are no shapes
constexpr double kPenetrationOfWay = 1e-3;
constexpr double kGapRoundOff = 64 * std::numeric_limits<double>::epsilon();  // of the terms of a gap
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSameTime = 1e-14;  // of the time: the rest of a step that is none
constexpr int kIterations = 3000;    // of one inclusion, by default: a shorter step costs less than more
constexpr double kOtherParts[] = {0.62, 0.31, 0.13};  // of a step whose middle is beside a singular position
constexpr double kSmallestPart = 1.0 / 16;            // of a step that its inclusion makes shorter

}  // namespace

MoreauScheme::MoreauScheme(const System& system, const MoreauOptions& options, std::vector<double> breakpoints,
                           TimeSpan run)
    : system_(system),
      contacts_(system.laws().contacts()),
      linear_(system.linear()),
      options_(options),
      laws_(system),
      forces_(system, std::move(breakpoints), run),
      workspace_(system),
      constrained_(system),
      constraint_workspace_(system),
      constraint_audit_(system),
      run_(run) {
  options_.validate();
  if (!contacts_.empty()) {
    options_.solver.tolerance = options_.contact_tolerance;
    options_.solver.measure = StoppingMeasure::unit_free;
    if (options_.solver.max_iterations == 0) options_.solver.max_iterations = kIterations;
    options_.solver.threads = system.laws().contact_source().threads(workspace_);
  }
  const Index n = system.info().nv(), m = laws_.components();
  articulated_ = make_articulated();
  lean_ = contacts_.empty() && !constrained_.any();
  newton_alone_ = std::all_of(contacts_.begin(), contacts_.end(),
                              [](const ContactElement& contact) { return contact.impact == ImpactLaw::newton; });
  free_motion_ = system.free_motion();
  drift_kick_ = free_motion_ != nullptr;
  locates_impacts_ = options_.locate_reversals && !drift_kick_ && options_.contact_rule == ContactRule::stabilised;
  nonlinear_ = !drift_kick_ && (!linear_ || system.forces().applied_depends_on_state());
  rebounds_ = std::any_of(contacts_.begin(), contacts_.end(), [](const ContactElement& contact) {
    return contact.restitution > 0 || contact.impact == ImpactLaw::energetic;
  });
  for (const ContactElement& contact : contacts_)
    relaxed_ |= options.relaxation == ContactRelaxation::convex && contact.tangents > 0;
  iterates_ = nonlinear_ || laws_.has_weakening() || laws_.limits_depend_on_state() || !constrained_.constant_rows() ||
              relaxed_ || springs_.any();
  stiff_ = drift_kick_ && system.forces().depends_on_state();
  surfaces_move_ = system.laws().contact_source().surfaces_move();
  length_ = system.laws().contact_source().length();
  if (linear_) {
    const bool viscous = laws_.has_viscous() && !nonlinear_;  // Newton's form has it among the forces
    damping_ =
        viscous ? SystemMatrix::compact(SparseMatrix(linear_->B.to_sparse() + laws_.viscous_matrix())) : linear_->B;
    damped_ = !damping_.is_zero();
    damped_by_model_ = !linear_->B.is_zero();
    elastic_ = !linear_->K.is_zero();
    circulatory_ = linear_->K.asymmetry() > 0;
    force_is_constant_ = !nonlinear_ && !system.forces().applied_depends_on_time();
  }
  if (laws_.has_viscous() && !linear_implicit()) viscous_ = SystemMatrix::compact(laws_.viscous_matrix());
  if (springs_.any()) spring_stiffness_ = SystemMatrix::compact(springs_.stiffness_matrix());
  none_pinned_.assign(n, 0);
  q0_ = q_m_ = Vector::Zero(system.info().nq());
  for (Vector* x : {&v0_, &v_m_, &Mv_, &f_, &v_free_, &v_theta_, &scratch_, &balance_, &load_, &inverse_diagonal_,
                    &mean_force_, &mean_velocity_})
    *x = Vector::Zero(n);
  problem_.g = Vector::Zero(n);
  w0_friction_ = w1_friction_ = smooth_ = u_theta_ = spring_impulse_ = Vector::Zero(m);
  Index component = m;
  for (const ContactElement& contact : system.laws().contacts()) {
    contact_first_.push_back(component);
    component += contact.size();
  }
  const auto constraints = static_cast<Index>(system.laws().constraints().size());
  const Index first_reaction = 2 + system.info().nq() + n + system.laws().reaction_count() - constraints;  // slot
  followed_ = Vector::Zero(constraints);
  for (Index i = 0; i < constraints; ++i)
    for (Index k = 0; k < laws_.laws(); ++k) {
      const FrictionElement& law = laws_.element(k);
      if (law.limit.depends_on(first_reaction + i) ||
          (law.static_limit && law.static_limit->depends_on(first_reaction + i)))
        followed_[i] = 1;
    }
  friction_rest_.assign(laws_.laws(), 0);
  friction_released_.assign(laws_.laws(), 0);
  reversing_.reserve(static_cast<std::size_t>(laws_.laws()) + contacts_.size());
  giving_way_.reserve(static_cast<std::size_t>(laws_.laws()));
  breaking_.assign(laws_.laws(), 0);
  held_mean_.assign(laws_.laws(), kNaN);
  held_limit_.assign(laws_.laws(), kNaN);
  stop_time_.assign(laws_.laws(), kNaN);
  contact_stop_time_.assign(contacts_.size(), kNaN);
  law_impact_.assign(system.laws().contacts().size(), 0);
  law_mode_.assign(system.laws().contacts().size(), Mode::open);
}

void MoreauScheme::start(StepRecord& record) {
  State& s = record.state;
  const std::vector<Mode> given = s.modes;
  if (constrained_.any()) {
    const ConsistentStart consistent = make_consistent(system_, s.t, s.q, s.v, {.span = run_.length()});
    s.q = consistent.q;
    s.v = consistent.v;
  }
  s.modes.resize(std::min<std::size_t>(given.size(), laws_.laws()));
  start_record(system_, laws_, workspace_, record);
  if (springs_.any()) {
    springs_.set(s.z);
    s.z = springs_.deformation();
    record.energy.potential += springs_.energy();
    record.energy.initial += springs_.energy();
    for (Index k = 0; given.empty() && k < laws_.laws(); ++k)
      if (springs_.takes(k)) s.modes[k] = Mode::stick;
  }
  s.modes.resize(laws_.laws() + contacts_.size(), Mode::open);
  if (given.size() == s.modes.size())
    std::copy(given.begin() + laws_.laws(), given.end(), s.modes.begin() + laws_.laws());
  Index m = laws_.components();
  for (const ContactElement& contact : contacts_) m += contact.size();
  for (Vector* x : {&record.reaction_impulse, &record.smooth_impulse, &record.jump_impulse}) *x = Vector::Zero(m);
  record.law_work = Vector::Zero(static_cast<Index>(s.modes.size()));
  record.constraint_impulse = Vector::Zero(static_cast<Index>(system_.laws().constraints().size()));

  // The mass must be known before the first step, and where it is not constant, so must its structure.
  mass_ = system_.inertia().mass(s.q, workspace_);
  std::vector<const SystemMatrix*> terms{&mass_};
  if (linear_) terms.insert(terms.end(), {&damping_, &linear_->K});
  if (nonlinear_) {
    if (linear_) {
      system_.forces().applied_slopes(s.t, s.q, s.v, workspace_, by_q_, by_v_);
    } else {
      system_.force_slopes(s.t, s.q, s.v, workspace_, by_q_, by_v_);
    }
    system_.forces().slopes(s.t, s.q, s.v, workspace_, slopes_by_q_, slopes_by_v_);  // their storage
    prepare_damping();
    terms.insert(terms.end(), {&by_q_, &by_v_, &late_damping_});
  }
  if (stiff_) {
    system_.forces().slopes(s.t, s.q, s.v, workspace_, by_q_, by_v_);
    terms.insert(terms.end(), {&by_q_, &by_v_});
  }
  if (laws_.has_viscous() && !linear_implicit()) terms.push_back(&viscous_);
  if (springs_.any()) terms.push_back(&spring_stiffness_);
  step_matrix_ = MatrixSum(terms);
  problem_.A = &step_matrix_.value();
  matrix_h_ = -1;

  residuals_.momentum = 0;
  const bool stabilised = options_.contact_rule == ContactRule::stabilised;
  system_.laws().contact_source().find(s.t, s.q,
                                       length_ == 0 ? HUGE_VAL
                                       : stabilised ? kTouching * length_
                                                    : 0.0,
                                       workspace_, found_);
  Index row = 0;
  for (const ContactSite& point : found_.points) {
    const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
    const double length = point.has_frame ? length_ : 0.0;  // a stop knows no shapes: its gap may be an angle
    const double gap_size = length > 0 ? 0.0 : gap_terms(found_, row, s.q);
    const double allowed = options_.start_penetration > 0
                               ? options_.start_penetration
                               : (length > 0 ? kBodyStartPenetration * length : kGapStartPenetration * gap_size);
    if (given.empty() && point.gap < -allowed)  // a run that goes on corrects it as any step does
      throw InputError(
          fmt::format("contact '{}' penetrates by {:.3g} m at the start; move the bodies apart, or raise "
                      "run.moreau.start_penetration above that to have it corrected",
                      law.name, -point.gap));
    Mode& mode = s.modes[static_cast<std::size_t>(laws_.laws()) + static_cast<std::size_t>(point.law)];
    const double touching = !stabilised ? 0.0 : length > 0 ? kTouching * length : kGapRoundOff * gap_size;
    if (given.empty() && point.gap <= touching && mode == Mode::open) mode = touching_mode(law, row, s.v);
    row += law.size();
  }
  for (Index k = 0; k < laws_.laws(); ++k) friction_rest_[k] = s.modes[k] == Mode::stick;
  start_modes_.assign(s.modes.begin() + laws_.laws(), s.modes.end());
  stepped_ = momentum_is_known_ = reactions_known_ = ends_outside_ = false;
  momentum_scale_ = 0;
  if (drift_kick_ && length_ > 0 && !contacts_.empty()) {
    PinnedFactor factor;
    if (factor.factorize(mass_, none_pinned_)) apart_.set_mass(factor, system_.info().nv());
  }
}

/// Σ_i |W_i q_i| of a normal row: what round-off in the gap is measured against. (Bodies have their shapes for that.)
double MoreauScheme::touching(const ContactSite& point, Index row, const Approach& approach, double h) const {
  if (point.has_frame && length_ > 0) return kTouching * length_;
  return kGapRoundOff * gap_terms(found_, row, q_m_) + kTouchingOfWay * approach.way(std::max(h, grid_step_));
}

double MoreauScheme::penetration_tolerance(const ContactSite& point, Index row, const Approach& approach,
                                           double h) const {
  if (point.has_frame && length_ > 0) return kPenetrationTolerance * length_;
  return kGapRoundOff * gap_terms(found_, row, q_m_) + kPenetrationOfWay * approach.way(std::max(h, grid_step_));
}

/// Bodies that are farther apart do not touch within that time at either velocity. [m]
double MoreauScheme::reach_within(double time, const Vector& v, const Vector& other) const {
  const ContactSource& source = system_.laws().contact_source();
  return kTouching * length_ + time * std::max(source.speed_bound(v), source.speed_bound(other));
}

/// Contacts in the middle of the step; the law holds at its end and so needs the velocity that surfaces have there.
void MoreauScheme::find_points(double h) {
  const ContactSource& source = system_.laws().contact_source();
  double reach = 0;
  if (options_.contact_rule == ContactRule::stabilised) reach = reach_within(2 * h, v_m_, v_free_);
  source.find(t0_ + 0.5 * h, q_m_, reach, workspace_, found_);
  if (surfaces_move_) {
    source.surface(t0_, q_m_, workspace_, found_, w_start_);
    source.surface(forces_.left_limit(t0_ + h, h), q_m_, workspace_, found_, w_end_);
  }
  recall_velocities(h);
}

bool MoreauScheme::exchange(Memory& memory) {
  memory.exchange(matrix_h_);
  memory.exchange(grid_step_);
  memory.exchange(momentum_scale_);
  memory.exchange(residuals_.momentum);
  for (Vector* x : {&Mv_, &f_, &last_impulse_, &last_increment_, &solution_.r, &solution_.u, &solution_.v})
    memory.exchange(*x);
  memory.exchange(last_keys_);
  memory.exchange(last_first_);
  memory.exchange(last_stuck_);
  memory.exchange(last_normal_);
  memory.exchange(last_position_);
  memory.exchange(friction_rest_);
  memory.exchange(breaking_);
  memory.exchange(held_mean_);
  memory.exchange(held_limit_);
  memory.exchange(stop_time_);
  memory.exchange(contact_stop_time_);
  memory.exchange(splits_);
  memory.exchange(arrived_);
  memory.exchange(fastest_);
  for (bool* known : {&stepped_, &momentum_is_known_, &force_is_known_, &ends_outside_}) memory.exchange(*known);
  if (articulated_) articulated_->exchange(memory);
  if (!memory.reading()) return true;
  last_sorted_.clear();
  if (const double h = matrix_h_; h > 0 && !nonlinear_) {  // the same factors as before
    matrix_h_ = -1;
    set_step_matrix(h);
  }
  return true;
}

/// Of a point that touches at the start, from its velocity.
Mode MoreauScheme::touching_mode(const ContactElement& law, Index row, const Vector& v) const {
  auto velocity = [&](int c) { return row_times(found_.Wt, row + c, v) - found_.w[row + c]; };
  if (velocity(0) != 0) return Mode::open;
  if (law.tangents == 0) return Mode::closed;
  return law.tangents == 1 ? mode_of(velocity(1)) : mode_of(velocity(1), velocity(2));
}

StepOutcome MoreauScheme::step(double t_end, StepRecord& record) {
  clear_step(record);
  momentum_audit_.step = stick_audit_.step.motion = 0;
  problems_ = iterations_ = near_misses_ = 0;
  const double t0 = record.state.t;
  double h = t_end - t0;
  // Grid times carry rounding: a step as long as the last one, and what parts of it have left, are not read off them.
  const auto same = [&](double length) {
    return std::abs(h - length) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(t_end);
  };
  if (grid_end_ != t_end || t0 < grid_end_ - grid_step_) {
    if (same(grid_step_)) h = grid_step_;
    grid_step_ = h;
  } else if (splits_ > 0 && same(left_)) {
    h = left_;
  }
  grid_end_ = t_end;
  if (articulated_ && step_articulated(h, t_end, record)) return {};
  if (same(matrix_h_)) h = matrix_h_;  // and keeps its factors
  const double whole = h;
  away_from_singular_ = false;
  Status status = attempt_unsplit(h, record);
  if (status == Status::not_converged && !constrained_.constant_rows()) {
    away_from_singular_ = true;
    status = attempt_unsplit(h, record);
    // The middle lies beside a singular position (links in a line): those of other parts lie elsewhere.
    for (const double part : kOtherParts)
      if (status == Status::not_converged && !options_.strict && whole > kSmallestPart * grid_step_)
        status = attempt_unsplit(h = part * whole, record);
  }
  if (status == Status::success && !contacts_.empty()) status = shorten_to_arrival(h, record);
  if (status == Status::success && locates() && collect_candidates(h)) {
    Frozen frozen;
    const double unsplit = h;
    std::tie(h, frozen) = earliest_event(h, record, status);
    if (status == Status::success) status = attempt(h, frozen, record);
    if (status == Status::success && !frozen_law_stops()) status = attempt(h = unsplit, {}, record);
    // Where no part of the step can be solved with a frozen law, the step as a whole was.
    if (status == Status::not_converged || status == Status::no_solution) status = attempt(h = unsplit, {}, record);
  }
  record.problems = problems_;
  contact_audit_.step.iterations = iterations_;
  contact_audit_.step.near_misses = near_misses_;
  if (status != Status::success) return {status, message_};
  const bool complete = h == whole || t_end - (t0 + h) <= kSameTime * std::abs(t_end);
  status = commit(h, complete ? t_end : t0 + h, record);
  splits_ = complete ? 0 : splits_ + 1;
  left_ = whole - h;
  note_arrivals();
  return {status, status == Status::success ? std::string() : message_};
}

/// The whole step, or a part of it where the whole cannot be solved.
Status MoreauScheme::attempt_unsplit(double& h, StepRecord& record) {
  while (true) {
    const Status status = attempt(h, {}, record);
    if (status != Status::not_converged || options_.strict || contacts_.empty() || h < 1.5 * kSmallestPart * grid_step_)
      return status;
    h *= 0.5;
  }
}

Status MoreauScheme::attempt(double h, Frozen frozen, StepRecord& record) {
  contact_audit_.step = {};
  correction_work_ = 0;
  has_impact_ = false;
  frozen_ = frozen;
  part_ = h;
  begin(h, record.state);
  if (laws_.surface_moves()) {
    laws_.evaluate_surface(t0_, q0_, v0_, workspace_, w0_friction_);
    laws_.evaluate_surface(forces_.left_limit(t0_ + h, h), q0_, v0_, workspace_, w1_friction_);
  }
  if (h != matrix_h_ || nonlinear_ || stiff_) set_step_matrix(h);
  if (!matrix_is_finite_)
    return fail(
        Status::not_finite,
        fmt::format("moreau: the step matrix at t = {:.9g} s is not finite: the slope of a force by position or "
                    "velocity is infinite, or no number, there (a root, or a power below 1, at 0); smooth that "
                    "force, or keep the motion away from there",
                    t0_));
  if (lean_) return solve_step(h);
  right_hand_side(h, v0_);
  if (constrained_.any())
    if (const Status status = begin_constraints(h); status != Status::success) return status;
  free_velocity();
  find_points(h);
  note_approaches();
  note_penetration(h);
  if (options_.contact_rule == ContactRule::stabilised && contact_audit_.step.penetration > 0 && !ends_outside_ &&
      some_point_stays_inside(h)) {
    if (const Status status = remove_penetration(h); status != Status::success) return status;
    find_points(h);  // where impulses act has moved
    set_step_matrix(h);
    right_hand_side(h, v0_);
    if (const Status status = begin_constraints(h); status != Status::success) return status;
    free_velocity();
    note_approaches();
  }
  if (rebounds_) kick_ = v_free_ - v_m_;
  const Status status = solve_step(h);
  return status == Status::success ? take_further_blows(h) : status;
}

Status MoreauScheme::commit(double h, double t_end, StepRecord& record) {
  if (frozen_.any() && !frozen_.held) stop_frozen_law();
  const double theta = options_.theta;
  State& s = record.state;
  const Vector& v1 = solution_.v;
  if (drift_kick_) {
    v_theta_ = theta * v1 + (1 - theta) * v_m_;
    s.v = v1;
    s.q = q_m_;
    free_motion_->drift(0.5 * h, s.q, s.v);
    come_apart(h, t_end, s);
  } else if (!system_.kinematics().flat()) {
    v_theta_ = theta * v1 + (1 - theta) * v_m_;
    s.v = v1;
    move(h, v_theta_, s.q);
  } else {
    for (Index i = 0; i < v1.size(); ++i) {
      v_theta_[i] = theta * v1[i] + (1 - theta) * v0_[i];
      s.v[i] = v1[i];
      s.q[i] = q0_[i] + h * v_theta_[i];
    }
  }
  if (nonlinear_) last_increment_ = v1 - v0_;
  s.t = t_end;
  record.duration = h;
  record.jumped = false;
  const double stored = springs_.any() ? springs_.energy() : 0.0;
  if (springs_.any()) {
    u_theta_ = theta * solution_.u.head(laws_.components()) + (1 - theta) * u0_.head(laws_.components());
    springs_.advance(h, u_theta_);
    s.z = springs_.deformation();
    record.energy.friction_loss -= springs_.energy() - stored;
  }
  const bool friction = laws_.laws() > 0;
  if (has_impact_) impulse_ = solution_.r + impact_impulse_;
  if (friction) record_friction(record);
  if (lean_) {
    note_friction_modes(t_end, record);
    record_friction_balance(record);
    record_energy(h, record);
    return Status::success;
  }
  add_up_all_loads();
  record_points(h, record);
  if (friction) note_friction_modes(t_end, record);
  record_contact_modes(t_end, record);
  record_balance(record);
  const Status settled = constrained_.any() ? settle_on_constraints(record) : Status::success;
  record_energy(h, record);
  remember_points();
  return settled;
}

}  // namespace stickslip
