// SPDX-License-Identifier: Apache-2.0
// Semismooth Newton methods for contact with friction beside any other laws, on sparse factors.
//
// All of them solve F(r) = 0, F_i(r) = r_i - Φ_i(r, u), u = D r + b, with Φ the natural map, that of Alart and Curnier
// or a smoothed one (contact_residual.hpp):
//
//   V = Σ of Φ_r and Φ_u D,     V d = -F      factorised by block_lu; laws with Φ' = 0 (open contacts) leave the system
//
// proximal (solve): r_{k+1} solves the problem with D + α diag(d_i), b - α d_i r_k (contact_system.hpp), regular even
// where D is singular; α shrinks when that was easy and grows when it failed. Each proximal problem is solved only to
// half of the true error at hand, by Newton with a Levenberg term λ I and the non-monotone line search of Grippo,
// Lampariello and Lucidi (1986): |F|² (law i weighted by d_i: an energy) must fall below the largest of the last ten.
// Where no step is accepted, a few Gauss-Seidel sweeps on the proximal problem take over.
//
// smoothed (follow_smoothed): ε → 0 along the path of solutions of the smoothed problem, which needs no proximal term
// as long as the path does not fold; |u_T| in the shift is smoothed as well. Slower than the proximal method where that
// works, and it finds solutions of hyperstatic problems (sphere pyramids) that the other misses.
//
// through folds (follow_smoothed with through_folds; contact_path.cpp): the problem is not monotone, and the path may
// turn back at some ε > 0. Two contacts of the same bodies with one normal and their points in line with it are the
// usual cause: both can slide only if their u_N agree to the last digit, the merit is flat while load passes from one
// to the other, and its minima are no solutions. With s = log ε as an unknown the path is followed by pseudo arc length
// (Keller 1977) in the metric Σ d_i |dr_i|²/(ε² Σ d_i) + ds², the unit of the nonlinearity:
//
//   V dr + F_s ds = 0 (tangent),      V δr + F_s δs = -F,  t·(δr, δs) = 0 (Newton back to the path)
//
// with one factorisation of V per step for both right-hand sides. It ends where the proximal method can take over.
#pragma once

#include <array>
#include <vector>

#include "stickslip/solvers/block_lu.hpp"
#include "stickslip/solvers/body_factor.hpp"
#include "stickslip/solvers/contact_system.hpp"

namespace stickslip {

enum class ResidualFunction { natural_map, alart_curnier };

struct ProximalNewtonOptions {
  ResidualFunction function = ResidualFunction::natural_map;
  double alpha = 1e-2;  ///< of the first proximal problem
  double smallest_alpha = 1e-12;
  double step_scale = 10;    ///< ρ_i d_i
  int max_iterations = 400;  ///< factorisations, looked at after each problem
  int max_steps = 40;        ///< of one problem
};

struct SmoothingOptions {
  double start = 0.1;       ///< first ε over the largest |r|
  double shrink = 0.5;      ///< of ε after a problem that took few steps; its square root after one that took many
  double step_scale = 0.1;  ///< ρ_i d_i
  double slip_smoothing = 1e-3;  ///< of |u_T|: ε d_i times this
  int max_iterations = 200;      ///< factorisations
  bool through_folds = false;    ///< follow the path by arc length; `shrink` is not used
};

template <int N>
class ContactNewton {
 public:
  /// r: start and best result (padded). Returns the error reached. iterations counts factorisations: of V over the
  /// laws, or, where `factor` is given (loaded with this system), of I + T D, T = (V - slope D)⁻¹ slope, α > 0.
  double solve(const ContactSystem<N>& system, const ContactGoal& goal, const ProximalNewtonOptions& options, double* r,
               double* slip, int& iterations, BodyFactor<N>* factor = nullptr);
  double follow_smoothed(const ContactSystem<N>& system, const ContactGoal& goal, const SmoothingOptions& options,
                         double* r, int& iterations);

 private:
  static constexpr double kSharp = 1e-14;  // ε over the largest |r|: the smoothed problem is the sharp one

  void resize(const ContactSystem<N>& system);
  /// F, and with `slopes` its derivatives, at (r, u). Returns the merit.
  double evaluate(const ContactSystem<N>& system, const double* r, const double* u, double* F, bool slopes);
  double follow_path(const ContactSystem<N>& system, const ContactGoal& goal, const SmoothingOptions& options,
                     double* r, int& iterations);
  /// Tangent of the path at (r_, log ε), of length 1, on the side of the last one.
  bool find_tangent(const ContactSystem<N>& system, double unit);
  /// From the predicted point back to the path; the number of steps, or -1.
  int correct(const ContactSystem<N>& system, double unit, double weight, int& iterations);
  double dot(const ContactSystem<N>& system, const std::vector<double>& x, const std::vector<double>& y) const;
  double start_smoothed(const ContactSystem<N>& system, const ContactGoal& goal, const SmoothingOptions& options,
                        const double* r);
  void note_projected(const ContactSystem<N>& system, const ContactGoal& goal);
  bool factorize(const ContactSystem<N>& system, const Proximal& proximal, double levenberg);
  bool factorize_shared(const ContactSystem<N>& system, const Proximal& proximal, double levenberg);
  /// x = -V⁻¹ F; false if that is not finite.
  bool solve_linear(const ContactSystem<N>& system, const double* F, std::vector<double>& x);
  /// direction_ = -V⁻¹ F_
  bool newton_direction(const ContactSystem<N>& system, const Proximal& proximal, double levenberg);
  /// Non-monotone line search from (r_, u_) along direction_; the accepted point becomes (r_, u_).
  bool search(const ContactSystem<N>& system, const Proximal& proximal, double merit, int memory);
  bool solve_proximal(const ContactSystem<N>& system, const ContactGoal& goal, const Proximal& proximal, int max_steps,
                      double* slip, int& iterations);
  void note(const ContactSystem<N>& system, const ContactGoal& goal, const Proximal& proximal);

  BlockLu lu_;
  BodyFactor<N>* shared_ = nullptr;  // taken instead of lu_
  std::vector<double> own_, T_;      // of it: (V - slope D)⁻¹, and T, N x N row-major per law
  std::vector<int> columns_, sizes_;
  std::vector<std::size_t> rows_;
  ResidualFunction function_ = ResidualFunction::natural_map;
  double step_scale_ = 10, smoothing_ = 0, slip_smoothing_ = 0;
  // (r, u): the iterate and D_α r + b_α; best_: the iterate with the smallest true error
  std::vector<double> r_, u_, F_, direction_, image_, trial_r_, trial_u_, trial_F_, anchor_, best_, true_u_;
  std::vector<double> slope_, rest_;  // per law, N x N row-major: V = rest + slope D
  std::vector<char> active_;          // laws with slope ≠ 0
  // The path: ∂F/∂ε, the tangent (and its last component), dr/ds at fixed F, the last point on the path
  std::vector<double> by_smoothing_, tangent_, last_tangent_, response_, base_;
  double tangent_s_ = -1, last_tangent_s_ = -1;
  double best_error_ = 0, true_error_ = 0, levenberg_ = 0;
  std::array<double, 10> merits_{};
  int merit_count_ = 0;
};

}  // namespace stickslip
