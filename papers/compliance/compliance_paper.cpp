// SPDX-License-Identifier: Apache-2.0
#include "papers/compliance/compliance_paper.hpp"

#include <fmt/format.h>

#include <cmath>

#include "papers/compliance/compliance_claims.hpp"
#include "stickslip/common/version.hpp"

namespace stickslip {

namespace {

using namespace paper3;

std::vector<double> column(const Trajectory& rows, double (Trajectory::*value)(Index, Index) const, Index i) {
  std::vector<double> values;
  for (Index k = 0; k < rows.rows(); ++k) values.push_back((rows.*value)(k, i));
  return values;
}

std::vector<double> times(const Trajectory& rows) {
  std::vector<double> values;
  for (Index k = 0; k < rows.rows(); ++k) values.push_back(rows.t(k));
  return values;
}

ReportFigure path_figure(const Results& r) {
  ReportFigure figure{"Path of the block with each cone",
                      "Test S; it starts at (0, 0) with (2, 1) m/s.",
                      "",
                      {"px", "m", false},
                      {"py", "m", false},
                      {},
                      {},
                      {}};
  auto add = [&](const std::string& name, const Trajectory& rows, bool dash) {
    figure.series.push_back(
        {name, column(rows, &Trajectory::q, 0), column(rows, &Trajectory::q, 1), dash, false, true, false});
  };
  add("disk", r.slide.trajectory, false);
  for (const ConeRun& run : r.cones)
    if (run.facets <= 16)
      add(fmt::format("{} facets, {}", run.facets, run.circumscribed ? "circumscribed" : "inscribed"),
          run.run.trajectory, run.circumscribed);
  return figure;
}

ReportFigure facets_figure(const Results& r) {
  ReportFigure figure{
      "Distance to the disk over the number of facets",
      "Largest of |px|, |py| differences at t = 1.5 s, the worst of four angles of the polygon; dashed: 1/l.",
      "",
      {"facets", "", true},
      {"difference", "m", true},
      {},
      {},
      {}};
  for (const bool circumscribed : {false, true}) {
    ReportSeries series{circumscribed ? "circumscribed" : "inscribed", {}, {}, false, true, true, false};
    for (const ConeRun& run : r.cones)
      if (run.circumscribed == circumscribed) {
        series.x.push_back(run.facets);
        series.y.push_back(run.worst);
      }
    figure.series.push_back(series);
  }
  figure.series.push_back({"1/l", {4, 128}, {0.6 / 4, 0.6 / 128}, true, false, true, false});
  return figure;
}

ReportFigure fall_figure(const Results& r, bool force) {
  ReportFigure figure{
      force ? "Test D: forces, finite through each impact" : "Test D: velocities, continuous through each impact",
      "",
      "fall",
      {"t", "s", false},
      {force ? "force" : "velocity", force ? "N" : "m/s", false},
      times(r.fall.trajectory),
      {},
      {}};
  const std::vector<std::string> names =
      force ? std::vector<std::string>{"normal", "t1", "t2"} : std::vector<std::string>{"vx", "vy", "vz"};
  for (Index i = 0; i < 3; ++i)
    figure.series.push_back({names[static_cast<std::size_t>(i)],
                             {},
                             column(r.fall.trajectory, force ? &Trajectory::reaction : &Trajectory::v, i),
                             false,
                             false,
                             true,
                             false});
  return figure;
}

ReportTimeline timeline(const std::string& title, const Simulation& run, double end,
                        const std::vector<std::string>& laws, Mode first) {
  ReportTimeline line{title, "", "", 0, end, {}, laws, run.trajectory.events};
  for (std::size_t law = 0; law < laws.size(); ++law) {
    ReportTimeline::Row row{laws[law], {}};
    double from = 0;
    Mode mode = first;
    for (const Event& event : run.trajectory.events) {
      if (event.law != static_cast<int>(law)) continue;
      row.intervals.push_back({from, event.t, event.before});
      from = event.t;
      mode = event.after;
    }
    row.intervals.push_back({from, end, mode});
    line.rows.push_back(std::move(row));
  }
  return line;
}

ReportFigure order_figure(const Results& r) {
  ReportFigure figure{"Fixed steps: error at t = 1.5 s",
                      "Test S against tolerance 1e-13. RK4 depends on where in a step the switch falls.",
                      "",
                      {"step", "s", true},
                      {"error", "", true},
                      {},
                      {},
                      {}};
  figure.series = {{"Heun", r.steps, r.heun, false, true, true, false},
                   {"RK4", r.steps, r.rk4, false, true, true, false}};
  return figure;
}

ReportFigure limit_figure(const Results& r) {
  ReportFigure figure{"Rigid limit: stopping distance missed",
                      "d = v0²/(2 mu g); uncoupled: mu m g/k_t, the spring-back.",
                      "",
                      {"k", "N/m", true},
                      {"d - px", "m", true},
                      {},
                      {},
                      {}};
  figure.series = {{"uncoupled", r.stiffness, r.plain, false, true, true, false},
                   {"coupled, 0.1 k", r.stiffness, r.coupled, true, true, true, false}};
  return figure;
}

ReportFigure shooting_figure(const Results& r) {
  ReportFigure figure{
      "Shooting: residual over the iterations", "", "", {"iteration", "", false}, {"residual", "m", true}, {}, {}, {}};
  for (const auto& [name, shooting] : {std::pair("from (1, 1)", &r.fair), std::pair("from (0.2, 0.1)", &r.slow)}) {
    ReportSeries series{name, {}, {}, false, true, true, false};
    for (std::size_t k = 0; k < shooting->steps.size(); ++k) {
      series.x.push_back(static_cast<double>(k));
      series.y.push_back(shooting->steps[k].residual);
    }
    figure.series.push_back(series);
  }
  return figure;
}

ReportFigure slider_figure(const Results& r) {
  ReportFigure figure{"Quasistatic slider: the velocity jumps where slip begins",
                      "",
                      "",
                      {"t", "s", false},
                      {"velocity", "m/s", false},
                      times(r.slider.trajectory),
                      {},
                      {}};
  figure.series = {{"x'", {}, column(r.slider.trajectory, &Trajectory::v, 0), false, false, true, false}};
  return figure;
}

std::string cones_csv(const Results& r) {
  std::string text = fmt::format("facets,circumscribed,px,py,difference,worst\n0,,{:.12f},{:.12f},0,0\n",
                                 r.slide.final.q[0], r.slide.final.q[1]);
  for (const ConeRun& run : r.cones)
    text += fmt::format("{},{},{:.12f},{:.12f},{:.4e},{:.4e}\n", run.facets, run.circumscribed, run.run.final.q[0],
                        run.run.final.q[1], run.difference, run.worst);
  return text;
}

std::string limit_csv(const Results& r) {
  std::string text = "k,uncoupled,coupled\n";
  for (std::size_t k = 0; k < r.stiffness.size(); ++k)
    text += fmt::format("{:g},{:.6e},{:.6e}\n", r.stiffness[k], r.plain[k], r.coupled[k]);
  return text;
}

std::string shooting_csv(const Results& r) {
  std::string text = "start,iteration,vx,vy,residual\n";
  for (const auto& [name, shooting] : {std::pair("fair", &r.fair), std::pair("slow", &r.slow)})
    for (std::size_t k = 0; k < shooting->steps.size(); ++k)
      text += fmt::format("{},{},{:.12f},{:.12f},{:.3e}\n", name, k, shooting->steps[k].vx, shooting->steps[k].vy,
                          shooting->steps[k].residual);
  return text;
}

}  // namespace

Reproduction reproduce_compliance(const ReproductionProgress& progress) {
  Reproduction result = begin_reproduction(
      "Frictional contact with local compliance",
      "J.S. Pang, Favorable Mathematical Properties of Frictional Contact Problems with Local Compliance, 2014");
  ReportDocument& page = result.document;
  Results r;
  if (!run_all(r, progress)) return stopped(std::move(result));
  result.claims = claims_of(r);
  add_claims(result);
  page.facts = {
      {"problem", std::string("block on a plane: m = 1, mu = 0.3, g = 9.81, K = [[1000, 100, 50], [100, 800, 30], "
                              "[50, 30, 700]], C = 20; Test S slides from (2, 1) m/s, Test D falls from 5 cm")},
      {"parameters", std::string("ours: the slides print none and show no experiment")}};
  page.blocks.push_back(path_figure(r));
  page.blocks.push_back(facets_figure(r));
  page.blocks.push_back(fall_figure(r, false));
  page.blocks.push_back(fall_figure(r, true));
  page.blocks.push_back(timeline("Test D: what the contact does", r.fall, 1, {"floor"}, Mode::open));
  page.blocks.push_back(timeline("Two coupled contacts", r.two_contacts, 1, {"left", "right"}, Mode::open));
  page.blocks.push_back(order_figure(r));
  page.blocks.push_back(limit_figure(r));
  page.blocks.push_back(shooting_figure(r));
  page.blocks.push_back(slider_figure(r));
  result.files = {{"cones.csv", cones_csv(r)}, {"rigid_limit.csv", limit_csv(r)}, {"shooting.csv", shooting_csv(r)}};
  return result;
}

}  // namespace stickslip
