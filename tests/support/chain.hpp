// SPDX-License-Identifier: Apache-2.0
// The throughput problems: a chain with M = I, K = tridiag(-1, 2, -1) (N = 2: M = [2 1; 1 2], K = [2 -1; -1 2]),
// friction 0.3 on every coordinate, f_i = cos(0.7 t + i); and a square grid of masses, whose matrices are sparse and
// not banded.
#pragma once

#include <memory>
#include <random>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::friction_chain {

inline std::unique_ptr<System> make(SystemMatrix mass, SystemMatrix stiffness) {
  MatrixModel model;
  const Index n = mass.size();
  for (Index i = 0; i < n; ++i) model.coordinates.push_back("x" + std::to_string(i + 1));
  model.mass = std::move(mass);
  model.damping = SystemMatrix::zero(n);
  model.stiffness = std::move(stiffness);
  model.force.common = StateFunction(Expression::parse("cos(0.7*t + i)", state_symbols(model.coordinates, {})));
  for (Index i = 0; i < n; ++i) {
    FrictionElement law;
    law.name = "friction" + std::to_string(i + 1);
    law.directions = {{{i, 1.0}}};
    law.limit = StateFunction(0.3);
    model.friction.push_back(std::move(law));
  }
  return make_system(std::move(model));
}

inline std::unique_ptr<System> system(Index n) {
  if (n == 2) return make(SystemMatrix(DenseMatrix{{2, 1}, {1, 2}}), SystemMatrix(DenseMatrix{{2, -1}, {-1, 2}}));
  SparseMatrix M(n, n), K(n, n);
  for (Index i = 0; i < n; ++i) {
    M.insert(i, i) = 1;
    if (i > 0) K.insert(i, i - 1) = -1;
    K.insert(i, i) = 2;
    if (i + 1 < n) K.insert(i, i + 1) = -1;
  }
  return make(SystemMatrix::compact(M), SystemMatrix::compact(K));
}

/// side × side masses, springs between neighbours and to the ground.
inline std::unique_ptr<System> grid(int side) {
  const int n = side * side;
  std::vector<Eigen::Triplet<double, int>> entries;
  for (int r = 0; r < side; ++r)
    for (int c = 0; c < side; ++c) {
      entries.emplace_back(r * side + c, r * side + c, 4.5);
      for (auto [dr, dc] : {std::pair(0, 1), std::pair(1, 0), std::pair(0, -1), std::pair(-1, 0)})
        if (r + dr >= 0 && r + dr < side && c + dc >= 0 && c + dc < side)
          entries.emplace_back(r * side + c, (r + dr) * side + c + dc, -1.0);
    }
  SparseMatrix M(n, n), K(n, n);
  M.setIdentity();
  K.setFromTriplets(entries.begin(), entries.end());
  return make(SystemMatrix(M), SystemMatrix(K));
}

inline State initial(Index n) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> uniform(-5, 5);
  State s;
  s.q.resize(n);
  for (double& q : s.q) q = uniform(engine);
  s.v = Vector::Zero(n);
  return s;
}

inline SimulationOptions options(long steps) {
  SimulationOptions o;
  o.step = 0.003;
  o.end_time = 0.003 * static_cast<double>(steps);
  o.moreau.force = ForceSampling::end;
  o.moreau.locate_reversals = false;
  return o;
}

}  // namespace stickslip::friction_chain
