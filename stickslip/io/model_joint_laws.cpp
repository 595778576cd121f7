// SPDX-License-Identifier: Apache-2.0
// [[loop]], [[motor]] and [[coupling]] of a model file.
#include <algorithm>
#include <cmath>

#include "stickslip/io/model_tree.hpp"

namespace stickslip::model_detail {

namespace {

void read_loop(TreeReading& reading, const Field& field) {
  const TableReader table(field,
                          {"name", "body_a", "point_a", "orientation_a", "body_b", "point_b", "orientation_b", "axes"});
  Loop loop;
  loop.name = fmt::format("loop{}", reading.model().loops.size() + 1);
  if (const auto name = table.find("name")) loop.name = read_law_name(*name);
  for (const Loop& other : reading.model().loops)
    if (other.name == loop.name) field.fail(fmt::format("two loops are named '{}'", loop.name));
  loop.body_a = reading.body_named(table.require("body_a", "the body at this end, or \"ground\""));
  loop.body_b = reading.body_named(table.require("body_b", "the body at this end, or \"ground\""));
  if (const auto given = table.find("point_a")) loop.point_a = read_vector3(*given);
  if (const auto given = table.find("point_b")) loop.point_b = read_vector3(*given);
  if (const auto given = table.find("orientation_a")) loop.orientation_a = read_rotation(*given);
  if (const auto given = table.find("orientation_b")) loop.orientation_b = read_rotation(*given);
  loop.axes = read_axes(table.require("axes", "what stays free across the cut, as in axes = [\"rz\"]; [] holds all"));
  reading.model().loops.push_back(std::move(loop));
}

/// A motor that holds its velocity with what it has, and gives its limit where that is not enough: dry friction on a
/// surface with that velocity, to the last digit.
FrictionElement velocity_drive(const TreeReading& reading, const TableReader& table, const std::string& coordinate,
                               const std::string& name) {
  const Field target = *table.find("velocity");
  const Field most = table.require(
      "limit", "the most that it gives; with 'damping', a force per difference from the velocity, it needs none");
  FrictionElement drive;
  drive.name = name;
  const auto& all = reading.velocities();
  drive.directions = {on(static_cast<Index>(std::find(all.begin(), all.end(), coordinate) - all.begin()))};
  drive.limit = most.number(kPositive);
  drive.surface_velocity = {reading.function(target)};
  return drive;
}

void read_motor(TreeReading& reading, const Field& field, std::size_t number) {
  const TableReader table(field,
                          {"name", "on", "force", "motion", "position", "velocity", "stiffness", "damping", "limit"});
  const Field on = table.require("on", "the hinge axis it drives, as in on = \"elbow.rz\"");
  const auto [hinge, k] = reading.axis_at(on);
  const std::string coordinate = axis_name(*hinge, k), name = reading.unique_law(table, "motor", number);
  int kinds = 0;
  for (const char* key : {"force", "motion", "position", "velocity"}) kinds += table.has(key);
  if (kinds != 1)
    field.fail("give exactly one of force (what acts), motion (prescribed), position or velocity (what is aimed at)");
  if (const auto motion = table.find("motion")) {
    for (const char* key : {"stiffness", "damping", "limit"})
      if (const auto given = table.find(key))
        given->fail(
            "a prescribed motion takes whatever force it needs; with a limit or a gain give position or velocity");
    reading.function(*motion);
    ExpressionConstraint constraint;
    constraint.element.name = name;
    constraint.position =
        motion->about([&] { return reading.parsed(fmt::format("{} - {}", coordinate, text_of(*motion))); });
    reading.model().constraints.push_back(std::move(constraint));
    return;
  }
  if (table.has("velocity") && !table.has("damping")) {
    if (const auto given = table.find("stiffness")) given->fail("it belongs to 'position'");
    reading.model().friction.push_back(velocity_drive(reading, table, coordinate, name));
    return;
  }
  double stiffness = 0, damping = 0, limit = HUGE_VAL;
  table.number("stiffness", stiffness, kNotNegative);
  table.number("damping", damping, kNotNegative);
  table.number("limit", limit, kPositive);
  std::string force;
  if (const auto given = table.find("force")) {
    reading.force(*given);
    force = text_of(*given);
  } else if (const auto place = table.find("position")) {
    reading.force(*place);
    table.require("stiffness", "the force per distance from the position aimed at, in N/m or N m/rad");
    force =
        fmt::format("({:.17g}*({} - {}) - {:.17g}*v_{})", stiffness, text_of(*place), coordinate, damping, coordinate);
  } else {
    const Field target = *table.find("velocity");
    reading.force(target);
    force = fmt::format("({:.17g}*({} - v_{}))", damping, text_of(target), coordinate);
  }
  if (std::isfinite(limit)) force = fmt::format("max({:.17g}, min({:.17g}, {}))", -limit, limit, force);
  hinge->force.resize(hinge->axes.size(), StateFunction(0.0));
  const std::string before = hinge->force[k].is_constant() && hinge->force[k]({}) == 0 ? "" : hinge->force[k].text();
  if (!before.empty()) force = fmt::format("({}) + {}", before, force);
  hinge->force[k] = field.about([&] { return reading.parsed_force(force); });
}

void read_coupling(TreeReading& reading, const Field& field, std::size_t number) {
  const TableReader table(field, {"name", "on", "ratio", "offset"});
  const Field on = table.require("on", "two hinge axes, as in on = [\"pinion.rz\", \"rack.tx\"]");
  if (on.list("a list of two hinge axes").size() != 2) on.fail("a coupling joins two hinge axes");
  const auto first = reading.axis_at(on.item(0)), second = reading.axis_at(on.item(1));
  double ratio = 1, offset = 0;
  table.require("ratio", "the first coordinate is ratio times the second, plus offset");
  table.number("ratio", ratio, kAnyNumber);
  table.number("offset", offset, kAnyNumber);
  ExpressionConstraint constraint;
  constraint.element.name = reading.unique_law(table, "coupling", number);
  constraint.position =
      reading.parsed(fmt::format("{} - ({:.17g})*{} - ({:.17g})", axis_name(*first.first, first.second), ratio,
                                 axis_name(*second.first, second.second), offset));
  reading.model().constraints.push_back(std::move(constraint));
}

}  // namespace

void read_loops(TreeReading& reading) {
  reading.for_each("loop", [&](const Field& field) { read_loop(reading, field); });
}

void read_motors(TreeReading& reading) {
  std::size_t count = 0;
  reading.for_each("motor", [&](const Field& field) { read_motor(reading, field, ++count); });
}

void read_couplings(TreeReading& reading) {
  std::size_t count = 0;
  reading.for_each("coupling", [&](const Field& field) { read_coupling(reading, field, ++count); });
}

}  // namespace stickslip::model_detail
