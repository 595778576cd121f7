// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/certificates.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/simulate.hpp"
#include "stickslip/periodic/orbit_scales.hpp"
#include "stickslip/periodic/period_map.hpp"

namespace stickslip {

void add_certificate(std::vector<Certificate>& certificates, std::string name, double value, double limit,
                     std::string meaning) {
  certificates.push_back({std::move(name), value, limit, value <= limit, std::move(meaning)});
}

namespace {
/// What is above 0 of a signal at equally spaced rows.
struct Excess {
  double largest = 0, squares = 0, rows = 0;
  void add(double value) {
    value = std::max(value, 0.0);
    largest = std::max(largest, value);
    squares += value * value;
    rows += 1;
  }
  double size(bool in_the_mean) const { return in_the_mean ? std::sqrt(squares / std::max(rows, 1.0)) : largest; }
};

/// Half of what a spring in series is stretched by over the period [m].
double spring_range(const Orbit& orbit, const ModeDynamics::Law& law) {
  double range = 0;
  for (int a = 0; a < law.tangents; ++a) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const Vector& r : orbit.r)
      low = std::min(low, r[law.tangent() + a]), high = std::max(high, r[law.tangent() + a]);
    range = std::max(range, 0.5 * (high - low) / law.stiffness);
  }
  return range;
}
}  // namespace

void add_law_certificates(const System& system, const Orbit& orbit, const CertificateLimits& limits,
                          std::vector<Certificate>& certificates) {
  ModeDynamics dynamics(system);
  const auto& laws = dynamics.laws();
  if (laws.empty() || orbit.r.empty()) return;
  double sign = 0, work = 0, normal = 0, penetration = 0, cone = 0;
  bool contacts = false;
  const bool in_the_mean = limits.resolution > 0;
  Vector range = 0.5 * (orbit.maximum - orbit.minimum);
  const double length = std::max({range.maxCoeff(), limits.smallest, 1e-300});
  dynamics.place(orbit.t0, orbit.q[0], orbit.v[0]);
  for (std::size_t k = 0; k < laws.size(); ++k) {
    const ModeDynamics::Law& law = laws[k];
    const double row = law.tangents > 0 ? dynamics.Wt().row(law.tangent()).norm() : 0.0;
    const double omega = 2 * std::numbers::pi / orbit.period;
    double force = 0, speed = omega * limits.smallest * row, fed = 0, largest = 0;
    if (law.springs()) speed = std::max(speed, omega * spring_range(orbit, law));  // its slider may be held
    Excess pull, over;
    for (std::size_t j = 0; j < orbit.r.size(); ++j) {
      const auto r = orbit.r[j].segment(law.tangent(), law.tangents),
                 u = orbit.u[j].segment(law.tangent(), law.tangents);
      // Rows of an event orbit hold the mean force of the part before them: the friction limit is that of its modes.
      const double mu = law.contact ? law.contact->mu_static.value_or(law.contact->mu) : 0;
      double c = law.contact ? mu * std::max(orbit.r[j][law.first], 0.0) : orbit.limit[j][static_cast<Index>(k)];
      force = std::max({force, c, r.norm()});
      speed = std::max(speed, u.norm());
      fed = std::max(fed, r.dot(u));
      over.add(r.norm() - c);
      if (law.contact) {
        pull.add(-orbit.r[j][law.first]);
        largest = std::max(largest, std::abs(orbit.r[j][law.first]));
        penetration = std::max(penetration, -orbit.gap[j][static_cast<Index>(k)] / length);
      }
    }
    contacts |= law.contact != nullptr;
    if (force > 0 && speed > 0) sign = std::max(sign, fed / (force * speed));
    if (force > 0) cone = std::max(cone, over.size(in_the_mean) / force);
    if (largest > 0) normal = std::max(normal, pull.size(in_the_mean) / largest);
    if (force > 0 && speed > 0 && orbit.friction_work.size() > static_cast<Index>(k))
      work = std::max(work, orbit.friction_work[static_cast<Index>(k)] / (force * speed * orbit.period));
  }
  add_certificate(certificates, "dissipation_sign", sign, limits.reaction(),
                  "largest power that friction feeds in at any row, over the largest force times the largest velocity");
  add_certificate(
      certificates, "dissipation_work", work, limits.resolution > 0 ? 1e-6 : 1e-10,
      "work that friction does on the system over the period, over force, velocity and period; not positive "
      "for a Coulomb solution, but for driving belts");
  // Forces of an event orbit are means over parts of a four-hundredth of the period; limits that vary bend inside them.
  bool vary = false;
  for (const FrictionElement& law : system.laws().friction()) vary |= !law.limit.is_constant();
  add_certificate(certificates, "cone", cone, std::max(limits.reaction(), vary ? 1e-3 : 0.0),
                  in_the_mean
                      ? "root mean square of the excess of the friction force over its limit, over the largest force"
                      : "largest excess of the friction force over its limit, over the largest force");
  if (!contacts) return;
  add_certificate(certificates, "normal_force", normal, limits.reaction(),
                  in_the_mean ? "root mean square of the pull of a contact, over its largest normal force"
                              : "largest pull of a contact, over its largest normal force");
  add_certificate(certificates, "penetration", penetration, limits.displacement(),
                  "largest penetration of a contact, over the size of the motion");
}

namespace {
/// Where the fixed-step scheme is after some periods, from the start, over the size of the motion; empty: not measured.
Vector stepping_distance(const System& system, const Orbit& orbit, double smallest, int periods, long steps,
                         StopRequest stop) {
  SimulationOptions options;
  options.scheme = SchemeKind::moreau;
  options.start_time = orbit.t0;
  options.end_time = orbit.t0 + periods * orbit.period;
  options.steps = steps * periods;
  options.output_step = orbit.period;
  State start = state_at(system, orbit, 0);
  start.t = orbit.t0;
  start.modes.clear();
  SimulationHooks hooks;
  hooks.stop = stop;
  const Vector range = (0.5 * (orbit.maximum - orbit.minimum))
                           .cwiseMax(std::max(1e-3 * (orbit.maximum - orbit.minimum).maxCoeff(), smallest));
  try {
    const Simulation run = simulate(system, start, options, hooks);
    if (run.trajectory.rows() < 2) return {};
    const Index last = run.trajectory.rows() - 1;
    if (run.status != Status::success && run.status != Status::audit_failed)
      return Vector::Constant(start.q.size(), HUGE_VAL);
    Vector distance(start.q.size());
    for (Index i = 0; i < start.q.size(); ++i)
      distance[i] = (run.trajectory.q(last, i) - start.q[i]) / std::max(range[i], 1e-300);
    return distance;
  } catch (const InputError&) {
    return {};  // the scheme does not take the system
  }
}
}  // namespace

void add_stepping_certificate(const System& system, const Orbit& orbit, double growth, const CertificateLimits& limits,
                              StopRequest stop, std::vector<Certificate>& certificates) {
  constexpr long kSteps = 2000, kMost = 64000;
  constexpr double kSettled = 0.1;  // of the limit: finer steps do not lead below it any more
  const int periods = growth < 1 ? 3 : 1;
  // Impacts cost the fixed-step scheme its second order.
  const double scheme = system.laws().contacts().empty() ? 2e-3 : 5e-2;
  const double limit = (scheme + (limits.resolution > 0 ? limits.displacement() : 0)) * std::max(1.0, growth);
  const auto largest = [](const Vector& x) { return x.lpNorm<Eigen::Infinity>(); };
  Vector miss = stepping_distance(system, orbit, limits.smallest, periods, kSteps, stop);
  if (miss.size() == 0) return;
  // High modes, and sticking in a plane, ask for more steps before the orbit is to blame: the step is halved until the
  // distance settles, so that what the scheme is away from its own limit is not held against the orbit.
  for (long steps = 2 * kSteps; largest(miss) > limit && steps <= kMost && !raised(stop); steps *= 2) {
    const Vector finer = stepping_distance(system, orbit, limits.smallest, periods, steps, stop);
    if (finer.size() == 0 || !finer.allFinite()) break;
    const double change = miss.allFinite() ? largest(finer - miss) : HUGE_VAL;
    miss = finer;
    if (change <= kSettled * limit) break;
  }
  const double distance = largest(miss);
  add_certificate(certificates, "time_stepping", distance, limit,
                  "distance from the start after some periods of the fixed-step scheme, over the size of the motion");
}

}  // namespace stickslip
