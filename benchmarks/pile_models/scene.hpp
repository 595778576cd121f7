// SPDX-License-Identifier: Apache-2.0
// Piles of bodies that several programs step: bodies, walls and times as numbers, and how deep bodies are inside one
// another, measured for all programs by the same function where closed forms exist (spheres).
//
//   spheres     N spheres dropped into a box without a lid, in a column: i-th at height 0.1 + 0.1 i
//   shapes      twelve capsules and twelve boxes dropped into a box without a lid
//   hopper      spheres run out of a square funnel of four plates under a shaft of four planes
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace pile {

using Triple = std::array<double, 3>;
using Quadruple = std::array<double, 4>;
constexpr double kGravity = 9.81;  // [m/s²], along -z

enum class Kind { sphere, capsule, box };

struct Body {
  Kind kind = Kind::sphere;
  double mass = 0;                    ///< [kg]
  Triple size{};                      ///< sphere: radius; capsule: radius, straight length; box: edges [m]
  Triple position{};                  ///< [m]
  Quadruple orientation{1, 0, 0, 0};  ///< w, x, y, z, unit
};

struct Plane {
  Triple position{}, normal{};
};

struct Plate {  ///< a box that does not move
  Triple size{}, position{};
  Quadruple orientation{1, 0, 0, 0};
};

struct Scene {
  std::string name;
  std::vector<Body> bodies;
  std::vector<Plane> planes;
  std::vector<Plate> plates;
  double mu = 0, restitution = 0, step = 0, end = 0;  // [-, -, s, s]
  double length = 0;                                  ///< smallest radius or half edge [m]
  bool only_spheres() const {
    return std::all_of(bodies.begin(), bodies.end(), [](const Body& b) { return b.kind == Kind::sphere; });
  }
};

inline void add_box_of_planes(Scene& scene, double half) {
  scene.planes = {{{0, 0, 0}, {0, 0, 1}},
                  {{half, 0, 0}, {-1, 0, 0}},
                  {{-half, 0, 0}, {1, 0, 0}},
                  {{0, half, 0}, {0, -1, 0}},
                  {{0, -half, 0}, {0, 1, 0}}};
}

inline Quadruple unit(Quadruple q) {
  double norm = 0;
  for (const double x : q) norm += x * x;
  for (double& x : q) x /= std::sqrt(norm);
  return q;
}

inline Scene spheres(int count) {
  Scene scene;
  scene.name = "spheres";
  scene.step = 1e-3;
  scene.end = count <= 50 ? 3 : 2.5 + 0.01 * count;  // the last one lies
  scene.length = 0.05;
  for (int i = 0; i < count; ++i)
    scene.bodies.push_back({Kind::sphere,
                            0.1,
                            {scene.length, 0, 0},
                            {0.2 * std::sin(12.9898 * i), 0.2 * std::sin(78.233 * i), 0.1 + 0.1 * i},
                            {1, 0, 0, 0}});
  add_box_of_planes(scene, 0.3);
  return scene;
}

inline Scene shapes() {
  Scene scene;
  scene.name = "shapes";
  scene.step = 2e-3;
  scene.end = 1.5;
  scene.length = 0.03;
  for (int i = 0; i < 12; ++i) {
    const double x = 0.2 * (i % 2 - 0.5), y = 0.15 * (i / 2 % 3 - 1), z = 0.3 * (i / 6);
    const double a = 0.78 + 0.01 * i, b = 0.3 * i;
    scene.bodies.push_back({Kind::capsule,
                            0.4,
                            {0.03, 0.1, 0},
                            {x + 0.01 * std::sin(3 * i), y + 0.01 * std::cos(5 * i), 0.1 + z},
                            {std::cos(a), 0, std::sin(a), 0}});
    scene.bodies.push_back({Kind::box,
                            0.5,
                            {0.1, 0.07, 0.06},
                            {x + 0.01 * std::sin(5 * i), y + 0.01 * std::cos(7 * i), 0.25 + z},
                            unit({std::cos(b), 0, std::sin(b), 0.2})});
  }
  add_box_of_planes(scene, 0.25);
  return scene;
}

inline Scene hopper(int count) {
  constexpr double kRadius = 0.012, kHalf = 0.12, kOutlet = 0.1, kLow = 0.15, kHigh = 0.27, kThick = 0.02;
  Scene scene;
  scene.name = "hopper";
  scene.step = 2e-3;
  scene.end = 1;
  scene.length = kRadius;
  for (int i = 0; i < count; ++i)
    scene.bodies.push_back(
        {Kind::sphere,
         2500 * 4 / 3.0 * std::acos(-1.0) * std::pow(kRadius, 3),
         {kRadius, 0, 0},
         {0.044 * (i % 5 - 2) + 0.002 * std::sin(7 * i), 0.044 * (i / 5 % 5 - 2) + 0.002 * std::cos(5 * i),
          kHigh + 1.1 * kRadius + 0.03 * (i / 25)},
         {1, 0, 0, 0}});
  add_box_of_planes(scene, kHalf);
  // A plate falls from the wall (kHalf, kHigh) to the edge of the opening (kOutlet/2, kLow); four of them about z.
  const double run = kHalf - kOutlet / 2, rise = kHigh - kLow, length = std::hypot(run, rise);
  const double slope = std::atan2(rise, run), right_angle = std::acos(0.0);
  const Triple inward{-rise / length, 0, run / length};
  for (int k = 0; k < 4; ++k) {
    const double turn = k * right_angle, c = std::cos(turn), s = std::sin(turn);
    const double x = kOutlet / 2 + run / 2 - 0.5 * kThick * inward[0], z = kLow + rise / 2 - 0.5 * kThick * inward[2];
    // Turned by -slope about y, then by `turn` about z.
    const double cy = std::cos(-slope / 2), sy = std::sin(-slope / 2), cz = std::cos(turn / 2), sz = std::sin(turn / 2);
    scene.plates.push_back({{length, 2 * kHalf, kThick}, {c * x, s * x, z}, {cz * cy, -sz * sy, cz * sy, sz * cy}});
  }
  return scene;
}

inline Scene scene_of(const std::string& name, int count) {
  if (name == "spheres") return spheres(count);
  if (name == "shapes") return shapes();
  if (name == "hopper") return hopper(count);
  std::fprintf(stderr, "no scene '%s' (spheres, shapes, hopper)\n", name.c_str());
  std::exit(2);
}

/// Depth of the deepest penetration, 0: none; q: 7 numbers per body, position first. Spheres only. [m]
inline double deepest(const Scene& scene, const double* q) {
  double depth = 0;
  const std::size_t n = scene.bodies.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double *x = q + 7 * i, r = scene.bodies[i].size[0];
    for (const Plane& plane : scene.planes) {
      double height = 0;
      for (std::size_t c = 0; c < 3; ++c) height += plane.normal[c] * (x[c] - plane.position[c]);
      depth = std::max(depth, r - height);
    }
    for (const Plate& plate : scene.plates) {
      const auto [w, a, b, c] = plate.orientation;
      const double d[3] = {x[0] - plate.position[0], x[1] - plate.position[1], x[2] - plate.position[2]};
      const double axes[3][3] = {{1 - 2 * (b * b + c * c), 2 * (a * b + w * c), 2 * (a * c - w * b)},
                                 {2 * (a * b - w * c), 1 - 2 * (a * a + c * c), 2 * (b * c + w * a)},
                                 {2 * (a * c + w * b), 2 * (b * c - w * a), 1 - 2 * (a * a + b * b)}};
      double outside = 0, inside = -HUGE_VAL;
      for (std::size_t k = 0; k < 3; ++k) {
        const double along = std::abs(axes[k][0] * d[0] + axes[k][1] * d[1] + axes[k][2] * d[2]) - 0.5 * plate.size[k];
        outside += std::pow(std::max(along, 0.0), 2);
        inside = std::max(inside, along);
      }
      depth = std::max(depth, r - (outside > 0 ? std::sqrt(outside) : inside));
    }
    for (std::size_t j = 0; j < i; ++j) {
      const double* y = q + 7 * j;
      const double dx = x[0] - y[0], dy = x[1] - y[1], dz = x[2] - y[2], sum = r + scene.bodies[j].size[0];
      const double square = dx * dx + dy * dy + dz * dz;
      if (square < sum * sum) depth = std::max(depth, sum - std::sqrt(square));
    }
  }
  return depth;
}

inline double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What each program prints, one JSON line.
struct Outcome {
  std::string program, status = "success";
  double step = 0, seconds = 0;
  double depth = 0, depth_at_end = 0;  ///< largest at the end of a step; at the end of the run [m]
  double fastest_at_end = 0;           ///< of the mass centres [m/s]
  long contacts = 0;                   ///< at the end
};

inline void print(const Scene& scene, const Outcome& o) {
  std::printf(
      "{\"program\": \"%s\", \"scene\": \"%s\", \"bodies\": %zu, \"mu\": %g, \"restitution\": %g, \"step\": %g, "
      "\"status\": \"%s\", \"seconds\": %.4g, \"depth\": %.3g, \"depth_at_end\": %.3g, \"fastest_at_end\": %.3g, "
      "\"contacts\": %ld}\n",
      o.program.c_str(), scene.name.c_str(), scene.bodies.size(), scene.mu, scene.restitution, o.step, o.status.c_str(),
      o.seconds, o.depth / scene.length, o.depth_at_end / scene.length, o.fastest_at_end, o.contacts);
}

/// PROGRAM SCENE COUNT MU RESTITUTION [more of the program's own]
inline Scene parse(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s spheres|shapes|hopper COUNT MU RESTITUTION ...\n", argv[0]);
    std::exit(2);
  }
  Scene scene = scene_of(argv[1], std::atoi(argv[2]));
  scene.mu = std::atof(argv[3]);
  scene.restitution = std::atof(argv[4]);
  return scene;
}

}  // namespace pile
