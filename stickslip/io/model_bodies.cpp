// SPDX-License-Identifier: Apache-2.0
// [gravity], [[body]], [[shape]], [[spring]] and [[contact]] between bodies of a model file.
//
// `count = n` makes n bodies <name>1 .. <name>n of one entry; numbers of the entry may then be expressions with the
// index i (from 0). Shapes, springs and contacts that name <name> mean all of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/model_surface.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/model/multibody/flexible_body.hpp"

namespace stickslip::model_detail {

namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

/// A number or an expression of [parameters] and the index.
double indexed_number(const Field& field, Index index) {
  const std::string* text = field.node->text();
  if (!text) return field.number();
  const Expression expression = field.about([&] { return Expression::parse(*text, field.context->indexed); });
  const double i = static_cast<double>(index);
  const double value = expression(std::span<const double>(&i, 1));
  if (!std::isfinite(value)) field.fail(fmt::format("the value {} must be a finite number", value));
  return value;
}

template <int n>
Eigen::Matrix<double, n, 1> indexed_vector(const Field& field, Index index, const char* what) {
  const TomlArray& items = field.list(what);
  if (items.size() != n) field.fail(fmt::format("the list has {} entries; {} has {}", items.size(), what, n));
  Eigen::Matrix<double, n, 1> values;
  for (int k = 0; k < n; ++k) values[k] = indexed_number(field.item(static_cast<std::size_t>(k)), index);
  return values;
}

Vector3d vector3(const Field& field, Index index = 0) {
  return indexed_vector<3>(field, index, "a list of three numbers");
}

Quaterniond rotation(const Field& field, Index index = 0) {
  auto q = indexed_vector<4>(field, index, "a quaternion [w, x, y, z]");
  if (q.isZero(0.0)) field.fail("the quaternion is zero; [1, 0, 0, 0] is no rotation");
  q /= q.cwiseAbs().maxCoeff();  // squares of huge and tiny numbers are none
  return Quaterniond(q[0], q[1], q[2], q[3]).normalized();
}

/// Three numbers, or three rows of three.
Matrix3d inertia(const Field& field, Index index) {
  const TomlArray& items = field.list("three moments of inertia, or a 3x3 matrix");
  if (items.size() != 3)
    field.fail(fmt::format("the list has {} entries; give [Ixx, Iyy, Izz] or a 3x3 matrix", items.size()));
  Matrix3d J = Matrix3d::Zero();
  for (int k = 0; k < 3; ++k) {
    const Field item = field.item(static_cast<std::size_t>(k));
    if (item.node->array()) {
      J.row(k) = vector3(item, index);
    } else {
      J(k, k) = indexed_number(item, index);
    }
  }
  return J;
}

std::vector<StateFunction> functions_of_time(const Field& field, const SymbolTable& time) {
  const TomlArray& items = field.list("a list of three functions of t");
  if (items.size() != 3) field.fail(fmt::format("the list has {} entries; three are needed", items.size()));
  std::vector<StateFunction> functions;
  for (std::size_t k = 0; k < 3; ++k) functions.push_back(read_function(field.item(k), time, std::nullopt));
  return functions;
}

class BodiesReader {
 public:
  explicit BodiesReader(const TableReader& root) : root_(root), tree_(has_tree(root)) {
    time_.add_variable("t");
    const SymbolTable& parameters = root.field().context->parameters;
    for (const std::string& name : parameters.names()) time_.add_constant(name, parameters.find(name)->value);
    add_tables(*root.field().context, time_);
  }

  BodyModel read() {
    if (const auto gravity = root_.find("gravity"))
      model_.gravity = vector3(TableReader(*gravity, {"vector"}).require("vector", "as in vector = [0, 0, -9.81]"));
    if (const auto run = root_.find("run"); run && run->node->table())
      if (const TomlNode* threads = find_key(*run->node->table(), "threads"))
        model_.threads = static_cast<int>(Field{run->context, threads, "run.threads"}.integer(0, 4096));
    for_each("body", [&](const Field& field) { read_body(field); });
    for_each("shape", [&](const Field& field) { read_shape(field); });
    for (const Shape& shape : model_.shapes)
      if (shape.touches) shaped_.insert(shape.body);
    for (const auto& [field, body] : centered_)
      field.about([&] { model_.bodies[static_cast<std::size_t>(body)].center = center_of_shapes(model_, body); });
    for_each("spring", [&](const Field& field) { read_spring(field); });
    for_each("contact", [&](const Field& field) { read_contact(field); });
    if (tree_) read_tree(root_, model_);
    return std::move(model_);
  }

 private:
  template <class Use>
  void for_each(const std::string& key, Use&& use) {
    const auto list = root_.find(key);
    if (!list) return;
    const TomlArray& items = list->list("a list of tables, written [[..]],");
    for (std::size_t k = 0; k < items.size(); ++k) {
      const TomlTable* raw = items[k].table();
      const TomlNode* name = raw ? find_key(*raw, "name") : nullptr;
      use(Field{list->context, &items[k],
                fmt::format("{}.{}", key, name && name->text() ? *name->text() : fmt::format("{}{}", key, k + 1))});
    }
  }

  void read_body(const Field& field) {
    const TableReader table(field, {"name", "mass", "center", "inertia", "position_0", "orientation_0", "velocity_0",
                                    "spin_0", "force", "torque", "count", "flexible"});
    const Field name = table.require("name", "shapes and contacts refer to it");
    const std::string group = read_law_name(name);
    if (group == "ground" || group == "*")
      name.fail(fmt::format("'{}' has a meaning of its own; choose another name", group));
    for (const Field& other : groups_)
      if (*other.node->text() == group) name.fail(fmt::format("two bodies are named '{}'", group));
    groups_.push_back(name);
    if (const auto flexible = table.find("flexible")) return read_flexible_body(table, *flexible, group);
    long long count = 0;
    if (const auto given = table.find("count")) count = given->integer(1, 1'000'000);
    const Field mass = table.require("mass", "give it in kg");
    for (Index i = 0; i < std::max<long long>(count, 1); ++i) {
      RigidBody body;
      body.group = group;
      body.name = count > 0 ? fmt::format("{}{}", group, i + 1) : group;
      body.mass = indexed_number(mass, i);
      if (!(body.mass > 0) && !(tree_ && body.mass == 0))
        mass.fail(fmt::format("the value {} must be {} 0", body.mass, tree_ ? ">=" : ">"));
      if (const auto given = table.find("center")) {
        if (given->node->text() && *given->node->text() == "shapes") {
          centered_.push_back({*given, static_cast<int>(model_.bodies.size())});
        } else {
          body.center = vector3(*given, i);
        }
      }
      if (const auto given = table.find("inertia")) body.inertia = inertia(*given, i);
      if (const auto given = table.find("position_0")) body.position = vector3(*given, i);
      if (const auto given = table.find("orientation_0")) body.orientation = rotation(*given, i);
      if (const auto given = table.find("velocity_0")) body.velocity = vector3(*given, i);
      if (const auto given = table.find("spin_0")) body.spin = vector3(*given, i);
      // Of a tree they may depend on coordinates, which are not known yet.
      if (const auto given = table.find("force"); given && !tree_) body.force = functions_of_time(*given, time_);
      if (const auto given = table.find("torque"); given && !tree_) body.torque = functions_of_time(*given, time_);
      model_.bodies.push_back(std::move(body));
    }
  }

  /// Its nodes become bodies of their own, "<body>.<node>".
  void read_flexible_body(const TableReader& table, const Field& flexible, const std::string& name) {
    for (const char* key : {"mass", "center", "inertia", "count", "force", "torque"})
      if (const auto given = table.find(key))
        given->fail("of a flexible body it follows from 'flexible'; loads act on its nodes by [[load]]");
    if (!is_identifier(name))
      table.find("name")->fail(
          fmt::format("'{}' cannot be a flexible body, whose coordinates are <name>.m1 ..: a name is a letter or _, "
                      "then letters, digits and _",
                      name));
    RigidBody body;
    body.name = body.group = name;
    body.flexible = read_flexible(flexible);
    body.mass = body.flexible->mass();
    body.inertia = Eigen::Matrix3d::Identity();
    if (const auto given = table.find("position_0")) body.position = vector3(*given, 0);
    if (const auto given = table.find("orientation_0")) body.orientation = rotation(*given, 0);
    if (const auto given = table.find("velocity_0")) body.velocity = vector3(*given, 0);
    if (const auto given = table.find("spin_0")) body.spin = vector3(*given, 0);
    model_.bodies.push_back(body);
    for (const FlexibleStation& station : body.flexible->stations) {
      if (station.node.empty()) continue;
      RigidBody node;
      node.name = node.group = name + "." + station.node;
      node.node_of = name;
      node.node = station.node;
      node.inertia = Eigen::Matrix3d::Zero();
      model_.bodies.push_back(std::move(node));
    }
  }

  /// Indices of the bodies that a name means; kGround for "ground".
  std::vector<int> bodies_named(const Field& field) const {
    const std::string& name = field.text("the name of a body, or \"ground\",");
    if (name == "ground") return {kGround};
    std::vector<int> found;
    for (std::size_t k = 0; k < model_.bodies.size(); ++k)
      if (model_.bodies[k].name == name || model_.bodies[k].group == name) found.push_back(static_cast<int>(k));
    if (found.empty()) field.fail(fmt::format("there is no body {}{}", in_quotes(name), hint(name, known_names())));
    return found;
  }

  std::vector<std::string> known_names() const {
    std::vector<std::string> names{"ground"};
    for (const Field& group : groups_) names.push_back(*group.node->text());
    return names;
  }

  void read_shape(const Field& field) {
    const TableReader table(
        field, {"name", "body", "kind", "radius", "length", "size", "points", "file", "scale", "split", "vertices",
                "faces", "heights", "cells", "position", "orientation", "normal", "touches"});
    Shape shape;
    table.boolean("touches", shape.touches);
    if (const auto name = table.find("name")) shape.name = name->text("a name");
    table.require("kind", "sphere, box, capsule, cylinder, plane, hull, mesh or heightfield");
    table.word("kind", [&](std::string_view word) { shape.kind = shape_kind(word); });
    const auto needs = [&](const char* key, const char* what) -> Field {
      return table.require(key, fmt::format("a {} needs {}", name_of(shape.kind), what));
    };
    std::vector<std::string> sizes;
    switch (shape.kind) {
      case ShapeKind::sphere:
        sizes = {"radius"};
        break;
      case ShapeKind::capsule:
      case ShapeKind::cylinder:
        sizes = {"radius", "length"};
        break;
      case ShapeKind::box:
        sizes = {"size"};
        break;
      case ShapeKind::hull:
        sizes =
            table.has("file") ? std::vector<std::string>{"file", "scale", "split"} : std::vector<std::string>{"points"};
        break;
      case ShapeKind::plane:
        break;
      case ShapeKind::mesh:
        sizes = {"file", "scale", "vertices", "faces"};
        break;
      case ShapeKind::heightfield:
        sizes = {"size", "heights", "cells"};
        break;
    }
    for (const char* key :
         {"radius", "length", "size", "points", "file", "scale", "split", "vertices", "faces", "heights", "cells"})
      if (table.has(key) && std::find(sizes.begin(), sizes.end(), key) == sizes.end())
        table.find(key)->fail(fmt::format("a {} has no {}", name_of(shape.kind), key));
    if (shape.kind == ShapeKind::mesh) shape.surface = read_mesh_surface(table);
    if (shape.kind == ShapeKind::heightfield) shape.surface = read_height_field(table);
    std::vector<std::vector<Vector3d>> hulls;
    if (shape.kind == ShapeKind::hull && table.has("file")) hulls = read_hull_file(table);
    if (!hulls.empty()) shape.points = hulls.front();
    for (const std::string& key : sizes) {
      if (shape.surface) break;
      if (key == "radius") shape.radius = needs("radius", "its radius in m").number(kPositive);
      if (key == "length") shape.length = needs("length", "its length in m").number(kPositive);
      if (key == "size") shape.size = vector3(needs("size", "its three edge lengths in m"));
      if (key == "points") shape.points = points(needs("points", "its corners [[x, y, z], ...] in m"));
    }
    if (const auto position = table.find("position")) shape.pose.position = vector3(*position);
    const auto orientation = table.find("orientation"), normal = table.find("normal");
    if (orientation && normal) normal->fail("'orientation' and 'normal' both turn the shape; give one of them");
    if (orientation) shape.pose.orientation = rotation(*orientation);
    if (normal) {
      Vector3d direction = vector3(*normal);
      if (direction.isZero(0.0)) normal->fail("the normal is zero");
      direction /= direction.cwiseAbs().maxCoeff();
      shape.pose.orientation = Quaterniond::FromTwoVectors(Vector3d::UnitZ(), direction);
    }
    if (hulls.empty()) hulls.push_back(shape.points);
    const std::vector<int> bodies = bodies_named(table.require("body", "the body it belongs to, or \"ground\""));
    for (std::vector<Vector3d>& points : hulls) {
      shape.points = std::move(points);
      for (const int body : bodies) {
        shape.body = body;
        if (body == bodies.front()) field.about([&] { make_geometry(shape); });
        model_.shapes.push_back(shape);
      }
    }
  }

  static std::vector<Vector3d> points(const Field& field) {
    const TomlArray& items = field.list("a list of points");
    std::vector<Vector3d> result;
    for (std::size_t k = 0; k < items.size(); ++k) result.push_back(vector3(field.item(k)));
    return result;
  }

  void read_spring(const Field& field) {
    if (tree_ && field.node->table() && find_key(*field.node->table(), "on")) return;  // on an axis: model_tree.cpp
    const TableReader table(
        field, {"name", "body_a", "point_a", "body_b", "point_b", "stiffness", "damping", "rest"},
        {{"on",
          "a spring between bodies joins two points: body_a, point_a, body_b, point_b; on an axis there must be a "
          "[[hinge]]"}});
    PointSpring spring;
    spring.name = fmt::format("spring{}", model_.springs.size() + 1);
    if (const auto name = table.find("name")) spring.name = read_law_name(*name);
    auto end = [&](const char* key) {
      const Field at = table.require(key, "the body at this end, or \"ground\"");
      const std::vector<int> found = bodies_named(at);
      if (found.size() != 1) at.fail("several bodies have this name; a spring joins two points");
      return found[0];
    };
    spring.body_a = end("body_a");
    spring.body_b = end("body_b");
    if (spring.body_a == spring.body_b) field.fail("both ends are on the same body");
    if (const auto point = table.find("point_a")) spring.point_a = vector3(*point);
    if (const auto point = table.find("point_b")) spring.point_b = vector3(*point);
    table.number("stiffness", spring.stiffness, kNotNegative);
    table.number("damping", spring.damping, kNotNegative);
    table.number("rest", spring.rest, kNotNegative);
    model_.springs.push_back(spring);
  }

  void read_contact(const Field& field) {
    const TableReader table(
        field,
        {"name", "between", "mu", "mu_static", "restitution", "impact", "cone", "facets", "polygon", "surface_velocity",
         "compliance"},
        {{"gap", "contacts of bodies are found from their shapes: between = [\"box\", \"ground\"]"},
         {"slip", "contacts of bodies are found from their shapes: between = [\"box\", \"ground\"]"}});
    BodyContact contact;
    contact.law.tangents = 2;
    contact.law.name = fmt::format("contact{}", model_.contacts.size() + 1);
    if (const auto name = table.find("name")) contact.law.name = read_law_name(*name);
    for (const BodyContact& other : model_.contacts)
      if (other.law.name == contact.law.name) field.fail(fmt::format("two laws are named '{}'", contact.law.name));
    const auto mu = table.find("mu");
    if (!mu || mu->number() == 0) contact.law.tangents = table.has("mu_static") ? 2 : 0;
    read_contact_law(table, contact.law, [&](const Field& item) { return read_function(item, time_, std::nullopt); });
    const Field between = table.require("between", "as in between = [\"box\", \"ground\"], or [\"*\", \"*\"]");
    const TomlArray& names = between.list("a list of two bodies");
    if (names.size() != 2)
      between.fail(fmt::format("the list names {} bodies; a contact is between two", names.size()));
    auto body = [&](std::size_t k) {
      const Field item = between.item(k);
      if (item.text("the name of a body") != "*") {
        for (const int named : bodies_named(item)) require_shape(item, named);
      } else if (model_.shapes.empty()) {
        item.fail("no body has a shape, so that nothing can touch; give [[shape]], as in kind = \"sphere\"");
      }
      return *item.node->text();
    };
    contact.first = body(0);
    contact.second = body(1);
    if (const auto surface = table.find("surface_velocity"))
      contact.surface_velocity = functions_of_time(*surface, time_);
    model_.contacts.push_back(std::move(contact));
  }

  void require_shape(const Field& field, int body) const {
    if (shaped_.contains(body)) return;
    const std::string name = body == kGround ? "ground" : model_.bodies[static_cast<std::size_t>(body)].name;
    field.fail(
        fmt::format("'{0}' has no shape, so that nothing can touch it; give it one, as in [[shape]] with body = "
                    "\"{0}\" and kind = \"{1}\"",
                    body == kGround ? name : model_.bodies[static_cast<std::size_t>(body)].group,
                    body == kGround ? "plane" : "sphere"));
  }

  const TableReader& root_;
  bool tree_;
  SymbolTable time_;
  BodyModel model_;
  std::set<int> shaped_;                         ///< bodies with a shape
  std::vector<std::pair<Field, int>> centered_;  ///< bodies with center = "shapes"
  std::vector<Field> groups_;
};

}  // namespace

Eigen::Vector3d read_vector3(const Field& field) { return vector3(field); }

Eigen::Quaterniond read_rotation(const Field& field) { return rotation(field); }

BodyModel read_bodies(const TableReader& root) { return BodiesReader(root).read(); }

}  // namespace stickslip::model_detail
