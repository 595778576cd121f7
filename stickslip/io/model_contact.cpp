// SPDX-License-Identifier: Apache-2.0
// [[contact]] of a model file, where gap and slip are given by expressions.
#include <fmt/format.h>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::model_detail {

namespace {

void read_numbers(const TableReader& table, ContactElement& law) {
  table.number("mu", law.mu, kNotNegative);
  if (const auto held = table.find("mu_static")) {
    if (law.tangents == 0) held->fail("friction acts along a slip; give slip and mu, or remove mu_static");
    law.mu_static = held->number();
    if (!(*law.mu_static >= law.mu))
      held->fail(fmt::format("mu_static = {} must be >= mu = {}", *law.mu_static, law.mu));
  }
  table.number("restitution", law.restitution, {.low = 0, .high = 1});
  table.word("impact", [&](std::string_view word) { law.impact = impact_law_from(word); });
}

void read_cone(const TableReader& table, ContactElement& law) {
  if (const auto cone = table.find("cone")) {
    law.cone = read_section(*cone, "cone", SetKind::friction_cone, SetKind::polygonal_cone, SetKind::box_cone);
    if (law.cone != SetKind::friction_cone && law.tangents != 2)
      cone->fail(fmt::format("with {} tangents there is no cone to choose; give two slips or remove it", law.tangents));
  }
  if (const auto facets = table.find("facets"))
    law.facets = read_facets(*facets, "cone", law.cone == SetKind::polygonal_cone);
}

}  // namespace

void read_contact_law(const TableReader& table, ContactElement& law, const ReadEntry& entry) {
  read_numbers(table, law);
  read_cone(table, law);
  if (const auto polygon = table.find("polygon")) {
    if (const auto facets = table.find("facets"))
      facets->fail("the facets stand in `polygon` already; remove one of them");
    read_polygon(*polygon, law);
  }
  if (const auto compliance = table.find("compliance"))
    law.compliance = std::make_shared<const ContactCompliance>(read_compliance(*compliance, law.tangents, entry));
  if (law.impact == ImpactLaw::energetic && law.cone != SetKind::friction_cone)
    table.find("impact")->fail(
        "the energetic law follows the slip through the impact and needs cone = \"disk\"; use that, or impact = "
        "\"poisson\"");
}

namespace {

class ContactReader {
 public:
  ContactReader(const Field& field, const StateSymbols& symbols)
      : table_(field,
               {"name", "gap", "slip", "slip_rows", "mu", "mu_static", "restitution", "impact", "cone", "facets",
                "polygon", "surface_velocity", "position", "normal", "compliance"},
               {{"between", "it belongs to bodies; give gap = \"...\" here"}}),
        symbols_(symbols) {}

  ExpressionContact read(std::string name) const {
    ExpressionContact contact;
    contact.law.name = std::move(name);
    contact.gap = function(table_.require("gap", "give it as an expression that is >= 0 when open, as in gap = \"y\""),
                           "the gap");
    read_tangents(contact);
    read_contact_law(table_, contact.law, [&](const Field& item) { return function(item, "the compliance"); });
    if (const auto surface = table_.find("surface_velocity")) read_surface(*surface, contact);
    read_anchor(contact);
    const FlatKinematics kinematics(symbols_.coordinates);
    table_.field().about([&] { ExpressionContacts({contact}, kinematics); });
    return contact;
  }

 private:
  StateFunction function(const Field& field, const char* what) const {
    return read_function_of(field, symbols_, Arguments::time_position, what);
  }

  void read_tangents(ExpressionContact& contact) const {
    const auto slip = table_.find("slip"), rows = table_.find("slip_rows");
    if (slip && rows) rows->fail("'slip' and 'slip_rows' both give the tangents; give one of them");
    const auto check_count = [](const Field& field, std::size_t count) {
      if (count != 1 && count != 2)
        field.fail(fmt::format("there are {} tangents; one (in the plane) or two are possible", count));
    };
    if (slip && slip->node->array()) {
      check_count(*slip, slip->node->array()->size());
      for (std::size_t k = 0; k < slip->node->array()->size(); ++k)
        contact.slip.push_back(function(slip->item(k), "the slip"));
    } else if (slip) {
      if (slip->node->table()) slip->fail_type("an expression, or a list of one or two of them,");
      contact.slip.push_back(function(*slip, "the slip"));
    }
    if (rows) {
      check_count(*rows, rows->list("a list of rows over the velocities, as in [[1, 0]],").size());
      for (std::size_t k = 0; k < rows->node->array()->size(); ++k) {
        const Field row = rows->item(k);
        const std::size_t n = row.list("a row, i.e. a list of numbers and expressions,").size();
        if (n != symbols_.coordinates.size())
          row.fail(fmt::format("the row has {} entries, but there are {} coordinates", n, symbols_.coordinates.size()));
        contact.slip_rows.emplace_back();
        for (std::size_t j = 0; j < n; ++j) contact.slip_rows.back().push_back(function(row.item(j), "the row"));
      }
    }
    contact.law.tangents = static_cast<int>(contact.slip.size() + contact.slip_rows.size());
    const auto mu = table_.find("mu");
    if ((slip || rows) && !mu)
      (slip ? *slip : *rows).fail("'mu' is missing; give the friction coefficient, or remove the slip: no friction");
    if (mu && !slip && !rows)
      mu->fail("friction acts along a slip; give the tangential displacement, as in slip = \"x\", or remove mu");
  }

  void read_surface(const Field& field, ExpressionContact& contact) const {
    const auto one = [&](const Field& item) {
      return item.node->table() ? read_function(item, symbols_.table, std::nullopt)
                                : function(item, "the surface velocity");
    };
    const auto tangents = static_cast<std::size_t>(contact.law.tangents);
    if (tangents == 0) field.fail("friction acts along a slip; give slip and mu, or remove the surface velocity");
    if (!field.node->array()) {
      if (tangents != 1) field.fail("there are two tangents; give a list of two");
      contact.surface_velocity = {one(field)};
      return;
    }
    if (field.node->array()->size() != tangents)
      field.fail(
          fmt::format("the list has {} entries, but there are {} tangents", field.node->array()->size(), tangents));
    for (std::size_t k = 0; k < tangents; ++k) contact.surface_velocity.push_back(one(field.item(k)));
  }

  void read_anchor(ExpressionContact& contact) const {
    const auto position = table_.find("position"), normal = table_.find("normal");
    if (position && !normal) position->fail("'normal' is missing; the force is drawn along it, as in normal = [0, 1]");
    if (normal && !position)
      normal->fail("'position' is missing; the force is drawn there, as in position = [\"x\", 0]");
    if (!position) return;
    for (const auto& [field, target] :
         {std::pair{&*position, &contact.position}, std::pair{&*normal, &contact.normal}}) {
      const std::size_t count = field->list("a list of two or three components").size();
      if (count != 2 && count != 3)
        field->fail(fmt::format("the list has {} components; two or three are possible", count));
      for (std::size_t k = 0; k < count; ++k) target->push_back(function(field->item(k), "the component"));
    }
    if (contact.position.size() != contact.normal.size())
      normal->fail(fmt::format("the normal has {} components, but the position has {}", contact.normal.size(),
                               contact.position.size()));
  }

  TableReader table_;
  const StateSymbols& symbols_;
};

}  // namespace

SetKind read_section(const Field& field, const char* key, SetKind disk, SetKind polygon, SetKind box) {
  const std::string& word = field.text("\"disk\", \"polygon\" or \"box\"");
  if (word == "disk") return disk;
  if (word == "polygon") return polygon;
  if (word == "box") return box;
  const std::vector<std::string> known{"disk", "polygon", "box"};
  field.fail(fmt::format("unknown {} {}{}", key, in_quotes(word), hint(word, known)));
}

int read_facets(const Field& field, const char* key, bool polygon) {
  if (!polygon) field.fail(fmt::format("only {} = \"polygon\" has facets", key));
  constexpr long long kMostFacets = 1'000'000;
  const auto facets = static_cast<int>(field.integer(4, kMostFacets));
  if (facets % 2 != 0)
    field.fail(fmt::format("the value {} must be even, so that friction has no preferred sign", facets));
  return facets;
}

std::vector<ExpressionContact> read_contacts(const Field& field, const StateSymbols& symbols,
                                             std::set<std::string>& names) {
  return read_named(field, "contact", " laws", names,
                    [&](const Field& law, const std::string& name) { return ContactReader(law, symbols).read(name); });
}

}  // namespace stickslip::model_detail
