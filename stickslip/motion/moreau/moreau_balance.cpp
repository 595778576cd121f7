// SPDX-License-Identifier: Apache-2.0
// The balance of momentum of one step, A v1 = g + W p + Gᵀ Λ: matrix, right-hand side, velocity without reactions.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

/// q = q0 ⊕ dt v
void MoreauScheme::move(double dt, const Vector& v, Vector& q) {
  displacement_ = dt * v;
  q = q0_;
  system_.kinematics().displace(displacement_, q);
}

/// The state before the step, and the configuration in its middle.
void MoreauScheme::begin(double h, const State& state) {
  t0_ = state.t;
  if (drift_kick_) {
    q0_ = q_m_ = state.q;
    v0_ = v_m_ = state.v;
    free_motion_->drift(0.5 * h, q_m_, v_m_);
  } else if (!system_.kinematics().flat()) {
    q0_ = state.q;
    v0_ = v_m_ = state.v;
    move(0.5 * h, v0_, q_m_);
  } else if (lean_ && !nonlinear_) {  // nothing is asked of the middle
    for (Index i = 0; i < v0_.size(); ++i) {
      q0_[i] = state.q[i];
      v0_[i] = state.v[i];
    }
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

namespace {

bool is_finite(const SystemMatrix& A) {
  double zero = 0;
  A.for_each([&](Index, Index, double a) { zero += 0.0 * a; });
  return zero == 0;
}

}  // namespace

void MoreauScheme::set_step_matrix(double h) {
  if (h == matrix_h_ && !nonlinear_ && !stiff_) return;
  if (damps_late_) damping_share_.setConstant(options_.theta);
  damps_late_ = false;
  set_step_matrix_at(h, q_m_, nonlinear_ ? v0_ : v_m_);
}

/// Slopes of forces at (q, v).
void MoreauScheme::set_step_matrix_at(double h, const Vector& q, const Vector& v, bool at_iterate) {
  const double theta = options_.theta;
  std::array<double, 8> alpha{1};
  std::size_t terms = 1;
  if (linear_) {
    alpha[terms++] = h * theta;
    alpha[terms++] = h * h * theta * theta;
  }
  if (nonlinear_) {
    if (!linear_) mass_ = system_.inertia().mass(q, workspace_);
    if (linear_) {
      system_.forces().applied_slopes(t0_ + 0.5 * h, q, v, workspace_, by_q_, by_v_);
    } else {
      system_.force_slopes(t0_ + 0.5 * h, q, v, workspace_, by_q_, by_v_);
    }
    weigh_damping(t0_ + 0.5 * h, q, at_iterate);
    alpha[terms++] = -h * h * theta * theta;
    alpha[terms++] = -h * theta;
    alpha[terms++] = h;
  }
  if (stiff_) {
    system_.forces().slopes(t0_ + 0.5 * h, q, v, workspace_, by_q_, by_v_);
    alpha[terms++] = -0.5 * h * h * theta;
    alpha[terms++] = -h * theta;
  }
  if (laws_.has_viscous() && !linear_implicit()) alpha[terms++] = h * theta;
  if (springs_.any()) alpha[terms++] = h * h * theta * theta;
  step_matrix_.evaluate({alpha.data(), terms});
  matrix_is_finite_ = !nonlinear_ || is_finite(step_matrix_.value());
  matrix_h_ = h;
  problem_.A_version = ++version_;
  ++factor_version_;
  if (lean_ || !matrix_is_finite_) return;  // the solver of friction has factors of its own
  if (!factor_.factorize(step_matrix_.value(), none_pinned_))
    throw InputError(
        fmt::format("moreau: the matrix of the step at t = {:.9g} s is not positive definite (a force with a "
                    "negative slope too strong for the step); reduce run.step",
                    t0_));
  const SystemMatrix& A = step_matrix_.value();
  for (Index i = 0; i < A.size(); ++i) inverse_diagonal_[i] = 1.0 / A(i, i);
}

/// Everything but the reactions, with forces at the iterate v1 = v.
void MoreauScheme::right_hand_side(double h, const Vector& v) {
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
    add_forces(h, v);
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
  if (laws_.has_weakening() || laws_.has_viscous()) add_smooth_friction(h, v);
  if (springs_.any()) add_elastic_friction(h, v);
}

/// Forces that cancel, as those of a potential in its minimum, are known as well as the positions they are made of:
/// what that leaves open of the velocities is no size of theirs, nor of the load.
bool MoreauScheme::changes_by_rounding_of_forces(double h) const {
  constexpr double kTerms = 8 * std::numeric_limits<double>::epsilon();
  if (!nonlinear_ || !system_.kinematics().flat()) return false;
  Vector open = Vector::Zero(iterate_.size());
  by_q_.for_each([&](Index i, Index j, double slope) { open[i] += kTerms * h * std::abs(slope * q_theta_[j]); });
  for (Index i = 0; i < open.size(); ++i)
    if (!(std::abs(solution_.v[i] - iterate_[i]) <= open[i] / step_matrix_.value()(i, i))) return false;
  return true;
}

/// h F(t, q_θ, v_θ) in Newton's form: applied forces of time by their mean, all else in the middle.
void MoreauScheme::add_forces(double h, const Vector& v) {
  const double t = forces_.left_limit(t0_ + (options_.force == ForceSampling::end ? 1.0 : options_.theta) * h, h);
  Vector& g = problem_.g;
  system_.force(t, q_theta_, v_theta_, workspace_, f_);
  g += h * f_;
  if (damps_late_) add_late_damping(h, t, v, g);
  if (options_.force != ForceSampling::mean || !system_.forces().applied_depends_on_time()) return;
  system_.forces().applied(t, q_theta_, v_theta_, workspace_, scratch_);
  g -= h * scratch_;
  forces_.sample(options_.force, t0_, t0_ + h, q_theta_, v_theta_, workspace_, mean_force_);
  g += h * mean_force_;
}

/// Weakening at u_θ; the viscous part too in Newton's form, where its slope is in A. Otherwise the matrix has all of it
/// but for the surfaces that move.
void MoreauScheme::add_smooth_friction(double h, const Vector& v) {
  const double theta = options_.theta;
  laws_.relative_velocity(drift_kick_ ? v_m_ : v0_, w0_friction_, smooth_);
  laws_.relative_velocity(v, w1_friction_, u_theta_);
  u_theta_ = theta * u_theta_ + (1 - theta) * smooth_;
  laws_.weakening_force(u_theta_, h, smooth_);
  if (linear_implicit()) {
    laws_.add_reactions(1.0, smooth_, problem_.g);
    weakened_ = smooth_;
    if (!laws_.has_viscous() || !laws_.surface_moves()) return;
    for (Index k = 0; k < laws_.laws(); ++k)
      for (int c = 0; c < laws_.size(k); ++c) {
        const Index i = laws_.first(k) + c;
        smooth_[i] = h * laws_.viscous(k) * (theta * w1_friction_[i] + (1 - theta) * w0_friction_[i]);
      }
    laws_.add_reactions(1.0, smooth_, problem_.g);
    return;
  }
  for (Index k = 0; k < laws_.laws(); ++k)
    smooth_.segment(laws_.first(k), laws_.size(k)) -=
        h * laws_.viscous(k) * u_theta_.segment(laws_.first(k), laws_.size(k));
  laws_.add_reactions(1.0, smooth_, problem_.g);
  if (!nonlinear_) viscous_.add_product(h * theta, v, problem_.g);
}

/// Springs are part of A, whether their sliders move or not: what the force is less than that of a spring is iterated.
void MoreauScheme::add_elastic_friction(double h, const Vector& v) {
  const double theta = options_.theta;
  if (!laws_.limits_depend_on_state())
    laws_.evaluate_limits(forces_.left_limit(t0_ + 0.5 * h, h), q0_, v0_, workspace_);
  laws_.relative_velocity(v0_, w0_friction_, smooth_);
  laws_.relative_velocity(v, w1_friction_, u_theta_);
  u_theta_ = theta * u_theta_ + (1 - theta) * smooth_;
  springs_.impulse(h, theta, u_theta_, spring_impulse_);
  laws_.add_reactions(1.0, spring_impulse_, problem_.g);
  if (!nonlinear_) spring_stiffness_.add_product(h * h * theta * theta, v, problem_.g);
}

const Vector& MoreauScheme::inverse_diagonal() {
  if (!lean_) return inverse_diagonal_;
  residuals_.inverse_diagonal.refresh(problem_);
  return residuals_.inverse_diagonal.value;
}

void MoreauScheme::free_velocity() {
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

}  // namespace stickslip
