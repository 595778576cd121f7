// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/model_sweep.hpp"
#include "stickslip/io/model_tree.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/model/multibody/tree_map.hpp"

namespace stickslip {

namespace {

using namespace model_detail;

constexpr std::size_t kLargestFile = 64 * kMebibyte;

/// The system is given by exactly one of [matrices], [equations], and bodies.
void require_one_system(const ModelContext& context, const TomlTable& root) {
  const auto kind_of = [](const std::string& key) -> std::string {
    if (key == "matrices" || key == "equations") return "[" + key + "]";
    if (key == "body" || key == "hinge" || key == "loop" || key == "shape" || key == "urdf" || key == "mjcf")
      return "bodies";
    return "";
  };
  std::string first;
  for (const TomlEntry& entry : root) {
    const std::string kind = kind_of(entry.key);
    if (kind.empty()) continue;
    if (!first.empty() && kind != first)
      context.fail(entry.place, entry.key,
                   fmt::format("the system is already given by {}; two systems in one file are not possible", first));
    first = kind;
  }
}

std::vector<std::string> initial_keys() { return {"position", "velocity", "deformation", "consistent"}; }

/// All of them, or { name = value, .. } with 0 for the rest; a number in the place of a name counts from 0, as in
/// --set initial.position.0=1.
Vector read_initial(const std::optional<TableReader>& table, const char* key, const std::vector<std::string>& names) {
  const auto n = static_cast<Index>(names.size());
  const auto field = table ? table->find(key) : std::nullopt;
  if (!field) return Vector::Zero(n);
  if (!field->node->table()) return read_vector(*field, n, "coordinates");
  Vector values = Vector::Zero(n);
  for (const TomlEntry& entry : *field->node->table()) {
    const Field item{field->context, &entry.node, field->key + "." + entry.key};
    const auto found = std::find(names.begin(), names.end(), entry.key);
    long long at = found - names.begin();
    if (found == names.end()) {
      const auto number = parse_integer(entry.key);
      if (!number) item.fail(fmt::format("there is no coordinate {}{}", in_quotes(entry.key), hint(entry.key, names)));
      if (*number < 0 || *number >= n) item.fail(fmt::format("the index {} must lie in 0 .. {}", *number, n - 1));
      at = *number;
    }
    values[static_cast<Index>(at)] = item.number();
  }
  return values;
}

std::string describe_storage(const SystemMatrix& matrix) {
  switch (matrix.storage()) {
    case Storage::dense:
      return "dense";
    case Storage::banded:
      return fmt::format("banded ({} below, {} above)", matrix.banded().lower(), matrix.banded().upper());
    case Storage::sparse:
      return fmt::format("sparse ({} entries)", matrix.sparse().nonZeros());
  }
  return "";
}

/// What every kind of system hands to the rest of the reading.
struct SystemPart {
  std::shared_ptr<const System> system;
  StateSymbols symbols;  ///< what [[drawing]] may name
  Field inertia;         ///< what a mass that is not positive definite is blamed on
  std::string reduced;   ///< what a reduction did
};

/// Laws of a system with coordinates, then the system. `Section`: MatricesSection or EquationsSection.
template <class Section>
SystemPart finish_system(const TableReader& table, Section section, const std::string& title) {
  auto& model = section.model;
  model.title = title;
  std::set<std::string> names;
  if (const auto friction = table.find("friction")) {
    SymbolTable symbols = section.symbols.table;
    add_reactions(table, symbols);
    model.friction = read_friction(*friction, model.coordinates, symbols);
  }
  for (const FrictionElement& law : model.friction) names.insert(law.name);
  if (const auto contact = table.find("contact")) model.contacts = read_contacts(*contact, section.symbols, names);
  if (const auto constraint = table.find("constraint"))
    model.constraints = read_constraints(*constraint, section.symbols, names);
  if (const auto compliance = table.find("compliance"))
    model.compliance = read_coupled_compliance(*compliance, model.contacts, section.symbols);
  // All that is left to check are properties of the inertia.
  std::shared_ptr<const System> system = section.inertia.about([&] { return make_system(std::move(model)); });
  std::string reduced;
  if constexpr (requires { section.reduced; }) reduced = std::move(section.reduced);
  return {std::move(system), std::move(section.symbols), section.inertia, std::move(reduced)};
}

/// Keys that belong to bodies, or to systems with coordinates, alone.
void refuse_sections(const TableReader& table, std::initializer_list<const char*> keys, const char* remedy) {
  for (const char* key : keys)
    if (const auto field = table.find(key)) field->fail(remedy);
}

void read_body_system(const TableReader& table, ModelFile& model) {
  refuse_sections(table, {"compliance"}, "points of bodies come and go; give `compliance` of each [[contact]]");
  if (const auto initial = table.find("initial"))
    TableReader(*initial, {"consistent"},
                {{"position", "bodies start at position_0 and orientation_0, hinges at their position_0"},
                 {"velocity", "bodies start at velocity_0 and spin_0, hinges at their velocity_0"},
                 {"deformation", "points of bodies come and go; they have no deformation at the start"}});
  refuse_sections(table, {"drawing"}, "bodies are drawn by their shapes; give [[shape]]");
  const Field first = table.require("body", "give at least one [[body]]");
  BodyModel bodies = read_bodies(table);
  bodies.title = model.title;
  about_parts(table, first, [&] {
    model.initial.q = start_positions(bodies);
    model.initial.v = start_velocities(bodies);
    model.bodies = std::make_shared<const BodyModel>(bodies);
    if (bodies.is_tree()) {
      BodyModel complete = bodies;
      complete_inertia(complete);
      model.tree = std::make_shared<const Tree>(make_tree(complete));
      const std::shared_ptr<const Tree> free = TreeMap(model.tree).free();
      for (std::size_t k = 0; k < free->velocities.size(); ++k)
        if (free->velocity[k].rotation) model.angles.push_back(free->velocities[k]);
    }
    model.system = make_system(std::move(bodies));
  });
}

SystemPart read_system(const TableReader& table, const std::string& title) {
  refuse_sections(table, {"load", "motor", "coupling"},
                  "it belongs to bodies with hinges; put it into force or [[constraint]]");
  refuse_sections(table, {"gravity"}, "it acts on bodies; put the weight into force or potential");
  refuse_sections(table, {"spring"},
                  "put it into the stiffness and damping matrices, or into potential and dissipation");
  if (const auto equations = table.find("equations")) return finish_system(table, read_equations(*equations), title);
  const Field matrices =
      table.require("matrices", "give the system by a table [matrices] or [equations], or by [[body]]");
  return finish_system(table, read_matrices(matrices), title);
}

/// Of all matrices together where they are constant, of the mass at the start otherwise.
std::string storage_at(const System& system, const Vector& q) {
  if (const LinearPart* linear = system.linear())
    return describe_storage(MatrixSum({&linear->M, &linear->B, &linear->K}).value());
  SystemWorkspace workspace(system);
  return describe_storage(system.inertia().mass(q, workspace));
}

void read_coordinate_system(const TableReader& table, ModelFile& model) {
  SystemPart part = read_system(table, model.title);
  model.system = std::move(part.system);
  model.angles = read_angles(table.field(), *table.find(table.has("matrices") ? "matrices" : "equations"),
                             model.system->info().coordinates);
  if (const auto drawing = table.find("drawing")) model.drawings = read_drawings(*drawing, part.symbols);
  std::optional<TableReader> initial;
  if (const auto field = table.find("initial")) initial.emplace(*field, initial_keys());
  model.initial.q = read_initial(initial, "position", model.system->info().coordinates);
  model.initial.v = read_initial(initial, "velocity", model.system->info().velocities);
  model.storage = part.inertia.about([&] { return storage_at(*model.system, model.initial.q); }) + part.reduced;
}

/// Moves the start onto the constraints, or says why it cannot be there.
void settle_start(const TableReader& table, ModelFile& model) {
  ConsistentStartOptions options;
  Field blamed = table.field();
  for (const char* key : {"coupling", "motor", "loop", "constraint"})
    if (const auto constraint = table.find(key)) blamed = *constraint;
  if (const auto initial = table.find("initial")) {
    blamed = *initial;
    const TableReader keys(*initial, initial_keys());
    if (const auto policy = keys.find("consistent")) options.policy = read_start_policy(*policy);
  }
  if (model.system->laws().constraints().empty()) return;
  options.span = model.run.end_time - model.run.start_time;
  ConsistentStart start = blamed.about(
      [&] { return make_consistent(*model.system, model.run.start_time, model.initial.q, model.initial.v, options); });
  model.initial.q = std::move(start.q);
  model.initial.v = std::move(start.v);
  model.constraint_rank = std::move(start.rank);
}

ModelFile read_document(ModelContext& context, const TomlNode& root_node) {
  const Field root{&context, &root_node, ""};
  if (root_node.table()->empty())
    root.fail("the file is empty; a model needs [matrices], [equations] or [[body]] at least");
  require_one_system(context, *root_node.table());
  const TableReader table(
      root, {"title",      "parameters", "tables",  "inputs",  "matrices", "equations", "friction", "contact",
             "compliance", "constraint", "drawing", "initial", "run",      "periodic",  "shoot",    "fit",
             "body",       "shape",      "gravity", "spring",  "hinge",    "loop",      "load",     "motor",
             "coupling",   "urdf",       "mjcf",    "seed",    "sweep"});

  ModelFile model;
  model.path = context.path;
  if (const auto title = table.find("title")) model.title = title->text("a text in quotes");
  context.indexed.add_variable("i");
  if (const auto parameters = table.find("parameters")) model.parameters = read_parameters(*parameters, context);
  if (const auto seed = table.find("seed")) read_seed(*seed, context);
  if (const auto tables = table.find("tables")) model.tables = read_tables(*tables, context);
  if (const auto inputs = table.find("inputs")) model.inputs = read_inputs(*inputs, context);

  if (table.has("body") || table.has("shape") || table.has("hinge") || table.has("loop")) {
    read_body_system(table, model);
    model.storage = storage_at(*model.system, model.initial.q);
  } else {
    read_coordinate_system(table, model);
  }

  if (const auto run = table.find("run")) {
    model.run = read_run(*run);
    model.has_run = true;
    const TomlNode* scheme = find_key(*run->node->table(), "scheme");
    const Field about_scheme = scheme ? Field{&context, scheme, "run.scheme"} : *run;
    about_scheme.about([&] { require_supported(model.run.scheme, *model.system); });
  }
  if (const auto periodic = table.find("periodic"))
    model.periodic = read_periodic(*periodic, model.system->info().coordinates);
  settle_start(table, model);
  if (const auto initial = table.find("initial"); initial && !model.bodies) {
    const auto deformation = TableReader(*initial, initial_keys()).find("deformation");
    if (deformation) {
      Vector given = read_deformation(*deformation, model.system->laws().contacts());
      if (model.run.scheme == SchemeKind::compliant) model.initial.z = std::move(given);
    }
  }
  if (model.has_run) require_open_start(table, model);
  if (const auto shoot = table.find("shoot")) model.shoot = read_shoot(*shoot, table, model);
  if (const auto fit = table.find("fit")) model.fit = read_fit(*fit, table, model);
  if (const auto sweep = table.find("sweep")) read_sweep_table(*sweep);  // mistakes in it show; sweeps read it again
  return model;
}

ModelFile interpret(std::shared_ptr<const TomlNode> document, const std::string& path,
                    std::vector<std::string> settings, std::span<const FileText> stored,
                    std::shared_ptr<const ProgramFunctions> functions,
                    std::shared_ptr<const KeptReduction> reduction = nullptr) {
  std::vector<FileText> files;
  ModelContext context;
  context.functions = functions.get();
  context.stored = stored;
  context.files = &files;
  context.reduction = std::move(reduction);
  context.path = path;
  context.settings = std::move(settings);
  TomlNode root = *document;
  take_in_robots(*root.table(), context);
  apply_settings(*root.table(), context);
  start_followers(*root.table());
  ModelFile model = read_document(context, root);
  model.notes = std::move(context.notes);
  model.document = std::move(document);
  model.settings = std::move(context.settings);
  model.files = std::move(files);
  model.reduction = std::move(context.reduction);
  model.functions = std::move(functions);
  return model;
}

template <class Action>
ModelFile within_memory(const std::string& path, Action&& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    throw InputError(fmt::format("{}: the model does not fit into the memory of this machine", path));
  }
}

}  // namespace

ModelFile parse_model(std::string_view text, const std::string& path_for_messages,
                      std::span<const std::string> overrides, std::span<const FileText> stored,
                      std::shared_ptr<const ProgramFunctions> functions) {
  return within_memory(path_for_messages, [&] {
    std::vector<std::string> notes;
    std::vector<FileText> files(stored.begin(), stored.end());
    std::optional<TomlTable> robot = robot_document(text, path_for_messages, notes);
    if (robot) files.emplace_back(path_for_messages, text);
    const auto document =
        std::make_shared<const TomlNode>(TomlNode{robot ? std::move(*robot) : parse_toml(text, path_for_messages), {}});
    ModelFile model =
        interpret(document, path_for_messages, {overrides.begin(), overrides.end()}, files, std::move(functions));
    model.text = text;
    model.notes.insert(model.notes.begin(), notes.begin(), notes.end());
    return model;
  });
}

ModelFile with_overrides(const ModelFile& model, std::span<const std::string> more) {
  return within_memory(model.path, [&] {
    std::vector<std::string> settings = model.settings;
    settings.insert(settings.end(), more.begin(), more.end());
    ModelFile result =
        interpret(model.document, model.path, std::move(settings), model.files, model.functions, model.reduction);
    result.text = model.text;
    result.notes = model.notes;
    return result;
  });
}

ModelFile read_model(const std::string& path, std::span<const std::string> overrides) {
  return parse_model(read_text_file(path, kLargestFile), path, overrides);
}

}  // namespace stickslip
