// SPDX-License-Identifier: Apache-2.0
// A shape as the user gives it, and as the collision library uses it.
//
//   kind       sizes                                             frame of the shape
//   sphere     radius                                            centre
//   box        size = full edge lengths                          centre, axes along the edges
//   capsule    radius, length of the straight part               centre, axis z; the ends are half spheres beyond it
//   cylinder   radius, length                                    centre, axis z
//   plane      -                                                 solid half space z <= 0: the surface is z = 0, out +z
//   hull       points                                            as given
//   mesh, heightfield   surface: triangles, one-sided            as given. Of the ground only, unless it is but drawn
//
// Non-convex bodies that move have several shapes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/model/collision/polyhedron.hpp"
#include "stickslip/model/collision/pose.hpp"

namespace stickslip {

struct SurfaceMesh;

enum class ShapeKind { sphere, capsule, box, hull, cylinder, plane, mesh, heightfield };
inline bool is_surface(ShapeKind kind) { return kind == ShapeKind::mesh || kind == ShapeKind::heightfield; }

constexpr int ground_body = -1;

struct Shape {
  std::string name = {};  ///< for messages; may be empty
  ShapeKind kind = ShapeKind::sphere;
  int body = ground_body;            ///< index into the poses given to CollisionScene::find; ground_body is fixed
  Pose pose = {};                    ///< of the shape's frame in its body
  double radius = 0.0;               ///< sphere, capsule, cylinder [m]
  double length = 0.0;               ///< capsule (straight part), cylinder [m]
  Vector3 size{0.0, 0.0, 0.0};       ///< box [m]
  std::vector<Vector3> points = {};  ///< hull [m]
  /// mesh, heightfield: by make_surface(), make_height_field() (surface_mesh.hpp)
  std::shared_ptr<const SurfaceMesh> surface = {};
  bool touches = true;  ///< false: it is drawn, and nothing more
};

std::string_view name_of(ShapeKind kind);
/// InputError for an unknown word, with the nearest known one.
ShapeKind shape_kind(std::string_view word);

/// A shape made ready: the body is (core ⊕ ball of radius `rounding`) with the core a polyhedron, or a cylinder, or a
/// half space. All in the shape's frame.
struct Geometry {
  ShapeKind kind = ShapeKind::sphere;
  double radius = 0.0;       ///< of sphere, capsule, cylinder
  double half_length = 0.0;  ///< of the capsule's segment, of the cylinder
  Vector3 half{0, 0, 0};     ///< of the box
  Polyhedron core;           ///< sphere: point; capsule: segment; box, hull: itself; cylinder, plane: empty
  double rounding = 0.0;
  Vector3 center{0, 0, 0};                          ///< of volume
  Vector3 box_center{0, 0, 0}, box_half{0, 0, 0};   ///< bounding box; infinite for a plane
  double bounding_radius = 0.0;                     ///< about box_center
  double scale = 0.0;                               ///< smallest half width: what tolerances are relative to
  std::shared_ptr<const SurfaceMesh> surface = {};  ///< of a mesh or height field
};

/// Checks sizes, pose and points: InputError naming the shape ("shape 3 (lid): radius = -1 must be positive").
Geometry make_geometry(const Shape& shape, int index = -1);

/// For density 1, in the frame of the shape. InputError for a plane or surface, which has no volume.
MassProperties mass_properties(const Geometry& geometry);
/// The same seen from another frame: x' = pose.position + pose.orientation x.
MassProperties moved(const MassProperties& m, const Pose& pose);
/// Two parts as one.
MassProperties joined(const MassProperties& a, const MassProperties& b);

}  // namespace stickslip
