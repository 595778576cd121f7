// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/robot/mjcf_geoms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "stickslip/common/error.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::robot {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

MjcfFile::MjcfFile(const XmlElement& root_element, const XmlSource& file_source, const RobotOptions& given_options,
                   const MeshReader& mesh_reader)
    : root(root_element),
      source(file_source),
      options(given_options),
      mesh(mesh_reader),
      writer(given_options),
      defaults(root_element, file_source),
      angle(std::numbers::pi / 180) {
  const XmlElement* found = root.child("compiler");
  if (!found) return;
  const XmlElement& compiler = *found;
  writer.expect(compiler, {"angle", "eulerseq", "meshdir", "assetdir", "autolimits", "coordinate", "inertiafromgeom"});
  if (const XmlAttribute* unit = compiler.find("angle"); unit && unit->value == "radian") angle = 1.0;
  if (const XmlAttribute* sequence = compiler.find("eulerseq")) euler_sequence = sequence->value;
  if (const XmlAttribute* given = compiler.find("coordinate"); given && given->value != "local")
    source.fail(given->line, "coordinate = \"global\" is not available; give local ones");
  if (const XmlAttribute* given = compiler.find("inertiafromgeom")) inertia_from_geom = given->value == "true";
  for (const char* key : {"assetdir", "meshdir"})
    if (const XmlAttribute* folder = compiler.find(key)) mesh_folder = folder->value;
}

std::vector<double> MjcfFile::numbers(const XmlAttribute& attribute) const {
  std::vector<std::string_view> words;
  split_words(attribute.value, words);
  return source.numbers(attribute, words.size());
}

Quaterniond MjcfFile::orientation_of(const XmlElement& element) const {
  if (const XmlAttribute* given = element.find("quat")) {
    const std::vector<double> q = source.numbers(*given, 4);
    const Quaterniond result(q[0], q[1], q[2], q[3]);
    if (!(result.norm() > 0)) source.fail(given->line, "the quaternion is zero");
    return result.normalized();
  }
  if (const XmlAttribute* given = element.find("euler")) {
    const Vector3d angles = angle * source.vector3(*given);
    Quaterniond result = Quaterniond::Identity();
    for (std::size_t k = 0; k < 3 && k < euler_sequence.size(); ++k) {
      const bool fixed = euler_sequence[k] < 'a';
      const Vector3d axis =
          Vector3d::Unit(std::clamp((fixed ? euler_sequence[k] + 32 : euler_sequence[k]) - 'x', 0, 2));
      const Quaterniond part(Eigen::AngleAxisd(angles[static_cast<Eigen::Index>(k)], axis));
      result = fixed ? part * result : result * part;
    }
    return result;
  }
  if (const XmlAttribute* given = element.find("axisangle")) {
    const std::vector<double> a = source.numbers(*given, 4);
    const Vector3d axis(a[0], a[1], a[2]);
    if (axis.isZero(0.0)) source.fail(given->line, "the axis has length 0");
    return Quaterniond(Eigen::AngleAxisd(angle * a[3], axis.normalized()));
  }
  for (const char* key : {"xyaxes", "zaxis"})
    if (const XmlAttribute* given = element.find(key))
      source.fail(given->line, fmt::format("'{}' is not available; give quat, euler or axisangle", key));
  return Quaterniond::Identity();
}

FramePlace MjcfFile::place_of(const XmlElement& element) const {
  FramePlace place;
  if (const XmlAttribute* pos = element.find("pos")) place.position = source.vector3(*pos);
  place.orientation = orientation_of(element);
  return place;
}

void GeomMasses::add(MassProperties part, double density) {
  part.volume *= density;
  part.inertia *= density;
  sum = any ? joined(sum, part) : part;
  any = true;
}

/// The sizes of a geom; its frame is moved where fromto says so.
Shape MjcfGeoms::shape_of(const XmlElement& geom, FramePlace& place) const {
  Shape shape;
  const std::string type = geom.find("type") ? geom.find("type")->value : geom.find("mesh") ? "mesh" : "sphere";
  std::vector<double> size;
  if (const XmlAttribute* given = geom.find("size")) size = file_.numbers(*given);
  double half = size.size() > 1 ? size[1] : 0;
  if (const XmlAttribute* given = geom.find("fromto")) {
    const std::vector<double> e = file_.source.numbers(*given, 6);
    const Vector3d a(e[0], e[1], e[2]), b(e[3], e[4], e[5]);
    if (a == b) file_.source.fail(given->line, "fromto has length 0");
    half = 0.5 * (b - a).norm();
    place = {0.5 * (a + b), Quaterniond::FromTwoVectors(Vector3d::UnitZ(), b - a).normalized()};
  }
  const auto need = [&](std::size_t count) {
    if (size.size() < count) file_.source.fail(geom.line, fmt::format("a {} needs {} numbers in size", type, count));
  };
  if (type == "sphere" || type == "capsule" || type == "cylinder") {
    need(type == "sphere" || geom.find("fromto") ? 1 : 2);
    shape.kind = shape_kind(type);
    shape.radius = size[0];
    shape.length = 2 * half;
  } else if (type == "box") {
    need(3);
    shape.kind = ShapeKind::box;
    shape.size = 2 * Vector3d(size[0], size[1], size[2]);
  } else if (type == "plane") {
    shape.kind = ShapeKind::plane;
  } else if (type == "mesh") {
    shape.kind = ShapeKind::hull;
    shape.points = points_of(geom);
  } else {
    file_.source.fail(
        geom.line,
        fmt::format("geom of type '{}' is not available; plane, sphere, capsule, cylinder, box or mesh", type));
  }
  return shape;
}

std::vector<Vector3d> MjcfGeoms::points_of(const XmlElement& geom) const {
  const XmlAttribute& name = file_.source.require(geom, "mesh");
  if (const XmlElement* assets = file_.root.child("asset"))
    for (const XmlElement& asset : assets->children) {
      const XmlAttribute *own = asset.find("name"), *file = asset.find("file");
      if (asset.name != "mesh" || !file) continue;
      const std::string stem = file->value.substr(0, file->value.find_last_of('.'));
      if ((own ? own->value : stem) != name.value) continue;
      XmlAttribute path = *file;
      if (!file_.mesh_folder.empty()) path.value = file_.mesh_folder + "/" + path.value;
      std::vector<Vector3d> points = file_.mesh(path);
      if (const XmlAttribute* scale = asset.find("scale")) {
        const Vector3d factor = file_.source.vector3(*scale);
        for (Vector3d& x : points) x = x.cwiseProduct(factor);
      }
      return points;
    }
  file_.source.fail(name.line, fmt::format("there is no mesh {} in <asset>", in_quotes(name.value)));
}

void MjcfGeoms::note_friction(const XmlElement& geom) {
  ++touching_;
  double mu = 1;
  if (const XmlAttribute* friction = geom.find("friction"))
    if (const std::vector<double> values = file_.numbers(*friction); !values.empty()) mu = values[0];
  mixed_ |= largest_friction_ > 0 && mu != largest_friction_;
  largest_friction_ = std::max(largest_friction_, mu);
}

void MjcfGeoms::write(const XmlElement& geom, const std::string& body, GeomMasses* masses) {
  file_.writer.expect(geom, {"name", "class", "type", "size", "pos", "quat", "euler", "axisangle", "fromto", "mass",
                             "density", "friction", "mesh", "contype", "conaffinity", "rgba", "material", "group"});
  FramePlace place = file_.place_of(geom);
  Shape shape = shape_of(geom, place);
  if (body == "ground") place = FramePlace{file_.options.position, file_.options.orientation}.at(place);
  const bool touches =
      file_.source.number_or(geom, "contype", 1) != 0 || file_.source.number_or(geom, "conaffinity", 1) != 0;
  const XmlAttribute* name = geom.find("name");
  TomlTable table;
  file_.writer.set(table, "name", file_.writer.name_for("shape", name ? name->value : body + "_geom"), geom.line);
  file_.writer.set(table, "body", body, geom.line);
  file_.writer.set(table, "kind", std::string(name_of(shape.kind)), geom.line);
  if (shape.radius > 0) file_.writer.set(table, "radius", shape.radius, geom.line);
  if (shape.length > 0 && shape.kind != ShapeKind::sphere) file_.writer.set(table, "length", shape.length, geom.line);
  if (shape.kind == ShapeKind::box) file_.writer.set(table, "size", Vector3d(shape.size), geom.line);
  if (shape.kind == ShapeKind::hull) file_.writer.set(table, "points", shape.points, geom.line);
  file_.writer.set_pose(table, "position", place.position, "orientation", place.orientation, geom.line);
  if (!touches) table.push_back({"touches", file_.writer.place(geom.line), {false, file_.writer.place(geom.line)}});
  file_.writer.add("shape", std::move(table), geom.line);
  if (touches) note_friction(geom);
  if (!masses || shape.kind == ShapeKind::plane) return;
  shape.pose = {place.position, place.orientation};
  try {
    const MassProperties part = moved(mass_properties(make_geometry(shape)), shape.pose);
    const XmlAttribute* mass = geom.find("mass");
    const double density =
        mass ? file_.source.number(*mass) / part.volume : file_.source.number_or(geom, "density", 1000);
    if (density > 0) masses->add(part, density);
  } catch (const InputError& error) {
    file_.source.fail(geom.line, error.what());
  }
}

void MjcfGeoms::write_contact() {
  if (touching_ < 2) return;
  TomlTable law;
  const int line = file_.root.child("worldbody")->line;
  file_.writer.set(law, "name", std::string("geoms"), line);
  file_.writer.set(law, "between", std::vector<std::string>{"*", "*"}, line);
  file_.writer.set(law, "mu", largest_friction_, line);
  file_.writer.add("contact", std::move(law), line);
  if (mixed_)
    file_.writer.note(fmt::format("{}: geoms differ in friction; the contact 'geoms' has the largest, mu = {}",
                                  file_.source.path(), largest_friction_));
}

}  // namespace stickslip::robot
