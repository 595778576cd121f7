// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/report_document.hpp"

#include <nlohmann/json.hpp>

#include "stickslip/common/error.hpp"

namespace stickslip {
namespace {

using Json = nlohmann::ordered_json;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

void put_text(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

Json cell(const ReportCell& value) {
  return std::visit(Overloaded{[](std::monostate) { return Json(); }, [](const auto& v) { return Json(v); }}, value);
}

Json axis(const ReportAxis& a) {
  Json out = {{"label", a.label}, {"unit", a.unit}, {"scale", a.logarithmic ? "log" : "linear"}};
  if (a.size > 0) out["size"] = a.size;
  return out;
}

Json series(const ReportSeries& s) {
  Json out = {{"name", s.name}};
  if (!s.x.empty()) out["x"] = s.x;
  out["y"] = s.y;
  if (s.dash) out["dash"] = true;
  if (s.points) out["points"] = true;
  if (!s.line) out["line"] = false;
  if (s.step) out["step"] = true;
  put_text(out, "group", s.group);
  if (s.hidden) out["hidden"] = true;
  return out;
}

Json block(const ReportFigure& figure) {
  Json out = {{"type", "figure"}, {"title", figure.title}};
  put_text(out, "note", figure.note);
  put_text(out, "link", figure.link);
  put_text(out, "groups", figure.groups);
  out["x"] = axis(figure.x);
  out["y"] = axis(figure.y);
  if (!figure.x_values.empty()) out["x_values"] = figure.x_values;
  out["series"] = Json::array();
  for (const ReportSeries& s : figure.series) out["series"].push_back(series(s));
  for (const ReportMark& mark : figure.marks) out["marks"].push_back({{"x", mark.x}, {"label", mark.label}});
  return out;
}

Json block(const ReportTimeline& timeline) {
  Json out = {{"type", "timeline"}, {"title", timeline.title}};
  put_text(out, "note", timeline.note);
  put_text(out, "link", timeline.link);
  out["from"] = timeline.from;
  out["to"] = timeline.to;
  out["unit"] = "s";
  out["rows"] = Json::array();
  for (const ReportTimeline::Row& row : timeline.rows) {
    Json intervals = Json::array();
    for (const ReportInterval& i : row.intervals)
      intervals.push_back({{"from", i.from}, {"to", i.to}, {"mode", to_string(i.mode)}});
    out["rows"].push_back({{"name", row.name}, {"intervals", std::move(intervals)}});
  }
  out["events"] = Json::array();
  for (const Event& e : timeline.events) {
    const auto side = [](Mode mode, const ActiveFacets& facets) {
      const std::string on = to_string(facets);
      const bool corner = on.find('+') != std::string::npos;
      return std::string(to_string(mode)) + (on.empty() ? "" : corner ? " on facets " + on : " on facet " + on);
    };
    out["events"].push_back({{"t", e.t},
                             {"law", timeline.laws.at(e.law)},
                             {"kind", to_string(e.kind)},
                             {"before", side(e.before, e.facets_before)},
                             {"after", side(e.after, e.facets_after)},
                             {"impulse", e.impulse}});
  }
  return out;
}

Json block(const ReportAudit& audit) {
  Json out = {{"type", "audit"}, {"title", audit.title}, {"rows", Json::array()}};
  for (const AuditItem& item : audit.items)
    out["rows"].push_back({{"name", item.name},
                           {"value", item.value},
                           {"limit", item.guaranteed ? Json(item.limit) : Json()},
                           {"guaranteed", item.guaranteed},
                           {"ok", item.ok},
                           {"meaning", item.meaning},
                           {"unit", item.unit}});
  return out;
}

Json block(const ReportTable& table) {
  Json out = {{"type", "table"}, {"title", table.title}};
  put_text(out, "note", table.note);
  out["columns"] = table.columns;
  out["rows"] = Json::array();
  for (const std::vector<ReportCell>& row : table.rows) {
    Json cells = Json::array();
    for (const ReportCell& value : row) cells.push_back(cell(value));
    out["rows"].push_back(std::move(cells));
  }
  if (table.verdict_column >= 0) out["verdict_column"] = table.verdict_column;
  return out;
}

Json block(const ReportText& text) {
  Json out = {{"type", "text"}};
  put_text(out, "title", text.title);
  out["paragraphs"] = text.paragraphs;
  return out;
}

Json facts(const std::vector<ReportFact>& rows, const char* label) {
  Json out = Json::array();
  for (const ReportFact& fact : rows) out.push_back({{label, fact.label}, {"value", cell(fact.value)}});
  return out;
}

Json block(const ReportInputs& inputs) {
  return {{"type", "inputs"},
          {"title", inputs.title},
          {"rows", facts(inputs.rows, "name")},
          {"settings", inputs.settings},
          {"parameters", facts(inputs.parameters, "name")},
          {"model_text", inputs.model_text}};
}

Json block(const ReportMap& map) {
  Json out = {{"type", "map"}, {"title", map.title}};
  put_text(out, "note", map.note);
  out["x"] = {{"label", map.x.label}, {"unit", map.x.unit}};
  out["y"] = {{"label", map.y.label}, {"unit", map.y.unit}};
  out["x_values"] = map.x_values;
  out["y_values"] = map.y_values;
  out["values"] = map.values;  // dump() writes null for what is not finite
  out["label"] = map.label;
  if (!map.categories.empty()) out["categories"] = map.categories;
  return out;
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string block_text(const ReportScene& scene) { return report_scene_json(scene); }
template <class Block>
std::string block_text(const Block& value) {
  return text_of(block(value));
}

/// Our own spelling of a planar scene is the only one that is known to need no painter of solids. A text cannot look
/// like a block: its quotation marks are escaped.
bool may_show_solids(std::string_view json) {
  constexpr std::string_view scene = "\"scene\"", planar = ",\"planar\":true";
  for (std::size_t i = json.find(scene); i != std::string_view::npos; i = json.find(scene, i + 1)) {
    const std::string_view before = json.substr(0, i), after = json.substr(i + scene.size());
    const bool is_type = before.ends_with("\"type\":") || before.ends_with("\"type\": ");
    if (is_type && !after.starts_with(planar)) return true;
  }
  return false;
}

/// The template before and after the data.
struct Template {
  std::string before;
  std::string_view after;
};

Template split(std::string_view html, bool solids) {
  constexpr std::string_view marker = "/*STICKSLIP_DATA*/null", first = "<!--STICKSLIP_SOLID-->",
                             last = "<!--/STICKSLIP_SOLID-->";
  const std::size_t at = html.find(marker);
  if (at == std::string_view::npos)
    throw InputError("the template of the report has no place for the data (/*STICKSLIP_DATA*/null)");
  Template out{std::string(html.substr(0, at)), html.substr(at + marker.size())};
  const std::size_t from = out.before.find(first), to = out.before.find(last);
  if (!solids && from != std::string::npos && to != std::string::npos) out.before.erase(from, to + last.size() - from);
  return out;
}

}  // namespace

std::string report_document_json(const ReportDocument& document) {
  Json out = {{"title", document.title}};
  put_text(out, "subtitle", document.subtitle);
  put_text(out, "generator", document.generator);
  if (!document.status.empty()) out["status"] = {{"ok", document.ok}, {"text", document.status}};
  if (!document.notes.empty()) out["notes"] = document.notes;
  out["facts"] = facts(document.facts, "label");
  // Blocks join as text: a scene is megabytes of it.
  std::string text = text_of(out);
  text.pop_back();
  text += ",\"blocks\":[";
  for (const ReportBlock& b : document.blocks) {
    if (text.back() != '[') text += ',';
    text += std::visit([](const auto& value) { return block_text(value); }, b);
  }
  return text + "]}";
}

std::string render_report(std::string_view template_html, const std::string& document_json) {
  auto [page, after] = split(template_html, may_show_solids(document_json));
  page.reserve(template_html.size() + document_json.size() + document_json.size() / 64);
  const std::string_view json = document_json;
  std::size_t kept = 0;
  auto escape = [&](std::size_t from, std::size_t length, std::string_view by) {
    page += json.substr(kept, from - kept);
    page += by;
    kept = from + length;
  };
  for (std::size_t i = json.find_first_of("<\xE2"); i != std::string_view::npos;
       i = json.find_first_of("<\xE2", i + 1)) {
    if (json[i] == '<') escape(i, 1, "\\u003c");
    if (json.substr(i, 3) == "\xE2\x80\xA8") escape(i, 3, "\\u2028");
    if (json.substr(i, 3) == "\xE2\x80\xA9") escape(i, 3, "\\u2029");
  }
  page += json.substr(kept);
  page += after;
  return page;
}

}  // namespace stickslip
