// SPDX-License-Identifier: Apache-2.0
// Motion of a system on its constraints: accelerations, projection against drift, a consistent start, rank.
//
//   g(t, q) = 0 (holonomic rows),   A v = rate,   A v' = -bias,   M v' = h + Aᵀ λ        (model/constraint_element.hpp)
//
// Integrating the last two alone keeps g and A v - rate only as well as the integrator does, and errors of g grow with
// time. After a step the state is therefore projected, in the metric of the mass: the change of q or v is the shortest
// in kinetic energy, hence the same in whatever coordinates the system is written, and a projection of v is what a
// shock of constraint forces would do. (The plain pseudo-inverse would add metres to radians.)
//
//   q ← q ⊕ (-G g) repeatedly, rows of nonholonomic constraints left out (their g is 0 by definition)
//   v ← v - G (A v - rate)                                       G of motion/constrained_mass.hpp
//
// Rows may be redundant, and A may lose rank on the way: then G corrects in the range of A only.
//
// Rows that are held (of closed contacts) stay as they are: the correction x has H x = 0 as well. Where the constraints
// cannot be met so, they are met without.
#pragma once

#include <string>
#include <vector>

#include "stickslip/common/status.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/constrained_mass.hpp"
#include "stickslip/motion/position_reach.hpp"

namespace stickslip {

/// Scratch space of the functions below, for one system. They allocate nothing after the first call at the same rank.
struct ConstraintWorkspace {
  explicit ConstraintWorkspace(const System& of) : system(of), reach(of.kinematics()) {}
  SystemWorkspace system;
  PositionReach reach;
  ConstraintRows rows;
  ConstrainedMass mass;
  ConstrainedMass holonomic;  ///< of project_position(): its rank differs where there are nonholonomic rows
  Vector residual, correction, force, bias, best, inertia, start;
  DenseMatrix stacked;       ///< rows, and held ones below them
  ConstrainedMass combined;  ///< of these
};

/// Refreshes workspace.rows and workspace.mass at (t, q). False where M or A is not finite. Throws InputError where M
/// is not positive definite.
bool refresh_constraints(const System& system, double t, const Vector& q, ConstraintWorkspace& workspace);

/// v' at (t, q, v) without further laws, and λ. False where something is not finite. Leaves the workspace refreshed.
bool constrained_acceleration(const System& system, double t, const Vector& q, const Vector& v,
                              ConstraintWorkspace& workspace, Vector& acceleration, Vector& lambda);

/// How far a state is from its constraints: largest |g| and |A v - rate|, and the row where it is. [units of the rows]
struct ConstraintDrift {
  double position = 0, velocity = 0;
  Index worst_position = -1, worst_velocity = -1;
};
ConstraintDrift constraint_drift(const System& system, double t, const Vector& q, const Vector& v,
                                 ConstraintWorkspace& workspace);

/// Newton's iteration until |g_i| <= 8 ε |a_i| |q|, round-off of its terms (lengths in the metric of M,
/// constraint_audit.hpp; |q| the largest reach on the way, position_reach.hpp), or until it does not fall any more.
/// not_converged: it rose again above `1e-6` of that; q is then the best position found. not_finite: q left the domain
/// of an expression. M is taken where the iteration starts.
Status project_position(const System& system, double t, Vector& q, ConstraintWorkspace& workspace,
                        const DenseMatrix& held = DenseMatrix());
/// One linear projection (and a second one for its round-off). Refreshes the workspace at (t, q).
Status project_velocity(const System& system, double t, const Vector& q, Vector& v, ConstraintWorkspace& workspace,
                        const DenseMatrix& held = DenseMatrix());

struct RankReport {
  Index rows = 0, rank = 0;
  Index freedoms = 0;                  ///< nv - rank
  std::vector<std::string> dependent;  ///< constraints whose rows depend on those before them
};
RankReport rank_report(const System& system, double t, const Vector& q, ConstraintWorkspace& workspace);
/// "6 constraints of rank 6, 1 degree of freedom left", with the names of the dependent ones.
std::string describe(const RankReport& report);

enum class StartPolicy {
  refuse,  ///< a start that violates a constraint by more than the tolerance is an error
  project  ///< it is moved onto the constraints
};
struct ConsistentStartOptions {
  StartPolicy policy = StartPolicy::refuse;
  /// Of |a_i| |q|, with |q| the position given and the way that velocities and forces would make in the run; likewise
  /// of velocities. What is less is forgiven, and projected.
  double tolerance = 1e-6;
  double span = 0;  ///< length of the run; 0: not known [s]
};
struct ConsistentStart {
  Vector q, v;
  ConstraintDrift given;  ///< of what was given
  RankReport rank;
};
/// A start on the constraints. Throws InputError naming the constraint and its residual where what is given violates
/// one by more than the tolerance and is not to be projected, and where no start exists: rows that contradict each
/// other in position, velocity or acceleration.
ConsistentStart make_consistent(const System& system, double t, const Vector& q, const Vector& v,
                                const ConsistentStartOptions& options = {});

}  // namespace stickslip
