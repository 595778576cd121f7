// SPDX-License-Identifier: Apache-2.0
// Every run is audited: how well each step satisfied its law and its equation, and where the energy went.
//
//   inclusion     natural map of (*), largest over the steps, relative to the momentum of the step
//   set           distance of a reaction from its set, relative to the largest reaction
//   momentum      |A v - g - W p|, weighed by A_ii^(-1/2), over the largest |g_i| + Σ |W_ik p_k| of the run so far
//   stuck_motion  path travelled by laws while stuck, summed over the steps [m, rad]; to round-off of the velocities
//   energy        unexplained energy over the largest energy or work of the run, or what the impulses of a step could
//   do penetration   largest at a contact on the way [m] penetration_end   the same at the end of the run, by a search
//   of its own; a few steps of the fastest approach are
//                 what the time stepping can leave
//   contact_velocity   |min(u_N, p_N/m)| after a step, m the mass at the contact, over the velocities at hand there:
//   sees
//                 a contact that gives way however heavy its neighbours are
//   constraint_position, constraint_velocity   |g| and |A v - rate| of bilateral constraints, against round-off of
//   their
//                 terms (constraint_audit.hpp)
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
  std::string remedy = {};  ///< what to do where it is not ok
};

/// Running maxima and sums, fed with every step.
struct AuditLedger {
  double inclusion = 0, membership = 0, equation = 0, stuck_motion = 0;
  double penetration = 0, contact_gain = 0;  ///< largest [m]; sum [J]
  double constraint_position = 0, constraint_velocity = 0;
  double constraint_position_terms = 1, constraint_velocity_terms = 1;
  double stuck_terms = 0;            ///< sum [m or rad]
  double approach = 0, longest = 0;  ///< largest [m/s], longest step [s]
  double contact_velocity = 0;       ///< largest
  double final_penetration = 0;      ///< of a search at the end [m]
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
  bool energy = false;  ///< the scheme closes the energy balance
  double momentum = 1e-10;
  double contact_velocity = 0;    ///< 0: not recorded
  double length = 0;              ///< smallest shape, 0: none [m]
  bool own_steps = false;         ///< the scheme chooses its steps by run.tolerance
  bool stuck_motion = false;      ///< the scheme sticks exactly
  double stuck_motion_limit = 0;  ///< of the path that laws could have made; of 1 m where that is not kept up
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
/// What failed, by how much, and what helps.
std::string audit_message(const std::vector<AuditItem>& audit);

}  // namespace stickslip
