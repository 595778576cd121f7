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
/// Lengths of springs in series with friction under these reactions, -r/k [m].
Vector spring_lengths(const System& system, const Vector& reactions);
/// The state at a row.
State state_at(const System& system, const Orbit& orbit, std::size_t row);
/// The row at which the fewest laws are held, those with a spring in series last of all, and those that are not are
/// farthest from it.
std::size_t quiet_row(const System& system, const Orbit& orbit);

}  // namespace stickslip
