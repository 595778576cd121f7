// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/not_finite.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

/// The first component that is no number, or -1.
Index first_bad(const Vector& x) {
  for (Index i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i])) return i;
  return -1;
}

std::string bad_force(const System& system, double t, const Vector& q, const Vector& v) {
  SystemWorkspace workspace(system);
  Vector h(system.info().nv());
  try {
    system.force(t, q, v, workspace, h);
  } catch (const InputError& error) {
    return error.what();
  }
  const Index i = first_bad(h);
  if (i < 0) return "";
  return fmt::format("the force on {} is {} at t = {:.9g} s; look at its expression there",
                     system.info().velocities[static_cast<std::size_t>(i)], h[i], t);
}

}  // namespace

std::string not_finite_cause(const System& system, const State& s, double t_end) {
  if (!s.q.allFinite() || !s.v.allFinite()) return "";
  const double h = t_end - s.t;
  for (const double part : {0.0, 0.5, 1.0}) {
    const double t = part < 1 ? s.t + part * h : t_end;
    if (std::string cause = bad_force(system, t, s.q, s.v); !cause.empty()) return cause;
    Vector q = s.q, v = s.v;
    system.kinematics().displace((part * h) * v, q);
    if (!q.allFinite() || !v.allFinite()) break;
    if (std::string cause = bad_force(system, t, q, v); !cause.empty()) return cause;
  }
  if (s.v.size() == 0) return "";
  Index fastest = 0;
  s.v.cwiseAbs().maxCoeff(&fastest);
  return fmt::format(
      "the numbers of the step from t = {:.9g} s (largest velocity: {:.3g} of {}) grow beyond all bounds; reduce "
      "run.step, or look for a force that does",
      s.t, s.v[fastest], system.info().velocities[static_cast<std::size_t>(fastest)]);
}

}  // namespace stickslip
