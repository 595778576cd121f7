// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/report_document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "stickslip/common/error.hpp"
#include "stickslip/io/simulation_report.hpp"
#include "tests/unit/result_samples.hpp"

namespace stickslip::report_document_test {
namespace {

using nlohmann::json;
const double nan_value = std::numeric_limits<double>::quiet_NaN();

json document_of(const Simulation& s, const SimulationReportOptions& options = {}) {
  return json::parse(report_document_json(simulation_report(samples::header(), s, 1.5, options)));
}

const json& block_of(const json& document, const std::string& title) {
  for (const json& block : document["blocks"])
    if (block.value("title", "") == title) return block;
  throw std::runtime_error("no block " + title);
}

TEST(ReportDocument, SpellsEveryBlockAsThePageExpects) {
  ReportDocument document;
  document.title = "T";
  document.status = "failed: x";
  document.ok = false;
  document.facts = {{"steps", 12.0}, {"scheme", std::string("moreau")}};
  ReportFigure figure;
  figure.title = "F";
  figure.x = {"step", "s", true};
  figure.y = {"error", "", true};
  figure.x_values = {1, 2};
  figure.series.resize(2);
  figure.series[0] = {"a", {}, {1, nan_value}};
  figure.series[1] = {"b", {3, 4}, {5, 6}, true, true, false, true, "box", true};
  figure.y.size = 2.5;
  figure.groups = "bodies";
  figure.marks = {{1.5, "here"}};
  ReportTable table{"C",
                    "n",
                    {"claim", "ours", "verdict"},
                    {{std::string("order"), 1.5, std::string("confirmed")}, {ReportCell{}, nan_value, ReportCell{}}},
                    2};
  document.blocks = {figure, table, ReportText{"", {"p", "q"}},
                     ReportAudit{"A", {{"energy", 1.0, 0, false, true, "J", "m"}}},
                     ReportInputs{"I", {{"date", std::string("today")}}, {"run.step=1"}, {{"k", 2.0}}, "a = 1\n"}};
  document.notes = {"order 1"};
  const json expected = json::parse(R"({
    "title": "T", "status": {"ok": false, "text": "failed: x"}, "notes": ["order 1"],
    "facts": [{"label": "steps", "value": 12.0}, {"label": "scheme", "value": "moreau"}],
    "blocks": [
      {"type": "figure", "title": "F", "x": {"label": "step", "unit": "s", "scale": "log"}, "y": {"label": "error", "unit": "", "scale": "log", "size": 2.5}, "groups": "bodies",
       "x_values": [1.0, 2.0], "series": [{"name": "a", "y": [1.0, null]},
       {"name": "b", "x": [3.0, 4.0], "y": [5.0, 6.0], "dash": true, "points": true, "line": false, "step": true, "group": "box", "hidden": true}], "marks": [{"x": 1.5, "label": "here"}]},
      {"type": "table", "title": "C", "note": "n", "columns": ["claim", "ours", "verdict"], "rows": [["order", 1.5, "confirmed"], [null, null, null]], "verdict_column": 2},
      {"type": "text", "paragraphs": ["p", "q"]},
      {"type": "audit", "title": "A", "rows": [{"name": "energy", "value": 1.0, "limit": null, "guaranteed": false, "ok": true, "meaning": "m", "unit": "J"}]},
      {"type": "inputs", "title": "I", "rows": [{"name": "date", "value": "today"}], "settings": ["run.step=1"], "parameters": [{"name": "k", "value": 2.0}], "model_text": "a = 1\n"}]})");
  EXPECT_EQ(json::parse(report_document_json(document)), expected);
}

TEST(ReportDocument, CannotEndTheElementThatHoldsIt) {
  ReportDocument document;
  document.title = "</script><!-- <script> \xE2\x80\xA8 \xE2\x80\xA9 \xE2\x82\xAC";
  const std::string page = render_report("<b>/*STICKSLIP_DATA*/null</b>", report_document_json(document));
  ASSERT_EQ(page.substr(0, 3), "<b>");
  ASSERT_EQ(page.substr(page.size() - 4), "</b>");
  const std::string inside = page.substr(3, page.size() - 7);
  EXPECT_EQ(inside.find('<'), std::string::npos);
  EXPECT_EQ(inside.find("\xE2\x80\xA8"), std::string::npos);
  EXPECT_EQ(inside.find("\xE2\x80\xA9"), std::string::npos);
  EXPECT_EQ(json::parse(inside)["title"], document.title);
  EXPECT_THROW(render_report("<b></b>", "{}"), InputError);
}

TEST(ThinnedRows, KeepEveryExtremeTheEndsAndTheOrder) {
  // one spike up and one down, each a single sample, anywhere in a slow wave
  for (const Index spike : {Index{0}, Index{1}, Index{49999}, Index{77777}, Index{99998}, Index{99999}}) {
    auto value = [&](Index row) {
      return std::sin(1e-3 * static_cast<double>(row)) + (row == spike ? 50.0 : 0.0) -
             (row == 99999 - spike ? 50.0 : 0.0);
    };
    const std::vector<Index> rows = thinned_rows(100000, 400, value);
    EXPECT_LE(rows.size(), 400u);
    EXPECT_EQ(rows.front(), 0);
    EXPECT_EQ(rows.back(), 99999);
    for (std::size_t i = 1; i < rows.size(); ++i) ASSERT_LT(rows[i - 1], rows[i]);
    EXPECT_TRUE(std::count(rows.begin(), rows.end(), spike));
    EXPECT_TRUE(std::count(rows.begin(), rows.end(), 99999 - spike));
  }
}

TEST(ThinnedRows, KeepTheEnvelopeOfAFastOscillation) {
  auto value = [](Index row) { return (row % 2 == 0 ? 1.0 : -1.0) * (1 + static_cast<double>(row)); };
  const std::vector<Index> rows = thinned_rows(100000, 1000, value);
  // The envelope grows by 1 per row. With 499 groups of 200 or 201 rows the last rows of a group hold its extremes, so
  // every row has a kept one of either sign at most two groups later.
  for (Index row = 0; row < 99000; row += 97) {
    double low = 0, high = 0;
    for (const Index k : rows)
      if (k >= row && k < row + 402) low = std::min(low, value(k)), high = std::max(high, value(k));
    ASSERT_GE(high, static_cast<double>(row));
    ASSERT_LE(low, -static_cast<double>(row));
  }
}

TEST(ThinnedRows, KeepGapsAndShortSeries) {
  const std::vector<Index> all = thinned_rows(7, 7, [](Index) { return 0.0; });
  EXPECT_EQ(all, (std::vector<Index>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(thinned_rows(0, 10, [](Index) { return 0.0; }).empty());
  const std::vector<Index> rows =
      thinned_rows(10000, 100, [](Index row) { return row == 5555 ? nan_value : static_cast<double>(row); });
  EXPECT_TRUE(std::count(rows.begin(), rows.end(), 5555));
}

TEST(ModeIntervals, FollowTheEventsAndFillTheTime) {
  const std::vector<Event> events = {{1.0, 0, EventKind::slip, Mode::stick, Mode::slip_plus, 0},
                                     {1.0, 1, EventKind::stick, Mode::slip_minus, Mode::stick, 0},
                                     {2.0, 0, EventKind::reversal, Mode::slip_plus, Mode::slip_minus, 0},
                                     {2.5, 0, EventKind::impact, Mode::slip_minus, Mode::slip_minus, 0.3},
                                     {3.0, 0, EventKind::stick, Mode::slip_minus, Mode::stick, 0},
                                     {3.0, 0, EventKind::slip, Mode::stick, Mode::slip_plus, 0}};
  const auto rows = mode_intervals({Mode::stick, Mode::slip_minus, Mode::open}, events, 0.0, 4.0);
  ASSERT_EQ(rows.size(), 3u);
  auto expect = [](const std::vector<ReportInterval>& row, const std::vector<ReportInterval>& expected) {
    ASSERT_EQ(row.size(), expected.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(row[i].from, expected[i].from);
      EXPECT_EQ(row[i].to, expected[i].to);
      EXPECT_EQ(row[i].mode, expected[i].mode);
    }
  };
  expect(rows[0], {{0, 1, Mode::stick}, {1, 2, Mode::slip_plus}, {2, 3, Mode::slip_minus}, {3, 4, Mode::slip_plus}});
  expect(rows[1], {{0, 1, Mode::slip_minus}, {1, 4, Mode::stick}});
  expect(rows[2], {{0, 4, Mode::open}});
}

TEST(SimulationReport, ShowsEveryRowOfAShortRun) {
  const Simulation s = samples::simulation(samples::names(true, true), 50, 9);
  const json document = document_of(s);
  EXPECT_EQ(document["title"], "A made-up run");
  EXPECT_TRUE(document["status"]["ok"].get<bool>());
  const json& positions = block_of(document, "Positions");
  EXPECT_EQ(positions["link"], "time");
  EXPECT_FALSE(positions.contains("note"));
  ASSERT_EQ(positions["x_values"].size(), 50u);
  ASSERT_EQ(positions["series"].size(), 2u);  // the angle has a figure of its own
  const json& angles = block_of(document, "Angles");
  ASSERT_EQ(angles["series"].size(), 1u);
  for (Index row = 0; row < 50; ++row) {
    ASSERT_EQ(positions["x_values"][row], s.trajectory.t(row));
    ASSERT_EQ(positions["series"][1]["y"][row], s.trajectory.q(row, 1));
    ASSERT_EQ(angles["series"][0]["y"][row], s.trajectory.q(row, 2));
  }
  EXPECT_EQ(block_of(document, "Angular velocities")["series"][0]["name"], "v_arm.rz");
  EXPECT_EQ(block_of(document, "Energy balance")["series"].size(), 7u);
  EXPECT_EQ(block_of(document, "Stick and slip")["rows"].size(), 2u);
  EXPECT_EQ(block_of(document, "Stick and slip")["events"].size(), 9u);
  EXPECT_EQ(block_of(document, "Audit")["rows"].size(), 2u);
  EXPECT_EQ(block_of(document, "Final state")["rows"].size(), 3u + 3u + 3u + 2u);
}

TEST(SimulationReport, DrawsTheForceThatActsAndKeepsItsParts) {
  const Simulation s = samples::simulation(samples::names(true, false), 50, 0);
  const json forces = block_of(document_of(s), "Forces of friction and contact");
  ASSERT_EQ(forces["series"].size(), 9u);
  for (int i = 0; i < 3; ++i) {
    const json &total = forces["series"][3 * i], &set_valued = forces["series"][3 * i + 1],
               &smooth = forces["series"][3 * i + 2];
    EXPECT_EQ(total["name"], s.trajectory.names().reactions[i]);
    EXPECT_FALSE(total.contains("hidden"));
    EXPECT_TRUE(set_valued["hidden"].get<bool>() && smooth["hidden"].get<bool>());
    for (Index row = 0; row < 50; ++row) {
      ASSERT_EQ(total["y"][row], s.trajectory.reaction(row, i) + s.trajectory.smooth(row, i));
      ASSERT_EQ(set_valued["y"][row], s.trajectory.reaction(row, i));
      ASSERT_EQ(smooth["y"][row], s.trajectory.smooth(row, i));
    }
  }
}

TEST(SimulationReport, ShowsNoPartsOfALawWithoutASmoothPart) {
  TrajectoryNames names = samples::names(true, false);
  Simulation s;
  s.trajectory = Trajectory(names, 3, 3, 5);
  OutputRow row;
  for (long n = 0; n < 5; ++n) {
    samples::fill_row(n, row);
    row.smooth[0] = 0;  // only the planar law has one
    s.trajectory.append(row);
  }
  s.final = samples::state(5);
  std::vector<std::string> shown;
  const json document = document_of(s);
  for (const json& series : block_of(document, "Forces of friction and contact")["series"])
    shown.push_back(series["name"]);
  EXPECT_EQ(shown, (std::vector<std::string>{"shoe", "table_t1", "table_t1, set-valued part",
                                             "table_t1, viscous and weakening part", "table_t2",
                                             "table_t2, set-valued part", "table_t2, viscous and weakening part"}));
}

TEST(SimulationReport, StatesTheSizeOfAQuantitySoThatNoiseIsDrawnFlat) {
  // The block moves 4 m in 2 s while its velocity rows hold noise only: the axis of the velocity follows from 4 m / 2
  // s.
  TrajectoryNames names;
  names.coordinates = names.velocities = {"x"};
  Simulation s;
  s.trajectory = Trajectory(names, 1, 1, 3);
  OutputRow row;
  for (int n = 0; n < 3; ++n) {
    row.t = n;
    row.q = Vector::Constant(1, 2.0 * n);
    row.v = Vector::Constant(1, 1e-16 * n);
    s.trajectory.append(row);
  }
  s.final = {2.0, row.q, row.v, Vector(), {}};
  const json document = document_of(s);
  EXPECT_EQ(block_of(document, "Positions")["y"]["size"], 4.0);
  EXPECT_EQ(block_of(document, "Velocities")["y"]["size"], 2.0);
}

TEST(SimulationReport, SpeaksInWordsAndUnits) {
  const json document = document_of(samples::simulation(samples::names(false, false), 50, 12));
  std::map<std::string, json> facts;
  for (const json& fact : document["facts"]) facts[fact["label"]] = fact["value"];
  EXPECT_EQ(facts.at("method"), "moreau");
  EXPECT_EQ(facts.at("time simulated"), "0 to 0.057 s");
  EXPECT_EQ(facts.at("events"), "2 begin to stick, 2 begin to slip, 2 reversals, 2 openings, 2 closings, 2 impacts");
  EXPECT_EQ(facts.at("degrees of freedom"), 3.0);
  for (const auto& [label, value] : facts) EXPECT_EQ(label.find("inclusion"), std::string::npos) << label;
}

TEST(SimulationReport, TellsEnergyMadeByImpactsFirst) {
  Simulation s = samples::simulation(samples::names(false, false), 50, 0);
  EXPECT_FALSE(document_of(s).contains("notes"));
  s.audit.push_back({"steps_with_contact_gain", 2, 0, false, true, "", ""});
  s.audit.push_back({"energy_impact_gain", 0.5, 0, false, true, "J", ""});
  s.audit.push_back({"contact_gain", 0.03, 0, false, true, "", ""});
  const json document = document_of(s);
  ASSERT_EQ(document["notes"].size(), 1u);
  EXPECT_NE(document["notes"][0].get<std::string>().find("made 0.5 J (3 %"), std::string::npos) << document["notes"];
}

TEST(SimulationReport, LeavesOutLawsThatThereAreNot) {
  TrajectoryNames names;
  names.coordinates = names.velocities = {"x", "y", "z"};
  Simulation s = samples::simulation(names, 0, 0);
  s.final.modes.clear();
  s.final_reaction = Vector();
  const json document = document_of(s);
  for (const json& block : document["blocks"]) {
    EXPECT_NE(block["title"], "Forces of friction and contact");
    EXPECT_NE(block["type"], "timeline");
  }
}

TEST(SimulationReport, ThinsALongRunAndSaysSo) {
  const Simulation s = samples::simulation(samples::names(false, false), 20000, 3000);
  SimulationReportOptions options;
  options.points = 500;
  options.timeline_entries = 400;
  const json document = document_of(s, options);
  const json& velocities = block_of(document, "Velocities");
  EXPECT_NE(velocities["note"].get<std::string>().find("Thinned from 20000 rows"), std::string::npos);
  for (int i = 0; i < 2; ++i) {
    const json& series = velocities["series"][i];
    ASSERT_EQ(series["x"].size(), series["y"].size());
    EXPECT_LE(series["y"].size(), 500u);
    double highest = -1e300, shown = -1e300;
    for (Index row = 0; row < s.trajectory.rows(); ++row) highest = std::max(highest, s.trajectory.v(row, i));
    for (const json& y : series["y"]) shown = std::max(shown, y.get<double>());
    EXPECT_EQ(shown, highest);
  }
  const json& timeline = block_of(document, "Stick and slip");
  EXPECT_TRUE(timeline.contains("note"));
  EXPECT_LE(timeline["events"].size(), 200u);
  for (const json& row : timeline["rows"]) {
    EXPECT_LE(row["intervals"].size(), 100u);
    EXPECT_EQ(row["intervals"].front()["from"], timeline["from"]);
    EXPECT_EQ(row["intervals"].back()["to"], timeline["to"]);
    for (std::size_t i = 1; i < row["intervals"].size(); ++i)
      ASSERT_EQ(row["intervals"][i]["from"], row["intervals"][i - 1]["to"]);
  }
}

TEST(SimulationReport, ShowsSomeOfManyColumnsEvenlySpread) {
  TrajectoryNames names;
  for (int i = 0; i < 1000; ++i) names.coordinates.push_back("x" + std::to_string(i + 1));
  names.velocities = names.coordinates;
  Simulation s;
  s.trajectory = Trajectory(names, 1000, 1000, 2);
  OutputRow row;
  row.q = row.v = Vector::LinSpaced(1000, 1, 1000);
  s.trajectory.append(row);
  s.final = {1.0, row.q, row.v, Vector(), {}};
  SimulationReportOptions options;
  options.series = 10;
  const json document = document_of(s, options);
  const json& positions = block_of(document, "Positions");
  EXPECT_NE(positions["note"].get<std::string>().find("10 of 1000 columns"), std::string::npos);
  std::set<std::string> shown;
  for (const json& series : positions["series"]) shown.insert(series["name"].get<std::string>());
  EXPECT_EQ(shown.size(), 10u);
  EXPECT_TRUE(shown.count("x1") && shown.count("x112") && shown.count("x1000"));
}

}  // namespace
}  // namespace stickslip::report_document_test
