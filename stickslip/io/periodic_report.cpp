// SPDX-License-Identifier: Apache-2.0
// periodic_report() of periodic_result.hpp: response curve with stability, backbone, orbit with its phases, hysteresis
// loops, spectra, phase planes, certificates, multipliers by both methods.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "stickslip/io/periodic_result.hpp"
#include "stickslip/io/simulation_report.hpp"

namespace stickslip {

namespace {

std::vector<double> column(const std::vector<Vector>& rows, Index i) {
  std::vector<double> values;
  for (const Vector& row : rows) values.push_back(row[i]);
  return values;
}

// Coordinates of a model are lengths or angles; which, no table of it says.
constexpr const char* kLength = "m or rad";
constexpr const char* kRate = "m/s or rad/s";
constexpr const char* kForce = "N or N m";

/// One coordinate of one branch: stable parts drawn through, others dashed.
void add_response(const std::vector<BranchPoint>& points, int branch, std::size_t i, const std::string& name,
                  ReportFigure& figure) {
  std::vector<const BranchPoint*> own;
  for (const BranchPoint& point : points)
    if (point.branch == branch) own.push_back(&point);
  for (const bool stable : {true, false}) {
    ReportSeries series;
    series.name = name + (branch > 0 ? fmt::format(", branch {}", branch) : "") + (stable ? "" : ", not stable");
    series.group = name;
    series.dash = !stable;
    const auto is = [&](std::size_t j) { return own[j]->stable.value_or(false) == stable; };
    bool any = false;
    for (std::size_t k = 0; k < own.size(); ++k) {
      // A part reaches up to the first point of the other kind, so that the curve has no gaps.
      const bool shown = is(k) || (k > 0 && is(k - 1));
      any |= is(k);
      series.x.push_back(own[k]->value);
      series.y.push_back(shown && own[k]->amplitude.size() ? own[k]->amplitude[static_cast<Index>(i)] : NAN);
    }
    if (any) figure.series.push_back(std::move(series));
  }
}

ReportFigure response_figure(const PeriodicResult& result, const TrajectoryNames& names) {
  ReportFigure figure;
  figure.title = "Response curve";
  figure.note = "Stable orbits are drawn through, unstable ones and those of unknown stability dashed.";
  figure.x.label = result.branch_options.parameter;
  figure.y = {"amplitude", kLength};
  const auto& points = result.branch.points;
  int last = 0;
  for (const BranchPoint& point : points) last = std::max(last, point.branch);
  for (std::size_t i = 0; i < names.coordinates.size() && i < 12; ++i)
    for (int branch = 0; branch <= last; ++branch) add_response(points, branch, i, names.coordinates[i], figure);
  for (const Bifurcation& b : result.branch.bifurcations) figure.marks.push_back({b.value, b.kind});
  return figure;
}

/// Relative displacement of every component of the laws: rows of friction times position where the surface rests, else
/// the integral of the relative velocity.
std::vector<double> slip_of(const System& system, const Orbit& orbit, Index component) {
  Index first = 0;
  for (const FrictionElement& law : system.laws().friction()) {
    if (component < first + law.size() && law.surface_velocity.empty()) {
      std::vector<double> slip;
      for (const Vector& q : orbit.q) {
        double sum = 0;
        for (const auto& [i, value] : law.directions[static_cast<std::size_t>(component - first)]) sum += value * q[i];
        slip.push_back(sum);
      }
      return slip;
    }
    first += law.size();
  }
  std::vector<double> slip{0};
  for (std::size_t j = 1; j < orbit.t.size(); ++j)
    slip.push_back(slip.back() +
                   0.5 * (orbit.t[j] - orbit.t[j - 1]) * (orbit.u[j][component] + orbit.u[j - 1][component]));
  return slip;
}

/// |c_h| of x = c_0 + Re Σ c_h e^{ihωt}, h = 0 .. harmonics, of the line through the rows: integrated exactly.
std::vector<double> spectrum(const Orbit& orbit, Index i, int harmonics) {
  using Complex = std::complex<double>;
  const double omega = 2 * std::numbers::pi / orbit.period;
  std::vector<double> sizes;
  const std::size_t rows = orbit.t.size();
  for (int h = 0; h <= harmonics; ++h) {
    Complex sum = 0;
    for (std::size_t j = 0; j < rows; ++j) {
      const bool last = j + 1 == rows;
      const double a = orbit.t[j], b = last ? orbit.t0 + orbit.period : orbit.t[j + 1];
      const double x = orbit.q[j][i], y = last ? orbit.q[0][i] : orbit.q[j + 1][i];
      if (!(b > a)) continue;
      if (h == 0) {
        sum += 0.5 * (x + y) * (b - a);
        continue;
      }
      const Complex s(0, -h * omega), ea = std::exp(s * (a - orbit.t0)), eb = std::exp(s * (b - orbit.t0));
      sum += (y * eb - x * ea) / s - (y - x) / (b - a) * (eb - ea) / (s * s);
    }
    sizes.push_back(std::abs(sum) * (h == 0 ? 1 : 2) / orbit.period);
  }
  return sizes;
}

ReportFigure curve(std::string title, ReportAxis x, ReportAxis y, std::string name, std::vector<double> xs,
                   std::vector<double> ys) {
  ReportFigure figure;
  figure.title = std::move(title);
  figure.x = std::move(x);
  figure.y = std::move(y);
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
  ReportFigure backbone = curve("Backbone and response", {"frequency", "rad/s"}, {"amplitude of " + name, kLength},
                                "nonlinear mode", omega, amplitude);
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
  page.blocks.push_back(curve("Modal damping", {"amplitude of " + name, kLength}, {"damping ratio", ""},
                              "nonlinear mode", amplitude, damping));
}

std::vector<ReportInterval> row_intervals(const Orbit& orbit, std::size_t law) {
  std::vector<ReportInterval> intervals;
  for (std::size_t j = 0; j + 1 < orbit.t.size(); ++j) {
    const Mode mode = orbit.modes[j][law];
    if (intervals.empty() || intervals.back().mode != mode) intervals.push_back({orbit.t[j], orbit.t[j], mode});
    intervals.back().to = orbit.t[j + 1];
  }
  return intervals;
}

void add_timeline(const PeriodicResult& result, const TrajectoryNames& names, ReportDocument& page) {
  const Orbit& orbit = result.solution.orbit;
  if (!orbit.modes.empty() && !names.laws.empty() && orbit.t.back() > orbit.t.front()) {
    ReportTimeline timeline;
    timeline.title = "Phases";
    timeline.link = "time";
    timeline.from = orbit.t.front();
    timeline.to = orbit.t.back();
    if (result.solution.polished) {
      const auto intervals = mode_intervals(orbit.modes.front(), orbit.events, timeline.from, timeline.to);
      for (std::size_t k = 0; k < names.laws.size(); ++k) timeline.rows.push_back({names.laws[k], intervals[k]});
    } else {  // without events: as the rows say
      for (std::size_t k = 0; k < names.laws.size(); ++k)
        timeline.rows.push_back({names.laws[k], row_intervals(orbit, k)});
    }
    timeline.laws = names.laws;
    timeline.events = orbit.events;
    page.blocks.push_back(timeline);
  }
}

void add_loops(const PeriodicResult& result, const TrajectoryNames& names, ReportDocument& page) {
  const Orbit& orbit = result.solution.orbit;
  for (std::size_t a = 0; a < names.reactions.size() && a < 6 && !orbit.r.empty(); ++a) {
    std::vector<double> slip = slip_of(result.system, orbit, static_cast<Index>(a)),
                        force = column(orbit.r, static_cast<Index>(a));
    slip.push_back(slip.front()), force.push_back(force.front());
    page.blocks.push_back(curve("Hysteresis: force over slip, " + names.reactions[a],
                                {"relative displacement", kLength}, {"reaction", kForce}, names.reactions[a],
                                std::move(slip), std::move(force)));
  }
}

void add_spectra(const PeriodicResult& result, const TrajectoryNames& names, ReportDocument& page) {
  const Orbit& orbit = result.solution.orbit;
  constexpr int kHarmonics = 20;  // rows are 400 a period: a per cent of the last of them
  ReportFigure spectra;
  spectra.title = "Spectrum";
  spectra.note = "Amplitudes of the harmonics of the period; 0 is the mean.";
  spectra.x = {"harmonic", ""};
  spectra.y = {"amplitude", kLength, true};
  for (int h = 0; h <= kHarmonics; ++h) spectra.x_values.push_back(h);
  for (std::size_t i = 0; i < names.coordinates.size() && i < 6; ++i) {
    ReportSeries series;
    series.name = names.coordinates[i];
    series.y = spectrum(orbit, static_cast<Index>(i), kHarmonics);
    const double largest = *std::max_element(series.y.begin(), series.y.end());
    constexpr double kRoundOff = 1e-12;  // of the largest: no harmonic
    for (double& y : series.y)
      if (!(y > kRoundOff * largest)) y = NAN;
    series.points = true;
    series.line = false;
    spectra.series.push_back(std::move(series));
  }
  page.blocks.push_back(spectra);
}

void add_phase_planes(const PeriodicResult& result, const TrajectoryNames& names, ReportDocument& page) {
  const Orbit& orbit = result.solution.orbit;
  for (std::size_t i = 0; i < names.coordinates.size() && i < 3; ++i) {
    if (orbit.q[0].size() != orbit.v[0].size()) break;
    page.blocks.push_back(curve("Phase plane of " + names.coordinates[i], {names.coordinates[i], kLength},
                                {"v_" + names.coordinates[i], kRate}, names.coordinates[i],
                                column(orbit.q, static_cast<Index>(i)), column(orbit.v, static_cast<Index>(i))));
  }
}

void add_orbit(const PeriodicResult& result, const TrajectoryNames& names, ReportDocument& page) {
  const Orbit& orbit = result.solution.orbit;
  if (orbit.t.size() < 2) return;
  ReportFigure motion;
  motion.title = "Orbit";
  motion.link = "time";
  motion.x = {"t", "s"};
  motion.y = {"position", kLength};
  motion.x_values = orbit.t;
  for (std::size_t i = 0; i < names.coordinates.size() && i < 12; ++i) {
    ReportSeries series;
    series.name = names.coordinates[i];
    series.y = column(orbit.q, static_cast<Index>(i));
    motion.series.push_back(std::move(series));
  }
  page.blocks.push_back(motion);
  add_timeline(result, names, page);
  add_loops(result, names, page);
  add_spectra(result, names, page);
  add_phase_planes(result, names, page);
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
  if (!result.mode) {  // which has no period of its own
    page.facts = {{"period (s)", s.period}, {"residual", s.residual}, {"unknowns", static_cast<double>(s.unknowns)}};
    page.facts.push_back({"stable", s.stable ? (*s.stable ? "yes" : "no") : std::string("not known")});
  }
  if (!result.branch_options.parameter.empty() && !result.branch.points.empty())
    page.blocks.push_back(response_figure(result, names));
  if (result.mode && !result.mode->points.empty()) add_mode(result, page);
  add_orbit(result, names, page);
  ReportTable certificates{"Certificates", "", {"name", "value", "limit", "meaning", "verdict"}, {}, 4};
  for (const Certificate& c : s.certificates)
    certificates.rows.push_back({c.name, c.value, c.limit, c.meaning, std::string(c.ok ? "confirmed" : "failed")});
  if (!certificates.rows.empty()) page.blocks.push_back(certificates);
  ReportTable multipliers{"Floquet multipliers", "", {"method", "real", "imaginary", "modulus"}, {}, -1};
  const auto add_multipliers = [&](const char* method, const Eigen::VectorXcd& values) {
    for (const auto& value : values)
      multipliers.rows.push_back({std::string(method), value.real(), value.imag(), std::abs(value)});
  };
  add_multipliers("monodromy", s.multipliers);
  add_multipliers("Hill", s.hill);
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
