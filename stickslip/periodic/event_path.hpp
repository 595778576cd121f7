// SPDX-License-Identifier: Apache-2.0
// Event orbits over a parameter s: the state at one instant of the period, moved along the directions Z that the modes
// there leave open (period_map.hpp), and the period of an autonomous motion.
//
//   y0 = reference ⊕ Z x,   F = Zᵀ (y(t0 + T; y0, s) ⊖ y0)            forced: t0 = start + φ T(s), T(s) of the options
//   autonomous: T = T_reference e^{x_last},   F_last = phase(T, y0), or rate · (y0 ⊖ reference)
//
// Laws that stick through the whole period of the reference keep their places: Z leaves them out (indeterminacy.hpp),
// and where one begins to slip the path ends.
//
// Everything over the scales of the reference. Slopes by x are carried through the events; those by s are central
// differences of the motion of neighbouring systems.
#pragma once

#include <memory>

#include "stickslip/periodic/event_orbit.hpp"
#include "stickslip/periodic/orbit_path.hpp"
#include "stickslip/periodic/period_map.hpp"

namespace stickslip {

class EventPath final : public OrbitPath {
 public:
  /// The builder must outlive this. `orbit` is one at s; the instant is a quiet row of it. Check `usable()`.
  EventPath(const BranchBuilder& build, StopRequest stop, double way, const Orbit& orbit, double s);
  bool usable() const { return usable_; }
  double instant() const { return phi_; }
  Index size() const override { return Z_.cols() + (autonomous_ ? 1 : 0); }
  bool residual(const Vector& x, double s, Vector& F) override;
  bool jacobian(const Vector& x, double s, DenseMatrix& by_x, Vector& by_s) override;
  PeriodicSolution solve(const Vector& x, double s) override;
  /// The residual, and the impulses of all impacts on the way.
  bool residual_with_blows(const Vector& x, double s, Vector& F, std::vector<double>& impulses);

 protected:
  bool autonomous() const override { return autonomous_; }
  double motion_size(const Vector& x, double s) override;
  double multiplier_error() const override {
    return 1e-3;
  }  // differences of the motion beside saltation; the place to 1e-7

 private:
  struct Place {
    double s = NAN;
    BranchCase parts;
    std::unique_ptr<PeriodMap> map;
  };
  bool with(double s, Place& place);
  double period(const Place& place, const Vector& x) const;
  State start(const Place& place, const Vector& x) const;
  bool closure(Place& place, const Vector& x, Vector& F, double stretch = 1, std::vector<double>* impulses = nullptr);
  double phase(const Place& place, const Vector& x) const;

  const BranchBuilder& build_;
  StopRequest stop_;
  double way_, phi_ = 0, T_ = 0;
  bool usable_ = false, autonomous_ = false;
  State reference_;
  Vector q_scale_, v_scale_, rate_;
  DenseMatrix Z_, held_;  ///< held_: places that do not move
  Place center_, above_, below_;
};

}  // namespace stickslip
