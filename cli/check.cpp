// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/check_tree.hpp"
#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/friction_assembly.hpp"
#include "stickslip/motion/run_notes.hpp"

namespace stickslip::cli {

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

/// Gap of the closest contact at the start, if any is near.
std::string start_gaps(const ModelFile& model) {
  SystemWorkspace workspace(*model.system);
  ContactPoints found;
  constexpr double kNear = 0.01;  // of the smallest shape; m where there are no shapes
  const ContactSource& source = model.system->laws().contact_source();
  const double near = kNear * (source.length() > 0 ? source.length() : 1.0);
  source.find(model.run.start_time, model.initial.q, near, workspace, found);
  double deepest = 0;
  for (const ContactSite& point : found.points) deepest = std::max(deepest, -point.gap);
  return fmt::format("{} contact {} closer than {:.3g} m{}", found.points.size(),
                     found.points.size() == 1 ? "point" : "points", near,
                     deepest > 0 ? fmt::format(", deepest penetration {:.3g} m", deepest) : "");
}

std::string plural(Index count, const char* one, const char* several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

/// Names of the coordinates, with what is an angle; free bodies by their names.
std::string describe_coordinates(const ModelFile& model) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> names;
  if (model.bodies && !model.tree) {
    for (const RigidBody& body : model.bodies->bodies) names.push_back(body.name);
  } else {
    for (const std::string& name : model.system->info().coordinates)
      names.push_back(std::count(model.angles.begin(), model.angles.end(), name) > 0 ? name + " [rad]" : name);
  }
  const bool more = names.size() > kMost;
  names.resize(std::min(names.size(), kMost));
  return fmt::format("{}{}{}", model.bodies && !model.tree ? "position and rotation of " : "", fmt::join(names, ", "),
                     more ? ", ..." : "");
}

/// What laws are called and do, in the order of the file.
struct LawLine {
  std::string name, kind, description;
};
std::vector<LawLine> describe_laws(const ModelFile& model) {
  std::vector<LawLine> lines;
  const System& system = *model.system;
  for (const FrictionElement& law : system.laws().friction()) lines.push_back({law.name, "friction", describe(model, law)});
  for (std::size_t k = 0; k < system.laws().contacts().size(); ++k)
    lines.push_back({system.laws().contacts()[k].name, "contact", describe(system.laws().contacts()[k]) + between(model, k)});
  for (const ConstraintElement& law : system.laws().constraints()) lines.push_back({law.name, "constraint", describe(law)});
  return lines;
}

void print_json(const CheckCommand& command, const ModelFile& model, const BreakpointSearch& jumps,
                const std::vector<std::string>& notes) {
  constexpr std::size_t kMostTimes = 10000;
  const SystemInfo& info = model.system->info();
  nlohmann::ordered_json laws = nlohmann::ordered_json::array();
  for (const LawLine& law : describe_laws(model))
    laws.push_back({{"name", law.name}, {"kind", law.kind}, {"description", law.description}});
  const std::vector<double> first(
      jumps.times.begin(), jumps.times.begin() + static_cast<std::ptrdiff_t>(std::min(kMostTimes, jumps.times.size())));
  nlohmann::ordered_json json{{"status", "success"},
                              {"model", command.model},
                              {"title", model.title},
                              {"coordinates", info.coordinates},
                              {"angles", model.angles},
                              {"degrees_of_freedom", info.nv() - model.constraint_rank.rank},
                              {"matrices", model.storage},
                              {"laws", laws},
                              {"tables", model.tables},
                              {"breakpoints", first},
                              {"breakpoint_count", jumps.times.size()},
                              {"notes", notes}};
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
  print_out("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void print_system(const ModelFile& model) {
  constexpr std::size_t kMostLaws = 20;
  const SystemInfo& info = model.system->info();
  for (const auto& [name, value] : model.parameters) print_out("  parameter  {} = {:g}\n", name, value);
  for (const std::string& table : model.tables) print_out("  table      {}\n", table);
  const auto& constraints = model.system->laws().constraints();
  print_out("  system     {} ({}), matrices {}\n",
            constraints.empty() ? plural(info.nv(), "degree of freedom", "degrees of freedom")
                                : plural(info.nv(), "coordinate", "coordinates"),
            describe_coordinates(model), model.storage);
  const std::vector<LawLine> laws = describe_laws(model);
  for (std::size_t k = 0; k < laws.size() && k < kMostLaws; ++k)
    print_out("  law        {}: {}\n", laws[k].name, laws[k].description);
  if (laws.size() > kMostLaws) print_out("  law        ... and {} more\n", laws.size() - kMostLaws);
  if (!constraints.empty()) print_out("  start      {}\n", describe(model.constraint_rank));
  if (model.bodies)
    print_out("  bodies     {} with {} (ground included), {}\n",
              plural(static_cast<Index>(model.bodies->bodies.size()), "body", "bodies"),
              plural(static_cast<Index>(model.bodies->shapes.size()), "shape", "shapes"),
              plural(static_cast<Index>(model.bodies->springs.size()), "spring", "springs"));
  for (const std::string& line : describe_tree(model)) print_out("  tree       {}\n", line);
  if (!model.system->laws().contacts().empty()) print_out("  contacts   {}\n", start_gaps(model));
  print_out("  initial    t = {:g} s, kinetic energy {:.6g} J, potential energy {:.6g} J\n", model.run.start_time,
            model.system->inertia().kinetic_energy(model.initial.q, model.initial.v),
            model.system->forces().potential_energy(model.initial.q));
}

void print_run(const ModelFile& model, const BreakpointSearch& jumps) {
  if (!model.has_run) return print_out("  run        no [run] table: the model can be checked but not run\n");
  print_out("  run        scheme {}, {} to t = {:g} s\n", to_string(model.run.scheme),
            chooses_own_steps(model.run.scheme) ? fmt::format("tolerance {:g}", model.run.tolerance)
            : model.run.steps > 0               ? fmt::format("{} steps", model.run.steps)
                                                : fmt::format("step {:g} s", model.run.step),
            model.run.end_time);
  if (!jumps.times.empty())
    print_out("  jumps      {} times at which a force, limit or surface velocity has a jump or kink; first {:.9g} s\n",
              jumps.times.size(), jumps.times.front());
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

int check(const CheckCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  require_limits_at_the_start(model);
  BreakpointSearch jumps;
  std::vector<std::string> notes;
  if (model.has_run) {
    jumps = model.system->find_breakpoints(model.run.start_time, model.run.end_time);
    notes = run_notes(*model.system, model.run, jumps);
  } else {
    notes = model_notes(*model.system);
  }
  notes.insert(notes.begin(), model.notes.begin(), model.notes.end());
  if (command.json) {
    print_json(command, model, jumps, notes);
    return kSuccess;
  }
  print_out("{}\n", model.title.empty() ? command.model : model.title);
  print_system(model);
  print_run(model, jumps);
  for (const std::string& note : notes) print_out("  note       {}\n", note);
  return kSuccess;
}

}  // namespace stickslip::cli
