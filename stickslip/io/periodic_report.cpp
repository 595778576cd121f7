// SPDX-License-Identifier: Apache-2.0
// periodic_report() of periodic_result.hpp: response curve with stability, hysteresis loops, orbit, phase plane,
// certificates.
#include <fmt/format.h>

#include <cmath>

#include "stickslip/io/periodic_result.hpp"
#include "stickslip/io/simulation_report.hpp"

namespace stickslip {

namespace {

std::vector<double> column(const std::vector<Vector>& rows, Index i) {
  std::vector<double> values;
  for (const Vector& row : rows) values.push_back(row[i]);
  return values;
}

/// Stable parts drawn through, others dashed.
ReportFigure response_figure(const PeriodicResult& result, const TrajectoryNames& names) {
  ReportFigure figure;
  figure.title = "Response curve";
  figure.note = "Stable orbits are drawn through, unstable ones and those of unknown stability dashed.";
  figure.x.label = result.branch_options.parameter;
  figure.y.label = "amplitude";
  const auto& points = result.branch.points;
  for (std::size_t i = 0; i < names.coordinates.size() && i < 12; ++i)
    for (const bool stable : {true, false}) {
      ReportSeries series;
      series.name = names.coordinates[i] + (stable ? "" : ", not stable");
      series.group = names.coordinates[i];
      series.dash = !stable;
      bool any = false;
      for (std::size_t k = 0; k < points.size(); ++k) {
        const auto is = [&](std::size_t j) { return points[j].stable.value_or(false) == stable; };
        // A part reaches up to the first point of the other kind, so that the curve has no gaps.
        const bool shown = is(k) || (k > 0 && is(k - 1));
        any |= is(k);
        series.x.push_back(points[k].value);
        series.y.push_back(shown && points[k].amplitude.size() ? points[k].amplitude[static_cast<Index>(i)] : NAN);
      }
      if (any) figure.series.push_back(std::move(series));
    }
  for (const Bifurcation& b : result.branch.bifurcations) figure.marks.push_back({b.value, b.kind});
  return figure;
}

ReportFigure curve(std::string title, std::string x, std::string y, std::string name, std::vector<double> xs,
                   std::vector<double> ys) {
  ReportFigure figure;
  figure.title = std::move(title);
  figure.x.label = std::move(x);
  figure.y.label = std::move(y);
  ReportSeries series;
  series.name = std::move(name);
  series.x = std::move(xs);
  series.y = std::move(ys);
  figure.series.push_back(std::move(series));
  return figure;
}

/// Backbone: frequency and damping over the amplitude; and the response made of them.
void add_mode(const PeriodicResult& result, ReportDocument& page) {
  std::vector<double> amplitude, omega, damping;
  for (const NonlinearModePoint& p : result.mode->points) {
    amplitude.push_back(p.amplitude);
    omega.push_back(p.omega);
    damping.push_back(p.damping);
  }
  const std::string name = result.system.info().coordinates[static_cast<std::size_t>(result.mode->coordinate)];
  ReportFigure backbone = curve("Backbone and response", "frequency", "amplitude of " + name, "nonlinear mode", omega, amplitude);
  backbone.x.unit = "rad/s";
  backbone.note = "The nonlinear mode, and the response to the excitation of the model that is made of it.";
  ReportSeries response;
  response.name = "response, synthesised";
  response.dash = true;
  for (const SynthesisedPoint& p : result.mode->response()) {
    response.x.push_back(p.omega);
    response.y.push_back(p.amplitude);
  }
  if (!response.x.empty()) backbone.series.push_back(std::move(response));
  page.blocks.push_back(backbone);
  page.blocks.push_back(curve("Modal damping", "amplitude of " + name, "damping ratio", "nonlinear mode", amplitude, damping));
}

void add_orbit(const PeriodicResult& result, const TrajectoryNames& names, ReportDocument& page) {
  const Orbit& orbit = result.solution.orbit;
  if (orbit.t.size() < 2) return;
  ReportFigure motion;
  motion.title = "Orbit";
  motion.link = "time";
  motion.x = {"t", "s"};
  motion.y.label = "position";
  motion.x_values = orbit.t;
  for (std::size_t i = 0; i < names.coordinates.size() && i < 12; ++i) {
    ReportSeries series;
    series.name = names.coordinates[i];
    series.y = column(orbit.q, static_cast<Index>(i));
    motion.series.push_back(std::move(series));
  }
  page.blocks.push_back(motion);
  if (!orbit.modes.empty() && !names.laws.empty() && orbit.t.back() > orbit.t.front()) {
    ReportTimeline timeline;
    timeline.title = "Phases";
    timeline.link = "time";
    timeline.from = orbit.t.front();
    timeline.to = orbit.t.back();
    const auto intervals = mode_intervals(orbit.modes.front(), orbit.events, timeline.from, timeline.to);
    for (std::size_t k = 0; k < names.laws.size(); ++k) timeline.rows.push_back({names.laws[k], intervals[k]});
    timeline.laws = names.laws;
    timeline.events = orbit.events;
    if (result.solution.polished) page.blocks.push_back(timeline);
  }
  for (std::size_t a = 0; a < names.reactions.size() && a < 6 && !orbit.r.empty(); ++a)
    page.blocks.push_back(curve("Hysteresis: force over relative velocity, " + names.reactions[a], "relative velocity",
                                "reaction", names.reactions[a], column(orbit.u, static_cast<Index>(a)),
                                column(orbit.r, static_cast<Index>(a))));
  for (std::size_t i = 0; i < names.coordinates.size() && i < 3; ++i) {
    if (orbit.q[0].size() != orbit.v[0].size()) break;
    page.blocks.push_back(curve("Phase plane of " + names.coordinates[i], names.coordinates[i],
                                "v_" + names.coordinates[i], names.coordinates[i],
                                column(orbit.q, static_cast<Index>(i)), column(orbit.v, static_cast<Index>(i))));
  }
}

}  // namespace

ReportDocument periodic_report(const PeriodicResult& result) {
  const PeriodicSolution& s = result.solution;
  const TrajectoryNames names = trajectory_names(result.system, false);
  ReportDocument page;
  page.title = result.header.title.empty() ? result.header.model : result.header.title;
  page.subtitle = "periodic motion, " + s.method + (s.polished ? ", polished" : "");
  page.generator = "stickslip " + result.header.version;
  page.ok = s.status == Status::success && result.branch.status == Status::success;
  page.status = std::string(periodic_status_name(s.status));
  if (!s.message.empty()) page.notes.push_back(s.message);
  if (!result.branch.message.empty()) page.notes.push_back(result.branch.message);
  page.notes.insert(page.notes.end(), s.notes.begin(), s.notes.end());
  page.facts = {{"period", s.period}, {"residual", s.residual}, {"unknowns", static_cast<double>(s.unknowns)}};
  page.facts.push_back({"stable", s.stable ? (*s.stable ? "yes" : "no") : std::string("not known")});
  if (!result.branch_options.parameter.empty() && !result.branch.points.empty())
    page.blocks.push_back(response_figure(result, names));
  if (result.mode && !result.mode->points.empty()) add_mode(result, page);
  add_orbit(result, names, page);
  ReportTable certificates{"Certificates", "", {"name", "value", "limit", "meaning", "verdict"}, {}, 4};
  for (const Certificate& c : s.certificates)
    certificates.rows.push_back({c.name, c.value, c.limit, c.meaning, std::string(c.ok ? "confirmed" : "failed")});
  if (!certificates.rows.empty()) page.blocks.push_back(certificates);
  ReportTable multipliers{"Floquet multipliers", "", {"real", "imaginary", "modulus"}, {}, -1};
  for (const auto& value : s.multipliers) multipliers.rows.push_back({value.real(), value.imag(), std::abs(value)});
  if (!multipliers.rows.empty()) page.blocks.push_back(multipliers);
  ReportInputs inputs;
  inputs.settings = result.header.inputs.settings;
  inputs.rows = {{"model", result.header.model}, {"date", result.header.inputs.date}};
  for (const auto& [name, value] : result.header.inputs.parameters) inputs.parameters.push_back({name, value});
  inputs.model_text = result.header.inputs.model_text;
  page.blocks.push_back(inputs);
  return page;
}

}  // namespace stickslip
