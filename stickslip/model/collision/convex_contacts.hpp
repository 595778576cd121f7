// SPDX-License-Identifier: Apache-2.0
// Contacts of two convex bodies without a closed form; see narrow_phase.hpp for the method.
#pragma once

#include <vector>

#include "stickslip/model/collision/contact_point.hpp"
#include "stickslip/model/collision/manifold.hpp"

namespace stickslip {

/// Appends all points with gap <= margin. Neither body is a plane.
void convex_contacts(const Convex& a, const Convex& b, double margin, ManifoldWorkspace& workspace,
                     std::vector<ContactPoint>& out);

}  // namespace stickslip
