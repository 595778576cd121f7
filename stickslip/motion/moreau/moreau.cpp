// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/moreau.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/common/root_finding.hpp"

namespace stickslip {

namespace {
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kHold = 1e6;  // times the static limit: a held law does not give way
const std::array<std::string, 2> kContactRules{"stabilised", "velocity"};
}  // namespace

std::string_view to_string(ContactRule rule) { return kContactRules[static_cast<std::size_t>(rule)]; }

ContactRule contact_rule_from(std::string_view name) {
  for (std::size_t i = 0; i < kContactRules.size(); ++i)
    if (kContactRules[i] == name) return static_cast<ContactRule>(i);
  throw InputError(fmt::format("unknown contact rule '{}'{}", name, name_hint(name, kContactRules)));
}

void MoreauOptions::validate() const {
  if (!(theta >= 0.5 && theta <= 1)) throw InputError(fmt::format("run.moreau.theta = {} must lie in [0.5, 1]", theta));
  if (!(fixed_point_tolerance > 0))
    throw InputError(fmt::format("run.moreau.fixed_point_tolerance = {} must be > 0", fixed_point_tolerance));
  if (max_fixed_point < 1)
    throw InputError(fmt::format("run.moreau.max_fixed_point = {} must be >= 1", max_fixed_point));
  if (!(contact_tolerance > 0))
    throw InputError(fmt::format("run.moreau.contact_tolerance = {} must be > 0", contact_tolerance));
  if (!(start_penetration >= 0))
    throw InputError(fmt::format("run.moreau.start_penetration = {} must be >= 0", start_penetration));
  if (max_splits < 0) throw InputError(fmt::format("run.moreau.max_splits = {} must be >= 0", max_splits));
  solver.validate();
}

MoreauScheme::MoreauScheme(const System& system, const MoreauOptions& options, std::vector<double> breakpoints, TimeSpan run)
    : system_(system),
      linear_(*system.linear()),
      options_(options),
      laws_(system),
      forces_(system, std::move(breakpoints), run),
      workspace_(system) {
  options_.validate();
  const Index n = system.info().nv(), m = laws_.components();
  damped_by_model_ = !linear_.B.is_zero();
  damping_ = laws_.has_viscous() ? SystemMatrix::compact(SparseMatrix(linear_.B.to_sparse() + laws_.viscous_matrix()))
                                 : linear_.B;
  damped_ = !damping_.is_zero();
  circulatory_ = linear_.K.asymmetry() > 0;
  nonlinear_ = system.forces().applied_depends_on_state();
  iterates_ = nonlinear_ || laws_.has_weakening() || laws_.limits_depend_on_state();
  std::vector<const SystemMatrix*> terms{&linear_.M, &damping_, &linear_.K};
  if (nonlinear_) {
    const Vector zero = Vector::Zero(n);
    system.forces().applied_slopes(0, zero, zero, workspace_, force_by_q_, force_by_v_);
    terms.push_back(&force_by_q_);
    terms.push_back(&force_by_v_);
  }
  step_matrix_ = MatrixSum(terms);
  problem_.A = &step_matrix_.value();
  problem_.g = Vector::Zero(n);
  problem_.Wt = laws_.Wt();
  problem_.w = Vector::Zero(m);
  for (Index k = 0; k < laws_.laws(); ++k) problem_.sets.push_back(laws_.element(k).set(0.0));
  for (Vector* x : {&Mv0_, &base_, &f_, &v_theta_, &q_theta_, &previous_v_, &scratch_}) *x = Vector::Zero(n);
  for (Vector* x : {&w0_, &u0_, &w1_, &w_theta_, &u_theta_, &weakening_}) *x = Vector::Zero(m);
  at_rest_.assign(laws_.laws(), 0);
  released_.assign(laws_.laws(), 0);
  stop_time_.assign(laws_.laws(), kNaN);
  reversing_.reserve(laws_.laws());
  giving_way_.reserve(laws_.laws());
  breaking_.assign(laws_.laws(), 0);
  held_mean_.assign(laws_.laws(), kNaN);
}

void MoreauScheme::start(StepRecord& record) {
  start_record(system_, laws_, workspace_, record);
  linear_.M.product(record.state.v, Mv0_);
}

bool MoreauScheme::exchange(Memory& memory) {
  memory.exchange(matrix_h_);  // grid times differ from the step size by their rounding
  memory.exchange(breaking_);
  memory.exchange(held_mean_);
  memory.exchange(stop_time_);
  memory.exchange(splits_);
  memory.exchange(residuals_.momentum);
  memory.exchange(Mv0_);
  for (Vector* x : {&solution_.r, &solution_.u, &solution_.v}) memory.exchange(*x);
  if (const double h = matrix_h_; memory.reading() && h > 0 && !nonlinear_) {
    matrix_h_ = -1;
    set_step_matrix(h);
  }
  return true;
}

void MoreauScheme::set_step_matrix(double h) {
  if (h == matrix_h_ && !nonlinear_) return;
  const double theta = options_.theta;
  const std::array<double, 5> alpha{1, h * theta, h * h * theta * theta, -h * h * theta * theta, -h * theta};
  step_matrix_.evaluate({alpha.data(), nonlinear_ ? 5u : 3u});
  matrix_h_ = h;
  problem_.A_version = ++version_;
}

void MoreauScheme::load_start_of_substep(const State& s) {
  t0_ = s.t;
  start_ = &s;
  if (laws_.surface_moves()) laws_.evaluate_surface(t0_, start_->q, start_->v, workspace_, w0_);
  laws_.relative_velocity(start_->v, w0_, u0_);
  for (Index k = 0; k < laws_.laws(); ++k) {
    const Index i = laws_.first(k);
    bool rest = u0_[i] == 0.0;
    for (int c = 1; c < laws_.size(k); ++c) rest &= u0_[i + c] == 0.0;
    // u is zero by decision, not by value, where a surface speeds up under a stuck law, and to round-off only where
    // laws share coordinates: what the last step left stuck, or a located reversal brought to rest, is at rest.
    at_rest_[k] = rest || s.modes[k] == Mode::stick || !std::isnan(stop_time_[k]);
  }
  f_h_ = -1;
  if (nonlinear_) {
    system_.forces().applied_slopes(t0_, start_->q, start_->v, workspace_, force_by_q_, force_by_v_);
    matrix_h_ = -1;
  }
}

StepOutcome MoreauScheme::attempt(double h, Frozen frozen) {
  const double theta = options_.theta, t1 = t0_ + h;
  set_step_matrix(h);
  // base = M v0 - h(1-θ) B' v0 - h K (q0 + hθ(1-θ) v0): everything but f̄, γ and the reactions
  Vector& base = iterates_ ? base_ : problem_.g;  // one copy less where nothing iterates
  base = Mv0_;
  if (damped_) damping_.add_product(-h * (1 - theta), start_->v, base);
  scratch_ = start_->q + (h * theta * (1 - theta)) * start_->v;
  linear_.K.add_product(-h, scratch_, base);
  if (!nonlinear_) {
    if (f_h_ != h) {
      forces_.sample(options_.force, t0_, t1, start_->q, start_->v, workspace_, f_);
      f_h_ = h;
    }
    base += h * f_;
  }
  if (!laws_.limits_depend_on_state())
    laws_.evaluate_limits(forces_.left_limit(t0_ + 0.5 * h, h), start_->q, start_->v, workspace_);
  if (laws_.surface_moves()) {
    laws_.evaluate_surface(forces_.left_limit(t1, h), start_->q, start_->v, workspace_, w1_);
    w_theta_ = theta * w1_ + (1 - theta) * w0_;
    problem_.w = w1_;
    if (laws_.has_viscous())
      for (Index k = 0; k < laws_.laws(); ++k)
        for (int c = 0; c < laws_.size(k); ++c)
          for (SparseMatrix::InnerIterator entry(problem_.Wt, laws_.first(k) + c); entry; ++entry)
            base[entry.col()] += h * laws_.viscous(k) * entry.value() * w_theta_[laws_.first(k) + c];
  }
  if (!iterates_) return solve_with_static_limits(h, frozen);

  previous_v_ = start_->v;
  iteration_.start(start_->v);
  for (int iteration = 0; iteration < options_.max_fixed_point; ++iteration) {
    v_theta_ = theta * previous_v_ + (1 - theta) * start_->v;
    q_theta_ = start_->q + theta * h * v_theta_;
    problem_.g = base_;
    if (nonlinear_) {
      forces_.sample(options_.force, t0_, t1, q_theta_, v_theta_, workspace_, f_);
      problem_.g += h * f_;
      force_by_v_.add_product(-h * theta, previous_v_, problem_.g);
      force_by_q_.add_product(-h * h * theta * theta, previous_v_, problem_.g);
    }
    if (laws_.limits_depend_on_state())
      laws_.evaluate_limits(forces_.left_limit(t0_ + 0.5 * h, h), q_theta_, v_theta_, workspace_);
    if (laws_.has_weakening()) {
      laws_.relative_velocity(v_theta_, w_theta_, u_theta_);
      laws_.weakening_force(u_theta_, h, weakening_);
      laws_.add_reactions(1.0, weakening_, problem_.g);
    }
    if (StepOutcome outcome = solve_with_static_limits(h, frozen); outcome.status != Status::success) return outcome;
    residuals_.inverse_diagonal.refresh(problem_);
    add_up_loads(problem_, solution_.r, residuals_.load);
    const bool settled = iteration_.settled(previous_v_, solution_.v, residuals_.load,
                                            residuals_.inverse_diagonal.value, options_.fixed_point_tolerance);
    previous_v_ = solution_.v;
    if (settled) return {};
  }
  return {Status::not_converged, fmt::format("moreau: the step from t = {:.9g} s did not converge in {} iterations "
                                             "(velocities still change by {:.2g} of their size); reduce run.step",
                                             t0_, options_.max_fixed_point, iteration_.change())};
}

StepOutcome MoreauScheme::solve_with_static_limits(double h, Frozen frozen) {
  if (laws_.has_static()) std::fill(released_.begin(), released_.end(), 0);
  // A frozen law is a known impulse: it moves to the right-hand side for the solve and back afterwards.
  auto add_frozen = [&](double factor) {
    for (SparseMatrix::InnerIterator entry(problem_.Wt, laws_.first(frozen.law)); entry; ++entry)
      problem_.g[entry.col()] -= factor * h * laws_.limit(frozen.law) * frozen.sign * entry.value();
  };
  const bool known = frozen.law >= 0 && !frozen.held;
  if (known) add_frozen(1.0);
  while (true) {
    if (sets_h_ != h || frozen.law >= 0 || laws_.has_static() || laws_.limits_vary()) {
      for (Index k = 0; k < laws_.laws(); ++k) {
        const bool holds = at_rest_[k] && !released_[k] && !breaking_[k];
        problem_.sets[k].limit = h * (holds ? laws_.static_limit(k) : laws_.limit(k));
      }
      if (frozen.law >= 0)
        problem_.sets[frozen.law].limit = frozen.held ? kHold * h * laws_.static_limit(frozen.law) : 0.0;
      sets_h_ = frozen.law >= 0 ? -1.0 : h;
      ++problem_.sets_version;
    }
    ++problems_;
    solve(problem_, options_.solver, solver_, solution_);
    if (solution_.status != Status::success)
      return {solution_.status, fmt::format("moreau: friction problem at t = {:.9g} s: {}", t0_, solution_.message)};
    bool gave_way = false;
    if (laws_.has_static())
      for (Index k = 0; k < laws_.laws(); ++k)
        if (k != frozen.law && at_rest_[k] && !released_[k] && !breaking_[k] &&
            laws_.static_limit(k) > laws_.limit(k) && laws_.mode(k, solution_.u) != Mode::stick) {
          released_[k] = 1;
          gave_way = true;
        }
    if (!gave_way) break;
  }
  if (frozen.held) {
    problem_.sets[frozen.law].limit = h * laws_.static_limit(frozen.law);
    ++problem_.sets_version;
  }
  if (known) {
    add_frozen(-1.0);
    problem_.sets[frozen.law].limit = h * laws_.limit(frozen.law);
    ++problem_.sets_version;
    solution_.r[laws_.first(frozen.law)] = -h * laws_.limit(frozen.law) * frozen.sign;
  }
  if (!solution_.v.allFinite())
    return {
        Status::not_finite,
        fmt::format(
            "moreau: the velocity is not finite after t = {:.9g} s; check forces and limits, or reduce run.step", t0_)};
  return {};
}

bool MoreauScheme::stopped_or_reversed(Index k) const {
  if (at_rest_[k] || laws_.size(k) != 1 || laws_.limit(k) == 0.0) return false;
  const Index i = laws_.first(k);
  return u0_[i] > 0 ? solution_.u[i] <= 0 : solution_.u[i] >= 0;
}

double MoreauScheme::end_velocity(double h, Index law, StepOutcome& outcome) {
  const double sign = u0_[laws_.first(law)] > 0 ? 1.0 : -1.0;
  if (StepOutcome attempted = attempt(h, {law, sign}); attempted.status != Status::success) outcome = attempted;
  return sign * solution_.u[laws_.first(law)];
}

double MoreauScheme::margin_to_break_away(double h, Index law, StepOutcome& outcome) {
  const Index i = laws_.first(law);
  const Frozen held{law, 0, true};
  if (StepOutcome attempted = attempt(h / 2, held); attempted.status != Status::success) outcome = attempted;
  const double first_half = solution_.r[i] / (h / 2);
  if (StepOutcome attempted = attempt(h, held); attempted.status != Status::success) outcome = attempted;
  const double second_half = solution_.r[i] / (h / 2) - first_half;
  if (laws_.limits_vary()) evaluate_limits_at(1.0, h);  // it gives way at the end of the step, not in its middle
  return laws_.static_limit(law) - std::abs(1.5 * second_half - 0.5 * first_half);
}

bool MoreauScheme::may_give_way(Index k, double h) const {
  if (!at_rest_[k] || breaking_[k] || laws_.size(k) != 1 || !(laws_.static_limit(k) > laws_.limit(k))) return false;
  if (released_[k]) return true;
  // Held over the step as a whole, but perhaps not to its end: the trend of the mean tells whether to look closer.
  const double mean = solution_.r[laws_.first(k)] / h;
  const double change = std::isnan(held_mean_[k]) ? 0.5 * mean : mean - held_mean_[k];
  return std::abs(mean) + std::abs(change) > laws_.static_limit(k);
}

/// Limits after a share of the step just attempted.
void MoreauScheme::evaluate_limits_at(double share, double h) {
  v_theta_ = share * solution_.v + (1 - share) * start_->v;
  q_theta_ = start_->q + (0.5 * share * h) * (start_->v + v_theta_);
  laws_.evaluate_limits(forces_.left_limit(t0_ + share * h, h), q_theta_, v_theta_, workspace_);
}

bool MoreauScheme::collect_candidates(double h) {
  reversing_.clear();
  giving_way_.clear();
  for (Index k = 0; k < laws_.laws(); ++k) {
    if (stopped_or_reversed(k)) reversing_.push_back(k);
    if (laws_.has_static() && may_give_way(k, h)) giving_way_.push_back(k);
  }
  if (laws_.has_static() && laws_.limits_vary()) {  // a limit may come down to the reaction after mid-step
    evaluate_limits_at(1.0, h);
    for (Index k = 0; k < laws_.laws(); ++k)
      if (may_give_way(k, h) && std::find(giving_way_.begin(), giving_way_.end(), k) == giving_way_.end())
        giving_way_.push_back(k);
    evaluate_limits_at(0.5, h);
  }
  return !reversing_.empty() || !giving_way_.empty();
}

std::pair<double, MoreauScheme::Frozen> MoreauScheme::earliest_event(double h, StepOutcome& outcome) {
  constexpr double kAtOnce = 1e-14;  // of the step: a law that stops within it is at rest from the start
  double earliest = h;
  Frozen found;
  for (Index k : reversing_) {
    const double speed = std::abs(u0_[laws_.first(k)]);
    // Another law that shares the direction may hold ψ at zero from the stop on: such a plateau counts as below zero,
    // so that its beginning is found.
    auto psi = [&](double x) {
      const double velocity = end_velocity(x, k, outcome);
      return std::abs(velocity) <= 1e-13 * speed ? -1e-3 * speed : velocity;
    };
    const double at_end = psi(earliest);
    if (outcome.status != Status::success) return {h, {}};
    if (at_end > 0) continue;
    // To the last bits of x itself: a strong law stops in a small part of the step, and u must vanish there.
    const Root root = find_root(psi, 0.0, speed, earliest, at_end, 0.0);
    if (outcome.status != Status::success) return {h, {}};
    if (root.x <= kAtOnce * h) continue;
    earliest = std::min(earliest, root.x);
    found = {k, u0_[laws_.first(k)] > 0 ? 1.0 : -1.0, false};
  }
  for (Index k : giving_way_) {
    auto margin = [&](double x) { return margin_to_break_away(x, k, outcome); };
    const double soon = 1e-3 * h;  // a law that is over its limit from the start gives way there: nothing to locate
    if (soon >= earliest) continue;
    const double at_start = margin(soon), at_end = margin(earliest);
    if (outcome.status != Status::success) return {h, {}};
    if (at_start <= 0 || at_end > 0) continue;
    // The margin is a difference of means: below this it is noise, and the location is O(h²) anyway.
    const Root root = find_root(margin, soon, at_start, earliest, at_end, 1e-9 * h);
    if (outcome.status != Status::success) return {h, {}};
    earliest = root.x;
    found = {k, 0, true};
  }
  return {earliest, found};
}

StepOutcome MoreauScheme::step(double t_end, StepRecord& record) {
  clear_step(record);
  problems_ = 0;
  double h = t_end - record.state.t;
  // Grid times carry rounding; a step that differs from the last one by no more is the same step and keeps its factors.
  if (std::abs(h - matrix_h_) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(t_end)) h = matrix_h_;
  const double whole = h;
  const int max_splits = options_.max_splits > 0 ? options_.max_splits : 20 + 10 * static_cast<int>(laws_.laws());
  load_start_of_substep(record.state);
  StepOutcome outcome = attempt(h, {});
  Frozen frozen;
  if (outcome.status == Status::success && options_.locate_reversals && splits_ < max_splits && collect_candidates(h)) {
    std::tie(h, frozen) = earliest_event(h, outcome);
    if (outcome.status == Status::success) outcome = attempt(h, frozen);
  }
  record.problems = problems_;
  if (outcome.status != Status::success) return outcome;
  commit(h, frozen, record);
  // The end of the step is the grid time itself, not a sum of parts.
  const bool complete = h == whole || t_end - record.state.t <= 1e-14 * std::abs(t_end);
  if (complete) record.state.t = t_end;
  splits_ = complete ? 0 : splits_ + 1;
  return outcome;
}

void MoreauScheme::commit(double h, Frozen frozen, StepRecord& record) {
  const double theta = options_.theta;
  State& s = record.state;
  if (frozen.law >= 0 && !frozen.held) {
    const Index i = laws_.first(frozen.law);
    double norm2 = 0;
    for (SparseMatrix::InnerIterator entry(problem_.Wt, i); entry; ++entry) norm2 += entry.value() * entry.value();
    const double excess = solution_.u[i] / norm2;
    for (SparseMatrix::InnerIterator entry(problem_.Wt, i); entry; ++entry) {
      double& v = solution_.v[entry.col()];
      v = norm2 == 1.0 && entry.value() == 1.0 ? problem_.w[i] : v - excess * entry.value();
    }
    solution_.u[i] = 0;
  }
  v_theta_ = theta * solution_.v + (1 - theta) * start_->v;
  s.q += h * v_theta_;
  s.v = solution_.v;
  s.t = t0_ + h;
  record.duration = h;
  record_residuals(problem_, laws_, solution_.v, solution_.r, residuals_, record);
  record_modes(t0_, s.t, frozen, record);
  record_energy(h, record);
}

void MoreauScheme::record_modes(double t0, double t1, Frozen frozen, StepRecord& record) {
  std::vector<Mode>& modes = record.state.modes;
  for (Index k = 0; k < laws_.laws(); ++k) {
    breaking_[k] = 0;
    if (laws_.has_static())
      held_mean_[k] = at_rest_[k] && laws_.mode(k, solution_.u) == Mode::stick
                          ? solution_.r[laws_.first(k)] / record.duration
                          : kNaN;
    if (k == frozen.law) {
      stop_time_[k] = t1;
      breaking_[k] = frozen.held;
      continue;
    }
    const Mode after = laws_.mode(k, solution_.u);
    const Mode before = modes[k];
    if (laws_.static_limit(k) == 0.0) {
      modes[k] = after;  // a law without force has no events
    } else if (after != before) {
      const bool located = !std::isnan(stop_time_[k]);
      const bool breaks_away = before == Mode::stick;
      const double t = located ? stop_time_[k] : breaks_away ? t0 : t1;
      if (const auto kind = event_between(before, after))
        record.events.push_back({t, static_cast<int>(k), *kind, before, after, 0});
      modes[k] = after;
    } else if (after == Mode::stick && at_rest_[k]) {
      for (int c = 0; c < laws_.size(k); ++c)
        record.stuck_motion = std::max(record.stuck_motion, (t1 - t0) * std::abs(residuals_.u[laws_.first(k) + c]));
    }
    if (options_.locate_reversals) stop_time_[k] = kNaN;
  }
}

void MoreauScheme::record_energy(double h, StepRecord& record) {
  EnergyLedger& e = record.energy;
  const State& s = record.state;
  e.work_in += h * f_.dot(v_theta_);
  if (damped_by_model_) {
    linear_.B.product(v_theta_, scratch_);
    e.damper_loss += h * scratch_.dot(v_theta_);
  }
  if (circulatory_) {
    q_theta_ = s.q - (1 - options_.theta) * h * v_theta_;
    linear_.K.product(q_theta_, scratch_);
    e.work_in -= h * scratch_.dot(v_theta_);
    scratch_.setZero();
    linear_.K.for_each([&](Index i, Index j, double k) {  // symmetric part: ½ (K + Kᵀ)
      scratch_[i] += 0.5 * k * q_theta_[j];
      scratch_[j] += 0.5 * k * q_theta_[i];
    });
    e.work_in += h * scratch_.dot(v_theta_);
  }
  record.reaction_impulse = solution_.r;
  laws_.relative_velocity(v_theta_, w_theta_, u_theta_);
  for (Index k = 0; k < laws_.laws(); ++k) {
    for (int c = 0; c < laws_.size(k); ++c) {
      const Index i = laws_.first(k) + c;
      const double smooth = (laws_.has_weakening() ? weakening_[i] : 0.0) - h * laws_.viscous(k) * u_theta_[i];
      const double impulse = solution_.r[i] + smooth;
      if (laws_.has_weakening() || laws_.has_viscous()) record.smooth_impulse[i] = smooth;
      record.law_work[k] += impulse * (u_theta_[i] + w_theta_[i]);
      e.friction_loss -= impulse * u_theta_[i];
      e.work_in += impulse * w_theta_[i];
    }
  }
  linear_.M.product(s.v, Mv0_);
  e.kinetic = 0.5 * Mv0_.dot(s.v);
  linear_.K.product(s.q, scratch_);
  e.potential = 0.5 * scratch_.dot(s.q);
}

}  // namespace stickslip
