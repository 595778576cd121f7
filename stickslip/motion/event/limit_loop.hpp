// SPDX-License-Identifier: Apache-2.0
// Laws that slip under limits that follow reactions: friction changes the reactions that make the limits.
//
//   c_j = f_j(R),    R = R0 + R1 c,    c >= 0                      F(c) = c - f(R0 + R1 c) = 0
//
//   c   limits of the laws that slip, one each                                                          [N, N m]
//   R0  reactions without their friction,  R1  what a unit of each limit does to them                   [N, N m; -]
//   f   as the model gives them (following_limits.hpp), most often |affine|, or a norm of affine functions: convex
//
// One law, f convex: F is concave with F(0) <= 0, so it has one root where the gain at infinity, lim f/c, is below 1,
// and else none or two. Newton's iteration from c = 0 upwards rises to the first of them and never beyond (the tangent
// of a concave function lies above it), from the far end it falls to the last; where a slope says that it will not meet
// zero, there is no root. So all roots are found. With other f: those, and every further change of sign of F between
// points a factor of two apart.
//
// Several laws: Newton's iteration from the limits of the last call, then from 0: a root if it converges, and no
// statement about others. `all` tries the far end as well.
//
// regularity = det(1 - ∂f/∂R R1), F' for one law. Where it is 0 the limits grow without bound or the root vanishes: the
// same as Painlevé's paradox of a contact, whose limit is μ r_N. A second root has a negative one.
#pragma once

#include <vector>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/motion/event/following_limits.hpp"

namespace stickslip {

class LimitLoop {
 public:
  std::vector<std::size_t> laws;  ///< that slip, numbers of friction laws
  Vector R0;
  DenseMatrix R1;  ///< one column per law

  /// The first root for one law; for several the one Newton's iteration finds. `c` in: the last one, any size. Throws
  /// InputError where a limit is negative.
  bool solve(FollowingLimits& limits, Vector& c);
  /// One column per root.
  void solve_all(FollowingLimits& limits, std::vector<Vector>& roots);
  double regularity() const { return regularity_; }  ///< at the root of solve()
  double regularity_at(FollowingLimits& limits, const Vector& c);
  /// R at c.
  const Vector& reactions(const Vector& c);

 private:
  struct Point {
    double c, F, slope;
  };
  Point at(FollowingLimits& limits, double c);
  double scale(FollowingLimits& limits) const;
  bool between(FollowingLimits& limits, Point low, Point high, double& root);
  bool first(FollowingLimits& limits, double& root);
  bool last(FollowingLimits& limits, double& root);
  bool newton(FollowingLimits& limits, Vector& c);
  void residual(FollowingLimits& limits, const Vector& c);
  double relative_residual(const Vector& c);

  double regularity_ = 1;
  Vector R_, dR_, f_, F_, size_, step_, trial_;
  DenseMatrix J_;
  Eigen::PartialPivLU<DenseMatrix> lu_;
};

}  // namespace stickslip
