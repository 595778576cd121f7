// SPDX-License-Identifier: Apache-2.0
// What a step leaves behind. Energy and residuals cannot be recovered afterwards, so every scheme records them here.
//
// Energy:  (T + U)(t) - (T + U)(0) = work_in - friction_loss - damper_loss - impact_loss + unexplained
//   work_in        work of applied forces, of moving surfaces, and of circulatory forces
//   friction_loss  -∫ (r + smooth part) · u dt
//   impact_loss    -∫ normal reactions · u_N: what impacts take out, with their friction where the two cannot be told
//                  apart (book_impact()); negative where Newton's law with friction makes energy
//   correction     work of moving positions out of a penetration
//   unexplained    what the discretisation made or lost; each scheme states what it guarantees about it
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "stickslip/motion/state.hpp"

namespace stickslip {

struct Event {
  double t = 0;
  int law = 0;
  EventKind kind = EventKind::stick;
  Mode before = Mode::stick, after = Mode::stick;
  double impulse = 0;  ///< of an impact [N s]; 0 for stick, slip and reversal
};

struct EnergyLedger {
  double kinetic = 0, potential = 0;
  double work_in = 0, friction_loss = 0, damper_loss = 0, impact_loss = 0;  ///< sums since the start [J]
  double correction = 0;                                                    ///< likewise
  double initial = 0;                                                       ///< T + U at the start
  double unexplained() const {
    return kinetic + potential - initial - work_in + friction_loss + damper_loss + impact_loss - correction;
  }
};

/// A reaction at a place, for drawing.
struct PointForce {
  int law = 0;                       ///< as in State::modes
  std::array<double, 3> position{};  ///< in the world [m]
  std::array<double, 3> force{};     ///< mean over the step, on the first body [N]
  int first = -1, second = -1;  ///< bodies that meet there, in the order of the model; -1: the ground, or no bodies
};

struct StepRecord {
  State state;                ///< at the end of the step
  double duration = 0;        ///< of the step; differs from the difference of its times by their rounding [s]
  Vector reaction_impulse;    ///< ∫ r dt over the step, per component of r [N s]
  Vector smooth_impulse;      ///< ∫ (weakening and viscous part) dt [N s]
  Vector jump_impulse;        ///< impulses of impacts [N s]
  Vector constraint_impulse;  ///< ∫ λ dt over the step, per constraint [N s]; empty: the scheme does not know them
  Vector friction_velocity;   ///< velocity right after the friction part of the step (splitting: V^{n+1/2}); else not
                              ///< kept up
  Vector law_work;            ///< work done on the system per law, since the start [J]
  EnergyLedger energy;
  std::vector<Event> events;    ///< of this step
  double inclusion = 0;         ///< natural map of (*) at the end of the step, relative (residual.hpp)
  double membership = 0;        ///< distance of r from its set over the step's largest impulse
  double equation = 0;          ///< balance of momentum of the step, relative to its terms in this and earlier steps
  double stuck_motion = 0;      ///< largest |u| dt of a law that sticks through the whole step [m or rad]
  double stuck_terms = 0;       ///< dt times the velocities that cancel in that u; 0: not kept up [m or rad]
  double energy_terms = 0;      ///< kinetic energy that the impulses of the step would make one by one [J]
  double penetration = 0;       ///< largest in the middle of the step, before it is corrected [m]
  double approach = 0;          ///< fastest at which a contact point closes in this step [m/s]
  double contact_velocity = 0;  ///< left at a contact against its law, over the velocities at hand there
  double constraint_position = 0, constraint_velocity = 0;  ///< |g| and |A v - rate|, largest at an end of a step of the
                                                            ///< run so far, of the row worst relative to its terms
  double constraint_position_terms = 1, constraint_velocity_terms = 1;  ///< those terms (constraint_audit.hpp)
  double fast_damping = HUGE_VAL;  ///< smallest b so far of spring-dampers in place of constraints (viscoelastic)
  int admissible_modes = 0;        ///< largest number at an event of this step; 0: not counted
  double contact_gain = 0;         ///< kinetic energy made by contacts in this step, 0 where they take it [J]
  int loaded_points = 0;           ///< contact points that carried load
  int iterations = 0;              ///< of the solver
  int near_misses = 0;             ///< inclusions accepted above the solver's tolerance, within the audit's limit
  std::vector<PointForce> point_forces;
  /// S = ∂(q, v, z)/∂p at the end of the step (motion/sensitivity.hpp); empty: the run has none. Not a number in a
  /// column whose derivative does not exist.
  DenseMatrix sensitivity;
  /// Derivatives of the mean reactions over the step: laws, then constraints. Empty: the scheme does not know them.
  DenseMatrix reaction_sensitivity;
  bool jumped = false;  ///< a velocity jump happened: an interpolant must not reach across
  int problems = 0;     ///< inclusions solved
};

}  // namespace stickslip
