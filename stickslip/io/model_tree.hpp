// SPDX-License-Identifier: Apache-2.0
// Inside of read_tree(): what the readers of hinges, bearings, loops, motors and loads share.
//
// Expressions know t, the coordinates "<hinge>.<axis>", their velocities "v_<hinge>.<axis>", of balls and free bodies
// "<name>.qw" .. and "<name>.wx" .., and the parameters.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "stickslip/io/model_reader.hpp"

namespace stickslip::model_detail {

class TreeReading {
 public:
  TreeReading(const TableReader& root, BodyModel& model) : root_(root), model_(model) {}

  const TableReader& root() const { return root_; }
  BodyModel& model() { return model_; }
  const BodyModel& model() const { return model_; }
  /// Of the free coordinates, which laws act on; and what functions of laws may name.
  const std::vector<std::string>& velocities() const { return velocities_; }
  const Tree& tree() const { return tree_; }
  const SymbolTable& symbols() const { return symbols_; }

  template <class Use>
  void for_each(const std::string& key, Use&& use) const {
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

  int body_named(const Field& field) const;
  /// Names of the coordinates, once all hinges are known.
  void make_symbols();
  StateFunction function(const Field& field) const { return read_function(field, symbols_, std::nullopt); }
  StateFunction parsed(const std::string& text) const { return Expression::parse(text, symbols_); }
  /// Forces are functions of all coordinates of the tree, also of those that follow modal ones (TreeForces).
  StateFunction force(const Field& field) const { return read_function(field, force_symbols_, std::nullopt); }
  StateFunction parsed_force(const std::string& text) const { return Expression::parse(text, force_symbols_); }
  std::vector<StateFunction> three_forces(const Field& field) const;
  /// The hinge axis that a key names, by its coordinate; single axes only.
  std::pair<Hinge*, std::size_t> axis_at(const Field& on);
  /// The name of a motor, coupling or constraint, or <word><number>.
  std::string unique_law(const TableReader& table, const char* word, std::size_t number);

 private:
  const TableReader& root_;
  BodyModel& model_;
  Tree tree_;
  std::vector<std::string> velocities_;
  SymbolTable symbols_, force_symbols_;
  std::set<std::string> laws_;
};

/// Coordinate of a single axis: "<hinge>.<axis>".
std::string axis_name(const Hinge& hinge, std::size_t k);
std::vector<HingeAxis> read_axes(const Field& field);
/// An expression as a text that can be put into another one.
std::string text_of(const Field& field);
/// Runs what may throw a PartError, which is then told at the place of that part in the file; other errors at `first`.
void about_parts(const TableReader& root, const Field& first, const std::function<void()>& action);

// Readers, in the order in which they are called.
void read_hinges(TreeReading& reading);
/// force, lower and upper.
void read_hinge_functions(TreeReading& reading);
void read_axis_springs(TreeReading& reading);
void read_loops(TreeReading& reading);
void read_motors(TreeReading& reading);
void read_couplings(TreeReading& reading);
/// Hinges whose load a [[friction]] with `mu` needs: their bearings become held axes.
void find_bearings(TreeReading& reading);
/// The text of what `mu` of such a law multiplies: lever times load, in the names of the reactions.
std::string bearing_load(const TreeReading& reading, const TableReader& friction);

}  // namespace stickslip::model_detail
