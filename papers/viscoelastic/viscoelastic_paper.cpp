// SPDX-License-Identifier: Apache-2.0
#include "papers/viscoelastic/viscoelastic_paper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "papers/viscoelastic/experiments.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/motion/comparison.hpp"

namespace stickslip {

namespace {

using namespace paper4;

bool near(double value, double expected, double tolerance = 0.05) { return std::abs(value - expected) <= tolerance; }

Claim judge(std::string claim, std::string paper, std::string ours, Verdict if_shown, bool shown) {
  return {std::move(claim), std::move(paper), std::move(ours), shown ? if_shown : Verdict::failed};
}

struct Pair {
  double c = 1, d = 2;
  double b() const { return d * d / c; }  ///< B = 1/m = 1
  EpsilonStudy plain, prepared;           ///< z(0) = 0, and z(0) = ε Λ0/c
};

struct Results {
  std::vector<Pair> pairs;
  std::vector<std::pair<double, EpsilonStudy>> exponents;  ///< κ and its study, z(0) = 0
  std::vector<Deviation> layers;
  std::vector<EulerRun> euler;
  std::vector<std::pair<double, double>> steady;  ///< ε and error
  std::vector<EpsilonRun> radau, explicit_runs;
  std::vector<RollingStart> rolling;
};

std::string list(const std::vector<Pair>& pairs, const EpsilonStudy Pair::*study, double EpsilonErrors::*error) {
  std::string text;
  for (const Pair& pair : pairs)
    text += fmt::format("{}{:.3f} (b = {:g})", text.empty() ? "" : ", ", (pair.*study).exponents.*error, pair.b());
  return text;
}

bool all(const std::vector<Pair>& pairs, const EpsilonStudy Pair::*study, double EpsilonErrors::*error, double value) {
  return std::all_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
    return (pair.*study).status == Status::success && near((pair.*study).exponents.*error, value);
  });
}

/// Largest eigenvalue of the symmetric part of [[1 - b, 1], [-1, -1]]: the logarithmic 2-norm of the fast system.
double logarithmic_norm(double b) {
  const double trace = -b, determinant = (1 - b) * -1;
  return 0.5 * (trace + std::sqrt(trace * trace - 4 * determinant));
}

std::vector<Claim> convergence_claims(const Results& r) {
  using E = EpsilonErrors;
  const auto& p = r.pairs;
  std::vector<Claim> claims;
  claims.push_back(judge(
      "The viscoelastic motion converges to the nonholonomic one", "section 3: yes",
      fmt::format(
          "skate, T = 10, z(0) = 0, epsilon/c = 1e-4 ... 1e-8: sup of the position error falls with exponents {}; at "
          "epsilon = 1e-8 it is "
          "{:.2e} (c = {:g}, d = {:g})",
          list(p, &Pair::plain, &E::position), p[0].plain.runs.back().errors.position, p[0].c, p[0].d),
      Verdict::confirmed, all(p, &Pair::plain, &E::position, 1)));
  claims.push_back(judge(
      "The states are within M1 sqrt(epsilon)", "norm(y - y0) <= M1 sqrt(epsilon)",
      fmt::format("a valid bound, attained by the velocities inside the initial layer alone (exponents {}); positions, "
                  "and after the layer velocities too ({}), are of order epsilon",
                  list(p, &Pair::plain, &E::velocity), list(p, &Pair::plain, &E::late_velocity)),
      Verdict::confirmed, all(p, &Pair::plain, &E::velocity, 0.5) && all(p, &Pair::plain, &E::late_velocity, 1)));
  claims.push_back(judge(
      "Lambda is within M2 sqrt(epsilon)", "norm(Lambda - Lambda0) <= M2 sqrt(epsilon)",
      fmt::format("false in the sup norm with z(0) = 0: exponents {}, the error at t = 0+ is abs(Lambda0(0)) = {:.4f} "
                  "for every epsilon; after the layer it is of order epsilon ({}); in L2 of order epsilon^1/4 ({})",
                  list(p, &Pair::plain, &E::force), p[0].plain.runs[0].errors.force,
                  list(p, &Pair::plain, &E::late_force), list(p, &Pair::plain, &E::force_l2)),
      Verdict::corrected,
      all(p, &Pair::plain, &E::force, 0) && all(p, &Pair::plain, &E::late_force, 1) &&
          all(p, &Pair::plain, &E::force_l2, 0.25)));
  claims.push_back(judge("Beyond the paper: a start z(0) = epsilon Lambda0/c removes the leading layer", "-",
                         fmt::format("sup of q {}, of q' {}, of Lambda {}, L2 of Lambda {}",
                                     list(p, &Pair::prepared, &E::position), list(p, &Pair::prepared, &E::velocity),
                                     list(p, &Pair::prepared, &E::force), list(p, &Pair::prepared, &E::force_l2)),
                         Verdict::confirmed,
                         all(p, &Pair::prepared, &E::position, 1) && all(p, &Pair::prepared, &E::velocity, 1) &&
                             all(p, &Pair::prepared, &E::force, 0.5) && all(p, &Pair::prepared, &E::force_l2, 0.75)));
  return claims;
}

std::vector<Claim> condition_claims(const Results& r) {
  std::vector<Claim> claims;
  std::string decays;
  bool decay = true;
  for (const Deviation& layer : r.layers) {
    const double b = layer.law.d * layer.law.d / layer.law.c, rate = layer.law.d / (2 * std::sqrt(layer.law.epsilon));
    if (b >= 4) continue;
    decays += fmt::format("{}d = {:g} (b = {:g}): {:.4g} 1/s, d/(2 m sqrt(epsilon)) = {:.4g}",
                          decays.empty() ? "" : "; ", layer.law.d, b, layer.decay, rate);
    decay &= near(layer.decay / rate, 1, 0.1);
  }
  claims.push_back(
      judge("Violating lambda_min(B) >= 2c/d^2 makes the deviation grow exponentially", "figure 2, right column",
            fmt::format("not so: the deviation oscillates and decays, and the motion converges with the "
                        "same exponents. Rate of decay of Lambda - Lambda0: {}. The condition is "
                        "sufficient, not necessary: the fast roots s^2 + b s + b = 0 are stable for every b > 0",
                        decays),
            Verdict::corrected, decay && !decays.empty()));
  std::string amplitudes;
  for (const EulerRun& run : r.euler)
    amplitudes += fmt::format("{}d = {:g}: {:.2g}", amplitudes.empty() ? "" : ", ", run.d, run.growth);
  claims.push_back(judge(
      "A growth like that of figure 2 can come from the integrator", "-",
      fmt::format("explicit Euler with h = 0.5 sqrt(epsilon), epsilon = 1e-4, over 40 sqrt(epsilon): deviation at the "
                  "end over that at the beginning {}. It is stable for h < d sqrt(epsilon)/c only. What the authors "
                  "used is not known; this is a possibility, not a finding about their run",
                  amplitudes),
      Verdict::confirmed, r.euler.front().growth < 0.1 && r.euler.back().growth > 10));
  double lowest = HUGE_VAL;
  for (const double b : {0.01, 0.5, 1.0, 2.0, 4.0, 100.0}) lowest = std::min(lowest, logarithmic_norm(b));
  claims.push_back(
      judge("The logarithmic norm of the fast system is below -1", "section 3: mu < -1",
            fmt::format("in the 2-norm it is max(1 - b, -1), never below -1: smallest over b = 0.01 ... 100 "
                        "is {:g}; it equals -1 for b >= 2, which is the paper's condition",
                        lowest),
            Verdict::corrected, near(lowest, -1, 1e-12) && near(logarithmic_norm(2), -1, 1e-12)));
  std::string kappas;
  bool as_expected = true;
  for (const auto& [kappa, study] : r.exponents) {
    const double slope = study.exponents.velocity;
    kappas += fmt::format("{}kappa = {:g}: exponent {:.3f}, {:.2e} at epsilon = 1e-6", kappas.empty() ? "" : "; ",
                          kappa, slope, study.runs[2].errors.velocity);
    as_expected &= near(slope, std::max(0.5, kappa), 0.06);
  }
  claims.push_back(
      judge("kappa = 1/2 is the best exponent", "conclusion: optimal",
            fmt::format(
                "not for accuracy. Sup of the velocity error with z(0) = 0, {}. It is the exponent at which both fast "
                "roots scale like epsilon^-1/2",
                kappas),
            Verdict::corrected, as_expected));
  return claims;
}

std::vector<Claim> further_claims(const Results& r) {
  std::vector<Claim> claims;
  double worst = 0;
  for (const auto& [epsilon, error] : r.steady) worst = std::max(worst, error);
  claims.push_back(
      judge("Beyond the paper: with a prepared start steady rolling of the disc is exact for every epsilon", "-",
            fmt::format("largest error of the coordinates over 3 s, epsilon = 1e-2 ... 1e-8: {:.1e} (the "
                        "motion is unstable: errors grow like e^(0.75 t))",
                        worst),
            Verdict::confirmed, worst < 1e-8));
  auto evaluations = [](const std::vector<EpsilonRun>& runs, double epsilon) {
    for (const EpsilonRun& run : runs)
      if (run.epsilon == epsilon) return static_cast<double>(run.evaluations);
    return std::nan("");
  };
  const double stiff = evaluations(r.radau, 1e-8) / evaluations(r.radau, 1e-4);
  std::vector<double> epsilons, counts;
  for (const EpsilonRun& run : r.explicit_runs) {
    epsilons.push_back(run.epsilon);
    counts.push_back(static_cast<double>(run.evaluations));
  }
  const double slope = fitted_order(epsilons, counts);
  claims.push_back(judge(
      "Beyond the paper: a stiff integrator makes the cost nearly independent of epsilon", "-",
      fmt::format("disc, T = 1, tolerance 1e-6: {:.0f} evaluations at epsilon = 1e-4, {:.0f} at 1e-8, {:.1f} times as "
                  "many; the explicit integrator needs epsilon^{:.2f}, {:.0f} at 1e-6",
                  evaluations(r.radau, 1e-4), evaluations(r.radau, 1e-8), stiff, slope,
                  evaluations(r.explicit_runs, 1e-6)),
      Verdict::confirmed, stiff < 5 && slope < -0.3));
  std::string starts;
  for (const RollingStart& start : r.rolling)
    starts += fmt::format("{}{}{}: {:.1e} s, {:.1e} m/s", starts.empty() ? "" : "; ", start.scheme,
                          start.epsilon > 0 ? fmt::format(" epsilon = {:g}", start.epsilon) : "", start.time_error,
                          start.speed_error);
  const RollingStart& last = r.rolling.back();
  claims.push_back(
      judge("Stick, slide and roll in one law", "the aim stated in the introduction",
            fmt::format("a disc set down spinning slides until t = r w0/(3 mu g) and then rolls with r w0/3; "
                        "errors of that time and of the final speed: {}",
                        starts),
            Verdict::confirmed, last.time_error < 1e-3 && last.speed_error < 1e-6 && r.rolling[0].time_error < 1e-9));
  return claims;
}

ReportFigure error_figure(const std::string& title, const std::vector<Pair>& pairs, const EpsilonStudy Pair::*study,
                          double EpsilonErrors::*error) {
  ReportFigure figure{title, "", "", {"epsilon", "", true}, {"error", "", true}, {}, {}, {}};
  for (const Pair& pair : pairs) {
    ReportSeries series{fmt::format("c = {:g}, d = {:g}", pair.c, pair.d), {}, {}, false, true, true, false};
    for (const EpsilonRun& run : (pair.*study).runs) {
      series.x.push_back(run.epsilon);
      series.y.push_back(run.errors.*error);
    }
    figure.series.push_back(series);
  }
  return figure;
}

ReportTable error_table(const std::string& title, const std::vector<Pair>& pairs, const EpsilonStudy Pair::*study) {
  ReportTable table{
      title,
      "Skate, set B, T = 10. sup: whole run; late: t > 5. The last row of each pair holds fitted exponents.",
      {"c", "d", "epsilon", "q", "q'", "Lambda", "late q", "late q'", "late Lambda", "L2 Lambda", "evaluations"},
      {},
      -1};
  auto cells = [](const EpsilonErrors& e) {
    return std::vector<ReportCell>{e.position,      e.velocity,   e.force,   e.late_position,
                                   e.late_velocity, e.late_force, e.force_l2};
  };
  for (const Pair& pair : pairs) {
    auto add = [&](ReportCell epsilon, const EpsilonErrors& errors, ReportCell evaluations) {
      std::vector<ReportCell> row{pair.c, pair.d, std::move(epsilon)};
      for (ReportCell& cell : cells(errors)) row.push_back(std::move(cell));
      row.push_back(std::move(evaluations));
      table.rows.push_back(std::move(row));
    };
    for (const EpsilonRun& run : (pair.*study).runs) add(run.epsilon, run.errors, static_cast<double>(run.evaluations));
    add(std::string("exponent"), (pair.*study).exponents, std::monostate{});
  }
  return table;
}

ReportFigure layer_figure(const std::string& title, const Deviation& layer) {
  ReportFigure figure{title,
                      "Lambda - Lambda0 after the start z(0) = 0; integrated by Radau IIA at tolerance 1e-11.",
                      "",
                      {"t", "s", false},
                      {"deviation", "N", false},
                      {},
                      {},
                      {}};
  figure.series = {{fmt::format("d = {:g}, b = {:g}", layer.law.d, layer.law.d * layer.law.d / layer.law.c), layer.t,
                    layer.value, false, false, true, false}};
  return figure;
}

std::string errors_csv(const std::vector<Pair>& pairs) {
  std::string text = "c,d,prepared,epsilon,q,v,Lambda,late_q,late_v,late_Lambda,L2_Lambda,evaluations\n";
  for (const Pair& pair : pairs)
    for (const auto& [prepared, study] : {std::pair(0, &pair.plain), std::pair(1, &pair.prepared)})
      for (const EpsilonRun& run : study->runs) {
        const EpsilonErrors& e = run.errors;
        text += fmt::format("{:g},{:g},{},{:g},{:.6e},{:.6e},{:.6e},{:.6e},{:.6e},{:.6e},{:.6e},{}\n", pair.c, pair.d,
                            prepared, run.epsilon, e.position, e.velocity, e.force, e.late_position, e.late_velocity,
                            e.late_force, e.force_l2, run.evaluations);
      }
  return text;
}

/// False: stopped.
bool run_all(Results& r, const ReproductionProgress& progress) {
  double done = 0;
  constexpr double total = 20;
  auto go_on = [&] { return progress(std::min(1.0, ++done / total)); };
  for (const auto& [c, d] : {std::pair(1.0, 2.0), std::pair(1.0, std::sqrt(2.0)), std::pair(1.0, 0.5),
                             std::pair(1.0, 0.1), std::pair(100.0, 2.0)}) {
    Pair pair{c, d, {}, {}};
    pair.plain = skate_study(c, d, 0.5, false, progress.stop);
    if (!go_on()) return false;
    pair.prepared = skate_study(c, d, 0.5, true, progress.stop);
    if (!go_on()) return false;
    r.pairs.push_back(std::move(pair));
  }
  for (const double kappa : {0.5, 0.75, 1.0}) {
    r.exponents.emplace_back(kappa, skate_study(1, 2, kappa, false, progress.stop));
    if (!go_on()) return false;
  }
  for (const double d : {2.0, 0.5, 0.1})
    r.layers.push_back(layer_deviation({1, d, 1e-4, 0.5, false}, d < 1 ? 20 / d : 10));
  if (!go_on()) return false;
  for (const double d : {2.0, 0.5, 0.1}) r.euler.push_back(explicit_euler(d, 1e-4, 0.005));
  for (const double epsilon : {1e-2, 1e-4, 1e-6, 1e-8}) r.steady.emplace_back(epsilon, steady_disc_error(epsilon));
  if (!go_on()) return false;
  r.radau = disc_cost(IntegratorKind::radau, {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}, progress.stop);
  r.explicit_runs = disc_cost(IntegratorKind::dormand_prince, {1e-3, 1e-4, 1e-5, 1e-6}, progress.stop);
  if (!go_on()) return false;
  r.rolling = rolling_starts();
  return go_on();
}

}  // namespace

Reproduction reproduce_viscoelastic(const ReproductionProgress& progress) {
  Reproduction result = begin_reproduction(
      "Viscoelastic replacement of nonholonomic constraints",
      "A. Fidlin, J. Deppler, B. Braun, Convergency of viscoelastic constraints to nonholonomic idealization");
  ReportDocument& page = result.document;
  Results r;
  if (!run_all(r, progress)) return stopped(std::move(result));
  result.claims = convergence_claims(r);
  for (auto&& more : {condition_claims(r), further_claims(r)})
    result.claims.insert(result.claims.end(), more.begin(), more.end());
  add_claims(result);
  page.facts = {
      {"problem", std::string("skate on an incline: m = J = 1, g sin(slope) = 4.905, phi0 = 0.5, w = 1, v0 = 1, "
                              "T = 10 s; rolling disc: m = r = 1, g = 9.81")},
      {"parameters", std::string("ours: the paper prints none")}};
  page.blocks.push_back(layer_figure("Figure 2, left: condition (12) holds", r.layers[0]));
  page.blocks.push_back(layer_figure("Figure 2, right: condition (12) violated; the deviation decays", r.layers[2]));
  ReportFigure euler{"The same problem with explicit Euler, h = 0.5 sqrt(epsilon): an artefact of the integrator",
                     "Largest deviation of Lambda per sqrt(epsilon).",
                     "",
                     {"t", "s", false},
                     {"deviation", "N", true},
                     {},
                     {},
                     {}};
  for (const EulerRun& run : r.euler)
    euler.series.push_back({fmt::format("d = {:g}", run.d), run.t, run.value, false, true, true, false});
  page.blocks.push_back(euler);
  using E = EpsilonErrors;
  page.blocks.push_back(error_figure("Positions, z(0) = 0", r.pairs, &Pair::plain, &E::position));
  page.blocks.push_back(error_figure("Lambda, z(0) = 0", r.pairs, &Pair::plain, &E::force));
  page.blocks.push_back(error_figure("Lambda, prepared start", r.pairs, &Pair::prepared, &E::force));
  page.blocks.push_back(
      error_figure("Lambda after the layer, prepared start", r.pairs, &Pair::prepared, &E::late_force));
  ReportFigure cost{"Evaluations of the right-hand side, disc, T = 1, tolerance 1e-6",
                    "",
                    "",
                    {"epsilon", "", true},
                    {"evaluations", "", true},
                    {},
                    {},
                    {}};
  for (const auto& [name, runs] :
       {std::pair("Radau IIA(5)", &r.radau), std::pair("Dormand-Prince 8(5,3)", &r.explicit_runs)}) {
    ReportSeries series{name, {}, {}, false, true, true, false};
    for (const EpsilonRun& run : *runs) {
      series.x.push_back(run.epsilon);
      series.y.push_back(static_cast<double>(run.evaluations));
    }
    cost.series.push_back(series);
  }
  page.blocks.push_back(cost);
  page.blocks.push_back(error_table("Errors with z(0) = 0", r.pairs, &Pair::plain));
  page.blocks.push_back(error_table("Errors with z(0) = epsilon Lambda0/c", r.pairs, &Pair::prepared));
  result.files = {{"errors.csv", errors_csv(r.pairs)}};
  return result;
}

}  // namespace stickslip
