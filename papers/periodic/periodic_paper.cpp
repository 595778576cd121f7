// SPDX-License-Identifier: Apache-2.0
#include "papers/periodic/periodic_paper.hpp"

#include <fmt/format.h>

#include <cmath>

#include "papers/periodic/experiments.hpp"
#include "stickslip/common/version.hpp"

namespace stickslip {

namespace {

using namespace paper5;

ReportSeries series_of(const std::string& name, const Orbit& orbit, bool over_time, Index i, bool dash) {
  ReportSeries series{name, {}, {}, dash, false, true, false};
  for (std::size_t j = 0; j < orbit.t.size(); ++j) {
    series.x.push_back(over_time ? orbit.t[j] : orbit.q[j][i]);
    series.y.push_back(over_time ? orbit.q[j][i] : orbit.v[j][i]);
  }
  return series;
}

ReportFigure direction_figure(const Results& r) {
  ReportFigure figure{"Two solutions of the same equalities",
                      "b = 0.8, f = 0.4. (4) and (5) do not say which way friction points; H = 9.",
                      "",
                      {"t", "s", false},
                      {"x", "m", false},
                      {},
                      {},
                      {}};
  figure.series = {series_of("projection, polished", r.right.orbit, true, 0, false),
                   series_of("(4): friction drives", r.wrong_min.orbit, true, 0, true)};
  return figure;
}

ReportFigure toy_figure(const Results& r) {
  ReportFigure figure{
      "The toy on its belt: phase plane",
      "Slip orbits form a family; with a static coefficient there is one cycle, which sticks at v = 1 m/s.",
      "",
      {"x", "m", false},
      {"v_x", "m/s", false},
      {},
      {},
      {}};
  figure.series = {series_of("slip, T = 1.3848 s", r.members[0].orbit, false, 0, true),
                   series_of("slip, T = 1.46 s", r.members[1].orbit, false, 0, true),
                   series_of("stick-slip, mu_s = 0.4", r.cycle.orbit, false, 0, false)};
  if (!r.grazing.orbit.t.empty())
    figure.series.push_back(series_of("grazing: end of the family", r.grazing.orbit, false, 0, true));
  return figure;
}

ReportFigure error_figure(const std::string& title, const std::vector<BasisErrors>& list) {
  ReportFigure figure{
      title, "Relative error of the amplitude before polish.", "", {"unknowns", "", true}, {"error", "", true}, {}, {},
      {}};
  for (const BasisErrors& e : list) figure.series.push_back({e.name, e.unknowns, e.error, false, true, true, false});
  return figure;
}

ReportFigure spectral_figure(const Results& r) {
  ReportFigure figure{"Smooth slip orbit: error over harmonics",
                      "Of both extremes, prescribed period.",
                      "",
                      {"harmonics", "", false},
                      {"error", "m", true},
                      {},
                      {},
                      {}};
  figure.series = {{"Fourier", r.harmonics, r.spectral, false, true, true, false}};
  return figure;
}

std::string errors_csv(const Results& r) {
  std::string text = "oscillator,method,unknowns,error\n";
  for (const auto& [name, list] : {std::pair("sticks", &r.sticks), std::pair("slides", &r.slides)})
    for (const BasisErrors& e : *list)
      for (std::size_t k = 0; k < e.error.size(); ++k)
        text += fmt::format("{},{},{:.0f},{:.6e}\n", name, e.name, e.unknowns[k], e.error[k]);
  return text;
}

std::string spectral_csv(const Results& r) {
  std::string text = "harmonics,error\n";
  for (std::size_t k = 0; k < r.harmonics.size(); ++k)
    text += fmt::format("{:.0f},{:.6e}\n", r.harmonics[k], r.spectral[k]);
  return text;
}

}  // namespace

Reproduction reproduce_periodic(const ReproductionProgress& progress) {
  Reproduction result = begin_reproduction(
      "Periodic motions by weighted residuals",
      "M. Legrand, C. Pierre, Compact weighted residual formulation for periodic solutions of systems undergoing "
      "unilateral contact and frictional occurrences");
  ReportDocument& page = result.document;
  Results r;
  if (!run_all(r, progress)) return stopped(std::move(result));
  result.claims = claims_of(r);
  add_claims(result);
  page.facts = {{"toy", std::string("m = 1, k = 100, L = 1, g = 10, v = 1, mu = 0.3 (numbers are ours)")},
                {"oscillators", std::string("x'' + x + f sgn x' = cos bt, Den Hartog's closed forms")}};
  page.blocks.push_back(direction_figure(r));
  page.blocks.push_back(toy_figure(r));
  page.blocks.push_back(spectral_figure(r));
  page.blocks.push_back(error_figure("With sticking (b = 0.4, f = 0.4)", r.sticks));
  page.blocks.push_back(error_figure("Sliding only (b = 0.8, f = 0.4)", r.slides));
  result.files = {{"basis_errors.csv", errors_csv(r)}, {"spectral.csv", spectral_csv(r)}};
  return result;
}

}  // namespace stickslip
