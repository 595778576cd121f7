// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/contact_compliance.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/common/gauss_legendre.hpp"

namespace stickslip {

bool FunctionMatrix::is_constant() const {
  return std::all_of(entries.begin(), entries.end(), [](const auto& row) {
    return std::all_of(row.begin(), row.end(), [](const StateFunction& entry) { return entry.is_constant(); });
  });
}

void FunctionMatrix::evaluate(std::span<const double> variables, DenseMatrix& matrix) const {
  matrix.resize(size(), size());
  for (Index i = 0; i < size(); ++i)
    for (Index j = 0; j < size(); ++j)
      matrix(i, j) = entries[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)](variables);
}

NormalForce normal_force(const StateFunction& phi, double penetration) {
  if (!(penetration > 0)) return {};
  NormalForce result;
  const std::span<const double> at(&penetration, 1);
  result.force = phi(at);
  result.slope = phi.derivative(at, 0);
  for (const QuadraturePoint& point : kGaussLegendre8) {
    const double s = 0.5 * (1 + point.x), p = penetration * s * s;
    result.energy += 2 * point.weight * s * penetration * phi(std::span<const double>(&p, 1));
  }
  return result;
}

}  // namespace stickslip
