// SPDX-License-Identifier: Apache-2.0
// urdf = "arm.urdf" (mjcf = "arm.xml"): the bodies, hinges, shapes and laws of a robot file, put among those of the
// model.
//
// An entry of the model with the name of one of the robot's changes the keys that it gives: [[hinge]] name = "elbow",
// position_0 = 0.3. Others are added to the robot's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/robot/mesh_file.hpp"
#include "stickslip/io/robot/robot_file.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::model_detail {

namespace {

namespace fs = std::filesystem;
using robot::RobotFile;
using robot::RobotOptions;
using robot::XmlAttribute;
using robot::XmlElement;
using robot::XmlSource;

/// Corners of a hull that contacts can be found for without much ado.
constexpr std::size_t kMostCorners = 400;

constexpr std::array<const char*, 2> kKinds{"urdf", "mjcf"};

bool exists(const ModelContext& context, const std::string& path) {
  std::error_code ignored;
  return context.stored_file(path) || fs::is_regular_file(path, ignored);
}

/// A file as robot files name it: beside the robot file; file://...; package://NAME/..., looked for in the folders
/// above the robot file, the package's own or that of its packages.
std::string find_mesh(const ModelContext& context, const XmlSource& source, const XmlAttribute& attribute) {
  const fs::path folder = fs::path(source.path()).parent_path();
  std::string name = attribute.value;
  const auto strip = [&](std::string_view scheme) {
    if (!name.starts_with(scheme)) return false;
    name.erase(0, scheme.size());
    return true;
  };
  std::vector<std::string> tried;
  const auto attempt = [&](const fs::path& path) {
    tried.push_back(path.string());
    return exists(context, tried.back());
  };
  if (strip("package://") || strip("model://")) {
    const std::size_t slash = std::min(name.find('/'), name.size());
    const std::string rest = name.substr(std::min(slash + 1, name.size()));
    fs::path up = folder.empty() ? fs::path(".") : folder;
    for (int k = 0; k < 6; ++k, up /= "..")
      if (attempt((up / name).lexically_normal()) || attempt((up / rest).lexically_normal())) return tried.back();
  } else {
    strip("file://");
    if (attempt(folder / name)) return tried.back();
  }
  source.fail(attribute.line,
              fmt::format("there is no mesh file {}; looked for {}{}", in_quotes(attribute.value), tried.front(),
                          tried.size() > 1 ? fmt::format(" and {} more", tried.size() - 1) : ""));
}

std::vector<Eigen::Vector3d> read_mesh(ModelContext& context, const XmlSource& source, const XmlAttribute& attribute) {
  const std::string path = find_mesh(context, source, attribute);
  std::vector<Eigen::Vector3d> points;
  if (const std::string* kept = context.stored_file(path)) points = robot::points_of_text(*kept);
  if (points.empty()) {
    try {
      constexpr std::size_t kLargestMesh = 256 * kMebibyte;
      const std::vector<Eigen::Vector3d> all = robot::mesh_points(read_text_file(path, kLargestMesh), path);
      const robot::HullPoints hull = robot::hull_points(all, kMostCorners);
      points = hull.points;
      if (hull.inside > 0)
        context.notes.push_back(
            fmt::format("{}: the hull has {} of {} corners and is at most {:.3g} of the mesh's units too small", path,
                        points.size(), all.size(), hull.inside));
    } catch (const InputError& error) {
      source.fail(attribute.line, error.what());
    }
  }
  context.keep_file(path, robot::points_text(points));
  return points;
}

RobotFile read_robot(const std::string& path, const std::string& text, const RobotOptions& options,
                     ModelContext& context) {
  const XmlSource source(path);
  const XmlElement root = robot::parse_xml(text, path);
  const robot::MeshReader mesh = [&](const XmlAttribute& attribute) { return read_mesh(context, source, attribute); };
  if (root.name == "robot") return robot::read_urdf(root, source, options, mesh);
  if (root.name == "mujoco") return robot::read_mjcf(root, source, options, mesh);
  source.fail(root.line,
              fmt::format("<{}> is not a robot; a URDF file holds <robot>, an MJCF file <mujoco>", root.name));
}

/// What is needed to make an element of its own, with what it is called in a message.
const char* needed_key(std::string_view section) {
  if (section == "hinge") return "parent";
  if (section == "body") return "mass";
  if (section == "motor" || section == "coupling") return "on";
  return "";
}

TomlNode* find_named(TomlArray& items, std::string_view name) {
  for (TomlNode& item : items)
    if (const TomlNode* given = item.table() ? find_key(*item.table(), "name") : nullptr)
      if (given->text() && *given->text() == name) return &item;
  return nullptr;
}

/// Elements of the model behind those of the robot; those with the same name change them.
void join(TomlEntry& ours, TomlArray theirs, const ModelContext& context) {
  const TomlArray* given = ours.node.array();
  if (!given) return;  // refused where the section is read
  const std::size_t count = theirs.size();
  for (const TomlNode& item : *given) {
    const TomlNode* name = item.table() ? find_key(*item.table(), "name") : nullptr;
    TomlNode* same = name && name->text() ? find_named(theirs, *name->text()) : nullptr;
    if (!same) {
      const char* needed = needed_key(ours.key);
      if (name && name->text() && *needed && !find_key(*item.table(), needed)) {
        std::vector<std::string> known;
        for (std::size_t k = 0; k < count; ++k) known.push_back(*find_key(*theirs[k].table(), "name")->text());
        context.fail(item.place, fmt::format("{}.{}", ours.key, *name->text()),
                     fmt::format("the robot has no {} {}{}; one of its own needs '{}'", ours.key,
                                 in_quotes(*name->text()), hint(*name->text(), known), needed));
      }
      theirs.push_back(item);
      continue;
    }
    for (const TomlEntry& entry : *item.table()) {
      if (entry.key == "name") continue;
      if (TomlEntry* old = find_entry(*same->table(), entry.key)) {
        *old = entry;
      } else {
        same->table()->push_back(entry);
      }
    }
  }
  ours.node.value = std::move(theirs);
}

RobotOptions read_options(const Field& field, std::string& file) {
  RobotOptions options;
  if (field.node->text()) {
    file = *field.node->text();
    return options;
  }
  const TableReader table(field, {"file", "prefix", "base", "position", "orientation"});
  file = table.require("file", "as in file = \"arm.urdf\"").text("a file name");
  if (const auto prefix = table.find("prefix")) options.prefix = prefix->text("a text in quotes");
  table.word("base", [&](std::string_view word) {
    if (word != "fixed" && word != "free")
      throw InputError(fmt::format("unknown base {}; \"fixed\" or \"free\"", in_quotes(word)));
    options.free_base = word == "free";
  });
  if (const auto position = table.find("position")) options.position = read_vector3(*position);
  if (const auto orientation = table.find("orientation")) options.orientation = read_rotation(*orientation);
  return options;
}

/// Reads one robot; what it holds goes behind that of the robots before it.
void take_in(const Field& field, ModelContext& context, RobotFile& all) {
  std::string file;
  RobotOptions options = read_options(field, file);
  const std::string path = context.resolve(file);
  const std::string text = field.about([&] { return context.read_file(path); });
  options.file = static_cast<int>(context.robots.size());
  context.robots.push_back(path);
  RobotFile one = read_robot(path, text, options, context);
  for (std::string& note : one.notes) context.notes.push_back(std::move(note));
  if (all.name.empty()) all.name = one.name;
  for (TomlEntry& section : one.sections) {
    TomlEntry* before = find_entry(all.sections, section.key);
    if (!before) {
      all.sections.push_back(std::move(section));
    } else if (TomlArray* more = section.node.array()) {
      before->node.array()->insert(before->node.array()->end(), more->begin(), more->end());
    }
  }
}

/// As a text that can be put into an expression.
std::string text_of(const TomlNode& node) {
  if (node.text()) return *node.text();
  if (const auto* number = std::get_if<double>(&node.value)) return fmt::format("{:.17g}", *number);
  if (const auto* number = std::get_if<std::int64_t>(&node.value)) return fmt::format("{}", *number);
  if (node.array() && node.array()->size() == 1) return text_of(node.array()->front());
  return "0";
}

}  // namespace

void take_in_robots(TomlTable& root, ModelContext& context) {
  RobotFile all;
  TomlPlace place;
  for (const char* kind : kKinds) {
    const TomlNode* given = find_key(root, kind);
    if (!given) continue;
    place = given->place;
    const Field field{&context, given, kind};
    if (!given->array()) {
      take_in(field, context, all);
      continue;
    }
    for (std::size_t k = 0; k < given->array()->size(); ++k) take_in(field.item(k), context, all);
  }
  if (!all.name.empty() && !find_key(root, "title")) root.push_back({"title", place, {all.name, place}});
  for (TomlEntry& section : all.sections) {
    TomlEntry* ours = find_entry(root, section.key);
    if (!ours) {
      root.push_back(std::move(section));
    } else if (TomlArray* theirs = section.node.array()) {
      join(*ours, std::move(*theirs), context);
    }
  }
}

void start_followers(TomlTable& root) {
  TomlEntry *couplings = find_entry(root, "coupling"), *hinges = find_entry(root, "hinge");
  if (!couplings || !hinges || !couplings->node.array() || !hinges->node.array()) return;
  for (const TomlNode& coupling : *couplings->node.array()) {
    if (coupling.place.file < 0 || !coupling.table()) continue;
    const TomlNode* on = find_key(*coupling.table(), "on");
    const TomlNode *ratio = find_key(*coupling.table(), "ratio"), *offset = find_key(*coupling.table(), "offset");
    if (!on || !ratio || !offset || !on->array() || on->array()->size() != 2) continue;
    const auto hinge_at = [&](std::size_t k) -> TomlTable* {
      const std::string* name = (*on->array())[k].text();
      TomlNode* hinge = name ? find_named(*hinges->node.array(), name->substr(0, name->find('.'))) : nullptr;
      return hinge ? hinge->table() : nullptr;
    };
    TomlTable *follower = hinge_at(0), *leader = hinge_at(1);
    if (!follower || !leader) continue;
    for (const char* key : {"position_0", "velocity_0"}) {
      const TomlNode* start = find_key(*leader, key);
      if (find_key(*follower, key)) continue;
      const std::string rest = std::string_view(key) == "position_0" ? text_of(*offset) : "0";
      follower->push_back(
          {key,
           coupling.place,
           {fmt::format("({})*({}) + ({})", text_of(*ratio), start ? text_of(*start) : "0", rest), coupling.place}});
    }
  }
}

std::optional<TomlTable> robot_document(std::string_view text, const std::string& path,
                                        std::vector<std::string>& notes) {
  if (!robot::looks_like_xml(text)) return std::nullopt;
  const bool mjcf = robot::parse_xml(text, path).name == "mujoco";
  const TomlPlace place{1, 1, -1, -1};
  const auto number = [&](double x) { return TomlNode{x, place}; };
  const auto word = [&](const char* x) { return TomlNode{std::string(x), place}; };
  TomlTable root;
  root.push_back({mjcf ? "mjcf" : "urdf", place, {fs::path(path).filename().string(), place}});
  if (!mjcf)
    root.push_back({"gravity",
                    place,
                    {TomlTable{{"vector", place, {TomlArray{number(0), number(0), number(-9.81)}, place}}}, place}});
  if (!mjcf)
    root.push_back(
        {"run",
         place,
         {TomlTable{{"scheme", place, word("moreau")}, {"step", place, number(1e-3)}, {"end_time", place, number(10)}},
          place}});
  if (!mjcf)
    notes.push_back(
        "a robot file says nothing of gravity and the run: taken are (0, 0, -9.81) m/s² and `moreau` with steps of 1 "
        "ms to "
        "10 s; --set gravity.vector=.., run.scheme=.. change them");
  return root;
}

}  // namespace stickslip::model_detail
