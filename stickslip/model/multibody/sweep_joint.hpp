// SPDX-License-Identifier: Apache-2.0
// Joints of a tree as types, so that what a sweep does at a link is compiled for its axis (tree_sweeps.cpp).
#pragma once

#include "stickslip/model/multibody/three_numbers.hpp"

namespace stickslip::sweep_joint {

/// Rotation about the axis k of the link, by cosine and sine.
template <int k>
struct Turning {
  static constexpr int axis = k;
};
struct Sliding {
  static constexpr int axis = -1;
};
struct Ball {
  static constexpr int axis = -2;
};
template <class Joint>
constexpr bool turns = Joint::axis >= 0;

/// use(joint) with the type that the number of a joint stands for.
template <class Use>
inline auto with_joint(int joint, Use&& use) {
  switch (joint) {
    case 0:
      return use(Turning<0>{});
    case 1:
      return use(Turning<1>{});
    case 2:
      return use(Turning<2>{});
    case 3:
      return use(Sliding{});
    default:
      return use(Ball{});
  }
}

/// x turned about the axis k.
template <int k>
inline Three turned(const Three& x, double c, double s) {
  Three y = x;
  entry<k + 1>(y) = c * entry<k + 1>(x) - s * entry<k + 2>(x);
  entry<k + 2>(y) = s * entry<k + 1>(x) + c * entry<k + 2>(x);
  return y;
}

/// Q A Qᵀ with Q the turn about the axis k.
template <int k>
inline Rows turned(const Rows& A, double c, double s) {
  const Rows right{turned<k>(A.x, c, s), turned<k>(A.y, c, s), turned<k>(A.z, c, s)};
  const Rows columns = transposed(right);
  return transposed(Rows{turned<k>(columns.x, c, s), turned<k>(columns.y, c, s), turned<k>(columns.z, c, s)});
}

inline Rows congruent(const Rows& Q, const Rows& A) { return Q * A * transposed(Q); }

template <int k>
inline Three column(const Symmetric& A) {
  if constexpr (k == 0) return {A.xx, A.xy, A.xz};
  if constexpr (k == 1) return {A.xy, A.yy, A.yz};
  return {A.xz, A.yz, A.zz};
}

template <int k>
inline const Three& row(const Rows& A) {
  if constexpr (k == 0) return A.x;
  if constexpr (k == 1) return A.y;
  return A.z;
}

}  // namespace stickslip::sweep_joint
