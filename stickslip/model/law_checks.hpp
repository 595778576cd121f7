// SPDX-License-Identifier: Apache-2.0
// What the systems given by coordinates share about their laws: checks and breakpoints.
#pragma once

#include <string>
#include <vector>

#include "stickslip/model/expression_constraint.hpp"
#include "stickslip/model/expression_contact.hpp"
#include "stickslip/model/friction_element.hpp"

namespace stickslip {

/// At least one coordinate, no name twice. Throws InputError.
void check_coordinates(const std::vector<std::string>& coordinates);

/// Names of all laws differ; directions and numbers of the friction laws are in range. Throws InputError naming the
/// law. (Contacts and constraints are checked where ExpressionContacts and ExpressionConstraints are made.)
void check_laws(const std::vector<FrictionElement>& friction, const std::vector<ExpressionContact>& contacts,
                const std::vector<ExpressionConstraint>& constraints, Index coordinates);

/// Points at which time-dependent switches are looked for (Expression::append_breakpoints).
inline constexpr Index kBreakpointScan = 4096;

void append_breakpoints(const std::vector<FrictionElement>& friction, double from, double to,
                        std::vector<double>& times);

/// Ascending, one of several that agree to round-off of the interval's ends.
std::vector<double> merged_times(std::vector<double> times, double from, double to);

}  // namespace stickslip
