// SPDX-License-Identifier: Apache-2.0
// An animation for the interactive page (block `scene` of report/README.md), as plain data: bodies with their shapes
// and poses over time, contact forces, springs.
//
// World frame, SI units. A quaternion (w, x, y, z) of any length but 0 turns body axes into world axes; a shape's own
// position and quaternion place it in its body. Poses and forces are stored in single precision, quaternions in steps
// of 1/32767: enough to be looked at, not to be computed with.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace stickslip {

struct SceneShape {
  enum class Kind {
    sphere,    ///< size = {radius}
    box,       ///< size = {length along x, y, z}
    capsule,   ///< size = {radius, length of the straight part}; axis z, the origin is the middle
    cylinder,  ///< size = {radius, length}; axis z, the origin is the middle
    plane,     ///< size = {}; through the origin, solid below z = 0, without end
    hull,      ///< convex body of `vertices`; `triangles` may be empty
    mesh,      ///< `triangles` over `vertices`, counterclockwise seen from outside
    line       ///< polyline through `vertices`; size = {} or {radius}; may change its shape, see `moving`
  };
  Kind kind = Kind::sphere;
  std::vector<double> size;  ///< [m]
  std::array<double, 3> position{0, 0, 0};
  std::array<double, 4> quaternion{1, 0, 0, 0};
  std::vector<double> vertices{};  ///< x y z of each [m]
  std::vector<int> triangles{};    ///< three vertex numbers each
  std::string color{};             ///< "#rrggbb"; empty: the page chooses
  bool moving = false;             ///< line: `vertices` holds those of every frame, one frame after the other
};

struct SceneBody {
  std::string name;
  std::vector<SceneShape> shapes;
  std::vector<double> position{0, 0, 0};       ///< of the body's origin: 3 numbers per frame, or 3 if it never moves
  std::vector<double> quaternion{1, 0, 0, 0};  ///< 4 numbers per frame, or 4
};

/// The mean force over the step that ends at the frame [N], at a point of the world [m].
struct SceneForce {
  std::array<double, 3> point{0, 0, 0}, force{0, 0, 0};
  std::size_t law = 0;  ///< index into ReportScene::laws
};

struct SceneSpring {
  std::string name;
  int body_a = -1, body_b = -1;                              ///< index into ReportScene::bodies; -1: the world
  std::array<double, 3> point_a{0, 0, 0}, point_b{0, 0, 0};  ///< in the body's own frame
};

/// One velocity of a hinge: where it is, along which axis it moves, and the friction on it.
struct SceneHinge {
  std::string name;                      ///< "elbow.rz"
  int body = -1;                         ///< index into ReportScene::bodies; -1: the world
  std::array<double, 3> point{0, 0, 0};  ///< in the body's own frame
  bool slides = false;                   ///< along the axis; else it turns about it
  std::vector<double> axis;              ///< in the world, 3 numbers per frame
  std::vector<double> force;  ///< of friction, per frame: along the axis [N], about it [N m]; empty: there is none
  std::vector<char> sticks;   ///< per frame, as many
};

struct ReportScene {
  std::string title = "Animation", note;
  std::string link = "time";  ///< plots with the same link and the animation move each other's time
  bool planar = false;        ///< drawn as a figure in `plane`; otherwise as solids
  std::string plane;          ///< "xy", "xz" or "yz"; empty: the one that holds x and the upward axis
  char up = 'z';              ///< upward axis: 'y' or 'z'
  std::vector<double> times;  ///< of the frames, ascending [s]
  std::vector<SceneBody> bodies;
  std::vector<std::string> laws;
  std::vector<std::vector<SceneForce>> forces;  ///< empty, or the list of each frame
  std::vector<SceneSpring> springs;
  std::vector<SceneHinge> hinges;
};

/// The block as JSON. Sizes that do not fit together are a programmer's error.
std::string report_scene_json(const ReportScene& scene);

}  // namespace stickslip
