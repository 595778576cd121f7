// SPDX-License-Identifier: Apache-2.0
// Options of the scheme `moreau` (moreau.hpp), and its description.
#pragma once

#include <string_view>

#include "stickslip/motion/force_sampling.hpp"
#include "stickslip/solvers/solve_options.hpp"

namespace stickslip {

struct SchemeDescription;

/// How a contact enters a step.
enum class ContactRule { stabilised, velocity };
std::string_view to_string(ContactRule rule);
/// Throws InputError naming the known words.
ContactRule contact_rule_from(std::string_view name);

/// What Coulomb's law is replaced by at contacts. convex: the shift s of (*) is left out, -u ∈ N_C(r) (Anitescu 2006),
/// the optimality condition of a convex problem: unique velocities, but what slides lifts off with u_N = μ |u_T|
/// (docs/theory-contact.md).
enum class ContactRelaxation { none, convex };
std::string_view to_string(ContactRelaxation relaxation);
/// Throws InputError naming the known words.
ContactRelaxation contact_relaxation_from(std::string_view name);

/// Times the tolerance: a step that ends there is counted by the audit and not repeated.
inline constexpr double kNearMiss = 100;

/// Field names are the keys of [run.moreau].
struct MoreauOptions {
  double theta = 0.5;            ///< in [1/2, 1]; 1/2 is order 2 and conserves energy
  bool locate_reversals = true;  ///< split steps at velocity reversals of one-component laws
  ForceSampling force = ForceSampling::mean;
  SolveOptions solver;
  double fixed_point_tolerance = 1e-14;  ///< change of v at which the iteration around (step) ends (VelocityIteration)
  int max_fixed_point = 200;
  /// Of the inclusion of a step with contacts, instead of solver.tolerance: velocity error at a contact over the
  /// fastest velocity that the contacts would have without reactions (below). The scheme is of order 1 in
  /// h.
  double contact_tolerance = 1e-6;
  /// A step above its tolerance ends the run. false: up to kNearMiss times it goes on and is counted, above it is
  /// retried with smaller steps.
  bool strict = false;
  ContactRule contact_rule = ContactRule::stabilised;
  ContactRelaxation relaxation = ContactRelaxation::none;
  /// Largest penetration at the start that is corrected instead of refused [m]; 0: 1e-5 of the smallest shape or, where
  /// the gap is an expression, 5e-3 of its terms.
  double start_penetration = 0;
  int max_splits = 0;  ///< per step; 0: 20 + 10 per law
  void validate() const;
};

/// What is corrected at the start instead of refused where run.moreau.start_penetration is 0, of
/// System::length_scale(); contacts of bodies.
inline constexpr double kBodyStartPenetration = 1e-5;
/// Likewise, of gap_terms(), where the gap is an expression: positions given with a few digits.
inline constexpr double kGapStartPenetration = 5e-3;

SchemeDescription moreau_description();

}  // namespace stickslip
