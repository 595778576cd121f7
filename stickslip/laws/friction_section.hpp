// SPDX-License-Identifier: Apache-2.0
// The section S of a friction cone: tangential forces l ∈ ρ S with ρ = μ r_N >= 0, known beforehand.
//
//   interval   |l| <= ρ                                          one tangent
//   disk       l_1² + l_2² <= ρ²
//   polygon    a_k·l <= ρ, k = 1 .. n                            any rows whose polygon holds the origin in its
//   interior
//
// Regular polygons: facet normals at the angles φ + 2πk/n. Circumscribed about the disk: a_k of length 1. Inscribed in
// it: a_k of length 1/cos(π/n). The box |l_1|, |l_2| <= ρ is the circumscribed square with φ = 0.
//
//   P(z; ρ, G) = argmin over ρ S of ½ (l - z)ᵀ G (l - z)          G symmetric positive definite            (1)
//
// The piece on which P lies says how it moves with z and ρ; g = G (dl - dz):
//
//   inside   dl = dz
//   rim      G (l - z) + ν l = 0:   g + ν dl + l dν = 0,  l·dl = ρ dρ
//   facet    a_k·dl = dρ,  τ_k·g = 0
//   vertex   dl = V_k dρ                                          V_k the vertex of S; the ends of an interval are 0, 1
//
// Source: Pang 2014 (paper 3), with the projection in the metric of the inverse damping. The polygons of the source are
// circumscribed as written; both kinds are here.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "stickslip/laws/metric.hpp"

namespace stickslip {

using PlaneForce = std::array<double, 2>;

/// Where a projection lies.
struct SectionPiece {
  enum class Kind : char { inside, rim, facet, vertex };
  Kind kind = Kind::inside;
  int index = -1;  ///< of the facet or vertex
  double nu = 0;   ///< of the rim, in the unit of G
  bool operator==(const SectionPiece& other) const { return kind == other.kind && index == other.index; }
};

class FrictionSection {
 public:
  /// The disk.
  FrictionSection() = default;
  /// Throws InputError unless facets >= 3 and the angle is finite.
  static FrictionSection regular(int facets, bool circumscribed, double angle);
  static FrictionSection box() { return regular(4, true, 0.0); }
  /// Throws InputError where a row is no direction, or the rows leave a direction without bound.
  static FrictionSection from_rows(std::span<const PlaneForce> rows);

  bool round() const { return !polygon_; }
  /// 0: the disk. Rows that bound nothing are left out.
  int facets() const { return polygon_ ? static_cast<int>(polygon_->rows.size()) : 0; }
  const PlaneForce& row(int k) const { return polygon_->rows[static_cast<std::size_t>(k)]; }
  /// Between facets k and k + 1, counter-clockwise.
  const PlaneForce& vertex(int k) const { return polygon_->vertices[static_cast<std::size_t>(k)]; }

  /// (1); allocates nothing. ρ = 0 gives 0 on the piece that a small ρ would give.
  SectionPiece project(double rho, const Metric& G, const PlaneForce& z, PlaneForce& l) const;
  /// Amount by which l leaves ρ S, relative to nothing: max(0, |l| - ρ), or the largest a_k·l - ρ over |a_k|. [N]
  double excess(double rho, const PlaneForce& l) const;

 private:
  struct Polygon {
    std::vector<PlaneForce> rows, vertices;
  };
  SectionPiece project_on_polygon(double rho, const Metric& G, const PlaneForce& z, PlaneForce& l) const;

  std::shared_ptr<const Polygon> polygon_;
};

/// The interval: l = clamp(z, -ρ, ρ).
SectionPiece project_on_interval(double rho, double z, double& l);

}  // namespace stickslip
