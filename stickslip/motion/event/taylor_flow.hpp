// SPDX-License-Identifier: Apache-2.0
// The exact flow of a linear system in one mode, as a power series to round-off.
//
//   M v' + B v + K q = f(t) + W r,   q' = v,   rows that hold: Wᵀ v' = w'
//
//   q = Σ q_k s^k, ...,  s = (t - t0)/h:     q_{k+1} = h v_k/(k+1),   v_{k+1} = h a_k/(k+1)
//   a_k from f_k - B v_k - K q_k and the known friction by the mode's factor (mode_dynamics.hpp), which is made once
//   per mode and kept
//
// 24 terms; h is taken as large as two things allow. The last terms stay below 1e-17 of the largest, which for the free
// motion, an entire function, means about 1.9/ω of the highest frequency ω. And what the series of each force and
// surface velocity leaves out is below 1e-16 of its largest value nearby, by a bound of its 24th derivative over the
// whole segment (time_resolution.hpp): a pulse cannot hide between two segments. So no tolerance enters. The
// coefficients are those of the events' polynomials at the same time: u, r and gaps are linear in them.
//
// A closed form by eigenvectors would need no h, but a defective or damped mode needs care there and the events need
// polynomials anyway; a series costs 24 products with K and is the same for every linear system.
//
// For: systems with has_series(), constant limits, laws of one tangent, no weakening; surface velocities of time alone.
#pragma once

#include <unordered_map>

#include "stickslip/common/taylor.hpp"
#include "stickslip/model/time_resolution.hpp"
#include "stickslip/motion/event/flow.hpp"

namespace stickslip {

class TaylorFlow final : public Flow {
 public:
  static constexpr int kOrder = 24;
  /// Whether this flow takes the system; else `reason` says why not.
  static bool takes(const System& system, std::string& reason);

  /// `breakpoints`: times at which forces jump, ascending. `dynamics` must outlive the flow.
  TaylorFlow(ModeDynamics& dynamics, std::vector<double> breakpoints, TimeSpan span);
  StepOutcome begin(double t, const Vector& q, const Vector& v, const std::vector<Mode>& modes,
                    const std::vector<LawStart>& start, double t_limit, bool continued) override;
  void sample(double t, FlowSample& sample) override;
  bool impulses(double from, double to, Vector& impulse) const override;

  // For derivatives of a motion (tangent_series.hpp): series alone, without events.
  double length() const { return segment_; }  ///< what s = 1 is [s]
  /// The motion of this system from (t, q, v) in these modes, over h. The dynamics must have been placed.
  void expand_from(double t, double h, const Vector& q, const Vector& v, const std::vector<Mode>& modes);
  /// The series of f and w at t over h.
  void load_forces(double t, double h);
  const DenseMatrix& force_series() const { return f_; }
  const DenseMatrix& surface_series() const { return w_; }
  /// The linear response to a change of the start, of forces and of surface velocities.
  void respond(double h, const Vector& dq, const Vector& dv, const DenseMatrix& df, const DenseMatrix& dw,
               const std::vector<Mode>& modes);
  const DenseMatrix& position_series() const { return q_; }
  const DenseMatrix& velocity_series() const { return v_; }

 private:
  /// A mode and what belongs to it. Small systems keep the whole map from (q, v, f) to accelerations and reactions:
  ///   a = Aq q + Av v + Af f + a0,   r = Rq q + Rv v + Rf f + r0        (a0 and r0 for the first term alone)
  struct Kept {
    ModeDynamics::ModeFactor factor;
    Vector known;  // r of the laws that slip
    DenseMatrix Aq, Av, Af, Rq, Rv, Rf;
    Vector a0, r0;
  };
  void make_map(Kept& mode) const;
  void expand_by_map(const Kept& mode, double h, bool response);
  const Kept& kept(const std::vector<Mode>& modes);
  void expand(const Kept& mode, double t, double h);
  /// All terms from the first; `response`: without forces that are known and constant.
  void recurse(const Kept& mode, double h, bool response);
  double stretch() const;
  void scale(double factor);
  void find_events(const std::vector<LawStart>& start);

  ModeDynamics& dynamics_;
  std::vector<double> breakpoints_;
  const LinearPart& linear_;
  TimeResolution resolution_;
  std::unordered_map<std::string, Kept> modes_;
  std::vector<Mode> current_;
  std::string key_;                         // of modes_
  DenseMatrix q_, v_, r_, smooth_, f_, w_;  // one column per power of s
  Vector g_, a_, u_, right_, x_, viscous_, sum_;
  bool redundant_ = false, small_ = false, damped_ = false, viscous_acts_ = false, forced_ = true;
  double h_ = 0, segment_ = 1;  // step of the next expansion; length of the segment
};

}  // namespace stickslip
