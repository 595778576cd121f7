// SPDX-License-Identifier: Apache-2.0
// A law is a convex set C: the reaction r and its conjugate velocity u obey
//
//     r ∈ C,      -(u + s(u)) ∈ N_C(r)      ⇔      r = P_C( r - ρ (u + s(u)) )  for any ρ > 0                 (*)
//
// N_C(r) = { w : w·(y - r) <= 0 for all y in C } is the normal cone, P_C the Euclidean projection, s the shift.
//
//   kind            C                                             size  limit      states
//   line            R                                             1     -          bilateral constraint, u = 0
//   interval        [-c, c]                                       1     c          dry friction
//   half_line       [0, ∞)                                        1     -          contact without friction
//   disk            |r| <= c                                      2     c          planar friction
//   polygon         regular polygon, see polygon.hpp              2     c          planar friction, piecewise linear
//   box             |r_1| <= c, |r_2| <= c                        2     c          two independent dry frictions
//   friction_cone   r_N >= 0, |r_T| <= μ r_N                      2, 3  μ          contact with Coulomb friction
//   polygonal_cone  r_N >= 0, r_T ∈ r_N · (polygon of radius μ)   3     μ          the same, piecewise linear
//   box_cone        r_N >= 0, |r_1| <= μ r_N, |r_2| <= μ r_N      3     μ          the same, box section
//
// Units: r and c in N (or N s, N m); u in the conjugate unit (m/s, rad/s, or as the problem states it); μ has none.
// Signs: r acts on the system along the law's direction; friction opposes u. Cones carry the normal component first:
// r = (r_N, r_T), u = (u_N, u_T) with u_N > 0 when the contact opens.
//
// Limits c = 0 and μ = 0 are ordinary values: C is then {0}, or the normal half-line with r_T = 0.
//
// Every function below allocates nothing, keeps no state and takes spans of exactly set.size numbers (set.size²,
// row-major, for matrices). Input and output of project, shift and project_in_metric may be the same memory.
// A NaN among the components comes out as NaN, never as an admissible point.
#pragma once

#include <span>
#include <string_view>

namespace stickslip {

enum class SetKind { line, interval, half_line, disk, polygon, box, friction_cone, polygonal_cone, box_cone };

/// One block C_i of problem (*). Plain data: a solver with a variable limit writes `limit` directly (finite, >= 0).
struct Set {
  SetKind kind = SetKind::line;
  int size = 1;        ///< number of components of r and u
  double limit = 0.0;  ///< c for interval, disk, polygon, box; μ for the cones; unused for line and half_line
  int facets = 0;      ///< polygon and polygonal_cone only: even, >= 4
};

/// Factories. They throw InputError, naming the value, unless 0 <= limit < ∞, facets is even and >= 4, size is 2 or 3.
Set line_set();
Set interval_set(double c);
Set half_line_set();
Set disk_set(double c);
Set polygon_set(double c, int facets);
Set box_set(double c);
Set friction_cone_set(double mu, int size);
Set polygonal_cone_set(double mu, int facets);
Set box_cone_set(double mu);

/// "line", "interval", ... as the enumerators are spelled.
std::string_view to_string(SetKind kind);

/// The three contact cones: those with a normal component and a shift.
bool is_cone(SetKind kind);

/// p = P_C(z) = argmin over C of |p - z|. Closed form for every kind, no iteration.
void project(const Set& set, std::span<const double> z, std::span<double> p);

/// J ∈ ∂_B P_C(z), row-major: a limit of Jacobians of P_C at points of differentiability. It is symmetric, with
/// eigenvalues in [0, 1]. Where P_C is differentiable, J is the Jacobian. At a kink it is the limit from the adjacent
/// piece of largest rank, i.e. from the side of larger faces: the interior before a facet, a facet before an edge or a
/// vertex, an edge before the apex. So J = I on the boundary of C when C has an interior (interval and disk: |z| = c;
/// half-line: z = 0; cones: their surface and apex). With limit = 0, C has no interior: J = 0, or
/// diag(1 if z_N >= 0 else 0, 0, 0) for a cone.
void projection_jacobian(const Set& set, std::span<const double> z, std::span<double> jacobian);

/// σ_C(u) = sup over C of r·u, in W when u is a velocity; +∞ where unbounded. For cones, line and half-line it is 0 on
/// the polar cone and +∞ elsewhere; rounding decides on the polar cone's surface.
double support(const Set& set, std::span<const double> u);

/// Euclidean distance of r to C, in the unit of r; 0 for members.
double distance(const Set& set, std::span<const double> r);

/// distance(set, r) <= tolerance, tolerance >= 0 in the unit of r.
bool contains(const Set& set, std::span<const double> r, double tolerance);

/// The shift that makes Coulomb's law an inclusion: s(u) = (μ σ_S(-u_T), 0, 0) for the cone r_T ∈ μ r_N S over the unit
/// section S, and 0 for the other kinds. σ_S is |u_T| for friction_cone, |u_1| + |u_2| for box_cone, the largest
/// product with a unit vertex for polygonal_cone; all sections obey S = -S, so the sign of u_T does not matter.
///
/// Derivation: let w = -(u + s). For r_N > 0, w ∈ N_C(r) says two things. Over the section at height r_N, r_T
/// maximises w_T·ρ = -u_T·ρ over ρ ∈ μ r_N S: maximal dissipation. Along the ray of r, w·r = 0, hence
/// w_N + μ σ_S(w_T) = 0, i.e. u_N + s_N = μ σ_S(-u_T): with the shift above, u_N = 0. At r = 0, w lies in the polar
/// cone, w_N + μ σ_S(w_T) <= 0, i.e. u_N >= 0. Without the shift sliding would open the contact, u_N = μ σ_S(-u_T).
void shift(const Set& set, std::span<const double> u, std::span<double> s);

/// |r - P_C(r + w)|: zero exactly if r ∈ C and w ∈ N_C(r).
double normal_cone_residual(const Set& set, std::span<const double> r, std::span<const double> w);

/// |r - P_C(r - ρ (u + s(u)))|, in the unit of r: zero exactly if (*) holds. ρ > 0 carries the unit r/u; the peers'
/// error measure for friction-contact problems has ρ = 1.
double inclusion_residual(const Set& set, std::span<const double> r, std::span<const double> u, double rho = 1.0);

/// p = argmin over C of ½ (p - z)ᵀ G (p - z), G symmetric positive definite: the projection that a dense tangential
/// block asks for (tangential friction at known normal force, where G is the inverse damping; paper 3). The kinds of
/// size 1, where G is a positive number without effect, and disk, polygon, box; calling it for a cone is a programmer
/// error. Methods and their accuracy: disk.hpp, polygon.hpp.
void project_in_metric(const Set& set, std::span<const double> metric, std::span<const double> z, std::span<double> p);

}  // namespace stickslip
