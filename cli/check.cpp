// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/model_check.hpp"
#include "stickslip/io/tree_description.hpp"

namespace stickslip::cli {

namespace {

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

void print_system(const ModelFile& model) {
  constexpr std::size_t kMostLaws = 20;
  const SystemInfo& info = model.system->info();
  for (const auto& [name, value] : model.parameters) print_out("  parameter  {} = {:g}\n", name, value);
  for (const std::string& table : model.tables) print_out("  table      {}\n", table);
  for (const ModelInput& input : model.inputs)
    print_out("  input      {}(t) = {:g} until a program sets it\n", input.name, input.start);
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
  for (const std::string& line : describe_surfaces(model)) print_out("  surface    {}\n", line);
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

}  // namespace

int check(const CheckCommand& command) {
  const ModelFile model = read_model(command.model, command.set);
  const ModelCheck found = check_model(model);
  if (command.json) {
    print_out("{}", check_json(command.model, model, found));
    return kSuccess;
  }
  print_out("{}\n", model.title.empty() ? command.model : model.title);
  print_system(model);
  print_run(model, found.jumps);
  for (const std::string& note : found.notes) print_out("  note       {}\n", note);
  return kSuccess;
}

}  // namespace stickslip::cli
