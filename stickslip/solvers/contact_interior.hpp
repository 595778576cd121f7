// SPDX-License-Identifier: Apache-2.0
// The central path of contact with Coulomb friction, for heaps.
//
//   x = (μ r_N, r_T),   y = (u_N/μ + σ(u_T), u_T),   u = D r + b,   σ(u_T) = (|u_T|² + δ²)^½ - δ ≈ |u_T|
//   x ∘ y = τ e,   x, y inside the second-order cone,   τ → 0
//
// ∘ is the Jordan product of the cone, e = (1, 0, 0). At τ = 0 this is the law: x and y on the boundary and orthogonal
// is r ∈ K, u_N >= 0, r·(u + s(u)) = 0. On the path r_N u_N lies between τ/2 and τ, and friction is viscous over slips
// of u_N/μ. δ = `slip` τ/τ_0 |b|∞ smooths the kink of the shift s, over velocities of the size that τ leaves open.
//
// Without σ (associated friction) the problem is convex and this is the interior-point method for it, with the scaling
// of Nesterov and Todd (Math. Oper. Res. 22, 1997): W y = W⁻¹ x = λ. With σ it is not; the Newton matrix stays
//
//   dx = W c - W² dy,   dy = J P D P dx - ...,   J = ∂(y)/∂(u_N/μ, u_T),   P = diag(1/μ, 1, 1)
//   (I + T D) dr = g,   T = P W² J P        over contacts or bodies (body_factor.hpp)
//
// not symmetric, and the path may fold. It is therefore followed by arc length in (x, y, log τ), in the metric of the
// scaling, Σ (|W⁻¹dx|² + |W dy|²)/(τ n) + (d log τ)², with the second derivative in the prediction, and points are
// brought back to the path by Newton steps before the next prediction: iterates that only stay inside the cones, as in
// convex problems, jam where the matrix is indefinite (measured on heaps of 1000 contacts: 1e-4 to 1e-2 of error left).
//
// Long steps do without all that: Mehrotra's predictor and corrector (SIAM J. Optim. 2, 1992), the mean of x·y taken
// for τ, and J replaced by I + κ (J - I). κ = 1 is Newton's method; κ = 0 leaves the shift of the last point in place,
// so that the matrix is symmetric and positive definite and steps are never blocked for want of monotony. κ falls when
// a step is cut short and rises again after long ones. Ten to fifty factorisations; then it ends at a solution or jams.
//
// Where reactions are highly redundant the shift may be a state of its own, s, that follows σ:
//
//   y = (u_N/μ + s, u_T),   ds = κ (σ(u_T + du_T) - s), linearised,   ds/dt = σ - s implicitly with κ = h/(1 + h)
//
// κ = 1 is again Newton's method. With κ = 0 the shift rests, the problem is convex and no step is blocked for long, so
// that places whose branch of the path has ended move to another one at the pace of s while the rest waits: τ is not
// lowered while s lags behind σ by more than τ leaves open.
//
// The point that is handed out is r projected on the cones after a few sweeps, which cost a fraction of a
// factorisation. Long steps have conjugate sweeps tried on it each time its error has halved.
//
// Starts from x = |b|∞/d_i e, y = |b|∞ e, whatever r is; or from x and y of r, moved into the cones by `margin` of
// those. Friction cones with μ > 0 only.
#pragma once

#include <vector>

#include "stickslip/common/function_ref.hpp"
#include "stickslip/solvers/accelerated_sweeps.hpp"
#include "stickslip/solvers/body_factor.hpp"
#include "stickslip/solvers/contact_system.hpp"

namespace stickslip {

enum class InteriorSteps {
  along_path,  ///< by arc length, through folds
  long_steps,
  convex,  ///< long steps with σ = 0, associated friction; where nothing slides its solution is one of Coulomb's
};

struct InteriorOptions {
  double slip = 0.3;         ///< δ over |b|∞ at the start of the path
  int max_iterations = 300;  ///< factorisations
  InteriorSteps steps = InteriorSteps::along_path;
  // Of long steps:
  bool shift_follows = false;  ///< s is a state
  double margin = 0;           ///< > 0: start from r
  bool sweeps_early = false;   ///< conjugate sweeps from errors of 3e-2 on, and more of them
  bool conjugate_sweeps = true;
  int sweeps = 10;  ///< from the projection of each point
  /// Tried after the sweeps on points whose error is at most `finish_below` and less than that of the last one: takes
  /// r, leaves the best that it finds and returns its error.
  const FunctionRef<double(double*)>* finish = nullptr;
  double finish_below = 0;
};

template <int N>
class ContactInterior {
 public:
  static bool applies(const ContactSystem<N>& system);
  /// r: start (its error is the one to beat) and best result. Returns the error reached. iterations counts
  /// factorisations, and the sweeps between long steps.
  double follow(const ContactSystem<N>& system, const BodyBlocks* bodies, const ContactGoal& goal,
                const InteriorOptions& options, double* r, double* slip, int& iterations);
  /// Of the last follow().
  int factorisations() const { return factorisations_; }
  /// Loaded with the system of the last follow().
  BodyFactor<N>& factor() { return factor_; }

 private:
  using Point = Eigen::Matrix<double, N, 1>;
  using Block = Eigen::Matrix<double, N, N, Eigen::RowMajor>;
  static constexpr double kLowest = -48;  // log of τ over the first one: below, the scaling has no digits left
  struct Motion {                         // of x, y, and u
    std::vector<Point> x, y, u;
    void resize(std::size_t n) {
      x.resize(n);
      y.resize(n);
      u.resize(n);
    }
  };

  void start(const ContactSystem<N>& system);
  /// From r, δ in units of the margin.
  void start_near(const ContactSystem<N>& system, double margin, const double* r);
  /// Residuals, scaling and T at the iterate; the distance from the path.
  double evaluate(const ContactSystem<N>& system);
  bool factorize(int& iterations);
  /// W⁻¹dx + W dy = c_, y moves by J du + gap_
  void direction(const ContactSystem<N>& system, Motion& motion);
  void tangent(const ContactSystem<N>& system, Motion& motion);
  void bend(const ContactSystem<N>& system);
  double dot(const Motion& a, const Motion& b) const;
  /// Largest part of (dx, dy) that stays in the cones.
  double room(const Motion& motion) const;
  void move(double t, const Motion& motion, double by_log);
  /// Newton steps back to the path; across the tangent if there is one. The number of steps, or -1.
  int correct(const ContactSystem<N>& system, const ContactGoal& goal, bool across, int most, int last,
              int& iterations);
  bool advance(const ContactSystem<N>& system, const ContactGoal& goal, int last, int& iterations);
  bool advance_far(const ContactSystem<N>& system, int& iterations);
  /// Long steps until the goal, `last` of them, or the last ones have brought neither τ nor the error down.
  void go_far(const ContactSystem<N>& system, const ContactGoal& goal, int last, double* slip, int& iterations);
  double mean_product(double t) const;  ///< of x + t dx and y + t dy, step_
  /// Projection of the iterate and sweeps from it: trial_. Its error; the best is kept.
  double note(const ContactSystem<N>& system, const ContactGoal& goal, double* slip);
  /// Conjugate sweeps from trial_, whose error is given, as long as they bring something. The error of trial_ then.
  double polish(const ContactSystem<N>& system, const ContactGoal& goal, double error, int burst, double* slip,
                int& iterations);
  void keep(double error);

  BodyFactor<N> factor_;
  AcceleratedSweeps<N> sweeps_;
  std::vector<double> mu_, T_, r_, u_, g_, best_, trial_, trial_u_;
  std::vector<Point> x_, y_, lambda_, c_, gap_, saved_gap_, base_x_, base_y_;
  std::vector<Block> W_, W_inverse_, W2_, J_;
  std::vector<double> sigma_, by_log_;  // σ + δ, and dσ/d log τ
  std::vector<double> shift_, aim_;     // s, and where a step without du takes it
  Motion step_, tangent_, response_, bend_;
  double log_tau_ = 0, first_log_tau_ = 0, tangent_s_ = -1, length_ = 0, delta_unit_ = 0, best_error_ = 0;
  double largest_b_ = 0, lag_ = 0;  // |b|∞, and the mean of |σ - s| over it
  bool follows_ = false, waits_ = false;
  InteriorOptions options_;
  int factorisations_ = 0;
  double share_ = 1, last_step_ = 1;  // κ, and the length of the last long step
};

}  // namespace stickslip
