// SPDX-License-Identifier: Apache-2.0
// An impact at all contacts that touch, solved at once: impulses p and velocities after, with Coulomb friction.
//
//   u⁺ = u⁻ + D p,     p_k in the cone of contact k, normal component first                           [m/s, 1/kg, N s]
//
//   newton     u_N⁺ + e u_N⁻ >= 0 ⊥ p_N >= 0, Coulomb between p_T and u_T⁺: inclusion (*) with b_N = (1 + e) u_N⁻
//   poisson    compression  u_c = u⁻ + D p_c,   0 <= u_cN ⊥ p_cN >= 0,            Coulomb between p_cT and u_cT
//              expansion    u⁺ = u_c + D p_e,   0 <= u_N⁺ ⊥ p_eN - e p_cN >= 0,   Coulomb between p_eT and u_T⁺
//              (Glocker and Pfeiffer 1995, without restitution of tangential impulses: friction has none to give back)
//   energetic  the impulses grow along a path: dp_N >= 0, dp_T opposes u_T with |dp_T| = μ dp_N while it slips, holds
//   it
//              at rest where |dp_T| < μ dp_N suffices (Routh 1905); each contact gives back e² of the work that its
//              normal impulse has taken (Stronge 1990). energetic_impact.hpp says how several contacts share the path.
//
// Energy made by the impulses: work = ½ p·(u⁻ + u⁺), the change of kinetic energy without what moving
// surfaces bring in.
//   newton     <= 0 for e = 0; without friction and with one e; with one e and no coupling D_NT. Else it may be > 0:
//              at one contact that sticks afterwards, the kinetic energy that the contact can reach changes by a factor
//              up to e²/(1 - ρ²), ρ² = D_NT D_TT⁻¹ D_TN / D_NN
//   poisson    <= 0 for one e at all contacts, with friction; for any e in [0, 1] without. With T the energy after an
//              expansion p: it is convex, ∂T/∂p = u⁺, so T(e p_c) >= T(p_e) + u⁺·(e p_c - p_e), where the last product
//              is >= 0: its normal part vanishes, its tangential part is e u_T⁺·p_cT + μ p_eN |u_T⁺| >= 0. And
//              T(e p_c) - T(u⁻) = -½ (1 - e²) p_c·D p_c + (1 + e) u_c·p_c <= 0. Different e with friction: may be > 0
//   energetic  <= 0 always: friction takes at every point of the path, normals keep (1 - e²) of what they took
// (p_cT and p_eT lie in the same cone: both phases use the same μ.)
//
// Contacts that D does not join are impacts of their own. Within one impact the strongest law holds for all contacts
// (ImpactLaw is ordered), each with its e.
#pragma once

#include <string>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/status.hpp"
#include "stickslip/common/vector.hpp"
#include "stickslip/laws/impact_law.hpp"
#include "stickslip/solvers/energetic_impact.hpp"

namespace stickslip {

struct ImpactContact {
  Set set;  ///< half_line or a cone; energetic: half_line or friction_cone
  double restitution = 0;
  ImpactLaw law = ImpactLaw::newton;
};

struct ImpactProblem {
  DenseMatrix D;  ///< symmetric positive semidefinite
  Vector u;       ///< before the impact
  std::vector<ImpactContact> contacts;
};

struct ImpactOptions {
  double tolerance = 1e-14;   ///< of the inclusions, as in SolveOptions
  double acceptable = 1e-10;  ///< natural map up to which an inclusion short of the tolerance is taken
  double max_seconds = 20;    ///< wall clock of one inclusion or path
  StopRequest stop = nullptr;
};

struct ImpactSolution {
  Status status = Status::success;
  std::string message;  ///< empty on success
  Vector p, u;          ///< impulses; velocities afterwards
  double work = 0;      ///< ½ p·(u⁻ + u⁺) [J]; > 0: the impact made energy
};

/// Kept from call to call. One contact alone allocates nothing after the first call of its size.
struct ImpactWorkspace {
  std::vector<int> first, group, members;
  ImpactProblem part;
  Vector part_p;
  EnergeticPath path;
};

void solve(const ImpactProblem& problem, const ImpactOptions& options, ImpactWorkspace& workspace,
           ImpactSolution& solution);

}  // namespace stickslip
