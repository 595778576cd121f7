// SPDX-License-Identifier: Apache-2.0
// matrices.reduce of a model file: the matrices on kept coordinates and modes (model/reduction.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "stickslip/io/model_reader.hpp"

namespace stickslip::model_detail {

namespace {

bool same(const SparseMatrix& A, const SparseMatrix& B) {
  return A.rows() == B.rows() && A.nonZeros() == B.nonZeros() &&
         std::equal(A.outerIndexPtr(), A.outerIndexPtr() + A.rows() + 1, B.outerIndexPtr()) &&
         std::equal(A.innerIndexPtr(), A.innerIndexPtr() + A.nonZeros(), B.innerIndexPtr()) &&
         std::equal(A.valuePtr(), A.valuePtr() + A.nonZeros(), B.valuePtr());
}

SparseMatrix compressed(const SystemMatrix& matrix) {
  SparseMatrix A = matrix.to_sparse();
  A.makeCompressed();
  return A;
}

std::vector<Index> read_kept(const Field& field, const std::vector<std::string>& coordinates) {
  std::map<std::string, Index> numbers;
  for (std::size_t k = 0; k < coordinates.size(); ++k) numbers[coordinates[k]] = static_cast<Index>(k);
  std::vector<Index> kept;
  for (std::size_t k = 0; k < field.list("a list of names of coordinates").size(); ++k) {
    const Field item = field.item(k);
    const std::string& name = item.text("the name of a coordinate");
    const auto found = numbers.find(name);
    if (found == numbers.end()) item.fail(fmt::format("there is no coordinate '{}'{}", name, hint(name, coordinates)));
    kept.push_back(found->second);
  }
  std::sort(kept.begin(), kept.end());
  if (std::adjacent_find(kept.begin(), kept.end()) != kept.end()) field.fail("a coordinate is named twice");
  return kept;
}

/// Forces that are not 0, with the coordinate they act on.
std::vector<std::pair<Index, Field>> loads(const Field& field, const std::vector<std::string>& coordinates) {
  std::vector<std::pair<Index, Field>> result;
  if (const TomlArray* items = field.node->array()) {
    if (items->size() != coordinates.size())
      field.fail(
          fmt::format("the list has {} components, but there are {} coordinates", items->size(), coordinates.size()));
    for (std::size_t k = 0; k < items->size(); ++k) result.emplace_back(static_cast<Index>(k), field.item(k));
    return result;
  }
  if (!field.node->table() || find_key(*field.node->table(), "table"))
    field.fail(
        "with 'reduce' the loaded coordinates are named, as in force = { x15 = \"0.2*cos(omega*t)\" }, or all are "
        "listed");
  for (const auto& [name, number] : named_entries(field, coordinates)) result.emplace_back(number, name);
  return result;
}

}  // namespace

std::vector<std::pair<Field, Index>> named_entries(const Field& field, const std::vector<std::string>& coordinates) {
  std::vector<std::pair<Field, Index>> result;
  std::map<std::string, Index> numbers;
  for (std::size_t k = 0; k < coordinates.size(); ++k) numbers[coordinates[k]] = static_cast<Index>(k);
  for (const TomlEntry& entry : *field.node->table()) {
    const Field item{field.context, &entry.node, field.key + "." + entry.key};
    const auto found = numbers.find(entry.key);
    if (found == numbers.end())
      field.context->fail(entry.place, item.key,
                          fmt::format("there is no coordinate '{}'{}", entry.key, hint(entry.key, coordinates)));
    result.emplace_back(item, found->second);
  }
  return result;
}

std::string reduce_matrices(const Field& field, const std::optional<Field>& force, MatrixModel& model,
                            StateSymbols& symbols) {
  const TableReader table(field, {"keep", "modes"});
  ReductionOptions options;
  options.kept = read_kept(table.require("keep", "name the coordinates that laws act on, and those to be seen"),
                           model.coordinates);
  int modes = static_cast<int>(options.modes);
  table.integer("modes", modes, 0);
  options.modes = modes;
  const SparseMatrix M = compressed(model.mass), B = compressed(model.damping), K = compressed(model.stiffness);
  std::shared_ptr<const KeptReduction>& known = field.context->reduction;
  if (!known || known->kept != options.kept || known->modes != options.modes || !same(known->M, M) ||
      !same(known->B, B) || !same(known->K, K)) {
    Reduction reduction = field.about([&] { return reduce(M, B, K, options); });
    known = std::make_shared<const KeptReduction>(
        KeptReduction{M, B, K, options.kept, options.modes, std::move(reduction)});
  }
  const Reduction& reduction = known->reduction;
  const std::vector<std::string> before = std::move(model.coordinates);
  model.coordinates.clear();
  for (const Index i : reduction.kept) model.coordinates.push_back(before[static_cast<std::size_t>(i)]);
  for (Index k = 1; k <= reduction.modes(); ++k) {
    model.coordinates.push_back(fmt::format("mode{}", k));
    if (std::find(before.begin(), before.end(), model.coordinates.back()) != before.end() ||
        field.context->parameters.find(model.coordinates.back()))
      field.fail(
          fmt::format("'{0}' is the name of a mode of the reduced model, and of a coordinate or parameter; rename that",
                      model.coordinates.back()));
  }
  model.mass = SystemMatrix(reduction.M);
  model.damping = B.nonZeros() > 0 ? SystemMatrix(reduction.B) : SystemMatrix::zero(reduction.M.rows());
  model.stiffness = SystemMatrix(reduction.K);
  symbols = symbols_of(*field.context, model.coordinates);
  if (force) {
    std::map<std::string, std::pair<Vector, Field>> groups;  // Tᵀ of the coordinates that have the same force
    for (const auto& [i, load] : loads(*force, before)) {
      const std::string* text = load.node->text();
      if (!text && load.number() == 0) continue;
      if (load.node->table())
        load.fail("with 'reduce' a force is a number or an expression; put the table into [tables]");
      if (text && mentions(*text, "i")) load.fail("with 'reduce' there is no index i; write the number");
      const std::string key = text ? *text : fmt::format("{:.17g}", load.number());
      const auto [group, added] = groups.try_emplace(key, Vector(reduction.T.row(i).transpose()), load);
      if (!added) group->second.first += reduction.T.row(i).transpose();
    }
    for (const auto& [text, group] : groups) group.second.about([&] { Expression::parse(text, symbols.table); });
    for (Index j = 0; j < reduction.T.cols(); ++j) {
      std::string sum;
      for (const auto& [text, group] : groups)
        if (group.first[j] != 0) sum += fmt::format("{}{:.17g}*({})", sum.empty() ? "" : " + ", group.first[j], text);
      model.force.components.push_back(sum.empty() ? StateFunction(0.0)
                                                   : StateFunction(Expression::parse(sum, symbols.table)));
    }
  }
  const double highest = reduction.modes() > 0 ? reduction.interior_frequency[reduction.modes() - 1] / 2 : 0.0;
  return fmt::format(
      "; reduced from {} coordinates to {} kept and {} modes; natural frequencies up to {:.4g} rad/s (half of the last "
      "mode) "
      "are too high by an estimated {:.2g} of their value at most",
      before.size(), reduction.kept.size(), reduction.modes(), highest, reduction.error_up_to(highest));
}

}  // namespace stickslip::model_detail
