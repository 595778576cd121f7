// SPDX-License-Identifier: Apache-2.0
// A system given by constant matrices:   M q'' + B q' + K q = f(t, q, q') + W r.
//
//   M symmetric positive definite [kg]; B, K any square matrices of the same size [N s/m, N/m]. Energy: the symmetric
//   part of K stores ½ qᵀ K q, that of B dissipates; skew parts of B (gyroscopic) do no work, a skew part of K
//   (circulatory) does and is counted as work in.
#pragma once

#include <memory>
#include <optional>

#include "stickslip/model/expression_constraint.hpp"
#include "stickslip/model/expression_contact.hpp"
#include "stickslip/model/system.hpp"

namespace stickslip {

/// f: one function per coordinate, or one text for all with the index i (from 0).
struct ForceField {
  std::vector<StateFunction> components = {};  ///< empty: zero, or `common` is used
  std::optional<StateFunction> common = std::nullopt;
};

struct MatrixModel {
  std::string title = {};
  std::vector<std::string> coordinates = {};
  SystemMatrix mass = {};
  SystemMatrix damping = {}, stiffness = {};  ///< empty: zero
  ForceField force = {};
  std::vector<FrictionElement> friction = {};
  std::vector<ExpressionContact> contacts = {};
  std::vector<ExpressionConstraint> constraints = {};
  std::optional<CoupledCompliance> compliance = std::nullopt;  ///< of all contacts together
};

/// By rows: dense({{2, 1}, {1, 2}}).
inline SystemMatrix dense(std::initializer_list<std::initializer_list<double>> rows) {
  return SystemMatrix(DenseMatrix(rows));
}

/// (t, coordinates, v_<coordinate>, i) and pi, in the layout of StateFunction; constants are the model's parameters.
SymbolTable state_symbols(const std::vector<std::string>& coordinates,
                          const std::vector<std::pair<std::string, double>>& parameters);

/// Checks sizes, symmetry and definiteness, and throws InputError naming what is wrong.
std::unique_ptr<System> make_system(MatrixModel model);

}  // namespace stickslip
