// SPDX-License-Identifier: Apache-2.0
// Which mode follows an event: problem (V) of paper 2 for all laws at rest together, never hinge by hinge.
//
// With a law at rest (u = 0) what its reaction can be is decided by the acceleration u':
//
//   u' = D r + b,      -(u' + s(u')) ∈ N_C(r)                                                          (*) for u'
//
//   u' ≠ 0: the law slips (or opens) in that direction;   u' = 0: it sticks (or stays closed)
//
//   D  rows: directions of the laws at rest, columns: what a unit reaction does to them            [1/kg]
//   b  acceleration without their reactions, with all known friction of the slipping laws          [m/s², rad/s²]
//   half_line laws of a contact that slides carry the friction of the sliding in their column: D need not be symmetric
//
// Same static and dynamic limits, no friction on contacts: u' is the minimiser of a convex function, unique, found by
// the active set. Otherwise several modes may be admissible, or none. All are then enumerated (up to `most_enumerated`)
// and counted by distinct u'; the one taken is, in this order,
//   1  a law whose reaction has just reached its static limit slips (role `released`)
//      (also where that limit follows reactions: laws that share a freedom may hold more together than they do
//      slipping)
//   2  as many laws as possible that were stuck stay stuck (|r| <= static limit)
//   3  as many newly stopped laws as possible stick (|r| <= static limit)
//   4  the first in the order of enumeration
// while slipping laws carry the dynamic limit and move in their direction. Above that number, and for laws with two
// tangents, static limits are replaced by dynamic ones law by law, where the law gives way, until nothing changes; the
// modes are then not counted.
//
// Redundant reactions (D singular): a combination of modes is admissible if any r holds it; the smallest such r is
// given (held_reactions.hpp).
//
// Limits that follow reactions R = R0 + R1 r: every combination solves its own limits with its reactions
// (limit_loop.hpp); each root is a solution by itself. A law that sticks has |r| <= f_s(R). Friction that slips under
// such a limit is part of the problem, with its mode given. Where the combination that is taken has several roots,
// `several` names its law. Laws with two tangents at rest, and too many to enumerate: the inclusion with given limits,
// and limits at its reactions, in turns; that ends at a solution where the gain of the limits is below 1, else as not
// converged. The same where the enumeration finds none and that is no proof (Decision::proven).
//
// Departure from paper 2: it tests one hinge at a time, against the dynamic limit, and reads the direction of slip off
// the locked force; all three fail on its own example (case 3, t = 10.48).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/status.hpp"
#include "stickslip/common/vector.hpp"
#include "stickslip/laws/friction_law.hpp"
#include "stickslip/laws/set.hpp"
#include "stickslip/motion/event/following_limits.hpp"

namespace stickslip {

enum class LawRole {
  stuck,     ///< was at rest before (or closed)
  stopped,   ///< has just come to rest (or arrived)
  released,  ///< its reaction has just reached the border of its set
};

struct DecisionLaw {
  Set set;                  ///< with the dynamic limit
  double static_limit = 0;  ///< >= set.limit
  LawRole role = LawRole::stuck;
  int other_side = -1;  ///< the law whose normal is the opposite of this one's (a guide without play); -1: none
  int follows = -1;     ///< number of the friction law in `limits`, whose limits count then; -1: those above do
  /// Friction that slips whatever is decided: r = c · force, c its limit.
  bool slips = false;
  Mode slip_mode = Mode::slip;
  std::array<double, 2> force{};
};

struct DecisionProblem {
  DenseMatrix D;
  Vector b;
  Vector b_size;              ///< sum of the absolute terms of b, for round-off; empty: |b|
  DenseMatrix rows, columns;  ///< D = rowsᵀ columns, V and U of held_reactions.hpp; empty: made from D
  std::vector<DecisionLaw> laws;
  bool monotone = true;  ///< D is positive semidefinite: no column carries the friction of a sliding contact
  FollowingLimits* limits = nullptr;  ///< null: none follows reactions; not owned
  Vector R0;                          ///< reactions that they name, without those of the problem
  DenseMatrix R1;                     ///< and per unit of these
};

struct DecisionOptions {
  double tolerance = 1e-12;  ///< of an acceleration or force, relative to the terms it is the sum of
  long most_enumerated = 20000;
  StopRequest stop = nullptr;  ///< status interrupted once raised
};

enum Tied : char {
  not_tied,
  tied_to_slip,  ///< friction at its limit
  tied_to_lift,  ///< no normal force
};

struct Decision {
  Status status = Status::success;  ///< no_solution, not_converged, interrupted
  std::string message;
  Vector r, acceleration;
  std::vector<Mode> modes;  ///< per law: open, closed, stick, slip_plus, slip_minus, slip
  /// Per law: at rest with the reaction on the border of its set, whatever the choice (a Tied); the next derivative
  /// decides.
  std::vector<char> tied;
  std::vector<char> unloaded;               ///< per law: closed, and its other side carries the load
  int admissible = 0;                       ///< number of admissible modes with different accelerations; 0: not counted
  std::vector<double> limit, static_limit;  ///< per law; those that follow reactions at the solution
  /// no_solution: all that could be one was looked at. Not so where limits that follow reactions depend on a choice
  /// among redundant ones, or several laws slip under such limits: both are searched from a few points only.
  bool proven = true;
  int several = -1;  ///< a law whose limit has several values in the modes that are taken; -1: none
};

Decision decide_modes(const DecisionProblem& problem, const DecisionOptions& options = {});

}  // namespace stickslip
