// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::cli {

namespace {

std::string describe(const StateFunction& f) {
  if (f.is_constant()) return fmt::format("{:g}", f({}));
  return f.expression() ? f.expression()->text() : "table over time";
}

std::string describe(const SystemInfo& info, const FrictionElement& law) {
  std::vector<std::string> directions;
  for (const Direction& direction : law.directions) {
    std::string text;
    for (const auto& [coordinate, coefficient] : direction)
      text += fmt::format("{}{}{}", text.empty() ? "" : " + ",
                          coefficient == 1 ? "" : fmt::format("{:g} ", coefficient), info.coordinates[coordinate]);
    directions.push_back(text);
  }
  std::string text = fmt::format("dry friction on {}, limit {} N", fmt::join(directions, ", "), describe(law.limit));
  if (law.static_limit) text += fmt::format(", static limit {} N", describe(*law.static_limit));
  if (law.weakening.shape != WeakeningShape::none)
    text += fmt::format(", {} weakening beta {:g}, epsilon {:g} m/s", to_string(law.weakening.shape),
                        law.weakening.beta, law.weakening.epsilon);
  if (law.viscous > 0) text += fmt::format(", viscous {:g} N s/m", law.viscous);
  for (const StateFunction& w : law.surface_velocity) text += fmt::format(", surface velocity {} m/s", describe(w));
  return text;
}

std::string describe(const ContactElement& law) {
  std::string text =
      law.tangents == 0 ? "contact without friction" : fmt::format("contact with friction, mu {:g}", law.mu);
  if (law.mu_static) text += fmt::format(", static {:g}", *law.mu_static);
  if (law.cone == SetKind::box_cone) text += ", box section";
  if (law.cone == SetKind::polygonal_cone) text += fmt::format(", section with {} facets", law.facets);
  return text + fmt::format(", restitution {:g} ({})", law.restitution, to_string(law.impact));
}

std::string describe(const ConstraintElement& constraint) {
  std::string text = constraint.holonomic ? "holonomic constraint" : "nonholonomic constraint";
  if (const auto& soft = constraint.viscoelastic)
    text += fmt::format(", viscoelastic with stiffness {:g} N/m, damping {:g} N s/m, epsilon {:g}, exponent {:g}{}",
                        soft->stiffness, soft->damping, soft->epsilon, soft->exponent,
                        soft->prepared ? "" : ", not prepared");
  return text;
}

std::string between(const ModelFile& model, std::size_t contact) {
  if (!model.bodies) return "";
  const BodyContact& law = model.bodies->contacts[contact];
  return fmt::format(" between {} and {}", law.first, law.second);
}

/// Gap of the closest contact at the start, if any is near.
std::string start_gaps(const ModelFile& model) {
  SystemWorkspace workspace(model.system->info());
  ContactPoints found;
  const double near = 0.01 * model.system->length_scale();
  model.system->find_contacts(model.run.start_time, model.initial.q, near, workspace, found);
  double deepest = 0;
  for (const ContactSite& point : found.points) deepest = std::max(deepest, -point.gap);
  return fmt::format("{} contact points closer than {:.3g} m{}", found.points.size(), near,
                     deepest > 0 ? fmt::format(", deepest penetration {:.3g} m", deepest) : "");
}

}  // namespace

int check(const CheckCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  const SystemInfo& info = model.system->info();
  std::vector<double> breakpoints;
  if (model.has_run) {
    require_supported(model.run.scheme, *model.system);
    breakpoints = model.system->breakpoints(model.run.start_time, model.run.end_time);
  }
  if (command.json) {
    nlohmann::ordered_json laws = nlohmann::ordered_json::array();
    for (const FrictionElement& law : model.system->friction())
      laws.push_back({{"name", law.name}, {"kind", "friction"}, {"description", describe(info, law)}});
    for (std::size_t k = 0; k < model.system->contacts().size(); ++k) {
      const ContactElement& law = model.system->contacts()[k];
      laws.push_back({{"name", law.name}, {"kind", "contact"}, {"description", describe(law) + between(model, k)}});
    }
    for (const ConstraintElement& constraint : model.system->constraints())
      laws.push_back({{"name", constraint.name}, {"kind", "constraint"}, {"description", describe(constraint)}});
    nlohmann::ordered_json json{{"status", "success"},
                                {"model", command.model},
                                {"title", model.title},
                                {"coordinates", info.coordinates},
                                {"degrees_of_freedom", info.nv() - model.constraint_rank.rank},
                                {"matrices", model.storage},
                                {"laws", laws},
                                {"breakpoints", breakpoints}};
    if (model.constraint_rank.rows > 0)
      json["constraints"] = {{"rows", model.constraint_rank.rows},
                             {"rank", model.constraint_rank.rank},
                             {"dependent", model.constraint_rank.dependent}};
    if (model.has_run)
      json["run"] = {{"scheme", to_string(model.run.scheme)},
                     {"step", model.run.step},
                     {"steps", model.run.steps},
                     {"end_time", model.run.end_time}};
    fmt::print("{}\n", json.dump(2));
    return kSuccess;
  }
  fmt::print("{}\n", model.title.empty() ? command.model : model.title);
  for (const auto& [name, value] : model.parameters) fmt::print("  parameter  {} = {:g}\n", name, value);
  std::vector<std::string> shown(info.coordinates.begin(), info.coordinates.begin() + std::min<Index>(info.nq(), 12));
  const auto& constraints = model.system->constraints();
  fmt::print("  system     {} {} ({}{}), matrices {}\n", info.nv(),
             constraints.empty() ? "degrees of freedom" : "coordinates", fmt::join(shown, ", "),
             info.nq() > 12 ? ", ..." : "", model.storage);
  const auto& laws = model.system->friction();
  for (std::size_t k = 0; k < laws.size() && k < 20; ++k)
    fmt::print("  law        {}: {}\n", laws[k].name, describe(info, laws[k]));
  if (laws.size() > 20) fmt::print("  law        ... and {} more\n", laws.size() - 20);
  const auto& contacts = model.system->contacts();
  for (std::size_t k = 0; k < contacts.size() && k < 20; ++k)
    fmt::print("  law        {}: {}{}\n", contacts[k].name, describe(contacts[k]), between(model, k));
  if (contacts.size() > 20) fmt::print("  law        ... and {} more\n", contacts.size() - 20);
  for (std::size_t k = 0; k < constraints.size() && k < 20; ++k)
    fmt::print("  law        {}: {}\n", constraints[k].name, describe(constraints[k]));
  if (constraints.size() > 20) fmt::print("  law        ... and {} more\n", constraints.size() - 20);
  if (!constraints.empty()) fmt::print("  start      {}\n", describe(model.constraint_rank));
  if (model.bodies)
    fmt::print("  bodies     {} with {} shapes (ground included), {} springs\n", model.bodies->bodies.size(),
               model.bodies->shapes.size(), model.bodies->springs.size());
  if (!contacts.empty()) fmt::print("  contacts   {}\n", start_gaps(model));
  fmt::print("  initial    t = {:g} s, kinetic energy {:.6g} J, potential energy {:.6g} J\n", model.run.start_time,
             model.system->kinetic_energy(model.initial.q, model.initial.v),
             model.system->potential_energy(model.initial.q));
  if (!model.has_run) {
    fmt::print("  run        no [run] table: the model can be checked but not run\n");
    return kSuccess;
  }
  fmt::print("  run        scheme {}, {} to t = {:g} s\n", to_string(model.run.scheme),
             chooses_own_steps(model.run.scheme) ? fmt::format("tolerance {:g}", model.run.tolerance)
             : model.run.steps > 0               ? fmt::format("{} steps", model.run.steps)
                                                 : fmt::format("step {:g} s", model.run.step),
             model.run.end_time);
  if (!breakpoints.empty())
    fmt::print("  jumps      {} times at which a force, limit or surface velocity has a jump or kink; first {:.9g} s\n",
               breakpoints.size(), breakpoints.front());
  return kSuccess;
}

}  // namespace stickslip::cli
