// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/model_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "stickslip/common/words.hpp"
#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/sweep_outputs.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/sweep/random_numbers.hpp"

namespace stickslip {

namespace {

using namespace model_detail;

constexpr Words<SweepAnalysis, 4> kAnalyses{"analysis", {"run", "periodic", "shoot", "fit"}};
const std::vector<std::string> kAxisKeys{"from",   "to",     "count",     "step", "spacing",
                                         "random", "normal", "lognormal", "min",  "max"};
constexpr long long kMostValues = 100'000'000;  // of an axis: as many as a sweep has runs

bool draws(SweepKind kind) { return kind == SweepKind::random || kind == SweepKind::latin; }

/// Not a table of other keys, as run.step = [..] without quotes is: those hold lists or tables.
bool is_axis(const TomlNode& node) {
  const TomlTable* table = node.table();
  if (!table || find_key(*table, "normal") || find_key(*table, "lognormal")) return true;
  return std::none_of(table->begin(), table->end(),
                      [](const TomlEntry& entry) { return entry.node.array() || entry.node.table(); });
}

std::pair<double, double> two_numbers(const Field& field, const char* what) {
  if (field.list(what).size() != 2) field.fail(fmt::format("give {}", what));
  return {field.item(0).number(), field.item(1).number()};
}

bool logarithmic(const TableReader& table) {
  bool log = false;
  table.word("spacing", [&](std::string_view word) {
    if (word != "linear" && word != "log")
      throw InputError(fmt::format("unknown spacing '{}'; it is \"linear\" or \"log\"", word));
    log = word == "log";
  });
  return log;
}

/// What draws are made of; none: whole numbers.
std::optional<Distribution> read_distribution(const TableReader& table) {
  const auto from = table.find("from"), normal = table.find("normal"), lognormal = table.find("lognormal");
  if (int(bool(from)) + int(bool(normal)) + int(bool(lognormal)) > 1)
    table.field().fail("give one of from and to, normal, lognormal");
  if (!from && !normal && !lognormal) return std::nullopt;
  Distribution d;
  if (from) {
    d.kind = logarithmic(table) ? DistributionKind::loguniform : DistributionKind::uniform;
    d.a = from->number();
    d.b = table.require("to", "give the other end").number();
  } else {
    d.kind = normal ? DistributionKind::normal : DistributionKind::lognormal;
    std::tie(d.a, d.b) = normal ? two_numbers(*normal, "[mean, standard deviation]")
                                : two_numbers(*lognormal, "[median, standard deviation of the logarithm]");
  }
  table.number("min", d.min, kAnyNumber);
  table.number("max", d.max, kAnyNumber);
  table.field().about([&] { d.validate(); });
  return d;
}

/// from, to and count or step.
std::vector<double> read_range(const TableReader& table) {
  const double from = table.require("from", "give from, to and count; or a list of values").number();
  const double to = table.require("to", "give the other end").number();
  const bool log = logarithmic(table);
  if (log && !(from > 0 && to > 0))
    table.field().fail(fmt::format("spacing = \"log\" needs ends > 0, not {} and {}", from, to));
  const auto count = table.find("count"), step = table.find("step");
  if (bool(count) == bool(step)) table.field().fail("give count = the number of values, or step = their distance");
  long long parts = 0;
  if (count) {
    parts = count->integer(1, kMostValues) - 1;
    if (parts == 0 && from != to) count->fail("one value has no two ends; give count >= 2, or a list of one value");
  } else {
    const double width = step->number(kPositive);
    if (log) step->fail("spacing = \"log\" has no step; give count");
    constexpr double kRound = 1e-9;  // of a part: 0.1 does not go into 1 ten times exactly
    const double whole = std::floor(std::abs(to - from) / width + kRound);
    if (whole >= static_cast<double>(kMostValues)) step->fail(fmt::format("these are {:g} values", whole));
    parts = static_cast<long long>(whole);
    std::vector<double> values;
    for (long long k = 0; k <= parts; ++k)
      values.push_back(from + (to < from ? -width : width) * static_cast<double>(k));
    return values;
  }
  std::vector<double> values;
  for (long long k = 0; k <= parts; ++k) {
    const double part = parts == 0 ? 0 : static_cast<double>(k) / static_cast<double>(parts);
    values.push_back(k == parts ? to : log ? from * std::pow(to / from, part) : from + part * (to - from));
  }
  return values;
}

SweepAxis read_axis(const Field& field, const std::string& key, const SweepPlanOptions& plan) {
  SweepAxis axis{key, {}, {}};
  if (const TomlArray* list = field.node->array()) {
    for (std::size_t k = 0; k < list->size(); ++k) axis.values.push_back(field.item(k).number());
    if (list->empty()) field.fail("the list is empty; give at least one value");
    return axis;
  }
  if (!field.node->table()) {
    axis.values = {field.number()};
    return axis;
  }
  const TableReader table(field, kAxisKeys);
  const auto random = table.find("random");
  if (!random && !draws(plan.kind)) {
    for (const char* other : {"normal", "lognormal", "min", "max"})
      if (const auto given = table.find(other))
        given->fail(
            "this is drawn: give random = the number of draws here, or kind = \"random\" or \"latin\" and count");
    axis.values = read_range(table);
    return axis;
  }
  for (const char* other : {"count", "step"})
    if (const auto given = table.find(other))
      given->fail(random ? "random is the number of draws; leave this out"
                         : "kind = \"random\" and \"latin\" have one count for all, in [sweep]; leave this out");
  const std::optional<Distribution> distribution = read_distribution(table);
  if (draws(plan.kind)) {
    if (random) random->fail("kind = \"random\" and \"latin\" have one count for all, in [sweep]; leave this out");
    if (!distribution) field.fail("give what is drawn: from and to, normal = [..] or lognormal = [..]");
    axis.distribution = distribution;
    return axis;
  }
  const long long count = random->integer(1, kMostValues);
  const std::uint64_t stream = stream_of(key);
  for (long long k = 0; k < count; ++k) {
    const auto index = static_cast<std::uint64_t>(k);
    axis.values.push_back(distribution ? distribution->quantile(random_uniform(plan.seed, stream, index))
                                       : static_cast<double>(random_bits(plan.seed, stream, index) >> 33));
  }
  return axis;
}

/// A parameter by its name or by its path is the same.
std::string_view without_front(std::string_view key) {
  constexpr std::string_view front = "parameters.";
  return key.starts_with(front) ? key.substr(front.size()) : key;
}

/// Later ones of the same key replace earlier ones: --set sweep.over.k=[..] after "parameters.k" in the file.
void add_axes(const Field& field, const std::string& prefix, SweepSection& section) {
  if (!field.node->table()) field.fail_type("a table { key = values }");
  for (const TomlEntry& entry : *field.node->table()) {
    const std::string key = prefix.empty() ? entry.key : prefix + "." + entry.key;
    const Field axis{field.context, &entry.node, fmt::format("sweep.over.{}", key)};
    if (!is_axis(entry.node)) {
      add_axes(axis, key, section);
      continue;
    }
    SweepAxis read = read_axis(axis, key, section.plan);
    const std::string place = field.context->where(entry.node.place, axis.key);
    const auto found = std::find_if(section.axes.begin(), section.axes.end(), [&](const SweepAxis& other) {
      return without_front(other.key) == without_front(key);
    });
    if (found == section.axes.end()) {
      section.axes.push_back(std::move(read));
      section.places.push_back(place);
    } else {
      section.places[static_cast<std::size_t>(found - section.axes.begin())] = place;
      *found = std::move(read);
    }
  }
}

void read_keep(const Field& field, SweepSection& section) {
  section.keep.clear();
  const TomlArray& items = field.list("names of results, as [\"final.position\", \"events\"]");
  for (std::size_t k = 0; k < items.size(); ++k) {
    const Field item = field.item(k);
    const std::string& name = item.text("the name of a result in quotes");
    item.about([&] { require_output(section.analysis, name); });
    section.keep.push_back(name);
  }
  if (section.keep.empty()) field.fail("the list is empty; leave the key out for the usual ones");
}

}  // namespace

std::string_view to_string(SweepAnalysis analysis) { return kAnalyses.of(analysis); }

void model_detail::read_seed(const Field& field, ModelContext& context) {
  constexpr long long kLargest = 1LL << 53;  // whole numbers up to here are exact
  const auto seed = static_cast<double>(field.integer(0, kLargest));
  field.about([&] {
    context.parameters.add_constant("seed", seed);
    context.indexed.add_constant("seed", seed);
  });
}

SweepSection model_detail::read_sweep_table(const Field& field) {
  const TableReader table(field, {"over", "kind", "count", "seed", "analysis", "keep", "everything"});
  SweepSection section;
  table.word("kind", [&](std::string_view word) { section.plan.kind = sweep_kind_from(word); });
  table.word("analysis", [&](std::string_view word) { section.analysis = kAnalyses.from(word); });
  if (const auto count = table.find("count")) {
    if (!draws(section.plan.kind))
      count->fail("only kind = \"random\" and \"latin\" have it; a grid or zip has the counts of its ranges");
    section.plan.count = static_cast<long>(count->integer(1, kMostValues));
  }
  if (const auto seed = table.find("seed"))
    section.plan.seed = static_cast<std::uint64_t>(seed->integer(0, std::numeric_limits<long long>::max()));
  table.boolean("everything", section.everything);
  section.keep = usual_outputs(section.analysis);
  if (const auto keep = table.find("keep")) read_keep(*keep, section);
  const Field over = table.require("over", "name what is swept, as over = { \"parameters.k\" = [1, 2, 3] }");
  add_axes(over, "", section);
  over.about([&] { SweepPlan(section.axes, section.plan); });
  return section;
}

SweepSection read_sweep(const ModelFile& model) {
  ModelContext context;
  context.path = model.path;
  context.stored = model.files;
  context.settings = model.settings;
  TomlNode root = *model.document;
  take_in_robots(*root.table(), context);
  apply_settings(*root.table(), context);
  context.indexed.add_variable("i");
  if (const TomlNode* given = find_key(*root.table(), "parameters"))
    read_parameters(Field{&context, given, "parameters"}, context);
  if (const TomlNode* given = find_key(*root.table(), "seed")) read_seed(Field{&context, given, "seed"}, context);
  const TomlNode* sweep = find_key(*root.table(), "sweep");
  if (!sweep)
    throw InputError(fmt::format(
        "{}: there is no [sweep] table; add one with over = {{ key = [values] }}, or give --over KEY=FROM:TO:COUNT",
        model.path));
  return read_sweep_table(Field{&context, sweep, "sweep"});
}

ModelFile without_sweep(const ModelFile& model) {
  ModelFile bare = model;
  TomlNode root = *model.document;
  std::erase_if(*root.table(), [](const TomlEntry& entry) { return entry.key == "sweep"; });
  bare.document = std::make_shared<const TomlNode>(std::move(root));
  std::erase_if(bare.settings, [](const std::string& setting) { return setting.starts_with("sweep."); });
  return bare;
}

std::string sweep_setting(const ModelFile& model, const std::string& key, double value) {
  std::vector<std::string> names;
  for (const auto& parameter : model.parameters) {
    if (parameter.first == key) return fmt::format("parameters.{}={}", key, value);
    names.push_back(parameter.first);
  }
  // A seed is a whole number, and is written as one.
  if (key == "seed" && value == std::floor(value) && std::abs(value) < 0x1p53)
    return fmt::format("seed={}", static_cast<long long>(value));
  if (key.find('.') == std::string::npos)
    throw InputError(fmt::format("there is no parameter '{}'{}; other numbers have a path, as friction.0.limit", key,
                                 hint(key, names)));
  return fmt::format("{}={}", key, value);
}

}  // namespace stickslip
