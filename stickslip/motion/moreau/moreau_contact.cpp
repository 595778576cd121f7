// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/moreau_contact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/one_law.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

namespace {

constexpr double kTouching = 1e-9;              // of the length scale: closer counts as touching
constexpr double kRoundOff = 1e-15;             // relative residual that cannot be bettered by much
constexpr std::size_t kFewPoints = 64;          // that many points are solved to round-off
constexpr int kPolishing = 100;                 // iterations for that
constexpr double kAcceptable = 10;              // times the solver's tolerance: the audit's limit
constexpr double kPenetrationTolerance = 1e-6;  // of the length scale: deeper is corrected

}  // namespace

MoreauContactScheme::MoreauContactScheme(const System& system, const MoreauOptions& options,
                                         std::vector<double> breakpoints)
    : system_(system),
      contacts_(system.contacts()),
      linear_(system.linear()),
      options_(options),
      laws_(system),
      forces_(system, std::move(breakpoints)),
      workspace_(system.info()) {
  options_.validate();
  if (!contacts_.empty()) options_.solver.tolerance = options_.contact_tolerance;
  const Index n = system.info().nv(), m = laws_.components();
  drift_kick_ = system.step_form() == StepForm::drift_kick;
  nonlinear_ = !drift_kick_ && (!linear_ || system.applied_force_depends_on_state());
  iterates_ = nonlinear_ || laws_.has_weakening() || laws_.has_viscous() || laws_.limits_depend_on_state();
  if (options_.contact_rule == ContactRule::stabilised) touching_ = kTouching * system.length_scale();
  penetration_tolerance_ = kPenetrationTolerance * system.length_scale();
  if (linear_) {
    damping_ = linear_->B;
    damped_ = !damping_.is_zero();
    elastic_ = !linear_->K.is_zero();
    force_is_constant_ = !nonlinear_ && !system.applied_force_depends_on_time();
  }
  none_pinned_.assign(n, 0);
  for (Vector* x : {&v0_, &v_m_, &Mv_, &f_, &v_free_, &v_theta_, &scratch_, &balance_, &inverse_diagonal_})
    *x = Vector::Zero(n);
  problem_.g = Vector::Zero(n);
  w0_friction_ = w1_friction_ = smooth_ = u_theta_ = Vector::Zero(m);
  Index component = m;
  for (const ContactElement& contact : system.contacts()) {
    contact_first_.push_back(component);
    component += contact.size();
  }
  friction_rest_.assign(laws_.laws(), 0);
  friction_released_.assign(laws_.laws(), 0);
  law_impact_.assign(system.contacts().size(), 0);
  law_mode_.assign(system.contacts().size(), Mode::open);
}

void MoreauContactScheme::start(StepRecord& record) {
  State& s = record.state;
  const std::vector<Mode> given = s.modes;
  s.modes.resize(std::min<std::size_t>(given.size(), laws_.laws()));
  start_record(system_, laws_, workspace_, record);
  s.modes.resize(laws_.laws() + contacts_.size(), Mode::open);
  if (given.size() == s.modes.size())
    std::copy(given.begin() + laws_.laws(), given.end(), s.modes.begin() + laws_.laws());
  Index m = laws_.components();
  for (const ContactElement& contact : contacts_) m += contact.size();
  for (Vector* x : {&record.reaction_impulse, &record.smooth_impulse, &record.jump_impulse}) *x = Vector::Zero(m);
  record.law_work = Vector::Zero(static_cast<Index>(s.modes.size()));

  // The mass must be known before the first step, and where it is not constant, so must its structure.
  mass_ = system_.mass(s.q, workspace_);
  std::vector<const SystemMatrix*> terms{&mass_};
  if (linear_) terms.insert(terms.end(), {&damping_, &linear_->K});
  if (nonlinear_) {
    if (linear_) {
      system_.applied_force_jacobian(s.t, s.q, s.v, workspace_, by_q_, by_v_);
    } else {
      system_.force_jacobian(s.t, s.q, s.v, workspace_, by_q_, by_v_);
    }
    terms.insert(terms.end(), {&by_q_, &by_v_});
  }
  step_matrix_ = MatrixSum(terms);
  problem_.A = &step_matrix_.value();
  matrix_h_ = -1;

  system_.find_contacts(s.t, s.q, touching_, workspace_, found_);
  Index row = 0;
  for (const ContactSite& point : found_.points) {
    const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
    if (point.gap < -options_.start_penetration)
      throw InputError(
          fmt::format("contact '{}' penetrates by {:.3g} m at the start; move the bodies apart, or raise "
                      "run.moreau.start_penetration above that to have it corrected",
                      law.name, -point.gap));
    Mode& mode = s.modes[static_cast<std::size_t>(laws_.laws()) + static_cast<std::size_t>(point.law)];
    if (given.empty() && point.gap <= touching_ && mode == Mode::open) mode = touching_mode(law, row, s.v);
    row += law.size();
  }
  for (Index k = 0; k < laws_.laws(); ++k) friction_rest_[k] = s.modes[k] == Mode::stick;
  start_modes_.assign(s.modes.begin() + laws_.laws(), s.modes.end());
  stepped_ = momentum_is_known_ = false;
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
  record.penetration = record.contact_gain = 0;
  record.loaded_points = record.iterations = 0;
  problems_ = iterations_ = 0;
  correction_work_ = 0;
  State& s = record.state;
  double h = t_end - s.t;
  // Grid times carry rounding; a step that differs from the last one by no more is the same step and keeps its factors.
  if (std::abs(h - matrix_h_) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(t_end)) h = matrix_h_;
  t0_ = s.t;
  q0_ = q_m_ = s.q;
  v0_ = v_m_ = s.v;
  if (linear_ && !momentum_is_known_) linear_->M.product(v0_, Mv_);
  system_.drift(0.5 * h, q_m_, v_m_);

  if (laws_.surface_moves()) {
    laws_.evaluate_surface(t0_, q0_, v0_, workspace_, w0_friction_);
    laws_.evaluate_surface(forces_.left_limit(t0_ + h, h), q0_, v0_, workspace_, w1_friction_);
  }
  set_step_matrix(h);
  right_hand_side(h, v0_);
  free_velocity();
  const bool stabilised = options_.contact_rule == ContactRule::stabilised;
  const double margin =
      stabilised ? touching_ + 2 * h * std::max(system_.speed_bound(v_m_), system_.speed_bound(v_free_)) : 0.0;
  impact_speed_ = -1;
  system_.find_contacts(t0_ + 0.5 * h, q_m_, margin, workspace_, found_);
  for (const ContactSite& point : found_.points) raise(record.penetration, -point.gap);
  StepOutcome outcome;
  if (stabilised && record.penetration > penetration_tolerance_ && some_point_stays_inside()) {
    outcome = remove_penetration();
    if (outcome.status != Status::success) return outcome;
    system_.find_contacts(t0_ + 0.5 * h, q_m_, margin, workspace_, found_);  // where impulses act has moved
    right_hand_side(h, v0_);
    free_velocity();
  }
  outcome = solve_step(h);
  record.problems = problems_;
  record.iterations = iterations_;
  if (outcome.status == Status::success) commit(h, t_end, record);
  return outcome;
}

void MoreauContactScheme::set_step_matrix(double h) {
  if (h == matrix_h_ && !nonlinear_) return;
  const double theta = options_.theta;
  std::array<double, 5> alpha{1};
  std::size_t terms = 1;
  if (linear_) {
    alpha[terms++] = h * theta;
    alpha[terms++] = h * h * theta * theta;
  }
  if (nonlinear_) {
    if (!linear_) mass_ = system_.mass(q_m_, workspace_);
    if (linear_) {
      system_.applied_force_jacobian(t0_ + 0.5 * h, q_m_, v0_, workspace_, by_q_, by_v_);
    } else {
      system_.force_jacobian(t0_ + 0.5 * h, q_m_, v0_, workspace_, by_q_, by_v_);
    }
    alpha[terms++] = -h * h * theta * theta;
    alpha[terms++] = -h * theta;
  }
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
    system_.force(forces_.left_limit(t0_ + 0.5 * h, h), q_m_, v_m_, workspace_, f_);
    g += h * f_;
  } else if (nonlinear_) {
    // One step of Newton for M (v1 - v0) = h F + W p; whatever A is, its fixed point solves the step.
    v_theta_ = theta * v + (1 - theta) * v0_;
    q_theta_ = q0_ + (theta * h) * v_theta_;
    step_matrix_.value().product(v, g);
    scratch_ = v - v0_;
    (linear_ ? linear_->M : system_.mass(q_theta_, workspace_)).add_product(-1.0, scratch_, g);
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
}

void MoreauContactScheme::free_velocity() {
  v_free_ = problem_.g;
  factor_.solve(v_free_);
}

StepOutcome MoreauContactScheme::solve_step(double h) {
  select_points(h);
  while (true) {
    fill_laws();
    warm_start();
    const StepOutcome outcome = iterates_ ? iterate(h) : solve_laws(h);
    if (outcome.status != Status::success || !add_overlooked_points(h)) return outcome;
  }
}

StepOutcome MoreauContactScheme::iterate(double h) {
  iterate_ = v0_;
  double change = HUGE_VAL, size = 0;
  for (int iteration = 0; iteration < options_.max_fixed_point; ++iteration) {
    right_hand_side(h, iterate_);
    if (laws_.limits_depend_on_state()) {
      v_theta_ = 0.5 * (iterate_ + v0_);
      q_theta_ = q0_ + (0.5 * h) * v_theta_;
      laws_.evaluate_limits(t0_ + 0.5 * h, q_theta_, v_theta_, workspace_);
    }
    if (StepOutcome outcome = solve_laws(h); outcome.status != Status::success) return outcome;
    const double previous_change = change;
    change = (solution_.v - iterate_).lpNorm<Eigen::Infinity>();
    size = std::max({size, solution_.v.lpNorm<Eigen::Infinity>(), v0_.lpNorm<Eigen::Infinity>()});
    iterate_ = solution_.v;
    if (change <= options_.fixed_point_tolerance * size ||
        (change <= 100 * options_.fixed_point_tolerance * size && change >= previous_change))
      return {};
  }
  return {Status::not_converged, fmt::format("moreau: the step from t = {:.9g} s did not converge in {} iterations "
                                             "(velocity still changes by {:.2g}); reduce run.step",
                                             t0_, options_.max_fixed_point, change)};
}

StepOutcome MoreauContactScheme::solve_laws(double h) {
  const auto friction = static_cast<std::size_t>(laws_.laws());
  if (problem_.sets.empty()) {
    solution_.v = problem_.g;
    factor_.solve(solution_.v);
    solution_.r.resize(0);
    solution_.u.resize(0);
    return {};
  }
  if (laws_.laws() > 0 && !laws_.limits_depend_on_state())
    laws_.evaluate_limits(forces_.left_limit(t0_ + 0.5 * h, h), q0_, v0_, workspace_);
  std::fill(friction_released_.begin(), friction_released_.end(), 0);
  while (true) {
    for (Index k = 0; k < laws_.laws(); ++k) {
      const bool holds = friction_rest_[k] && !friction_released_[k];
      problem_.sets[static_cast<std::size_t>(k)].limit = h * (holds ? laws_.static_limit(k) : laws_.limit(k));
    }
    for (std::size_t k = 0; k < active_.size(); ++k)
      problem_.sets[friction + k].limit = friction_coefficient(active_[k]);
    ++problem_.sets_version;
    if (StepOutcome outcome = solve_inclusion(); outcome.status != Status::success) return outcome;
    bool gave_way = false;
    for (Index k = 0; k < laws_.laws(); ++k)
      if (friction_rest_[k] && !friction_released_[k] && laws_.static_limit(k) > laws_.limit(k) &&
          laws_.mode(k, solution_.u) != Mode::stick) {
        friction_released_[k] = 1;
        gave_way = true;
      }
    for (Active& active : active_)
      if (active.holds && contacts_[static_cast<std::size_t>(active.law)].mu_static &&
          point_mode(active) != Mode::stick) {
        active.holds = false;
        gave_way = true;
      }
    if (!gave_way) break;
  }
  if (!solution_.v.allFinite())
    return {
        Status::not_finite,
        fmt::format("moreau: the velocity is not finite after t = {:.9g} s; check forces, or reduce run.step", t0_)};
  return {};
}

/// One point alone has an exact solution in closed form.
StepOutcome MoreauContactScheme::solve_single_point() {
  const Set& set = problem_.sets[0];
  if (iterates_) free_velocity();
  std::array<double, 3> q{}, r{};
  for (int c = 0; c < set.size; ++c) {
    q[static_cast<std::size_t>(c)] = row_times(problem_.Wt, c, v_free_) - problem_.w[c];
    r[static_cast<std::size_t>(c)] = solution_.r[c];
  }
  if (!solve_one_law(set, single_D_.data(), q.data(), r.data()))
    return {
        Status::no_solution,
        fmt::format("moreau: contact '{}' at t = {:.9g} s has no admissible reaction: it would have to push for ever",
                    contacts_[static_cast<std::size_t>(active_[0].law)].name, t0_)};
  solution_.v = v_free_;
  solution_.u.resize(set.size);
  for (int c = 0; c < set.size; ++c) {
    const auto i = static_cast<std::size_t>(c);
    solution_.r[c] = r[i];
    solution_.v += r[i] * single_column_[i];
    double u = q[i];
    for (int d = 0; d < set.size; ++d)
      u += single_D_[static_cast<std::size_t>(c * set.size + d)] * r[static_cast<std::size_t>(d)];
    solution_.u[c] = u;
  }
  ++iterations_;
  solution_.status = Status::success;
  return {};
}

/// To the tolerance asked for, then, for few points, to round-off: at the edge of sticking the velocity is only as
/// exact as the square root of the residual, or worse.
StepOutcome MoreauContactScheme::solve_inclusion() {
  ++problems_;
  if (laws_.laws() == 0 && active_.size() == 1) return solve_single_point();
  solve(problem_, options_.solver, solver_, solution_);
  iterations_ += solution_.iterations;
  double residual = law_residual();
  // The goal may lie below what rounding allows; what the audit accepts is good enough to go on with.
  const bool stalled_close =
      solution_.status == Status::not_converged && residual <= kAcceptable * options_.solver.tolerance;
  if (solution_.status != Status::success && !stalled_close)
    return {solution_.status, fmt::format("moreau: contact and friction at t = {:.9g} s: {}", t0_, solution_.message)};
  if (residual > kRoundOff && active_.size() <= kFewPoints) {
    polished_ = solution_;
    SolveOptions options = options_.solver;
    options.tolerance = kRoundOff;
    options.max_iterations = kPolishing;
    solve(problem_, options, solver_, polished_);
    iterations_ += polished_.iterations;
    std::swap(solution_, polished_);
    if (!(law_residual() < residual)) std::swap(solution_, polished_);
  }
  return {};
}

void MoreauContactScheme::commit(double h, double t_end, StepRecord& record) {
  const double theta = options_.theta;
  State& s = record.state;
  const Vector& v1 = solution_.v;
  v_theta_ = theta * v1 + (1 - theta) * v_m_;
  s.v = v1;
  if (drift_kick_) {
    s.q = q_m_;
    system_.drift(0.5 * h, s.q, s.v);
  } else {
    s.q = q0_ + h * v_theta_;
  }
  s.t = t_end;
  record.duration = h;
  record.jumped = false;
  record_points(h, record);
  record_modes(t_end, record);
  record_balance(record);
  record_energy(h, record);
  remember_points();
}

}  // namespace stickslip
