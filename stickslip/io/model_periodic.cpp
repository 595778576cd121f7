// SPDX-License-Identifier: Apache-2.0
// [periodic] of a model file.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/periodic/require_branch.hpp"

namespace stickslip::model_detail {

namespace {

/// (period, coordinates, v_<coordinate>): the layout of StateFunction with the period in place of the time.
SymbolTable orbit_symbols(const ModelContext& context, const std::vector<std::string>& coordinates) {
  SymbolTable symbols;
  symbols.add_variable(context.parameters.find("period") ? "T" : "period");
  for (const std::string& name : coordinates) symbols.add_variable(name);
  for (const std::string& name : coordinates) symbols.add_variable("v_" + name);
  for (const std::string& name : context.parameters.names())
    if (!symbols.find(name) && name != "pi") symbols.add_constant(name, context.parameters.find(name)->value);
  add_tables(context, symbols);
  return symbols;
}

BranchOptions read_continuation(const Field& field) {
  const TableReader table(field, {"parameter", "from", "to", "step"});
  BranchOptions branch;
  branch.parameter = table.require("parameter", "name the number that changes").text("the name of a number");
  branch.from = table.require("from", "give the value at which the branch begins").number();
  branch.to = table.require("to", "give the value at which it ends").number();
  if (const auto step = table.find("step")) {
    branch.step = step->number();
    if (branch.step == 0) step->fail("a step of 0 leads nowhere; leave it out for a hundredth of the way");
  }
  field.about([&] { require_branch(branch); });
  return branch;
}

CyclicSymmetry read_cyclic(const Field& field, const std::vector<std::string>& coordinates) {
  const TableReader table(field, {"sectors", "diameter", "left", "right"});
  CyclicSymmetry cyclic;
  cyclic.sectors = static_cast<int>(table.require("sectors", "give the number of sectors").integer(1, 1'000'000));
  cyclic.diameter = static_cast<int>(
      table.require("diameter", "give the number of nodal diameters of the wave").integer(0, 1'000'000));
  const auto cut = [&](const char* side) {
    const Field names = table.require(side, "name the coordinates on this cut, in the order of the other one");
    std::vector<Index> numbers;
    for (std::size_t k = 0; k < names.list("a list of names of coordinates").size(); ++k) {
      const std::string& name = names.item(k).text("the name of a coordinate");
      const auto found = std::find(coordinates.begin(), coordinates.end(), name);
      if (found == coordinates.end())
        names.item(k).fail(fmt::format("there is no coordinate '{}'{}", name, hint(name, coordinates)));
      numbers.push_back(found - coordinates.begin());
    }
    return numbers;
  };
  const std::vector<Index> left = cut("left"), right = cut("right");
  if (left.size() != right.size())
    field.fail(fmt::format("'left' has {} coordinates and 'right' {}; they belong together in pairs", left.size(),
                           right.size()));
  for (std::size_t k = 0; k < left.size(); ++k) cyclic.pairs.emplace_back(left[k], right[k]);
  field.about([&] { cyclic.validate(static_cast<Index>(coordinates.size())); });
  return cyclic;
}

NonlinearModeOptions read_mode(const Field& field, const std::vector<std::string>& coordinates) {
  const TableReader table(field, {"number", "coordinate", "from", "to", "points", "sticking"});
  NonlinearModeOptions mode;
  table.integer("number", mode.number, 1);
  table.integer("points", mode.points, 2);
  table.boolean("sticking", mode.sticking);
  mode.from = table.require("from", "give the amplitude at which the mode begins").number(kPositive);
  mode.to = table.require("to", "give the amplitude at which it ends").number(kPositive);
  if (const auto name = table.find("coordinate")) {
    const std::string& word = name->text("the name of a coordinate");
    const auto found = std::find(coordinates.begin(), coordinates.end(), word);
    if (found == coordinates.end())
      name->fail(fmt::format("there is no coordinate '{}'{}", word, hint(word, coordinates)));
    mode.coordinate = found - coordinates.begin();
  }
  field.about([&] { mode.validate(); });
  return mode;
}

}  // namespace

PeriodicSection read_periodic(const Field& field, const std::vector<std::string>& coordinates) {
  const TableReader table(field, {"period",          "periods",
                                  "autonomous",      "phase",
                                  "condition",       "method",
                                  "harmonics",       "samples",
                                  "steps",           "spline_displacement",
                                  "spline_reaction", "law",
                                  "polish",          "rho",
                                  "start",           "start_periods",
                                  "start_file",      "tolerance",
                                  "max_iterations",  "continue",
                                  "cyclic",          "mode"});
  PeriodicSection section;
  PeriodicOptions& o = section.options;
  o.period = table.require("period", "give the period of the excitation in s, or autonomous = true and a first guess")
                 .number(kPositive);
  table.integer("periods", o.periods, 1);
  table.boolean("autonomous", o.autonomous);
  table.word("method", [&](std::string_view word) { o.method = periodic_method_from(word); });
  constexpr int kAny = std::numeric_limits<int>::min();  // validate() knows both ends
  table.integer("harmonics", o.harmonics, kAny);
  table.integer("samples", o.samples, 0);
  table.integer("steps", o.steps, kAny);
  table.integer("spline_displacement", o.spline_displacement, 0);
  table.integer("spline_reaction", o.spline_reaction, 0);
  table.word("law", [&](std::string_view word) { o.law = law_form_from(word); });
  table.boolean("polish", o.polish);
  table.number("rho", o.rho, kPositive);
  table.word("start", [&](std::string_view word) { o.start = periodic_start_from(word); });
  table.integer("start_periods", o.start_periods, 0);
  table.number("tolerance", o.tolerance, kPositive);
  table.integer("max_iterations", o.max_iterations, 1);
  if (const auto file = table.find("start_file")) {
    o.start_file = field.context->resolve(file->text("the name of an orbit.csv"));
    o.start = PeriodicStart::file;
  }
  if (o.start == PeriodicStart::file && o.start_file.empty())
    field.fail("start = \"file\" needs start_file = the orbit.csv of an earlier result");
  const SymbolTable symbols = orbit_symbols(*field.context, coordinates);
  const auto read = [&](const char* key, std::optional<StateFunction>& f) {
    if (const auto text = table.find(key))
      f = text->about(
          [&] { return StateFunction(Expression::parse(text->text("an expression that is 0 at t = 0"), symbols)); });
  };
  read("phase", o.phase);
  read("condition", o.condition);
  if (!o.autonomous && (o.phase || o.condition))
    field.fail("'phase' and 'condition' belong to autonomous = true; a forced motion has the phase of its excitation");
  if (const auto cyclic = table.find("cyclic")) o.cyclic = read_cyclic(*cyclic, coordinates);
  if (const auto mode = table.find("mode")) section.mode = read_mode(*mode, coordinates);
  if (const auto branch = table.find("continue")) section.branch = read_continuation(*branch);
  field.about([&] { o.validate(); });
  return section;
}

}  // namespace stickslip::model_detail
