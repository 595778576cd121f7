// SPDX-License-Identifier: Apache-2.0
// What equations or measurements say about the unknowns, from their Jacobian J at the solution.
#pragma once

#include <string>
#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip {

/// Smallest singular value of J with columns of length 1, over the largest, from which on a direction counts as
/// determined. Derivatives by differences have about seven digits.
constexpr double kDetermined = 1e-7;

/// Unknowns that cannot be told from J (rows by unknowns, of comparable size): one list per direction along which J
/// does not change, with the unknowns that take part in it. Empty: all are determined.
std::vector<std::vector<std::string>> undetermined(const DenseMatrix& J, const std::vector<std::string>& names);

/// (JᵀJ)⁻¹; infinite in the unknowns that are not determined.
DenseMatrix covariance(const DenseMatrix& J);

}  // namespace stickslip
