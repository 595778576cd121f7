// SPDX-License-Identifier: Apache-2.0

// Heaps of spheres at rest under gravity as friction-contact problems: the hyperstatic kind, where reactions are not
// unique and contacts are many. Geometry by construction, nothing is simulated.
//
// One step of length h from rest: M v = H r + h f_g, u = Hᵀ v + w, w_N = gap / h, six velocities per sphere.

#pragma once

#include <array>
#include <vector>

#include "stickslip/io/fclib_problem.hpp"

namespace packing {

using Point = std::array<double, 3>;

struct Sphere {
  Point center;   // [m]
  double radius;  // [m]
};

// Square pyramid of n layers, horizontal neighbours touching: n² + 4 Σ_{k<n} k² + 2 Σ_{k≤n} k(k-1) contacts.
std::vector<Sphere> pyramid(int n, double radius);

// Hexagonal close packing, nx × ny × nz spheres on the floor: up to 12 neighbours each.
std::vector<Sphere> close_packing(int nx, int ny, int nz, double radius);

// `count` spheres of random radii in [0.7, 1.3] radius, dropped one after the other into a box of width × width and
// rolled down until three neighbours, or walls, hold them. Seeded.
std::vector<Sphere> deposit(int count, double radius, double width, unsigned seed);

struct ContactOptions {
  double mu = 0.5;
  double density = 2500;      // [kg/m³]
  double step = 5e-3;         // h [s]
  double gap = 1e-3;          // a pair closer than this times the mean radius is a contact
  double wall_distance = -1;  // half the width of a box around the origin; < 0: no walls
};

// Floor at z = 0. Overlaps count as gap 0.
stickslip::GlobalContactProblem contact_problem(const std::vector<Sphere>& spheres, const ContactOptions& options);

}  // namespace packing
