// SPDX-License-Identifier: Apache-2.0
// What is large in an orbit, and where it is quiet: for event orbits and their paths.
#pragma once

#include "stickslip/model/system.hpp"
#include "stickslip/periodic/orbit.hpp"

namespace stickslip {

/// Half of the range of every coordinate and the largest speed, or what stands in for them where nothing moves.
void orbit_scales(const System& system, const Orbit& orbit, Vector& q_scale, Vector& v_scale);
/// What the forces where the orbit begins would move the masses by within the period if nothing held them [m].
double free_displacement(const System& system, const Orbit& orbit);
/// Rows of one period: without a last one that repeats the first.
std::size_t distinct_rows(const Orbit& orbit);
/// Springs in series all slip along a line: what is left of their state is the sign of the velocity.
bool sliders_slip(const System& system, const std::vector<Mode>& modes);
/// The row at which the fewest laws are held, those with a spring in series last of all, and those that are not are
/// farthest from it.
std::size_t quiet_row(const System& system, const Orbit& orbit);
/// Minimum and maximum between rows, from cubics through positions and velocities; the last row leads to the first. Of
/// coordinates whose rates are the velocities.
void refine_extremes(Orbit& orbit);

}  // namespace stickslip
