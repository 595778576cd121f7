// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/stepping_equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/common/error.hpp"
#include "stickslip/periodic/extremes.hpp"
#include "stickslip/periodic/stepping_parts.hpp"
#include "stickslip/periodic/weighted_residual.hpp"

namespace stickslip {

std::string stepping_refusal(const System& system) {
  if (std::string reason = weighted_residual_refusal(system); !reason.empty()) return reason;
  for (const FrictionElement& law : system.laws().friction())
    if (law.elastic()) return fmt::format("'{}' has a spring in series", law.name);
  for (const ContactElement& law : system.laws().contacts())
    if (law.restitution > 0)
      return fmt::format("'{}' has a restitution, and impacts on a fixed grid have no solution but by chance",
                         law.name);
  return "";
}

SteppingEquations::~SteppingEquations() = default;

SteppingEquations::SteppingEquations(const System& system, const PeriodicOptions& options, double t0,
                                     const Vector& q_reference)
    : system_(system),
      options_(options),
      scales_(periodic_scales(system, options, t0, q_reference)),
      t0_(t0),
      omega_guess_(2 * std::numbers::pi / options.motion_period()),
      n_(system.info().nv()),
      N_(options.steps),
      workspace_(system),
      q_reference_(q_reference),
      sparse_(std::make_unique<Sparse>()) {
  if (const std::string reason = stepping_refusal(system); !reason.empty())
    throw InputError(fmt::format("method = \"stepping\" does not apply: {}; use method = \"event\"", reason));
  for (Vector* x : {&q_, &v_, &a_, &force_, &product_, &smooth_}) x->setZero(n_);
  const auto append = [&](Law law, int size) {
    law.first = m_;
    law.size = size;
    law.rho = scales_.rho[laws_.size()];
    law.rho_n = scales_.rho_n[laws_.size()];
    law.u.setZero(size);
    m_ += size;
    laws_.push_back(std::move(law));
  };
  for (const FrictionElement& element : system.laws().friction()) {
    Law law;
    law.friction = &element;
    law.rows = element.directions;
    for (const StateFunction* f : law.functions())
      for (const Index slot : f->variables_used())
        if (slot > 0 && slot <= 2 * n_ && std::find(law.slots.begin(), law.slots.end(), slot) == law.slots.end())
          law.slots.push_back(slot);
    law.smooth = element.viscous > 0 || element.weakening.shape != WeakeningShape::none;
    append(std::move(law), element.size());
  }
  for (const ContactElement& element : system.laws().contacts()) {
    Law law;
    law.contact = &element;
    law.rows.resize(static_cast<std::size_t>(element.size()));
    append(std::move(law), element.size());
  }
  block_ = 2 * n_ + m_;
  extra_ = options.autonomous ? (options.condition ? 2 : 1) : 0;
  omega_ = omega_guess_;
  h_ = 2 * std::numbers::pi / omega_ / static_cast<double>(N_);
  Q_.setZero(n_, N_), V_.setZero(n_, N_), R_.setZero(m_, N_);
}

double SteppingEquations::period(const Vector& X) const {
  return 2 * std::numbers::pi / (options_.autonomous ? X[omega_at()] * omega_guess_ : omega_guess_);
}

void SteppingEquations::read(const Vector& X) {
  if (options_.autonomous) omega_ = X[omega_at()] * omega_guess_;
  unfolding_ = extra_ > 1 ? X[omega_at() + 1] : 0;
  h_ = 2 * std::numbers::pi / omega_ / static_cast<double>(N_);
  for (Index j = 0; j < N_; ++j) {
    Q_.col(j) = X.segment(q_at(j, 0), n_).cwiseProduct(scales_.x);
    V_.col(j) = X.segment(v_at(j, 0), n_).cwiseProduct(scales_.x) * omega_guess_;
    R_.col(j) = X.segment(r_at(j, 0), m_).cwiseProduct(scales_.r);
  }
}

Vector SteppingEquations::start_from(const Orbit& orbit) const {
  Vector X = Vector::Zero(unknowns());
  const double h = orbit.period / static_cast<double>(N_);
  for (Index j = 0; j < N_; ++j) {
    const double t = orbit.t0 + static_cast<double>(j) * h;
    const auto after = std::upper_bound(orbit.t.begin(), orbit.t.end(), t);
    const std::size_t k = std::min(static_cast<std::size_t>(after - orbit.t.begin()), orbit.t.size());
    const std::size_t low = k > 0 ? k - 1 : 0, high = k < orbit.t.size() ? k : 0;  // the last row leads to the first
    const double end = k < orbit.t.size() ? orbit.t[k] : orbit.t0 + orbit.period;
    const double w = end > orbit.t[low] ? std::clamp((t - orbit.t[low]) / (end - orbit.t[low]), 0.0, 1.0) : 0.0;
    X.segment(q_at(j, 0), n_) = ((1 - w) * orbit.q[low] + w * orbit.q[high]).cwiseQuotient(scales_.x);
    X.segment(v_at(j, 0), n_) = ((1 - w) * orbit.v[low] + w * orbit.v[high]).cwiseQuotient(scales_.x) / omega_guess_;
    if (!orbit.r.empty())
      X.segment(r_at(j, 0), m_) = ((1 - w) * orbit.r[low] + w * orbit.r[high]).cwiseQuotient(scales_.r);
  }
  if (options_.autonomous) X[omega_at()] = 2 * std::numbers::pi / orbit.period / omega_guess_;
  return X;
}

/// With r = 0 in place of the laws the equations are linear where the system is.
Vector SteppingEquations::linear_start() {
  Vector X = Vector::Zero(unknowns()), F, step;
  if (options_.autonomous) X[omega_at()] = 1;
  for (Index j = 0; j < N_; ++j) X.segment(q_at(j, 0), n_) = q_reference_.cwiseQuotient(scales_.x);
  without_laws_ = true;
  const bool solved = evaluate(X, 0, F, true) && newton_step(F, step);
  without_laws_ = false;
  if (!solved) return X;
  constexpr double kLargest = 100;  // static displacements: at resonance the linear response is no start
  const double size = step.lpNorm<Eigen::Infinity>();
  return X + step * (size > kLargest ? kLargest / size : 1.0);
}

void SteppingEquations::set_phase_reference(const Vector& X) {
  phase_row_.setZero(unknowns());
  for (Index j = 0; j < N_; ++j) {
    const Index before = (j + N_ - 1) % N_, after = (j + 1) % N_;
    phase_row_.segment(q_at(j, 0), n_) = X.segment(q_at(after, 0), n_) - X.segment(q_at(before, 0), n_);
  }
  if (phase_row_.norm() > 0) phase_row_.normalize();
}

Orbit SteppingEquations::orbit(const Vector& X) {
  read(X);
  Orbit orbit;
  orbit.t0 = t0_;
  orbit.period = period(X);
  const std::size_t laws = laws_.size();
  orbit.friction_work = Vector::Zero(static_cast<Index>(laws));
  Vector before;
  for (Index j = 0; j < N_; ++j) {
    place_laws(j, false);
    Vector limit(static_cast<Index>(laws)), gap = Vector::Zero(static_cast<Index>(laws)), u(m_);
    std::vector<Mode> modes(laws, Mode::stick);
    for (std::size_t l = 0; l < laws; ++l) {
      const Law& law = laws_[l];
      const Index at = static_cast<Index>(l), t = law.first + (law.contact ? 1 : 0);
      const int tangents = law.size - (law.contact ? 1 : 0);
      u.segment(law.first, law.size) = law.u;
      limit[at] = law.contact ? law.contact->mu * std::max(R_(law.first, j), 0.0) : law.limit;
      gap[at] = law.contact ? law.gap : 0.0;
      const Vector z = R_.col(j).segment(t, tangents) - law.rho * u.segment(t, tangents);
      const bool open = law.contact && R_(law.first, j) - law.rho_n * law.ahead(h_) <= 0;
      modes[l] = open                    ? Mode::open
                 : tangents == 0         ? Mode::closed
                 : z.norm() <= limit[at] ? Mode::stick
                 : tangents == 2         ? Mode::slip
                 : u[t] > 0              ? Mode::slip_plus
                                         : Mode::slip_minus;
    }
    orbit.t.push_back(time(j));
    orbit.q.push_back(Q_.col(j));
    orbit.v.push_back(V_.col(j));
    orbit.r.push_back(R_.col(j));
    orbit.u.push_back(u);
    orbit.limit.push_back(limit);
    orbit.gap.push_back(gap);
    orbit.modes.push_back(std::move(modes));
  }
  for (Index j = 0; j < N_; ++j)
    for (std::size_t l = 0; l < laws; ++l) {
      const Index t = laws_[l].first + (laws_[l].contact ? 1 : 0), count = laws_[l].size - (laws_[l].contact ? 1 : 0);
      const auto k = static_cast<std::size_t>((j + 1) % N_);
      orbit.friction_work[static_cast<Index>(l)] +=
          0.5 * h_ *
          orbit.r[k].segment(t, count).dot((orbit.u[static_cast<std::size_t>(j)] + orbit.u[k]).segment(t, count));
    }
  read_rows(orbit);
  refine_extremes(orbit);
  return orbit;
}

}  // namespace stickslip
