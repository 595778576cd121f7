// SPDX-License-Identifier: Apache-2.0
// The laws of systems given by coordinates: friction along directions, contacts and constraints by expressions.
#pragma once

#include <string>
#include <vector>

#include "stickslip/model/expression_constraint.hpp"
#include "stickslip/model/expression_contact.hpp"
#include "stickslip/model/friction_element.hpp"
#include "stickslip/model/law_set.hpp"

namespace stickslip {

/// At least one coordinate, no name twice. Throws InputError.
void check_coordinates(const std::vector<std::string>& coordinates);

/// Names of all laws differ; directions and numbers of the friction laws are in range. Throws InputError naming the
/// law. (Contacts and constraints are checked where ExpressionContacts and ExpressionConstraints are made.)
void check_laws(const std::vector<FrictionElement>& friction, const std::vector<ExpressionContact>& contacts,
                const std::vector<ExpressionConstraint>& constraints, Index coordinates);

/// The kinematics must outlive the laws. Throws InputError naming the law and what is wrong with it.
LawSet expression_laws(std::vector<FrictionElement> friction, std::vector<ExpressionContact> contacts,
                       std::vector<ExpressionConstraint> constraints, const Kinematics& kinematics);

}  // namespace stickslip
