// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/moreau_contact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

constexpr double kTouching = 1e-9;              // of the smallest shape: closer counts as touching
constexpr double kPenetrationTolerance = 1e-6;  // of the smallest shape: deeper is corrected
constexpr double kTouchingOfWay = 1e-9;         // the same, of the way of a step, where there are no shapes
constexpr double kPenetrationOfWay = 1e-3;
constexpr double kGapRoundOff = 64 * std::numeric_limits<double>::epsilon();  // of the terms of a gap
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSameTime = 1e-14;  // of the time: the rest of a step that is none
constexpr int kIterations = 3000;           // of one inclusion, by default: a shorter step costs less than more
constexpr double kSmallestPart = 1.0 / 16;  // of a step that its inclusion makes shorter

}  // namespace

MoreauContactScheme::MoreauContactScheme(const System& system, const MoreauOptions& options,
                                         std::vector<double> breakpoints, TimeSpan run)
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
  }
  const Index n = system.info().nv(), m = laws_.components();
  newton_alone_ = std::all_of(contacts_.begin(), contacts_.end(),
                              [](const ContactElement& contact) { return contact.impact == ImpactLaw::newton; });
  free_motion_ = system.free_motion();
  drift_kick_ = free_motion_ != nullptr;
  nonlinear_ = !drift_kick_ && (!linear_ || system.forces().applied_depends_on_state());
  iterates_ = nonlinear_ || laws_.has_weakening() || laws_.has_viscous() || laws_.limits_depend_on_state() ||
              !constrained_.constant_rows();
  stiff_ = drift_kick_ && system.forces().depends_on_state();
  surfaces_move_ = system.laws().contact_source().surfaces_move();
  length_ = system.laws().contact_source().length();
  if (linear_) {
    damping_ = linear_->B;
    damped_ = !damping_.is_zero();
    elastic_ = !linear_->K.is_zero();
    force_is_constant_ = !nonlinear_ && !system.forces().applied_depends_on_time();
  }
  if (laws_.has_viscous()) viscous_ = SystemMatrix::compact(laws_.viscous_matrix());
  none_pinned_.assign(n, 0);
  q0_ = q_m_ = Vector::Zero(system.info().nq());
  for (Vector* x : {&v0_, &v_m_, &Mv_, &f_, &v_free_, &v_theta_, &scratch_, &balance_, &load_, &inverse_diagonal_})
    *x = Vector::Zero(n);
  problem_.g = Vector::Zero(n);
  w0_friction_ = w1_friction_ = smooth_ = u_theta_ = Vector::Zero(m);
  Index component = m;
  for (const ContactElement& contact : system.laws().contacts()) {
    contact_first_.push_back(component);
    component += contact.size();
  }
  friction_rest_.assign(laws_.laws(), 0);
  friction_released_.assign(laws_.laws(), 0);
  breaking_.assign(laws_.laws(), 0);
  held_mean_.assign(laws_.laws(), kNaN);
  stop_time_.assign(laws_.laws(), kNaN);
  contact_stop_time_.assign(contacts_.size(), kNaN);
  law_impact_.assign(system.laws().contacts().size(), 0);
  law_mode_.assign(system.laws().contacts().size(), Mode::open);
}

void MoreauContactScheme::start(StepRecord& record) {
  State& s = record.state;
  const std::vector<Mode> given = s.modes;
  if (constrained_.any()) {
    const ConsistentStart consistent = make_consistent(system_, s.t, s.q, s.v, {.span = run_.length()});
    s.q = consistent.q;
    s.v = consistent.v;
  }
  s.modes.resize(std::min<std::size_t>(given.size(), laws_.laws()));
  start_record(system_, laws_, workspace_, record);
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
    terms.insert(terms.end(), {&by_q_, &by_v_});
  }
  if (stiff_) {
    system_.forces().slopes(s.t, s.q, s.v, workspace_, by_q_, by_v_);
    terms.insert(terms.end(), {&by_q_, &by_v_});
  }
  if (laws_.has_viscous()) terms.push_back(&viscous_);
  step_matrix_ = MatrixSum(terms);
  problem_.A = &step_matrix_.value();
  matrix_h_ = -1;

  const bool stabilised = options_.contact_rule == ContactRule::stabilised;
  system_.laws().contact_source().find(s.t, s.q, length_ == 0 ? HUGE_VAL : stabilised ? kTouching * length_ : 0.0, workspace_, found_);
  Index row = 0;
  for (const ContactSite& point : found_.points) {
    const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
    const double gap_size = length_ > 0 ? 0.0 : gap_terms(found_, row, s.q);
    const double allowed = options_.start_penetration > 0
                               ? options_.start_penetration
                               : (length_ > 0 ? kBodyStartPenetration * length_ : kGapStartPenetration * gap_size);
    if (given.empty() && point.gap < -allowed)  // a run that goes on corrects it as any step does
      throw InputError(
          fmt::format("contact '{}' penetrates by {:.3g} m at the start; move the bodies apart, or raise "
                      "run.moreau.start_penetration above that to have it corrected",
                      law.name, -point.gap));
    Mode& mode = s.modes[static_cast<std::size_t>(laws_.laws()) + static_cast<std::size_t>(point.law)];
    const double touching = !stabilised ? 0.0 : length_ > 0 ? kTouching * length_ : kGapRoundOff * gap_size;
    if (given.empty() && point.gap <= touching && mode == Mode::open) mode = touching_mode(law, row, s.v);
    row += law.size();
  }
  for (Index k = 0; k < laws_.laws(); ++k) friction_rest_[k] = s.modes[k] == Mode::stick;
  start_modes_.assign(s.modes.begin() + laws_.laws(), s.modes.end());
  stepped_ = momentum_is_known_ = false;
  momentum_scale_ = 0;
}

/// Σ_i |W_i q_i| of a normal row: what round-off in the gap is measured against. (Bodies have their shapes for that.)
double MoreauContactScheme::touching(Index row, const Approach& approach, double h) const {
  if (length_ > 0) return kTouching * length_;
  return kGapRoundOff * gap_terms(found_, row, q_m_) + kTouchingOfWay * approach.way(h);
}

double MoreauContactScheme::penetration_tolerance(Index row, const Approach& approach, double h) const {
  if (length_ > 0) return kPenetrationTolerance * length_;
  return kGapRoundOff * gap_terms(found_, row, q_m_) + kPenetrationOfWay * approach.way(h);
}

/// Contacts in the middle of the step; the law holds at its end and so needs the velocity that surfaces have there.
void MoreauContactScheme::find_points(double h) {
  const bool stabilised = options_.contact_rule == ContactRule::stabilised;
  const double speed = std::max(system_.laws().contact_source().speed_bound(v_m_), system_.laws().contact_source().speed_bound(v_free_));
  system_.laws().contact_source().find(t0_ + 0.5 * h, q_m_, stabilised ? kTouching * length_ + 2 * h * speed : 0.0, workspace_,
                        found_);
  if (surfaces_move_) {
    system_.laws().contact_source().surface(t0_, q_m_, workspace_, found_, w_start_);
    system_.laws().contact_source().surface(forces_.left_limit(t0_ + h, h), q_m_, workspace_, found_, w_end_);
  }
  recall_velocities(h);
}

bool MoreauContactScheme::exchange(Memory& memory) {
  memory.exchange(matrix_h_);
  memory.exchange(momentum_scale_);
  for (Vector* x : {&Mv_, &f_, &last_impulse_, &solution_.r, &solution_.u, &solution_.v}) memory.exchange(*x);
  memory.exchange(last_keys_);
  memory.exchange(last_first_);
  memory.exchange(last_stuck_);
  memory.exchange(last_normal_);
  memory.exchange(last_position_);
  memory.exchange(friction_rest_);
  memory.exchange(breaking_);
  memory.exchange(held_mean_);
  memory.exchange(stop_time_);
  memory.exchange(contact_stop_time_);
  memory.exchange(splits_);
  for (bool* known : {&stepped_, &momentum_is_known_, &force_is_known_}) memory.exchange(*known);
  if (!memory.reading()) return true;
  last_sorted_.clear();
  if (const double h = matrix_h_; h > 0 && !nonlinear_) {  // the same factors as before
    matrix_h_ = -1;
    set_step_matrix(h);
  }
  return true;
}

/// Of a point that touches at the start, from its velocity.
Mode MoreauContactScheme::touching_mode(const ContactElement& law, Index row, const Vector& v) const {
  auto velocity = [&](int c) { return row_times(found_.Wt, row + c, v) - found_.w[row + c]; };
  if (velocity(0) != 0) return Mode::open;
  if (law.tangents == 0) return Mode::closed;
  return law.tangents == 1 ? mode_of(velocity(1)) : mode_of(velocity(1), velocity(2));
}

StepOutcome MoreauContactScheme::step(double t_end, StepRecord& record) {
  clear_step(record);
  problems_ = iterations_ = near_misses_ = 0;
  const double t0 = record.state.t;
  double h = t_end - t0;
  if (grid_end_ != t_end || t0 < grid_end_ - grid_step_) grid_step_ = h;
  grid_end_ = t_end;
  // Grid times carry rounding; a step that differs from the last one by no more is the same step and keeps its factors.
  if (std::abs(h - matrix_h_) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(t_end)) h = matrix_h_;
  const double whole = h;
  Status status = attempt_unsplit(h, record);
  if (status == Status::success && locates() && collect_candidates(h)) {
    Frozen frozen;
    std::tie(h, frozen) = earliest_event(h, record, status);
    if (status == Status::success) status = attempt(h, frozen, record);
  }
  record.problems = problems_;
  record.iterations = iterations_;
  record.near_misses = near_misses_;
  if (status != Status::success) return {status, message_};
  const bool complete = h == whole || t_end - (t0 + h) <= kSameTime * std::abs(t_end);
  status = commit(h, complete ? t_end : t0 + h, record);
  splits_ = complete ? 0 : splits_ + 1;
  return {status, status == Status::success ? std::string() : message_};
}

/// The whole step, or a part of it where the whole cannot be solved.
Status MoreauContactScheme::attempt_unsplit(double& h, StepRecord& record) {
  while (true) {
    const Status status = attempt(h, {}, record);
    if (status != Status::not_converged || options_.strict || contacts_.empty() || h < 1.5 * kSmallestPart * grid_step_)
      return status;
    h *= 0.5;
  }
}

Status MoreauContactScheme::attempt(double h, Frozen frozen, StepRecord& record) {
  record.penetration = record.contact_gain = record.contact_velocity = record.approach = 0;
  record.loaded_points = 0;
  correction_work_ = 0;
  has_impact_ = false;
  frozen_ = frozen;
  begin(h, record.state);
  if (laws_.surface_moves()) {
    laws_.evaluate_surface(t0_, q0_, v0_, workspace_, w0_friction_);
    laws_.evaluate_surface(forces_.left_limit(t0_ + h, h), q0_, v0_, workspace_, w1_friction_);
  }
  set_step_matrix(h);
  right_hand_side(h, v0_);
  if (const Status status = place_constraints(h, v0_); status != Status::success) return status;
  free_velocity();
  find_points(h);
  note_approaches();
  for (const ContactSite& point : found_.points) raise(record.penetration, -point.gap);
  if (options_.contact_rule == ContactRule::stabilised && record.penetration > 0 && some_point_stays_inside(h)) {
    if (const Status status = remove_penetration(h); status != Status::success) return status;
    find_points(h);  // where impulses act has moved
    set_step_matrix(h);
    right_hand_side(h, v0_);
    if (const Status status = place_constraints(h, v0_); status != Status::success) return status;
    free_velocity();
    note_approaches();
  }
  return solve_step(h);
}

/// Rows at q_θ, and what they ask of the velocity at the end.
Status MoreauContactScheme::place_constraints(double h, const Vector& v1) {
  if (!constrained_.any()) return Status::success;
  const double theta = options_.theta;
  v_theta_ = theta * v1 + (1 - theta) * v0_;
  move(theta * h, v_theta_, q_theta_);
  move(h, v_theta_, q_end_);
  const SystemMatrix& M = system_.inertia().mass(q_theta_, workspace_);
  if (!constrained_.place(forces_.left_limit(t0_ + theta * h, h), q_theta_, M, workspace_))
    return fail(Status::not_finite,
                fmt::format("moreau: a constraint is not finite in the step from t = {:.9g} s; reduce run.step", t0_));
  constrained_.ask(forces_.left_limit(t0_ + h, h), q_end_, v1, workspace_);
  return Status::success;
}

/// q = q0 ⊕ dt v
void MoreauContactScheme::move(double dt, const Vector& v, Vector& q) {
  displacement_ = dt * v;
  q = q0_;
  system_.kinematics().displace(displacement_, q);
}

/// The state before the step, and the configuration in its middle.
void MoreauContactScheme::begin(double h, const State& state) {
  t0_ = state.t;
  if (drift_kick_) {
    q0_ = q_m_ = state.q;
    v0_ = v_m_ = state.v;
    free_motion_->drift(0.5 * h, q_m_, v_m_);
  } else if (!system_.kinematics().flat()) {
    q0_ = state.q;
    v0_ = v_m_ = state.v;
    move(0.5 * h, v0_, q_m_);
  } else {
    for (Index i = 0; i < v0_.size(); ++i) {
      const double q = state.q[i], v = state.v[i];
      q0_[i] = q;
      v0_[i] = v_m_[i] = v;
      q_m_[i] = q + 0.5 * h * v;
    }
  }
  if (linear_ && !momentum_is_known_) linear_->M.product(v0_, Mv_);
}

void MoreauContactScheme::set_step_matrix(double h) {
  if (h == matrix_h_ && !nonlinear_ && !stiff_) return;
  const double theta = options_.theta;
  std::array<double, 6> alpha{1};
  std::size_t terms = 1;
  if (linear_) {
    alpha[terms++] = h * theta;
    alpha[terms++] = h * h * theta * theta;
  }
  if (nonlinear_) {
    if (!linear_) mass_ = system_.inertia().mass(q_m_, workspace_);
    if (linear_) {
      system_.forces().applied_slopes(t0_ + 0.5 * h, q_m_, v0_, workspace_, by_q_, by_v_);
    } else {
      system_.force_slopes(t0_ + 0.5 * h, q_m_, v0_, workspace_, by_q_, by_v_);
    }
    alpha[terms++] = -h * h * theta * theta;
    alpha[terms++] = -h * theta;
  }
  if (stiff_) {
    system_.forces().slopes(t0_ + 0.5 * h, q_m_, v_m_, workspace_, by_q_, by_v_);
    alpha[terms++] = -0.5 * h * h * theta;
    alpha[terms++] = -h * theta;
  }
  if (laws_.has_viscous()) alpha[terms++] = h * theta;
  step_matrix_.evaluate({alpha.data(), terms});
  matrix_h_ = h;
  problem_.A_version = ++version_;
  ++factor_version_;
  if (!factor_.factorize(step_matrix_.value(), none_pinned_))
    throw InputError(
        fmt::format("moreau: the matrix of the step at t = {:.9g} s is not positive definite (a force with a "
                    "negative slope too strong for the step); reduce run.step",
                    t0_));
  const SystemMatrix& A = step_matrix_.value();
  for (Index i = 0; i < A.size(); ++i) inverse_diagonal_[i] = 1.0 / A(i, i);
}

/// Everything but the reactions, with forces at the iterate v1 = v.
void MoreauContactScheme::right_hand_side(double h, const Vector& v) {
  const double theta = options_.theta;
  Vector& g = problem_.g;
  if (drift_kick_) {
    mass_.product(v_m_, g);
    system_.forces().total(forces_.left_limit(t0_ + 0.5 * h, h), q_m_, v_m_, workspace_, f_);
    g += h * f_;
    if (stiff_) {
      by_q_.add_product(-0.5 * h * h * (1 - theta), v_m_, g);
      by_v_.add_product(-h * theta, v_m_, g);
    }
  } else if (nonlinear_) {
    // One step of Newton for M (v1 - v0) = h F + W p; whatever A is, its fixed point solves the step.
    v_theta_ = theta * v + (1 - theta) * v0_;
    move(theta * h, v_theta_, q_theta_);
    step_matrix_.value().product(v, g);
    scratch_ = v - v0_;
    (linear_ ? linear_->M : system_.inertia().mass(q_theta_, workspace_)).add_product(-1.0, scratch_, g);
    const double t = t0_ + (options_.force == ForceSampling::end ? 1.0 : theta) * h;
    system_.force(forces_.left_limit(t, h), q_theta_, v_theta_, workspace_, f_);
    g += h * f_;
  } else {
    g = Mv_;
    if (damped_) damping_.add_product(-h * (1 - theta), v0_, g);
    if (elastic_) {
      scratch_ = q0_ + (h * theta * (1 - theta)) * v0_;
      linear_->K.add_product(-h, scratch_, g);
    }
    if (!force_is_known_) forces_.sample(options_.force, t0_, t0_ + h, q0_, v0_, workspace_, f_);
    force_is_known_ = force_is_constant_;
    g += h * f_;
  }
  if (!laws_.has_weakening() && !laws_.has_viscous()) return;
  laws_.relative_velocity(v_m_, w0_friction_, smooth_);
  laws_.relative_velocity(v, w1_friction_, u_theta_);
  u_theta_ = theta * u_theta_ + (1 - theta) * smooth_;
  laws_.weakening_force(u_theta_, h, smooth_);
  for (Index k = 0; k < laws_.laws(); ++k)
    smooth_.segment(laws_.first(k), laws_.size(k)) -=
        h * laws_.viscous(k) * u_theta_.segment(laws_.first(k), laws_.size(k));
  laws_.add_reactions(1.0, smooth_, g);
  // What is implicit in the step matrix; with Newton's form it is there already.
  if (laws_.has_viscous() && !nonlinear_) viscous_.add_product(h * theta, v, g);
}

void MoreauContactScheme::free_velocity() {
  if (constrained_.any()) {
    constrained_.reduce(problem_);
    constrained_.free_velocity(v_free_);
  } else {
    v_free_ = problem_.g;
    factor_.solve(v_free_);
  }
  double twice_energy = 0;
  for (Index i = 0; i < v_free_.size(); ++i) {
    const double change = v_free_[i] - v_m_[i];
    twice_energy += change * change / inverse_diagonal_[i];
  }
  thrust_ = std::sqrt(twice_energy);
}

Status MoreauContactScheme::commit(double h, double t_end, StepRecord& record) {
  if (frozen_.any() && !frozen_.held) stop_frozen_law();
  const double theta = options_.theta;
  State& s = record.state;
  const Vector& v1 = solution_.v;
  if (drift_kick_) {
    v_theta_ = theta * v1 + (1 - theta) * v_m_;
    s.v = v1;
    s.q = q_m_;
    free_motion_->drift(0.5 * h, s.q, s.v);
  } else if (!system_.kinematics().flat()) {
    v_theta_ = theta * v1 + (1 - theta) * v_m_;
    s.v = v1;
    move(h, v_theta_, s.q);
  } else {
    for (Index i = 0; i < v1.size(); ++i) {
      v_theta_[i] = theta * v1[i] + (1 - theta) * v_m_[i];
      s.v[i] = v1[i];
      s.q[i] = q0_[i] + h * v_theta_[i];
    }
  }
  s.t = t_end;
  record.duration = h;
  record.jumped = false;
  record_points(h, record);
  record_modes(t_end, record);
  record_balance(record);
  const Status settled = settle_on_constraints(record);
  record_energy(h, record);
  remember_points();
  return settled;
}

/// What the step left of its constraints, of the order h³, is taken out: their positions and velocities hold to
/// round-off at the end of every step.
Status MoreauContactScheme::settle_on_constraints(StepRecord& record) {
  if (!constrained_.any()) return Status::success;
  State& s = record.state;
  record.constraint_impulse = constrained_.impulse();
  Status status = project_position(system_, s.t, s.q, constraint_workspace_);
  if (status == Status::success) status = project_velocity(system_, s.t, s.q, s.v, constraint_workspace_);
  if (status != Status::success)
    return fail(status, fmt::format("moreau: the constraints cannot be met at t = {:.9g} s (a mechanism that has come "
                                    "apart or locked); reduce run.step",
                                    s.t));
  stick_exactly(s);
  record_constraint_residuals(system_, record.duration, constraint_audit_, record);
  return Status::success;
}

}  // namespace stickslip
