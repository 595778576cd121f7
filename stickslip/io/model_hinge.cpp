// SPDX-License-Identifier: Apache-2.0
// [[hinge]] of a model file, and [[spring]] on the axis of one.
#include <algorithm>
#include <cmath>

#include "stickslip/io/model_tree.hpp"

namespace stickslip::model_detail {

namespace {

/// A list, or one value where there is one axis.
template <class Read>
void per_axis(const Field& field, std::size_t count, const char* what, Read&& read) {
  if (!field.node->array()) {
    if (count != 1) field.fail(fmt::format("there are {} {}; give a list", count, what));
    read(field, std::size_t{0});
    return;
  }
  if (field.node->array()->size() != count)
    field.fail(fmt::format("the list has {} entries, but there are {} {}", field.node->array()->size(), count, what));
  for (std::size_t k = 0; k < count; ++k) read(field.item(k), k);
}

std::vector<double> numbers(const Field& field, std::size_t count, const char* what, const Range& range = kAnyNumber) {
  std::vector<double> values(count);
  per_axis(field, count, what, [&](const Field& item, std::size_t k) { values[k] = item.number(range); });
  return values;
}

TableReader hinge_table(const Field& field) {
  return TableReader(
      field, {"name", "parent", "child", "position", "orientation", "child_position", "child_orientation", "axes",
              "stiffness", "damping", "rest", "position_0", "velocity_0", "force", "lower", "upper", "restitution"});
}

/// A hinged body starts where its hinge puts it.
void require_no_start(const TreeReading& reading, const Field& child) {
  const std::string& name = child.text("the name of a body");
  const Field list = *reading.root().find("body");
  for (std::size_t k = 0; k < list.node->array()->size(); ++k) {
    const Field body = list.item(k);
    const TomlNode* given = find_key(*body.node->table(), "name");
    if (!given || *given->text() != name) continue;
    for (const char* key : {"position_0", "orientation_0", "velocity_0", "spin_0"})
      if (const TomlNode* start = find_key(*body.node->table(), key))
        Field{body.context, start, "body." + name + "." + key}.fail(
            "the body hangs on a hinge and starts where that puts it; give position_0 and velocity_0 of the [[hinge]]");
  }
}

void read_hinge(TreeReading& reading, const Field& field) {
  const TableReader table = hinge_table(field);
  Hinge hinge;
  const Field name = table.require("name", "coordinates are called <name>.<axis>");
  hinge.name = read_law_name(name);
  if (!is_identifier(hinge.name))
    name.fail(fmt::format("'{}' cannot be a hinge: a name is a letter or _, then letters, digits and _", hinge.name));
  for (const Hinge& other : reading.model().hinges)
    if (other.name == hinge.name) name.fail(fmt::format("two hinges are named '{}'", hinge.name));
  hinge.parent = reading.body_named(table.require("parent", "the body it hangs on, or \"ground\""));
  const Field child = table.require("child", "the body that hangs on it");
  hinge.child = reading.body_named(child);
  if (hinge.child == kGround) child.fail("the ground hangs on nothing; exchange parent and child");
  require_no_start(reading, child);
  if (const auto given = table.find("position")) hinge.position = read_vector3(*given);
  if (const auto given = table.find("orientation")) hinge.orientation = read_rotation(*given);
  if (const auto given = table.find("child_position")) hinge.child_position = read_vector3(*given);
  if (const auto given = table.find("child_orientation")) hinge.child_orientation = read_rotation(*given);
  hinge.axes = read_axes(table.require("axes", "as in axes = [\"rz\"]; [] is a weld"));
  const std::size_t count = hinge.axes.size();
  if (const auto given = table.find("stiffness")) hinge.stiffness = numbers(*given, count, "axes", kNotNegative);
  if (const auto given = table.find("damping")) hinge.damping = numbers(*given, count, "axes", kNotNegative);
  if (const auto given = table.find("rest")) hinge.rest = numbers(*given, count, "axes");
  if (const auto given = table.find("position_0"))
    hinge.position_0 = numbers(*given, static_cast<std::size_t>(hinge.positions()), "positions");
  if (const auto given = table.find("velocity_0"))
    hinge.velocity_0 = numbers(*given, static_cast<std::size_t>(hinge.velocities()), "velocities");
  reading.model().hinges.push_back(std::move(hinge));
}

Hinge& hinge_of(TreeReading& reading, const Field& field) {
  const std::string& name = *find_key(*field.node->table(), "name")->text();
  return *std::find_if(reading.model().hinges.begin(), reading.model().hinges.end(),
                       [&](const Hinge& it) { return it.name == name; });
}

/// force, lower and upper.
void read_functions(TreeReading& reading, const Field& field) {
  const TableReader table = hinge_table(field);
  Hinge& hinge = hinge_of(reading, field);
  const std::size_t count = hinge.axes.size();
  if (const auto force = table.find("force")) {
    hinge.force.assign(count, StateFunction(0.0));
    per_axis(*force, count, "axes", [&](const Field& item, std::size_t k) { hinge.force[k] = reading.force(item); });
  }
  double restitution = 0;
  table.number("restitution", restitution, {.low = 0, .high = 1});
  std::vector<double> low(count, -HUGE_VAL), high(count, HUGE_VAL);
  for (const bool upper : {false, true}) {
    const auto given = table.find(upper ? "upper" : "lower");
    if (!given) continue;
    const std::vector<std::string> names = position_names(hinge.axes);
    per_axis(*given, count, "axes", [&](const Field& item, std::size_t k) {
      if (item.node->text() && *item.node->text() == "none") return;
      if (!is_translation(hinge.axes[k]) && !is_rotation(hinge.axes[k]))
        item.fail(fmt::format("'{}' has no stops; give single axes, or \"none\"", to_string(hinge.axes[k])));
      const double limit = (upper ? high : low)[k] = item.number();
      if (!(low[k] < high[k])) item.fail(fmt::format("lower = {} must be below upper = {}", low[k], high[k]));
      const std::string coordinate = axis_name(hinge, k);
      ExpressionContact stop;
      stop.law.name = fmt::format("{}.{}", coordinate, upper ? "upper" : "lower");
      stop.law.tangents = 0;
      stop.law.restitution = restitution;
      stop.gap = reading.parsed(upper ? fmt::format("{:.17g} - {}", limit, coordinate)
                                      : fmt::format("{} - ({:.17g})", coordinate, limit));
      reading.model().stops.push_back(std::move(stop));
    });
  }
}

void set(std::vector<double>& list, std::size_t count, std::size_t k, double value) {
  list.resize(count, 0.0);
  list[k] = value;
}

void read_axis_spring(TreeReading& reading, const Field& field) {
  if (!find_key(*field.node->table(), "on")) return;
  const TableReader table(field, {"name", "on", "stiffness", "damping", "rest"},
                          {{"body_a", "it acts on an axis, by 'on'; remove one of them"}});
  const Field on = *table.find("on");
  const auto [hinge, k] = reading.axis_at(on);
  if (!hinge->stiffness.empty() && hinge->stiffness[k] != 0)
    on.fail("this axis has a spring already; give one stiffness");
  double stiffness = 0, damping = 0, rest = 0;
  table.number("stiffness", stiffness, kNotNegative);
  table.number("damping", damping, kNotNegative);
  table.number("rest", rest, kAnyNumber);
  set(hinge->stiffness, hinge->axes.size(), k, stiffness);
  set(hinge->rest, hinge->axes.size(), k, rest);
  hinge->damping.resize(hinge->axes.size(), 0.0);
  hinge->damping[k] += damping;
}

}  // namespace

void read_hinges(TreeReading& reading) {
  reading.for_each("hinge", [&](const Field& field) { read_hinge(reading, field); });
}

void read_hinge_functions(TreeReading& reading) {
  reading.for_each("hinge", [&](const Field& field) { read_functions(reading, field); });
}

void read_axis_springs(TreeReading& reading) {
  reading.for_each("spring", [&](const Field& field) { read_axis_spring(reading, field); });
}

}  // namespace stickslip::model_detail
