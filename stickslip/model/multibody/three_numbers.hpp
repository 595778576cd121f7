// SPDX-License-Identifier: Apache-2.0
// Vectors and symmetric matrices of three, written out: sweeps over trees live in registers, which expressions over
// arrays do not.
#pragma once

#include <Eigen/Core>

namespace stickslip {

struct Three {
  double x, y, z;
};

inline Three three(const Eigen::Vector3d& a) { return {a[0], a[1], a[2]}; }
inline Three operator+(const Three& a, const Three& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Three operator-(const Three& a, const Three& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Three operator*(double s, const Three& a) { return {s * a.x, s * a.y, s * a.z}; }
inline Three& operator+=(Three& a, const Three& b) { return a = a + b; }
inline double dot(const Three& a, const Three& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Three cross(const Three& a, const Three& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// Component k, known when it is compiled.
template <int k>
double& entry(Three& a) {
  if constexpr (k % 3 == 0) return a.x;
  if constexpr (k % 3 == 1) return a.y;
  if constexpr (k % 3 == 2) return a.z;
}
template <int k>
double entry(const Three& a) {
  return entry<k>(const_cast<Three&>(a));
}

/// Rows of a 3 × 3 matrix.
struct Rows {
  Three x, y, z;
};

inline Rows rows_of(const Eigen::Matrix3d& A) {
  return {{A(0, 0), A(0, 1), A(0, 2)}, {A(1, 0), A(1, 1), A(1, 2)}, {A(2, 0), A(2, 1), A(2, 2)}};
}
inline Rows operator+(const Rows& A, const Rows& B) { return {A.x + B.x, A.y + B.y, A.z + B.z}; }
inline Rows transposed(const Rows& A) { return {{A.x.x, A.y.x, A.z.x}, {A.x.y, A.y.y, A.z.y}, {A.x.z, A.y.z, A.z.z}}; }
inline Three operator*(const Rows& A, const Three& b) { return {dot(A.x, b), dot(A.y, b), dot(A.z, b)}; }
/// Aᵀ b
inline Three transposed_times(const Rows& A, const Three& b) { return b.x * A.x + b.y * A.y + b.z * A.z; }
inline Rows operator*(const Rows& A, const Rows& B) {
  return {transposed_times(B, A.x), transposed_times(B, A.y), transposed_times(B, A.z)};
}

struct Symmetric {
  double xx, xy, xz, yy, yz, zz;
};

inline Symmetric symmetric(const Eigen::Matrix3d& A) { return {A(0, 0), A(0, 1), A(0, 2), A(1, 1), A(1, 2), A(2, 2)}; }
/// What is above the diagonal of A, which is symmetric.
inline Symmetric symmetric(const Rows& A) { return {A.x.x, A.x.y, A.x.z, A.y.y, A.y.z, A.z.z}; }
inline Rows rows_of(const Symmetric& A) { return {{A.xx, A.xy, A.xz}, {A.xy, A.yy, A.yz}, {A.xz, A.yz, A.zz}}; }
inline Symmetric operator+(const Symmetric& A, const Symmetric& B) {
  return {A.xx + B.xx, A.xy + B.xy, A.xz + B.xz, A.yy + B.yy, A.yz + B.yz, A.zz + B.zz};
}
inline Three operator*(const Symmetric& A, const Three& b) {
  return {A.xx * b.x + A.xy * b.y + A.xz * b.z, A.xy * b.x + A.yy * b.y + A.yz * b.z,
          A.xz * b.x + A.yz * b.y + A.zz * b.z};
}
/// A - s b bᵀ
inline Symmetric less_square(const Symmetric& A, double s, const Three& b) {
  const Three k = s * b;
  return {A.xx - k.x * b.x, A.xy - k.x * b.y, A.xz - k.x * b.z, A.yy - k.y * b.y, A.yz - k.y * b.z, A.zz - k.z * b.z};
}
/// A - a bᵀ
inline Rows less_product(const Rows& A, const Three& a, const Three& b) {
  return {A.x - a.x * b, A.y - a.y * b, A.z - a.z * b};
}

}  // namespace stickslip
