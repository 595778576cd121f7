// SPDX-License-Identifier: Apache-2.0
// Equations that hold on the pieces of the tangential law (2) of compliant_contact.hpp, one pair of rows per contact
// (friction_section.hpp): what Newton's method and derivatives solve.
#pragma once

#include "stickslip/solvers/compliant_contact.hpp"

namespace stickslip {

/// The rim of an empty cone.
bool is_point(const CompliantPoint& point, const SectionPiece& piece, const CompliantSolution& solution);

/// Where the force goes as such a cone opens: l = ρ · (this), against the slip, since C⁻¹ (l - z) = -ν l with ν → ∞.
PlaneForce direction_from_point(const CompliantPoint& point, const CompliantSolution& solution);

/// workspace.A: the left side, A dl = (right side by the kind of a row). `inside`: rows of the metric C⁻¹; else per
/// contact the two rows of its piece.
void piece_rows(const CompliantProblem& problem, const CompliantSolution& solution, CompliantWorkspace& workspace);

/// A contact alone in its group: (1) and (2) in closed form. With problem.keep_pieces the pieces stay as they are in
/// the solution, and their equations are solved wherever the state is: the smooth continuation of the motion on these
/// pieces.
void solve_alone(const CompliantProblem& problem, CompliantWorkspace& workspace, CompliantSolution& solution);

}  // namespace stickslip
