// SPDX-License-Identifier: Apache-2.0
// body.flexible: a beam, or matrices of finite elements.
#include "stickslip/io/matrix_market.hpp"
#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/model/multibody/beam_body.hpp"
#include "stickslip/model/multibody/element_body.hpp"

namespace stickslip::model_detail {

namespace {

BeamEnd beam_end(const Field& field) {
  const std::string& word = field.text("\"clamped\", \"pinned\" or \"free\"");
  if (word == "clamped") return BeamEnd::clamped;
  if (word == "pinned") return BeamEnd::pinned;
  if (word == "free") return BeamEnd::free;
  field.fail(fmt::format("unknown end {}; \"clamped\", \"pinned\" or \"free\"", in_quotes(word)));
}

std::vector<std::string> names(const Field& field, const char* what) {
  std::vector<std::string> result;
  for (std::size_t k = 0; k < field.list(what).size(); ++k) result.push_back(field.item(k).text("a name"));
  return result;
}

/// One number, or those of both ends.
void tapered(const TableReader& table, const char* key, double& first, double& last, bool needed) {
  const auto field = table.find(key);
  if (!field) {
    if (needed) table.require(key, "of the section, a number or [first, last] where it tapers");
    return;
  }
  if (!field->node->array()) {
    first = last = field->number(kPositive);
    return;
  }
  if (field->node->array()->size() != 2) field->fail("give one number, or those of the two ends");
  first = field->item(0).number(kPositive);
  last = field->item(1).number(kPositive);
}

void read_motions(const Field& field, BeamOptions& o) {
  o.bends_y = o.bends_z = o.stretches = o.twists = false;
  const TomlArray& words = field.list("a list of y, z, axial, torsion");
  for (std::size_t k = 0; k < words.size(); ++k) {
    const Field item = field.item(k);
    const std::string& word = item.text("y, z, axial or torsion");
    if (word == "y") {
      o.bends_y = true;
    } else if (word == "z") {
      o.bends_z = true;
    } else if (word == "axial") {
      o.stretches = true;
    } else if (word == "torsion") {
      o.twists = true;
    } else {
      item.fail(fmt::format("unknown motion {}; y, z, axial or torsion", in_quotes(word)));
    }
  }
}

FlexibleBody read_beam(const Field& field) {
  const TableReader table(
      field, {"kind", "length", "youngs_modulus", "shear_modulus", "density", "shear_factor", "area", "Iy", "Iz",
              "torsion", "ends", "motions", "elements", "modes", "nodes", "kept", "damping", "stiffening"});
  BeamOptions o;
  for (const auto& [key, value] : {std::pair<const char*, double*>{"length", &o.length},
                                   {"youngs_modulus", &o.youngs_modulus},
                                   {"density", &o.density}}) {
    table.require(key, "a beam needs it");
    table.number(key, *value, kPositive);
  }
  table.number("shear_modulus", o.shear_modulus, kPositive);
  table.number("shear_factor", o.shear_factor, kNotNegative);
  if (const auto given = table.find("motions")) read_motions(*given, o);
  tapered(table, "area", o.first.area, o.last.area, true);
  tapered(table, "Iy", o.first.Iy, o.last.Iy, o.bends_z || o.twists);
  tapered(table, "Iz", o.first.Iz, o.last.Iz, o.bends_y || o.twists);
  tapered(table, "torsion", o.first.torsion, o.last.torsion, false);
  if (const auto ends = table.find("ends")) {
    if (ends->list("the conditions of both ends").size() != 2) ends->fail("a beam has two ends");
    o.first_end = beam_end(ends->item(0));
    o.last_end = beam_end(ends->item(1));
  }
  table.integer("elements", o.elements, 1);
  int modes = static_cast<int>(o.modes);
  table.integer("modes", modes, 0);
  o.modes = modes;
  if (const auto nodes = table.find("nodes")) {
    if (!nodes->node->table()) nodes->fail_type("a table of places, as in { middle = 0.5 }");
    for (const auto& entry : *nodes->node->table())
      o.nodes.emplace_back(entry.key,
                           Field{field.context, &entry.node, nodes->key + "." + entry.key}.number(kNotNegative));
  }
  if (const auto kept = table.find("kept")) o.kept = names(*kept, "names of nodes");
  table.number("damping", o.damping, kNotNegative);
  table.boolean("stiffening", o.stiffening);
  return field.about([&] { return make_beam(o); });
}

SparseMatrix read_matrix_file(const Field& field) {
  const std::string path = field.context->resolve(field.text("a Matrix Market file"));
  return field.about([&] { return parse_matrix_market(field.context->read_file(path), path); });
}

std::vector<Eigen::Vector3d> read_nodes(const Field& field) {
  std::vector<Eigen::Vector3d> nodes;
  if (field.node->array()) {
    for (std::size_t k = 0; k < field.node->array()->size(); ++k) nodes.push_back(read_vector3(field.item(k)));
    return nodes;
  }
  const SparseMatrix file = read_matrix_file(field);
  if (file.cols() != 3)
    field.fail(fmt::format("places of nodes are rows of three numbers; the file has {}", file.cols()));
  for (Index k = 0; k < file.rows(); ++k) nodes.emplace_back(file.coeff(k, 0), file.coeff(k, 1), file.coeff(k, 2));
  return nodes;
}

/// One load and what it adds to the stiffness.
GeometricCase read_geometric(const Field& field) {
  const TableReader table(field, {"file", "acceleration", "angular_acceleration", "spin", "force", "on"});
  GeometricCase it;
  it.K = read_matrix_file(table.require("file", "a Matrix Market file: what the load adds to the stiffness"));
  int given = 0;
  for (const auto& [key, load] : {std::pair<const char*, GeometricLoad>{"acceleration", GeometricLoad::acceleration},
                                  {"angular_acceleration", GeometricLoad::angular_acceleration},
                                  {"spin", GeometricLoad::spin},
                                  {"force", GeometricLoad::force}})
    if (const auto vector = table.find(key)) {
      it.vector = read_vector3(*vector);
      it.load = load;
      if (it.vector.isZero(0.0)) vector->fail("the load of a geometric stiffness is 0");
      ++given;
    }
  if (given != 1) field.fail("give exactly one of acceleration, angular_acceleration, spin, or force (with 'on')");
  const auto on = table.find("on");
  if (on.has_value() != (it.load == GeometricLoad::force))
    field.fail("'on', an interface, belongs to 'force', and to nothing else");
  if (on) it.interface = on->text("the name of an interface");
  return it;
}

FlexibleBody read_elements(const Field& field) {
  const TableReader table(field, {"kind", "mass", "stiffness", "nodes", "interfaces", "held", "kept", "modes",
                                  "damping", "stiffening", "geometric"});
  const SparseMatrix M =
      read_matrix_file(table.require("mass", "a Matrix Market file, three or six coordinates per node"));
  const SparseMatrix K =
      read_matrix_file(table.require("stiffness", "a Matrix Market file, three or six coordinates per node"));
  ElementBodyOptions o;
  o.nodes =
      read_nodes(table.require("nodes", "places in the body's frame: a file with three columns, or [[x, y, z], ...]"));
  if (const auto given = table.find("interfaces")) {
    if (!given->node->table()) given->fail_type("a table of nodes, as in { tip = [10, 11] }");
    for (const auto& entry : *given->node->table()) {
      const Field list{field.context, &entry.node, given->key + "." + entry.key};
      std::vector<Index> nodes;
      const auto last = static_cast<long long>(o.nodes.size()) - 1;
      if (!list.node->array()) nodes.push_back(list.integer(0, last));
      for (std::size_t k = 0; list.node->array() && k < list.node->array()->size(); ++k)
        nodes.push_back(list.item(k).integer(0, last));
      o.interfaces.emplace_back(entry.key, std::move(nodes));
    }
  }
  if (const auto held = table.find("held")) o.held = names(*held, "names of interfaces");
  if (const auto kept = table.find("kept")) o.kept = names(*kept, "names of interfaces");
  int modes = static_cast<int>(o.modes);
  table.integer("modes", modes, 0);
  o.modes = modes;
  table.number("damping", o.damping, {.low = 0, .high = 1, .open_high = true});
  table.boolean("stiffening", o.stiffening);
  if (const auto cases = table.find("geometric"))
    for (std::size_t k = 0; k < cases->list("a list of tables, as in [{ file = \"kg.mtx\", spin = [0, 0, 1] }]").size();
         ++k)
      o.geometric.push_back(read_geometric(cases->item(k)));
  return field.about([&] { return make_element_body(M, K, o); });
}

}  // namespace

std::shared_ptr<const FlexibleBody> read_flexible(const Field& field) {
  if (!field.node->table()) field.fail_type("a table, as in { kind = \"beam\", .. }");
  const TomlNode* kind = find_key(*field.node->table(), "kind");
  if (!kind) field.fail("'kind' is missing; \"beam\" or \"elements\"");
  const Field word{field.context, kind, field.key + ".kind"};
  const std::string& text = word.text("\"beam\" or \"elements\"");
  if (text == "beam") return std::make_shared<const FlexibleBody>(read_beam(field));
  if (text == "elements") return std::make_shared<const FlexibleBody>(read_elements(field));
  word.fail(fmt::format("unknown kind {}; \"beam\" or \"elements\"", in_quotes(text)));
}

}  // namespace stickslip::model_detail
