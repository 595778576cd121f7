// SPDX-License-Identifier: Apache-2.0
// The equations of a weighted residual or of periodic stepping over a parameter.
#pragma once

#include <algorithm>
#include <memory>

#include "stickslip/periodic/orbit_path.hpp"
#include "stickslip/periodic/periodic_equations.hpp"

namespace stickslip {

class ResidualPath final : public OrbitPath {
 public:
  /// The builder must outlive this. way: length of the range of the parameter; reference: X of a solution.
  ResidualPath(const BranchBuilder& build, StopRequest stop, double way, Vector reference)
      : build_(build), stop_(stop), way_(way), reference_(std::move(reference)) {}
  Index size() const override { return reference_.size(); }
  bool residual(const Vector& x, double s, Vector& F) override;
  bool jacobian(const Vector& x, double s, DenseMatrix& by_x, Vector& by_s) override;
  PeriodicSolution solve(const Vector& x, double s) override;
  /// r = 0 and the linear response at s.
  Vector linear_start(double s);
  /// Where a run leads that begins with the state of x times `factor`; empty: nowhere.
  Vector run_start(const Vector& x, double factor, double s);

 protected:
  bool autonomous() const override { return center_.parts.options.autonomous; }
  double multiplier_error() const override;
  /// Where hardly anything moves, the unit counts, which is made of the forces.
  double motion_size(const Vector& x, double) override { return std::max(1.0, x.norm()); }

 private:
  struct Place {
    double s = NAN;
    BranchCase parts;
    std::unique_ptr<PeriodicEquations> equations;
  };
  bool with(double s, Place& place);

  const BranchBuilder& build_;
  StopRequest stop_;
  double way_;
  Vector reference_;
  Place center_, above_, below_;
};

}  // namespace stickslip
