// SPDX-License-Identifier: Apache-2.0
// { function = "name" } of a model: a function of the program.
#include <fmt/format.h>

#include <algorithm>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::model_detail {

namespace {

/// Of the variables (t, q, v, ...) of a function.
struct Layout {
  std::vector<std::string> positions, velocities;
};

Layout layout_of(const SymbolTable& symbols) {
  const std::vector<std::string>& names = symbols.variables();
  const auto end = std::find(names.begin(), names.end(), "i");
  const std::vector<std::string> state(names.begin() + 1, end);
  // Every rotation in space has four positions and three velocities; the first of the four is named <hinge>.qw.
  const auto quaternions = std::count_if(state.begin(), state.end(), [](const std::string& name) {
    const std::size_t dot = name.rfind('.');
    return dot != std::string::npos && std::string_view(name).substr(dot + 1).starts_with("qw");
  });
  const auto first = state.begin() + (std::ssize(state) + quaternions) / 2;
  return {{state.begin(), first}, {first, state.end()}};
}

std::optional<std::vector<Index>> named(const TableReader& table, const char* key,
                                        const std::vector<std::string>& names) {
  const auto field = table.find(key);
  if (!field) return std::nullopt;
  std::vector<Index> found;
  const std::size_t count = field->list("a list of names").size();
  for (std::size_t k = 0; k < count; ++k) {
    const Field item = field->item(k);
    const std::string& name = item.text("a name");
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) item.fail(fmt::format("there is no {}{}", in_quotes(name), hint(name, names)));
    found.push_back(at - names.begin());
  }
  return found;
}

Degree degree_from(std::string_view word) {
  if (word == "constant") return Degree::constant;
  if (word == "affine") return Degree::affine;
  if (word == "quadratic") return Degree::quadratic;
  if (word == "any") return Degree::any;
  const std::vector<std::string> known{"constant", "affine", "quadratic", "any"};
  throw InputError(fmt::format("unknown degree {}{}", in_quotes(word), hint(word, known)));
}

}  // namespace

StateFunction read_program_function(const Field& field, const SymbolTable& symbols) {
  const TableReader table(field, {"function", "time", "positions", "velocities", "degree", "breakpoints"});
  const Field called = *table.find("function");
  const std::string& name = called.text("the name of a function of the program");
  const ProgramFunctions* functions = field.context->functions;
  if (!functions || functions->empty())
    called.fail("functions come from a program (Python or C++) that makes the model; a file has expressions");
  const auto found = functions->find(name);
  if (found == functions->end()) {
    std::vector<std::string> known;
    for (const auto& each : *functions) known.push_back(each.first);
    called.fail(fmt::format("the program gives no function {}{}", in_quotes(name), hint(name, known)));
  }
  const Layout layout = layout_of(symbols);
  CallableFacts facts{.positions = named(table, "positions", layout.positions),
                      .velocities = named(table, "velocities", layout.velocities),
                      .text = fmt::format("function {} of the program", name)};
  table.boolean("time", facts.time);
  table.word("degree", [&](std::string_view word) { facts.degree = degree_from(word); });
  if (const auto times = table.find("breakpoints"))
    for (std::size_t k = 0; k < times->list("a list of times").size(); ++k)
      facts.breakpoints.push_back(times->item(k).number());
  const auto nq = static_cast<Index>(layout.positions.size()), nv = static_cast<Index>(layout.velocities.size());
  return field.about([&] {
    if (nq > 0) return function_of(nq, nv, found->second, facts);
    return function_of_time([f = found->second](double t) { return f(t, {}, {}); }, facts);
  });
}

}  // namespace stickslip::model_detail
