// SPDX-License-Identifier: Apache-2.0
// The runs behind the verdicts on paper 2: its four cases, static limits above the dynamic ones, and one experiment per
// statement that has to be corrected. Two hinges: M = [2 1; 1 1] kg, K = diag(2, 2.5) N/m, y(0) = (1, 0.2) m, at rest.
#pragma once

#include <string>
#include <vector>

#include "papers/stick-slip/hinge_by_hinge.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::paper2 {

struct HingeLimits {
  double dynamic[2];
  double fixed[2] = {-1, -1};  ///< static limit; negative: the same as dynamic
};

/// models/two-hinges.toml with these limits.
Simulation run_hinges(const HingeLimits& limits, SchemeKind scheme, double end_time, double step, double output_step);

/// Row of a run at time t; -1 if there is none.
Index row_at(const Trajectory& trajectory, double t);

/// What is known and what is decided with all hinges at rest under the applied force Q, M = [2 1; 1 1].
struct RestDecision {
  Vector Q, limit;
  Vector one_by_one;    ///< accelerations with each hinge let go that its own locked force lets go
  bool contradiction;   ///< a hinge of these moves the other way than its locked force says
  Vector acceleration;  ///< of problem (V), all hinges at once
  Vector lambda;        ///< friction over limit
  double residual;      ///< of M a = Q - f λ, λ_i ∈ Sgn(a_i), checked apart from the solver
};
RestDecision decide_at_rest(const Vector& Q, const Vector& limit);

/// The force on the stuck hinge of case 3 on both sides of the reversal of the other, and what follows.
struct InducedRelease {
  double t = 0, held_before = 0, held_after = 0;
  Vector acceleration;
};
InducedRelease induced_release();

/// Largest position error at T against the event scheme, over step sizes.
struct ErrorCurve {
  std::vector<double> h, error;
  double order = 0;
};
ErrorCurve error_of_hinge_by_hinge(double T);
ErrorCurve error_of_moreau(double T);

/// Displacement of hinge 2 of case 4, which never moves, if its state at t = 0 is not tested.
double displacement_without_first_test(double h);

struct StaticVariant {
  std::string name;
  HingeLimits limits;
  Simulation event;
  double rest_time = 0;             ///< of the last event; NaN if a hinge still moves
  int admissible = 0;               ///< largest number of admissible modes at an event
  double largest_held = 0;          ///< largest |force| on a stuck hinge with a limit [N]
  double difference_to_moreau = 0;  ///< largest, of the final positions
  double parts_from_moreau = 0;     ///< first event that is another one there; NaN: none
};
std::vector<StaticVariant> static_variants();

struct HalvingTrial {
  double eps = 0;
  Halving halving;
};
struct ZeroSearch {
  std::vector<HalvingTrial> halving;
  int root_evaluations = 0;
  double root_velocity = 0, root_error = 0;  ///< error: of the time against the event scheme
};
ZeroSearch search_for_zero();

/// A point of mass 1 with x x' + y y' = 0.3: r² = 1 + 0.6 t, angular momentum 1.
struct ConstrainedPoint {
  double position_error = 0, residual = 0;                  ///< event scheme, which has B'
  double printed_position_error = 0, printed_residual = 0;  ///< the printed equation, which has B
};
ConstrainedPoint constrained_point();

}  // namespace stickslip::paper2
