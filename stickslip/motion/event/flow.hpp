// SPDX-License-Identifier: Apache-2.0
// Smooth motion between events, one segment at a time, and the first event on it.
//
// On a segment every quantity that can end a mode is a polynomial in s = (t - t0)/(t1 - t0); its first fall below zero
// is found by bounds on the polynomial (polynomial.hpp), not by a scan: two roots inside a segment, or a dip below
// zero however short, are not missed as far as the polynomial is accurate.
//
//   trigger   what falls to zero                                             for
//   stop      ±u (one tangent), |u| (two tangents)                           laws that slip; with a spring in series
//             n·u - c'/k                                                     the slider's
//   release   c_s ∓ r;  c_s² - |r|²;  μ_s r_N ∓ r_T;  (μ_s r_N)² - |r_T|²    laws that stick
//   touch     gap                                                            open contacts
//   lift      r_N                                                            closed contacts
//   singular  determinant of the mode's equations (mode_dynamics.hpp)        sliding contacts (Painlevé), friction that
//                                                                            slips under a limit that follows reactions
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "stickslip/motion/event/mode_dynamics.hpp"
#include "stickslip/motion/scheme.hpp"
#include "stickslip/motion/time_span.hpp"

namespace stickslip {

/// Of time_size(): times this near to a breakpoint are it.
inline constexpr double kSameInstant = 1e-12;

enum class Trigger { stop, release, touch, lift, singular };

struct Monitor {
  int law = 0;
  Trigger trigger = Trigger::stop;
  double sign = 1;     ///< of u or r, where it has one
  int zeros = 0;       ///< value, slope, ... known to vanish at the start of the segment
  bool tied = false;   ///< and more of them may, but for round-off
  bool rises = false;  ///< the next one is not negative: the decision of the modes has shown it
};

/// What is known to vanish where a segment begins: the number of derivatives, beginning with the value.
struct LawStart {
  int u = 0;       ///< of the tangential velocity of a law with one tangent
  int gap = 0;     ///< of the gap of an open contact
  int border = 0;  ///< of the distance of r from the border of its set
  int lift = 0;    ///< of the normal force
  bool tied = false;
  bool rises = false;
};

/// The monitors of these modes. `start` may be empty: nothing vanishes.
void make_monitors(const ModeDynamics& dynamics, const std::vector<Mode>& modes, const std::vector<LawStart>& start,
                   std::vector<Monitor>& monitors);
/// At the placed and solved state of `dynamics`.
double monitor_value(ModeDynamics& dynamics, const Monitor& monitor);

/// Coefficients that are known to be 0 become 0, and a next one that is negative against what is known; for tied laws
/// those after them that are round-off beside the largest. The first one that is left decides the sign at the start of
/// the segment.
void forget_leading(std::span<double> c, const Monitor& monitor, double round_off);

struct FlowSample {
  Vector q, v;
  Vector d;          ///< deformations of springs in series
  Vector r, smooth;  ///< set-valued and smooth part of the laws, per component
};

/// A force changes faster than time can be resolved (time_resolution.hpp).
StepOutcome too_fast(double t);

class Flow {
 public:
  /// span: length of the run; round-off of a time t is that of span + |t|.
  explicit Flow(double span) : span_(span) {}
  virtual ~Flow() = default;
  /// A segment from (t, q, v), at most to t_limit. `continued`: the last segment ended here without an event.
  virtual StepOutcome begin(double t, const Vector& q, const Vector& v, const std::vector<Mode>& modes,
                            const std::vector<LawStart>& start, double t_limit, bool continued) = 0;
  /// t0() <= t <= t1()
  virtual void sample(double t, FlowSample& sample) = 0;
  /// ∫ r dt in closed form, where the flow has one.
  virtual bool impulses(double from, double to, Vector& impulse) const {
    static_cast<void>(from), static_cast<void>(to), static_cast<void>(impulse);
    return false;
  }

  double t0() const { return t0_; }
  double t1() const { return t1_; }  ///< of the first event, or as far as the segment is accurate
  /// What falls to zero at t1; empty: nothing does.
  const std::vector<Monitor>& triggers() const { return triggers_; }

 protected:
  double time_size(double t) const { return span_ + std::abs(t); }

  double span_, t0_ = 0, t1_ = 0;
  std::vector<Monitor> monitors_, triggers_;
  std::vector<double> roots_;  // per monitor, in s; HUGE_VAL: none
  /// t1_ and triggers_ from roots_ on a segment of length h.
  void take_first(double h);
};

}  // namespace stickslip
