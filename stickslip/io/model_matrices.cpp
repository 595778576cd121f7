// SPDX-License-Identifier: Apache-2.0
// [parameters] and [matrices] of a model file.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "stickslip/io/matrix_market.hpp"
#include "stickslip/io/model_reader.hpp"

namespace stickslip::model_detail {

namespace {

const char* const kMatrixForms =
    "a list of rows, the name of a Matrix Market file, { diagonal = .. } or { tridiagonal = [below, diagonal, above] }";

using Triplets = std::vector<Eigen::Triplet<double, int>>;

/// A matrix whose size may follow from another one.
struct PendingMatrix {
  Field field;
  std::optional<SparseMatrix> file;
  std::optional<Index> size;  ///< if the matrix says it itself
};

PendingMatrix begin_matrix(const Field& field) {
  PendingMatrix pending{field, {}, {}};
  if (const std::string* name = field.node->text()) {
    const std::string path = field.context->resolve(*name);
    pending.file = field.about([&] { return parse_matrix_market(field.context->read_file(path), path); });
    if (pending.file->rows() != pending.file->cols())
      field.fail(fmt::format("the matrix in '{}' is {} x {}; it must be square", *name, pending.file->rows(),
                             pending.file->cols()));
    pending.size = pending.file->rows();
  } else if (const TomlArray* rows = field.node->array()) {
    if (rows->empty()) field.fail("the matrix has no rows");
    pending.size = static_cast<Index>(rows->size());
  } else if (field.node->table()) {
    const TableReader table(field, {"diagonal", "tridiagonal"});
    if (table.has("diagonal") == table.has("tridiagonal"))
      field.fail("exactly one of 'diagonal' and 'tridiagonal' must be given");
    const auto diagonal = table.find("diagonal");
    if (diagonal && diagonal->node->array()) pending.size = static_cast<Index>(diagonal->node->array()->size());
  } else {
    field.fail_type(kMatrixForms);
  }
  return pending;
}

void append_rows(const Field& field, Index n, Triplets& entries) {
  const TomlArray& rows = *field.node->array();
  for (Index i = 0; i < n; ++i) {
    const auto row_number = static_cast<std::size_t>(i);
    const TomlArray* row = rows[row_number].array();
    if (!row) field.item(row_number).fail_type("a row, i.e. a list of numbers and expressions,");
    if (static_cast<Index>(row->size()) != n)
      field.item(row_number)
          .fail(fmt::format("the row has {} entries, but the matrix has {} rows; it must be square", row->size(), n));
    for (Index j = 0; j < n; ++j) {
      const auto column = static_cast<std::size_t>(j);
      const auto* integer = std::get_if<std::int64_t>(&(*row)[column].value);
      // The name of an entry is only made where it can be needed: files hold millions of them.
      const double value = integer ? static_cast<double>(*integer) : field.item(row_number).item(column).number();
      if (value != 0.0) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), value);
    }
  }
}

/// a_{i, i + offset} for all rows where that exists: a number, or an expression of [parameters] and the row i (from 0).
void append_diagonal(const Field& field, Index n, Index offset, Triplets& entries) {
  const Vector values = read_vector(field, n, "rows");
  for (Index i = 0; i < n; ++i)
    if (i + offset >= 0 && i + offset < n && values[i] != 0.0)
      entries.emplace_back(static_cast<int>(i), static_cast<int>(i + offset), values[i]);
}

SystemMatrix finish_matrix(const PendingMatrix& pending, Index n) {
  const Field& field = pending.field;
  if (pending.size && *pending.size != n)
    field.fail(fmt::format("the matrix is {0} x {0}, but there are {1} coordinates", *pending.size, n));
  if (pending.file) return SystemMatrix::compact(*pending.file);
  Triplets entries;
  if (field.node->array()) {
    append_rows(field, n, entries);
  } else {
    const TableReader table(field, {"diagonal", "tridiagonal"});
    if (const auto diagonal = table.find("diagonal")) {
      append_diagonal(*diagonal, n, 0, entries);
    } else {
      const Field bands = *table.find("tridiagonal");
      if (bands.list("a list [below, diagonal, above]").size() != 3)
        bands.fail("the list must be [below, diagonal, above]");
      for (Index offset = -1; offset <= 1; ++offset) {
        const Field band = bands.item(static_cast<std::size_t>(offset + 1));
        if (band.node->array()) band.fail_type("a number or an expression");
        append_diagonal(band, n, offset, entries);
      }
    }
  }
  SparseMatrix matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return SystemMatrix::compact(matrix);
}

void check_coordinate_name(const Field& field, const std::string& name, const std::set<std::string>& taken) {
  if (!is_identifier(name))
    field.fail(fmt::format("'{}' cannot be a coordinate: a name is a letter or _, then letters, digits and _", name));
  if (name == "t" || name == "i")
    field.fail(fmt::format("'{}' cannot be a coordinate: t is time and i an index", name));
  if (field.context->parameters.find(name))
    field.fail(fmt::format("'{}' is also a parameter; give one of them another name", name));
  for (const std::string& used : {name, "v_" + name})
    if (field.context->parameters.find_table(used))
      field.fail(fmt::format("'{}' is also a table; give one of them another name", used));
  if (field.context->parameters.find("v_" + name))
    field.fail(fmt::format(
        "the velocity of '{0}' is called v_{0}, which is also a parameter; give one of them another name", name));
  if (taken.count(name)) field.fail(fmt::format("two coordinates are named '{}'", name));
  field.about([&] { SymbolTable().add_variable(name); });
}

std::vector<std::string> default_coordinates(const Field& field, Index n) {
  std::vector<std::string> names;
  for (Index k = 1; k <= n; ++k) {
    names.push_back(fmt::format("x{}", k));
    for (const std::string& name : {names.back(), "v_" + names.back()})
      if (const bool table = field.context->parameters.find_table(name) != nullptr;
          table || field.context->parameters.find(name))
        field.fail(
            fmt::format("the {} '{}' has the name of a coordinate or its velocity; rename it or give 'coordinates'",
                        table ? "table" : "parameter", name));
  }
  return names;
}

ForceField read_force(const Field& field, const std::vector<std::string>& coordinates, const SymbolTable& symbols) {
  ForceField force;
  const auto n = static_cast<Index>(coordinates.size());
  const TomlArray* items = field.node->array();
  if (field.node->table() && !find_key(*field.node->table(), "table")) {
    force.components.resize(coordinates.size());
    for (const auto& [item, k] : named_entries(field, coordinates))
      force.components[static_cast<std::size_t>(k)] = read_function(item, symbols, k);
    return force;
  }
  if (!items) {
    force.common = read_common_function(field, symbols);
    return force;
  }
  if (static_cast<Index>(items->size()) != n)
    field.fail(fmt::format("the list has {} components, but there are {} coordinates", items->size(), n));
  for (Index k = 0; k < n; ++k)
    force.components.push_back(read_function(field.item(static_cast<std::size_t>(k)), symbols, k));
  return force;
}

}  // namespace

std::vector<std::pair<std::string, double>> read_parameters(const Field& field, ModelContext& context) {
  if (!field.node->table()) field.fail_type("a table");
  const TomlTable& table = *field.node->table();
  std::map<std::string, std::size_t> order;
  for (std::size_t k = 0; k < table.size(); ++k) order[table[k].key] = k;
  std::vector<std::pair<std::string, double>> parameters;
  for (std::size_t k = 0; k < table.size(); ++k) {
    const auto& [name, place, node] = table[k];
    const Field parameter{&context, &node, "parameters." + name};
    if (!is_identifier(name)) context.fail(place, parameter.key, "a name is a letter or _, then letters, digits and _");
    if (name == "t" || name == "i")
      context.fail(place, parameter.key, "cannot be a parameter: t is time and i an index");
    if (const std::string* text = node.text())
      for (const std::string& used : names_in(*text))
        if (const auto later = order.find(used); later != order.end() && later->second >= k)
          parameter.fail(later->second == k
                             ? fmt::format("'{}' is defined by itself", name)
                             : fmt::format("'{}' is defined later; a parameter may depend on earlier ones only", used));
    const double value = parameter.number();
    try {
      context.parameters.add_constant(name, value);
      context.indexed.add_constant(name, value);
    } catch (const InputError& error) {
      context.fail(place, parameter.key, error.what());
    }
    parameters.emplace_back(name, value);
  }
  return parameters;
}

std::vector<std::string> read_coordinates(const Field& field) {
  const TomlArray& items = field.list("a list of names");
  if (items.empty()) field.fail("there must be at least one coordinate");
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const Field item = field.item(k);
    const std::string& name = item.text("the name of a coordinate");
    check_coordinate_name(item, name, taken);
    names.push_back(name);
    taken.insert(name);
  }
  for (std::size_t k = 0; k < names.size(); ++k)
    if (taken.count("v_" + names[k]))
      field.item(k).fail(fmt::format("the velocity of '{0}' is called v_{0}, which is also a coordinate", names[k]));
  return names;
}

MatricesSection read_matrices(const Field& field) {
  const TableReader table(field, {"coordinates", "size", "mass", "damping", "stiffness", "force", "angles", "reduce"});
  MatrixModel model;
  std::optional<Index> n;
  if (const auto size = table.find("size")) n = static_cast<Index>(size->integer(1, kLargestSize));
  if (const auto names = table.find("coordinates")) {
    model.coordinates = read_coordinates(*names);
    const Index count = static_cast<Index>(model.coordinates.size());
    if (n && *n != count) names->fail(fmt::format("there are {} coordinates, but size = {}", count, *n));
    n = count;
  }
  const PendingMatrix mass = begin_matrix(table.require("mass", "a system needs its mass matrix"));
  std::optional<PendingMatrix> damping, stiffness;
  if (const auto given = table.find("damping")) damping = begin_matrix(*given);
  if (const auto given = table.find("stiffness")) stiffness = begin_matrix(*given);
  if (!n) n = mass.size;
  if (!n && damping) n = damping->size;
  if (!n && stiffness) n = stiffness->size;
  if (!n) mass.field.fail("nothing says how many coordinates there are; give 'size' or 'coordinates'");

  model.mass = finish_matrix(mass, *n);
  model.damping = damping ? finish_matrix(*damping, *n) : SystemMatrix::zero(*n);
  model.stiffness = stiffness ? finish_matrix(*stiffness, *n) : SystemMatrix::zero(*n);
  if (model.coordinates.empty()) model.coordinates = default_coordinates(field, *n);
  StateSymbols symbols = symbols_of(*field.context, model.coordinates);
  if (const auto reduced = table.find("reduce")) {
    std::string text = reduce_matrices(*reduced, table.find("force"), model, symbols);
    return {std::move(model), std::move(symbols), mass.field, std::move(text)};
  }
  if (const auto force = table.find("force")) model.force = read_force(*force, model.coordinates, symbols.table);
  return {std::move(model), std::move(symbols), mass.field, ""};
}

}  // namespace stickslip::model_detail
