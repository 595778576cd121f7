// SPDX-License-Identifier: Apache-2.0
// The transpose of compliant_variation.cpp, its lines in reverse order.
#include <cmath>

#include "stickslip/solvers/compliant_pieces.hpp"

namespace stickslip {

namespace {

using Kind = SectionPiece::Kind;

/// Of the right-hand sides of piece_rows(): from weights on them (w.x) to weights on C⁻¹ dz (w.w) and on dρ (w.rho).
void pull_back_rows(const CompliantProblem& p, const CompliantSolution& s, CompliantWorkspace& w) {
  w.w.setZero(p.deformation.size());
  w.rho.setZero(static_cast<Index>(p.points.size()));
  for (std::size_t k = 0; k < p.points.size(); ++k) {
    const CompliantPoint& point = p.points[k];
    const Index f = point.first;
    const SectionPiece& piece = s.pieces[k].tangential;
    double& rho = w.rho[static_cast<Index>(k)];
    if (point.tangents == 0) continue;
    if (piece.kind == Kind::inside) {
      w.w.segment(f, point.tangents) = w.x.segment(f, point.tangents);
    } else if (is_point(point, piece, s)) {
      const PlaneForce towards = direction_from_point(point, s);
      rho = towards[0] * w.x[f] + towards[1] * w.x[f + 1];
    } else if (piece.kind == Kind::vertex && point.tangents == 1) {
      rho = piece.index == 0 ? w.x[f] : -w.x[f];
    } else if (piece.kind == Kind::vertex) {
      for (int c = 0; c < 2; ++c) rho += w.x[f + c] * point.section.vertex(piece.index)[static_cast<std::size_t>(c)];
    } else if (piece.kind == Kind::facet) {
      const PlaneForce& a = point.section.row(piece.index);
      w.w[f] = -a[1] * w.x[f];
      w.w[f + 1] = a[0] * w.x[f];
      rho = w.x[f + 1];
    } else {
      const double l1 = s.tangential[f], l2 = s.tangential[f + 1];
      w.w[f] = -l2 * w.x[f];
      w.w[f + 1] = l1 * w.x[f];
      rho = std::copysign(std::hypot(l1, l2), s.normal[static_cast<Index>(k)]) * w.x[f + 1];
    }
  }
}

/// From weights on them to those on the sections.
void pull_back_sections(const CompliantProblem& p, const CompliantSolution& s, const Vector& x, Vector& section) {
  section.setZero(x.size());
  for (std::size_t k = 0; k < p.points.size(); ++k) {
    const CompliantPoint& point = p.points[k];
    const Index f = point.first;
    const Kind kind = s.pieces[k].tangential.kind;
    if (point.tangents < 2) continue;
    if (kind == Kind::vertex) {
      section.segment<2>(f) = point.mu * s.normal[static_cast<Index>(k)] * x.segment<2>(f);
    } else if (kind == Kind::facet) {
      section[f] = -s.slip[f + 1] * x[f] - s.tangential[f] * x[f + 1];
      section[f + 1] = s.slip[f] * x[f] - s.tangential[f + 1] * x[f + 1];
    }
  }
}

/// w.x = A⁻ᵀ x of the rows of the pieces.
void solve_rows(const CompliantProblem& p, const Vector& x, CompliantWorkspace& w) {
  const auto N = static_cast<Index>(p.points.size()), T = x.size();
  w.x.resize(T);
  if (N == 1 && T == 1) {
    w.x[0] = x[0] / w.A(0, 0);
  } else if (N == 1) {
    const double det = w.A(0, 0) * w.A(1, 1) - w.A(0, 1) * w.A(1, 0);
    w.x[0] = (w.A(1, 1) * x[0] - w.A(1, 0) * x[1]) / det;
    w.x[1] = (w.A(0, 0) * x[1] - w.A(0, 1) * x[0]) / det;
  } else {
    w.lu.compute(w.A.transpose());
    w.x = w.lu.solve(x);
  }
}

/// From weights on λ_T (c.tangential) and δ_T' to those on ρ (w.rho), δ_n (w.rest) and the tangential data.
void pull_back_tangents(const CompliantProblem& p, const CompliantSolution& s, bool own, CompliantWorkspace& w,
                        CompliantCotangent& c) {
  const auto N = static_cast<Index>(p.points.size()), T = p.deformation.size();
  const Vector rate = w.metric * c.rate, force = c.tangential + rate;
  w.z.resize(T);
  piece_rows(p, s, w);
  solve_rows(p, force, w);
  pull_back_rows(p, s, w);
  pull_back_sections(p, s, w.x, c.section);
  w.z.noalias() = w.metric * w.w;
  const Vector elastic = w.z - rate;
  c.velocity.noalias() = -p.C * w.z;
  c.C.noalias() = w.z * (s.slip - p.velocity).transpose() - rate * s.rate.transpose();
  c.deformation.noalias() = p.K.bottomRightCorner(T, T) * elastic;
  c.K.bottomRightCorner(T, T).noalias() = elastic * p.deformation.transpose();
  if (own) return;
  w.rest.noalias() = p.K.topRightCorner(N, T) * elastic;
  c.K.bottomLeftCorner(T, N).noalias() = elastic * (s.separation - p.gap).transpose();
}

/// From weights on λ_el (c.normal) and on the separations (w.rest) to those on b of (1), into w.b.
void pull_back_normals(const CompliantProblem& p, const CompliantSolution& s, CompliantWorkspace& w,
                       const Vector& normal) {
  const Index N = normal.size();
  w.b.setZero(N);
  Index open = 0;
  for (Index i = 0; i < N; ++i) {
    if (s.pieces[static_cast<std::size_t>(i)].closed)
      w.b[i] = normal[i];
    else
      ++open;
  }
  if (open == 0) return;
  w.A.resize(open, open);
  w.x.resize(open);
  Index a = 0;
  for (Index i = 0; i < N; ++i) {
    if (s.pieces[static_cast<std::size_t>(i)].closed) continue;
    w.x[a] = -w.rest[i];
    Index column = 0;
    for (Index j = 0; j < N; ++j)
      if (s.pieces[static_cast<std::size_t>(j)].closed)
        w.x[a] -= p.K(i, j) * normal[j];
      else
        w.A(a, column++) = p.K(i, j);
    ++a;
  }
  w.open_factor.compute(w.A);
  w.open_factor.solveInPlace(w.x);
  a = 0;
  for (Index i = 0; i < N; ++i)
    if (!s.pieces[static_cast<std::size_t>(i)].closed) w.b[i] = w.x[a++];
}

}  // namespace

void pull_back(const CompliantProblem& p, const CompliantSolution& s, CompliantWorkspace& w, CompliantCotangent& c) {
  const auto N = static_cast<Index>(p.points.size()), T = p.deformation.size();
  const bool own = N == 1 && p.points[0].own_normal;
  for (Vector* x : {&c.gap, &c.normal_velocity, &c.mu, &c.normal_damping, &c.own_force, &w.rest, &w.rho}) x->setZero(N);
  for (Vector* x : {&c.deformation, &c.velocity, &c.section}) x->setZero(T);
  c.K.setZero(N + T, N + T);
  c.C.setZero(T, T);
  if (T > 0) pull_back_tangents(p, s, own, w, c);
  Vector normal(N);
  for (Index i = 0; i < N; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const CompliantPoint& point = p.points[at];
    normal[i] = s.pieces[at].pulls ? 0.0 : c.normal[i] + point.mu * w.rho[i];
    c.mu[i] = s.normal[i] * w.rho[i];
    if (!s.pieces[at].closed) continue;
    c.normal_velocity[i] = -point.normal_damping * normal[i];
    c.normal_damping[i] = -p.normal_velocity[i] * normal[i];
  }
  if (own) {
    if (!s.pieces[0].closed) return;
    c.gap[0] = -p.points[0].own_slope * normal[0];
    c.own_force[0] = normal[0];
    return;
  }
  pull_back_normals(p, s, w, normal);
  c.gap.noalias() = -w.rest - p.K.topLeftCorner(N, N) * w.b;
  c.K.topLeftCorner(N, N).noalias() = w.b * (s.separation - p.gap).transpose();
  if (T == 0) return;
  c.deformation.noalias() += p.K.bottomLeftCorner(T, N) * w.b;
  c.K.topRightCorner(N, T).noalias() = w.b * p.deformation.transpose();
}

}  // namespace stickslip
