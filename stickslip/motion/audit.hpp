// SPDX-License-Identifier: Apache-2.0
// Every run is audited: how well each step satisfied its law and its equation, and where the energy went.
//
//   inclusion     natural map of (*), largest over the steps, relative to the momentum of the step
//   set           distance of a reaction from its set, relative to the largest reaction
//   momentum      balance of the step's equation, relative
//   stuck_motion  path travelled by laws while stuck, summed over the steps [m, rad]
//   energy        unexplained energy over the largest energy or work of the run
//   penetration   largest at a contact [m]
//   constraint_position, constraint_velocity   largest |g| and |A v - rate| of bilateral constraints
//   fast_damping  smallest eigenvalue of (d²/c) A M⁻¹ Aᵀ along the motion (viscoelastic): paper 4 asks for >= 2
//   admissible_modes                           largest number of modes that one event left to choose from (event)
//   contact_gain  kinetic energy made by contacts: Newton's impact law with friction can; contacts with e = 0, the
//                 energetic law, and Poisson's with one e or without friction cannot (solvers/impact.hpp)
// A scheme guarantees some of these up to a limit (AuditItem::limit). A run that breaks a guarantee has failed; the
// rest is reported and never hidden.
#pragma once

#include <string>
#include <vector>

#include "stickslip/motion/step.hpp"

namespace stickslip {

struct AuditItem {
  std::string name;
  double value = 0;
  double limit = 0;  ///< of the guarantee; meaningless if not guaranteed
  bool guaranteed = false;
  bool ok = true;  ///< value <= limit, or not guaranteed
  std::string unit;
  std::string meaning;
};

/// Running maxima and sums, fed with every step.
struct AuditLedger {
  double inclusion = 0, membership = 0, equation = 0, stuck_motion = 0;
  double penetration = 0, contact_gain = 0;  ///< largest [m]; sum [J]
  double constraint_position = 0, constraint_velocity = 0;
  double fast_damping = HUGE_VAL;
  int admissible_modes = 0;
  long gaining_steps = 0, loaded_points = 0, iterations = 0;
  long near_misses = 0;                               ///< inclusions accepted above the solver's tolerance
  int most_iterations = 0, most_warm_iterations = 0;  ///< of the solver in one step; without the first step
  double energy_scale = 0;                            ///< largest of T + |U|, |work_in|, losses
  double largest_gap = 0;                             ///< largest |unexplained| so far
  long steps = 0, problems = 0;                       ///< parts of a cut step count each
  void add(const StepRecord& record);
};

struct AuditLimits {
  bool energy = false;        ///< the scheme closes the energy balance
  bool stuck_motion = false;  ///< the scheme sticks exactly
  double stuck_motion_limit = 0;
  double inclusion = 1e-10;
  double set = 1e-12;
  bool contacts = false;      ///< there are any
  bool constraints = false;   ///< likewise
  bool viscoelastic = false;  ///< constraints are spring-dampers: their violation is reported, not bounded
  double energy_limit = 0;    ///< of the scheme itself; 0: round-off of the steps
  bool no_gain = true;        ///< impacts_never_gain(): contacts cannot make energy
};

std::vector<AuditItem> audit_report(const AuditLedger& ledger, const EnergyLedger& energy, const AuditLimits& limits);
bool passed(const std::vector<AuditItem>& audit);

}  // namespace stickslip
