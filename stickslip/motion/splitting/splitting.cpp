// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/splitting/splitting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"

namespace stickslip {

SplittingScheme::SplittingScheme(const System& system, const SplittingOptions& options, std::vector<double> breakpoints,
                                 TimeSpan run)
    : system_(system),
      linear_(*system.linear()),
      options_(options),
      laws_(system),
      forces_(system, std::move(breakpoints), run),
      workspace_(system) {
  options_.validate();
  const Index n = system.info().nv(), m = laws_.components();
  damping_ = laws_.has_viscous() ? SystemMatrix::compact(SparseMatrix(linear_.B.to_sparse() + laws_.viscous_matrix()))
                                 : linear_.B;
  damped_ = !damping_.is_zero();
  elastic_matrix_ = MatrixSum({&linear_.M, &damping_, &linear_.K});
  nothing_pinned_.assign(n, 0);
  problem_.A = &linear_.M;
  problem_.A_version = 1;
  problem_.g = Vector::Zero(n);
  problem_.Wt = laws_.Wt();
  problem_.w = Vector::Zero(m);
  for (Index k = 0; k < laws_.laws(); ++k) problem_.sets.push_back(laws_.element(k).set(0.0));
  for (Vector* x : {&f_, &scratch_, &mean_v_}) *x = Vector::Zero(n);
  for (Vector* x : {&w_, &u_, &weakening_}) *x = Vector::Zero(m);
  released_.assign(laws_.laws(), 0);
  at_rest_.assign(laws_.laws(), 0);
  if (options_.friction == FrictionStep::multiplier) {
    solve_options_.solver = SolverKind::projected_iteration;
    solve_options_.tolerance = options_.tolerance;
    solve_options_.max_iterations = options_.max_iterations;
  }
}

void SplittingScheme::start(StepRecord& record) {
  start_record(system_, laws_, workspace_, record);
  if (springs_.any()) start_springs(record);
  friction_velocity_ = record.state.v;
}

void SplittingScheme::add_to_row(OutputRow& row) const { row.friction_velocity = friction_velocity_; }

bool SplittingScheme::exchange(Memory& memory) {
  memory.exchange(tau_);
  memory.exchange(iterations_);
  memory.exchange(friction_velocity_);
  memory.exchange(residuals_.momentum);
  for (Vector* x : {&solution_.r, &solution_.u, &solution_.v}) memory.exchange(*x);
  return true;
}

void SplittingScheme::set_elastic_matrix(double tau) {
  if (tau == elastic_tau_) return;
  const std::array<double, 3> alpha{1, tau / 2, tau * tau / 4};
  if (!elastic_factor_.factorize(elastic_matrix_.evaluate(alpha), nothing_pinned_))
    throw InputError(
        "the matrix M + τ/2 B + τ²/4 K of the elastic step is not positive definite; reduce run.step or check the "
        "stiffness");
  elastic_tau_ = tau;
}

StepOutcome SplittingScheme::friction_flow(double t0, double duration, StepRecord& record) {
  State& s = record.state;
  const double tau = duration / options_.substeps;
  if (options_.rho > 0) solve_options_.rho = options_.rho / tau;  // the sets hold impulse limits τ c
  for (int p = 0; p < options_.substeps; ++p) {
    const double from = t0 + p * tau, to = from + tau;
    forces_.sample(options_.force, from, to, s.q, s.v, workspace_, f_);
    laws_.evaluate_limits(forces_.left_limit(to, tau), s.q, s.v, workspace_);
    laws_.evaluate_surface(forces_.left_limit(to, tau), s.q, s.v, workspace_, w_);
    problem_.w = w_;
    laws_.relative_velocity(s.v, w_, u_);
    linear_.M.product(s.v, problem_.g);
    problem_.g += tau * f_;
    if (laws_.has_weakening()) {
      laws_.weakening_force(u_, tau, weakening_);
      laws_.add_reactions(1.0, weakening_, problem_.g);
    }
    for (Index k = 0; k < laws_.laws(); ++k) {
      at_rest_[k] = s.modes[k] == Mode::stick && !springs_.takes(k);
      released_[k] = 0;
    }
    for (bool gave_way = true; gave_way;) {
      for (Index k = 0; k < laws_.laws(); ++k)
        problem_.sets[k].limit =
            springs_.takes(k) ? 0.0 : tau * (at_rest_[k] && !released_[k] ? laws_.static_limit(k) : laws_.limit(k));
      solve(problem_, solve_options_, solver_, solution_);
      ++record.problems;
      iterations_ += solution_.iterations;
      if (solution_.status != Status::success)
        return {solution_.status,
                fmt::format("splitting: friction problem at t = {:.9g} s: {}", t0, solution_.message)};
      gave_way = false;
      for (Index k = 0; k < laws_.laws() && laws_.has_static(); ++k)
        if (at_rest_[k] && !released_[k] && laws_.static_limit(k) > laws_.limit(k) &&
            laws_.mode(k, solution_.u) != Mode::stick) {
          released_[k] = 1;
          gave_way = true;
        }
    }
    if (!solution_.v.allFinite())
      return {Status::not_finite,
              fmt::format("splitting: the velocity is not finite after t = {:.9g} s; check forces and limits", t0)};
    // Work with the mean velocity of the substep: the rest of the change of kinetic energy is the scheme's own.
    mean_v_ = 0.5 * (s.v + solution_.v);
    record.energy.work_in += tau * f_.dot(mean_v_);
    for (Index k = 0; k < laws_.laws(); ++k)
      for (int c = 0; c < laws_.size(k); ++c) {
        const Index i = laws_.first(k) + c;
        const double smooth = laws_.has_weakening() ? weakening_[i] : 0.0, impulse = solution_.r[i] + smooth;
        const double mean_u = 0.5 * (u_[i] + solution_.u[i]);
        record.reaction_impulse[i] += solution_.r[i];
        record.smooth_impulse[i] += smooth;
        record.law_work[k] += impulse * (mean_u + w_[i]);
        record.energy.friction_loss -= impulse * mean_u;
        record.energy.work_in += impulse * w_[i];
      }
    record_modes(from, to, record);
    s.v = solution_.v;
    record_residuals(problem_, laws_, solution_.v, solution_.r, residuals_, record, momentum_, stick_);
  }
  friction_velocity_ = s.v;
  return {};
}

void SplittingScheme::record_modes(double t0, double t1, StepRecord& record) {
  std::vector<Mode>& modes = record.state.modes;
  for (Index k = 0; k < laws_.laws(); ++k) {
    if (springs_.takes(k)) continue;
    const Mode after = laws_.mode(k, solution_.u), before = modes[k];
    if (after != before && laws_.static_limit(k) > 0)
      if (const auto kind = event_between(before, after))
        record.events.push_back({before == Mode::stick ? t0 : t1, static_cast<int>(k), *kind, before, after, 0});
    modes[k] = after;
  }
}

StepOutcome SplittingScheme::elastic_flow(double t0, double tau, StepRecord& record) {
  State& s = record.state;
  set_elastic_matrix(tau);
  linear_.M.product(s.v, mean_v_);
  linear_.K.add_product(-tau / 2, s.q, mean_v_);
  if (laws_.has_viscous() && laws_.surface_moves())
    for (Index k = 0; k < laws_.laws(); ++k)
      for (int c = 0; c < laws_.size(k); ++c)
        for (SparseMatrix::InnerIterator entry(problem_.Wt, laws_.first(k) + c); entry; ++entry)
          mean_v_[entry.col()] += 0.5 * tau * laws_.viscous(k) * entry.value() * w_[laws_.first(k) + c];
  if (springs_.any()) {
    const StepOutcome outcome = stretch_springs(t0, tau, record);
    if (outcome.status != Status::success) return outcome;
  } else {
    elastic_factor_.solve(mean_v_);
  }
  for (Index k = 0; k < laws_.laws(); ++k)
    if (s.modes[k] == Mode::stick && !springs_.takes(k))
      for (int c = 0; c < laws_.size(k); ++c) {
        double moved = -w_[laws_.first(k) + c];
        for (SparseMatrix::InnerIterator entry(problem_.Wt, laws_.first(k) + c); entry; ++entry)
          moved += entry.value() * mean_v_[entry.col()];
        stick_.step.motion = std::max(stick_.step.motion, tau * std::abs(moved));
      }
  if (damped_) {
    linear_.B.product(mean_v_, scratch_);
    record.energy.damper_loss += tau * scratch_.dot(mean_v_);
    laws_.relative_velocity(mean_v_, w_, u_);
    for (Index k = 0; k < laws_.laws(); ++k)
      for (int c = 0; c < laws_.size(k); ++c) {
        const Index i = laws_.first(k) + c;
        const double impulse = -tau * laws_.viscous(k) * u_[i];
        record.smooth_impulse[i] += impulse;
        record.law_work[k] += impulse * (u_[i] + w_[i]);
        record.energy.friction_loss -= impulse * u_[i];
        record.energy.work_in += impulse * w_[i];
      }
  }
  s.q += tau * mean_v_;
  s.v = 2 * mean_v_ - s.v;
  return {};
}

StepOutcome SplittingScheme::step(double t_end, StepRecord& record) {
  const double t0 = record.state.t;
  // Grid times carry rounding; a step that differs from the last one by no more is the same step and keeps its factors.
  if (std::abs(t_end - t0 - tau_) > 4 * std::numeric_limits<double>::epsilon() * std::abs(t_end)) tau_ = t_end - t0;
  const double tau = tau_;
  record.duration = tau;
  clear_step(record);
  momentum_.step = stick_.step.motion = 0;
  record.reaction_impulse.setZero();
  record.smooth_impulse.setZero();
  StepOutcome outcome;
  switch (options_.variant) {
    case SplittingVariant::lie:
      outcome = friction_flow(t0, tau, record);
      if (outcome.status == Status::success) outcome = elastic_flow(t0, tau, record);
      break;
    case SplittingVariant::symmetrised:
      outcome = elastic_flow(t0, tau / 2, record);
      if (outcome.status == Status::success) outcome = friction_flow(t0, tau, record);
      if (outcome.status == Status::success) outcome = elastic_flow(t0 + tau / 2, tau / 2, record);
      break;
    case SplittingVariant::friction_first:
      outcome = friction_flow(t0, tau / 2, record);
      if (outcome.status == Status::success) outcome = elastic_flow(t0, tau, record);
      if (outcome.status == Status::success) outcome = friction_flow(t0 + tau / 2, tau / 2, record);
      break;
  }
  if (outcome.status != Status::success) return outcome;
  record.state.t = t_end;
  linear_.M.product(record.state.v, scratch_);
  record.energy.kinetic = 0.5 * scratch_.dot(record.state.v);
  linear_.K.product(record.state.q, scratch_);
  record.energy.potential = 0.5 * scratch_.dot(record.state.q) + springs_.energy();
  return outcome;
}

}  // namespace stickslip
