// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/viscoelastic_law.hpp"

#include <cmath>

#include "stickslip/laws/disk.hpp"

namespace stickslip {

namespace {
struct Trial {
  std::array<double, 2> s{};
  double norm = 0;
};

Trial trial_force(const ViscoelasticLaw& law, const double* zeta, const double* u) {
  Trial trial;
  for (int i = 0; i < law.size; ++i) trial.s[i] = zeta[i] + law.D * u[i];
  trial.norm = law.size == 1 ? std::abs(trial.s[0]) : std::hypot(trial.s[0], trial.s[1]);
  return trial;
}
}  // namespace

ViscoelasticForce viscoelastic_force(const ViscoelasticLaw& law, double limit, const double* zeta, const double* u) {
  const Trial trial = trial_force(law, zeta, u);
  ViscoelasticForce result;
  result.slips = trial.norm > limit;
  if (!result.slips) {
    result.force = trial.s;
    for (int i = 0; i < law.size; ++i) result.rate[i] = law.K * u[i];
    return result;
  }
  if (law.size == 1) {
    result.force[0] = std::copysign(limit, trial.s[0]);
  } else {
    project_on_disk(limit, trial.s, result.force);
  }
  for (int i = 0; i < law.size; ++i) result.rate[i] = law.K / law.D * (result.force[i] - zeta[i]);
  return result;
}

ViscoelasticSlopes viscoelastic_slopes(const ViscoelasticLaw& law, double limit, const double* zeta, const double* u) {
  const Trial trial = trial_force(law, zeta, u);
  ViscoelasticSlopes slopes;
  slopes.slips = trial.norm > limit;
  if (!slopes.slips) return slopes;
  for (int i = 0; i < law.size; ++i) slopes.by_limit[i] = trial.s[i] / trial.norm;
  if (law.size == 1) {
    slopes.by_s[0] = 0;
  } else {
    disk_jacobian(limit, trial.s, slopes.by_s);
  }
  return slopes;
}

}  // namespace stickslip
