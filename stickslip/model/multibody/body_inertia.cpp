// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/body_inertia.hpp"

#include <cmath>

#include "stickslip/model/matrix_layout.hpp"
#include "stickslip/model/multibody/body_pose.hpp"

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

namespace {

/// A power of 2 of the size of J: divided by it, J has a determinant that is a number, and not a bit of the result
/// changes.
double unit_of(const Matrix3d& J) { return std::exp2(std::ilogb(J.trace())); }

/// ω_m with 2 J (ω_m - ω0) + dt ω_m × J ω_m = 0, by Newton.
Vector3d middle_spin(const BodyMass& body, const Vector3d& spin, double dt) {
  const Matrix3d J = body.J / unit_of(body.J);
  const Vector3d momentum = J * spin;
  Vector3d middle = spin;
  const double size = momentum.norm();
  for (int iteration = 0; iteration < 20; ++iteration) {
    const Vector3d m = J * middle;
    const Vector3d residual = 2 * (m - momentum) + dt * middle.cross(m);
    if (residual.norm() <= 1e-16 * size) break;
    const Matrix3d slope = 2 * J + dt * (cross_matrix(middle) * J - cross_matrix(m));
    const Vector3d change = slope.inverse() * residual;
    middle -= change;
    if (change.norm() <= 1e-16 * spin.norm()) break;
  }
  return middle;
}

SystemMatrix mass_matrix(const std::vector<BodyMass>& bodies) {
  std::vector<Eigen::Triplet<double, int>> entries;
  int row = 0;
  for (const BodyMass& body : bodies) {
    for (int i = 0; i < 3; ++i) entries.emplace_back(row + i, row + i, body.mass);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        if (i == j || body.J(i, j) != 0) entries.emplace_back(row + 3 + i, row + 3 + j, body.J(i, j));
    row += 6;
  }
  SparseMatrix mass(row, row);
  mass.setFromTriplets(entries.begin(), entries.end());
  return SystemMatrix::compact(mass);
}

}  // namespace

BodyMass body_mass(double mass, const Matrix3d& J) {
  constexpr double kRoundOff = 1e-15;
  const double size = J.trace() / 3;
  const bool isotropic = (J - size * Matrix3d::Identity()).cwiseAbs().maxCoeff() <= kRoundOff * size;
  return {mass, J, (J / unit_of(J)).inverse() / unit_of(J), isotropic};
}

BodyInertia::BodyInertia(std::vector<BodyMass> bodies) : bodies_(std::move(bodies)), mass_(mass_matrix(bodies_)) {
  for (const BodyMass& body : bodies_) gyroscopic_ |= !body.isotropic;
}

double BodyInertia::kinetic_energy(const Vector&, const Vector& v) const {
  double sum = 0;
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    const auto at = 6 * static_cast<Index>(k);
    const Vector3d spin = v.segment<3>(at + 3);
    sum += 0.5 * bodies_[k].mass * v.segment<3>(at).squaredNorm() + 0.5 * spin.dot(bodies_[k].J * spin);
  }
  return sum;
}

void BodyInertia::add_velocity_force(const Vector&, const Vector& v, SystemWorkspace&, Vector& h) const {
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    const auto at = 6 * static_cast<Index>(k) + 3;
    const Vector3d spin = v.segment<3>(at);
    h.segment<3>(at) -= spin.cross(bodies_[k].J * spin);
  }
}

void BodyInertia::add_velocity_slopes(const Vector&, const Vector& v, SystemWorkspace&, SystemMatrix&,
                                      SystemMatrix& by_v) const {
  double* const numbers = MatrixLayout::numbers(by_v);
  const Index n = by_v.size();
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    const auto at = 6 * static_cast<Index>(k) + 3;
    const Vector3d spin = v.segment<3>(at);
    const Matrix3d slope = cross_matrix(bodies_[k].J * spin) - cross_matrix(spin) * bodies_[k].J;
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 3; ++j) numbers[at + i + n * (at + j)] += slope(i, j);
  }
}

void BodyFreeMotion::drift(double dt, Vector& q, Vector& v) const {
  for (Index k = 0; k < static_cast<Index>(bodies_.size()); ++k) {
    q.segment<3>(7 * k) += dt * v.segment<3>(6 * k);
    const BodyMass& body = bodies_[static_cast<std::size_t>(k)];
    Vector3d spin = v.segment<3>(6 * k + 3);
    if (spin.isZero(0.0)) continue;
    Quaterniond rotation = orientation_of(q, k);
    if (body.isotropic) {
      turn(rotation, dt * spin);
    } else {
      const Vector3d momentum = body.J * spin;
      const Vector3d middle = middle_spin(body, spin, dt);
      Quaterniond increment(1, 0.5 * dt * middle.x(), 0.5 * dt * middle.y(), 0.5 * dt * middle.z());
      increment.normalize();
      rotation = rotation * increment;
      // Rᵀ Jω - Jω, so that rounding is relative to the change
      const Vector3d axis = increment.vec(), turned = axis.cross(momentum);
      v.segment<3>(6 * k + 3) += body.J_inverse * (2 * axis.cross(turned) - 2 * increment.w() * turned);
    }
    rotation.normalize();
    set_orientation(q, k, rotation);
  }
}

void BodyFreeMotion::displace(const Vector& delta, Vector& q, Vector& v) const {
  Vector3d shift = Vector3d::Zero(), momentum = Vector3d::Zero();
  double path = 0, mass = 0;
  for (Index k = 0; k < static_cast<Index>(bodies_.size()); ++k) {
    const auto moved = delta.segment<3>(6 * k);
    if (delta.segment<6>(6 * k).isZero(0.0)) continue;
    const double m = bodies_[static_cast<std::size_t>(k)].mass;
    shift += m * moved;
    path += m * moved.norm();
    momentum += m * v.segment<3>(6 * k);
    mass += m;
  }
  if (mass == 0) return;
  const bool closed = shift.norm() <= 1e-9 * path;  // internal impulses alone do not move the common mass centre
  for (Index k = 0; k < static_cast<Index>(bodies_.size()); ++k) {
    if (delta.segment<6>(6 * k).isZero(0.0)) continue;
    const BodyMass& body = bodies_[static_cast<std::size_t>(k)];
    const Vector3d moved = delta.segment<3>(6 * k);
    Quaterniond rotation = orientation_of(q, k);
    Vector3d spin_momentum = rotation * (body.J * Vector3d(v.segment<3>(6 * k + 3)));
    if (closed) spin_momentum -= body.mass * moved.cross(Vector3d(v.segment<3>(6 * k)) - momentum / mass);
    q.segment<3>(7 * k) += moved;
    turn(rotation, delta.segment<3>(6 * k + 3));
    rotation.normalize();
    set_orientation(q, k, rotation);
    v.segment<3>(6 * k + 3) = body.J_inverse * (rotation.conjugate() * spin_momentum);
  }
}

}  // namespace stickslip
