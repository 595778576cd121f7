// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/impact_pose.hpp"

namespace stickslip {

void pose_impact(const ModeDynamics& dynamics, const std::vector<std::size_t>& touching, ImpactProblem& problem,
                 std::vector<Index>& rows) {
  problem.contacts.clear();
  rows.clear();
  for (const std::size_t k : touching) {
    const ModeDynamics::Law& law = dynamics.laws()[k];
    problem.contacts.push_back({law.contact->set(dynamics.limit(k)), law.contact->restitution, law.contact->impact});
    for (int c = 0; c < law.size; ++c) rows.push_back(law.first + c);
  }
  const Index size = static_cast<Index>(rows.size());
  problem.D.resize(size, size);
  problem.u.resize(size);
  for (Index i = 0; i < size; ++i) {
    problem.u[i] = dynamics.u()[rows[i]];
    for (Index j = 0; j < size; ++j) problem.D(i, j) = dynamics.D()(rows[i], rows[j]);
  }
}

}  // namespace stickslip
