// SPDX-License-Identifier: Apache-2.0
#include "papers/stick-slip/stick_slip_paper.hpp"

#include <fmt/format.h>

#include <cmath>

#include "papers/stick-slip/reference.hpp"
#include "papers/stick-slip/stick_slip_claims.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/io/simulation_report.hpp"

namespace stickslip {

namespace {

using namespace paper2;

constexpr double kOutputStep = 0.02;
struct Case {
  int number;
  HingeLimits limits;
  double end_time;
  const char* text;
};
const Case kCases[] = {{1, {{0, 0}}, 40, "no friction"},
                       {2, {{0.1, 0}}, 60, "0.1 N on hinge 1"},
                       {3, {{0.1, 0.1}}, 30, "0.1 N on both hinges"},
                       {4, {{0.1, 8000}}, 35, "0.1 N on hinge 1, 8000 N on hinge 2"}};

ReportFigure curves(const Case& c, const Trajectory& t, const std::string& what, const std::string& unit,
                    double (Trajectory::*value)(Index, Index) const, const std::string& symbol) {
  ReportFigure figure{fmt::format("Case {}: {} ({})", c.number, what, c.text),
                      "",
                      fmt::format("case{}", c.number),
                      {"t", "s", false},
                      {what, unit, false},
                      {},
                      {},
                      {}};
  for (Index k = 0; k < t.rows(); ++k) figure.x_values.push_back(t.t(k));
  for (Index i = 0; i < 2; ++i) {
    ReportSeries series{fmt::format("{}{}", symbol, i + 1), {}, {}, i == 1, false, true, false};
    for (Index k = 0; k < t.rows(); ++k) series.y.push_back((t.*value)(k, i));
    figure.series.push_back(std::move(series));
  }
  return figure;
}

ReportTimeline stick_slip(const Case& c, const Simulation& run) {
  const Trajectory& t = run.trajectory;
  ReportTimeline out;
  out.title = fmt::format("Case {}: stick and slip", c.number);
  out.link = fmt::format("case{}", c.number);
  if (c.limits.dynamic[0] == 0 || c.limits.dynamic[1] == 0) out.note = "A hinge without friction slips all the time.";
  out.to = t.t(t.rows() - 1);
  out.laws = t.names().laws;
  out.events = t.events;
  std::vector<Mode> first;
  for (std::size_t i = 0; i < out.laws.size(); ++i) first.push_back(t.mode(0, static_cast<Index>(i)));
  const auto intervals = mode_intervals(first, t.events, out.from, out.to);
  for (std::size_t i = 0; i < out.laws.size(); ++i) out.rows.push_back({out.laws[i], intervals[i]});
  return out;
}

template <class Reference>
ReportTable event_table(int number, const Trajectory& t, const Reference& reference) {
  ReportTable table{fmt::format("Case {}: events against the reference", number),
                    "Reference: exact flow in 40-digit arithmetic.",
                    {"hinge", "event", "t [s]", "reference [s]", "difference [s]"},
                    {},
                    -1};
  for (std::size_t k = 0; k < t.events.size(); ++k) {
    const bool known = k < reference.size();
    table.rows.push_back({static_cast<double>(t.events[k].law + 1), std::string(to_string(t.events[k].kind)),
                          fmt::format("{:.14f}", t.events[k].t),
                          known ? ReportCell(fmt::format("{:.14f}", reference[k].t)) : ReportCell(),
                          known ? ReportCell(t.events[k].t - reference[k].t) : ReportCell()});
  }
  return table;
}

ReportTable state_table(const Evidence& e) {
  ReportTable table{"States against the reference",
                    "Differences from an exact flow in 40-digit arithmetic.",
                    {"case", "t [s]", "y1 [m]", "y2 [m]", "v1 [m/s]", "v2 [m/s]", "position", "velocity"},
                    {},
                    -1};
  for (const ReferenceState& s : kStates) {
    const Trajectory& t = e.cases[static_cast<std::size_t>(s.test_case - 1)].trajectory;
    const Index k = row_at(t, s.t);
    if (k < 0) continue;
    auto text = [](double x) { return fmt::format("{:.13f}", x); };
    table.rows.push_back({static_cast<double>(s.test_case), s.t, text(t.q(k, 0)), text(t.q(k, 1)), text(t.v(k, 0)),
                          text(t.v(k, 1)), std::max(std::abs(t.q(k, 0) - s.y1), std::abs(t.q(k, 1) - s.y2)),
                          std::max(std::abs(t.v(k, 0) - s.v1), std::abs(t.v(k, 1) - s.v2))});
  }
  return table;
}

ReportTable variant_table(const Evidence& e) {
  ReportTable table{
      "Static above dynamic limit",
      "Policy: a hinge at its static limit is let go; then as many stuck hinges as possible stay stuck; then as many "
      "stopped ones as possible stick. Modes: largest number of admissible ones at an event (0: not counted, the "
      "limits "
      "are the same and the mode is unique). Held: largest force on a stuck hinge. Last column: final positions "
      "against "
      "time stepping with h = 0.001 s.",
      {"variant", "f_d", "f_s", "events", "modes", "held [N]", "rest at [s]", "y1 end [m]", "y2 end [m]", "moreau [m]",
       "parts at [s]"},
      {},
      -1};
  for (const StaticVariant& v : e.variants) {
    const bool has = v.limits.fixed[0] >= 0;
    table.rows.push_back(
        {v.name, fmt::format("{:g}, {:g}", v.limits.dynamic[0], v.limits.dynamic[1]),
         has ? ReportCell(fmt::format("{:g}, {:g}", v.limits.fixed[0], v.limits.fixed[1])) : ReportCell("the same"),
         static_cast<double>(v.event.trajectory.events.size()), static_cast<double>(v.admissible), v.largest_held,
         std::isfinite(v.rest_time) ? ReportCell(v.rest_time) : ReportCell("never"), v.event.final.q[0],
         v.event.final.q[1], v.difference_to_moreau,
         std::isfinite(v.parts_from_moreau) ? ReportCell(v.parts_from_moreau) : ReportCell()});
  }
  return table;
}

ReportFigure rule_figure(const Evidence& e) {
  ReportFigure figure{"Case 3 at T = 15 s: deciding one hinge at a time costs an order",
                      "Error against the event scheme. Hinge by hinge: the paper's rule with an exact flow and located "
                      "changes of sign. moreau: all hinges in one inclusion, reversals located.",
                      "",
                      {"h", "s", true},
                      {"position error", "m", true},
                      {},
                      {},
                      {}};
  auto slope = [](const ErrorCurve& curve, int power) {
    const double a = curve.h.front(), b = curve.h.back(), y = curve.error.front();
    return ReportSeries{
        fmt::format("slope {}", power), {a, b}, {y, y * std::pow(b / a, power)}, true, false, true, false};
  };
  figure.series = {{"hinge by hinge", e.rule_after.h, e.rule_after.error, false, true, true, false},
                   {"moreau", e.moreau.h, e.moreau.error, false, true, true, false},
                   slope(e.rule_after, 1),
                   slope(e.moreau, 2)};
  return figure;
}

std::string events_csv(const Evidence& e) {
  std::string text = "case,t,hinge,kind\n";
  for (std::size_t c = 0; c < e.cases.size(); ++c)
    for (const Event& event : e.cases[c].trajectory.events)
      text += fmt::format("{},{:.16g},{},{}\n", c + 1, event.t, event.law + 1, to_string(event.kind));
  return text;
}

std::string case_csv(const Trajectory& t) {
  std::string text = "t,y1,y2,v1,v2,mode1,mode2\n";
  for (Index k = 0; k < t.rows(); ++k)
    text += fmt::format("{:.9g},{:.16g},{:.16g},{:.16g},{:.16g},{},{}\n", t.t(k), t.q(k, 0), t.q(k, 1), t.v(k, 0),
                        t.v(k, 1), to_string(t.mode(k, 0)), to_string(t.mode(k, 1)));
  return text;
}

std::string errors_csv(const Evidence& e) {
  std::string text = "h,hinge_by_hinge,moreau\n";
  for (std::size_t k = 0; k < e.rule_after.h.size(); ++k)
    text += fmt::format("{:.9g},{:.6e},{:.6e}\n", e.rule_after.h[k], e.rule_after.error[k], e.moreau.error[k]);
  return text;
}

}  // namespace

Reproduction reproduce_stick_slip(const ReproductionProgress& progress) {
  Reproduction result = begin_reproduction(
      "Stick and slip by switching constraints on and off",
      "R.J. VanderVoort, R.P. Singh, Notes on Implementation of Coulomb Friction in Coupled Dynamical Simulations, "
      "1987");
  ReportDocument& page = result.document;
  Evidence e;
  double done = 0;
  auto advance = [&] { return progress(++done / 9); };
  for (const Case& c : kCases) {
    e.cases[static_cast<std::size_t>(c.number - 1)] =
        run_hinges(c.limits, SchemeKind::event, c.end_time, 0, kOutputStep);
    if (!advance()) return stopped(std::move(result));
  }
  e.E1 = decide_at_rest(Vector{{3, 1.2}}, Vector{{1, 1}});
  e.E2 = decide_at_rest(Vector{{0.2, 11}}, Vector{{0.1, 10}});
  e.start = decide_at_rest(Vector{{-2, -0.5}}, Vector{{0.1, 0.1}});
  e.release = induced_release();
  e.rule_before = error_of_hinge_by_hinge(10);
  e.rule_after = error_of_hinge_by_hinge(15);
  if (!advance()) return stopped(std::move(result));
  e.moreau = error_of_moreau(15);
  if (!advance()) return stopped(std::move(result));
  for (std::size_t k = 0; k < e.first_steps.size(); ++k)
    e.displacement[k] = displacement_without_first_test(e.first_steps[k]);
  e.variants = static_variants();
  e.zero = search_for_zero();
  e.point = constrained_point();
  if (!advance()) return stopped(std::move(result));
  e.bodies = run_two_bodies();
  e.arm = run_locked_arm();
  e.chain = run_closed_chain();
  if (!advance()) return stopped(std::move(result));
  result.claims = judge_claims(e);

  add_claims(result);
  page.facts = {{"problem", std::string("two hinges in series, m = 1, 1 kg, k = 2, 2.5 N/m, from (1, 0.2) m at rest")},
                {"scheme", std::string("event, exact flow between events")}};
  for (const Case& c : kCases) {
    const Simulation& run = e.cases[static_cast<std::size_t>(c.number - 1)];
    page.blocks.push_back(curves(c, run.trajectory, "displacements", "m", &Trajectory::q, "y"));
    page.blocks.push_back(curves(c, run.trajectory, "velocities", "m/s", &Trajectory::v, "v"));
    page.blocks.push_back(stick_slip(c, run));
    result.files.emplace_back(fmt::format("case-{}.csv", c.number), case_csv(run.trajectory));
  }
  page.blocks.push_back(state_table(e));
  page.blocks.push_back(event_table(2, e.cases[1].trajectory, kEventsOfCase2));
  page.blocks.push_back(event_table(3, e.cases[2].trajectory, kEventsOfCase3));
  page.blocks.push_back(rule_figure(e));
  page.blocks.push_back(variant_table(e));
  result.files.emplace_back("events.csv", events_csv(e));
  result.files.emplace_back("hinge-by-hinge.csv", errors_csv(e));
  progress(1);
  return result;
}

}  // namespace stickslip
