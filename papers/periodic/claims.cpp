// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "papers/periodic/experiments.hpp"

namespace stickslip::paper5 {

namespace {

Claim judge(std::string claim, std::string paper, std::string ours, Verdict if_shown, bool shown) {
  return {std::move(claim), std::move(paper), std::move(ours), shown ? if_shown : Verdict::failed};
}

double amplitude(const PeriodicSolution& solution) {
  return solution.amplitude().size() ? solution.amplitude()[0] : NAN;
}

double work(const PeriodicSolution& solution) {
  return solution.orbit.friction_work.size() ? solution.orbit.friction_work[0] : NAN;
}

double impact_speed(const PeriodicSolution& solution, double restitution) {
  for (const Event& event : solution.orbit.events)
    if (event.kind == EventKind::impact) return event.impulse / (1 + restitution);
  return NAN;
}

Claim direction_claim(const Results& r) {
  const double off = amplitude(r.right) / kSlides.X - 1;
  const auto fed = [](const PeriodicSolution& solution) { return certificate(solution, "dissipation_sign"); };
  return judge(
      "Equalities (4) and (5) are Coulomb's law", "equivalent to (3)",
      fmt::format(
          "they hold |u| and |r| alone, so friction may drive: forced oscillator, b = 0.8, f = 0.4, H = 9, from the "
          "linear response: (4) ends with residual {:.0e} on a motion with amplitude {:+.0f} % into which friction "
          "feeds up to {:.2f} of the largest force times the largest velocity (work per period {:+.1e} J), {}; (5): "
          "{:.2f}, {}. The projection: at most {:.0e}, work {:+.3f} J, amplitude {:+.0e} from the closed form "
          "after polish",
          r.wrong_min.residual, 100 * (amplitude(r.wrong_min) / kSlides.X - 1), fed(r.wrong_min), work(r.wrong_min),
          periodic_status_name(r.wrong_min.status), fed(r.wrong_max), periodic_status_name(r.wrong_max.status),
          fed(r.right), work(r.right), off),
      Verdict::corrected,
      r.wrong_min.residual < 1e-9 && fed(r.wrong_min) > 0.5 && r.wrong_min.status == Status::audit_failed &&
          r.wrong_max.status == Status::audit_failed && fed(r.right) < 1e-8 && work(r.right) < 0 &&
          std::abs(off) < 1e-9);
}

std::vector<Claim> toy_claims(const Results& r) {
  std::vector<Claim> claims;
  double lowest = HUGE_VAL;
  for (const PeriodicSolution* s : {&r.members[0], &r.members[1], &r.cycle})
    for (const Vector& reaction : s->orbit.r) lowest = std::min(lowest, reaction[0]);
  claims.push_back(judge("The toy may lose contact", "four fields, the gap among them",
                         fmt::format("at y = 0 the normal force is m g + k gamma L >= m g: the smallest one over three "
                                     "orbits is {:.3f} N with m g = 10 N, so contact is never lost",
                                     lowest),
                         Verdict::corrected, lowest > 10));
  const auto miss = [](const PeriodicSolution& s, double low, double high) {
    return s.orbit.minimum.size() ? std::max(std::abs(s.orbit.minimum[0] - low), std::abs(s.orbit.maximum[0] - high))
                                  : HUGE_VAL;
  };
  const double first = miss(r.members[0], 0.4285192018, 0.6476944244);
  claims.push_back(judge(
      "The periodic orbit of the toy with one coefficient of friction", "a solution is looked for",
      fmt::format(
          "slip against the belt has a potential: orbits form a family, found as such ({}), one for each period: "
          "T = {:.10f} s has x in [{:.10f}, {:.10f}] m ({:.0e} from the quadrature), T = 1.46 s has [{:.6f}, "
          "{:.6f}] m. An amplitude, energy or period has to be given",
          periodic_status_name(r.family.status), r.members[0].period, r.members[0].orbit.minimum[0],
          r.members[0].orbit.maximum[0], first, r.members[1].orbit.minimum[0], r.members[1].orbit.maximum[0]),
      Verdict::corrected,
      r.family.status == Status::refused && r.family.family && first < 1e-9 && r.members[1].status == Status::success));
  claims.push_back(
      judge("Harmonics converge fast for smooth motion", "a few basis functions suffice",
            fmt::format(
                "slip orbit of period 1.3848432581 s: error of both extremes {:.1e}, {:.1e}, {:.1e}, {:.1e}, {:.1e} m "
                "with H = 1, 2, 3, 5, 9",
                r.spectral[0], r.spectral[1], r.spectral[2], r.spectral[3], r.spectral[4]),
            Verdict::confirmed,
            r.spectral[0] < 5e-2 && r.spectral[2] < 1e-4 && r.spectral[3] < 1e-7 && r.spectral[4] < 1e-9));
  const double period = std::abs(r.cycle.period - 1.5166441349), range = miss(r.cycle, 0.2443622934, 0.7612256744);
  const double stick = r.cycle.orbit.stick_fraction.size() ? r.cycle.orbit.stick_fraction[0] * r.cycle.period : NAN;
  claims.push_back(judge(
      "Stick-slip on the belt", "shown for one coefficient",
      fmt::format("isolated with mu_s = 0.4 > mu_d = 0.3: T = {:.10f} s, stick {:.10f} s, x in [{:.10f}, {:.10f}] m, "
                  "{:.0e} from the quadrature; largest multiplier but the trivial one {:.1e}",
                  r.cycle.period, stick, r.cycle.orbit.minimum[0], r.cycle.orbit.maximum[0], std::max(period, range),
                  r.cycle.multipliers.size() > 1 ? std::abs(r.cycle.multipliers[1]) : NAN),
      Verdict::corrected, period < 1e-9 && range < 1e-9 && std::abs(stick - 0.2210085954) < 1e-9));
  return claims;
}

std::vector<Claim> impact_claims(const Results& r) {
  std::string list;
  bool bad = true;
  for (std::size_t k = 0; k < r.bounce_error.size(); ++k) {
    const double e = r.bounce_error[k];
    list += fmt::format("{}H = {}: {}", k ? ", " : "", r.bounce_harmonics[k],
                        std::isfinite(e) ? fmt::format("{:+.0f} %", 100 * e) : std::string("no solution"));
    bad &= !(std::abs(e) < 0.1);
  }
  const double exact = r.bounce.orbit.maximum.size() ? std::abs(r.bounce.orbit.maximum[0] - 0.0850815717680926) : NAN;
  std::vector<Claim> claims;
  claims.push_back(judge("Position-level contact (2) with harmonics for impacts", "part of the formulation",
                         fmt::format("conservative bounce, T = 0.2 s, error of y_max: {}; with unknown impact times "
                                     "(event orbit) {:.1e} m",
                                     list, exact),
                         Verdict::corrected, bad && exact < 1e-9));
  const double v1 = std::abs(impact_speed(r.impacts, 0.8) - 0.5054399709),
               v2 = std::abs(impact_speed(r.impacts_unstable, 0.8) - 0.3361772700);
  claims.push_back(
      judge("Newton's impact law (6), (7)", "switched on penetration",
            fmt::format("with unknown instants: impact oscillator at w = 2.6 and 2.8, impact speeds within "
                        "{:.0e} and {:.0e} of the closed form, largest multipliers {:.6f} (stable) and "
                        "{:.4f} (unstable, found all the same)",
                        v1, v2, std::abs(r.impacts.multipliers[0]), std::abs(r.impacts_unstable.multipliers[0])),
            Verdict::corrected,
            v1 < 1e-9 && v2 < 1e-9 && std::abs(std::abs(r.impacts.multipliers[0]) - 0.8) < 1e-8 &&
                std::abs(std::abs(r.impacts_unstable.multipliers[0]) - 2.958) < 1e-3));
  return claims;
}

std::vector<Claim> basis_claims(const Results& r) {
  const auto line = [](const std::vector<BasisErrors>& list) {
    std::string text;
    for (const BasisErrors& e : list)
      text += fmt::format("{}{}: {:.1e} with {:.0f} unknowns", text.empty() ? "" : "; ", e.name, e.error.back(),
                          e.unknowns.back());
    return text;
  };
  std::vector<Claim> claims;
  bool fall = true;
  for (const auto* list : {&r.sticks, &r.slides})
    for (const BasisErrors& e : *list) fall &= e.error.back() < 0.02 && e.error.back() < e.error.front();
  claims.push_back(judge("Any basis may be taken, Haar's among them", "trigonometric, wavelets, splines",
                         fmt::format("pairs must be stable; P1/P0, which holds Haar's functions, is refused: \"{}\"",
                                     r.refused_pair.substr(0, 140)),
                         Verdict::corrected, !r.refused_pair.empty()));
  claims.push_back(judge("Accuracy with switching", "not measured",
                         fmt::format("relative error of the amplitude; with sticking: {}; sliding only: {}. Slow, as "
                                     "reactions jump; periodic stepping with sticking has order {:.1f}",
                                     line(r.sticks), line(r.slides), r.sticks.back().order),
                         Verdict::confirmed, fall && r.sticks.back().order > 1.3));
  const double a = std::abs(amplitude(r.polished_sticks) - kSticks.X),
               b = std::abs(amplitude(r.polished_slides) - kSlides.X);
  claims.push_back(
      judge("Event polish (beyond the paper)", "-",
            fmt::format("amplitudes within {:.0e} and {:.0e} of Den Hartog's closed form, ten digits of which "
                        "are compared",
                        a, b),
            Verdict::confirmed, a < 2e-10 && b < 2e-10));
  claims.push_back(
      judge("Newton's method from the linear response", "a nonsmooth Newton solver",
            fmt::format("four oscillators, rho = 0.1, 1, 10, 100, H = 33: plain Newton solves {} of {}, with "
                        "line search and smoothing homotopy {} (at most {} iterations)",
                        r.newton.plain, r.newton.cases, r.newton.homotopy, r.newton.most_iterations),
            Verdict::corrected, r.newton.homotopy == r.newton.cases && r.newton.plain < r.newton.cases));
  claims.push_back(
      judge("A small residual means a solution", "the residual is what is driven to zero",
            fmt::format("b = 1/2, f = 0.1: residual {:.0e}, but condition number {:.0e}: a continuum of orbits, "
                        "reported as {}",
                        r.degenerate.residual, certificate(r.degenerate, "conditioning"),
                        periodic_status_name(r.degenerate.status)),
            Verdict::corrected, r.degenerate.status == Status::audit_failed));
  return claims;
}

}  // namespace

std::vector<Claim> claims_of(const Results& r) {
  std::vector<Claim> claims{direction_claim(r)};
  for (const auto& part : {toy_claims(r), impact_claims(r), basis_claims(r)})
    claims.insert(claims.end(), part.begin(), part.end());
  return claims;
}

}  // namespace stickslip::paper5
