// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/flexible_body.hpp"

#include <fmt/format.h>

#include <set>

#include "stickslip/common/error.hpp"

namespace stickslip {

double FlexibleBody::mass() const {
  double sum = 0;
  for (const FlexibleStation& station : stations) sum += station.mass;
  return sum;
}

void FlexibleBody::validate() const {
  const Index n = modes();
  const auto square = [&](const DenseMatrix& A) { return A.rows() == n && A.cols() == n && A.allFinite(); };
  if (n == 0) throw InputError("a flexible body needs at least one mode");
  if (!square(stiffness) || !square(damping))
    throw InputError(fmt::format("stiffness and damping of {} modes are {} x {} and {} x {}", n, stiffness.rows(),
                                 stiffness.cols(), damping.rows(), damping.cols()));
  if (Eigen::LLT<DenseMatrix>(stiffness).info() != Eigen::Success)
    throw InputError("the stiffness of the modes is not positive definite; leave out modes that are rigid motions");
  std::set<std::string> names;
  for (const FlexibleStation& station : stations) {
    if (station.shift.cols() != n || (station.turn.size() > 0 && station.turn.cols() != n))
      throw InputError(fmt::format("a station has {} shifts and {} turns; there are {} modes", station.shift.cols(),
                                   station.turn.cols(), n));
    for (const DenseMatrix& Q : station.shortening)
      if (Q.size() > 0 && !square(Q)) throw InputError("the shortening of a station is not a matrix over the modes");
    if (!(station.mass >= 0)) throw InputError(fmt::format("a station has the mass {}; it must be >= 0", station.mass));
    if (!station.node.empty() && !names.insert(station.node).second)
      throw InputError(fmt::format("two nodes are named '{}'", station.node));
  }
  if (!(mass() > 0)) throw InputError("a flexible body without mass");
}

}  // namespace stickslip
