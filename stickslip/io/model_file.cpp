// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip {

namespace {

using namespace model_detail;

constexpr std::size_t kLargestFile = 64 * kMebibyte;

/// Words of the format that this version does not take.
const TableReader::Unavailable& later_sections() {
  static const TableReader::Unavailable words = [] {
    TableReader::Unavailable list;
    for (const char* system : {"equations", "body", "hinge", "loop", "shape", "gravity", "urdf"})
      list.emplace_back(system, "give the system by [matrices]");
    for (const char* law : {"constraint", "contact"}) list.emplace_back(law, "the only law is [[friction]]");
    list.emplace_back("spring", "put it into the stiffness and damping matrices");
    for (const char* analysis : {"periodic", "shoot", "fit", "sweep"})
      list.emplace_back(analysis, "the only analysis is [run]");
    return list;
  }();
  return words;
}

/// The system is given by exactly one of [matrices], [equations], and bodies.
void require_one_system(const ModelContext& context, const TomlTable& root) {
  const auto kind_of = [](const std::string& key) -> std::string {
    if (key == "matrices" || key == "equations") return "[" + key + "]";
    if (key == "body" || key == "hinge" || key == "loop" || key == "shape" || key == "urdf") return "bodies";
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

Vector read_initial(const std::optional<TableReader>& table, const char* key, Index n) {
  const auto field = table ? table->find(key) : std::nullopt;
  return field ? read_vector(*field, n, "coordinates") : Vector::Zero(n);
}

std::string describe_storage(const LinearPart& linear) {
  const MatrixSum sum({&linear.M, &linear.B, &linear.K});
  const SystemMatrix& matrix = sum.value();
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

ModelFile read_document(ModelContext& context, const TomlNode& root_node) {
  const Field root{&context, &root_node, ""};
  if (root_node.table()->empty()) root.fail("the file is empty; a model needs [matrices] at least");
  require_one_system(context, *root_node.table());
  const TableReader table(root, {"title", "parameters", "matrices", "friction", "initial", "run"}, later_sections());

  ModelFile model;
  model.path = context.path;
  if (const auto title = table.find("title")) model.title = title->text("a text in quotes");
  context.indexed.add_variable("i");
  if (const auto parameters = table.find("parameters")) model.parameters = read_parameters(*parameters, context);

  const Field matrices = table.require("matrices", "give the system by a table [matrices]");
  auto [matrix_model, symbols] = read_matrices(matrices);
  matrix_model.title = model.title;
  const Index n = static_cast<Index>(matrix_model.coordinates.size());
  if (const auto friction = table.find("friction"))
    matrix_model.friction = read_friction(*friction, matrix_model.coordinates, symbols);
  // All that is left to check are properties of the mass matrix.
  const Field mass =
      *TableReader(matrices, {"coordinates", "size", "mass", "damping", "stiffness", "force"}).find("mass");
  model.system = mass.about([&] { return make_system(std::move(matrix_model)); });
  if (const LinearPart* linear = model.system->linear()) model.storage = describe_storage(*linear);

  std::optional<TableReader> initial;
  if (const auto field = table.find("initial"))
    initial.emplace(*field, std::vector<std::string>{"position", "velocity"});
  model.initial.q = read_initial(initial, "position", n);
  model.initial.v = read_initial(initial, "velocity", n);

  if (const auto run = table.find("run")) {
    model.run = read_run(*run);
    model.has_run = true;
    const TomlNode* scheme = find_key(*run->node->table(), "scheme");
    const Field about_scheme = scheme ? Field{&context, scheme, "run.scheme"} : *run;
    about_scheme.about([&] { require_supported(model.run.scheme, *model.system); });
  }
  return model;
}

}  // namespace

ModelFile parse_model(std::string_view text, const std::string& path_for_messages,
                      std::span<const std::string> overrides) {
  ModelContext context;
  context.path = path_for_messages;
  context.settings.assign(overrides.begin(), overrides.end());
  try {
    TomlNode root{parse_toml(text, path_for_messages), {}};
    apply_settings(*root.table(), context);
    return read_document(context, root);
  } catch (const std::bad_alloc&) {
    throw InputError(fmt::format("{}: the model does not fit into the memory of this machine", path_for_messages));
  }
}

ModelFile read_model(const std::string& path, std::span<const std::string> overrides) {
  return parse_model(read_text_file(path, kLargestFile), path, overrides);
}

}  // namespace stickslip
