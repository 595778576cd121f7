// SPDX-License-Identifier: Apache-2.0
// [shoot] of a model file, and the unknowns that it shares with [fit].
#include <fmt/format.h>

#include "stickslip/boundary/column_layout.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/model_reader.hpp"

namespace stickslip::model_detail {

namespace {

/// The number that the model has under a key, in place of a start.
double number_in_model(const Field& key, const std::string& path, const TableReader& root, const ModelFile& model) {
  const TomlNode* shoot = find_key(*root.field().node->table(), "shoot");
  if (path == kEndTimeKey && shoot && !find_key(*shoot->table(), "end_time")) return model.run.end_time;
  const std::string full = Parameters(model.parameters).find(path) ? "parameters." + path : path;
  try {
    return Field{key.context, &find_value(*root.field().node->table(), full), full}.number();
  } catch (const InputError& error) {
    key.fail(fmt::format("{}; a number that the model does not hold needs a start", error.what()));
  }
}

Unknown read_unknown(const Field& field, const TableReader& root, const ModelFile& model, std::string& place) {
  const TableReader table(field, {"name", "key", "start", "min", "max", "scale"});
  const Field key = table.require("key", "give the number that is looked for as --set names it, as initial.velocity.0");
  Unknown unknown;
  unknown.key = key.text("a key in quotes, as \"initial.velocity.0\"");
  unknown.name = unknown.key;
  if (const auto name = table.find("name")) {
    unknown.name = name->text("a name in quotes");
    if (!is_identifier(unknown.name))
      name->fail(fmt::format("'{}' must be a letter or _, then letters, digits and _", unknown.name));
  }
  const auto start = table.find("start");
  unknown.start = start ? start->number() : number_in_model(key, unknown.key, root, model);
  table.number("min", unknown.min, kAnyNumber);
  table.number("max", unknown.max, kAnyNumber);
  table.number("scale", unknown.scale, kPositive);
  if (!(unknown.min < unknown.max))
    field.fail(fmt::format("min = {} must be below max = {}", unknown.min, unknown.max));
  if (start && (unknown.start < unknown.min || unknown.start > unknown.max))
    start->fail(fmt::format("the start {} must lie in the bounds [{}, {}]", unknown.start, unknown.min, unknown.max));
  place = key.context->where(key.node->place, key.key);
  return unknown;
}

Condition read_condition(const Field& field, const SymbolTable& symbols) {
  if (field.node->text()) return {read_expression(field, symbols)};
  if (!field.node->table()) field.fail_type("an expression in quotes, or a table { at = .., value = \"..\" }");
  const TableReader table(field, {"at", "value", "scale"});
  Condition condition{read_expression(table.require("value", "give what must be 0, as \"x - 0.6\""), symbols)};
  table.number("scale", condition.scale, kPositive);
  const auto at = table.find("at");
  if (!at) return condition;
  const std::string* word = at->node->text();
  if (word && *word == "end") return condition;
  condition.at = word && *word == "start" ? ConditionTime::start : ConditionTime::time;
  if (condition.at == ConditionTime::time) condition.time = at->number();
  return condition;
}

void read_segments(const Field& field, double start, ShootSection& section) {
  if (!field.node->array()) {
    section.segments = static_cast<int>(field.integer(1, 10000));
    return;
  }
  double before = start;
  for (std::size_t k = 0; k < field.node->array()->size(); ++k) {
    const Field item = field.item(k);
    const double t = item.number();
    if (!(t > before) || !(t < section.end_time))
      item.fail(fmt::format("the time {} must ascend between {} and {} s", t, start, section.end_time));
    before = t;
    section.nodes.push_back(t);
  }
}

}  // namespace

std::vector<Unknown> read_unknowns(const Field& field, const TableReader& root, const ModelFile& model,
                                   std::vector<std::string>& places) {
  std::vector<Unknown> unknowns;
  const TomlArray& items = field.list("a list of unknowns { name = .., key = .., start = .. }");
  if (items.empty()) field.fail("the list is empty; name what is looked for");
  for (std::size_t k = 0; k < items.size(); ++k) {
    const Field item = field.item(k);
    places.emplace_back();
    unknowns.push_back(read_unknown(item, root, model, places.back()));
    for (std::size_t other = 0; other < k; ++other)
      if (unknowns[other].name == unknowns[k].name || unknowns[other].key == unknowns[k].key)
        item.fail(fmt::format("'{}' has the name or the key of unknown {}", unknowns[k].name, other + 1));
  }
  return unknowns;
}

ShootSection read_shoot(const Field& field, const TableReader& root, const ModelFile& model) {
  const TableReader table(field, {"end_time", "unknowns", "conditions", "segments", "tolerance", "max_iterations",
                                  "closest", "derivatives"});
  if (!model.has_run)
    field.fail("shooting runs the model; add a table [run] with the scheme and its step or tolerance");
  ShootSection section;
  section.end_time = model.run.end_time;
  if (const auto end = table.find("end_time")) {
    section.end_time = end->number();
    if (!(section.end_time > model.run.start_time))
      end->fail(fmt::format("the value {} must be after run.start_time = {}", section.end_time, model.run.start_time));
  }
  const Field unknowns = table.require("unknowns", "give a list of { name = .., key = .., start = .. }");
  section.unknowns = read_unknowns(unknowns, root, model, section.unknown_places);
  for (Unknown& unknown : section.unknowns)
    if (unknown.key == "run.end_time") unknown.key = kEndTimeKey;
  const ColumnLayout layout =
      unknowns.about([&] { return ColumnLayout(*model.system, Parameters(model.parameters), section.unknowns); });
  SymbolTable symbols = layout.symbols();
  add_tables(*field.context, symbols);
  const Field conditions = table.require("conditions", "give a list of expressions that must be 0, as \"x - 0.6\"");
  const TomlArray& items = conditions.list("a list of expressions in quotes");
  for (std::size_t k = 0; k < items.size(); ++k) {
    const Field item = conditions.item(k);
    section.conditions.push_back(read_condition(item, symbols));
    const Condition& condition = section.conditions.back();
    if (condition.at == ConditionTime::time &&
        (condition.time < model.run.start_time || condition.time > section.end_time))
      item.fail(fmt::format("the time {} must lie in the motion, [{}, {}] s", condition.time, model.run.start_time,
                            section.end_time));
  }
  const std::size_t n = section.unknowns.size(), m = section.conditions.size();
  table.boolean("closest", section.options.closest);
  if (const auto method = table.find("derivatives"))
    section.options.derivatives = method->about(
        [&] { return derivative_method_from(method->text("\"automatic\", \"forward\" or \"adjoint\"")); });
  if (m < n && !section.options.closest)
    conditions.fail(
        fmt::format("{} condition{} for {} unknowns are too few; add {}, give {} of the unknowns as "
                    "numbers, or take the solution nearest to the start with closest = true",
                    m, m == 1 ? "" : "s", n, n - m == 1 ? "one" : fmt::format("{}", n - m), n - m));
  if (const auto segments = table.find("segments")) read_segments(*segments, model.run.start_time, section);
  table.number("tolerance", section.options.tolerance, {.low = 1e-15, .high = 0.1});
  table.integer("max_iterations", section.options.max_iterations, 1);
  return section;
}

}  // namespace stickslip::model_detail
