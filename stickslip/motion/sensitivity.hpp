// SPDX-License-Identifier: Apache-2.0
// What a run is differentiated by: unknowns p_1 .. p_n, each a number of a case or a direction of the initial state.
//
//   S = ∂(q, v, z)/∂p      one column per unknown; rows: δq in the tangent space (nv), v (nv), z (nz)
//
// δq is the derivative of the position as a velocity is: dq/dp = T(q) δq, so that unit quaternions stay on their
// manifold. A scheme that carries S along keeps it in StepRecord::sensitivity; the start of S is initial() here.
//
// An unknown that is a number of a case acts by neighbouring cases at p ± δ, p ± 2δ (parameter_variation.hpp): the
// derivative of anything that can be computed from a system is a weighted sum over them. An unknown that is a direction
// of the initial state has no neighbours: nothing but the start depends on it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stickslip/motion/parameter_variation.hpp"

namespace stickslip {

class Variations {
 public:
  /// Numbers of a case by their names, as Case::set() takes them. Throws InputError where the case does not know a name
  /// or takes no values near it, where a name stands twice, and for numbers of the computation (run.step).
  Variations(const Case& center, std::vector<std::string> names);
  /// All directions of an initial state: S(0) = 1, names "initial.position.0", .., "initial.velocity.0", ..,
  /// "initial.internal.0", .. by tangent directions.
  static Variations of_state(const System& system, const State& initial);

  Index size() const { return static_cast<Index>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  /// S at the start: columns δq_0, v_0, z_0. (2 nv + nz) × n
  const DenseMatrix& initial() const { return initial_; }
  /// The value of unknown j; 0 for directions of the state.
  double value(Index j) const { return values_[static_cast<std::size_t>(j)]; }

  /// Cases beside the center along unknown j, with their weights: df/dp_j = Σ weight · f(neighbour). Empty where only
  /// the start depends on p_j.
  std::span<const ParameterVariation::Neighbour> neighbours(Index j) const;
  /// d/dp_j of any numbers f(const CaseParts&, SystemWorkspace&, Vector& out) of a case, of `count` numbers.
  template <class F>
  Vector derivative(Index j, Index count, F&& f) const;

 private:
  Variations() = default;
  void seed(Index j, const State& center, const Kinematics& kinematics);

  std::vector<std::string> names_;
  std::vector<double> values_;
  std::vector<ParameterVariation> variations_;  // none: directions of the state
  DenseMatrix initial_;
};

template <class F>
Vector Variations::derivative(Index j, Index count, F&& f) const {
  if (neighbours(j).empty()) return Vector::Zero(count);
  return variations_[static_cast<std::size_t>(j)].derivative(f);
}

}  // namespace stickslip
