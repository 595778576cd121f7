// SPDX-License-Identifier: Apache-2.0
// What can be said of a model as a whole: which coordinates are angles, and whether bodies are inside one another at
// the start.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/motion/event/event_options.hpp"
#include "stickslip/motion/moreau/moreau_options.hpp"

namespace stickslip::model_detail {

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// Adds names that are terms of the argument that begins at text[at], as a and b in sin(a - b + 2*c).
void add_angle_terms(std::string_view text, std::size_t at, std::set<std::string>& names) {
  std::string term;
  int depth = 1;
  for (; at < text.size() && depth > 0; ++at) {
    const char c = text[at];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth == 1 && is_word(c)) {
      term += c;
    } else if (depth == 0 || (depth == 1 && (c == '+' || c == '-'))) {
      if (!term.empty()) names.insert(term);
      term.clear();
    } else if (c != ' ') {
      term += ' ';  // a product, a power or a call: no name can hold a blank
    }
  }
}

void find_angle_terms(const TomlNode& node, std::set<std::string>& names) {
  if (const TomlTable* table = node.table())
    for (const TomlEntry& entry : *table) find_angle_terms(entry.node, names);
  if (const TomlArray* array = node.array())
    for (const TomlNode& item : *array) find_angle_terms(item, names);
  const std::string* text = node.text();
  if (!text) return;
  for (const std::string_view function : {"sin(", "cos(", "tan("})
    for (std::size_t at = text->find(function); at != std::string::npos; at = text->find(function, at + 1))
      if (at == 0 || !is_word((*text)[at - 1])) add_angle_terms(*text, at + function.size(), names);
}

/// Largest penetration [m] that the scheme takes at the start. `size`: the smallest shape of bodies, or the terms of a
/// gap that is an expression.
double start_limit(const ModelFile& model, double size) {
  if (model.run.scheme == SchemeKind::event) return kEventStartPenetration * size;
  const double given = model.run.moreau.start_penetration;
  if (given > 0) return given;
  return size * (model.bodies ? kBodyStartPenetration : kGapStartPenetration);
}

std::string remedy(const ModelFile& model, double depth) {
  if (model.run.scheme == SchemeKind::event) return "move the start position until its gap is >= 0";
  return fmt::format(
      "move them apart, or set run.moreau.start_penetration above {:.3g} to have it corrected in the first step",
      depth);
}

void require_open_bodies(const TableReader& root, const ModelFile& model) {
  const std::vector<StartOverlap> overlaps = root.find("body")->about([&] {
    return start_overlaps(*model.bodies, start_limit(model, model.system->laws().contact_source().length()));
  });
  if (overlaps.empty()) return;
  const StartOverlap& deepest = *std::max_element(overlaps.begin(), overlaps.end(),
                                                  [](const auto& a, const auto& b) { return a.depth < b.depth; });
  const auto name = [&](int body) {
    return body == kGround ? std::string("ground") : model.bodies->bodies[static_cast<std::size_t>(body)].name;
  };
  const Field list = *root.find("body");
  const std::string& group =
      model.bodies->bodies[static_cast<std::size_t>(std::max(deepest.body_a, deepest.body_b))].group;
  Field blamed = list;
  for (std::size_t k = 0; k < list.node->array()->size(); ++k) {
    const TomlNode* given = find_key(*list.item(k).node->table(), "name");
    if (*given->text() == group) blamed = Field{list.context, list.item(k).node, "body." + group};
  }
  blamed.fail(fmt::format("bodies '{}' and '{}' are {:.3g} m inside one another at the start (contact '{}'{}); {}",
                          name(deepest.body_a), name(deepest.body_b), deepest.depth,
                          model.bodies->contacts[static_cast<std::size_t>(deepest.law)].law.name,
                          overlaps.size() > 1 ? fmt::format(", and {} more pairs", overlaps.size() - 1) : "",
                          remedy(model, deepest.depth)));
}

}  // namespace

std::vector<std::string> read_angles(const Field& root, const Field& section,
                                     const std::vector<std::string>& coordinates) {
  std::vector<std::string> angles;
  if (const TomlNode* node = find_key(*section.node->table(), "angles")) {
    const Field given{section.context, node, section.key + ".angles"};
    for (std::size_t k = 0; k < given.list("a list of coordinates").size(); ++k) {
      const std::string& name = given.item(k).text("the name of a coordinate");
      if (std::find(coordinates.begin(), coordinates.end(), name) == coordinates.end())
        given.item(k).fail(fmt::format("there is no coordinate {}{}", in_quotes(name), hint(name, coordinates)));
      angles.push_back(name);
    }
    return angles;
  }
  std::set<std::string> names;
  find_angle_terms(*root.node, names);
  std::copy_if(coordinates.begin(), coordinates.end(), std::back_inserter(angles),
               [&](const std::string& name) { return names.contains(name); });
  return angles;
}

void require_open_start(const TableReader& root, const ModelFile& model) {
  if (!describe(model.run.scheme).refuses_penetration || model.system->laws().contacts().empty()) return;
  if (model.bodies && (!model.tree || !model.bodies->contacts.empty())) return require_open_bodies(root, model);
  SystemWorkspace workspace(*model.system);
  ContactPoints found;
  model.system->laws().contact_source().find(model.run.start_time, model.initial.q, 0.0, workspace, found);
  Index row = 0;
  for (const ContactSite& point : found.points) {
    const double limit = start_limit(model, gap_terms(found, row, model.initial.q));
    row += model.system->laws().contacts()[static_cast<std::size_t>(point.law)].size();
    if (!(point.gap < -limit)) continue;
    const std::string& name = model.system->laws().contacts()[static_cast<std::size_t>(point.law)].name;
    const auto list = root.find(model.tree ? "hinge" : "contact");
    if (model.tree)
      list->fail(fmt::format("stop '{}' is passed by {:.3g} at the start; move position_0 inside", name, -point.gap));
    const Field blamed{list->context, list->item(static_cast<std::size_t>(point.law)).node, "contact." + name};
    blamed.fail(fmt::format("contact '{}' is closed by {:.3g} m at the start; {}", name, -point.gap,
                            remedy(model, -point.gap)));
  }
}

}  // namespace stickslip::model_detail

namespace stickslip {

bool acts_on_angles(const ModelFile& model, const FrictionElement& law) {
  const auto is_angle = [&](const auto& entry) {
    const std::string& name = model.system->info().velocities[static_cast<std::size_t>(entry.first)];
    return std::find(model.angles.begin(), model.angles.end(), name) != model.angles.end();
  };
  return std::all_of(law.directions.begin(), law.directions.end(), [&](const Direction& direction) {
    return std::all_of(direction.begin(), direction.end(), is_angle);
  });
}

}  // namespace stickslip
