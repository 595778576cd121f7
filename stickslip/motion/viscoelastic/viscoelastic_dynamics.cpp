// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/viscoelastic/viscoelastic_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/constrained_motion.hpp"
#include "stickslip/motion/elastic_friction.hpp"

namespace stickslip {

namespace {
constexpr double kDefaultEpsilon = 1e-6;

void set_stiffness(ViscoelasticDynamics::Block& block) {
  const ViscoelasticConstraint& g = block.given;
  block.law.K = g.stiffness / g.epsilon;
  block.law.D = g.damping / (g.exponent == 0.5 ? std::sqrt(g.epsilon) : std::pow(g.epsilon, g.exponent));
}
}  // namespace

ViscoelasticDynamics::ViscoelasticDynamics(const System& system, double epsilon)
    : system_(system), workspace_(system), friction_(system), epsilon_(epsilon) {
  n_ = system.info().nv();
  nq_ = system.info().nq();
  constraints_ = static_cast<Index>(system.laws().constraints().size());
  m_ = constraints_ + friction_.components();
  add_constraint_blocks(epsilon);
  add_friction_blocks(epsilon);
  slips_.assign(blocks_.size(), 0);
  excess_.assign(blocks_.size(), -kNoLimit);
  limit_.assign(blocks_.size(), kNoLimit);
  for (Vector* x : {&q_, &moved_, &qdot_}) x->setZero(nq_);
  for (Vector* x : {&v_, &h_, &a_, &f_, &product_, &tangent_}) x->setZero(n_);
  for (Vector* x : {&zeta_, &u_, &rate_, &force_, &rate_z_, &K_}) x->setZero(m_);
  w_.setZero(friction_.components());
  reach_.setOnes(n_);
  for (Vector* x : {&friction_u_, &friction_force_}) x->setZero(friction_.components());
  rows_.A.setZero(constraints_, n_);
  B_.setZero(constraints_, constraints_);
  none_pinned_.assign(static_cast<std::size_t>(n_), 0);
}

void ViscoelasticDynamics::add_constraint_blocks(double epsilon) {
  const auto& elements = system_.laws().constraints();
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
  if (factored_ && !!system_.inertia().constant()) return;
  factored_ = mass_.factorize(system_.inertia().mass(q_, workspace_), none_pinned_);
  if (!factored_) throw InputError("the mass matrix is not positive definite");
}

void ViscoelasticDynamics::row_of(Index i, Vector& out) const {
  if (i < constraints_) {
    out = rows_.A.row(i);
    return;
  }
  out.setZero(n_);
  for (SparseMatrix::InnerIterator entry(friction_.Wt(), i - constraints_); entry; ++entry)
    out[entry.col()] = entry.value();
}

void ViscoelasticDynamics::subtract_forces(const Vector& force, Vector& g) {
  if (constraints_ > 0) g.noalias() -= rows_.A.transpose() * force.head(constraints_);
  if (friction_.laws() == 0) return;
  friction_force_ = force.tail(friction_.components());
  friction_.add_reactions(-1.0, friction_force_, g);
}

void ViscoelasticDynamics::complete(double t, const Vector& q) {
  q_ = q;
  factor_mass();
  if (constraints_ > 0) system_.laws().constraint_source().evaluate(t, q, workspace_, rows_);
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    Block& block = blocks_[k];
    if (open_[k]) {
      row_of(block.row[0], f_);
      h_ = f_;
      mass_.solve(h_);
      const double beta = f_.dot(h_), mass = beta > 0 ? 1 / beta : 1.0;
      const double spring = block.friction >= 0 ? friction_.element(block.friction).stiffness : 0.0;
      if (spring > 0) {
        block.law.K = spring;
        block.law.D = spring * relaxation_of_spring(spring, mass, block.given.epsilon);
        for (int c = 0; c < block.law.size; ++c) K_[block.row[static_cast<std::size_t>(c)]] = spring;
        continue;
      }
      block.given.stiffness = mass;
      block.given.damping = 2 * mass;
      set_stiffness(block);
      longest_default_time_ = std::max(longest_default_time_, std::sqrt(block.given.epsilon));
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
    friction_.relative_velocity(v, w_, friction_u_);
    for (const Block& block : blocks_) {
      // A spring in series has the deformation it is given.
      if (block.friction < 0 || friction_.element(block.friction).elastic()) continue;
      double speed = 0;
      for (int c = 0; c < block.law.size; ++c) {
        const Index i = block.row[static_cast<std::size_t>(c)];
        u_[i] = friction_u_[i - constraints_];
        speed = std::hypot(speed, u_[i]);
      }
      for (int c = 0; c < block.law.size; ++c) {
        const Index i = block.row[static_cast<std::size_t>(c)];
        if (speed > 0) force[i] = friction_.limit(block.friction) * u_[i] / speed;
      }
    }
    friction_force_ = force.tail(friction_.components());
    friction_.add_reactions(-1.0, friction_force_, h_);
  }
  if (constraints_ == 0) return;
  ConstraintWorkspace ideal(system_);
  refresh_constraints(system_, t, q, ideal);
  Vector bias(constraints_), lambda(constraints_);
  system_.laws().constraint_source().bias(t, q, v, workspace_, bias);
  ideal.mass.acceleration(h_, bias, a_);
  ideal.mass.multipliers(h_, a_, lambda);
  force.head(constraints_) = -lambda;
}

void ViscoelasticDynamics::place(double t, const Vector& y) {
  q_ = y.head(nq_);
  v_ = y.segment(nq_, n_);
  zeta_ = y.tail(m_);
  if (constraints_ > 0) {
    system_.laws().constraint_source().evaluate(t, q_, workspace_, rows_);
    rate_.head(constraints_) = rows_.rate;
    u_.head(constraints_).noalias() = rows_.A * v_;
    u_.head(constraints_) -= rows_.rate;
  }
  if (friction_.laws() > 0) {
    friction_.evaluate_limits(t, q_, v_, workspace_);
    friction_.evaluate_surface(t, q_, v_, workspace_, w_);
    friction_.relative_velocity(v_, w_, friction_u_);
    rate_.tail(friction_.components()) = w_;
    u_.tail(friction_.components()) = friction_u_;
  }
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const Block& block = blocks_[k];
    limit_[k] = kNoLimit;
    if (block.friction >= 0) limit_[k] = friction_.limit(block.friction);
    if (block.limit) {
      workspace_.variables.set(t, q_, v_);
      limit_[k] = (*block.limit)(workspace_.variables.span());
      if (!(limit_[k] >= 0))
        throw InputError(fmt::format("constraint.{}.viscoelastic.limit = {:.6g} at t = {:.9g} must be >= 0",
                                     system_.laws().constraints()[static_cast<std::size_t>(block.row[0])].name,
                                     limit_[k], t));
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
  subtract_forces(force_, a_);
  mass_.solve(a_);
}

bool ViscoelasticDynamics::derivative(double t, const Vector& y, Vector& dydt) {
  place(t, y);
  accelerate(t);
  system_.kinematics().rate(q_, v_, qdot_);
  dydt.head(nq_) = qdot_;
  dydt.segment(nq_, n_) = a_;
  dydt.tail(m_) = rate_z_;
  return true;
}

void ViscoelasticDynamics::powers(double t, const Vector& y, Vector& out) {
  place(t, y);
  system_.forces().applied(t, q_, v_, workspace_, f_);
  out.setZero(powers_size());
  out[0] = f_.dot(v_) + system_.inertia().power(q_, v_) - force_.dot(rate_);
  out[1] = system_.forces().damper_power(q_, v_);
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
  for (Index i = 0; i < m_; ++i) twice += y[springs() + i] * y[springs() + i] / K_[i];
  return 0.5 * twice;
}

double ViscoelasticDynamics::fast_damping() {
  if (constraints_ == 0) return kNoLimit;
  factor_mass();
  for (Index i = 0; i < constraints_; ++i) {
    f_ = rows_.A.row(i);
    mass_.solve(f_);
    B_.col(i).noalias() = rows_.A * f_;
  }
  for (const Block& block : blocks_)
    for (int c = 0; block.friction < 0 && c < block.law.size; ++c) {
      const Index i = block.row[static_cast<std::size_t>(c)];
      const double s = block.law.D / std::sqrt(block.law.K);
      B_.row(i) *= s;
      B_.col(i) *= s;
    }
  eigen_.compute(B_, Eigen::EigenvaluesOnly);
  return eigen_.eigenvalues()[0];
}

void ViscoelasticDynamics::z_of(const Vector& y, Vector& z) const { z = y.tail(m_).cwiseQuotient(K_); }

void ViscoelasticDynamics::zeta_from(const Vector& z, Vector& y) const { y.tail(m_) = z.cwiseProduct(K_); }

}  // namespace stickslip
