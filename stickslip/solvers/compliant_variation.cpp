// SPDX-License-Identifier: Apache-2.0
// Slopes of the forces of compliant_contact.hpp along changes of their data.
#include <cmath>

#include "stickslip/solvers/compliant_pieces.hpp"

namespace stickslip {

namespace {

using Kind = SectionPiece::Kind;

/// dλ_el of (1) on its closed set, with what changes in b: `w.b` holds db + dK s. Leaves ds in w.rest.
void vary_normals(const CompliantProblem& p, const CompliantSolution& s, CompliantWorkspace& w, Vector& out) {
  const Index N = w.b.size();
  w.rest.setZero(N);
  if (N == 1) {
    const bool closed = s.pieces[0].closed;
    out[0] = closed ? w.b[0] : 0.0;
    w.rest[0] = closed ? 0.0 : -w.b[0] / p.K(0, 0);
    return;
  }
  Index open = 0;
  for (const ContactPieces& piece : s.pieces) open += !piece.closed;
  if (open > 0) {
    w.A.resize(open, open);
    w.x.resize(open);
    Index a = 0;
    for (Index i = 0; i < N; ++i) {
      if (s.pieces[static_cast<std::size_t>(i)].closed) continue;
      w.x[a] = -w.b[i];
      Index c = 0;
      for (Index j = 0; j < N; ++j)
        if (!s.pieces[static_cast<std::size_t>(j)].closed) w.A(a, c++) = p.K(i, j);
      ++a;
    }
    w.open_factor.compute(w.A);
    w.open_factor.solveInPlace(w.x);
    a = 0;
    for (Index i = 0; i < N; ++i)
      if (!s.pieces[static_cast<std::size_t>(i)].closed) w.rest[i] = w.x[a++];
  }
  for (Index i = 0; i < N; ++i)
    out[i] = s.pieces[static_cast<std::size_t>(i)].closed ? w.b[i] + p.K.row(i).head(N).dot(w.rest) : 0.0;
}

/// Right-hand sides of piece_rows() for a change dz of the trial force and dρ.
void vary_rows(const CompliantProblem& p, const CompliantSolution& s, const Vector& dz, const Vector& drho,
               CompliantWorkspace& w) {
  w.w.noalias() = w.metric * dz;
  w.x.resize(dz.size());
  for (std::size_t k = 0; k < p.points.size(); ++k) {
    const CompliantPoint& point = p.points[k];
    const Index f = point.first;
    const SectionPiece& piece = s.pieces[k].tangential;
    const double change = drho[static_cast<Index>(k)];
    if (point.tangents == 0) continue;
    if (piece.kind == Kind::inside) {
      w.x.segment(f, point.tangents) = w.w.segment(f, point.tangents);
    } else if (is_point(point, piece, s)) {
      const PlaneForce towards = direction_from_point(point, s);
      for (int c = 0; c < 2; ++c) w.x[f + c] = change * towards[static_cast<std::size_t>(c)];
    } else if (piece.kind == Kind::vertex && point.tangents == 1) {
      w.x[f] = piece.index == 0 ? change : -change;
    } else if (piece.kind == Kind::vertex) {
      for (int c = 0; c < 2; ++c) w.x[f + c] = change * point.section.vertex(piece.index)[static_cast<std::size_t>(c)];
    } else if (piece.kind == Kind::facet) {
      const PlaneForce& a = point.section.row(piece.index);
      w.x[f] = -a[1] * w.w[f] + a[0] * w.w[f + 1];
      w.x[f + 1] = change;
    } else {
      const double l1 = s.tangential[f], l2 = s.tangential[f + 1];
      w.x[f] = -l2 * w.w[f] + l1 * w.w[f + 1];
      w.x[f + 1] =
          std::copysign(std::hypot(l1, l2), s.normal[static_cast<Index>(k)]) * change;  // ρ dρ; ρ < 0 on kept pieces
    }
  }
}

/// What a change of the section itself adds to them: of V_k, or of a_k and τ_k with it.
void vary_sections(const CompliantProblem& p, const CompliantSolution& s, const Vector& section,
                   CompliantWorkspace& w) {
  for (std::size_t k = 0; k < p.points.size(); ++k) {
    const CompliantPoint& point = p.points[k];
    const Index f = point.first;
    const Kind kind = s.pieces[k].tangential.kind;
    if (point.tangents < 2) continue;
    if (kind == Kind::vertex) {
      w.x.segment<2>(f) += point.mu * s.normal[static_cast<Index>(k)] * section.segment<2>(f);
    } else if (kind == Kind::facet) {
      w.x[f] += section[f + 1] * s.slip[f] - section[f] * s.slip[f + 1];
      w.x[f + 1] -= section.segment<2>(f).dot(s.tangential.segment<2>(f));
    }
  }
}

}  // namespace

void vary(const CompliantProblem& p, const CompliantSolution& s, CompliantWorkspace& w, CompliantVariation& d) {
  const auto N = static_cast<Index>(p.points.size()), T = p.deformation.size();
  const bool own = N == 1 && p.points[0].own_normal;
  for (Vector* x : {&d.normal, &w.rho, &w.b}) x->resize(N);
  for (Vector* x : {&d.tangential, &d.rate, &w.z, &w.w}) x->resize(T);
  if (own) {
    d.normal[0] =
        s.pieces[0].closed ? -p.points[0].own_slope * d.gap[0] + (d.own_force.size() ? d.own_force[0] : 0.0) : 0;
    w.rest.setZero(N);
  } else {
    w.b.noalias() = -p.K.topLeftCorner(N, N) * d.gap;
    if (T > 0) w.b.noalias() += p.K.topRightCorner(N, T) * d.deformation;
    if (d.K.size() > 0) {
      w.b.noalias() += d.K.topLeftCorner(N, N) * (s.separation - p.gap);
      if (T > 0) w.b.noalias() += d.K.topRightCorner(N, T) * p.deformation;
    }
    vary_normals(p, s, w, d.normal);
  }
  w.b = w.rest.head(N) - d.gap;  // dδ_n
  for (Index i = 0; i < N; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const CompliantPoint& point = p.points[at];
    if (s.pieces[at].closed) d.normal[i] -= point.normal_damping * d.normal_velocity[i];
    if (s.pieces[at].closed && d.normal_damping.size() > 0) d.normal[i] -= d.normal_damping[i] * p.normal_velocity[i];
    if (s.pieces[at].pulls) d.normal[i] = 0;
    w.rho[i] = point.mu * d.normal[i] + (d.mu.size() > 0 ? d.mu[i] * s.normal[i] : 0.0);
  }
  if (T == 0) return;
  d.rate.noalias() = p.K.bottomRightCorner(T, T) * d.deformation;  // de for now
  if (!own) d.rate.noalias() += p.K.bottomLeftCorner(T, N) * w.b;
  if (d.K.size() > 0) {
    d.rate.noalias() += d.K.bottomRightCorner(T, T) * p.deformation;
    if (!own) d.rate.noalias() += d.K.bottomLeftCorner(T, N) * (s.separation - p.gap);
  }
  w.z = d.rate;
  w.z.noalias() -= p.C * d.velocity;
  if (d.C.size() > 0) w.z.noalias() += d.C * (s.slip - p.velocity);
  piece_rows(p, s, w);
  vary_rows(p, s, w.z, w.rho, w);
  if (d.section.size() > 0) vary_sections(p, s, d.section, w);
  if (N == 1 && T == 1) {
    d.tangential[0] = w.x[0] / w.A(0, 0);
  } else if (N == 1) {
    const double det = w.A(0, 0) * w.A(1, 1) - w.A(0, 1) * w.A(1, 0);
    d.tangential[0] = (w.A(1, 1) * w.x[0] - w.A(0, 1) * w.x[1]) / det;
    d.tangential[1] = (w.A(0, 0) * w.x[1] - w.A(1, 0) * w.x[0]) / det;
  } else {
    w.lu.compute(w.A);
    d.tangential = w.lu.solve(w.x);
  }
  d.rate = d.tangential - d.rate;
  if (d.C.size() > 0) d.rate.noalias() -= d.C * s.rate;
  d.rate = w.metric * d.rate;
  for (std::size_t k = 0; k < p.points.size(); ++k) {  // exact, where nothing slips
    const CompliantPoint& point = p.points[k];
    const ContactPieces& piece = s.pieces[k];
    if (piece.closed && !piece.pulls && piece.tangential.kind == Kind::inside)
      d.rate.segment(point.first, point.tangents) = -d.velocity.segment(point.first, point.tangents);
  }
}

}  // namespace stickslip
