// SPDX-License-Identifier: Apache-2.0
// Axes of a tree that bearings hold: g = q_k = 0, one row each, named like the coordinate. The reaction of a row is the
// force of the bearing on the child along that axis of the parent's hinge frame [N].
#pragma once

#include <memory>

#include "stickslip/model/law_set.hpp"
#include "stickslip/model/multibody/tree.hpp"

namespace stickslip {

class HeldAxes final : public ConstraintSource {
 public:
  explicit HeldAxes(std::shared_ptr<const Tree> tree);
  const std::vector<ConstraintElement>& elements() const override { return elements_; }
  void evaluate(double t, const Vector& q, SystemWorkspace& workspace, ConstraintRows& rows) const override;
  void bias(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& bias) const override;
  void force_slopes(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                    DenseMatrix& by_q) const override;
  void velocity_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                       DenseMatrix& by_q) const override;
  bool constant_rows() const override { return true; }

 private:
  std::shared_ptr<const Tree> tree_;
  std::vector<ConstraintElement> elements_;
};

}  // namespace stickslip
