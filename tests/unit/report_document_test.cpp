// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/report_document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "stickslip/common/error.hpp"
#include "stickslip/io/simulation_report.hpp"
#include "tests/unit/result_samples.hpp"

namespace stickslip {
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
  figure.series[1] = {"b", {3, 4}, {5, 6}, true, true, false, true};
  figure.marks = {{1.5, "here"}};
  ReportTable table{"C",
                    "n",
                    {"claim", "ours", "verdict"},
                    {{std::string("order"), 1.5, std::string("confirmed")}, {ReportCell{}, nan_value, ReportCell{}}},
                    2};
  document.blocks = {figure, table, ReportText{"", {"p", "q"}},
                     ReportAudit{"A", {{"energy", 1.0, 0, false, true, "J", "m"}}}};
  const json expected = json::parse(R"({
    "title": "T", "status": {"ok": false, "text": "failed: x"},
    "facts": [{"label": "steps", "value": 12.0}, {"label": "scheme", "value": "moreau"}],
    "blocks": [
      {"type": "figure", "title": "F", "x": {"label": "step", "unit": "s", "scale": "log"}, "y": {"label": "error", "unit": "", "scale": "log"},
       "x_values": [1.0, 2.0], "series": [{"name": "a", "y": [1.0, null]},
       {"name": "b", "x": [3.0, 4.0], "y": [5.0, 6.0], "dash": true, "points": true, "line": false, "step": true}], "marks": [{"x": 1.5, "label": "here"}]},
      {"type": "table", "title": "C", "note": "n", "columns": ["claim", "ours", "verdict"], "rows": [["order", 1.5, "confirmed"], [null, null, null]], "verdict_column": 2},
      {"type": "text", "paragraphs": ["p", "q"]},
      {"type": "audit", "title": "A", "rows": [{"name": "energy", "value": 1.0, "limit": null, "guaranteed": false, "ok": true, "meaning": "m", "unit": "J"}]}]})");
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
  ASSERT_EQ(positions["series"].size(), 3u);
  for (Index row = 0; row < 50; ++row) {
    ASSERT_EQ(positions["x_values"][row], s.trajectory.t(row));
    ASSERT_EQ(positions["series"][2]["y"][row], s.trajectory.q(row, 2));
  }
  EXPECT_EQ(block_of(document, "Velocities")["series"][2]["name"], "v_arm.rz");
  EXPECT_EQ(block_of(document, "Reactions")["series"].size(), 6u);  // with the smooth parts
  EXPECT_EQ(block_of(document, "Energy balance")["series"].size(), 7u);
  EXPECT_EQ(block_of(document, "Stick and slip")["rows"].size(), 2u);
  EXPECT_EQ(block_of(document, "Stick and slip")["events"].size(), 9u);
  EXPECT_EQ(block_of(document, "Audit")["rows"].size(), 2u);
  EXPECT_EQ(block_of(document, "Final state")["rows"].size(), 3u + 3u + 3u + 2u);
}

TEST(SimulationReport, LeavesOutLawsThatThereAreNot) {
  TrajectoryNames names;
  names.coordinates = names.velocities = {"x", "y", "z"};
  Simulation s = samples::simulation(names, 0, 0);
  s.final.modes.clear();
  s.final_reaction = Vector();
  const json document = document_of(s);
  for (const json& block : document["blocks"]) {
    EXPECT_NE(block["title"], "Reactions");
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
  for (int i = 0; i < 3; ++i) {
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
}  // namespace stickslip
