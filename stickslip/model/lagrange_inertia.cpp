// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/lagrange_inertia.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "stickslip/common/error.hpp"

namespace stickslip {

LagrangeInertia::LagrangeInertia(StateFunction kinetic_energy, const std::vector<std::string>& coordinates)
    : T_(std::move(kinetic_energy)), n_(static_cast<Index>(coordinates.size())) {
  for (Index k = 0; k < n_; ++k)
    if (!T_.depends_on(velocity_slot(k)))
      throw InputError(fmt::format("kinetic_energy does not depend on v_{0}: '{0}' has no mass",
                                   coordinates[static_cast<std::size_t>(k)]));
  varies_ = T_.variables_used().front() <= n_;
  require_quadratic(coordinates);
}

void LagrangeInertia::require_quadratic(const std::vector<std::string>& coordinates) const {
  constexpr int kSamples = 8;
  std::mt19937 random(20042);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> x(static_cast<std::size_t>(2 + 2 * n_), 0.0), at_rest = x;
  for (int sample = 0; sample < kSamples; ++sample) {
    // Also points with positive coordinates only, where 1/x, sqrt(x), log(x) are defined.
    for (Index k = 0; k < n_; ++k) {
      const auto s = static_cast<std::size_t>(1 + k);
      at_rest[s] = x[s] = sample % 2 == 0 ? 2 * uniform(random) : 1 + 0.5 * uniform(random);
      x[s + static_cast<std::size_t>(n_)] = (sample < kSamples / 2 ? 1 : 30) * uniform(random);
    }
    double form = 0, size = 0;
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) {
        const double term = 0.5 * mass(at_rest, i, j) * x[static_cast<std::size_t>(velocity_slot(i))] *
                            x[static_cast<std::size_t>(velocity_slot(j))];
        form += term;
        size += std::abs(term);
      }
    const double given = T_(x);
    if (!std::isfinite(given) || !std::isfinite(form)) continue;
    // Second differences have half of the digits.
    const double round_off = T_.has_exact_derivatives() ? 1e-10 : 1e-6;
    if (std::abs(given - form) <= round_off * std::max(size, std::abs(given))) continue;
    std::string where;
    for (Index k = 0; k < std::min<Index>(n_, 4); ++k) {
      const auto s = static_cast<std::size_t>(k);
      where += fmt::format("{}{} = {:.4g}, v_{} = {:.4g}", k ? ", " : "", coordinates[s], x[1 + s], coordinates[s],
                           x[static_cast<std::size_t>(velocity_slot(k))]);
    }
    throw InputError(fmt::format(
        "kinetic_energy is not quadratic in the velocities: at {}{} it is {:.6g}, but its second derivatives "
        "at rest give {:.6g}; it must be a sum of products of two velocities with functions of the "
        "coordinates",
        where, n_ > 4 ? ", ..." : "", given, form));
  }
}

/// Outer direction of second derivatives: v in the positions.
void LagrangeInertia::seed(std::span<const double> x, std::vector<SecondDual>& second) const {
  for (std::size_t slot = 0; slot < x.size(); ++slot) second[slot] = SecondDual(Dual(x[slot], 0.0), Dual(0.0));
  for (Index k = 0; k < n_; ++k)
    second[static_cast<std::size_t>(1 + k)].slope.value = x[static_cast<std::size_t>(velocity_slot(k))];
}

/// The second derivative along the outer direction and the unit vector of a slot.
double LagrangeInertia::along(std::vector<SecondDual>& second, Index slot) const {
  double& inner = second[static_cast<std::size_t>(slot)].value.slope;
  inner = 1.0;
  const double result = T_.evaluate<SecondDual>(second).slope.slope;
  inner = 0.0;
  return result;
}

void LagrangeInertia::add_force(std::span<const double> x, std::vector<SecondDual>& second, Vector& h) const {
  seed(x, second);
  for (Index i = 0; i < n_; ++i) h[i] += T_.derivative(x, 1 + i) - along(second, velocity_slot(i));
}

void LagrangeInertia::add_slopes(std::span<const double> x, std::vector<SecondDual>& second,
                                 const MatrixLayout& layout_q, double* by_q, const MatrixLayout& layout_v,
                                 double* by_v) const {
  const auto velocity = [&](Index k) -> double& {
    return second[static_cast<std::size_t>(velocity_slot(k))].value.value;
  };
  for (Index i = 0; i < n_; ++i)
    for (Index k = 0; k < n_; ++k) {
      by_q[layout_q.offset(i, k)] += T_.second_derivative(x, 1 + i, 1 + k);
      const double mixed = T_.second_derivative(x, velocity_slot(i), 1 + k);
      by_v[layout_v.offset(i, k)] -= mixed;
      by_v[layout_v.offset(k, i)] += mixed;
    }

  seed(x, second);
  double sigma = 0;
  for (Index k = 0; k < n_; ++k) sigma = std::max(sigma, std::abs(velocity(k)));
  if (!(sigma > 0)) sigma = 1;
  for (Index i = 0; i < n_; ++i) {
    const double v_i = velocity(i);
    for (const double side : {1.0, -1.0}) {
      velocity(i) = v_i + side * sigma;
      for (Index k = 0; k < n_; ++k) by_q[layout_q.offset(i, k)] -= side * along(second, 1 + k) / (2 * sigma);
    }
    velocity(i) = v_i;
  }

  for (Index k = 0; k < n_; ++k) velocity(k) = 0;
  for (Index k = 0; k < n_; ++k) {
    velocity(k) = 1;
    for (Index i = 0; i < n_; ++i) by_v[layout_v.offset(i, k)] -= along(second, velocity_slot(i));
    velocity(k) = 0;
  }
}

}  // namespace stickslip
