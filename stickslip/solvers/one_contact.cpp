// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/one_contact.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>

#include "stickslip/common/plane_norm.hpp"
#include "stickslip/solvers/law_candidates.hpp"
#include "stickslip/solvers/quartic_roots.hpp"

namespace stickslip {

namespace {

// All relative: to entries of the block, to its largest singular value, to the natural map's own size.
constexpr double kRegular = 1e-12;  // determinant over the product of the diagonal: the fast path is exact
constexpr double kNullDirections[] = {1e-14, 1e-11};  // singular values: what counts as zero is a matter of rounding
constexpr double kNoNormalMass = 1e-15;               // D_NN
constexpr double kSticks = 1e-14;                     // natural map of the best candidate among those that stick
constexpr double kSolved = 1e-9;  // natural map: an ill-conditioned block loses digits in the enumeration

/// Solutions of M r = -q that may lie on (or inside) the set: the shortest one and, along each null direction, those
/// with |r_T| = radius. `cone`: the radius is μ r_N, else it is `limit`.
template <int N, class Consider>
void solutions_on_the_rim(const Eigen::Matrix<double, N, N>& M, const double* q, double limit, bool cone,
                          Consider&& consider) {
  using Vec = Eigen::Matrix<double, N, 1>;
  Eigen::JacobiSVD<Eigen::Matrix<double, N, N>> svd(M, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const auto& sigma = svd.singularValues();
  const Vec load = -svd.matrixU().transpose() * Eigen::Map<const Vec>(q);
  for (const double threshold : kNullDirections) {
    Vec y = Vec::Zero();
    int rank = 0;
    for (int k = 0; k < N; ++k)
      if (sigma[k] > threshold * sigma[0]) {
        y[k] = load[k] / sigma[k];
        ++rank;
      }
    const Vec r = svd.matrixV() * y;
    consider(r);
    auto along = [&](const Vec& z) {
      const int t = cone ? 1 : 0;
      double A = 0, B = 0, C = 0;
      for (int k = t; k < N; ++k) {
        A += z[k] * z[k];
        B += r[k] * z[k];
        C += r[k] * r[k];
      }
      const double m = limit * limit;
      A -= cone ? m * z[0] * z[0] : 0;
      B -= cone ? m * r[0] * z[0] : 0;
      C -= cone ? m * r[0] * r[0] : m;
      if (A != 0) consider(r - B / A * z);
      const double root = B * B - A * C;
      if (root >= 0) {
        const double w = -(B + std::copysign(std::sqrt(root), B));
        if (A != 0) consider(r + w / A * z);
        if (w != 0) consider(r + C / w * z);
      } else if (B != 0) {
        consider(r - 0.5 * C / B * z);
      }
    };
    for (int k = rank; k < N; ++k) along(svd.matrixV().col(k));
    if (N == 3 && cone && rank == 1) {
      // A plane of solutions b·r = κ: if it meets the cone, it meets the ray of the cone where b·r is extreme.
      const Vec b = svd.matrixV().col(0);
      const double tangential = plane_norm(b[1], b[N - 1]), kappa = b.dot(r);
      for (const double sign : {1.0, -1.0}) {
        Vec ray = Vec::Zero();
        ray[0] = 1;
        if (tangential > 0) {
          ray[1] = sign * limit * b[1] / tangential;
          ray[N - 1] = sign * limit * b[N - 1] / tangential;
        }
        if (b.dot(ray) != 0) consider(kappa / b.dot(ray) * ray);
      }
    }
  }
}

/// det and adj·(-q) of M + l E as polynomials in l, by values at l = 0, 1, -1 (degree <= 2), in units of `scale`.
template <int N>
std::array<Quartic, N + 1> cramer(const Eigen::Matrix<double, N, N>& M, const double* q, int first, double scale) {
  std::array<std::array<double, 3>, N + 1> at;
  const double nodes[3] = {0.0, 1.0, -1.0};
  for (int k = 0; k < 3; ++k) {
    Eigen::Matrix<double, N, N> shifted = M / scale;
    for (int i = first; i < N; ++i) shifted(i, i) += nodes[k];
    at[0][k] = shifted.determinant();
    for (int c = 0; c < N; ++c) {
      Eigen::Matrix<double, N, N> replaced = shifted;
      for (int i = 0; i < N; ++i) replaced(i, c) = -q[i];
      at[c + 1][k] = replaced.determinant();
    }
  }
  std::array<Quartic, N + 1> result{};
  for (int c = 0; c <= N; ++c) {
    result[c][0] = at[c][0];
    result[c][1] = 0.5 * (at[c][1] - at[c][2]);
    result[c][2] = 0.5 * (at[c][1] + at[c][2]) - at[c][0];
  }
  return result;
}

}  // namespace

ContactBlock contact_block(double mu, const double* D) {
  ContactBlock c{};
  std::copy_n(D, 9, c.D);
  c.mu = mu;
  if (!(D[0] > 0)) return c;
  c.inverse_nn = 1 / D[0];
  c.tn1 = D[3] * c.inverse_nn;
  c.tn2 = D[6] * c.inverse_nn;
  SecularBlock& S = c.planar;
  S.s11 = D[4] - c.tn1 * D[1];
  S.s12 = D[5] - c.tn1 * D[2];
  S.s21 = D[7] - c.tn2 * D[1];
  S.s22 = D[8] - c.tn2 * D[2];
  S.g1 = -mu * D[1] * c.inverse_nn;
  S.g2 = -mu * D[2] * c.inverse_nn;
  S.trace = S.s11 + S.s22;
  S.det = S.s11 * S.s22 - S.s12 * S.s21;
  const double off = 0.5 * (S.s12 + S.s21);
  c.regular = mu > 0 && S.s11 > kRegular * D[4] && S.s22 > kRegular * D[8] &&
              S.s11 * S.s22 - off * off > kRegular * D[4] * D[8];
  return c;
}

ContactState enumerate_contact(double mu, const double* D, const double* q, double* r) {
  std::fill_n(r, 3, 0.0);
  if (q[0] >= 0) return ContactState::open;
  const double scale = largest_entry<3>(D);
  if (!(scale > 0)) return ContactState::none;
  if (mu == 0) {
    if (!(D[0] > kNoNormalMass * scale)) return ContactState::none;
    r[0] = -q[0] / D[0];
    return ContactState::slide;
  }
  LawCandidates<3> best{friction_cone_set(mu, 3), D, q, 1 / scale, HUGE_VAL, {}};
  const Eigen::Matrix3d M = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(D);
  auto consider = [&](const Eigen::Vector3d& x) { best.consider({x[0], x[1], x[2]}); };
  solutions_on_the_rim<3>(M, q, mu, true, consider);
  const bool stick = best.residual <= kSticks;
  if (!stick) {
    const auto [det, n, t1, t2] = cramer<3>(M, q, 1, scale);
    Quartic rim = product(t1, t1);
    const Quartic second = product(t2, t2), normal = product(n, n);
    for (int i = 0; i <= 4; ++i) rim[i] += second[i] - mu * mu * normal[i];
    RootList roots;
    positive_roots(rim, 1.0, roots);
    positive_roots(det, 1.0, roots);
    for (int k = 0; k < roots.count; ++k) {
      Eigen::Matrix3d shifted = M;
      shifted(1, 1) += scale * roots.at[k];
      shifted(2, 2) += scale * roots.at[k];
      solutions_on_the_rim<3>(shifted, q, mu, true, [&](const Eigen::Vector3d& x) {
        consider(x);
        // Sliding along x_T: the normal reaction that keeps u_N = 0 exactly.
        const double length = plane_norm(x[1], x[2]);
        if (!(length > 0)) return;
        const double t1u = mu * x[1] / length, t2u = mu * x[2] / length;
        const double normal_reaction = -q[0] / (D[0] + D[1] * t1u + D[2] * t2u);
        best.consider({normal_reaction, normal_reaction * t1u, normal_reaction * t2u});
      });
    }
  }
  if (!(best.residual <= kSolved)) return ContactState::none;
  std::copy(best.r.begin(), best.r.end(), r);
  return stick ? ContactState::stick : ContactState::slide;
}

ContactState solve_planar_contact(double mu, const double* D, const double* q, double* r) {
  r[0] = r[1] = 0;
  if (q[0] >= 0) return ContactState::open;
  const double det = D[0] * D[3] - D[1] * D[2];
  if (det > kRegular * std::abs(D[0] * D[3]) && D[0] > 0 && mu > 0) {
    const double n = -(D[3] * q[0] - D[1] * q[1]) / det, t = -(D[0] * q[1] - D[2] * q[0]) / det;
    if (n >= 0 && std::abs(t) <= mu * n) {
      r[0] = n;
      r[1] = t;
      return ContactState::stick;
    }
    const double side = t > 0 ? mu : -mu;  // the side on which sticking would leave the cone, when both answer
    for (const double slope : {side, -side}) {
      const double pivot = D[0] + slope * D[1];
      if (!(pivot > 0)) continue;
      const double normal = -q[0] / pivot;
      if (slope * (q[1] + (D[2] + slope * D[3]) * normal) > 0) continue;  // u_T must oppose r_T
      r[0] = normal;
      r[1] = slope * normal;
      return ContactState::slide;
    }
  }
  const double scale = largest_entry<2>(D);
  if (!(scale > 0)) return ContactState::none;
  LawCandidates<2> best{friction_cone_set(mu, 2), D, q, 1 / scale, HUGE_VAL, {}};
  const Eigen::Matrix2d M = Eigen::Map<const Eigen::Matrix<double, 2, 2, Eigen::RowMajor>>(D);
  if (mu > 0) solutions_on_the_rim<2>(M, q, mu, true, [&](const Eigen::Vector2d& x) { best.consider({x[0], x[1]}); });
  const bool stick = best.residual <= kSticks;
  if (!stick)
    for (const double slope : {mu, -mu}) {
      const double pivot = D[0] + slope * D[1], normal = -q[0] / pivot;
      if (pivot > 0) best.consider({normal, slope * normal});
    }
  if (!(best.residual <= kSolved)) return ContactState::none;
  std::copy(best.r.begin(), best.r.end(), r);
  return stick ? ContactState::stick : ContactState::slide;
}

ContactState solve_disk_friction(double c, const double* D, const double* q, double* r) {
  if (c == 0) {
    r[0] = r[1] = 0;
    return ContactState::slide;
  }
  const double trace = D[0] + D[3], det = D[0] * D[3] - D[1] * D[2], off = 0.5 * (D[1] + D[2]);
  if (D[0] > 0 && D[3] > 0 && D[0] * D[3] - off * off > kRegular * D[0] * D[3]) {
    r[0] = -(D[3] * q[0] - D[1] * q[1]) / det;
    r[1] = -(D[0] * q[1] - D[2] * q[0]) / det;
    if (r[0] * r[0] + r[1] * r[1] <= c * c) return ContactState::stick;
    solve_secular({D[0], D[1], D[2], D[3], 0, 0, trace, det}, q[0], q[1], c, 0, r[0], r[1]);
    const double stretch = c / plane_norm(r[0], r[1]);
    r[0] *= stretch;
    r[1] *= stretch;
    return ContactState::slide;
  }
  const double size = largest_entry<2>(D), scale = size > 0 ? size : 1.0;
  const double force = plane_norm(q[0], q[1]);
  LawCandidates<2> best{disk_set(c), D, q, size > 0 ? 1 / size : (force > 0 ? c / force : 1.0), HUGE_VAL, {}};
  const Eigen::Matrix2d M = Eigen::Map<const Eigen::Matrix<double, 2, 2, Eigen::RowMajor>>(D);
  auto consider = [&](const Eigen::Vector2d& x) { best.consider({x[0], x[1]}); };
  best.consider({r[0], r[1]});
  best.consider({0, 0});
  if (force > 0) best.consider({-c * q[0] / force, -c * q[1] / force});
  solutions_on_the_rim<2>(M, q, c, false, consider);
  const bool stick = best.residual <= kSticks;
  if (!stick) {
    const auto [bottom, t1, t2] = cramer<2>(M, q, 0, scale);
    Quartic rim = product(t1, t1);
    const Quartic second = product(t2, t2), square = product(bottom, bottom);
    const double radius = c * scale;  // adj·q is in units of scale less than det
    for (int i = 0; i <= 4; ++i) rim[i] += second[i] - radius * radius * square[i];
    RootList roots;
    positive_roots(rim, 1.0, roots);
    positive_roots(bottom, 1.0, roots);
    if (c * scale > 0) positive_roots(rim, force / (c * scale) + 1, roots);
    for (int k = 0; k < roots.count; ++k)
      solutions_on_the_rim<2>(M + scale * roots.at[k] * Eigen::Matrix2d::Identity(), q, c, false, consider);
  }
  r[0] = best.r[0];
  r[1] = best.r[1];
  return stick ? ContactState::stick : ContactState::slide;
}

}  // namespace stickslip
