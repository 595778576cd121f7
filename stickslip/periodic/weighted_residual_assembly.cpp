// SPDX-License-Identifier: Apache-2.0
// From samples to equations: members declared in weighted_residual.hpp.
#include <cmath>
#include <utility>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/interruptible_lu.hpp"
#include "stickslip/periodic/extremes.hpp"
#include "stickslip/periodic/fourier_basis.hpp"
#include "stickslip/periodic/spline_basis.hpp"
#include "stickslip/periodic/weighted_residual_parts.hpp"

namespace stickslip {

/// Phasor of the applied forces of time; those that are sampled with the state are left out.
ComplexVector WeightedResidual::harmonic_load(int h) const {
  ComplexVector F = ComplexVector::Zero(forces_.rows());
  Vector coefficients(nx_);
  for (Index i = 0; i < forces_.rows(); ++i) {
    if (state_forces_ && place_[i] >= 0) continue;
    basis_->test(BasisField::displacement, forces_.row(i).transpose(), coefficients);
    F[i] = FourierBasis::phasor(coefficients, h);
  }
  return F;
}

void WeightedResidual::make_linear(double omega) {
  omega_of_linear_ = omega;
  const Index n = nb_ * nx_;
  linear_operator_.setZero(n, n);
  linear_slope_.setZero(n, n);
  load_.setZero(n);
  if (!fourier_) {
    const LinearPart& linear = *system_.linear();
    DenseMatrix P[3];
    for (int p = 0; p < 3; ++p)
      basis_->product(BasisField::displacement, BasisField::displacement, p, Vector::Ones(N_), P[p]);
    const auto add = [&](const SystemMatrix& A, int p, double factor) {
      A.for_each([&](Index i, Index k, double value) {
        linear_operator_.block(x_block(i), x_block(k), nx_, nx_) += factor * value * P[p];
      });
    };
    add(linear.K, 0, 1);
    add(linear.B, 1, omega);
    add(linear.M, 2, omega * omega);
    if (!state_forces_)
      for (Index i = 0; i < nb_; ++i)
        basis_->test(BasisField::displacement, forces_.row(i).transpose(), load_.segment(x_block(i), nx_));
    return;
  }
  DenseMatrix coefficients = DenseMatrix::Zero(forces_.rows(), nx_);
  Vector row(nx_);
  for (Index i = 0; i < forces_.rows(); ++i) {
    if (state_forces_ && place_[i] >= 0) continue;
    basis_->test(BasisField::displacement, forces_.row(i).transpose(), row);
    coefficients.row(i) = row.transpose();
  }
  const int H = options_.harmonics;
  for (int h = 0; h <= H; ++h) {
    ComplexVector F(forces_.rows());
    for (Index i = 0; i < F.size(); ++i)
      F[i] = h == 0 ? std::complex<double>(coefficients(i, 0))
                    : std::complex<double>(coefficients(i, 2 * h - 1), -coefficients(i, 2 * h));
    const HarmonicStiffness s = elimination_->stiffness(h * omega, F, h, options_.autonomous);
    for (Index i = 0; i < nb_; ++i) {
      const Index row0 = x_block(i) + (h == 0 ? 0 : 2 * h - 1);
      load_[row0] = s.load[i].real();
      if (h > 0) load_[row0 + 1] = -s.load[i].imag();
      for (Index k = 0; k < nb_; ++k) {
        const Index col0 = x_block(k) + (h == 0 ? 0 : 2 * h - 1);
        const auto put = [&](DenseMatrix& L, std::complex<double> z) {  // z X for X = c - i s
          L(row0, col0) = z.real();
          if (h == 0) return;
          L(row0, col0 + 1) = z.imag();
          L(row0 + 1, col0) = -z.imag();
          L(row0 + 1, col0 + 1) = z.real();
        };
        put(linear_operator_, s.S(i, k));
        if (options_.autonomous) put(linear_slope_, static_cast<double>(h) * s.S_omega(i, k));
      }
    }
  }
}

bool WeightedResidual::assemble(const Vector& X, Vector& F, DenseMatrix* jacobian) {
  const Index n = nb_ * nx_;
  F.setZero(equations_);
  Vector x(n);
  for (Index c = 0; c < nb_; ++c) x.segment(x_block(c), nx_) = x_scale_[c] * X.segment(x_block(c), nx_);
  if (linear_) F.head(n).noalias() = linear_operator_ * x - load_;
  Vector tested_x(nx_), tested_r(nr_);
  for (Index c = 0; c < nb_; ++c) {
    basis_->test(BasisField::displacement, E_.row(c).transpose(), tested_x);
    F.segment(x_block(c), nx_) += tested_x;
    F.segment(x_block(c), nx_) /= f_scale_[c];
  }
  for (Index a = 0; a < m_; ++a) {
    basis_->test(BasisField::reaction, E_.row(nb_ + a).transpose(), tested_r);
    F.segment(r_block(a), nr_) = tested_r / r_scale_[a];
  }
  if (jacobian) {
    DenseMatrix& J = *jacobian;
    J.setZero(equations_, unknowns_);
    if (linear_) J.topLeftCorner(n, n) = linear_operator_;
    add_signals(J);
    add_elastic(J);
    if (options_.autonomous) {
      if (linear_) J.col(unknowns_ - 1).head(n) += linear_slope_ * x;
      J.col(unknowns_ - 1) *= omega_guess_;
    }
    for (Index c = 0; c < nb_; ++c) {
      J.middleRows(x_block(c), nx_) /= f_scale_[c];
      J.middleCols(x_block(c), nx_) *= x_scale_[c];
    }
    for (Index a = 0; a < m_; ++a) {
      J.middleRows(r_block(a), nr_) /= r_scale_[a];
      J.middleCols(r_block(a), nr_) *= r_scale_[a];
    }
  }
  if (options_.autonomous) add_conditions(X, F, jacobian);
  return F.allFinite() && (!jacobian || jacobian->allFinite());
}

void WeightedResidual::add_signals(DenseMatrix& J) {
  const auto block = [&](Index k) { return k < nb_ ? x_block(k) : r_block(k - nb_); };
  const auto field = [&](Index k) { return k < nb_ ? BasisField::displacement : BasisField::reaction; };
  Vector by_omega(N_), tested;
  for (Index slot = 0; slot < signals_.size(); ++slot) {
    const SignalTable::Key& key = signals_.key(slot);
    const auto values = signals_.values(slot);
    const double low = values.minCoeff(), high = values.maxCoeff();
    if (low == 0 && high == 0) continue;
    const double factor = std::pow(omega_, key.p);
    const Index rows = basis_->size(field(key.row)), cols = basis_->size(field(key.column));
    auto target = J.block(block(key.row), block(key.column), rows, cols);
    if (low == high) {
      const std::size_t kind = (key.row < nb_ ? 0u : 2u) + (key.column < nb_ ? 0u : 1u);
      DenseMatrix& P = constant_products_[kind][static_cast<std::size_t>(key.p)];
      if (P.size() == 0) basis_->product(field(key.row), field(key.column), key.p, Vector::Ones(N_), P);
      target += (factor * low) * P;
    } else {
      basis_->product(field(key.row), field(key.column), key.p, values, J_block_);
      target += factor * J_block_;
    }
    if (!options_.autonomous || key.p == 0) continue;  // ∂(ω^p)/∂ω
    const double power = key.p / omega_;
    by_omega = values.cwiseProduct((key.p == 1 ? V_ : A_).row(key.column).transpose()) * power;
    tested.resize(rows);
    basis_->test(field(key.row), by_omega, tested);
    J.col(unknowns_ - 1).segment(block(key.row), rows) += tested;
  }
}

void WeightedResidual::set_phase_reference(const Vector& X) {
  phase_row_.setZero(unknowns_);
  Vector samples(N_), unit = Vector::Zero(nx_), phi(N_);
  for (Index c = 0; c < nb_; ++c) {
    basis_->evaluate(BasisField::displacement, X.segment(x_block(c), nx_), 1, samples);
    for (Index k = 0; k < nx_; ++k) {
      unit[k] = 1;
      basis_->evaluate(BasisField::displacement, unit, 0, phi);
      unit[k] = 0;
      phase_row_[x_block(c) + k] = phi.dot(samples) / static_cast<double>(N_);
    }
  }
  if (phase_row_.norm() > 0) phase_row_.normalize();
}

/// Phase condition, then the user's condition. Both at the first sample.
void WeightedResidual::add_conditions(const Vector& X, Vector& F, DenseMatrix* J) {
  const Index n = system_.info().nv();
  if (phi0_.size() == 0) {
    phi0_.resize(2, nx_);
    Vector unit = Vector::Zero(nx_), samples(N_);
    for (Index k = 0; k < nx_; ++k) {
      unit[k] = 1;
      for (int p = 0; p < 2; ++p) {
        basis_->evaluate(BasisField::displacement, unit, p, samples);
        phi0_(p, k) = samples[0];
      }
      unit[k] = 0;
    }
  }
  const auto add = [&](const StateFunction& f, Index row) {
    const double T = 2 * std::numbers::pi / omega_;
    for (Index c = 0; c < nb_; ++c) {
      q_[kept_[c]] = Q_(c, 0);
      v_[kept_[c]] = V_(c, 0);
    }
    workspace_.variables.set(T, q_, v_);
    const auto variables = workspace_.variables.span();
    double& size = condition_size_[static_cast<std::size_t>(row - nb_ * nx_ - m_ * nr_)];
    if (size == 0) {  // what f changes by over the sizes of its arguments
      size = std::abs(f.derivative(variables, 0)) * T;
      for (Index c = 0; c < nb_; ++c)
        size += std::abs(f.derivative(variables, 1 + c)) * x_scale_[c] +
                std::abs(f.derivative(variables, 1 + n + c)) * omega_ * x_scale_[c];
      if (!(size > 0)) size = 1;
    }
    F[row] = f(variables) / size;
    if (!J) return;
    for (Index c = 0; c < nb_; ++c) {
      const double by_q = f.derivative(variables, 1 + c), by_v = f.derivative(variables, 1 + n + c);
      J->row(row).segment(x_block(c), nx_) += x_scale_[c] / size * (by_q * phi0_.row(0) + by_v * omega_ * phi0_.row(1));
      (*J)(row, unknowns_ - 1) += by_v * V_(c, 0) / omega_ * omega_guess_ / size;
    }
    (*J)(row, unknowns_ - 1) -= f.derivative(variables, 0) * T / omega_ * omega_guess_ / size;
  };
  Index row = nb_ * nx_ + m_ * nr_;
  if (options_.phase) {
    add(*options_.phase, row);
  } else if (phase_row_.size() == unknowns_) {
    F[row] = phase_row_.dot(X);
    if (J) J->row(row) = phase_row_.transpose();
  }
  if (options_.condition) add(*options_.condition, row + 1);
}

/// Solved harmonic by harmonic in effect: the operator is that of the linear system, or of the linearised one.
Vector WeightedResidual::linear_start() {
  const Index n = nb_ * nx_;
  Vector X = Vector::Zero(unknowns_), F;
  if (options_.autonomous) X[unknowns_ - 1] = 1;
  for (Index c = 0; c < nb_; ++c)
    basis_->fit(BasisField::displacement, Vector::Constant(N_, q_reference_[kept_[c]] / x_scale_[c]),
                X.segment(x_block(c), nx_));
  DenseMatrix J;
  // With every law taken out the equations are linear in the displacements where the system is.
  if (!evaluate(X, 0, F, &J)) return X;
  InterruptibleLu lu;
  constexpr double kRegular = 1e-12;  // reciprocal condition; an orthogonal factor costs ten times as much
  const bool regular = lu.compute(J.topLeftCorner(n, n), stop_) && lu.rcond() > kRegular;
  if (raised(stop_)) return X;
  const Vector x = regular ? Vector(lu.solve(-F.head(n)).col(0))
                           : Vector(J.topLeftCorner(n, n).completeOrthogonalDecomposition().solve(-F.head(n)));
  constexpr double kLargest = 100;  // static displacements: at resonance the linear response is no start
  for (Index c = 0; c < nb_; ++c) {
    const auto part = x.segment(x_block(c), nx_);
    const double size = part.norm();
    X.segment(x_block(c), nx_) += part * (size > kLargest ? kLargest / size : 1.0);
  }
  return X;
}

Orbit WeightedResidual::orbit(const Vector& X) {
  Vector F;
  const bool needed = std::exchange(velocities_, true);
  evaluate(X, 0, F, nullptr);
  velocities_ = needed;
  Orbit orbit;
  orbit.t0 = t0_;
  orbit.period = period(X);
  const Index n = system_.info().nv();
  DenseMatrix q = DenseMatrix::Zero(n, N_), v = DenseMatrix::Zero(n, N_);
  for (Index c = 0; c < nb_; ++c) {
    q.row(kept_[c]) = Q_.row(c);
    v.row(kept_[c]) = V_.row(c);
  }
  DenseMatrix coefficients = DenseMatrix::Zero(n, nx_);
  for (Index c = 0; c < nb_; ++c) coefficients.row(kept_[c]) = x_scale_[c] * X.segment(x_block(c), nx_).transpose();
  if (elimination_ && nb_ < n) {
    for (int h = 0; h <= options_.harmonics; ++h) {
      ComplexVector kept(nb_);
      for (Index c = 0; c < nb_; ++c) kept[c] = FourierBasis::phasor(x_scale_[c] * X.segment(x_block(c), nx_), h);
      const ComplexVector all = elimination_->expand(h * omega_, harmonic_load(h), kept, h);
      for (Index i = 0; i < n; ++i) {
        if (place_[i] >= 0) continue;
        coefficients(i, h == 0 ? 0 : 2 * h - 1) = all[i].real();
        if (h > 0) coefficients(i, 2 * h) = -all[i].imag();
      }
    }
    Vector samples(N_);
    for (Index i = 0; i < n; ++i) {
      if (place_[i] >= 0) continue;
      basis_->evaluate(BasisField::displacement, coefficients.row(i).transpose(), 0, samples);
      q.row(i) = samples.transpose();
      basis_->evaluate(BasisField::displacement, coefficients.row(i).transpose(), 1, samples);
      v.row(i) = omega_ * samples.transpose();
    }
  }
  for (const Law& law : laws_)
    if (law.elastic()) R_.middleRows(law.first, law.size) = law.marched;
  const std::size_t laws = laws_.size();
  orbit.friction_work = Vector::Zero(static_cast<Index>(laws));
  for (Index j = 0; j < N_; ++j) {
    for (Index c = 0; c < nb_; ++c) {
      q_[kept_[c]] = Q_(c, j);
      v_[kept_[c]] = V_(c, j);
    }
    E_.col(j).setZero();
    sample_contacts(j, false);
    Vector limit(static_cast<Index>(laws)), gap = Vector::Zero(static_cast<Index>(laws));
    std::vector<Mode> modes(laws, Mode::stick);
    for (std::size_t k = 0; k < laws; ++k) {
      Law& law = laws_[k];
      sample_law(law, j, 0, false);
      const Index t = law.first + (law.contact ? 1 : 0);
      const int tangents = law.size - (law.contact ? 1 : 0);
      limit[static_cast<Index>(k)] = law.contact ? law.contact->mu * std::max(R_(law.first, j), 0.0) : law.limit;
      gap[static_cast<Index>(k)] = law.gap;
      double z = 0, work = 0;
      for (int a = 0; a < tangents; ++a) {
        z += std::pow(R_(t + a, j) - law.rho * U_(t + a, j), 2);
        work += R_(t + a, j) * U_(t + a, j);
      }
      orbit.friction_work[static_cast<Index>(k)] += work * orbit.period / static_cast<double>(N_);
      const bool open = law.contact && R_(law.first, j) - law.rho_n * law.gap <= 0;
      const bool sticks = law.elastic() ? law.slip.col(j).isZero(0) : std::sqrt(z) <= limit[static_cast<Index>(k)];
      const double direction = tangents == 1 ? U_(t, j) : 0;
      modes[k] = open            ? Mode::open
                 : tangents == 0 ? Mode::closed
                 : sticks        ? Mode::stick
                 : tangents == 2 ? Mode::slip
                                 : (direction > 0 ? Mode::slip_plus : Mode::slip_minus);
    }
    orbit.t.push_back(time(j));
    orbit.q.push_back(q.col(j));
    orbit.v.push_back(v.col(j));
    orbit.r.push_back(R_.col(j));
    orbit.u.push_back(U_.col(j));
    orbit.limit.push_back(limit);
    orbit.gap.push_back(gap);
    orbit.modes.push_back(std::move(modes));
  }
  read_rows(orbit);
  const AngleFunction value = [&](const Vector& x, int p, double angle) {
    if (const auto* harmonics = dynamic_cast<const FourierBasis*>(basis_.get())) return harmonics->value(x, p, angle);
    return dynamic_cast<const SplineBasis&>(*basis_).value(x, p, angle);
  };
  locate_extremes(value, coefficients, basis_->angle(0), orbit);
  return orbit;
}

}  // namespace stickslip
