// SPDX-License-Identifier: Apache-2.0
// Reactions that hold rows at rest, where they are unique and where they are not.
//
//   Vᵀ U x = g           k equations, k unknowns x [N, N m]
//
//   V  columns: directions of the rows that hold, in the metric of the mass (Nᵀ W of constrained_mass.hpp)  [1/√kg]
//   U  columns: what a unit of each unknown does, in the same metric; V, but for the friction of contacts that slide
//
// D = VᵀU is not formed: a heavy body on a light one (mass ratio ρ) has singular values of V down to √ρ, of D to ρ.
// Columns of V are scaled to length 1, w_i = |V_i| = √D_ii, so that neither the rank nor the choices below depend on
// the units of coordinates or rows. Singular values below 1e-11 count as 0.
//
// Redundant rows (a ladder between floor and wall, a table on four legs) leave x = x_s + Z y open, with x_s the
// shortest in the norm (Σ (w_i x_i)²)^½. Which of them holds is a matter of the sets: `smallest_within` finds the
// shortest x in the sets, or none if there is none. It is Lawson and Hanson's least distance problem, solved by their
// NNLS (Solving Least Squares Problems, 1974, ch. 23); disks by tangents that are added where they are violated.
#pragma once

#include <functional>
#include <vector>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/vector.hpp"

namespace stickslip {

/// constant + slope x[normal] - sign x[tangent] >= 0;  two tangents: ... - |(x[tangent], x[tangent + 1])| >= 0
/// A limit that follows reactions, which x changes, adds its tangent: shift + slopes · x.
struct ReactionBound {
  int law = 0;
  double constant = 0, slope = 0, sign = 1;
  Index normal = -1, tangent = -1;  ///< -1: none
  int tangents = 0;
  double shift = 0;
  Vector slopes;  ///< empty: none
  double slack(const Vector& x) const;
};

/// r_N >= 0 of a contact.
ReactionBound pushing(int law, Index normal);
/// |r_T| <= constant + slope r_N: two bounds for one tangent, one for two.
void append_friction_bounds(int law, double constant, double slope, Index normal, Index tangent, int tangents,
                            std::vector<ReactionBound>& bounds);

class HeldReactions {
 public:
  void factor(const DenseMatrix& V, const DenseMatrix& U);
  /// x is not unique.
  bool redundant() const { return redundant_; }
  /// Another choice of x is another motion (U Z ≠ 0): only where friction of sliding contacts acts.
  bool choice_moves() const { return choice_moves_; }
  /// det(VᵀU), rows and columns scaled as above; 1 where x is not unique.
  double regularity() const { return regularity_; }

  /// x of g, the shortest where it is not unique. Linear in g.
  void shortest(const Vector& g, Vector& x) const;
  /// Whether the equations can be satisfied: `size` bounds the terms each g_i is the sum of.
  bool consistent(const Vector& g, const Vector& size, const Vector& x) const;
  /// x = the shortest within the bounds, from x = shortest(g). inset (per bound, empty: 0): how far inside, in units
  /// of the largest force there is, force_scale(), or of a given one. False: no choice is admissible; x is left alone.
  bool smallest_within(const std::vector<ReactionBound>& bounds, const std::vector<double>& inset, Vector& x,
                       double given_scale = 0) const;
  /// x = x_s + Z Zᵀ x_ref: the solution nearest to a given one.
  void nearest(const Vector& x_ref, Vector& x) const;
  /// Columns: changes of x that leave the equations as they are, of length 1 in the norm above.
  DenseMatrix choices() const;
  /// Largest weighted reaction or limit [N/√kg].
  double force_scale(const std::vector<ReactionBound>& bounds, const Vector& x) const;
  /// Slack of a bound over that.
  double relative_slack(const ReactionBound& bound, const Vector& x) const;

 private:
  double weight_of(const ReactionBound& bound) const {
    return weight_[bound.tangents > 0 ? bound.tangent : bound.normal];
  }

  Vector weight_;
  Eigen::ColPivHouseholderQR<DenseMatrix> qr_;
  Eigen::PartialPivLU<DenseMatrix> lu_;
  Eigen::JacobiSVD<DenseMatrix> svd_;
  DenseMatrix K_, Z_;
  Index rank_ = 0, inner_rank_ = 0;
  bool redundant_ = false, choice_moves_ = false;
  double regularity_ = 1;
};

/// Bounds whose limits follow x: their tangents at a given x.
using BoundsAt = std::function<void(const Vector& x, std::vector<ReactionBound>& bounds)>;
/// As smallest_within(), with limits c(x). Convex ones (|r|, norms) lie above their tangents, so x within the tangents
/// at any point is within the sets. The points are x as given and, from there, those that violate the tangents of the
/// one before least, as long as that violation falls; then likewise from points far away along ± each choice, where
/// reactions have other signs. A search all the same, and false is no proof. `bounds`: those at the last point.
bool smallest_within(const HeldReactions& held, const BoundsAt& bounds_at, double inset,
                     std::vector<ReactionBound>& bounds, Vector& x);

/// min |y| with G y >= h. False: no such y.
bool least_distance(const DenseMatrix& G, const Vector& h, Vector& y);

}  // namespace stickslip
