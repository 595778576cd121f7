// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/viscoelastic/viscoelastic_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/constrained_motion.hpp"

namespace stickslip {

namespace {
constexpr double kDefaultEpsilon = 1e-6;

void set_stiffness(ViscoelasticDynamics::Block& block) {
  const ViscoelasticConstraint& g = block.given;
  block.law.K = g.stiffness / g.epsilon;
  block.law.D = g.damping / std::pow(g.epsilon, g.exponent);
}

void copy_to(const SystemMatrix& from, DenseMatrix& to) {
  to.setZero();
  from.for_each([&](Index i, Index j, double value) { to(i, j) = value; });
}
}  // namespace

ViscoelasticDynamics::ViscoelasticDynamics(const System& system, double epsilon)
    : system_(system), workspace_(system.info()), friction_(system), epsilon_(epsilon) {
  n_ = system.info().nv();
  constraints_ = static_cast<Index>(system.constraints().size());
  m_ = constraints_ + friction_.components();
  add_constraint_blocks(epsilon);
  add_friction_blocks(epsilon);
  slips_.assign(blocks_.size(), 0);
  excess_.assign(blocks_.size(), -kNoLimit);
  limit_.assign(blocks_.size(), kNoLimit);
  for (Vector* x : {&q_, &v_, &h_, &a_, &f_, &product_, &moved_}) x->setZero(n_);
  for (Vector* x : {&zeta_, &u_, &rate_, &force_, &rate_z_, &K_}) x->setZero(m_);
  w_.setZero(friction_.components());
  A_.setZero(m_, n_);
  if (friction_.components() > 0) A_.bottomRows(friction_.components()) = DenseMatrix(friction_.Wt());
  for (DenseMatrix* x : {&M_, &X_, &V_}) x->setZero(n_, n_);
  Z_.setZero(n_, m_);
  PM_.setZero(n_, m_);
  U_.setZero(m_, n_);
  B_.setZero(m_, m_);
}

void ViscoelasticDynamics::add_constraint_blocks(double epsilon) {
  const auto& elements = system_.constraints();
  std::vector<std::string> disks;  // per block
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const ConstraintElement& element = elements[i];
    Block block;
    block.row[0] = static_cast<Index>(i);
    if (element.viscoelastic) {
      block.given = *element.viscoelastic;
      block.prepared = block.given.prepared;
    } else {
      block.given.epsilon = kDefaultEpsilon;
    }
    if (epsilon > 0) block.given.epsilon = epsilon;
    const std::string disk = element.viscoelastic ? element.viscoelastic->disk : "";
    const auto partner = disk.empty() ? disks.end() : std::find(disks.begin(), disks.end(), disk);
    if (partner != disks.end()) {
      Block& first = blocks_[static_cast<std::size_t>(partner - disks.begin())];
      const std::string& other = elements[static_cast<std::size_t>(first.row[0])].name;
      if (first.law.size == 2)
        throw InputError(fmt::format("constraint '{}': disk '{}' has two rows already ('{}' is one of them)",
                                     element.name, disk, other));
      if (first.given.stiffness != block.given.stiffness || first.given.damping != block.given.damping ||
          first.given.epsilon != block.given.epsilon || first.given.exponent != block.given.exponent)
        throw InputError(fmt::format(
            "constraints '{}' and '{}' share disk '{}' and must have the same stiffness, damping, epsilon and exponent",
            other, element.name, disk));
      first.row[1] = block.row[0];
      first.law.size = 2;
      continue;
    }
    if (element.viscoelastic && element.viscoelastic->limit) {
      block.limit = &*element.viscoelastic->limit;
      if (!(block.given.damping > 0))
        throw InputError(
            fmt::format("constraint '{}': viscoelastic.damping must be > 0 where there is a limit "
                        "(the rate of slip is a force over it)",
                        element.name));
    }
    set_stiffness(block);
    blocks_.push_back(block);
    open_.push_back(!element.viscoelastic);
    disks.push_back(disk);
  }
}

void ViscoelasticDynamics::add_friction_blocks(double epsilon) {
  for (Index k = 0; k < friction_.laws(); ++k) {
    Block block;
    block.friction = k;
    block.law.size = friction_.size(k);
    for (int c = 0; c < block.law.size; ++c)
      block.row[static_cast<std::size_t>(c)] = constraints_ + friction_.first(k) + c;
    block.given.damping = 2;
    block.given.epsilon = epsilon > 0 ? epsilon : kDefaultEpsilon;
    set_stiffness(block);
    blocks_.push_back(block);
    open_.push_back(1);
  }
}

void ViscoelasticDynamics::factor_mass() {
  if (factored_ && !system_.mass_varies()) return;
  copy_to(system_.mass(q_, workspace_), M_);
  llt_.compute(M_);
  factored_ = true;
}

void ViscoelasticDynamics::complete(double t, const Vector& q) {
  q_ = q;
  factor_mass();
  if (constraints_ > 0) {
    system_.evaluate_constraints(t, q, workspace_, rows_);
    A_.topRows(constraints_) = rows_.A;
  }
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    Block& block = blocks_[k];
    if (open_[k]) {
      h_ = A_.row(block.row[0]).transpose();
      llt_.solveInPlace(h_);
      const double beta = A_.row(block.row[0]).dot(h_), mass = beta > 0 ? 1 / beta : 1.0;
      block.given.stiffness = mass;
      block.given.damping = 2 * mass;
      set_stiffness(block);
    }
    for (int c = 0; c < block.law.size; ++c) K_[block.row[static_cast<std::size_t>(c)]] = block.law.K;
  }
}

void ViscoelasticDynamics::ideal_forces(double t, const Vector& q, const Vector& v, Vector& force) {
  force.setZero(m_);
  q_ = q;
  v_ = v;
  system_.force(t, q, v, workspace_, h_);
  if (friction_.laws() > 0) {
    friction_.evaluate_limits(t, q, v, workspace_);
    friction_.evaluate_surface(t, q, v, workspace_, w_);
    for (const Block& block : blocks_) {
      if (block.friction < 0) continue;
      double speed = 0;
      for (int c = 0; c < block.law.size; ++c) {
        const Index i = block.row[static_cast<std::size_t>(c)];
        u_[i] = A_.row(i).dot(v) - w_[i - constraints_];
        speed = std::hypot(speed, u_[i]);
      }
      for (int c = 0; c < block.law.size; ++c) {
        const Index i = block.row[static_cast<std::size_t>(c)];
        if (speed > 0) force[i] = friction_.limit(block.friction) * u_[i] / speed;
      }
    }
    h_.noalias() -= A_.bottomRows(friction_.components()).transpose() * force.tail(friction_.components());
  }
  if (constraints_ == 0) return;
  ConstraintWorkspace ideal(system_);
  refresh_constraints(system_, t, q, ideal);
  Vector bias(constraints_), lambda(constraints_);
  system_.constraint_bias(t, q, v, workspace_, bias);
  ideal.mass.acceleration(h_, bias, a_);
  ideal.mass.multipliers(h_, a_, lambda);
  force.head(constraints_) = -lambda;
}

void ViscoelasticDynamics::place(double t, const Vector& y) {
  q_ = y.head(n_);
  v_ = y.segment(n_, n_);
  zeta_ = y.tail(m_);
  if (constraints_ > 0) {
    system_.evaluate_constraints(t, q_, workspace_, rows_);
    A_.topRows(constraints_) = rows_.A;
    rate_.head(constraints_) = rows_.rate;
  }
  if (friction_.laws() > 0) {
    friction_.evaluate_limits(t, q_, v_, workspace_);
    friction_.evaluate_surface(t, q_, v_, workspace_, w_);
    rate_.tail(friction_.components()) = w_;
  }
  u_ = -rate_;
  u_.noalias() += A_ * v_;
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const Block& block = blocks_[k];
    limit_[k] = kNoLimit;
    if (block.friction >= 0) limit_[k] = friction_.limit(block.friction);
    if (block.limit) {
      workspace_.variables.set(t, q_, v_);
      limit_[k] = (*block.limit)(workspace_.variables.span());
      if (!(limit_[k] >= 0))
        throw InputError(fmt::format("constraint '{}': viscoelastic.limit = {:.6g} at t = {:.9g} must be >= 0",
                                     system_.constraints()[static_cast<std::size_t>(block.row[0])].name, limit_[k], t));
    }
    double zeta[2]{}, u[2]{}, norm = 0;
    for (int c = 0; c < block.law.size; ++c) {
      const Index i = block.row[static_cast<std::size_t>(c)];
      zeta[c] = zeta_[i];
      u[c] = u_[i];
      norm = std::hypot(norm, zeta[c] + block.law.D * u[c]);
    }
    const ViscoelasticForce response = viscoelastic_force(block.law, limit_[k], zeta, u);
    slips_[k] = response.slips;
    excess_[k] = norm - limit_[k];
    for (int c = 0; c < block.law.size; ++c) {
      const Index i = block.row[static_cast<std::size_t>(c)];
      force_[i] = response.force[static_cast<std::size_t>(c)];
      rate_z_[i] = response.rate[static_cast<std::size_t>(c)];
    }
  }
}

/// a_ at the placed state.
void ViscoelasticDynamics::accelerate(double t) {
  factor_mass();
  system_.force(t, q_, v_, workspace_, h_);
  a_ = h_;
  a_.noalias() -= A_.transpose() * force_;
  llt_.solveInPlace(a_);
}

bool ViscoelasticDynamics::derivative(double t, const Vector& y, Vector& dydt) {
  place(t, y);
  accelerate(t);
  dydt.head(n_) = v_;
  dydt.segment(n_, n_) = a_;
  dydt.tail(m_) = rate_z_;
  return true;
}

/// X -= ∂(M a)/∂q
void ViscoelasticDynamics::add_mass_slope(DenseMatrix& X) {
  if (!system_.mass_varies()) return;
  product_.noalias() = M_ * a_;
  for (Index j = 0; j < n_; ++j) {
    moved_ = q_;
    moved_[j] += 1e-7 * (1 + std::abs(q_[j]));
    const double increment = moved_[j] - q_[j];
    const SystemMatrix& M = system_.mass(moved_, workspace_);
    f_.setZero();
    M.add_product(1.0, a_, f_);
    X.col(j) -= (f_ - product_) / increment;
  }
}

bool ViscoelasticDynamics::jacobian(double t, const Vector& y, DenseMatrix& J) {
  place(t, y);
  accelerate(t);
  if (const LinearPart* linear = system_.linear()) {
    system_.applied_force_jacobian(t, q_, v_, workspace_, by_q_, by_v_);
    copy_to(by_q_, X_);
    copy_to(by_v_, V_);
    linear->K.for_each([&](Index i, Index j, double value) { X_(i, j) -= value; });
    linear->B.for_each([&](Index i, Index j, double value) { V_(i, j) -= value; });
  } else {
    system_.force_jacobian(t, q_, v_, workspace_, by_q_, by_v_);
    copy_to(by_q_, X_);
    copy_to(by_v_, V_);
  }
  add_mass_slope(X_);
  U_.setZero();
  if (constraints_ > 0) {
    constraint_force_ = force_.head(constraints_);
    system_.constraint_force_jacobian(t, q_, constraint_force_, workspace_, force_by_q_);
    X_ -= force_by_q_;
    system_.constraint_velocity_jacobian(t, q_, v_, workspace_, velocity_by_q_);
    U_.topRows(constraints_) = velocity_by_q_;
  }
  J.setZero(size(), size());
  J.block(0, n_, n_, n_).setIdentity();
  Z_.setZero();
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const Block& block = blocks_[k];
    double zeta[2]{}, u[2]{};
    for (int c = 0; c < block.law.size; ++c) {
      zeta[c] = zeta_[block.row[static_cast<std::size_t>(c)]];
      u[c] = u_[block.row[static_cast<std::size_t>(c)]];
    }
    const ViscoelasticSlopes slopes = viscoelastic_slopes(block.law, limit_[k], zeta, u);
    const double D = block.law.D, K = block.law.K;
    for (int a = 0; a < block.law.size; ++a) {
      const Index i = block.row[static_cast<std::size_t>(a)];
      for (int b = 0; b < block.law.size; ++b) {
        const Index j = block.row[static_cast<std::size_t>(b)];
        const double P = slopes.by_s[static_cast<std::size_t>(2 * a + b)];
        if (P != 0) {
          X_.noalias() -= (D * P) * A_.row(i).transpose() * U_.row(j);
          V_.noalias() -= (D * P) * A_.row(i).transpose() * A_.row(j);
          Z_.col(j).noalias() -= P * A_.row(i).transpose();
          J.block(2 * n_ + i, 0, 1, n_) += K * P * U_.row(j);
          J.block(2 * n_ + i, n_, 1, n_) += K * P * A_.row(j);
        }
        if (slopes.slips) J(2 * n_ + i, 2 * n_ + j) += K / D * (P - (a == b ? 1.0 : 0.0));
      }
    }
    const StateFunction* limit = block.friction >= 0 ? &friction_.element(block.friction).limit : block.limit;
    const Expression* expression = slopes.slips && limit ? limit->expression() : nullptr;
    if (!expression) continue;
    workspace_.variables.set(t, q_, v_);
    for (const Index slot : expression->variables_used()) {
      if (slot < 1 || slot > 2 * n_) continue;
      const double slope = expression->derivative(workspace_.variables.span(), slot);
      for (int a = 0; a < block.law.size; ++a) {
        const Index i = block.row[static_cast<std::size_t>(a)];
        const double by = slopes.by_limit[static_cast<std::size_t>(a)] * slope;
        (slot <= n_ ? X_.col(slot - 1) : V_.col(slot - 1 - n_)).noalias() -= by * A_.row(i).transpose();
        J(2 * n_ + i, slot - 1) += K / D * by;
      }
    }
  }
  llt_.solveInPlace(X_);
  llt_.solveInPlace(V_);
  llt_.solveInPlace(Z_);
  J.block(n_, 0, n_, n_) = X_;
  J.block(n_, n_, n_, n_) = V_;
  J.block(n_, 2 * n_, n_, m_) = Z_;
  return true;
}

void ViscoelasticDynamics::powers(double t, const Vector& y, Vector& out) {
  place(t, y);
  system_.applied_force(t, q_, v_, workspace_, f_);
  out.setZero(powers_size());
  out[0] = f_.dot(v_) + system_.inertia_power(q_, v_) - force_.dot(rate_);
  out[1] = system_.damper_power(q_, v_);
  for (const Block& block : blocks_) {
    double law_power = 0;
    for (int c = 0; c < block.law.size; ++c) {
      const Index i = block.row[static_cast<std::size_t>(c)];
      const double z_rate = rate_z_[i] / block.law.K;
      out[1] += (force_[i] - zeta_[i]) * z_rate;
      out[2] += force_[i] * (u_[i] - z_rate);
      law_power -= force_[i] * (u_[i] + rate_[i]);
      out[3 + i] = -force_[i];
    }
    if (block.friction >= 0) out[3 + m_ + block.friction] = law_power;
  }
}

double ViscoelasticDynamics::spring_energy(const Vector& y) const {
  double twice = 0;
  for (Index i = 0; i < m_; ++i) twice += y[2 * n_ + i] * y[2 * n_ + i] / K_[i];
  return 0.5 * twice;
}

double ViscoelasticDynamics::fast_damping() {
  if (constraints_ == 0) return kNoLimit;
  factor_mass();
  PM_ = A_.transpose();
  llt_.solveInPlace(PM_);
  B_.noalias() = A_ * PM_;
  for (const Block& block : blocks_)
    for (int c = 0; c < block.law.size; ++c) {
      const Index i = block.row[static_cast<std::size_t>(c)];
      const double s = block.law.D / std::sqrt(block.law.K);
      B_.row(i) *= s;
      B_.col(i) *= s;
    }
  eigen_.compute(B_.topLeftCorner(constraints_, constraints_), Eigen::EigenvaluesOnly);
  return eigen_.eigenvalues()[0];
}

double ViscoelasticDynamics::force_round_off(Index row) {
  factor_mass();
  f_ = A_.row(row).transpose();
  llt_.solveInPlace(f_);
  const double beta = A_.row(row).dot(f_);
  double D = 0;
  for (const Block& block : blocks_)
    for (int c = 0; c < block.law.size; ++c)
      if (block.row[static_cast<std::size_t>(c)] == row) D = block.law.D;
  const double speed = A_.row(row).cwiseAbs().dot(v_.cwiseAbs()) + std::abs(rate_[row]);
  return std::numeric_limits<double>::epsilon() * std::max(speed, 1e-3) *
         std::max(D, beta > 0 ? std::sqrt(K_[row] / beta) : 0.0);
}

Vector ViscoelasticDynamics::z_of(const Vector& y) const { return y.tail(m_).cwiseQuotient(K_); }

void ViscoelasticDynamics::zeta_from(const Vector& z, Vector& y) const { y.tail(m_) = z.cwiseProduct(K_); }

}  // namespace stickslip
