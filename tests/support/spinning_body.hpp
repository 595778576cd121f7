// SPDX-License-Identifier: Apache-2.0
// A flexible body along x on a hinge about z, and its frequencies while it turns.
#pragma once

#include <memory>

#include "stickslip/model/multibody/flexible_body.hpp"
#include "stickslip/model/rigid_bodies.hpp"

namespace stickslip {

/// Frame in its root.
inline BodyModel spinning(FlexibleBody flexible) {
  BodyModel model;
  RigidBody body;
  body.name = "beam";
  body.flexible = std::make_shared<const FlexibleBody>(std::move(flexible));
  model.bodies.push_back(body);
  Hinge hinge;
  hinge.name = "hub";
  hinge.axes = {HingeAxis::rz};
  model.hinges.push_back(hinge);
  return model;
}

/// Frequencies of η while the hub turns at a constant rate, about η = 0.
inline Vector frequencies_at(const BodyModel& model, double rate) {
  const auto system = make_system(model);
  SystemWorkspace workspace(*system);
  const Index n = system->info().nv() - 1;
  Vector q = Vector::Zero(n + 1), v = q;
  v[0] = rate;
  SystemMatrix by_q, by_v;
  system->force_slopes(0, q, v, workspace, by_q, by_v);
  const DenseMatrix K = -by_q.dense().bottomRightCorner(n, n),
                    M = system->inertia().mass(q, workspace).dense().bottomRightCorner(n, n);
  return Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix>(0.5 * (K + K.transpose()), M)
      .eigenvalues()
      .cwiseAbs()
      .cwiseSqrt();
}

}  // namespace stickslip
