// SPDX-License-Identifier: Apache-2.0
// Whether a branch that was asked for can be followed at all.
#pragma once

#include "stickslip/periodic/branch.hpp"

namespace stickslip {

/// Throws InputError: ends that are the same or not finite, a step that leads away from `to` (a step < 0 on a way
/// upwards) or is longer than the way.
void require_branch(const BranchOptions& options);
/// Throws InputError: the last point of the branch to go on with lies outside the range.
void require_resumable(const BranchOptions& options, const BranchResume& resume);

}  // namespace stickslip
