// SPDX-License-Identifier: Apache-2.0
// Loops of a tree as rows of bilateral constraints (hinge.hpp says which).
//
//   distance   g = e·(P_b - P_a), e fixed to a:   A = eᵀ(J_b - J_a) + (e × (P_b - P_a))ᵀ J_ωa
//   angle      g = u·w, u fixed to a, w to b:     A = (w × u)ᵀ (J_ωb - J_ωa)
//
// Rates are 0; bias and slopes are exact.
#pragma once

#include <memory>

#include "stickslip/model/law_set.hpp"
#include "stickslip/model/multibody/tree_dynamics.hpp"
#include "stickslip/model/multibody/tree_jacobian.hpp"

namespace stickslip {

class TreeLoops final : public ConstraintSource {
 public:
  TreeLoops(const std::vector<Loop>& loops, std::shared_ptr<const Tree> tree);

  std::unique_ptr<Scratch> make_scratch() const override;
  const std::vector<ConstraintElement>& elements() const override { return elements_; }
  void evaluate(double t, const Vector& q, SystemWorkspace& workspace, ConstraintRows& rows) const override;
  void bias(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& bias) const override;
  void force_slopes(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                    DenseMatrix& by_q) const override;
  void velocity_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                       DenseMatrix& by_q) const override;

 private:
  struct Memory;
  struct Row {
    bool distance;
    int link_a, link_b;
    Eigen::Vector3d point_a, point_b;          ///< in the links
    Eigen::Vector3d direction_a, direction_b;  ///< likewise: e; u and w
    std::vector<Index> moved;                  ///< velocities that move a or b, ascending
  };
  /// A row at one state.
  struct Placed {
    TreePoint a, b;
    Eigen::Vector3d e, w;  ///< in the world
  };
  Placed placed(const Row& row, const TreeMotion<double>& motion, bool moving) const;
  bool moves(Index k, int link) const;

  std::shared_ptr<const Tree> tree_;
  std::vector<std::vector<char>> above_;  ///< per link (ground last) and velocity
  std::vector<ConstraintElement> elements_;
  std::vector<Row> rows_;
};

}  // namespace stickslip
