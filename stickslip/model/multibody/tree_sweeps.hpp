// SPDX-License-Identifier: Apache-2.0
// Dynamics of a tree by sweeps over its links, O(n) each: inverse dynamics, articulated bodies, energies.
//
//   imbalance   τ = M(q) a - c(q, v) - gravity                  Newton and Euler, out and back
//   factor      of M with some velocities held: the articulated body of every link, which gives way in the joints below
//               it that are not held
//   solve       x_f ← M_ff⁻¹ (x_f - M_fh x_h): forces on the velocities f that are not held become their accelerations,
//               while the others have the accelerations x_h that are given, which become the forces (M x)_h that they
//               take
//   energies    T = ½ vᵀ M v,  U = -Σ m g·x
//
// so that forward dynamics is solve(τ' - imbalance at a = 0), and M is never formed. The same equations as
// tree_motion.hpp, which has them for any kind of number; here vectors have the axes of their link, so that mass,
// centre and inertia are constants, an axis is a unit vector, and going from a link to its parent turns two components.
//
//   articulated body   n = I α + H a + p_n,   f = Hᵀ α + M a + p_f,   seen from r farther up:
//                      H' = H + X M,  I' = I - K - Kᵀ,  K = (H + ½ X M) X,  X = [r]×
//   its joint          U = (I, Hᵀ) axis,  D = axis·U + d,  (I, H, M) -= U Uᵀ/D                    (Featherstone)
#pragma once

#include <memory>
#include <vector>

#include "stickslip/model/multibody/three_numbers.hpp"
#include "stickslip/model/multibody/tree.hpp"

namespace stickslip {

struct TreeEnergies {
  double kinetic = 0, potential = 0;  ///< [J]
};

class TreeSweeps {
 public:
  TreeSweeps(const Tree& tree, const Eigen::Vector3d& gravity);

  /// What three axes need beside.
  struct BallAt {
    Rows turn{};                   ///< link to parent
    Rows Un{}, Uf{}, D_inverse{};  ///< columns of U as rows
    Three u{};
  };
  /// Numbers of one link from sweep to sweep; those of one link lie together, the ground is the first. Those of solve()
  /// come first: they are what the cache should hold.
  struct At {
    double cosine = 1, sine = 0;  ///< of a rotation
    Three r{};                    ///< from the parent's origin, axes of the parent
    Three Un{}, Uf{};             ///< U of a single axis as the parent sees it: axes and origin of the parent
    double D = 0, D_inverse = 0;
    double gives = 0, holds = 0;  ///< 1/D and 0; 0 and 1 where it is held
    double u = 0;
    Three pn{}, pf{};                                 ///< what the links below it ask for
    Three alpha{}, a{};                               ///< rate of the spin, acceleration of the origin
    Three w{};                                        ///< spin
    Three n{}, f{};                                   ///< moment about the origin, force: what the joint carries
    double near = 0, near_cosine = 1, near_sine = 0;  ///< an angle near that of the rotation
    Symmetric I{}, M{};
    Rows H{};
    std::unique_ptr<BallAt> ball = nullptr;
  };
  using Memory = std::vector<At>;
  Memory make_memory() const;

  void place(const double* q, Memory& at) const;
  /// After place(). load: of what size the terms of τ are, for each velocity.
  void imbalance(const double* v, const double* a, Memory& at, double* tau, double* load) const;
  /// After place(). held: one flag per velocity, never of a ball; diagonal: what is added to M, d >= 0. False: a pivot
  /// is not positive.
  bool factor(const char* held, const double* diagonal, Memory& at) const;
  void solve(Memory& at, double* x) const;
  /// 1/D of every velocity but a ball's, after factor(): over the inertia of what moves with it while what is not held
  /// below it gives way.
  void inverse_pivots(const Memory& at, double* inverse) const;
  /// After place(); what imbalance() left behind is gone.
  TreeEnergies energies(const double* v, Memory& at) const;
  /// v' of M v' = τ + c + gravity.
  void forward_dynamics(const Vector& q, const Vector& v, const Vector& tau, Memory& at, Vector& a) const;
  /// All velocities belong to single axes.
  bool single_axes() const { return single_axes_; }

 private:
  struct Part {
    int parent = 0;  ///< 0: the ground
    int joint = 0;   ///< 0 to 2: rotation about that axis, 3: translation, 4: ball
    bool turned = false;
    bool last = true;  ///< no child of its parent comes after it
    Index q = 0, v = 0;
    double mass = 0;
    double weight =
        0;  ///< of all that hangs on it; of a rotation times the length of the tree: what cancels in free fall
    Three offset{}, moment{};
    Three axis{};   ///< of a translation, axes of the link
    Three along{};  ///< likewise, axes of the parent
    Symmetric inertia{};
    Rows turn{};  ///< link, before its joint moves, to parent
  };
  static void turn_to(double angle, At& it);
  template <class Joint>
  static Three to_link(const Part& part, const At& it, Three x);
  template <class Joint>
  static Three to_parent(const Part& part, const At& it, Three x);
  template <class Joint>
  static double along_axis(const Part& part, const Three& n, const Three& f);
  template <class Joint>
  void accelerate(const Part& part, const double* v, const double* a, const At& parent, At& it) const;
  template <class Joint>
  void carry(const Part& part, const At& it, At& parent, double* tau, double* load) const;
  template <class Joint>
  bool reduce(const Part& part, const char* held, const double* diagonal, At& it, At& parent) const;
  template <class Joint>
  void push(const Part& part, At& it, At& parent, const double* x) const;
  template <class Joint>
  void respond(const Part& part, const At& parent, At& it, double* x) const;
  template <class Joint>
  TreeEnergies energy(const Part& part, const double* v, const At& parent, At& it) const;

  std::vector<Part> links_;
  Three gravity_{};
  double length_ = 0;  ///< of the tree [m]
  bool single_axes_ = true;
  Index n_ = 0;
};

}  // namespace stickslip
