// SPDX-License-Identifier: Apache-2.0
// The solvers of (*) by name, and what solve() (solve.hpp) is told.
#pragma once

#include <span>
#include <string_view>

#include "stickslip/common/deadline.hpp"
#include "stickslip/solvers/stopping_measure.hpp"

namespace stickslip {

class ThreadPool;

enum class SolverKind {
  automatic,
  active_set,
  gauss_seidel,
  semismooth_newton,
  projected_iteration,
  accelerated_gauss_seidel,
  proximal_newton,
  smoothing_newton
};

struct SolveOptions {
  SolverKind solver = SolverKind::automatic;
  double tolerance = 1e-12;  ///< on `measure`
  int max_iterations = 0;    ///< 0: each method's own default
  double rho = 0;            ///< of the projected iteration; 0: best
  /// What the tolerance is for. Methods for laws without cones (active_set, projected_iteration, primal gauss_seidel)
  /// have measures of their own.
  StoppingMeasure measure = StoppingMeasure::inclusion;
  double max_seconds = 0;  ///< wall clock; 0: no limit. Methods that end by themselves at once do not look at it.
  /// Raised from another thread or a signal: active_set and the methods of contact_solver.hpp end with status
  /// interrupted.
  StopRequest stop = nullptr;
  double acceptable = 0;          ///< above the tolerance, not worth the last resorts of contact_solver.hpp; 0: none
  ThreadPool* threads = nullptr;  ///< share problems of many contacts, with the same result; null: the caller's alone
  void validate() const;
};

struct SolverInfo {
  SolverKind kind;
  std::string_view name;
  std::string_view description;
};
/// All solvers with the names used in model files and on the command line.
std::span<const SolverInfo> solver_table();
std::string_view to_string(SolverKind kind);
/// Throws InputError naming the nearest known solver.
SolverKind solver_from(std::string_view name);

}  // namespace stickslip
