// SPDX-License-Identifier: Apache-2.0
// Solutions of F(x, s) = 0 at one s beside those that are known, by two means:
//
//   deflation   Newton's iteration on the problem with known solutions made repulsive (deflation.hpp), from many starts
//   homotopy    H(x, λ) = F(x, s) - (1 - λ) F(x_0, s), followed from x_0 at λ = 0 by arc length (path_following.hpp):
//               wherever the path passes λ = 1 there is a solution of F, and through its folds it often passes there
//               several times. It comes to solutions that repel Newton's iteration from all sides, as the unstable
//               motion between two stable ones
//
// That none is found proves nothing.
#pragma once

#include <functional>
#include <vector>

#include "stickslip/continuation/path_following.hpp"

namespace stickslip {

/// `tolerance`, `max_corrections` and `stop` of the options hold. Called with each solution that is no known one; true:
/// look for more. Known solutions grow by those found.
void find_further_solutions(PathProblem& problem, double s, const PathOptions& options, std::vector<Vector> starts,
                            std::vector<Vector>& known, const std::function<bool(const Vector&)>& on_found);

}  // namespace stickslip
