// SPDX-License-Identifier: Apache-2.0
// [[constraint]] of a model file, and the start that it asks for.
#include <fmt/format.h>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::model_detail {

namespace {

ViscoelasticConstraint read_viscoelastic(const Field& field, const StateSymbols& symbols) {
  const TableReader table(field, {"stiffness", "damping", "epsilon", "exponent", "prepared", "limit", "disk"});
  ViscoelasticConstraint soft;
  soft.stiffness = table.require("stiffness", "give c > 0 of the spring c/epsilon").number(kPositive);
  soft.damping = table.require("damping", "give d >= 0 of the damper d/epsilon^exponent").number(kNotNegative);
  soft.epsilon =
      table.require("epsilon", "give the small number > 0 that makes it stiff, as in 1e-4").number(kPositive);
  table.number("exponent", soft.exponent, kNotNegative);
  table.boolean("prepared", soft.prepared);
  if (const auto limit = table.find("limit"))
    soft.limit = read_function_of(*limit, symbols, Arguments::time_position_velocity, "the limit");
  if (const auto disk = table.find("disk")) soft.disk = disk->text("a word: rows with the same one share a limit");
  return soft;
}

class ConstraintReader {
 public:
  ConstraintReader(const Field& field, const StateSymbols& symbols)
      : table_(field, {"name", "position", "row", "rate", "viscoelastic"}), symbols_(symbols) {}

  ExpressionConstraint read(std::string name) const {
    ExpressionConstraint constraint;
    constraint.element.name = std::move(name);
    const auto position = table_.find("position"), row = table_.find("row"), rate = table_.find("rate");
    if (position && row) row->fail("'position' and 'row' both give the constraint; give one of them");
    if (!position && !row)
      table_.field().fail(
          "'position' is missing; give an expression that must be 0, as in position = \"x^2 + y^2 - 1\", or a row over "
          "the velocities, as in row = [\"-sin(phi)\", \"cos(phi)\", 0]");
    if (rate && !row)
      rate->fail("it belongs to 'row'; a position that moves says so by t, as in position = \"x - 2*t\"");
    constraint.element.holonomic = position.has_value();
    if (position) constraint.position = function(*position, "the position");
    if (row) read_row(*row, constraint);
    if (rate)
      constraint.rate =
          rate->node->table() ? read_function(*rate, symbols_.table, std::nullopt) : function(*rate, "the rate");
    if (const auto soft = table_.find("viscoelastic"))
      constraint.element.viscoelastic = read_viscoelastic(*soft, symbols_);
    const FlatKinematics kinematics(symbols_.coordinates);
    table_.field().about([&] { ExpressionConstraints({constraint}, kinematics); });
    return constraint;
  }

 private:
  StateFunction function(const Field& field, const char* what) const {
    return read_function_of(field, symbols_, Arguments::time_position, what);
  }

  void read_row(const Field& row, ExpressionConstraint& constraint) const {
    const std::size_t n = row.list("a row, i.e. a list of one number or expression per coordinate,").size();
    if (n != symbols_.coordinates.size())
      row.fail(fmt::format("the row has {} entries, but there are {} coordinates", n, symbols_.coordinates.size()));
    for (std::size_t j = 0; j < n; ++j) constraint.row.push_back(function(row.item(j), "the row"));
  }

  TableReader table_;
  const StateSymbols& symbols_;
};

}  // namespace

std::vector<ExpressionConstraint> read_constraints(const Field& field, const StateSymbols& symbols,
                                                   std::set<std::string>& names) {
  return read_named(field, "constraint", "", names, [&](const Field& element, const std::string& name) {
    return ConstraintReader(element, symbols).read(name);
  });
}

StartPolicy read_start_policy(const Field& field) {
  const std::string& word = field.text("\"refuse\" or \"project\"");
  if (word == "refuse") return StartPolicy::refuse;
  if (word == "project") return StartPolicy::project;
  const std::vector<std::string> known{"refuse", "project"};
  field.fail(fmt::format("unknown word {}{}", in_quotes(word), hint(word, known)));
}

}  // namespace stickslip::model_detail
