// SPDX-License-Identifier: Apache-2.0
// What a person should know about a run before trusting its numbers: where the scheme loses its order, what of the
// model is probably not meant, what the search for jumps could not settle. Neither errors nor results: sentences.
#pragma once

#include <string>
#include <vector>

#include "stickslip/motion/simulate.hpp"

namespace stickslip {

/// Cases of this system in which the scheme has a lower order than usual, or another limit than the exact motion.
std::vector<std::string> scheme_notes(const System& system, const SimulationOptions& options);

/// An unsymmetric stiffness matrix, several laws on one coordinate.
std::vector<std::string> model_notes(const System& system);

/// All of them, a step longer than the run, and jumps of time that were not found. `breakpoints`: of the run.
std::vector<std::string> run_notes(const System& system, const SimulationOptions& options,
                                   const BreakpointSearch& breakpoints);

}  // namespace stickslip
