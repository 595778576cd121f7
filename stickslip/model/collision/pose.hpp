// SPDX-License-Identifier: Apache-2.0
// Where a frame stands: x_parent = position + orientation · x_local.
#pragma once

#include <Eigen/Geometry>

namespace stickslip {

using Vector3 = Eigen::Vector3d;
using Matrix3 = Eigen::Matrix3d;

struct Pose {
  Vector3 position = Vector3::Zero();                               ///< [m]
  Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();  ///< unit
};

/// Lengths that shapes may have and places they may be at [m]. Products of up to six lengths and their inverses must
/// be numbers; the tree of the broad phase breaks on others.
inline constexpr double kLargestLength = 1e40, kSmallestSize = 1e-40;
/// False for what is not finite, too.
inline bool within_range(const Vector3& x) { return x.cwiseAbs().maxCoeff() <= kLargestLength && x.allFinite(); }

}  // namespace stickslip
