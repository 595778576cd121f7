// SPDX-License-Identifier: Apache-2.0
// Derivatives of functionals of a motion by numbers of a case or directions of its start:
//
//   J_i = g_i(q(t_i), v(t_i)),      dJ_i/dp_j,      i = 1..m functionals, j = 1..n unknowns (sensitivity.hpp)
//
//   forward   columns ∂(q, v, z)/∂p_j carried along the run: one run whatever m is, its cost grows with n
//   adjoint   one way back along the run for all functionals (compliant/compliant_adjoint.hpp): its cost grows with m
//             and hardly with n. Scheme `compliant` with its inertia; the derivative of the steps as they were made,
//             by which it agrees with columns to their own accuracy. Refused where an unknown makes a jump of a force
//             come or go
//
// automatic: adjoint where kAdjointCost (m + kWayBack) < n and the scheme has it; else forward.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/motion/sensitivity.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

enum class DerivativeMethod { automatic, forward, adjoint };
std::string_view to_string(DerivativeMethod method);
/// Throws InputError that names the words there are.
DerivativeMethod derivative_method_from(std::string_view word);

/// One number of a motion at one time.
struct Functional {
  double time = 0;  ///< [s], in the run
  /// g at the state there, and its slope by (q, v), nq + nv numbers.
  std::function<double(const State& state, Vector& slope)> value;
};

/// The system, the start and the variations must outlive the call; made from one case.
struct GradientProblem {
  const System& system;
  const State& start;
  const SimulationOptions& options;
  const Variations& variations;
  std::vector<Functional> functionals;
};

struct GradientOptions {
  DerivativeMethod method = DerivativeMethod::automatic;
  StopRequest stop = nullptr;
};

struct GradientSolution {
  Status status = Status::success;
  std::string message = {};
  DerivativeMethod method = DerivativeMethod::forward;  ///< that was used
  Vector values = {};                                   ///< J
  DenseMatrix gradient = {};                            ///< m × n
  State final = {};
};

/// Throws InputError where the adjoint is asked for and the scheme has none, for times outside the run, and as
/// simulate().
GradientSolution solve(const GradientProblem& problem, const GradientOptions& options = {});

/// What automatic takes.
DerivativeMethod cheaper_method(const SimulationOptions& run, Index functionals, Index unknowns);
/// The scheme of these options has an adjoint.
bool has_adjoint(const SimulationOptions& run);

}  // namespace stickslip
