// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/mode_dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stickslip {

ModeDynamics::ModeDynamics(const System& system)
    : system_(system),
      workspace_(system),
      friction_(system),
      following_(system),
      reach_(system.kinematics()),
      projection_(system) {
  n_ = system.info().nv();
  Index springs = 0;
  for (Index k = 0; k < friction_.laws(); ++k) {
    laws_.push_back({nullptr, friction_.first(k), friction_.size(k), friction_.size(k)});
    if (!friction_.element(k).elastic()) continue;
    laws_.back().stiffness = friction_.element(k).stiffness;
    laws_.back().spring = springs;
    springs += friction_.size(k);
  }
  d_.setZero(springs);
  friction_components_ = m_ = friction_.components();
  for (const ContactElement& contact : system.laws().contacts()) {
    laws_.push_back({&contact, m_, contact.size(), contact.tangents});
    m_ += contact.size();
  }
  const bool only_friction = system.laws().contacts().empty() && system.laws().constraints().empty();
  constant_geometry_ = system.inertia().constant() && (only_friction || system.has_series());
  for (Vector* x : {&u_, &w_, &bias_, &r_, &smooth_}) x->setZero(m_);
  w_friction_.setZero(friction_components_);
  for (Vector* x : {&gap_, &limit_, &static_limit_}) x->setZero(static_cast<Index>(laws_.size()));
  for (Vector* x : {&h_, &a_free_, &a_, &scratch_}) x->setZero(n_);
  Wt_.setZero(m_, n_);
  Wt_.topRows(friction_components_) = DenseMatrix(friction_.Wt());
  own_.assign(static_cast<std::size_t>(m_), -1);
  for (Index i = 0; i < friction_components_; ++i) {
    Index at = 0;
    if (Wt_.row(i).cwiseAbs().maxCoeff(&at) == 1 && Wt_(i, at) == 1 && Wt_.row(i).cwiseAbs().sum() == 1)
      own_[static_cast<std::size_t>(i)] = at;
  }
  PW_.setZero(n_, m_);
  D_.setZero(m_, m_);
  direction_.setZero(2, static_cast<Index>(laws_.size()));
  heading_.assign(laws_.size(), Heading::velocity);
  unloaded_.assign(laws_.size(), 0);
  idle_.assign(laws_.size(), 0);
  auto vanishes = [](const StateFunction& f) { return f.is_constant() && f({}) == 0; };
  for (Index k = 0; k < friction_.laws(); ++k) {
    const FrictionElement& element = friction_.element(k);
    idle_[static_cast<std::size_t>(k)] =
        vanishes(element.limit) && (!element.static_limit || vanishes(*element.static_limit));
  }
  for (std::size_t k = 0; k < laws_.size(); ++k)
    if (const ContactElement* contact = laws_[k].contact) {
      limit_[k] = contact->mu;
      static_limit_[k] = contact->mu_static.value_or(contact->mu);
    }
  constraint_bias_.setZero(static_cast<Index>(system.laws().constraints().size()));
}

std::string_view ModeDynamics::name(std::size_t law) const {
  if (laws_[law].contact) return laws_[law].contact->name;
  return friction_.element(static_cast<Index>(law)).name;
}

void ModeDynamics::set_limits(std::size_t law, double limit, double static_limit) {
  limit_[static_cast<Index>(law)] = limit;
  static_limit_[static_cast<Index>(law)] = static_limit;
}

void ModeDynamics::set_direction(std::size_t law, double d1, double d2) {
  direction_(0, static_cast<Index>(law)) = d1;
  direction_(1, static_cast<Index>(law)) = d2;
}

void ModeDynamics::take_choices(const ModeDynamics& other) {
  unloaded_ = other.unloaded_;
  direction_ = other.direction_;
  heading_ = other.heading_;
}

/// Only the gaps change where the rows are constant.
void ModeDynamics::place_contacts(double t, const Vector& q, const Vector& v) {
  if (system_.laws().contacts().empty()) return;
  system_.laws().contact_source().find(t, q, HUGE_VAL, workspace_, found_);
  const std::size_t first_law = static_cast<std::size_t>(friction_.laws());
  for (const ContactSite& point : found_.points) gap_[static_cast<Index>(first_law) + point.law] = point.gap;
  if (constant_geometry_ && placed_) return;
  Wt_.bottomRows(m_ - friction_components_).setZero();
  for (Index row = 0; row < found_.Wt.rows(); ++row)
    for (SparseMatrix::InnerIterator entry(found_.Wt, row); entry; ++entry)
      Wt_(friction_components_ + row, entry.col()) = entry.value();
  w_.tail(m_ - friction_components_) = found_.w;
  system_.laws().contact_source().bias(t, q, v, HUGE_VAL, workspace_, contact_bias_);
  bias_.tail(m_ - friction_components_) = contact_bias_;
}

/// -dw/dt along the motion at constant v.
void ModeDynamics::friction_bias(double t, const Vector& q, const Vector& v) {
  friction_.evaluate_surface(t, q, v, workspace_, w_friction_);
  w_.head(friction_components_) = w_friction_;
  if (!friction_.surface_moves()) return;
  system_.kinematics().rate(q, v, qdot_);
  workspace_.variables.set(t, q, v);
  const auto variables = workspace_.variables.span();
  for (Index k = 0; k < friction_.laws(); ++k) {
    const auto& surface = friction_.element(k).surface_velocity;
    for (std::size_t c = 0; c < surface.size(); ++c) {
      double rate = 0;
      for (const Index slot : surface[c].variables_used()) {
        const double speed = slot == 0 ? 1.0 : slot <= qdot_.size() ? qdot_[slot - 1] : 0.0;
        if (speed != 0) rate += speed * surface[c].derivative(variables, slot);
      }
      bias_[friction_.first(k) + static_cast<Index>(c)] = -rate;
    }
  }
}

void ModeDynamics::place_mass(const Vector& q) {
  constexpr double kBlocked = 1e-12;  // of the length of a row: round-off of N, with some digits for constraints that
                                      // are nearly dependent
  if (rows_.A.cols() != n_) rows_.A.resize(0, n_);
  mass_.refresh(system_.inertia().mass(q, workspace_), rows_.A);
  columns_ = Wt_.transpose();
  const DenseMatrix& N = mass_.free_directions();
  NW_.noalias() = N.transpose() * columns_;
  mass_.lengths(columns_, length_);
  mass_.apply(columns_, PW_);
  D_.noalias() =
      Wt_ * PW_;  // to the last bit what PW_ does to u: what sticks on a coordinate of its own does not creep
  for (Index i = 0; i < m_; ++i)
    if (NW_.col(i).norm() <= kBlocked * length_[i]) {
      NW_.col(i).setZero();
      PW_.col(i).setZero();
      D_.col(i).setZero();
      D_.row(i).setZero();
    }
}

double ModeDynamics::terms(Index i, const Vector& x) {
  return blocked(i) ? length_[i] * mass_.norm(x) : Wt_.row(i).cwiseAbs().dot(x.cwiseAbs());
}

void ModeDynamics::place(double t, const Vector& q, const Vector& v) {
  t_ = t;
  if (d_.size() > 0) {
    q_ = q;
    v_ = v;
  }
  friction_.evaluate_limits(t, q, v, workspace_, false);
  following_.place(t, q, v);
  for (Index k = 0; k < friction_.laws(); ++k) {
    if (following_.follows(static_cast<std::size_t>(k))) continue;
    limit_[k] = friction_.limit(k);
    static_limit_[k] = friction_.static_limit(k);
  }
  friction_bias(t, q, v);
  place_contacts(t, q, v);
  u_.noalias() = Wt_ * v;
  u_ -= w_;
  if (!system_.laws().constraints().empty()) {
    if (!constant_geometry_ || !placed_) system_.laws().constraint_source().evaluate(t, q, workspace_, rows_);
    system_.laws().constraint_source().bias(t, q, v, workspace_, constraint_bias_);
  }
  if (!constant_geometry_ || !placed_) place_mass(q);
  placed_ = true;
  system_.force(t, q, v, workspace_, h_);
  mass_.acceleration(h_, constraint_bias_, a_free_);
}

int ModeDynamics::other_side(std::size_t law, const std::vector<Mode>& modes) const {
  constexpr double kBackToBack = 1e-9;  // of the difference of their unit normals, in the metric of the mass
  if (!laws_[law].contact || modes[law] == Mode::open) return -1;
  const Index i = laws_[law].first;
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    const Index j = laws_[k].first;
    if (k == law || !laws_[k].contact || modes[k] == Mode::open || !(D_(i, j) < 0)) continue;
    const double length_i = std::sqrt(D_(i, i)), length_j = std::sqrt(D_(j, j));
    if (D_(i, j) > -0.999 * length_i * length_j) continue;
    // D itself cannot tell: a heavy body on a light one has normals that differ by the root of the mass ratio.
    if ((NW_.col(i) / length_i + NW_.col(j) / length_j).norm() <= kBackToBack) return static_cast<int>(k);
  }
  return -1;
}

}  // namespace stickslip
