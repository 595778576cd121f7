// SPDX-License-Identifier: Apache-2.0

// Changed copies of a friction-contact problem that are solvable if the problem is: other friction, other loads, other
// order, frames and units. Seeded.

#pragma once

#include <string>
#include <vector>

#include "stickslip/io/fclib_problem.hpp"

namespace variants {

struct Variant {
  std::string kind;  // mu, mu_each, q, q_scale, order, frame, unit, mixed
  double strength;   // factor, or relative size of the change
  unsigned seed;
  stickslip::LocalContactProblem problem;
};

// About three dozen per problem.
std::vector<Variant> make(const stickslip::LocalContactProblem& problem, unsigned seed);

}  // namespace variants
