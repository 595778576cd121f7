// SPDX-License-Identifier: Apache-2.0
// Unilateral contact with friction: the law, and the points at which it acts in one configuration.
//
//   u_N = d(gap)/dt,  u_T = d(slip)/dt - surface velocity        relative velocity at the point            [m/s]
//   r = (r_N, r_T) ∈ cone with friction coefficient μ            reaction on the system, r_N >= 0 pushes   [N or N s]
//   gap > 0: r = 0;   gap = 0: 0 <= u_N ⊥ r_N >= 0, Coulomb friction between r_T and u_T
//   impact: restitution e of the normal velocity, impulse or work, as the impact law says (laws/impact_law.hpp);
//           tangential restitution 0
//
// One law may act at any number of points: exactly one where gap and slip are given by expressions, as many as the
// shapes of two bodies touch at otherwise. Rows of Wᵀ per point: normal first, then the tangents.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stickslip/common/vector.hpp"
#include "stickslip/laws/friction_section.hpp"
#include "stickslip/laws/impact_law.hpp"
#include "stickslip/laws/set.hpp"
#include "stickslip/model/contact_compliance.hpp"

namespace stickslip {

struct ContactElement {
  std::string name = {};
  int tangents = 2;                                ///< 0 (frictionless), 1 (in the plane) or 2
  SetKind cone = SetKind::friction_cone;           ///< with two tangents also polygonal_cone or box_cone
  int facets = 8;                                  ///< of the polygonal cone
  double mu = 0;                                   ///< >= 0
  std::optional<double> mu_static = std::nullopt;  ///< >= mu: for a point that sticks
  double restitution = 0;                          ///< e in [0, 1]
  ImpactLaw impact = ImpactLaw::newton;            ///< what e relates; energetic: only with the round cone
  /// In place of the inscribed polygon with its first vertex on t1: taken by the scheme `compliant` alone.
  std::optional<FrictionSection> polygon = std::nullopt;
  std::shared_ptr<const ContactCompliance> compliance = nullptr;  ///< null: none of its own

  int size() const { return 1 + tangents; }
  Set set(double coefficient) const {
    if (tangents == 0) return half_line_set();
    return Set{cone, size(), coefficient, cone == SetKind::polygonal_cone ? facets : 0};
  }
  /// Of the cone, where there are two tangents.
  FrictionSection section() const;
};

/// No impact between these contacts can make energy, whichever of them take part (solvers/impact.hpp).
bool impacts_never_gain(const std::vector<ContactElement>& contacts);

/// Throws InputError naming the law and the value that is out of range.
void validate(const ContactElement& element);

struct ContactSite {
  int law = 0;            ///< index into System::contacts()
  double gap = 0;         ///< [m], < 0: penetration
  std::uint64_t key = 0;  ///< the same from step to step for the same pair of features: warm starts and stick
  std::array<double, 3> position{};  ///< in the world, where has_frame [m]
  std::array<double, 9> frame{};     ///< rows: normal, first and second tangent in the world
  bool has_frame = false;
  int first = -1,
      second = -1;  ///< bodies that meet there; -1: the ground, or no bodies. u is that of first over second
};

/// The points of one configuration. Memory is kept from call to call.
struct ContactPoints {
  std::vector<ContactSite> points;
  SparseMatrix Wt;  ///< rows of the points one after the other (nv columns)
  Vector w;         ///< velocity of the surfaces: u = Wᵀ v - w
  /// Where rows are constant: whose, and a number that changes with every change of Wt and w. Equal numbers: equal
  /// rows. 0: not kept up.
  const void* rows_of = nullptr;
  unsigned long rows_version = 0;
};

/// Σ_j |W_jN q_j| of the point whose rows begin at `row`: what a gap given by an expression is small against. [m]
double gap_terms(const ContactPoints& found, Index row, const Vector& q);

}  // namespace stickslip
