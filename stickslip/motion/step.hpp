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
  ActiveFacets facets_before = {}, facets_after = {};
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

/// What every scheme says of a step. What one scheme alone knows stays with it and comes out by Scheme::add_to_row()
/// and Scheme::audit_parts().
struct StepRecord {
  State state;                ///< at the end of the step
  double duration = 0;        ///< of the step; differs from the difference of its times by their rounding [s]
  Vector reaction_impulse;    ///< ∫ r dt over the step, per component of r [N s]
  Vector smooth_impulse;      ///< ∫ (weakening and viscous part) dt [N s]
  Vector jump_impulse;        ///< impulses of impacts [N s]
  Vector constraint_impulse;  ///< ∫ λ dt over the step, per constraint [N s]; empty: the scheme does not know them
  Vector law_work;            ///< work done on the system per law, since the start [J]
  EnergyLedger energy;
  std::vector<Event> events;  ///< of this step
  std::vector<PointForce> point_forces;
  /// S = ∂(q, v, z)/∂p at the end of the step (motion/sensitivity.hpp); empty: the run has none. Not a number in a
  /// column whose derivative does not exist.
  DenseMatrix sensitivity;
  /// Derivatives of the mean reactions over the step: laws, then constraints. Empty: the scheme does not know them.
  DenseMatrix reaction_sensitivity;
  double inclusion = 0;     ///< natural map of (*) at the end of the step, relative (residual.hpp)
  double membership = 0;    ///< distance of r from its set over the step's largest impulse
  double energy_terms = 0;  ///< kinetic energy that the impulses of the step would make one by one [J]
  bool jumped = false;      ///< a velocity jump happened: an interpolant must not reach across
  int problems = 0;         ///< inclusions solved
};

}  // namespace stickslip
