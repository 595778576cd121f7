// SPDX-License-Identifier: Apache-2.0
#include "papers/compliance/compliance_claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/common/error.hpp"
#include "stickslip/laws/friction_section.hpp"
#include "stickslip/motion/comparison.hpp"

namespace stickslip::paper3 {

namespace {

constexpr double kStop = 0.679578661230, kMu = 0.3, kWeight = 9.81;  // rigid block of the limit k -> ∞

bool near(double value, double expected, double tolerance) { return std::abs(value - expected) <= tolerance; }

Claim judge(std::string claim, std::string paper, std::string ours, Verdict if_shown, bool shown) {
  return {std::move(claim), std::move(paper), std::move(ours), shown ? if_shown : Verdict::failed};
}

double audit(const Simulation& run, std::string_view name) {
  for (const AuditItem& item : run.audit)
    if (item.name == name) return item.value;
  return HUGE_VAL;
}

std::vector<std::string> with(std::vector<std::string> settings, std::initializer_list<std::string> more) {
  settings.insert(settings.end(), more);
  return settings;
}

void run_agreements(Results& r) {
  for (const auto& [test, settings, reference] :
       {std::tuple("S", std::vector<std::string>{}, &r.slide), std::tuple("D", drop(), &r.fall)})
    for (const char* integrator : {"explicit", "stiff"})
      for (const char* located : {"false", "true"}) {
        const Simulation run = run_block(with(settings, {fmt::format("run.compliant.integrator={}", integrator),
                                                         fmt::format("run.compliant.locate_switches={}", located)}),
                                         1e-11);
        r.agreements.emplace_back(fmt::format("{} {}{}", test, integrator, *located == 't' ? ", located" : ""),
                                  distance(run, *reference));
      }
  for (const double tolerance : {1e-5, 1e-7, 1e-9})
    r.loose.emplace_back(tolerance, distance(run_block({}, tolerance), r.slide));
  r.two_contacts = run_two_contacts("explicit", 1e-12);
  r.two_contacts_agreement = distance(r.two_contacts, run_two_contacts("stiff", 1e-11));
}

void run_cones(Results& r) {
  for (const bool circumscribed : {false, true})
    for (const int facets : {4, 8, 16, 32, 64, 128}) {
      ConeRun cone_run{facets, circumscribed, run_block(cone(facets, circumscribed)), 0, 0};
      auto from_disk = [&](const Simulation& run) {
        return (run.final.q - r.slide.final.q).head(2).lpNorm<Eigen::Infinity>();
      };
      cone_run.difference = cone_run.worst = from_disk(cone_run.run);
      for (const double angle : {0.25, 0.5, 0.75})
        cone_run.worst = std::max(cone_run.worst, from_disk(run_block(cone(facets, circumscribed, angle))));
      r.cones.push_back(std::move(cone_run));
    }
  r.box_against_square = distance(run_block({"contact.floor.cone=box"}), run_block(cone(4, true)));
}

void run_orders(Results& r) {
  for (const int steps : {400, 800, 1600, 3200, 6400}) {
    r.steps.push_back(1.5 / steps);
    for (const auto& [integrator, errors] : {std::pair("heun", &r.heun), std::pair("rk4", &r.rk4)})
      errors->push_back(distance(run_block({fmt::format("run.compliant.integrator={}", integrator),
                                            fmt::format("run.steps={}", steps), "run.output_step=1.5"}),
                                 r.slide));
  }
}

void run_rigid_limit(Results& r) {
  for (const double k : {1e3, 1e4, 1e5, 1e6, 1e7}) {
    r.stiffness.push_back(k);
    for (const auto& [a, errors] : {std::pair(0.0, &r.plain), std::pair(0.1, &r.coupled)})
      errors->push_back(kStop - run_block(rigid_limit(k, a), 1e-10).final.q[0]);
  }
}

std::vector<Claim> regularity_claims(const Results& r) {
  std::vector<Claim> claims;
  std::string text;
  bool bounded = true;
  for (const auto& [name, value] : r.estimates) {
    text += fmt::format("{}{}: {:.0f}", text.empty() ? "" : ", ", name, value);
    bounded &= value > 900 && value < 1200;
  }
  claims.push_back(
      judge("The right-hand side is Lipschitz", "semismooth and Lipschitz on bounded sets",
            fmt::format("largest ratio over 20000 random pairs 1e-8 ... 1e-1 apart: {} (SI units), about K_nn/m = "
                        "1000; the bound grows with the stiffness",
                        text),
            Verdict::confirmed, bounded));
  claims.push_back(judge(
      "Trajectories are C1 and forces finite through impact, stick and slip", "no impulses",
      fmt::format(
          "Test D, rows h = 4e-3 ... 2.5e-4 s apart: the largest change of velocity falls like h^{:.2f}, that of the "
          "force like h^{:.2f}; with rigid contact (moreau) the velocity still changes by {:.2f} m/s between the "
          "closest rows: it jumps",
          r.compliant.velocity_order, r.compliant.force_order, r.rigid.velocity.back()),
      Verdict::confirmed,
      near(r.compliant.velocity_order, 1, 0.1) && near(r.compliant.force_order, 1, 0.15) &&
          r.rigid.velocity.back() > 0.5));
  double worst = r.two_contacts_agreement;
  for (const auto& [name, value] : r.agreements) worst = std::max(worst, value);
  std::string loose;
  bool follows = true;
  for (const auto& [tolerance, value] : r.loose) {
    loose += fmt::format("{}{:.0e}: {:.1e}", loose.empty() ? "" : ", ", tolerance, value);
    follows &= value < 1e2 * tolerance;
  }
  claims.push_back(
      judge("The motion is unique", "unique solutions",
            fmt::format(
                "in practice: explicit and stiff methods, with and without located switches, end within {:.1e} of each "
                "other on Tests S and D and on a body with two coupled contacts; the error follows the tolerance ({})",
                worst, loose),
            Verdict::confirmed, worst < 1e-8 && follows));
  claims.push_back(judge(
      "Switches are isolated", "finitely many in finite time (proved for polygonal cones)",
      fmt::format(
          "Test S: {:.0f} switch; Test D: {:.0f}, at least {:.2e} s apart; two contacts: {:.0f}, {:.2e} s. With the "
          "disk a history shows this, it does not prove it",
          audit(r.slide, "switches"), audit(r.fall, "switches"), audit(r.fall, "shortest_between_switches"),
          audit(r.two_contacts, "switches"), audit(r.two_contacts, "shortest_between_switches")),
      Verdict::confirmed,
      audit(r.slide, "switches") == 1 && audit(r.fall, "switches") > 3 &&
          audit(r.fall, "shortest_between_switches") > 1e-5));
  return claims;
}

Claim metric_claim() {
  constexpr double rho = 2.943, det = 20 * 30 - 5 * 5;
  const Metric inverse{30 / det, -5 / det, 20 / det};
  const PlaneForce w{-40, -20};
  PlaneForce l{}, euclidean{};
  FrictionSection().project(rho, inverse, w, l);
  FrictionSection().project(rho, {}, w, euclidean);
  auto cost = [&](const PlaneForce& f) {
    const double a = f[0] - w[0], b = f[1] - w[1];
    return 0.5 * (inverse.g11 * a * a + 2 * inverse.g12 * a * b + inverse.g22 * b * b);
  };
  double least = HUGE_VAL;  // on the rim, by looking everywhere
  for (int k = 0; k < 100000; ++k) {
    const double angle = 2 * std::numbers::pi * k / 100000;
    least = std::min(least, cost({rho * std::cos(angle), rho * std::sin(angle)}));
  }
  const double error = std::max(std::abs(l[0] + 2.88604198746395), std::abs(l[1] + 0.57620365027927));
  return judge(
      "The tangential force is a projection on the cone", "maximal dissipation with damping C",
      fmt::format("in the metric of the inverse damping: C = [[20, 5], [5, 30]], trial force (-40, -20), mu N = 2.943 "
                  "give ({:.12f}, {:.12f}), {:.0e} from the check value; the least of the rim by search costs {:.1e} "
                  "more. The Euclidean projection ({:.6f}, {:.6f}) costs {:.3g} more",
                  l[0], l[1], error, least - cost(l), euclidean[0], euclidean[1], cost(euclidean) - cost(l)),
      Verdict::corrected, error < 1e-12 && least - cost(l) > -1e-12 && cost(euclidean) - cost(l) > 0.1);
}

std::vector<Claim> erratum_claims(const Results& r) {
  std::vector<Claim> claims{metric_claim()};
  claims.push_back(judge(
      "W = G'[J Psi]", "as printed",
      fmt::format(
          "each block is transposed, G'(J Psi)': with two contacts of three coordinates the printed product has no "
          "size. With it contact power and deformation match: energy closes to {:.1e} with two coupled contacts",
          audit(r.two_contacts, "energy")),
      Verdict::corrected, r.two_contacts.status == Status::success && audit(r.two_contacts, "energy") < 1e-9));
  const FrictionSection outer = FrictionSection::regular(8, true, 0), inner = FrictionSection::regular(8, false, 0);
  const double out = std::hypot(outer.vertex(0)[0], outer.vertex(0)[1]),
               in = std::hypot(inner.vertex(0)[0], inner.vertex(0)[1]);
  claims.push_back(judge(
      "The polygon a cos + b sin <= mu N inscribes or circumscribes the disk", "as printed",
      fmt::format(
          "it circumscribes: its vertices reach {:.4f} mu N with 8 facets; inscribed needs cos(pi/l) mu N and reaches "
          "{:.4f}. The circumscribed square with angle 0 is the box: runs end {:.1e} apart",
          out, in, r.box_against_square),
      Verdict::corrected,
      near(out, 1 / std::cos(std::numbers::pi / 8), 1e-12) && near(in, 1, 1e-12) && r.box_against_square < 1e-10));
  bool refused = false;
  try {
    run_block({"initial.deformation=[0.001, 0, 0]"});
  } catch (const InputError&) {
    refused = true;
  }
  const Simulation strained =
      run_block({"initial.deformation=[0.001, -0.002]", "run.end_time=1e-9", "run.output_step=1e-9"});
  const double expected = 100 * 0.001 + 50 * -0.002 + 1000 * 0.00981;
  claims.push_back(
      judge("Deformations may be prescribed at the start", "delta(0) = delta0",
            fmt::format("the tangential ones: the normal one is algebraic. delta_T = (1, -2) mm gives lambda_n = "
                        "{:.9f} N = K_nT delta_T - K_nn Psi = {:.9f} N; three numbers are refused",
                        strained.final_reaction[0], expected),
            Verdict::corrected, refused && near(strained.final_reaction[0], expected, 1e-6)));
  std::vector<double> facets, difference;
  std::string text;
  for (const ConeRun& run : r.cones) {
    if (!run.circumscribed) continue;
    facets.push_back(run.facets);
    difference.push_back(run.worst);
    text += fmt::format("{}{}: {:.2e}", text.empty() ? "" : ", ", run.facets, run.worst);
  }
  const double order = -fitted_order(facets, difference);
  claims.push_back(
      judge("Polygons approximate the disk", "with many facets",
            fmt::format("like 1/l in position, not 1/l²: exponent {:.2f} ({} m, the worst of four angles of the "
                        "polygon), since a force that slides in a "
                        "general direction locks on a vertex or facet",
                        order, text),
            Verdict::corrected, near(order, 1, 0.15)));
  return claims;
}

std::vector<Claim> numerical_claims(const Results& r) {
  std::vector<Claim> claims;
  const double order = fitted_order(r.steps, r.heun);
  double envelope = 0;
  for (std::size_t k = 0; k < r.steps.size(); ++k) envelope = std::max(envelope, r.rk4[k] / (r.steps[k] * r.steps[k]));
  claims.push_back(
      judge("Beyond the paper: fixed steps have order 2 through switches", "-",
            fmt::format("Heun {:.3f} over N = 400 ... 6400; RK4 stays below {:.2g} h², erratically: a switch inside "
                        "a step costs O(h²)",
                        order, envelope),
            Verdict::confirmed, near(order, 2, 0.1) && envelope < 1));
  std::vector<double> coupled;
  for (const double error : r.coupled) coupled.push_back(std::abs(error));
  const double slope = fitted_order(r.stiffness, r.plain), slope_coupled = fitted_order(r.stiffness, coupled);
  double constant = 0;
  for (std::size_t k = 0; k < r.stiffness.size(); ++k)
    if (r.stiffness[k] >= 1e4)
      constant = std::max(constant, std::abs(r.plain[k] * 0.8 * r.stiffness[k] / (kMu * kWeight) - 1));
  claims.push_back(judge(
      "The rigid block is the limit of large stiffness", "-",
      fmt::format(
          "its stopping distance is missed by k^{:.3f} (uncoupled) and k^{:.3f} (coupled, 0.1 k); uncoupled the block "
          "springs back by mu m g/k_t, to {:.1e} of it for k >= 1e4",
          slope, slope_coupled, constant),
      Verdict::confirmed, near(slope, -1, 0.01) && near(slope_coupled, -1, 0.02) && constant < 2e-3));
  return claims;
}

std::vector<Claim> analysis_claims(const Results& r) {
  std::vector<Claim> claims;
  std::string residuals;
  for (const ShootingStep& step : r.fair.steps)
    residuals += fmt::format("{}{:.1e}", residuals.empty() ? "" : ", ", step.residual);
  const bool shot = r.fair.steps.size() >= 5 && !r.slow.steps.empty();
  const double error =
      shot ? std::hypot(r.fair.steps.back().vx - 1.750694390055, r.fair.steps.back().vy - 1.021586791918) : HUGE_VAL;
  const double ratio = shot ? r.fair.steps[4].residual / std::pow(r.fair.steps[3].residual, 2) : HUGE_VAL;
  claims.push_back(judge(
      "Shooting converges quadratically", "Newton's method on the semismooth equation",
      fmt::format(
          "(px, py)(2) = (0.6, 0.35) from v = (1, 1): residuals {}; solution {:.0e} from the reference; last residual "
          "over the square of the one before {:.2g} 1/m. From (0.2, 0.1), where the block hardly slips: {} steps, {}, "
          "residual {:.0e}",
          residuals, error, ratio, r.slow.steps.size() - 1, r.slow.halved ? "shortened at first" : "none shortened",
          shot ? r.slow.steps.back().residual : HUGE_VAL),
      Verdict::confirmed,
      shot && error < 1e-9 && ratio < 10 && r.fair.steps.size() <= 8 && r.slow.steps.back().residual < 1e-9));
  const SliderOnset onset = slider_onset();
  const double time = r.slider.trajectory.events.empty() ? HUGE_VAL : r.slider.trajectory.events.front().t;
  const double jump = audit(r.slider, "velocity_jump");
  claims.push_back(
      judge("The quasistatic variant keeps the properties", "inertia dropped",
            fmt::format("positions stay continuous, the velocity jumps at the onset of slip: slider pulled by a "
                        "spring, onset at {:.9f} s (closed form {:.9f}), jump {:.7f} m/s (closed form {:.7f})",
                        time, onset.time, jump, onset.jump),
            Verdict::corrected,
            r.slider.status == Status::success && near(time, onset.time, 1e-6) && near(jump, onset.jump, 1e-5)));
  return claims;
}

}  // namespace

bool run_all(Results& r, const ReproductionProgress& progress) {
  constexpr double total = 9;
  double done = 0;
  auto go_on = [&] { return progress(std::min(1.0, ++done / total)); };
  r.slide = run_block({}, 1e-13);
  r.fall = run_block(drop(), 1e-13);
  if (!go_on()) return false;
  constexpr int kPairs = 20000;
  r.estimates = {{"disk", lipschitz_estimate({}, kPairs)},
                 {"box", lipschitz_estimate({"contact.floor.cone=box"}, kPairs)},
                 {"8 facets", lipschitz_estimate(cone(8, false), kPairs)}};
  if (!go_on()) return false;
  r.compliant = increments("compliant");
  r.rigid = increments("moreau");
  if (!go_on()) return false;
  run_agreements(r);
  if (!go_on()) return false;
  run_cones(r);
  if (!go_on()) return false;
  run_orders(r);
  if (!go_on()) return false;
  run_rigid_limit(r);
  if (!go_on()) return false;
  r.fair = shoot(1, 1);
  r.slow = shoot(0.2, 0.1);
  if (!go_on()) return false;
  r.slider = run_slider();
  return go_on();
}

std::vector<Claim> claims_of(const Results& r) {
  std::vector<Claim> claims = regularity_claims(r);
  for (auto&& more : {erratum_claims(r), numerical_claims(r), analysis_claims(r)})
    claims.insert(claims.end(), more.begin(), more.end());
  return claims;
}

}  // namespace stickslip::paper3
