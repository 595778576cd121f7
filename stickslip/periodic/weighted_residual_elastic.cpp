// SPDX-License-Identifier: Apache-2.0
// Friction with a spring in series at the samples, by marching: members declared in weighted_residual.hpp.
//
//   d_j = -P_C(-k (d_{j-1} + x_j - x_{j-1}))/k,   r_j = -k d_j        through two periods, the second one counts
//
// x: relative displacement along the law. At the very first sample the spring is that of x = 0: a law that never slips
// is a spring from there. The law is the equality r = r_j: its own samples are exact, so that reactions converge like
// those of a smooth force, not like those of a rigid law. Slopes ∂d_j/∂X are carried along.
#include <cmath>

#include "stickslip/periodic/weighted_residual_parts.hpp"

namespace stickslip {

void WeightedResidual::make_shapes() {
  if (shapes_[0].size() > 0) return;
  Vector unit = Vector::Zero(nx_), samples(N_);
  for (int p = 0; p < 2; ++p) {
    shapes_[static_cast<std::size_t>(p)].resize(nx_, N_);
    for (Index k = 0; k < nx_; ++k) {
      unit[k] = 1;
      basis_->evaluate(BasisField::displacement, unit, p, samples);
      shapes_[static_cast<std::size_t>(p)].row(k) = samples.transpose();
      unit[k] = 0;
    }
  }
}

namespace {

/// r = P_C(z), with its slopes by z and by the limit.
struct Return {
  std::array<double, 2> r{}, by_c{};
  std::array<double, 4> by_z{};
};

Return return_map(const Set& set, const double* z) {
  Return result;
  const auto n = static_cast<std::size_t>(set.size);
  project(set, {z, n}, {result.r.data(), n});
  projection_jacobian(set, {z, n}, {result.by_z.data(), n * n});
  for (std::size_t a = 0; a < n && set.limit > 0; ++a) {  // P_c(z) = c P_1(z/c)
    double Jz = 0;
    for (std::size_t b = 0; b < n; ++b) Jz += result.by_z[a * n + b] * z[b];
    result.by_c[a] = (result.r[a] - Jz) / set.limit;
  }
  return result;
}

}  // namespace

void WeightedResidual::march(Law& law, bool slopes) {
  make_shapes();
  const int n = law.size;
  const double k = law.friction->stiffness, dt = 2 * std::numbers::pi / omega_ / static_cast<double>(N_);
  const auto columns = static_cast<Index>(law.columns.size()), touched = static_cast<Index>(law.touched.size());
  Vector d = Vector::Zero(n), x(n), x_before = Vector::Zero(n), w(n), w_before = Vector::Zero(n), trial(n), z(n);
  Vector dc(touched * nx_);
  DenseMatrix D = DenseMatrix::Zero(n, touched * nx_), moved(n, touched * nx_);
  Vector shape_before = Vector::Zero(nx_);
  for (Index step = 0; step < 2 * N_; ++step) {
    const Index j = step % N_;
    for (Index c = 0; c < nb_; ++c) {
      q_[kept_[c]] = Q_(c, j);
      v_[kept_[c]] = V_(c, j);
    }
    workspace_.variables.set(time(j), q_, v_);
    const double limit = law.friction->limit(workspace_.variables.span());
    for (int a = 0; a < n; ++a) {
      x[a] = 0;
      for (Index c = 0; c < columns; ++c) x[a] += law.W(a, c) * Q_(law.columns[c], j);
      w[a] = law.friction->surface_velocity.empty()
                 ? 0.0
                 : law.friction->surface_velocity[static_cast<std::size_t>(a)](workspace_.variables.span());
      trial[a] = d[a] + x[a] - x_before[a] - (step > 0 ? 0.5 * dt * (w[a] + w_before[a]) : 0.0);
      z[a] = -k * trial[a];
    }
    const Return map = return_map(law.friction->set(limit), z.data());
    bool slides = false;
    for (int a = 0; a < n; ++a) slides |= map.r[static_cast<std::size_t>(a)] != z[a];
    for (int a = 0; a < n; ++a) d[a] = slides ? -map.r[static_cast<std::size_t>(a)] / k : trial[a];
    if (slopes) {
      moved = D;
      const Vector turn = shapes_[0].col(j) - shape_before;
      for (Index c = 0; c < columns; ++c)
        for (int a = 0; a < n; ++a)
          moved.row(a).segment(law.place[static_cast<std::size_t>(c)] * nx_, nx_) += law.W(a, c) * turn.transpose();
      dc.setZero();
      for (std::size_t e = 0; e < law.depends.size(); ++e) {
        const Law::Dependence& on = law.depends[e];
        dc.segment(law.place[static_cast<std::size_t>(columns) + e] * nx_, nx_) +=
            law.friction->limit.derivative(workspace_.variables.span(), on.slot) *
            (on.p == 0 ? Vector(shapes_[0].col(j)) : Vector(omega_ * shapes_[1].col(j)));
      }
      for (int a = 0; a < n; ++a) {
        D.row(a) = -map.by_c[static_cast<std::size_t>(a)] / k * dc.transpose();
        for (int b = 0; b < n; ++b) D.row(a) += map.by_z[static_cast<std::size_t>(a * n + b)] * moved.row(b);
      }
      shape_before = shapes_[0].col(j);
    }
    x_before = x;
    w_before = w;
    if (step < N_) continue;
    for (int a = 0; a < n; ++a) {
      law.marched(a, j) = map.r[static_cast<std::size_t>(a)];
      law.slip(a, j) = (trial[a] - d[a]) / dt;
      if (slopes) law.slopes[static_cast<std::size_t>(a)].row(j) = -k * D.row(a);
    }
  }
}

void WeightedResidual::add_elastic(DenseMatrix& J) {
  Vector tested(nr_);
  for (const Law& law : laws_) {
    if (!law.elastic()) continue;
    for (int a = 0; a < law.size; ++a)
      for (std::size_t c = 0; c < law.touched.size(); ++c)
        for (Index k = 0; k < nx_; ++k) {
          basis_->test(BasisField::reaction,
                       law.slopes[static_cast<std::size_t>(a)].col(static_cast<Index>(c) * nx_ + k), tested);
          J.col(x_block(law.touched[c]) + k).segment(r_block(law.first + a), nr_) -= tested;
        }
  }
}

}  // namespace stickslip
