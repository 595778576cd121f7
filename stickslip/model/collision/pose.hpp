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

}  // namespace stickslip
