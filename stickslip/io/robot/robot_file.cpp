// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/robot/robot_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace stickslip::robot {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

TomlNode RobotWriter::value(const std::vector<std::string>& texts, int line) const {
  TomlArray items;
  for (const std::string& text : texts) items.push_back(value(text, line));
  return {std::move(items), place(line)};
}

TomlNode RobotWriter::value(const Vector3d& x, int line) const {
  return {TomlArray{value(x.x(), line), value(x.y(), line), value(x.z(), line)}, place(line)};
}

TomlNode RobotWriter::value(const Quaterniond& q, int line) const {
  return {TomlArray{value(q.w(), line), value(q.x(), line), value(q.y(), line), value(q.z(), line)}, place(line)};
}

TomlNode RobotWriter::value(const Matrix3d& m, int line) const {
  TomlArray rows;
  for (int k = 0; k < 3; ++k) rows.push_back(value(Vector3d(m.row(k)), line));
  return {std::move(rows), place(line)};
}

TomlNode RobotWriter::value(const std::vector<Vector3d>& points, int line) const {
  TomlArray items;
  for (const Vector3d& x : points) items.push_back(value(x, line));
  return {std::move(items), place(line)};
}

void RobotWriter::set_pose(TomlTable& table, const char* position, const Vector3d& x, const char* orientation,
                           const Quaterniond& q, int line) const {
  if (!x.isZero(0.0)) set(table, position, x, line);
  if (!q.vec().isZero(0.0)) set(table, orientation, q, line);
}

void RobotWriter::add(const char* section, TomlTable table, int line) {
  TomlEntry* entry = find_entry(sections_, section);
  if (!entry) entry = &sections_.emplace_back(TomlEntry{section, place(line), {TomlArray{}, place(line)}});
  entry->node.array()->push_back({std::move(table), place(line)});
}

std::string RobotWriter::name_for(const std::string& list, const std::string& given) {
  std::string name = options_.prefix + given;
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) c = '_';
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "_");
  if (list == "body" && name == "ground") name = "ground_link";
  std::set<std::string>& taken = taken_[list];
  const std::string first = name;
  for (int k = 2; !taken.insert(name).second; ++k) name = fmt::format("{}_{}", first, k);
  if (name != options_.prefix + given) renamed_.push_back(fmt::format("'{}' is called {}", given, name));
  return name;
}

void RobotWriter::unused(const std::string& what, int line) {
  auto& [count, first] = unused_.try_emplace(what, 0, line).first->second;
  ++count;
}

void RobotWriter::expect(const XmlElement& element, std::initializer_list<std::string_view> known) {
  for (const XmlAttribute& attribute : element.attributes)
    if (std::find(known.begin(), known.end(), attribute.name) == known.end())
      unused(fmt::format("'{}' of <{}>", attribute.name, element.name), attribute.line);
}

RobotFile RobotWriter::finish(std::string name, const XmlSource& source) {
  if (!renamed_.empty()) note(fmt::format("{}: {}", source.path(), fmt::join(renamed_, ", ")));
  std::vector<std::string> parts;
  for (const auto& [what, seen] : unused_)
    parts.push_back(seen.first == 1 ? fmt::format("{} (line {})", what, seen.second)
                                    : fmt::format("{} ({} times, first in line {})", what, seen.first, seen.second));
  if (!parts.empty()) note(fmt::format("not used of {}: {}", source.path(), fmt::join(parts, ", ")));
  return {std::move(name), std::move(sections_), std::move(notes_)};
}

AxisFrame axis_frame(const Vector3d& direction) {
  const Vector3d axis = (direction / direction.cwiseAbs().maxCoeff()).normalized();
  for (int k = 0; k < 3; ++k) {
    if (axis[(k + 1) % 3] != 0 || axis[(k + 2) % 3] != 0) continue;
    Quaterniond turn = Quaterniond::Identity();
    if (axis[k] < 0) {  // half a turn about the next axis
      turn.w() = 0;
      turn.vec() = Vector3d::Unit((k + 1) % 3);
    }
    return {static_cast<char>('x' + k), turn};
  }
  return {'z', Quaterniond::FromTwoVectors(Vector3d::UnitZ(), axis).normalized()};
}

Quaterniond from_rpy(const Vector3d& rpy) {
  const auto about = [](double angle, const Vector3d& axis) {
    return Quaterniond(std::cos(angle / 2), std::sin(angle / 2) * axis.x(), std::sin(angle / 2) * axis.y(),
                       std::sin(angle / 2) * axis.z());
  };
  return about(rpy.z(), Vector3d::UnitZ()) * about(rpy.y(), Vector3d::UnitY()) * about(rpy.x(), Vector3d::UnitX());
}

}  // namespace stickslip::robot
