// SPDX-License-Identifier: Apache-2.0
// One law alone, for every kind of set: the local problem of block Gauss-Seidel.
//
//   interval, half-line, line     r = clamp(-q / D) to the set
//   disk                          projection in the metric of D where D is symmetric, secular equation otherwise
//   polygon, box                  stick, each facet and each vertex: a linear equation each
//   friction_cone                 one_contact.hpp
//   polygonal_cone, box_cone      open, stick, each facet (2 unknowns), each edge (1 unknown)
//
// The candidates of the enumerated kinds are compared by their natural map, so that a tie of round-off between two
// pieces (which then differ by round-off) does no harm. Nothing is allocated.
#pragma once

#include "stickslip/laws/set.hpp"

namespace stickslip {

/// D r + q = u, -(u + s(u)) ∈ N_C(r). D row-major, set.size squared; r holds a start (which matters only where there is
/// a choice) and the result, exact to round-off.
/// False, and r left alone or 0, if the law has no solution by itself: it would have to push for ever.
bool solve_one_law(const Set& set, const double* D, const double* q, double* r);

}  // namespace stickslip
