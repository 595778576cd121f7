// SPDX-License-Identifier: Apache-2.0
// What the runs say about each claim of paper 2.
#pragma once

#include <array>

#include "papers/papers.hpp"
#include "papers/stick-slip/experiments.hpp"
#include "papers/stick-slip/tree_experiments.hpp"

namespace stickslip::paper2 {

struct Evidence {
  std::array<Simulation, 4> cases;     ///< event scheme
  ErrorCurve rule_before, rule_after;  ///< hinge by hinge, at T = 10 and T = 15
  ErrorCurve moreau;                   ///< T = 15
  RestDecision E1, E2, start;          ///< start: case 3 at t = 0
  InducedRelease release;
  std::array<double, 2> first_steps{0.05, 0.025}, displacement{};
  std::vector<StaticVariant> variants;
  ZeroSearch zero;
  ConstrainedPoint point;
  Simulation bodies;  ///< case 3 as a tree
  LockedArm arm;
  ClosedChain chain;
};

/// Largest difference of positions and velocities from the reference states of a case (1..4).
double state_error(const Evidence& evidence, int test_case);
/// Largest difference of event times; infinite if number, hinge or kind differ. Case 2 or 3.
double event_error(const Evidence& evidence, int test_case);

std::vector<Claim> judge_claims(const Evidence& evidence);

}  // namespace stickslip::paper2
