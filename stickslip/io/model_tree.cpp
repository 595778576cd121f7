// SPDX-License-Identifier: Apache-2.0
// [[hinge]], [[loop]], [[load]], [[motor]], [[coupling]], and [[friction]], [[constraint]], [[spring]] on the coordinates of
// a tree of bodies.
//
// Expressions know t, the coordinates "<hinge>.<axis>", their velocities "v_<hinge>.<axis>", of balls and free bodies
// "<name>.qw" .. and "<name>.wx" .., and the parameters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::model_detail {

namespace {

using Eigen::Vector3d;

/// Keys of a model file that make the bodies a tree.
constexpr std::array<const char*, 6> kTreeKeys{"hinge", "loop", "load", "motor", "coupling", "friction"};

class TreeReader {
 public:
  TreeReader(const TableReader& root, BodyModel& model) : root_(root), model_(model) {}

  void read() {
    for_each("hinge", [&](const Field& field) { read_hinge(field); });
    make_symbols();
    for_each("hinge", [&](const Field& field) { read_hinge_functions(field); });
    for_each("body", [&](const Field& field) { read_body_functions(field); });
    for_each("spring", [&](const Field& field) { read_axis_spring(field); });
    for_each("loop", [&](const Field& field) { read_loop(field); });
    for_each("load", [&](const Field& field) { read_load(field); });
    for_each("motor", [&](const Field& field) { read_motor(field); });
    for_each("coupling", [&](const Field& field) { read_coupling(field); });
    for_each("constraint", [&](const Field& field) { read_constraint(field); });
    if (const auto friction = root_.find("friction")) {
      SymbolTable symbols = symbols_;
      add_reaction_names(symbols);
      model_.friction = read_friction(*friction, tree_.velocities, symbols);
    }
  }

 private:
  template <class Use>
  void for_each(const std::string& key, Use&& use) {
    const auto list = root_.find(key);
    if (!list) return;
    if (list->node->table()) list->fail(fmt::format("write [[{}]] with two brackets: there can be several", key));
    const TomlArray& items = list->list("a list of tables, written [[..]],");
    for (std::size_t k = 0; k < items.size(); ++k) {
      const TomlTable* raw = items[k].table();
      const TomlNode* name = raw ? find_key(*raw, "name") : nullptr;
      const std::string shown = name && name->text() ? *name->text() : fmt::format("{}{}", key, k + 1);
      use(Field{list->context, &items[k], key + "." + shown});
    }
  }

  int body_named(const Field& field) const {
    const std::string& name = field.text("the name of a body, or \"ground\",");
    if (name == "ground") return kGround;
    std::vector<std::string> names{"ground"};
    for (std::size_t k = 0; k < model_.bodies.size(); ++k) {
      if (model_.bodies[k].name == name) return static_cast<int>(k);
      names.push_back(model_.bodies[k].name);
    }
    field.fail(fmt::format("there is no body {}{}", in_quotes(name), hint(name, names)));
  }

  /// A list, or one value where there is one axis.
  template <class Read>
  void per_axis(const Field& field, std::size_t count, const char* what, Read&& read) const {
    if (!field.node->array()) {
      if (count != 1) field.fail(fmt::format("there are {} {}; give a list", count, what));
      read(field, std::size_t{0});
      return;
    }
    if (field.node->array()->size() != count)
      field.fail(fmt::format("the list has {} entries, but there are {} {}", field.node->array()->size(), count, what));
    for (std::size_t k = 0; k < count; ++k) read(field.item(k), k);
  }

  std::vector<double> numbers(const Field& field, std::size_t count, const char* what,
                              const Range& range = kAnyNumber) const {
    std::vector<double> values(count);
    per_axis(field, count, what, [&](const Field& item, std::size_t k) { values[k] = item.number(range); });
    return values;
  }

  static std::vector<HingeAxis> read_axes(const Field& field) {
    std::vector<HingeAxis> axes;
    const TomlArray& items = field.list("a list of axes, as in [\"rz\"]");
    for (std::size_t k = 0; k < items.size(); ++k) {
      const Field item = field.item(k);
      item.about([&] { axes.push_back(hinge_axis_from(item.text("an axis"))); });
    }
    return axes;
  }

  static TableReader hinge_table(const Field& field) {
    return TableReader(field, {"name", "parent", "child", "position", "orientation", "child_position",
                               "child_orientation", "axes", "stiffness", "damping", "rest", "position_0", "velocity_0",
                               "force", "lower", "upper", "restitution"});
  }

  /// A hinged body starts where its hinge puts it.
  void require_no_start(const Field& child) const {
    const std::string& name = child.text("the name of a body");
    const Field list = *root_.find("body");
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

  void read_hinge(const Field& field) {
    const TableReader table = hinge_table(field);
    Hinge hinge;
    const Field name = table.require("name", "coordinates are called <name>.<axis>");
    hinge.name = read_law_name(name);
    if (!is_identifier(hinge.name))
      name.fail(fmt::format("'{}' cannot be a hinge: a name is a letter or _, then letters, digits and _", hinge.name));
    for (const Hinge& other : model_.hinges)
      if (other.name == hinge.name) name.fail(fmt::format("two hinges are named '{}'", hinge.name));
    hinge.parent = body_named(table.require("parent", "the body it hangs on, or \"ground\""));
    const Field child = table.require("child", "the body that hangs on it");
    hinge.child = body_named(child);
    if (hinge.child == kGround) child.fail("the ground hangs on nothing; exchange parent and child");
    require_no_start(child);
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
    model_.hinges.push_back(std::move(hinge));
  }

  /// Names of the coordinates, once all hinges are known.
  void make_symbols() {
    BodyModel shape = model_;
    for (RigidBody& body : shape.bodies)
      if (!body.inertia) body.inertia = Eigen::Matrix3d::Identity();
    const auto list = root_.find("hinge");
    tree_ = (list ? *list : *root_.find("body")).about([&] { return make_tree(shape); });
    symbols_.add_variable("t");
    for (const std::string& name : tree_.coordinates) symbols_.add_variable(name);
    std::set<std::string> positions(tree_.coordinates.begin(), tree_.coordinates.end());
    for (const std::string& name : tree_.velocities)
      symbols_.add_variable(positions.contains(name) ? "v_" + name : name);
    symbols_.add_variable("i");
    const SymbolTable& parameters = root_.field().context->parameters;
    for (const std::string& name : parameters.names()) symbols_.add_constant(name, parameters.find(name)->value);
    add_tables(*root_.field().context, symbols_);
  }

  StateFunction function(const Field& field) const { return read_function(field, symbols_, std::nullopt); }

  StateFunction parsed(const std::string& text) const { return Expression::parse(text, symbols_); }

  std::vector<StateFunction> three(const Field& field) const {
    if (field.list("a list of three functions").size() != 3)
      field.fail(fmt::format("the list has {} entries; three are needed", field.node->array()->size()));
    return {function(field.item(0)), function(field.item(1)), function(field.item(2))};
  }

  Hinge& hinge_of(const Field& field) {
    const std::string& name = *find_key(*field.node->table(), "name")->text();
    return *std::find_if(model_.hinges.begin(), model_.hinges.end(), [&](const Hinge& it) { return it.name == name; });
  }

  /// force, lower and upper.
  void read_hinge_functions(const Field& field) {
    const TableReader table = hinge_table(field);
    Hinge& hinge = hinge_of(field);
    const std::size_t count = hinge.axes.size();
    if (const auto force = table.find("force")) {
      hinge.force.assign(count, StateFunction(0.0));
      per_axis(*force, count, "axes", [&](const Field& item, std::size_t k) { hinge.force[k] = function(item); });
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
        stop.gap = parsed(upper ? fmt::format("{:.17g} - {}", limit, coordinate)
                                : fmt::format("{} - ({:.17g})", coordinate, limit));
        model_.stops.push_back(std::move(stop));
      });
    }
  }

  /// Of a single axis.
  static std::string axis_name(const Hinge& hinge, std::size_t k) {
    Index at = 0;
    for (std::size_t j = 0; j < k; ++j) at += positions_of(hinge.axes[j]);
    return hinge.name + "." + position_names(hinge.axes)[static_cast<std::size_t>(at)];
  }

  void read_body_functions(const Field& field) {
    const TomlTable& raw = *field.node->table();
    const std::string& group = *find_key(raw, "name")->text();
    for (const char* key : {"force", "torque"}) {
      const TomlNode* node = find_key(raw, key);
      if (!node) continue;
      const std::vector<StateFunction> functions = three(Field{field.context, node, field.key + "." + key});
      for (RigidBody& body : model_.bodies)
        if (body.group == group) (std::string_view(key) == "force" ? body.force : body.torque) = functions;
    }
  }

  /// The hinge axis that a key names, by its coordinate.
  std::pair<Hinge*, std::size_t> axis_at(const Field& on) {
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

  static void set(std::vector<double>& list, std::size_t count, std::size_t k, double value) {
    list.resize(count, 0.0);
    list[k] = value;
  }

  void read_axis_spring(const Field& field) {
    if (!find_key(*field.node->table(), "on")) return;
    const TableReader table(field, {"name", "on", "stiffness", "damping", "rest"},
                            {{"body_a", "it acts on an axis, by 'on'; remove one of them"}});
    const Field on = *table.find("on");
    const auto [hinge, k] = axis_at(on);
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

  void read_loop(const Field& field) {
    const TableReader table(field, {"name", "body_a", "point_a", "orientation_a", "body_b", "point_b", "orientation_b",
                                    "axes"});
    Loop loop;
    loop.name = fmt::format("loop{}", model_.loops.size() + 1);
    if (const auto name = table.find("name")) loop.name = read_law_name(*name);
    for (const Loop& other : model_.loops)
      if (other.name == loop.name) field.fail(fmt::format("two loops are named '{}'", loop.name));
    loop.body_a = body_named(table.require("body_a", "the body at this end, or \"ground\""));
    loop.body_b = body_named(table.require("body_b", "the body at this end, or \"ground\""));
    if (const auto given = table.find("point_a")) loop.point_a = read_vector3(*given);
    if (const auto given = table.find("point_b")) loop.point_b = read_vector3(*given);
    if (const auto given = table.find("orientation_a")) loop.orientation_a = read_rotation(*given);
    if (const auto given = table.find("orientation_b")) loop.orientation_b = read_rotation(*given);
    loop.axes = read_axes(table.require("axes", "what stays free across the cut, as in axes = [\"rz\"]; [] holds all"));
    model_.loops.push_back(std::move(loop));
  }

  void read_load(const Field& field) {
    const TableReader table(field, {"name", "body", "point", "force", "torque", "frame"});
    PointLoad load;
    load.name = fmt::format("load{}", model_.loads.size() + 1);
    if (const auto name = table.find("name")) load.name = read_law_name(*name);
    const Field body = table.require("body", "the body it acts on");
    load.body = body_named(body);
    if (load.body == kGround) body.fail("a load on the ground does nothing; name a body");
    if (const auto given = table.find("point")) load.point = read_vector3(*given);
    if (const auto given = table.find("force")) load.force = three(*given);
    if (const auto given = table.find("torque")) load.torque = three(*given);
    if (load.force.empty() && load.torque.empty()) field.fail("'force' or 'torque' is missing; give three functions");
    table.word("frame", [&](std::string_view word) {
      if (word != "world" && word != "body")
        throw InputError(fmt::format("unknown frame '{}'; \"world\" or \"body\"", word));
      load.turns = word == "body";
    });
    model_.loads.push_back(std::move(load));
  }

  std::string unique_law(const TableReader& table, const char* word, std::size_t number) {
    std::string name = fmt::format("{}{}", word, number);
    if (const auto given = table.find("name")) name = read_law_name(*given);
    if (!laws_.insert(name).second) table.field().fail(fmt::format("two laws are named '{}'", name));
    return name;
  }

  /// An expression as a text that can be put into another one.
  static std::string text_of(const Field& field) {
    if (const std::string* text = field.node->text()) return "(" + *text + ")";
    return fmt::format("({:.17g})", field.number());
  }

  void read_motor(const Field& field) {
    const TableReader table(field, {"name", "on", "force", "motion", "position", "velocity", "stiffness", "damping",
                                    "limit"});
    const Field on = table.require("on", "the hinge axis it drives, as in on = \"elbow.rz\"");
    const auto [hinge, k] = axis_at(on);
    const std::string coordinate = axis_name(*hinge, k), name = unique_law(table, "motor", ++motors_);
    int kinds = 0;
    for (const char* key : {"force", "motion", "position", "velocity"}) kinds += table.has(key);
    if (kinds != 1)
      field.fail("give exactly one of force (what acts), motion (prescribed), position or velocity (what is aimed at)");
    if (const auto motion = table.find("motion")) {
      for (const char* key : {"stiffness", "damping", "limit"})
        if (const auto given = table.find(key))
          given->fail("a prescribed motion takes whatever force it needs; with a limit or a gain give position or velocity");
      function(*motion);
      ExpressionConstraint constraint;
      constraint.element.name = name;
      constraint.position = motion->about([&] { return parsed(fmt::format("{} - {}", coordinate, text_of(*motion))); });
      model_.constraints.push_back(std::move(constraint));
      return;
    }
    double stiffness = 0, damping = 0, limit = HUGE_VAL;
    table.number("stiffness", stiffness, kNotNegative);
    table.number("damping", damping, kNotNegative);
    table.number("limit", limit, kPositive);
    std::string force;
    if (const auto given = table.find("force")) {
      function(*given);
      force = text_of(*given);
    } else if (const auto place = table.find("position")) {
      function(*place);
      table.require("stiffness", "the force per distance from the position aimed at, in N/m or N m/rad");
      force = fmt::format("({:.17g}*({} - {}) - {:.17g}*v_{})", stiffness, text_of(*place), coordinate, damping, coordinate);
    } else {
      const Field target = *table.find("velocity");
      function(target);
      table.require("damping", "the force per difference from the velocity aimed at, in N s/m or N m s/rad");
      force = fmt::format("({:.17g}*({} - v_{}))", damping, text_of(target), coordinate);
    }
    if (std::isfinite(limit)) force = fmt::format("max({:.17g}, min({:.17g}, {}))", -limit, limit, force);
    hinge->force.resize(hinge->axes.size(), StateFunction(0.0));
    const std::string before = hinge->force[k].is_constant() && hinge->force[k]({}) == 0 ? "" : hinge->force[k].text();
    if (!before.empty()) force = fmt::format("({}) + {}", before, force);
    hinge->force[k] = field.about([&] { return parsed(force); });
  }

  void read_coupling(const Field& field) {
    const TableReader table(field, {"name", "on", "ratio", "offset"});
    const Field on = table.require("on", "two hinge axes, as in on = [\"pinion.rz\", \"rack.tx\"]");
    if (on.list("a list of two hinge axes").size() != 2) on.fail("a coupling joins two hinge axes");
    const auto first = axis_at(on.item(0)), second = axis_at(on.item(1));
    double ratio = 1, offset = 0;
    table.require("ratio", "the first coordinate is ratio times the second, plus offset");
    table.number("ratio", ratio, kAnyNumber);
    table.number("offset", offset, kAnyNumber);
    ExpressionConstraint constraint;
    constraint.element.name = unique_law(table, "coupling", ++couplings_);
    constraint.position =
        parsed(fmt::format("{} - ({:.17g})*{} - ({:.17g})", axis_name(*first.first, first.second), ratio,
                           axis_name(*second.first, second.second), offset));
    model_.constraints.push_back(std::move(constraint));
  }

  void read_constraint(const Field& field) {
    const TableReader table(field, {"name", "position"},
                            {{"row", "of bodies, constraints are given by position"},
                             {"rate", "of bodies, constraints are given by position"}});
    ExpressionConstraint constraint;
    constraint.element.name = unique_law(table, "constraint", ++constraints_);
    constraint.position = function(table.require("position", "an expression of t and the coordinates that must be 0"));
    model_.constraints.push_back(std::move(constraint));
  }

  /// What limits may name: reactions of contacts, stops, loops and other constraints, in the order of the laws.
  void add_reaction_names(SymbolTable& symbols) const {
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
    for (const BodyContact& contact : model_.contacts) add_contact(contact.law);
    for (const ExpressionContact& stop : model_.stops) add_contact(stop.law);
    for (const std::string& name : loop_row_names(model_.loops)) add("r_" + name);
    for (const ExpressionConstraint& constraint : model_.constraints) add("r_" + constraint.element.name);
  }

  static bool is_free(const SymbolTable& symbols, const std::string& name) {
    return !symbols.find(name) && std::all_of(name.begin(), name.end(), [](char c) {
      return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
  }

  const TableReader& root_;
  BodyModel& model_;
  Tree tree_;
  SymbolTable symbols_;
  std::set<std::string> laws_;
  std::size_t motors_ = 0, couplings_ = 0, constraints_ = 0;
};

}  // namespace

bool has_tree(const TableReader& root) {
  return std::any_of(kTreeKeys.begin(), kTreeKeys.end(), [&](const char* key) { return root.has(key); }) ||
         root.has("constraint");
}

void read_tree(const TableReader& root, BodyModel& model) { TreeReader(root, model).read(); }

}  // namespace stickslip::model_detail
