// SPDX-License-Identifier: Apache-2.0
// A tree of bodies in a model file: [[hinge]] (model_hinge.cpp), bearings (model_bearing.cpp), [[loop]], [[motor]],
// [[coupling]] (model_joint_laws.cpp), and here [[load]], [[friction]], [[constraint]] on its coordinates.
#include "stickslip/io/model_tree.hpp"

#include <algorithm>
#include <array>

#include "stickslip/io/text_file.hpp"
#include "stickslip/model/multibody/part_error.hpp"
#include "stickslip/model/multibody/tree_map.hpp"

namespace stickslip::model_detail {

int TreeReading::body_named(const Field& field) const {
  const std::string& name = field.text("the name of a body, or \"ground\",");
  if (name == "ground") return kGround;
  std::vector<std::string> names{"ground"};
  for (std::size_t k = 0; k < model_.bodies.size(); ++k) {
    if (model_.bodies[k].name == name) return static_cast<int>(k);
    names.push_back(model_.bodies[k].name);
  }
  field.fail(fmt::format("there is no body {}{}", in_quotes(name), hint(name, names)));
}

void TreeReading::make_symbols() {
  BodyModel shape = model_;
  for (RigidBody& body : shape.bodies)
    if (!body.inertia) body.inertia = Eigen::Matrix3d::Identity();
  const auto list = root_.find("hinge");
  about_parts(root_, list ? *list : *root_.find("body"), [&] { tree_ = make_tree(shape); });
  const auto fill = [&](const std::vector<std::string>& coordinates, const std::vector<std::string>& velocities,
                        SymbolTable& symbols) {
    symbols.add_variable("t");
    for (const std::string& name : coordinates) symbols.add_variable(name);
    const std::set<std::string> positions(coordinates.begin(), coordinates.end());
    for (const std::string& name : velocities) symbols.add_variable(positions.contains(name) ? "v_" + name : name);
    symbols.add_variable("i");
    const SymbolTable& parameters = root_.field().context->parameters;
    for (const std::string& name : parameters.names()) symbols.add_constant(name, parameters.find(name)->value);
    add_tables(*root_.field().context, symbols);
  };
  fill(tree_.coordinates, tree_.velocities, force_symbols_);
  const TreeMap map(std::make_shared<const Tree>(tree_));
  velocities_ = map.free()->velocities;
  fill(map.free()->coordinates, velocities_, symbols_);
}

std::vector<StateFunction> TreeReading::three_forces(const Field& field) const {
  if (field.list("a list of three functions").size() != 3)
    field.fail(fmt::format("the list has {} entries; three are needed", field.node->array()->size()));
  return {force(field.item(0)), force(field.item(1)), force(field.item(2))};
}

std::string axis_name(const Hinge& hinge, std::size_t k) {
  Index at = 0;
  for (std::size_t j = 0; j < k; ++j) at += positions_of(hinge.axes[j]);
  return hinge.name + "." + position_names(hinge.axes)[static_cast<std::size_t>(at)];
}

std::pair<Hinge*, std::size_t> TreeReading::axis_at(const Field& on) {
  const std::string& name = on.text("a hinge axis, as in \"elbow.rz\",");
  std::vector<std::string> known;
  for (Hinge& hinge : model_.hinges)
    for (std::size_t k = 0; k < hinge.axes.size(); ++k) {
      if (!is_translation(hinge.axes[k]) && !is_rotation(hinge.axes[k])) continue;
      known.push_back(axis_name(hinge, k));
      if (known.back() == name) return {&hinge, k};
    }
  on.fail(fmt::format("there is no single hinge axis {}{}", in_quotes(name), hint(name, known)));
}

std::string TreeReading::unique_law(const TableReader& table, const char* word, std::size_t number) {
  std::string name = fmt::format("{}{}", word, number);
  if (const auto given = table.find("name")) name = read_law_name(*given);
  if (!laws_.insert(name).second) table.field().fail(fmt::format("two laws are named '{}'", name));
  return name;
}

std::vector<HingeAxis> read_axes(const Field& field) {
  std::vector<HingeAxis> axes;
  const TomlArray& items = field.list("a list of axes, as in [\"rz\"]");
  for (std::size_t k = 0; k < items.size(); ++k) {
    const Field item = field.item(k);
    item.about([&] { axes.push_back(hinge_axis_from(item.text("an axis"))); });
  }
  return axes;
}

std::string text_of(const Field& field) {
  if (const std::string* text = field.node->text()) return "(" + *text + ")";
  return fmt::format("({:.17g})", field.number());
}

void about_parts(const TableReader& root, const Field& first, const std::function<void()>& action) {
  try {
    action();
  } catch (const PartError& error) {
    const auto list = root.find(error.list);
    for (std::size_t k = 0; list && list->node->array() && k < list->node->array()->size(); ++k) {
      const Field part = list->item(k);
      const TomlTable* table = part.node->table();
      const TomlNode* name = table ? find_key(*table, "name") : nullptr;
      // A part without a name is called <list><number>; a group of bodies by its name and a number.
      const std::string called = name && name->text() ? *name->text() : fmt::format("{}{}", error.list, k + 1);
      const bool group = table && find_key(*table, "count") && error.name.starts_with(called);
      if (called != error.name && !group) continue;
      const TomlNode* value = error.key.empty() ? nullptr : find_key(*table, error.key);
      const std::string path = error.list + "." + called;
      if (value) Field{part.context, value, path + "." + error.key}.fail(error.what());
      Field{part.context, part.node, path}.fail(error.what());
    }
    first.fail(error.what());
  } catch (const InputError& error) {
    first.fail(error.what());
  }
}

namespace {

/// Keys of a model file that make the bodies a tree.
constexpr std::array<const char*, 6> kTreeKeys{"hinge", "loop", "load", "motor", "coupling", "friction"};

void read_body_functions(TreeReading& reading, const Field& field) {
  const TomlTable& raw = *field.node->table();
  const std::string& group = *find_key(raw, "name")->text();
  for (const char* key : {"force", "torque"}) {
    const TomlNode* node = find_key(raw, key);
    if (!node) continue;
    const std::vector<StateFunction> functions =
        reading.three_forces(Field{field.context, node, field.key + "." + key});
    for (RigidBody& body : reading.model().bodies)
      if (body.group == group) (std::string_view(key) == "force" ? body.force : body.torque) = functions;
  }
}

void read_load(TreeReading& reading, const Field& field) {
  const TableReader table(field, {"name", "body", "point", "force", "torque", "frame"});
  PointLoad load;
  load.name = fmt::format("load{}", reading.model().loads.size() + 1);
  if (const auto name = table.find("name")) load.name = read_law_name(*name);
  const Field body = table.require("body", "the body it acts on");
  load.body = reading.body_named(body);
  if (load.body == kGround) body.fail("a load on the ground does nothing; name a body");
  if (const auto given = table.find("point")) load.point = read_vector3(*given);
  if (const auto given = table.find("force")) load.force = reading.three_forces(*given);
  if (const auto given = table.find("torque")) load.torque = reading.three_forces(*given);
  if (load.force.empty() && load.torque.empty()) field.fail("'force' or 'torque' is missing; give three functions");
  table.word("frame", [&](std::string_view word) {
    if (word != "world" && word != "body")
      throw InputError(fmt::format("unknown frame '{}'; \"world\" or \"body\"", word));
    load.turns = word == "body";
  });
  reading.model().loads.push_back(std::move(load));
}

void read_constraint(TreeReading& reading, const Field& field, std::size_t number) {
  const TableReader table(field, {"name", "position"},
                          {{"row", "of bodies, constraints are given by position"},
                           {"rate", "of bodies, constraints are given by position"}});
  ExpressionConstraint constraint;
  constraint.element.name = reading.unique_law(table, "constraint", number);
  constraint.position =
      reading.function(table.require("position", "an expression of t and the coordinates that must be 0"));
  reading.model().constraints.push_back(std::move(constraint));
}

bool is_free(const SymbolTable& symbols, const std::string& name) {
  return !symbols.find(name) && std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

/// What limits may name: reactions of contacts, stops, loops and other constraints, in the order of the laws.
void add_reaction_names(const TreeReading& reading, SymbolTable& symbols) {
  const auto add = [&](const std::string& name) {
    if (is_free(symbols, name)) {
      symbols.add_variable(name);
    } else {
      symbols.add_variable(fmt::format("r.{}", symbols.variable_count()));
    }
  };
  const auto add_contact = [&](const ContactElement& law) {
    add("r_" + law.name + "_n");
    for (int c = 1; c <= law.tangents; ++c) add(fmt::format("r_{}_t{}", law.name, c));
  };
  for (const BodyContact& contact : reading.model().contacts) add_contact(contact.law);
  for (const ExpressionContact& stop : reading.model().stops) add_contact(stop.law);
  for (const std::string& name : loop_row_names(reading.model().loops)) add("r_" + name);
  for (const Index k : reading.tree().held) add("r_" + reading.tree().velocities[static_cast<std::size_t>(k)]);
  for (const ExpressionConstraint& constraint : reading.model().constraints) add("r_" + constraint.element.name);
}

bool has_flexible(const TableReader& root) {
  const auto list = root.find("body");
  if (!list || !list->node->array()) return false;
  return std::any_of(list->node->array()->begin(), list->node->array()->end(),
                     [](const TomlNode& body) { return body.table() && find_key(*body.table(), "flexible"); });
}

}  // namespace

bool has_tree(const TableReader& root) {
  return std::any_of(kTreeKeys.begin(), kTreeKeys.end(), [&](const char* key) { return root.has(key); }) ||
         root.has("constraint") || has_flexible(root);
}

void read_tree(const TableReader& root, BodyModel& model) {
  TreeReading reading(root, model);
  read_hinges(reading);
  find_bearings(reading);
  reading.make_symbols();
  read_hinge_functions(reading);
  reading.for_each("body", [&](const Field& field) { read_body_functions(reading, field); });
  read_axis_springs(reading);
  read_loops(reading);
  reading.for_each("load", [&](const Field& field) { read_load(reading, field); });
  read_motors(reading);
  read_couplings(reading);
  std::size_t constraints = 0;
  reading.for_each("constraint", [&](const Field& field) { read_constraint(reading, field, ++constraints); });
  if (const auto friction = root.find("friction")) {
    SymbolTable symbols = reading.symbols();
    add_reaction_names(reading, symbols);
    std::vector<FrictionElement> laws =
        read_friction(*friction, reading.velocities(), symbols,
                      [&](const TableReader& table) { return bearing_load(reading, table); });
    for (const FrictionElement& drive : model.friction)  // of motors, behind them
      if (std::any_of(laws.begin(), laws.end(), [&](const FrictionElement& law) { return law.name == drive.name; }))
        friction->fail(fmt::format("two laws are named '{}'; give one of them another name", drive.name));
    laws.insert(laws.end(), model.friction.begin(), model.friction.end());
    model.friction = std::move(laws);
  }
}

}  // namespace stickslip::model_detail
