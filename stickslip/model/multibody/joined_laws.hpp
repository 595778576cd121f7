// SPDX-License-Identifier: Apache-2.0
// Several sources of contacts, or of constraints, as one: their laws and rows one after the other.
#pragma once

#include <memory>
#include <vector>

#include "stickslip/model/law_set.hpp"

namespace stickslip {

/// One of them as it is, several joined; null: none. `nv`: velocities of the rows.
std::unique_ptr<ConstraintSource> join(std::vector<std::unique_ptr<ConstraintSource>> sources, Index nv);
std::unique_ptr<ContactSource> join(std::vector<std::unique_ptr<ContactSource>> sources);

}  // namespace stickslip
