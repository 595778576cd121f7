// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/hinge.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

#include "stickslip/model/multibody/part_error.hpp"

namespace stickslip {

namespace {

constexpr std::array<std::string_view, 8> kAxisNames{"tx", "ty", "tz", "rx", "ry", "rz", "ball", "free"};

std::vector<std::string> names(const std::vector<HingeAxis>& axes, std::initializer_list<const char*> of_ball,
                               std::initializer_list<const char*> of_shift) {
  std::vector<std::string> result;
  std::map<std::string, int> seen;
  const auto add = [&](const std::string& name) {
    const int count = ++seen[name];
    result.push_back(count == 1 ? name : fmt::format("{}_{}", name, count));
  };
  for (const HingeAxis axis : axes) {
    if (axis == HingeAxis::free)
      for (const char* name : of_shift) add(name);
    if (axis == HingeAxis::ball || axis == HingeAxis::free)
      for (const char* name : of_ball) add(name);
    if (is_translation(axis) || is_rotation(axis)) add(std::string(to_string(axis)));
  }
  return result;
}

}  // namespace

std::string_view to_string(HingeAxis axis) { return kAxisNames[static_cast<std::size_t>(axis)]; }

HingeAxis hinge_axis_from(std::string_view word) {
  for (std::size_t k = 0; k < kAxisNames.size(); ++k)
    if (kAxisNames[k] == word) return static_cast<HingeAxis>(k);
  throw InputError(fmt::format("there is no axis '{}'; an axis is tx, ty, tz, rx, ry, rz, ball or free", word));
}

Index Hinge::positions() const {
  Index n = 0;
  for (const HingeAxis axis : axes) n += positions_of(axis);
  return n;
}

Index Hinge::velocities() const {
  Index n = 0;
  for (const HingeAxis axis : axes) n += velocities_of(axis);
  return n;
}

std::vector<HingeAxis> bearing_axes(const Hinge& hinge) {
  if (hinge.axes.size() != 1 || hinge.axes[0] == HingeAxis::free)
    throw PartError(
        "hinge", hinge.name, "axes",
        fmt::format("hinge '{}': the load of a bearing belongs to one axis or a ball; it has {}", hinge.name,
                    hinge.axes.size() == 1 ? "'free'" : fmt::format("{} axes", hinge.axes.size())));
  std::vector<HingeAxis> held;
  for (const HingeAxis axis : {HingeAxis::tx, HingeAxis::ty, HingeAxis::tz})
    if (axis != hinge.axes[0]) held.push_back(axis);
  return held;
}

std::vector<std::string> position_names(const std::vector<HingeAxis>& axes) {
  return names(axes, {"qw", "qx", "qy", "qz"}, {"x", "y", "z"});
}

std::vector<std::string> velocity_names(const std::vector<HingeAxis>& axes) {
  return names(axes, {"wx", "wy", "wz"}, {"vx", "vy", "vz"});
}

}  // namespace stickslip
