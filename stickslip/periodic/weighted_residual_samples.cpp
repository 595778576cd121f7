// SPDX-License-Identifier: Apache-2.0
// The equations of a weighted residual at its samples, with their slopes: members declared in weighted_residual.hpp.
#include <cmath>

#include "stickslip/common/plane_norm.hpp"
#include "stickslip/periodic/smooth_force.hpp"
#include "stickslip/periodic/weighted_residual_parts.hpp"

namespace stickslip {

namespace {

/// E = r - (force by marching)
LawEquality marched_equality(int n, const double* r, const double* marched) {
  LawEquality e;
  for (int a = 0; a < n; ++a) {
    e.value[static_cast<std::size_t>(a)] = r[a] - marched[a];
    e.by_r[static_cast<std::size_t>(a * n + a)] = 1;
  }
  return e;
}

}  // namespace

void WeightedResidual::sample_fields(const Vector& X) {
  Vector samples(N_);
  for (Index c = 0; c < nb_; ++c) {
    const Vector x = x_scale_[c] * X.segment(x_block(c), nx_);
    basis_->evaluate(BasisField::displacement, x, 0, samples);
    Q_.row(c) = samples.transpose();
    if (velocities_) {
      basis_->evaluate(BasisField::displacement, x, 1, samples);
      V_.row(c) = omega_ * samples.transpose();
    }
    if (linear_) continue;
    basis_->evaluate(BasisField::displacement, x, 2, samples);
    A_.row(c) = omega_ * omega_ * samples.transpose();
  }
  for (Index a = 0; a < m_; ++a) {
    basis_->evaluate(BasisField::reaction, r_scale_[a] * X.segment(r_block(a), nr_), 0, samples);
    R_.row(a) = samples.transpose();
  }
}

/// Forces of the state: all of them, or in a linear system the applied ones.
void WeightedResidual::sample_forces(Index j, bool slopes) {
  if (!state_forces_) return;
  const double t = time(j);
  if (!functions_.empty()) {
    workspace_.variables.set(t, q_, v_);
    for (Index c = 0; c < nb_; ++c) {
      workspace_.variables.set_index(kept_[c]);
      E_(c, j) -= (*functions_[static_cast<std::size_t>(kept_[c])])(workspace_.variables.span());
    }
    for (const ForceSlope& slope : force_slopes_)
      if (slopes)
        signals_.add(slope.signal, j, -slope.function->derivative(workspace_.variables.span(), slope.variable));
    return;
  }
  if (linear_) {
    system_.forces().applied(t, q_, v_, workspace_, h_);
  } else {
    system_.force(t, q_, v_, workspace_, h_);
  }
  for (Index c = 0; c < nb_; ++c) E_(c, j) -= h_[kept_[c]];
  if (!linear_) add_inertia(j, slopes);
  if (!slopes) return;
  if (linear_) {
    system_.forces().applied_slopes(t, q_, v_, workspace_, by_q_, by_v_);
  } else {
    system_.force_slopes(t, q_, v_, workspace_, by_q_, by_v_);
  }
  const auto add = [&](const SystemMatrix& matrix, std::size_t p) {
    matrix.for_each([&](Index i, Index k, double value) {
      if (value != 0) signals_.add(force_slots_[p][static_cast<std::size_t>(place_[i] * nb_ + place_[k])], j, -value);
    });
  };
  add(by_q_, 0);
  add(by_v_, 1);
}

void WeightedResidual::add_inertia(Index j, bool slopes) {
  for (Index c = 0; c < nb_; ++c) a_[kept_[c]] = A_(c, j);
  const auto momentum = [&](const Vector& q, Vector& Ma) { system_.inertia().mass(q, workspace_).product(a_, Ma); };
  momentum(q_, product_);
  for (Index c = 0; c < nb_; ++c) E_(c, j) += product_[kept_[c]];
  if (!slopes) return;
  system_.inertia().mass(q_, workspace_).for_each([&](Index i, Index k, double value) {
    signals_.add(force_slots_[2][static_cast<std::size_t>(place_[i] * nb_ + place_[k])], j, value);
  });
  if (system_.inertia().constant()) return;
  Vector shifted = q_, plus = product_, minus = product_;
  for (Index k = 0; k < nb_; ++k) {
    const double delta = 1e-5 * (x_scale_[k] + std::abs(q_[kept_[k]]));
    shifted[kept_[k]] = q_[kept_[k]] + delta;
    momentum(shifted, plus);
    shifted[kept_[k]] = q_[kept_[k]] - delta;
    momentum(shifted, minus);
    shifted[kept_[k]] = q_[kept_[k]];
    for (Index c = 0; c < nb_; ++c)
      signals_.add(force_slots_[0][static_cast<std::size_t>(c * nb_ + k)], j,
                   (plus[kept_[c]] - minus[kept_[c]]) / (2 * delta));
  }
}

/// Rows, gaps and surface velocities of all contacts; slopes of rows that are not constant.
void WeightedResidual::sample_contacts(Index j, bool slopes) {
  if (system_.laws().contacts().empty()) return;
  const double t = time(j);
  const ContactSource& source = system_.laws().contact_source();
  source.find(t, q_, HUGE_VAL, workspace_, found_);
  Index row = 0;
  std::size_t point = 0;
  for (Law& law : laws_) {
    if (!law.contact) continue;
    law.gap = found_.points[point++].gap;
    law.W.setZero();
    for (int a = 0; a < law.size; ++a, ++row) {
      for (SparseMatrix::InnerIterator entry(found_.Wt, row); entry; ++entry)
        law.W(a, place_[entry.col()]) = entry.value();
      w_[law.first + a] = found_.w[row];
    }
  }
  if (!slopes || constant_contacts_) return;
  Vector shifted = q_;
  for (Index k = 0; k < nb_; ++k) {
    const double delta = 1e-5 * (x_scale_[k] + std::abs(q_[kept_[k]]));
    for (Law& law : laws_)
      if (law.contact) law.du.col(k).setZero();
    for (const double sign : {1.0, -1.0}) {
      shifted[kept_[k]] = q_[kept_[k]] + sign * delta;
      source.find(t, shifted, HUGE_VAL, workspace_, found_shifted_);
      row = 0;
      for (Law& law : laws_) {
        if (!law.contact) continue;
        for (int a = 0; a < law.size; ++a, ++row) {
          double u = -found_shifted_.w[row];
          for (SparseMatrix::InnerIterator entry(found_shifted_.Wt, row); entry; ++entry) {
            u += entry.value() * v_[entry.col()];
            signals_.add(law.force_du[static_cast<std::size_t>(place_[entry.col()] * nb_ + k)], j,
                         -sign * entry.value() * R_(law.first + a, j) / (2 * delta));
          }
          law.du(a, k) += sign * u / (2 * delta);
        }
      }
    }
    shifted[kept_[k]] = q_[kept_[k]];
  }
}

void WeightedResidual::sample_law(Law& law, Index j, double smoothing, bool slopes) {
  const auto columns = static_cast<Index>(law.columns.size());
  if (law.friction) {
    workspace_.variables.set(time(j), q_, v_);
    law.limit = law.friction->limit(workspace_.variables.span());
    for (std::size_t a = 0; a < law.friction->surface_velocity.size(); ++a)
      w_[law.first + static_cast<Index>(a)] = law.friction->surface_velocity[a](workspace_.variables.span());
  }
  for (int a = 0; a < law.size; ++a) {
    double u = -w_[law.first + a];
    for (Index c = 0; c < columns; ++c) u += law.W(a, c) * V_(law.columns[c], j);
    law.u[a] = u;
    U_(law.first + a, j) = law.elastic() ? law.slip(a, j) : u;
  }
  double r[3] = {0, 0, 0};
  for (int a = 0; a < law.size; ++a) r[a] = R_(law.first + a, j);
  const LawEquality e =
      law.elastic() ? marched_equality(law.size, r, law.marched.col(j).data())
      : law.friction
          ? friction_equality(options_.law, law.friction->set(law.limit), r, law.u.data(), law.rho, smoothing)
          : contact_equality(options_.law, law.contact->set(law.contact->mu), r, law.u.data(), law.gap, law.rho_n,
                             law.rho, smoothing, r_scale_[law.first]);
  const SmoothForce s = law.smooth ? smooth_force(*law.friction, law.limit, law.u) : SmoothForce{};
  for (int a = 0; a < law.size; ++a) {
    E_(nb_ + law.first + a, j) = e.value[a];
    for (Index c = 0; c < columns; ++c)
      E_(law.columns[c], j) -= law.W(a, c) * (r[a] + (law.smooth ? s.value[static_cast<std::size_t>(a)] : 0.0));
  }
  if (!slopes) return;
  const int n = law.size;
  std::size_t k_r = 0, k_v = 0, k_q = 0, k_f = 0, k_d = 0, k_u = 0;
  const Index slot_count = static_cast<Index>(law.depends.size());
  DenseMatrix dw = DenseMatrix::Zero(n, slot_count);
  Vector dc = Vector::Zero(slot_count);
  for (Index d = 0; d < slot_count; ++d) {
    const Index slot = law.depends[static_cast<std::size_t>(d)].slot;
    dc[d] = law.friction->limit.derivative(workspace_.variables.span(), slot);
    for (std::size_t a = 0; a < law.friction->surface_velocity.size(); ++a)
      dw(static_cast<Index>(a), d) = law.friction->surface_velocity[a].derivative(workspace_.variables.span(), slot);
  }
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) signals_.add(law.by_r[k_r++], j, e.by_r[a * n + b]);
    for (Index c = 0; c < columns; ++c) {
      double by_v = 0;
      for (int b = 0; b < n; ++b) by_v += e.by_u[a * n + b] * law.W(b, c);
      signals_.add(law.by_v[k_v++], j, by_v);
      if (law.contact) signals_.add(law.by_q[k_q++], j, e.by_gap[a] * law.W(0, c));
      signals_.add(law.force_r[k_f++], j, -law.W(a, c));
    }
    for (Index d = 0; d < slot_count; ++d) {
      double value = e.by_c[a] * dc[d];
      for (int b = 0; b < n; ++b) value -= e.by_u[a * n + b] * dw(b, d);
      signals_.add(law.by_dependence[k_d++], j, value);
    }
    for (Index k = 0; k < law.du.cols(); ++k) {
      double value = 0;
      for (int b = 0; b < n; ++b) value += e.by_u[a * n + b] * law.du(b, k);
      signals_.add(law.by_du[k_u++], j, value);
    }
  }
  if (!law.smooth) return;
  std::size_t k_s = 0, k_sd = 0;
  for (Index c = 0; c < columns; ++c) {
    for (Index k = 0; k < columns; ++k) {
      double value = 0;
      for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b) value -= law.W(a, c) * s.by_u[static_cast<std::size_t>(a * n + b)] * law.W(b, k);
      signals_.add(law.force_v[k_s++], j, value);
    }
    for (Index d = 0; d < slot_count; ++d) {
      double value = 0;
      for (int a = 0; a < n; ++a) {
        value -= law.W(a, c) * s.by_c[static_cast<std::size_t>(a)] * dc[d];
        for (int b = 0; b < n; ++b) value += law.W(a, c) * s.by_u[static_cast<std::size_t>(a * n + b)] * dw(b, d);
      }
      signals_.add(law.force_dependence[k_sd++], j, value);
    }
  }
}

bool WeightedResidual::evaluate(const Vector& X, double smoothing, Vector& F, DenseMatrix* jacobian) {
  if (options_.autonomous) {
    omega_ = X[unknowns_ - 1] * omega_guess_;
    if (!(omega_ > 0) || !std::isfinite(omega_)) return false;
  }
  if (linear_ && omega_of_linear_ != omega_) make_linear(omega_);
  sample_fields(X);
  E_.setZero(nb_ + m_, N_);
  const bool slopes = jacobian != nullptr;
  if (slopes) signals_.clear(N_);
  for (Law& law : laws_)
    if (law.elastic()) march(law, slopes);
  for (Index j = 0; j < N_; ++j) {
    for (Index c = 0; c < nb_; ++c) {
      q_[kept_[c]] = Q_(c, j);
      v_[kept_[c]] = V_(c, j);
    }
    sample_forces(j, slopes);
    sample_contacts(j, slopes);
    for (Law& law : laws_) sample_law(law, j, smoothing, slopes);
  }
  if (!E_.allFinite()) return false;
  return assemble(X, F, jacobian);
}

}  // namespace stickslip
