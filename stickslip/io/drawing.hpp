// SPDX-License-Identifier: Apache-2.0
// What a planar model looks like, for the report; it has no part in the mechanics. The plane of drawing is x-y with y
// up, seen along -z; a frame (position, angle) carries each drawing.
//
//   kind      sizes                            in its frame
//   box       size: full edge lengths          centre, edges along the axes; the third is 0 if it is not given
//   sphere    radius                           centre
//   cylinder  radius, length                   centre, axis z: seen as a disk
//   capsule   radius, length (straight part)   centre, axis x: a rod with round ends
//   plane     -                                the surface is y = 0, out is +y
//   line      points, functions of t and q     in the world: position and angle do not apply
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/model/state_function.hpp"

namespace stickslip {

enum class DrawingKind { box, sphere, cylinder, capsule, line, plane };
std::string_view to_string(DrawingKind kind);

struct Drawing {
  std::string name;
  DrawingKind kind = DrawingKind::box;
  std::array<double, 3> size{};                      ///< box [m]
  double radius = 0, length = 0;                     ///< sphere, cylinder, capsule [m]
  std::vector<std::array<StateFunction, 3>> points;  ///< line [m]
  std::array<StateFunction, 3> position;             ///< of t and q [m]
  StateFunction angle;                               ///< of t and q, about z [rad]

  /// Its place depends on t or q; otherwise it belongs to the ground.
  bool moves() const;
};

}  // namespace stickslip
