// SPDX-License-Identifier: Apache-2.0
// [[drawing]] of a model file.
#include <fmt/format.h>

#include <algorithm>

#include "stickslip/io/drawing.hpp"
#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip {

namespace {
constexpr std::array<std::pair<DrawingKind, std::string_view>, 6> kKinds{{{DrawingKind::box, "box"},
                                                                          {DrawingKind::sphere, "sphere"},
                                                                          {DrawingKind::cylinder, "cylinder"},
                                                                          {DrawingKind::capsule, "capsule"},
                                                                          {DrawingKind::line, "line"},
                                                                          {DrawingKind::plane, "plane"}}};
}  // namespace

std::string_view to_string(DrawingKind kind) { return kKinds[static_cast<std::size_t>(kind)].second; }

bool Drawing::moves() const {
  const auto varies = [](const StateFunction& f) { return !f.is_constant(); };
  return varies(angle) || std::any_of(position.begin(), position.end(), varies) ||
         std::any_of(points.begin(), points.end(),
                     [&](const auto& point) { return std::any_of(point.begin(), point.end(), varies); });
}

namespace model_detail {

namespace {

class DrawingReader {
 public:
  DrawingReader(const Field& field, const StateSymbols& symbols)
      : table_(field, {"name", "kind", "size", "radius", "length", "points", "position", "angle"}), symbols_(symbols) {}

  Drawing read(std::string name) const {
    Drawing drawing;
    drawing.name = std::move(name);
    drawing.kind = kind();
    const bool line = drawing.kind == DrawingKind::line;
    const bool round = drawing.kind == DrawingKind::sphere || drawing.kind == DrawingKind::cylinder ||
                       drawing.kind == DrawingKind::capsule;
    const bool long_one = drawing.kind == DrawingKind::cylinder || drawing.kind == DrawingKind::capsule;
    if (const auto size = wanted("size", drawing.kind == DrawingKind::box, "the edge lengths [w, h]")) {
      const std::size_t count = size->list("a list of two or three edge lengths").size();
      if (count != 2 && count != 3)
        size->fail(fmt::format("the list has {} edge lengths; give [w, h] or [w, h, d]", count));
      for (std::size_t k = 0; k < count; ++k) drawing.size[k] = size->item(k).number(kPositive);
    }
    if (const auto radius = wanted("radius", round, "a number > 0")) drawing.radius = radius->number(kPositive);
    if (const auto length = wanted("length", long_one, "a number > 0")) drawing.length = length->number(kPositive);
    if (const auto points = wanted("points", line, "two or more points [[x, y], ...]")) read_points(*points, drawing);
    if (const auto position = table_.find("position")) {
      if (line) position->fail("a line has its place from 'points'; remove it");
      drawing.position = place(*position);
    }
    if (const auto angle = table_.find("angle")) {
      if (line) angle->fail("a line has its place from 'points'; remove it");
      drawing.angle = read_function_of(*angle, symbols_, Arguments::time_position, "the angle");
    }
    return drawing;
  }

 private:
  DrawingKind kind() const {
    const Field field = table_.require("kind", "name one, as in kind = \"box\"");
    const std::string& word = field.text("the kind of the drawing");
    std::vector<std::string> known;
    for (const auto& [kind, name] : kKinds) {
      if (name == word) return kind;
      known.emplace_back(name);
    }
    field.fail(fmt::format("unknown kind {}{}", in_quotes(word), hint(word, known)));
  }

  /// A size that this kind has, or must not have.
  std::optional<Field> wanted(const char* key, bool belongs, const char* remedy) const {
    const auto field = table_.find(key);
    if (belongs && !field) table_.field().fail(fmt::format("'{}' is missing; give {}", key, remedy));
    if (!belongs && field) field->fail("a drawing of this kind has none; remove it");
    return field;
  }

  std::array<StateFunction, 3> place(const Field& field) const {
    const std::size_t count = field.list("a list of two or three coordinates").size();
    if (count != 2 && count != 3) field.fail(fmt::format("the list has {} entries; give [x, y] or [x, y, z]", count));
    std::array<StateFunction, 3> result;
    for (std::size_t k = 0; k < count; ++k)
      result[k] = read_function_of(field.item(k), symbols_, Arguments::time_position, "the place");
    return result;
  }

  void read_points(const Field& field, Drawing& drawing) const {
    const std::size_t count = field.list("a list of points").size();
    if (count < 2) field.fail(fmt::format("the list has {} points; a line needs two", count));
    for (std::size_t k = 0; k < count; ++k) drawing.points.push_back(place(field.item(k)));
  }

  TableReader table_;
  const StateSymbols& symbols_;
};

}  // namespace

std::vector<Drawing> read_drawings(const Field& field, const StateSymbols& symbols) {
  if (field.node->table()) field.fail("write [[drawing]] with two brackets: there can be several");
  const std::size_t count = field.list("[[drawing]] tables").size();
  std::vector<Drawing> drawings;
  std::set<std::string> names;
  for (std::size_t k = 0; k < count; ++k) {
    const NamedField law = name_element(field, k, "drawing", k + 1, names);
    drawings.push_back(DrawingReader(law.field, symbols).read(law.name));
  }
  return drawings;
}

}  // namespace model_detail
}  // namespace stickslip
