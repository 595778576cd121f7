// SPDX-License-Identifier: Apache-2.0
// What collision detection returns, and how the pieces of a shape are named from step to step.
#pragma once

#include <cstdint>

#include "stickslip/model/collision/pose.hpp"

namespace stickslip {

/// One point of a contact manifold between shape_a and shape_b.
///
///   point of A's surface = position + ½ gap normal,      point of B's surface = position - ½ gap normal
struct ContactPoint {
  int shape_a = 0, shape_b = 0;        ///< indices of shapes, shape_a < shape_b
  int law = 0;                         ///< of the pair rule that admits the pair
  double gap = 0.0;                    ///< signed [m]; < 0: penetration
  Vector3 position = Vector3::Zero();  ///< half way between the two surfaces, in the world [m]
  Vector3 normal = Vector3::UnitZ();   ///< unit, from B to A: the gap grows when A moves along it
  std::uint64_t feature = 0;           ///< which parts meet: equal from step to step while the same parts meet
};

/// A piece of one shape in a feature id: nothing (the inside of a face or a curved surface), a vertex, an edge. The
/// face of a convex body is left out on purpose: of two faces that meet in the touching edge round-off picks one.
using FeatureTag = std::uint32_t;
constexpr FeatureTag no_feature = 0;
constexpr FeatureTag vertex_tag(int index) { return (1U << 28) | static_cast<FeatureTag>(index); }
constexpr FeatureTag edge_tag(int index) { return (2U << 28) | static_cast<FeatureTag>(index); }
/// A flat part of a surface of triangles, or a face of what lies on its corner.
constexpr FeatureTag face_tag(int index) { return (4U << 28) | static_cast<FeatureTag>(index); }
/// The deepest point where no corner is: an edge that crosses a rim.
constexpr FeatureTag deepest_tag = 3U << 28;
constexpr std::uint64_t feature_id(FeatureTag a, FeatureTag b) { return (std::uint64_t{a} << 32) | b; }

}  // namespace stickslip
