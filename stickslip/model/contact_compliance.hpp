// SPDX-License-Identifier: Apache-2.0
// Local compliance of contacts: what the scheme `compliant` puts in place of rigid surfaces
// (solvers/compliant_contact.hpp).
//
//   λ = K δ + (0, C δ_T')       K (normal first) [N/m], C over the tangents [N s/m], both symmetric positive definite;
//                               entries may depend on time and coordinates
//
// either contact by contact, or in one table over all contacts of a system: normals in the order of the contacts, then
// the tangents contact by contact. Rigid schemes do not look at it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stickslip/common/vector.hpp"
#include "stickslip/model/state_function.hpp"

namespace stickslip {

/// A square matrix of functions of t and q.
struct FunctionMatrix {
  std::vector<std::vector<StateFunction>> entries = {};
  Index size() const { return static_cast<Index>(entries.size()); }
  bool is_constant() const;
  void evaluate(std::span<const double> variables, DenseMatrix& matrix) const;
};

struct ContactCompliance {
  FunctionMatrix stiffness = {};  ///< (1 + tangents)²
  FunctionMatrix damping = {};    ///< tangents²
  double normal_damping = 0;      ///< c_n >= 0 [N s/m]
  /// φ of the penetration p, variable 0, p > 0: increasing from φ(0) = 0 [N]. Then K_nn and K_nT are not used.
  std::optional<StateFunction> normal_force = std::nullopt;
};

/// Over all contacts.
struct CoupledCompliance {
  FunctionMatrix stiffness = {}, damping = {};
};

/// φ at a penetration, with slope and stored energy. The energy is a quadrature in √p, exact for p^{1/2}, p^{3/2}, p^2,
/// ...
struct NormalForce {
  double force = 0, slope = 0, energy = 0;
};
NormalForce normal_force(const StateFunction& phi, double penetration);

}  // namespace stickslip
