// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum of the coordinates of a motion between its rows: where velocities change sign. Of event orbits
// the motion itself is asked (record_orbit.cpp). Of coordinates whose rates are the velocities.
#pragma once

#include <functional>

#include "stickslip/periodic/orbit.hpp"

namespace stickslip {

/// The p-th derivative by the angle 2πt/T of the function with these coefficients.
using AngleFunction = std::function<double(const Vector& coefficients, int p, double angle)>;
/// Of functions with these coefficients, one row per coordinate, whose samples are the rows of the orbit, the first one
/// at `first`: to round-off.
void locate_extremes(const AngleFunction& value, const DenseMatrix& coefficients, double first, Orbit& orbit);

/// Of rows alone, from cubics through positions and velocities; the last row leads to the first.
void refine_extremes(Orbit& orbit);

}  // namespace stickslip
