// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/example_models.hpp"
#include "cli/terminal.hpp"
#include "papers/papers.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/motion/scheme.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip::cli {

namespace {

struct Entry {
  std::string name, description;
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kLaws{{
    {"friction", "[[friction]] on = \"x\" or direction = [..]: dry friction with a limit, one component; exact stick"},
    {"planar friction", "[[friction]] on = [\"x\", \"y\"], set = \"disk\" | \"polygon\" | \"box\": two components"},
    {"static limit", "[[friction]] static_limit >= limit: break-away only"},
    {"weakening, algebraic",
     "[[friction]] weakening = { shape, beta, epsilon }, while slipping: 1 - beta s/sqrt(1 + s^2)"},
    {"weakening, arctan", "likewise: 1 - beta (2/pi) arctan(s)"},
    {"weakening, tanh", "likewise: 1 - beta tanh(s)"},
    {"weakening, clamp", "likewise: 1 - beta min(s, 1)"},
    {"weakening, exponential", "likewise: 1 - beta (1 - exp(-s)); s = |slip velocity|/epsilon in all of them"},
    {"viscous part", "[[friction]] viscous: a force proportional to the slip velocity, beside the limit"},
    {"moving surface", "surface_velocity in [[friction]] and [[contact]]: a belt, a turning ground"},
    {"contact", "[[contact]] gap = \"..\", or between = [a, b] of bodies with shapes: unilateral, without friction"},
    {"contact with friction", "[[contact]] mu, with slip = [..] or slip_rows: Coulomb's cone in the plane or in space"},
    {"static contact friction", "[[contact]] mu_static >= mu: for a point that sticks"},
    {"polygonal cones", "[[contact]] cone = \"polygon\" with facets, or \"box\", instead of the round one"},
    {"impact", "[[contact]] restitution in [0, 1], impact = \"newton\" | \"poisson\" | \"energetic\""},
    {"holonomic constraint", "[[constraint]] position = \"..\" that must be 0"},
    {"nonholonomic constraint", "[[constraint]] row = [..], rate: row . v = rate (rolling, a skate)"},
    {"viscoelastic constraint",
     "[[constraint]] viscoelastic = { stiffness, damping, epsilon, exponent }: a spring-damper"},
}};

std::vector<Entry> entries(const std::string& what) {
  std::vector<Entry> list;
  if (what == "schemes")
    for (const SchemeDescription& s : scheme_table())
      list.push_back(
          {std::string(s.name), fmt::format("{}. Takes: {}. Guarantees: {}.", s.source, s.takes, s.guarantees)});
  if (what == "solvers")
    for (const SolverInfo& s : solver_table()) list.push_back({std::string(s.name), std::string(s.description)});
  if (what == "laws")
    for (const auto& [name, description] : kLaws) list.push_back({std::string(name), std::string(description)});
  if (what == "models")
    for (const ExampleModel& model : example_models()) list.push_back({model.path, model.title});
  if (what == "papers")
    for (const PaperInfo& paper : paper_table())
      list.push_back({std::string(paper.name), std::string(paper.reference)});
  return list;
}

}  // namespace

int list(const ListCommand& command) {
  static const std::array<std::string, 5> kinds{"schemes", "solvers", "laws", "models", "papers"};
  if (std::find(kinds.begin(), kinds.end(), command.what) == kinds.end())
    throw InputError(fmt::format("list: unknown '{}'{}", command.what, name_hint(command.what, kinds)));
  const std::vector<Entry> found = entries(command.what);
  if (command.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Entry& entry : found) json.push_back({{"name", entry.name}, {"description", entry.description}});
    print_out("{}\n", nlohmann::ordered_json{{command.what, json}}.dump(2));
    return kSuccess;
  }
  if (found.empty())
    print_error("stickslip: no {} found; the models folder lies beside the sources or in share/stickslip\n",
                command.what);
  std::size_t width = 0;
  for (const Entry& entry : found) width = std::max(width, entry.name.size());
  for (const Entry& entry : found) print_out("{:<{}}  {}\n", entry.name, width, entry.description);
  return kSuccess;
}

}  // namespace stickslip::cli
