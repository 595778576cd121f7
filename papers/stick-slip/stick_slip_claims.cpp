// SPDX-License-Identifier: Apache-2.0
#include "papers/stick-slip/stick_slip_claims.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "papers/stick-slip/reference.hpp"

namespace stickslip::paper2 {

namespace {

bool near(double value, double expected, double tolerance) { return std::abs(value - expected) <= tolerance; }

Claim judge(std::string claim, std::string paper, std::string ours, Verdict if_shown, bool shown) {
  return {std::move(claim), std::move(paper), std::move(ours), shown ? if_shown : Verdict::failed};
}

std::span<const ReferenceEvent> reference_events(int test_case) {
  if (test_case == 2) return kEventsOfCase2;
  return kEventsOfCase3;
}

double energy(const Trajectory& trajectory, Index k) {
  return trajectory.energy(k).kinetic + trajectory.energy(k).potential;
}

Claim switching(const Evidence& e) {
  double states = 0;
  for (int k = 1; k <= 4; ++k) states = std::max(states, state_error(e, k));
  const double events2 = event_error(e, 2), events3 = event_error(e, 3);
  return judge(
      "Switching y' = 0 on and off simulates friction in coupled hinges", "Coulomb damper algorithm, cases 1-4",
      fmt::format(
          "with the mode decided for all hinges at once: states of the four cases within {:.1e} of 40-digit "
          "numbers, the {} events of case 2 within {:.1e} s and the {} of case 3 within {:.1e} s; time stepping "
          "tends to the same with order {:.3f}",
          states, e.cases[1].trajectory.events.size(), events2, e.cases[2].trajectory.events.size(), events3,
          e.moreau.order),
      Verdict::confirmed, states < 1e-10 && events2 < 1e-12 && events3 < 1e-12 && near(e.moreau.order, 2, 0.05));
}

/// Largest difference of event times from those of a case; infinite if number, hinge or kind differ.
double event_error(const std::vector<Event>& events, int test_case) {
  const std::span<const ReferenceEvent> reference = reference_events(test_case);
  double error = events.size() == reference.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < std::min(events.size(), reference.size()); ++k) {
    const bool same = events[k].law + 1 == reference[k].hinge && to_string(events[k].kind) == reference[k].kind;
    error = std::max(error, same ? std::abs(events[k].t - reference[k].t) : std::numeric_limits<double>::infinity());
  }
  return error;
}

Claim beating(const Evidence& e) {
  const Trajectory& t = e.cases[0].trajectory;
  double drift = 0, large = 0, small = 1e9, peak = 0;
  for (Index k = 0; k < t.rows(); ++k) {
    drift = std::max(drift, std::abs(energy(t, k) / energy(t, 0) - 1));
    peak = std::max(peak, std::abs(t.q(k, 1)));
    if (k == 0 || t.v(k - 1, 1) * t.v(k, 1) > 0) continue;
    large = std::max(large, peak);  // of y2 between two turning points
    small = std::min(small, peak);
    peak = 0;
  }
  const double root = std::sqrt(29.0);
  return judge(
      "Without friction the motion is an undamped beating of two modes", "case 1, figure",
      fmt::format("energy constant to {:.1e} over {:g} s; omega^2 = (7 -+ sqrt 29)/2 = {:.6f}, {:.6f}; swings of "
                  "y2 between {:.3f} and {:.3f} m; {} events",
                  drift, t.t(t.rows() - 1), (7 - root) / 2, (7 + root) / 2, small, large, t.events.size()),
      Verdict::confirmed, drift < 1e-12 && t.events.empty() && large > 1.5 * small && state_error(e, 1) < 1e-10);
}

Claim ringing(const Evidence& e) {
  const Simulation& run = e.cases[1];
  const Trajectory& t = run.trajectory;
  const double last = t.events.back().t, amplitude = std::hypot(run.final.q[1], run.final.v[1] / std::sqrt(2.5));
  return judge(
      "Case 2 does not come to rest", "case 2, figure",
      fmt::format("hinge 1 sticks for ever from t = {:.6f} s at y1 = {:.16f} m; hinge 2 rings on with amplitude "
                  "{:.16f} m ({:.1e} from the reference)",
                  last, run.final.q[0], amplitude, amplitude - kRingingAmplitude),
      Verdict::confirmed,
      run.final.modes[0] == Mode::stick && run.final.v[0] == 0 && near(run.final.q[0], kStuckForEver, 1e-12) &&
          near(amplitude, kRingingAmplitude, 1e-12));
}

Claim rest(const Evidence& e) {
  const Simulation& run = e.cases[2];
  return judge(
      "Case 3 comes to rest", "case 3, figure",
      fmt::format("both hinges stick from t = {:.14f} s at y = ({:.6f}, {:.6f}) m with velocities ({:g}, {:g})",
                  run.trajectory.events.back().t, run.final.q[0], run.final.q[1], run.final.v[0], run.final.v[1]),
      Verdict::confirmed,
      run.final.v.isZero(0) && run.final.modes[0] == Mode::stick && run.final.modes[1] == Mode::stick &&
          near(run.trajectory.events.back().t, kEventsOfCase3.back().t, 1e-12));
}

Claim linear_decay(const Evidence& e) {
  const Trajectory& t = e.cases[3].trajectory;
  double time = 0, path = 0, moved = 0;
  for (std::size_t n = 1; n <= t.events.size(); ++n)
    time = std::max(time, std::abs(t.events[n - 1].t - static_cast<double>(n) * std::numbers::pi));
  for (Index k = 0; k < t.rows(); ++k) {
    const double n = std::min(std::floor(t.t(k) / std::numbers::pi), 10.0), sign = std::fmod(n, 2) == 0 ? 1 : -1;
    const double exact = n >= 10 ? 0 : sign * (0.05 + (0.95 - 0.1 * n) * std::cos(t.t(k) - n * std::numbers::pi));
    path = std::max(path, std::abs(t.q(k, 0) - exact));
    moved = std::max(moved, std::abs(t.q(k, 1) - 0.2));
  }
  return judge("With hinge 2 locked the amplitude decays linearly", "case 4, figure (headed case 11)",
               fmt::format("{} turning points at n pi within {:.1e} s, amplitude 1 - 0.1 n, rest at 0 after 10 pi; "
                           "largest distance from the closed form {:.1e} m; hinge 2 moves by {:g} m",
                           t.events.size(), time, path, moved),
               Verdict::confirmed, t.events.size() == 10 && time < 1e-12 && path < 1e-12 && moved == 0);
}

std::string vector_text(const Vector& x) { return fmt::format("({:.4g}, {:.4g})", x[0], x[1]); }

Claim one_hinge_at_a_time(const Evidence& e) {
  const Vector E1a{{1, 0}}, E2a{{-0.7, 1.7}};
  return judge(
      "The hinge that changed sign is tested, alone", "Coulomb damper algorithm",
      fmt::format(
          "at rest under Q = {} N with limits {} both locked forces exceed their limits; letting both go gives "
          "a = {}, hinge 2 against its own friction; all at once: a = {}, lambda = {}. Under Q = {}, limits {}: "
          "{} one by one, {} in truth, where hinge 1 slips against its applied force (residuals {:.0e}, {:.0e}). In "
          "case "
          "3 itself, at t = 0, the locked forces say that both springs unload; let go, a = {}: spring 2 is stretched "
          "further",
          vector_text(e.E1.Q), vector_text(e.E1.limit), vector_text(e.E1.one_by_one), vector_text(e.E1.acceleration),
          vector_text(e.E1.lambda), vector_text(e.E2.Q), vector_text(e.E2.limit), vector_text(e.E2.one_by_one),
          vector_text(e.E2.acceleration), e.E1.residual, e.E2.residual, vector_text(e.start.acceleration)),
      Verdict::corrected,
      e.E1.contradiction && e.E1.residual < 1e-12 && e.E2.residual < 1e-12 &&
          (e.E1.acceleration - E1a).norm() < 1e-12 && (e.E2.acceleration - E2a).norm() < 1e-12 &&
          (e.E2.one_by_one - e.E2.acceleration).norm() > 0.1 && e.start.contradiction && e.start.acceleration[0] < 0 &&
          e.start.acceleration[1] > 0);
}

Claim induced(const Evidence& e) {
  const double before = *std::max_element(e.rule_before.error.begin(), e.rule_before.error.end());
  return judge(
      "The test of one hinge suffices in the paper's own example", "case 3, figure",
      fmt::format(
          "at t = {:.14f} s hinge 1 reverses and the force on stuck hinge 2 jumps from {:.4f} to {:.4f} N, above "
          "0.1: it is let go in the same instant, a = {}. Hinge by hinge it is let go a step later: error {:.1e} "
          "m at T = 10, but {:.2e} (h = {:g}) to {:.2e} (h = {:.2g}) at T = 15, order {:.2f}",
          e.release.t, std::abs(e.release.held_before), std::abs(e.release.held_after),
          vector_text(e.release.acceleration), before, e.rule_after.error.front(), e.rule_after.h.front(),
          e.rule_after.error.back(), e.rule_after.h.back(), e.rule_after.order),
      Verdict::corrected,
      near(e.release.t, kInducedRelease, 1e-12) && std::abs(e.release.held_before) < 0.1 &&
          std::abs(e.release.held_after) > 0.1 && e.release.acceleration.minCoeff() > 0 && before < 1e-10 &&
          near(e.rule_after.order, 1, 0.15));
}

Claim first_test(const Evidence& e) {
  bool tested = e.cases[3].final.q[1] == 0.2;
  for (const Event& event : e.cases[3].trajectory.events) tested &= event.law == 0;
  return judge("A change of sign starts the test; SIGN(0) = 0", "damping law; Coulomb damper algorithm",
               fmt::format("both hinges start at rest and change no sign. Without a test at t = 0 hinge 2 of case 4 "
                           "(limit 8000 N) first moves by {:.3e} m at h = {:g} and {:.3e} m at h = {:g}; tested, it "
                           "stays at 0.2 m exactly",
                           e.displacement[0], e.first_steps[0], e.displacement[1], e.first_steps[1]),
               Verdict::corrected, tested && e.displacement[0] > 1e-4 && e.displacement[1] > 1e-5);
}

Claim static_limit(const Evidence& e) {
  std::string text;
  bool shown = true;
  int most = 0;
  double spread = 0;
  for (const StaticVariant& v : e.variants) {
    const bool has_static = v.limits.fixed[0] > v.limits.dynamic[0];
    shown &= v.event.status == Status::success;
    spread = std::max(spread, (v.event.final.q - e.variants.front().event.final.q).lpNorm<Eigen::Infinity>());
    if (!has_static) {
      shown &= v.difference_to_moreau < 1e-5;  // one mode only: whoever decides finds it
      continue;
    }
    shown &= v.largest_held > v.limits.dynamic[0] && v.largest_held <= v.limits.fixed[0] * (1 + 1e-9);
    most = std::max(most, v.admissible);
    text += fmt::format(
        "{}{} (f_s = {:g}): {} events, up to {} admissible modes, up to {:.3f} N on a stuck hinge, ends at ({:.5f}, "
        "{:.5f}) m",
        text.empty() ? "" : "; ", v.name, v.limits.fixed[0], v.event.trajectory.events.size(), v.admissible,
        v.largest_held, v.event.final.q[0], v.event.final.q[1]);
    if (std::isfinite(v.parts_from_moreau))
      text += fmt::format(", moreau takes another mode at t = {:.4f} s and ends {:.4f} m away", v.parts_from_moreau,
                          v.difference_to_moreau);
    else
      shown &= v.difference_to_moreau < 1e-5;
  }
  return judge("The force on a stuck hinge is compared with f_d", "Coulomb damper algorithm; mu_s is defined, not used",
               fmt::format("a stuck hinge lets go at f_s and slips with f_d; the next mode need not be unique then, so "
                           "the policy is named: a hinge at its limit is let go, then as many stuck hinges as possible "
                           "stay stuck, then as many stopped ones as possible stick. {}",
                           text),
               Verdict::corrected, shown && most > 1 && spread > 1e-3);
}

Claim root_finding(const Evidence& e) {
  std::string text;
  for (const HalvingTrial& trial : e.zero.halving)
    text += trial.halving.ended
                ? fmt::format("{}eps = {:g}: {} evaluations, |v| = {:.0e}", text.empty() ? "" : "; ", trial.eps,
                              trial.halving.evaluations, std::abs(trial.halving.velocity))
                : fmt::format("; eps = {:g}: not ended after {} evaluations", trial.eps, trial.halving.evaluations);
  return judge("The step is reduced until the velocities differ by less than eps", "Coulomb damper algorithm",
               fmt::format("{}. A bracketed root takes {} evaluations to |v| = {:.0e}, time within {:.0e} s", text,
                           e.zero.root_evaluations, std::abs(e.zero.root_velocity), std::abs(e.zero.root_error)),
               Verdict::corrected,
               e.zero.halving.front().halving.ended && !e.zero.halving.back().halving.ended &&
                   e.zero.root_evaluations < 20 && std::abs(e.zero.root_error) < 1e-12);
}

Claim governing_equation(const Evidence& e) {
  const ConstrainedPoint& p = e.point;
  return judge(
      "[V2' M V2] z' = V2' F - V2' M A+ B", "governing differential equation",
      fmt::format("z'' and B' = dB/dt - dA/dt q' belong there. Point with x x' + y y' = 0.3: at t = 1 the printed "
                  "equation misses the constraint by {:.3f} m^2/s and the position by {:.3f} m; with B' {:.0e} "
                  "and {:.0e}",
                  p.printed_residual, p.printed_position_error, p.residual, p.position_error),
      Verdict::corrected,
      p.printed_residual > 0.1 && p.printed_position_error > 0.1 && p.residual < 1e-10 && p.position_error < 1e-10);
}

Claim bodies_and_hinges(const Evidence& e) {
  const double error = event_error(e.bodies.trajectory.events, 3);
  return judge("Bodies joined by hinges of any kind, with a Coulomb damper on any hinge axis",
               "coupled dynamical simulation, topology",
               fmt::format("the example built of two bodies on slides, M(q) and forces from the tree: the same {} "
                           "events, times within {:.1e} s, "
                           "at the tolerance of the integrator (1e-12) in place of the exact flow",
                           e.bodies.trajectory.events.size(), error),
               Verdict::confirmed, e.bodies.status == Status::success && error < 1e-10);
}

Claim locked_hinges(const Evidence& e) {
  const LockedArm& a = e.arm;
  return judge(
      "A hinge that friction holds is locked: its degree of freedom is taken out, and given back when the force "
      "exceeds the limit",
      "Coulomb damper algorithm, constraints switched on and off",
      fmt::format(
          "an arm of two links under gravity moves by {:g} rad until '{}' gives way at {:.9f} s, {:.0e} s from statics",
          a.motion, a.hinge, a.release, std::abs(a.release - a.expected)),
      Verdict::confirmed,
      a.status == Status::success && a.motion == 0 && a.hinge == "elbow" && near(a.release, a.expected, 1e-9));
}

Claim redundant_constraints(const Evidence& e) {
  const ClosedChain& c = e.chain;
  return judge(
      "Closed loops by singular values: redundant constraints need not be found by hand",
      "constraints, singular value decomposition",
      fmt::format("Bricard's mechanism: {} rows of rank {}, '{}' depends on the others; after 1 s its joint is within "
                  "{:.0e} m of published "
                  "positions, energy within {:.0e} J",
                  c.rows, c.rank, c.dependent.empty() ? "" : c.dependent.front(), c.position_error, c.energy_drift),
      Verdict::confirmed,
      c.status == Status::success && c.rows == 5 && c.rank == 4 && c.position_error < 1e-9 && c.energy_drift < 1e-9);
}

}  // namespace

double state_error(const Evidence& evidence, int test_case) {
  const Trajectory& t = evidence.cases[static_cast<std::size_t>(test_case - 1)].trajectory;
  double error = 0;
  for (const ReferenceState& s : kStates) {
    if (s.test_case != test_case) continue;
    const Index k = row_at(t, s.t);
    if (k < 0) return std::numeric_limits<double>::infinity();
    for (const auto& [ours, reference] : {std::pair(t.q(k, 0), s.y1), std::pair(t.q(k, 1), s.y2),
                                          std::pair(t.v(k, 0), s.v1), std::pair(t.v(k, 1), s.v2)})
      error = std::max(error, std::abs(ours - reference));
  }
  return error;
}

double event_error(const Evidence& evidence, int test_case) {
  return event_error(evidence.cases[static_cast<std::size_t>(test_case - 1)].trajectory.events, test_case);
}

std::vector<Claim> judge_claims(const Evidence& e) {
  return {switching(e),
          beating(e),
          ringing(e),
          rest(e),
          linear_decay(e),
          one_hinge_at_a_time(e),
          induced(e),
          first_test(e),
          static_limit(e),
          root_finding(e),
          governing_equation(e),
          bodies_and_hinges(e),
          locked_hinges(e),
          redundant_constraints(e)};
}

}  // namespace stickslip::paper2
