// SPDX-License-Identifier: Apache-2.0
// Equations of periodic stepping with their slopes, and steps by the sparse factors: members declared in
// stepping_equations.hpp.
#include <Eigen/SparseCholesky>
#include <Eigen/SparseQR>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/null_space.hpp"
#include "stickslip/periodic/smooth_force.hpp"
#include "stickslip/periodic/stepping_parts.hpp"

namespace stickslip {

void SteppingEquations::add(Index row, Index column, double value) {
  if (value != 0) sparse_->entries.emplace_back(static_cast<int>(row), static_cast<int>(column), value);
}

bool SteppingEquations::evaluate(const Vector& X, double smoothing, Vector& F, bool slopes) {
  if (options_.autonomous && !(X[omega_at()] > 0)) return false;
  read(X);
  F.setZero(equations());
  sparse_->entries.clear();
  for (Law& law : laws_) law.held = !without_laws_;
  for (Index j = 0; j < N_; ++j) {
    const Index k = (j + 1) % N_;
    place_laws(k, slopes);
    step_equations(j, F, slopes);
    law_equations(k, smoothing, F, slopes);
  }
  if (options_.autonomous) add_conditions(X, F, slopes);
  if (!F.allFinite()) return false;
  if (!slopes) return true;
  pin_held_laws();
  sparse_->J.resize(equations(), unknowns());
  sparse_->J.setFromTriplets(sparse_->entries.begin(), sparse_->entries.end());
  sparse_->factored = false;
  return Eigen::Map<const Vector>(sparse_->J.valuePtr(), sparse_->J.nonZeros()).allFinite();
}

/// From node j to k: equations stand in the rows of node k.
void SteppingEquations::step_equations(Index j, Vector& F, bool slopes) {
  const Index k = (j + 1) % N_;
  const double x_by_v = 0.5 * h_ * omega_guess_;
  q_ = 0.5 * (Q_.col(j) + Q_.col(k));
  v_ = 0.5 * (V_.col(j) + V_.col(k));
  a_ = (V_.col(k) - V_.col(j)) / h_;
  const double t = time(j) + 0.5 * h_;
  F.segment(q_at(k, 0), n_) = (Q_.col(k) - Q_.col(j) - h_ * v_).cwiseQuotient(scales_.x);
  system_.force(t, q_, v_, workspace_, force_);
  const SystemMatrix& M = system_.inertia().mass(q_, workspace_);
  M.product(a_, product_);
  smooth_ = product_ - force_;
  const double unfolding_unit = 1 / omega_guess_;
  for (Index i = 0; i < n_; ++i) smooth_[i] += unfolding_ * unfolding_unit * scales_.f[i] / scales_.x[i] * v_[i];
  for (const Law& law : laws_)
    for (int a = 0; a < law.size; ++a)
      for (const auto& [i, w] : law.rows[static_cast<std::size_t>(a)]) smooth_[i] -= w * R_(law.first + a, k);
  for (const Law& law : laws_)
    if (law.smooth) add_smooth(law, j, k, slopes);
  F.segment(v_at(k, 0), n_) = smooth_.cwiseQuotient(scales_.f);
  if (!slopes) return;
  const double v_unit = omega_guess_;
  for (Index i = 0; i < n_; ++i) {
    add(q_at(k, i), q_at(k, i), 1);
    add(q_at(k, i), q_at(j, i), -1);
    add(q_at(k, i), v_at(k, i), -x_by_v);
    add(q_at(k, i), v_at(j, i), -x_by_v);
    const double drag = 0.5 * unfolding_ * unfolding_unit * v_unit;
    add(v_at(k, i), v_at(k, i), drag);
    add(v_at(k, i), v_at(j, i), drag);
  }
  M.for_each([&](Index i, Index c, double value) {
    const double entry = value / h_ * v_unit * scales_.x[c] / scales_.f[i];
    add(v_at(k, i), v_at(k, c), entry);
    add(v_at(k, i), v_at(j, c), -entry);
  });
  system_.force_slopes(t, q_, v_, workspace_, by_q_, by_v_);
  by_q_.for_each([&](Index i, Index c, double value) {
    const double entry = -0.5 * value * scales_.x[c] / scales_.f[i];
    add(v_at(k, i), q_at(k, c), entry);
    add(v_at(k, i), q_at(j, c), entry);
  });
  by_v_.for_each([&](Index i, Index c, double value) {
    const double entry = -0.5 * value * v_unit * scales_.x[c] / scales_.f[i];
    add(v_at(k, i), v_at(k, c), entry);
    add(v_at(k, i), v_at(j, c), entry);
  });
  if (!system_.inertia().constant()) {
    Vector shifted = q_, plus = product_, minus = product_;
    for (Index c = 0; c < n_; ++c) {
      const double delta = 1e-5 * (scales_.x[c] + std::abs(q_[c]));
      shifted[c] = q_[c] + delta;
      system_.inertia().mass(shifted, workspace_).product(a_, plus);
      shifted[c] = q_[c] - delta;
      system_.inertia().mass(shifted, workspace_).product(a_, minus);
      shifted[c] = q_[c];
      for (Index i = 0; i < n_; ++i) {
        const double entry = 0.5 * (plus[i] - minus[i]) / (2 * delta) * scales_.x[c] / scales_.f[i];
        add(v_at(k, i), q_at(k, c), entry);
        add(v_at(k, i), q_at(j, c), entry);
      }
    }
  }
  for (const Law& law : laws_) {
    for (int a = 0; a < law.size; ++a)
      for (const auto& [i, w] : law.rows[static_cast<std::size_t>(a)])
        add(v_at(k, i), r_at(k, law.first + a), -w * scales_.r[law.first + a] / scales_.f[i]);
    for (Index i = 0; i < law.pull_dq.rows(); ++i)
      for (Index c = 0; c < law.pull_dq.cols(); ++c)
        add(v_at(k, i), q_at(k, c), -law.pull_dq(i, c) * scales_.x[c] / scales_.f[i]);
  }
  if (!options_.autonomous) return;
  const double h_by_omega = -h_ / omega_ * omega_guess_;  // by the unknown
  for (Index i = 0; i < n_; ++i) {
    add(q_at(k, i), omega_at(), -v_[i] / scales_.x[i] * h_by_omega);
    add(v_at(k, i), omega_at(), -product_[i] / h_ / scales_.f[i] * h_by_omega);
    if (extra_ > 1) add(v_at(k, i), omega_at() + 1, unfolding_unit / scales_.x[i] * v_[i]);
  }
}

/// Weakening and viscous force at the mean velocity.
void SteppingEquations::add_smooth(const Law& law, Index j, Index k, bool slopes) {
  workspace_.variables.set(time(j) + 0.5 * h_, q_, v_);
  const auto variables = workspace_.variables.span();
  const double c = law.friction->limit(variables);
  Vector u = Vector::Zero(law.size);
  for (int a = 0; a < law.size; ++a) {
    for (const auto& [i, w] : law.rows[static_cast<std::size_t>(a)]) u[a] += w * v_[i];
    if (!law.friction->surface_velocity.empty())
      u[a] -= law.friction->surface_velocity[static_cast<std::size_t>(a)](variables);
  }
  const SmoothForce s = smooth_force(*law.friction, c, u);
  for (int a = 0; a < law.size; ++a) {
    const auto at = static_cast<std::size_t>(a);
    for (const auto& [i, w] : law.rows[at]) {
      smooth_[i] -= w * s.value[at];
      if (!slopes) continue;
      const auto put = [&](Index slot, double value) {  // value: of the force by the variable
        const bool speed = slot > n_;
        const Index column = (slot - 1) % n_;
        const double entry = -0.5 * w * value * scales_.x[column] * (speed ? omega_guess_ : 1.0) / scales_.f[i];
        add(v_at(k, i), speed ? v_at(k, column) : q_at(k, column), entry);
        add(v_at(k, i), speed ? v_at(j, column) : q_at(j, column), entry);
      };
      for (int b = 0; b < law.size; ++b) {
        const double by_u = s.by_u[static_cast<std::size_t>(a * law.size + b)];
        for (const auto& [col, wb] : law.rows[static_cast<std::size_t>(b)]) put(1 + n_ + col, by_u * wb);
        if (law.friction->surface_velocity.empty()) continue;
        for (const Index slot : law.slots)
          put(slot, -by_u * law.friction->surface_velocity[static_cast<std::size_t>(b)].derivative(variables, slot));
      }
      for (const Index slot : law.slots) put(slot, s.by_c[at] * law.friction->limit.derivative(variables, slot));
    }
  }
}

/// Rows, relative velocities, limits and gaps at node k.
void SteppingEquations::place_laws(Index k, bool slopes) {
  if (laws_.empty()) return;
  const Vector q = Q_.col(k), v = V_.col(k);
  const double t = time(k);
  if (!system_.laws().contacts().empty()) {
    const ContactSource& source = system_.laws().contact_source();
    source.find(t, q, HUGE_VAL, workspace_, found_);
    Index row = 0;
    std::size_t point = 0;
    for (Law& law : laws_) {
      if (!law.contact) continue;
      law.gap = found_.points[point++].gap;
      for (int a = 0; a < law.size; ++a, ++row) {
        Direction& direction = law.rows[static_cast<std::size_t>(a)];
        direction.clear();
        law.u[a] = -found_.w[row];
        for (SparseMatrix::InnerIterator entry(found_.Wt, row); entry; ++entry) {
          direction.emplace_back(entry.col(), entry.value());
          law.u[a] += entry.value() * v[entry.col()];
        }
      }
    }
    if (slopes && !source.constant_rows()) turn_rows(k, q, v, t);
  }
  workspace_.variables.set(t, q, v);
  const auto variables = workspace_.variables.span();
  for (Law& law : laws_) {
    if (!law.friction) continue;
    law.limit = law.friction->limit(variables);
    for (int a = 0; a < law.size; ++a) {
      const auto at = static_cast<std::size_t>(a);
      law.u[a] = law.friction->surface_velocity.empty() ? 0.0 : -law.friction->surface_velocity[at](variables);
      for (const auto& [i, w] : law.rows[at]) law.u[a] += w * v[i];
    }
  }
}

/// ∂u/∂q and ∂(Wᵀr)/∂q of contacts by differences.
void SteppingEquations::turn_rows(Index k, const Vector& q, const Vector& v, double t) {
  for (Law& law : laws_)
    if (law.contact) law.du.setZero(law.size, n_), law.pull_dq.setZero(n_, n_);
  Vector shifted = q;
  for (Index c = 0; c < n_; ++c) {
    const double delta = 1e-5 * (scales_.x[c] + std::abs(q[c]));
    for (const double sign : {1.0, -1.0}) {
      shifted[c] = q[c] + sign * delta;
      system_.laws().contact_source().find(t, shifted, HUGE_VAL, workspace_, shifted_);
      Index row = 0;
      for (Law& law : laws_) {
        if (!law.contact) continue;
        for (int a = 0; a < law.size; ++a, ++row) {
          double u = -shifted_.w[row];
          for (SparseMatrix::InnerIterator entry(shifted_.Wt, row); entry; ++entry) {
            u += entry.value() * v[entry.col()];
            law.pull_dq(entry.col(), c) += sign * entry.value() * R_(law.first + a, k) / (2 * delta);
          }
          law.du(a, c) += sign * u / (2 * delta);
        }
      }
    }
    shifted[c] = q[c];
  }
}

void SteppingEquations::law_equations(Index k, double smoothing, Vector& F, bool slopes) {
  workspace_.variables.set(time(k), Q_.col(k), V_.col(k));
  const auto variables = workspace_.variables.span();
  for (Law& law : laws_) {
    if (without_laws_) {
      for (int a = 0; a < law.size; ++a) {
        F[r_at(k, law.first + a)] = R_(law.first + a, k) / scales_.r[law.first + a];
        if (slopes) add(r_at(k, law.first + a), r_at(k, law.first + a), 1);
      }
      continue;
    }
    const int n = law.size;
    const Vector r = R_.col(k).segment(law.first, n);
    const LawEquality e =
        law.friction
            ? friction_equality(options_.law, law.friction->set(law.limit), r.data(), law.u.data(), law.rho, smoothing)
            : contact_equality(options_.law, law.contact->set(law.contact->mu), r.data(), law.u.data(), law.ahead(h_),
                               law.rho_n, law.rho, smoothing, scales_.r[law.first]);
    law.held = law.held && std::all_of(e.by_r.begin(), e.by_r.end(), [](double slope) { return slope == 0; });
    for (int a = 0; a < n; ++a) {
      const auto at = static_cast<std::size_t>(a);
      const Index row = r_at(k, law.first + a);
      const double unit = 1 / scales_.r[law.first + a];
      F[row] = e.value[at] * unit;
      if (!slopes) continue;
      for (int b = 0; b < n; ++b) {
        const auto bt = static_cast<std::size_t>(b);
        add(row, r_at(k, law.first + b),
            e.by_r[at * static_cast<std::size_t>(n) + bt] * scales_.r[law.first + b] * unit);
        // By u_b directly, and for a contact by its gap half a step ahead.
        const double by_u =
            e.by_u[at * static_cast<std::size_t>(n) + bt] + (law.contact && b == 0 ? e.by_gap[at] * 0.5 * h_ : 0.0);
        for (const auto& [i, w] : law.rows[bt]) {
          add(row, v_at(k, i), by_u * w * omega_guess_ * scales_.x[i] * unit);
          if (law.contact && b == 0) add(row, q_at(k, i), e.by_gap[at] * w * scales_.x[i] * unit);
        }
        for (Index c = 0; law.contact && c < law.du.cols(); ++c)
          add(row, q_at(k, c), by_u * law.du(b, c) * scales_.x[c] * unit);
        if (!law.friction || law.friction->surface_velocity.empty()) continue;
        for (const Index slot : law.slots)
          add_slot(row, k, slot, -by_u * law.friction->surface_velocity[bt].derivative(variables, slot) * unit);
      }
      if (law.friction)
        for (const Index slot : law.slots)
          add_slot(row, k, slot, e.by_c[at] * law.friction->limit.derivative(variables, slot) * unit);
      if (law.contact && options_.autonomous)
        add(row, omega_at(), -e.by_gap[at] * 0.5 * law.u[0] * h_ / omega_ * omega_guess_ * unit);
    }
  }
}

/// A law that sticks at all nodes keeps its place at node 0: its equation there has the displacement beside the
/// velocity.
void SteppingEquations::pin_held_laws() {
  std::vector<Index> held;
  DenseMatrix rows = DenseMatrix::Zero(m_, n_);
  for (const Law& law : laws_)
    for (int a = law.contact ? 1 : 0; law.held && a < law.size; ++a) {
      for (const auto& [i, w] : law.rows[static_cast<std::size_t>(a)])
        rows(static_cast<Index>(held.size()), i) += w * scales_.x[i];
      held.push_back(law.first + a);
    }
  if (held.empty()) return;
  rows.conservativeResize(static_cast<Index>(held.size()), n_);
  const std::vector<Index> dependent = dependent_rows(rows);
  for (Index k = 0; k < rows.rows(); ++k) {
    if (std::binary_search(dependent.begin(), dependent.end(), k)) continue;
    const double size = rows.row(k).norm();
    for (Index i = 0; i < n_ && size > 0; ++i)
      add(r_at(0, held[static_cast<std::size_t>(k)]), q_at(0, i), rows(k, i) / size);
  }
}

/// By a variable of expressions at node k.
void SteppingEquations::add_slot(Index row, Index k, Index slot, double value) {
  const Index c = (slot - 1) % n_;
  const bool speed = slot > n_;
  add(row, speed ? v_at(k, c) : q_at(k, c), value * scales_.x[c] * (speed ? omega_guess_ : 1.0));
}

/// Phase and condition at node 0.
void SteppingEquations::add_conditions(const Vector& X, Vector& F, bool slopes) {
  const double T = 2 * std::numbers::pi / omega_;
  const auto put = [&](const StateFunction& f, Index row) {
    workspace_.variables.set(T, Q_.col(0), V_.col(0));
    const auto variables = workspace_.variables.span();
    Vector slope(2 * n_ + 1);  // over the unknowns
    for (Index i = 0; i < n_; ++i) {
      slope[i] = f.derivative(variables, 1 + i) * scales_.x[i];
      slope[n_ + i] = f.derivative(variables, 1 + n_ + i) * scales_.x[i] * omega_guess_;
    }
    slope[2 * n_] = -f.derivative(variables, 0) * T / omega_ * omega_guess_;
    const double size = slope.norm() > 0 ? slope.norm() : 1;
    F[row] = f(variables) / size;
    if (!slopes) return;
    for (Index i = 0; i < n_; ++i) {
      add(row, q_at(0, i), slope[i] / size);
      add(row, v_at(0, i), slope[n_ + i] / size);
    }
    add(row, omega_at(), slope[2 * n_] / size);
  };
  const Index row = N_ * block_;
  if (options_.phase) {
    put(*options_.phase, row);
  } else if (phase_row_.size() == unknowns()) {
    F[row] = phase_row_.dot(X);
    for (Index c = 0; slopes && c < phase_row_.size(); ++c) add(row, c, phase_row_[c]);
  }
  if (options_.condition) put(*options_.condition, row + 1);
}

bool SteppingEquations::factor() {
  Sparse& s = *sparse_;
  if (s.factored) return s.usable;
  s.factored = true;
  s.lu.compute(s.J);
  s.usable = s.lu.info() == Eigen::Success;
  return s.usable;
}

bool SteppingEquations::newton_step(const Vector& F, Vector& step) {
  if (!factor()) return false;
  step = sparse_->lu.solve(-F);
  if (!step.allFinite()) return false;
  const Vector left = sparse_->J * step + F;
  return left.lpNorm<Eigen::Infinity>() <= 1e-6 * F.lpNorm<Eigen::Infinity>();
}

bool SteppingEquations::damped_step(const Vector& F, double damping, Vector& step) {
  const Sparse::Matrix& J = sparse_->J;
  Sparse::Matrix A = J.transpose() * J, one(J.cols(), J.cols());
  one.setIdentity();
  A += damping * A.diagonal().maxCoeff() * one;
  const Eigen::SimplicialLDLT<Sparse::Matrix> ldlt(A);
  if (ldlt.info() != Eigen::Success) return false;
  step = ldlt.solve(-(J.transpose() * F));
  return step.allFinite();
}

/// Hager's estimate of |J⁻¹| in the 1-norm.
double SteppingEquations::condition() {
  if (!factor()) return HUGE_VAL;
  Sparse& s = *sparse_;
  const Index n = s.J.cols();
  double norm = 0, inverse = 0;
  for (Index c = 0; c < n; ++c) norm = std::max(norm, s.J.col(c).cwiseAbs().sum());
  Vector x = Vector::Constant(n, 1.0 / static_cast<double>(n));
  for (int k = 0; k < 5; ++k) {
    const Vector y = s.lu.solve(x);
    if (!y.allFinite()) return HUGE_VAL;
    const double size = y.lpNorm<1>();
    if (size <= inverse) break;
    inverse = size;
    const Vector sign = y.unaryExpr([](double value) { return value < 0 ? -1.0 : 1.0; });
    const Vector z = s.lu.transpose().solve(sign);
    Index largest = 0;
    if (z.cwiseAbs().maxCoeff(&largest) <= z.dot(x)) break;
    x.setZero();
    x[largest] = 1;
  }
  return norm * inverse;
}

/// By an orthogonal factor with its columns chosen; the condition number is that of the diagonal of R.
bool SteppingEquations::null_space(DenseMatrix& N, double& condition) {
  constexpr Index kMostDecomposed = 20'000;
  constexpr double kOpen = 1e-11;  // beside the largest column: two digits above round-off
  const Sparse::Matrix& J = sparse_->J;
  if (J.cols() > kMostDecomposed || raised(stop_)) return false;
  double largest = 0;
  for (Index c = 0; c < J.cols(); ++c) largest = std::max(largest, J.col(c).norm());
  Eigen::SparseQR<Sparse::Matrix, Eigen::COLAMDOrdering<int>> qr;
  qr.setPivotThreshold(kOpen * largest);
  qr.compute(J);
  if (qr.info() != Eigen::Success) return false;
  const Index rank = qr.rank(), open = J.cols() - rank;
  const Sparse::Matrix R = qr.matrixR().topLeftCorner(rank, J.cols());
  const Vector diagonal = R.diagonal().head(rank).cwiseAbs();
  condition = rank > 0 ? diagonal.maxCoeff() / diagonal.minCoeff() : HUGE_VAL;
  N.resize(J.cols(), open);
  if (open == 0) return true;
  DenseMatrix top = -DenseMatrix(R.rightCols(open));
  const Sparse::Matrix R11 = R.leftCols(rank);
  R11.triangularView<Eigen::Upper>().solveInPlace(top);
  N << top, DenseMatrix::Identity(open, open);
  N = qr.colsPermutation() * N;
  N = DenseMatrix(Eigen::HouseholderQR<DenseMatrix>(N).householderQ() * DenseMatrix::Identity(J.cols(), open));
  return N.allFinite();
}

void SteppingEquations::copy_jacobian(DenseMatrix& J) const { J = DenseMatrix(sparse_->J); }

}  // namespace stickslip
