// SPDX-License-Identifier: Apache-2.0
// [[friction]] of a model file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::model_detail {

namespace {

/// Where a law acts: the components, and the coordinate if it acts on one alone.
struct Place {
  std::vector<Direction> directions;
  std::optional<Index> coordinate;
};

class FrictionReader {
 public:
  FrictionReader(const std::vector<std::string>& coordinates, const SymbolTable& symbols, const BearingLoad& load)
      : coordinates_(coordinates), symbols_(symbols), load_(load) {
    for (std::size_t k = 0; k < coordinates_.size(); ++k) numbers_[coordinates_[k]] = static_cast<Index>(k);
  }

  void read(const Field& list, std::size_t k) {
    const TomlTable* raw = list.item(k).node->table();
    const std::size_t first_number = elements_.size() + 1;
    std::string shown = fmt::format("friction{}", first_number);
    const TomlNode* name_node = raw ? find_key(*raw, "name") : nullptr;
    if (name_node && name_node->text()) shown = *name_node->text();
    const Field field{list.context, list.item(k).node, "friction." + shown};
    const TableReader table(
        field, {"name", "on", "direction", "limit", "static_limit", "weakening", "viscous", "surface_velocity", "set",
                "facets", "stiffness", "mu", "mu_static", "radius", "thrust_radius"});
    const auto name_field = table.find("name");
    const std::string name = name_field ? read_law_name(*name_field) : "";

    const auto on = table.find("on");
    const bool everywhere = on && on->node->text() && *on->node->text() == "*";
    const std::vector<Place> places = everywhere ? all_coordinates() : std::vector<Place>{place(table)};
    const bool varies = depends_on_index(table);
    FrictionElement element = constant_part(table, places[0]);
    for (std::size_t p = 0; p < places.size(); ++p) {
      element.directions = places[p].directions;
      element.name = name.empty() ? fmt::format("friction{}", first_number + p)
                     : everywhere ? fmt::format("{}{}", name, p + 1)
                                  : name;
      if (!names_.insert(element.name).second)
        (name_field ? *name_field : field)
            .fail(fmt::format("two laws are named '{}'; give one of them another name", element.name));
      if (p == 0 || varies) read_functions(table, places[p], element);
      elements_.push_back(element);
    }
  }

  std::vector<FrictionElement> take() { return std::move(elements_); }

 private:
  std::vector<Place> all_coordinates() const {
    std::vector<Place> places;
    for (Index k = 0; k < static_cast<Index>(coordinates_.size()); ++k) places.push_back({{{{k, 1.0}}}, k});
    return places;
  }

  Index coordinate(const Field& field) const {
    const std::string& name = field.text("the name of a coordinate");
    if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
    field.fail(fmt::format("there is no coordinate {}{}", in_quotes(name), hint(name, coordinates_)));
  }

  Direction direction(const Field& field) const {
    const Vector entries = read_vector(field, static_cast<Index>(coordinates_.size()), "coordinates");
    Direction result;
    for (Index k = 0; k < entries.size(); ++k)
      if (entries[k] != 0.0) result.emplace_back(k, entries[k]);
    if (result.empty()) field.fail("all entries are 0; a direction needs one that is not");
    return result;
  }

  Place place(const TableReader& table) const {
    const auto on = table.find("on");
    const auto along = table.find("direction");
    if (on && along) along->fail("'on' and 'direction' both say where the law acts; give one of them");
    if (!on && !along)
      table.field().fail("'on' is missing; name the coordinate, as in on = \"x1\", or give a direction");
    Place result;
    if (on) {
      if (const TomlArray* names = on->node->array()) {
        if (names->size() != 2)
          on->fail(fmt::format("the list names {} coordinates; planar friction acts on two", names->size()));
        const Index first = coordinate(on->item(0)), second = coordinate(on->item(1));
        if (first == second) on->fail("planar friction acts on two different coordinates");
        result.directions = {{{first, 1.0}}, {{second, 1.0}}};
      } else {
        if (!on->node->text()) on->fail_type("a coordinate, a list of two of them, or \"*\"");
        result.coordinate = coordinate(*on);
        result.directions = {{{*result.coordinate, 1.0}}};
      }
      return result;
    }
    const TomlArray& entries = along->list("a list of numbers over all coordinates, or two such lists,");
    if (entries.empty() || !entries[0].array()) {
      result.directions = {direction(*along)};
      return result;
    }
    if (entries.size() != 2)
      along->fail(fmt::format("there are {} lists; planar friction takes two directions", entries.size()));
    result.directions = {direction(along->item(0)), direction(along->item(1))};
    if (parallel(result.directions[0], result.directions[1])) along->fail("the two directions are parallel");
    return result;
  }

  bool parallel(const Direction& a, const Direction& b) const {
    Vector x = Vector::Zero(static_cast<Index>(coordinates_.size())), y = x;
    for (const auto& [k, value] : a) x[k] = value;
    for (const auto& [k, value] : b) y[k] = value;
    x /= x.lpNorm<Eigen::Infinity>();
    y /= y.lpNorm<Eigen::Infinity>();
    x.normalize();
    y.normalize();
    return (y - x.dot(y) * x).norm() < 1e-12;
  }

  static FrictionElement constant_part(const TableReader& table, const Place& place) {
    FrictionElement element;
    table.number("viscous", element.viscous, kNotNegative);
    table.number("stiffness", element.stiffness, kPositive);
    if (const auto weakening = table.find("weakening")) element.weakening = read_weakening(*weakening);
    const bool planar = place.directions.size() == 2;
    if (const auto set = table.find("set")) {
      if (!planar) set->fail("only planar friction has a set; name two coordinates in 'on' or remove it");
      element.planar_set = read_section(*set, "set", SetKind::disk, SetKind::polygon, SetKind::box);
    }
    if (const auto facets = table.find("facets"))
      element.facets = read_facets(*facets, "set", element.planar_set == SetKind::polygon);
    return element;
  }

  static Weakening read_weakening(const Field& field) {
    const TableReader table(field, {"shape", "beta", "epsilon"});
    Weakening weakening;
    const Field shape = table.require("shape", "name one, as in shape = \"algebraic\"");
    const std::string& word = shape.text("a shape");
    weakening.shape = shape.about([&] { return weakening_shape_from(word); });
    if (weakening.shape != WeakeningShape::none) {
      table.require("beta", "it is the part of the limit that is lost at high speed, in [0, 1)");
      table.require("epsilon", "it is the velocity scale of the weakening, > 0");
    }
    table.number("beta", weakening.beta, {.low = 0, .high = 1, .open_high = true});
    table.number("epsilon", weakening.epsilon, kPositive);
    return weakening;
  }

  static bool depends_on_index(const TableReader& table) {
    for (const char* key : {"limit", "static_limit", "surface_velocity"})
      if (const auto field = table.find(key); field && field->node->text() && mentions(*field->node->text(), "i"))
        return true;
    return false;
  }

  StateFunction limit_function(const Field& field, const Place& place) const {
    StateFunction limit = read_function(field, symbols_, place.coordinate);
    if (limit.is_constant() && !(limit({}) >= 0)) field.fail(fmt::format("the limit {} must be >= 0", limit({})));
    return limit;
  }

  /// limit + mu times the load of the bearing and its lever; mu_static likewise while it sticks.
  void read_bearing(const TableReader& table, FrictionElement& element) const {
    const Field mu = *table.find("mu");
    if (!load_)
      mu.fail(
          "it multiplies the load of a hinge's bearing, and there are no hinges; give 'limit', which may name "
          "reactions");
    if (const auto held = table.find("static_limit")) held->fail("beside 'mu' give 'mu_static'");
    const std::string load = load_(table);
    std::string preload;
    if (const auto limit = table.find("limit")) preload = bracketed(*limit) + " + ";
    const auto function = [&](const Field& coefficient) {
      if (!coefficient.node->text()) coefficient.number(kNotNegative);
      return coefficient.about([&] {
        return StateFunction(
            Expression::parse(fmt::format("{}{}*({})", preload, bracketed(coefficient), load), symbols_));
      });
    };
    element.limit = function(mu);
    const auto held = table.find("mu_static");
    if (!held) return;
    if (!held->node->text() && !mu.node->text() && held->number() < mu.number())
      held->fail(fmt::format("mu_static = {} must be >= mu = {}", held->number(), mu.number()));
    element.static_limit = function(*held);
  }

  static std::string bracketed(const Field& field) {
    if (const std::string* text = field.node->text()) return "(" + *text + ")";
    return fmt::format("({:.17g})", field.number());
  }

  void read_functions(const TableReader& table, const Place& place, FrictionElement& element) const {
    if (table.has("mu")) {
      read_bearing(table, element);
    } else {
      for (const char* key : {"mu_static", "radius", "thrust_radius"})
        if (const auto given = table.find(key))
          given->fail("it belongs to friction by the load of a bearing; give 'mu'");
      element.limit = limit_function(table.require("limit", "give the Coulomb limit in N (or N m)"), place);
    }
    if (const auto held = table.find("static_limit")) {
      element.static_limit = limit_function(*held, place);
      if (element.limit.is_constant() && element.static_limit->is_constant() &&
          (*element.static_limit)({}) < element.limit({}))
        held->fail(
            fmt::format("static_limit = {} must be >= limit = {}", (*element.static_limit)({}), element.limit({})));
    }
    const auto surface = table.find("surface_velocity");
    if (!surface) return;
    if (place.directions.size() == 1) {
      if (surface->node->array()) surface->fail_type("a number, an expression or { table = \"file.csv\" }");
      element.surface_velocity = {read_function(*surface, symbols_, place.coordinate)};
      return;
    }
    if (surface->list("a list of two, one per direction,").size() != 2)
      surface->fail("planar friction takes two surface velocities");
    element.surface_velocity = {read_function(surface->item(0), symbols_, std::nullopt),
                                read_function(surface->item(1), symbols_, std::nullopt)};
  }

  const std::vector<std::string>& coordinates_;
  std::unordered_map<std::string, Index> numbers_;
  const SymbolTable& symbols_;
  const BearingLoad& load_;
  std::vector<FrictionElement> elements_;
  std::set<std::string> names_;
};

}  // namespace

/// A list that is wrong is blamed where it is read.
void add_reactions(const TableReader& root, SymbolTable& symbols) {
  const auto add = [&](const std::string& name) {
    if (is_identifier(name) && !symbols.find(name)) {
      symbols.add_variable(name);
    } else {
      symbols.add_variable(fmt::format("r.{}", symbols.variable_count()));  // keeps its place, and cannot be named
    }
  };
  const auto for_each = [&](const char* word, auto&& use) {
    const auto list = root.find(word);
    if (!list || !list->node->array()) return;
    for (std::size_t k = 0; k < list->node->array()->size(); ++k) {
      const TomlTable* table = list->item(k).node->table();
      const TomlNode* name = table ? find_key(*table, "name") : nullptr;
      use(table, "r_" + (name && name->text() ? *name->text() : fmt::format("{}{}", word, k + 1)));
    }
  };
  for_each("contact", [&](const TomlTable* table, const std::string& name) {
    std::size_t tangents = 0;
    for (const char* key : {"slip", "slip_rows"})
      if (const TomlNode* given = table ? find_key(*table, key) : nullptr)
        tangents = given->array() ? given->array()->size() : 1;
    add(name + "_n");
    for (std::size_t c = 1; c <= tangents; ++c) add(fmt::format("{}_t{}", name, c));
  });
  for_each("constraint", [&](const TomlTable*, const std::string& name) { add(name); });
}

std::vector<FrictionElement> read_friction(const Field& field, const std::vector<std::string>& coordinates,
                                           const SymbolTable& symbols, const BearingLoad& load) {
  if (field.node->table()) field.fail("write [[friction]] with two brackets: there can be several laws");
  const TomlArray& laws = field.list("[[friction]] tables");
  FrictionReader reader(coordinates, symbols, load);
  for (std::size_t k = 0; k < laws.size(); ++k) reader.read(field, k);
  return reader.take();
}

}  // namespace stickslip::model_detail
