// SPDX-License-Identifier: Apache-2.0
// A system given by equations in general coordinates, q' = v:
//
//   M(q) v' = h(t, q, v) + W r,     h = F(t, q, v) - ∂U/∂q - ∂R/∂v + c(q, v)
//
//   M  mass matrix, symmetric positive definite wherever the motion goes           [kg, kg m²]
//   F  applied force: what brings work in                                          [N, N m]
//   U  potential, of q alone                                                       [J]
//   R  dissipation (Rayleigh), of q and v: the damping force is -∂R/∂v             [W]
//   c  velocity terms of the inertia
//
// The inertia is given in one of two ways, which differ in c:
//   mass            M(q) as a table of functions; c = 0: `force` must hold the velocity terms (centrifugal, Coriolis)
//                   itself, because only then `force` is everything but mass times acceleration
//   kinetic_energy  T(q, v) = ½ vᵀ M(q) v, from which M and c follow (lagrange_inertia.hpp)
//
// Derivatives are those of StateFunction. For up to 8 coordinates matrices are dense, above that they have
// the structure that the dependences of the functions allow.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stickslip/model/expression_constraint.hpp"
#include "stickslip/model/expression_contact.hpp"
#include "stickslip/model/system.hpp"

namespace stickslip {

struct EquationModel {
  std::string title = {};
  std::vector<std::string> coordinates = {};
  std::vector<std::vector<StateFunction>> mass = {};  ///< n rows of n functions of q; empty with kinetic_energy
  std::optional<StateFunction> kinetic_energy = std::nullopt;  ///< T(q, v)
  std::vector<StateFunction> force = {};                       ///< n functions of t, q, v; empty: zero
  std::optional<StateFunction> potential = std::nullopt;       ///< U(q)
  std::optional<StateFunction> dissipation = std::nullopt;     ///< R(q, v)
  std::vector<FrictionElement> friction = {};
  std::vector<ExpressionContact> contacts = {};
  std::vector<ExpressionConstraint> constraints = {};
  std::optional<CoupledCompliance> compliance = std::nullopt;  ///< of all contacts together
};

/// Throws InputError naming what is wrong. M that depends on q is checked along the motion: System::mass() throws where
/// it is not positive definite.
std::unique_ptr<System> make_system(EquationModel model);

}  // namespace stickslip
