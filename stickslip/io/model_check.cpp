// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/model_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stickslip/common/error.hpp"
#include "stickslip/io/tree_description.hpp"
#include "stickslip/model/collision/surface_mesh.hpp"
#include "stickslip/motion/friction_assembly.hpp"
#include "stickslip/motion/run_notes.hpp"

namespace stickslip {

namespace {

std::string describe(const ModelFile& model, const FrictionElement& law) {
  const SystemInfo& info = model.system->info();
  std::vector<std::string> directions;
  for (const Direction& direction : law.directions) {
    std::string text;
    for (const auto& [coordinate, coefficient] : direction)
      text += fmt::format("{}{}{}", text.empty() ? "" : " + ",
                          coefficient == 1 ? "" : fmt::format("{:g} ", coefficient), info.velocities[coordinate]);
    directions.push_back(text);
  }
  const bool angular = acts_on_angles(model, law);
  const char *force = angular ? "N m" : "N", *velocity = angular ? "rad/s" : "m/s";
  std::string text =
      fmt::format("dry friction on {}, limit {} {}", fmt::join(directions, ", "), law.limit.text(), force);
  if (law.static_limit) text += fmt::format(", static limit {} {}", law.static_limit->text(), force);
  if (law.weakening.shape != WeakeningShape::none)
    text += fmt::format(", {} weakening beta {:g}, epsilon {:g} {}", to_string(law.weakening.shape), law.weakening.beta,
                        law.weakening.epsilon, velocity);
  if (law.viscous > 0) text += fmt::format(", viscous {:g} {}", law.viscous, angular ? "N m s/rad" : "N s/m");
  for (const StateFunction& w : law.surface_velocity)
    text += fmt::format(", surface velocity {} {}", w.text(), velocity);
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
  if (!model.bodies || contact >= model.bodies->contacts.size()) return "";
  const BodyContact& law = model.bodies->contacts[contact];
  return fmt::format(" between {} and {}", law.first, law.second);
}

/// What the run would refuse at its first instant, in the same words.
void require_limits_at_the_start(const ModelFile& model) {
  SystemWorkspace workspace(*model.system);
  try {
    FrictionAssembly(*model.system)
        .evaluate_limits(model.run.start_time, model.initial.q, model.initial.v, workspace, false);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", model.path, error.what()));
  }
}

}  // namespace

std::vector<LawLine> describe_laws(const ModelFile& model) {
  std::vector<LawLine> lines;
  const System& system = *model.system;
  for (const FrictionElement& law : system.laws().friction())
    lines.push_back({law.name, "friction", describe(model, law)});
  for (std::size_t k = 0; k < system.laws().contacts().size(); ++k)
    lines.push_back(
        {system.laws().contacts()[k].name, "contact", describe(system.laws().contacts()[k]) + between(model, k)});
  for (const ConstraintElement& law : system.laws().constraints())
    lines.push_back({law.name, "constraint", describe(law)});
  return lines;
}

ModelCheck check_model(const ModelFile& model) {
  require_limits_at_the_start(model);
  ModelCheck found;
  if (model.has_run) {
    found.jumps = model.system->find_breakpoints(model.run.start_time, model.run.end_time);
    found.notes = run_notes(*model.system, model.run, found.jumps);
  } else {
    found.notes = model_notes(*model.system);
  }
  found.notes.insert(found.notes.begin(), model.notes.begin(), model.notes.end());
  return found;
}

std::vector<std::string> describe_surfaces(const ModelFile& model) {
  std::vector<std::string> lines;
  if (!model.bodies) return lines;
  for (const Shape& shape : model.bodies->shapes)
    if (shape.surface)
      lines.push_back(fmt::format("{}{}: {}", name_of(shape.kind), shape.name.empty() ? "" : " " + shape.name,
                                  describe(*shape.surface)));
  return lines;
}

std::string check_json(const std::string& named, const ModelFile& model, const ModelCheck& found) {
  const BreakpointSearch& jumps = found.jumps;
  constexpr std::size_t kMostTimes = 10000;
  const SystemInfo& info = model.system->info();
  nlohmann::ordered_json laws = nlohmann::ordered_json::array();
  for (const LawLine& law : describe_laws(model))
    laws.push_back({{"name", law.name}, {"kind", law.kind}, {"description", law.description}});
  nlohmann::ordered_json inputs = nlohmann::ordered_json::object();
  for (const ModelInput& input : model.inputs) inputs[input.name] = input.start;
  const std::vector<double> first(
      jumps.times.begin(), jumps.times.begin() + static_cast<std::ptrdiff_t>(std::min(kMostTimes, jumps.times.size())));
  nlohmann::ordered_json json{
      {"status", "success"},       {"model", named},
      {"title", model.title},      {"coordinates", info.coordinates},
      {"angles", model.angles},    {"degrees_of_freedom", info.nv() - model.constraint_rank.rank},
      {"matrices", model.storage}, {"laws", laws},
      {"tables", model.tables},    {"inputs", inputs},
      {"breakpoints", first},      {"breakpoint_count", jumps.times.size()},
      {"notes", found.notes}};
  if (const auto surfaces = describe_surfaces(model); !surfaces.empty()) json["surfaces"] = surfaces;
  if (model.tree) json["tree"] = describe_tree(model);
  if (model.constraint_rank.rows > 0)
    json["constraints"] = {{"rows", model.constraint_rank.rows},
                           {"rank", model.constraint_rank.rank},
                           {"dependent", model.constraint_rank.dependent}};
  if (model.has_run)
    json["run"] = {{"scheme", to_string(model.run.scheme)},
                   {"step", model.run.step},
                   {"steps", model.run.steps},
                   {"end_time", model.run.end_time}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace stickslip
