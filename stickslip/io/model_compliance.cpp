// SPDX-License-Identifier: Apache-2.0
// Local compliance of contacts in a model file: `compliance` of one contact, the table [compliance] of all of them,
// `polygon` of a cone, and initial.deformation.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/solvers/compliant_contact.hpp"

namespace stickslip::model_detail {

namespace {

/// A matrix as rows of numbers and expressions; one number alone is that number on the diagonal.
FunctionMatrix read_matrix(const Field& field, std::size_t size, const char* of_what, const ReadEntry& entry) {
  FunctionMatrix matrix;
  matrix.entries.assign(size, std::vector<StateFunction>(size, StateFunction(0.0)));
  if (!field.node->array()) {
    if (field.node->table()) field.fail_type("a number, or a list of rows,");
    for (std::size_t i = 0; i < size; ++i) matrix.entries[i][i] = entry(field);
    return matrix;
  }
  const std::size_t rows = field.list("a list of rows, i.e. of lists of numbers and expressions,").size();
  if (rows != size) field.fail(fmt::format("the matrix has {} rows; {} make {} of them", rows, of_what, size));
  for (std::size_t i = 0; i < size; ++i) {
    const Field row = field.item(i);
    const std::size_t columns = row.list("a row, i.e. a list of numbers and expressions,").size();
    if (columns != size) row.fail(fmt::format("the row has {} entries; {} make {} of them", columns, of_what, size));
    for (std::size_t j = 0; j < size; ++j) matrix.entries[i][j] = entry(row.item(j));
  }
  return matrix;
}

/// Where all entries are numbers the matrix can be judged here; else the run does, at every state.
void require_definite(const Field& field, const FunctionMatrix& matrix, std::string_view what) {
  if (!matrix.is_constant() || matrix.size() == 0) return;
  CompliantProblem problem;
  problem.deformation.setZero(matrix.size());
  problem.K = problem.C = DenseMatrix::Identity(matrix.size(), matrix.size());
  matrix.evaluate({}, what == "damping" ? problem.C : problem.K);
  field.about([&] { validate(problem, "compliance"); });
}

StateFunction read_normal_force(const Field& field) {
  SymbolTable symbols;
  symbols.add_variable("penetration");
  const SymbolTable& parameters = field.context->parameters;
  for (const std::string& name : parameters.names()) symbols.add_constant(name, parameters.find(name)->value);
  const std::string& text = field.text("an expression of penetration, as in \"1e6*penetration^1.5\"");
  const StateFunction phi = field.about([&] { return StateFunction(Expression::parse(text, symbols)); });
  constexpr double kProbe = 1e-3;  // [m]; any penetration will do
  constexpr double kZero = 1e-12;  // of the force there
  const double zero = 0, probe = kProbe;
  if (const double at = phi({&zero, 1}); !(std::abs(at) <= kZero * std::abs(phi({&probe, 1}))))
    field.fail(fmt::format("the force at penetration = 0 is {:g} N; it must be 0", at));
  if (!(phi({&probe, 1}) > 0) || !(phi.derivative({&probe, 1}, 0) > 0))
    field.fail("the force must be positive and grow with the penetration");
  return phi;
}

FrictionSection read_rows(const Field& field) {
  std::vector<PlaneForce> rows;
  const std::size_t count = field.list("a list of rows [a, b]").size();
  for (std::size_t k = 0; k < count; ++k) {
    const Field row = field.item(k);
    if (row.list("a row [a, b]").size() != 2) row.fail("a facet has two numbers, a and b in a f_1 + b f_2 <= mu r_n");
    rows.push_back({row.item(0).number(), row.item(1).number()});
  }
  return field.about([&] { return FrictionSection::from_rows(rows); });
}

}  // namespace

ContactCompliance read_compliance(const Field& field, int tangents, const ReadEntry& entry) {
  const TableReader table(field, {"stiffness", "damping", "normal_damping", "normal_force", "exponent"},
                          {{"deformation",
                            "only tangential deformations can be prescribed, by initial.deformation; the "
                            "normal one follows from the gap"}});
  ContactCompliance compliance;
  const auto size = static_cast<std::size_t>(tangents);
  const std::string rows = fmt::format("the normal and {} tangent{}", tangents, tangents == 1 ? "" : "s");
  const Field stiffness =
      table.require("stiffness", "give the matrix in N/m, normal first, or one number for all axes");
  compliance.stiffness = read_matrix(stiffness, 1 + size, rows.c_str(), entry);
  require_definite(stiffness, compliance.stiffness, "stiffness");
  if (tangents > 0) {
    const Field damping = table.require(
        "damping", "give the matrix over the tangents in N s/m, or one number; the rate of slip is a force over it");
    compliance.damping = read_matrix(damping, size, "the tangents", entry);
    require_definite(damping, compliance.damping, "damping");
  } else if (const auto damping = table.find("damping")) {
    damping->fail("damping acts along the tangents, and the contact has none; give normal_damping, or a slip");
  }
  table.number("normal_damping", compliance.normal_damping, kNotNegative);
  const auto force = table.find("normal_force"), exponent = table.find("exponent");
  if (force && exponent) exponent->fail("'normal_force' and 'exponent' both give the normal law; give one of them");
  if (!force && !exponent) return compliance;
  const Field& law = force ? *force : *exponent;
  for (std::size_t c = 1; c <= size; ++c) {
    const StateFunction& coupling = compliance.stiffness.entries[0][c];
    if (!coupling.is_constant() || coupling({}) != 0)
      law.fail(
          "a normal law of its own is not coupled to the tangents: set the first row and column of stiffness to 0");
  }
  if (force) {
    compliance.normal_force = read_normal_force(*force);
    return compliance;
  }
  const double power = exponent->number({.low = 1});
  const StateFunction& k = compliance.stiffness.entries[0][0];
  if (!k.is_constant())
    exponent->fail("stiffness[0][0] must be a number: the normal force is it times penetration^exponent");
  SymbolTable symbols;
  symbols.add_variable("penetration");
  compliance.normal_force =
      StateFunction(Expression::parse(fmt::format("{:.17g}*penetration^{:.17g}", k({}), power), symbols));
  return compliance;
}

void read_polygon(const Field& field, ContactElement& law) {
  const TableReader table(field, {"facets", "circumscribed", "angle", "rows"});
  if (law.cone != SetKind::polygonal_cone) field.fail("only cone = \"polygon\" has one");
  if (const auto rows = table.find("rows")) {
    for (const char* key : {"facets", "circumscribed", "angle"})
      if (const auto other = table.find(key)) other->fail("the facets are given by rows already; remove one of them");
    law.polygon = read_rows(*rows);
    return;
  }
  constexpr long long kMostFacets = 1'000'000;
  int facets = 8;
  if (const auto count = table.find("facets")) facets = static_cast<int>(count->integer(3, kMostFacets));
  bool circumscribed = false;
  table.boolean("circumscribed", circumscribed);
  double angle = std::numbers::pi / facets;
  table.number("angle", angle, kAnyNumber);
  if (!circumscribed && !table.has("angle") && facets % 2 == 0 && facets >= 4) {
    law.facets = facets;  // what `facets` alone means: every scheme takes it
    return;
  }
  law.polygon = FrictionSection::regular(facets, circumscribed, angle);
}

CoupledCompliance read_coupled_compliance(const Field& field, const std::vector<ExpressionContact>& contacts,
                                          const StateSymbols& symbols) {
  const TableReader table(field, {"stiffness", "damping"});
  std::size_t normals = contacts.size(), tangents = 0;
  if (contacts.empty()) field.fail("there is no [[contact]] whose compliance this could be");
  for (const ExpressionContact& contact : contacts) {
    tangents += static_cast<std::size_t>(contact.law.tangents);
    if (contact.law.compliance)
      field.fail(
          fmt::format("contact '{}' has a compliance of its own; give one table or the other", contact.law.name));
  }
  const ReadEntry entry = [&](const Field& item) {
    return read_function_of(item, symbols, Arguments::time_position, "the compliance");
  };
  const std::string rows = fmt::format("{} normals and {} tangents", normals, tangents);
  const std::string over = fmt::format("{} tangents", tangents);
  CoupledCompliance compliance;
  const Field stiffness =
      table.require("stiffness", "give the matrix in N/m: normals of all contacts, then the tangents");
  compliance.stiffness = read_matrix(stiffness, normals + tangents, rows.c_str(), entry);
  require_definite(stiffness, compliance.stiffness, "stiffness");
  if (tangents > 0) {
    const Field damping = table.require("damping", "give the matrix over the tangents in N s/m");
    compliance.damping = read_matrix(damping, tangents, over.c_str(), entry);
    require_definite(damping, compliance.damping, "damping");
  }
  return compliance;
}

Vector read_deformation(const Field& field, const std::vector<ContactElement>& contacts) {
  Index tangents = 0;
  for (const ContactElement& contact : contacts) tangents += contact.tangents;
  const auto normals = static_cast<Index>(contacts.size());
  if (field.node->array() && static_cast<Index>(field.node->array()->size()) == normals + tangents && normals > 0)
    field.fail(fmt::format(
        "the list has {} entries, one per normal and tangent; normal deformations follow from the gaps and cannot be "
        "prescribed. Give the {} tangential ones",
        normals + tangents, tangents));
  return read_vector(field, tangents, "tangents");
}

}  // namespace stickslip::model_detail
