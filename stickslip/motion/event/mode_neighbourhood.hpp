// SPDX-License-Identifier: Apache-2.0
// Derivatives of anything that the dynamics of a mode say at a state, by state, time and unknowns of a run.
//
//   along        d/dη f(t + η τ, q + η x_q, v + η x_v)               x_q in numbers of q, tangent to its manifold
//   by_unknown   ∂f/∂p_j at fixed t, q, v                            by the neighbouring systems of variation j
//
// f is smooth while the modes stay, so well-scaled differences of the fourth order serve:
//
//   f' ≈ [8 (f(η) - f(-η)) - (f(2η) - f(-2η))] / 12η,     η = κ / max_i (|x_i| / scale_i),   κ = 2⁻¹³
//
// κ is smaller than what is best at the scale itself, because a scale may be too long: with lengths a hundred times
// those over which f bends, κ⁴ 10⁸ = 2e-8 of f' is lost; round-off costs 2e-12 of f/scale. At the end of a stretch of
// time in which forces are smooth the one-sided formula over five points stands in.
//
// Times at which forces jump may depend on p: those of the neighbour are b_i + k δ b_i'. So that every neighbour is
// asked on the same side of its own jumps, its time is the one that lies between its jumps as t does between ours,
// τ_k(t), and what that adds is taken off again: ∂f/∂p = Σ w_k f_k(τ_k(t)) - ∂f/∂t Σ w_k (τ_k(t) - t).
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "stickslip/common/function_ref.hpp"
#include "stickslip/motion/event/mode_dynamics.hpp"
#include "stickslip/motion/sensitivity.hpp"
#include "stickslip/motion/time_span.hpp"

namespace stickslip {

/// From our times to those of a neighbour: affine between jumps.
struct TimeWarp {
  std::vector<double> from, to;  ///< empty: the same times
  double operator()(double t) const;
};

class ModeNeighbourhood {
 public:
  /// Fills `out` with numbers of the dynamics at a state that it places itself. False: they are not finite.
  using Observe = FunctionRef<bool(ModeDynamics& dynamics, double t, const Vector& q, const Vector& v, Vector& out)>;
  struct Direction {
    double t = 0;
    Vector q, v;  ///< numbers of q; v
  };
  struct Beside {
    std::unique_ptr<ModeDynamics> dynamics;
    double weight;
    std::vector<double> breakpoints;
    TimeWarp warp;
  };

  /// What is passed must outlive this object. `breakpoints`: as the scheme has them.
  ModeNeighbourhood(const System& system, const Variations& variations, const std::vector<double>& breakpoints,
                    TimeSpan span);

  ModeDynamics& center() { return *center_; }
  const ModeDynamics& center() const { return *center_; }
  Index unknowns() const { return static_cast<Index>(beside_.size()); }
  std::vector<Beside>& beside(Index j) { return beside_[static_cast<std::size_t>(j)]; }

  /// All dynamics take the choices of the scheme's own.
  void follow(const ModeDynamics& nominal);
  /// Law `law` slips along d whatever its velocity is, in all dynamics.
  void keep_direction(std::size_t law, double d1, double d2);
  /// Within these times forces are smooth; `resolved`: how long they are a polynomial.
  void set_window(double after, double before, double resolved);
  double clamped(double t) const { return std::clamp(t, after_, before_); }
  /// What numbers of q and velocities are small against. The state is placed and solved in center().
  void widen_scales(const Vector& q, const Vector& v);
  double velocity_scale(Index i) const { return v_scale_[i]; }
  /// Of number i of (q, v); 1 where nothing is known.
  double scale(Index i) const {
    const double scale = i < q_scale_.size() ? q_scale_[i] : v_scale_[i - q_scale_.size()];
    return scale > 0 ? scale : 1.0;
  }

  /// False: not finite.
  bool along(double t, const Vector& q, const Vector& v, const Direction& x, Observe observe, Vector& out);
  bool by_unknown(Index j, double t, const Vector& q, const Vector& v, Observe observe, Vector& out);
  /// Both: the derivative by p_j of what is seen where the state moves by x with p_j.
  bool total(Index j, double t, const Vector& q, const Vector& v, const Direction& x, Observe observe, Vector& out);

  /// db/dp_j of breakpoint number i.
  double breakpoint_rate(Index j, std::size_t i) const;
  /// Σ w_k (τ_k(t) - t)
  double warp_rate(Index j, double t) const;
  /// The number of breakpoints differs near p_j.
  bool breakpoints_vanish(Index j) const { return vanishing_[static_cast<std::size_t>(j)] != 0; }

 private:
  double step_along(const Direction& x) const;

  std::unique_ptr<ModeDynamics> center_;
  std::vector<std::vector<Beside>> beside_;
  std::vector<char> vanishing_;
  std::vector<double> breakpoints_;
  TimeSpan span_;
  double after_ = -HUGE_VAL, before_ = HUGE_VAL, resolved_ = 0;
  Vector q_scale_, v_scale_, mass_, q_, v_, value_, reference_, part_, rate_;
  Direction later_;
};

}  // namespace stickslip
