// SPDX-License-Identifier: Apache-2.0
// Forces of contacts with local compliance at a state: the normal forces, then the tangential forces at known normal
// forces. One group of contacts whose stiffness or damping is coupled; a contact alone is a group of one.
//
//   δ = (δ_n, δ_T) deformations, s = δ + Ψ separations, Ψ gaps                                   [m]
//   λ = K δ + (0, C δ_T')     forces on the system, λ_n >= 0 pushes                               [N]
//   K symmetric positive definite (N + T), normals first [N/m];  C symmetric positive definite over the tangents [N
//   s/m]
//
//   0 <= λ_n ⊥ s_n >= 0       ⇔   λ_n = K_nn s_n + b,  b = K_nT δ_T - K_nn Ψ                      (1)
//   e = K_Tn δ_n + K_TT δ_T,  δ_n = s_n - Ψ;      trial force  z = e - C v_T
//   λ_T = argmin over Π ρ_i S_i of ½ (l - z)ᵀ C⁻¹ (l - z),   ρ_i = μ_i λ_n,i                      (2)
//   δ_T' = C⁻¹ (λ_T - e),     slip velocity  σ = s_T' = δ_T' + v_T = C⁻¹ (λ_T - z)                [m/s]
//
// (1) is problem (*) with D = K_nn on half-lines, solved by exchanges of the least index (K_nn has positive principal
// minors: Murty 1974); (2) is (*) with D = C⁻¹ on the sections of the cones. A contact alone has both in closed form;
// coupled tangents are swept block by block, each projected in its own metric, until the pieces stay, and finished by
// Newton's method on the equations of those pieces. The forces are unique and do not depend on where the sweeps start.
//
// Two departures from the source, per contact and off by default:
//   normal law        λ_n = φ(p), p = max(0, -Ψ) the penetration, φ increasing with φ(0) = 0 (Hertz: φ = k p^{3/2}).
//   The
//                     normal is then not coupled to tangents or to other contacts, δ_n = -p
//   normal damping    λ_n = max(0, λ_el - c_n u_n) while the elastic force λ_el > 0. The force then jumps where
//   surfaces
//                     meet with speed: the theory (Lipschitz forces, unique C¹ motion) does not cover it
//
// Source: Pang, Favorable mathematical properties of frictional contact problems with local compliance, 2014 (paper 3);
// C⁻¹ is the metric (the Euclidean projection would be wrong unless C = c I), δ_n is algebraic.
#pragma once

#include <vector>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/status.hpp"
#include "stickslip/common/vector.hpp"
#include "stickslip/laws/friction_section.hpp"

namespace stickslip {

struct CompliantPoint {
  double mu = 0;     ///< >= 0
  int tangents = 0;  ///< 0, 1 or 2
  Index first = 0;   ///< first tangent of the group
  FrictionSection section = {};
  double normal_damping = 0;  ///< c_n >= 0 [N s/m]
  bool own_normal = false;    ///< λ_n = φ(p): `own_force` and its slope and energy stand here, K_nn is not looked at
  double own_force = 0;       ///< φ(p) [N]
  double own_slope = 0;       ///< φ'(p) [N/m]
  double own_energy = 0;      ///< ∫ φ [J]
};

/// Data of one group at a state; sizes N = points, T = tangents.
struct CompliantProblem {
  std::vector<CompliantPoint> points;
  DenseMatrix K, C;
  Vector gap, normal_velocity;        ///< Ψ, u_n (N)
  Vector deformation, velocity;       ///< δ_T, v_T (T)
  unsigned long damping_version = 0;  ///< changes with C; factors are kept while it does not
  bool keep_pieces = false;           ///< of the solution, for a contact alone (compliant_pieces.hpp)
};

/// What a contact does: which equations hold in its neighbourhood.
struct ContactPieces {
  bool closed = false;  ///< λ_el > 0
  bool pulls = false;   ///< the damper would pull: λ_n = 0 although closed
  SectionPiece tangential;
  bool operator==(const ContactPieces& other) const {
    return closed == other.closed && pulls == other.pulls && (!closed || pulls || tangential == other.tangential);
  }
};

struct CompliantSolution {
  Status status = Status::success;
  Vector normal, elastic_normal;  ///< λ_n, λ_el (N)
  Vector tangential, elastic;     ///< λ_T, e (T)
  Vector rate, slip;              ///< δ_T', σ (T)
  Vector separation;              ///< s_n (N)
  std::vector<ContactPieces> pieces;
  double energy = 0;  ///< ½ δᵀ K δ, and ∫ φ [J]
  int sweeps = 0;
};

/// Factors and scratch of one group; belongs to its sizes.
struct CompliantWorkspace {
  Eigen::LLT<DenseMatrix> damping;
  unsigned long damping_version = ~0ul;
  DenseMatrix metric;  ///< C⁻¹
  Vector b, z, x, w, rho, rest;
  DenseMatrix A;
  Eigen::PartialPivLU<DenseMatrix> lu;
  Eigen::LLT<DenseMatrix> open_factor;
  std::vector<char> closed;  ///< warm start of (1)
};

/// Throws InputError unless K and C are symmetric positive definite of the right size, with the largest pivot that is
/// not positive; `what` names the group.
void validate(const CompliantProblem& problem, const char* what);

/// Allocates nothing once sizes stay. status: not_converged if sweeps and Newton end without the pieces agreeing.
void solve(const CompliantProblem& problem, CompliantWorkspace& workspace, CompliantSolution& solution);

/// What a contact alone that slipped on `before` does now, by the rate of its deformation: z = l - C (δ_T' + v_T) with
/// l on that piece. The trial force of the state differs from l by C σ only: where C is small, an error of the state
/// too small to count would decide.
SectionPiece piece_by_rate(const CompliantProblem& problem, const CompliantWorkspace& workspace,
                           const CompliantSolution& solution, const SectionPiece& before, const PlaneForce& rate);

/// λ_el of a point if it had to be closed, the others as they are: 0 where it closes or opens. [N]
double elastic_normal_if_closed(const CompliantProblem& problem, const CompliantSolution& solution, std::size_t point);

/// Directions in which the data change, and what follows for the solution while its pieces stay. Where a solution lies
/// on the border of two pieces its own piece is taken: an element of the B-subdifferential.
struct CompliantVariation {
  Vector gap, normal_velocity, deformation, velocity;  ///< in
  Vector mu, normal_damping, own_force;                ///< in (N); empty: constant
  Vector section;                                      ///< in (T): row of the facet, or vertex, on which the force
                                                       ///< lies; not looked at on other pieces; empty: constant
  DenseMatrix K, C;                                    ///< in; empty: constant
  Vector normal, tangential, rate;                     ///< out: dλ_n, dλ_T, d(δ_T')
};
void vary(const CompliantProblem& problem, const CompliantSolution& solution, CompliantWorkspace& workspace,
          CompliantVariation& variation);

/// The transpose of vary(): for weights on dλ_n, dλ_T and d(δ_T') the weights on every change of the data, so that
///   normal·dλ_n + tangential·dλ_T + rate·d(δ_T') = gap·dΨ + .. + own_force·dφ + K : dK + C : dC
/// whatever the changes are.
struct CompliantCotangent {
  Vector normal, tangential, rate;                     ///< in
  Vector gap, normal_velocity, deformation, velocity;  ///< out
  Vector mu, normal_damping, own_force;                ///< out (N)
  Vector section;                                      ///< out (T)
  DenseMatrix K, C;                                    ///< out
};
void pull_back(const CompliantProblem& problem, const CompliantSolution& solution, CompliantWorkspace& workspace,
               CompliantCotangent& cotangent);

}  // namespace stickslip
