// SPDX-License-Identifier: Apache-2.0
// Inside of shoot(): the equations F(X) = 0 of a shooting problem and their Jacobian.
//
//   X = (x, s_1, .., s_K)                      unknowns, then the states at the nodes as (q, v, z)
//   F = (g_i / r_i,  (Φ_k ⊖ s_{k+1}) / r)      conditions, then gaps at the nodes, over scales r
//
// Steps of X are p = (δx, then δq, δv, δz per node) in the tangent space.
#pragma once

#include <optional>
#include <vector>

#include "stickslip/boundary/segment_slopes.hpp"
#include "stickslip/boundary/shooting.hpp"

namespace stickslip {

class ShootingMap {
 public:
  ShootingMap(const ShootingProblem& problem, const ColumnLayout& layout, const ShootingOptions& options);

  Index unknown_count() const { return n_; }
  Index condition_count() const { return static_cast<Index>(problem_->conditions.size()); }
  Index node_count() const { return static_cast<Index>(node_parts_.size()); }
  Index step_size() const { return n_ + node_count() * state_size(); }  ///< of p

  /// X with the nodes where a run from x passes, or, where that is better, where it starts. False: no run from x
  /// succeeds; message() says why.
  bool start(const Vector& x, Vector& X);
  bool value(const Vector& X, Vector& F);
  /// After value(X, F), or with an empty F where that failed: whether the nodes where a run from the unknowns in X
  /// passes make ‖F‖ smaller. True: X and F are those, and count as the last ones. They do where contacts come and go
  /// within what a step changes: there the linear model has the unknowns right and the states far off.
  bool follow(Vector& X, Vector& F);
  bool slope(const Vector& X, DenseMatrix& J);
  Vector moved(const Vector& X, const Vector& p) const;
  /// Why value() or slope() failed last.
  const std::string& message() const { return message_; }

  /// g at the X of the last value().
  const Vector& conditions() const { return conditions_; }
  /// |constant part| + Σ |∂g/∂c c| over the columns c of the motion there; 0 for conditions without a constant part.
  Vector condition_terms() const;
  const Vector& state_sizes() const { return state_sizes_; }  ///< of (δq, δv, δz) at a node
  double continuity() const { return continuity_; }           ///< largest gap over its size there
  /// r_i of the conditions.
  void set_condition_scales(const Vector& scales) { scales_ = scales; }
  const Vector& condition_scales() const { return scales_; }
  /// ∂g/∂x with the nodes eliminated, from a Jacobian of slope().
  DenseMatrix sensitivity(const DenseMatrix& J) const;
  /// The linear model J p + F of the conditions in the unknowns alone: states at the nodes follow so that the motion is
  /// continuous in it.
  struct Eliminated {
    DenseMatrix J;  ///< conditions × unknowns
    Vector F;
    Vector node_steps;       ///< of the nodes, where the unknowns stay
    DenseMatrix node_slope;  ///< likewise, by the unknowns
  };
  Eliminated eliminate_nodes(const DenseMatrix& J, const Vector& F) const;

  /// Forward, or adjoint: what slope() takes its derivatives from. Throws InputError where the options ask for one that
  /// there is none of.
  DerivativeMethod derivatives() const { return method_; }

  State node(const Vector& X, Index k) const;
  SegmentPlan plan(Index part, const Vector& x) const;
  const Segment& segment() const { return segment_; }
  const Kinematics& kinematics() const { return problem_->model.system().kinematics(); }

 private:
  Index state_size() const { return 2 * kinematics().nv() + nz_; }
  Index stored_size() const { return kinematics().nq() + kinematics().nv() + nz_; }
  double end_time(const Vector& x) const;
  double node_time(Index k, const Vector& x) const;
  /// With the modes in which the part before has ended, at the X of the last value() or within it.
  std::optional<State> part_start(const Vector& X, Index part) const;
  void put_node(const State& state, Index k, Vector& X) const;
  bool follow_nodes(const Vector& x, Vector& X);
  bool ends_too_early(const Vector& x);
  /// Of a part with its conditions; false: it has no end, and message() says why.
  bool run_part(Index part, const Vector& x, const std::optional<State>& start);
  /// F of parts_.
  bool residual(const Vector& X, Vector& F);
  DerivativeMethod choose_method(DerivativeMethod wanted) const;
  bool adjoint_slope(const Vector& x, DenseMatrix& J);
  bool forward_slope(const Vector& X, DenseMatrix& J);
  bool uses_numbers() const;
  void add_number_slopes(const Vector& x, DenseMatrix& J) const;
  void set_state_sizes(const Vector& X);

  const ShootingProblem* problem_;
  StopRequest stop_;
  DerivativeMethod method_ = DerivativeMethod::forward;
  bool may_change_method_ = false;
  Segment segment_;
  std::unique_ptr<SegmentDerivative> derivative_;
  Index n_, nz_ = 0;
  double start_time_;
  Index end_unknown_ = -1;
  std::vector<double> node_parts_;     ///< of the time from start to end
  std::vector<Index> condition_part_;  ///< part in which a condition lies
  std::vector<std::size_t> condition_row_;
  std::vector<SampledRun> parts_;  ///< of the last value()
  Vector scales_, state_sizes_, conditions_;
  double continuity_ = 0;
  std::string message_;
};

}  // namespace stickslip
