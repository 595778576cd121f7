// SPDX-License-Identifier: Apache-2.0
// The document of the interactive page (report/README.md), as plain data, and how it becomes a page. A command fills
// blocks; what the page does with them is the page's business.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stickslip/io/report_scene.hpp"
#include "stickslip/motion/audit.hpp"

namespace stickslip {

struct ReportAxis {
  std::string label, unit;
  bool logarithmic = false;
  double size = 0;  ///< of the quantity in the run; variation far below it is drawn flat. 0: that of the series
};

struct ReportSeries {
  std::string name;
  std::vector<double> x;  ///< empty: x_values of the figure; need not ascend
  std::vector<double> y;  ///< what is not finite is a gap
  bool dash = false;
  bool points = false;  ///< markers
  bool line = true;     ///< false: markers only
  bool step = false;    ///< constant between the samples
  std::string group{};  ///< what it belongs to: series are chosen by group; empty: none
  bool hidden = false;  ///< at first; the legend shows it
};

struct ReportMark {
  double x = 0;
  std::string label;
};

struct ReportFigure {
  std::string title, note;
  std::string link;  ///< figures with the same link share zoom and cursor; empty: alone
  ReportAxis x, y;
  std::vector<double> x_values;
  std::vector<ReportSeries> series;
  std::vector<ReportMark> marks{};
  std::string groups{};  ///< what the groups of the series are ("bodies"); figures of one link share the choice
};

/// A number over two others: a field of colours.
struct ReportMap {
  std::string title, note;
  ReportAxis x, y;
  std::vector<double> x_values, y_values;
  std::vector<double> values;  ///< row after row: those of y_values[0] first; what is not finite is left blank
  std::string label;           ///< of the number
  std::vector<std::string> categories{};  ///< values are numbers of these; empty: a scale
};

struct ReportInterval {
  double from = 0, to = 0;
  Mode mode = Mode::stick;
};

struct ReportTimeline {
  std::string title, note, link;
  double from = 0, to = 0;  ///< [s]
  struct Row {
    std::string name;
    std::vector<ReportInterval> intervals;  ///< ascending
  };
  std::vector<Row> rows;
  std::vector<std::string> laws;  ///< names for Event::law
  std::vector<Event> events;
};

struct ReportAudit {
  std::string title = "Audit";
  std::vector<AuditItem> items;
};

/// Nothing, a number, or a text.
using ReportCell = std::variant<std::monostate, double, std::string>;

struct ReportTable {
  std::string title, note;
  std::vector<std::string> columns;
  std::vector<std::vector<ReportCell>> rows;
  int verdict_column = -1;  ///< there texts become badges: "confirmed", "success" good, "corrected" a warning, all
                            ///< others bad; -1: none
};

struct ReportText {
  std::string title;
  std::vector<std::string> paragraphs;
};

struct ReportFact {
  std::string label;
  ReportCell value;
};

/// What a result was made from: folded on the screen, whole on paper.
struct ReportInputs {
  std::string title = "Inputs";
  std::vector<ReportFact> rows;       ///< always in sight: model, date, version, ...
  std::vector<std::string> settings;  ///< each --set
  std::vector<ReportFact> parameters;
  std::string model_text;
};

using ReportBlock = std::variant<ReportFigure, ReportTimeline, ReportAudit, ReportTable, ReportText, ReportScene,
                                 ReportInputs, ReportMap>;

struct ReportDocument {
  std::string title, subtitle, generator;
  bool ok = true;
  std::string status;              ///< empty: the page shows no status
  std::vector<std::string> notes;  ///< what to know about the result, above everything else
  std::vector<ReportFact> facts;
  std::vector<ReportBlock> blocks;
};

std::string report_document_json(const ReportDocument& document);

/// The page: the marker /*STICKSLIP_DATA*/null of the template becomes the document. Every `<` is written \u003c, so
/// that no text in the document can end the element that holds it, and the line separators U+2028 and U+2029 are
/// escaped. What the template holds between <!--STICKSLIP_SOLID--> and <!--/STICKSLIP_SOLID--> (the painter of solid
/// scenes, most of the template) is left out unless the document has such a scene. Throws InputError if the template
/// has no marker.
std::string render_report(std::string_view template_html, const std::string& document_json);

}  // namespace stickslip
