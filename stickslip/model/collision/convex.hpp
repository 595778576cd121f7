// SPDX-License-Identifier: Apache-2.0
// Convex bodies by their support function, and the direction that separates two of them best.
//
//   σ(n) = min_{x∈A} n·x - max_{y∈B} n·y          separation along the unit vector n (from B to A)
//   gap  = max_{|n|=1} σ(n)                       > 0: the distance; < 0: minus the least translation that parts them
//
// Of a rounded shape only the core counts here; its radius is subtracted by the caller.
//
// Distance of separated bodies: Gilbert, Johnson, Keerthi 1988 (GJK), on A - B, with every sub-simplex tried at each
// iteration (at most 15): slower than Johnson's recursion, and free of its cancellations. It stops when |v| - σ(v/|v|),
// an upper bound of the error, is at round-off, or when round-off stops the descent.
//
// One iteration serves both signs of the gap. GJK on bodies moved apart by τ along n maximises σ(m) + τ m·n over m, so
// that σ(m) >= σ(n) + τ (1 - m·n): a proximal ascent of σ. With τ = max(0, δ - σ(n)) the moved bodies are at least
// δ = 1e-3 of their size apart, so that GJK always works where it is exact; the fixed points are the local maxima of σ.
// Departure from the usual expanding polytope (EPA): no polytope, no degenerate facets, same accuracy for both signs.
#pragma once

#include "stickslip/model/collision/shape.hpp"

namespace stickslip {

/// The core of a geometry, placed.
struct Convex {
  const Geometry* geometry = nullptr;
  Matrix3 R = Matrix3::Identity();
  Vector3 x = Vector3::Zero();
  double shrink = 1.0;  ///< factor about the centre of volume
};

/// Index of the vertex of a polyhedral core that is farthest along d (in the world); the lowest one of equals.
int support_vertex(const Convex& body, const Vector3& d);
/// A point of the core farthest along d (any length, in the world).
Vector3 support(const Convex& body, const Vector3& d);
/// σ(n)
double separation(const Convex& a, const Convex& b, const Vector3& n);

struct Distance {
  double distance = 0.0;    ///< 0 if the bodies overlap
  Vector3 normal{0, 0, 0};  ///< unit, from B to A; undefined if they overlap
  Vector3 on_a{0, 0, 0}, on_b{0, 0, 0};
  double error = 0.0;  ///< |distance - σ(normal)|: bound of the error up to round-off
};
/// GJK, begun with the support points along `guess`.
Distance distance(const Convex& a, const Convex& b, const Vector3& guess);

struct Separation {
  double value = 0.0;  ///< σ(normal)
  Vector3 normal{0, 0, 0};
  Vector3 on_a{0, 0, 0}, on_b{0, 0, 0};  ///< touching points of the cores once A is moved by -value along the normal
};
/// The local maximum of σ that the proximal ascent reaches from `start`.
Separation maximise_separation(const Convex& a, const Convex& b, const Vector3& start);

}  // namespace stickslip
