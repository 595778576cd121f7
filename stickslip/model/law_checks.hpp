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

void append_breakpoints(const std::vector<FrictionElement>& friction, BreakpointSearch& search);

}  // namespace stickslip
