// SPDX-License-Identifier: Apache-2.0
// How a flexible body is drawn: a line through its stations that bends with it. Stations know no neighbours, so the
// line walks along the shortest tree that joins them: of a beam its axis, of a finite-element model a net of its mass
// points.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

#include "stickslip/model/multibody/flexible_body.hpp"

namespace stickslip {

/// Numbers of the stations in the order in which the line passes them; branches are walked forth and back. Stations
/// that lie together count once, and at most `most` are taken, evenly among all.
std::vector<std::size_t> walk_through_stations(const FlexibleBody& body, std::size_t most = 80);

/// Where a station lies in the body's frame [m], with modal coordinates η.
Eigen::Vector3d deformed_position(const FlexibleStation& station, const Vector& eta);

}  // namespace stickslip
