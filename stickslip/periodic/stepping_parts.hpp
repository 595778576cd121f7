// SPDX-License-Identifier: Apache-2.0
// Inside of SteppingEquations: a law with its rows and numbers at one node, and the sparse matrix.
#pragma once

#include <Eigen/SparseLU>
#include <vector>

#include "stickslip/periodic/law_equality.hpp"
#include "stickslip/periodic/stepping_equations.hpp"

namespace stickslip {

struct SteppingEquations::Law {
  const FrictionElement* friction = nullptr;  ///< or
  const ContactElement* contact = nullptr;
  Index first = 0;  ///< component
  int size = 1;
  double rho = 1, rho_n = 1;
  bool smooth = false;
  std::vector<Index> slots;  ///< variables that limit and surface velocity depend on

  // at the node
  std::vector<Direction> rows;  ///< one per component
  Vector u;
  double limit = 0, gap = 0;
  bool held = false;    ///< at every node so far
  DenseMatrix du;       ///< ∂u/∂q, where contact rows are not constant
  DenseMatrix pull_dq;  ///< ∂(Wᵀ r)/∂q (nv × nv), likewise

  double ahead(double h) const { return gap + 0.5 * h * u[0]; }
  std::vector<const StateFunction*> functions() const {
    std::vector<const StateFunction*> all{&friction->limit};
    for (const StateFunction& w : friction->surface_velocity) all.push_back(&w);
    return all;
  }
};

struct SteppingEquations::Sparse {
  using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
  std::vector<Eigen::Triplet<double, int>> entries;
  Matrix J;
  Eigen::SparseLU<Matrix, Eigen::COLAMDOrdering<int>> lu;
  bool factored = false, usable = false, analysed = false;
};

}  // namespace stickslip
