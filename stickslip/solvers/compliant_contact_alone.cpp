// SPDX-License-Identifier: Apache-2.0
// A contact that is coupled to no other: most contacts are, and there are many of them. Plain numbers, no loops over
// matrices of unknown size.
#include <algorithm>
#include <cmath>

#include "stickslip/solvers/compliant_pieces.hpp"

namespace stickslip {

namespace {

using Kind = SectionPiece::Kind;

constexpr int kRimRounds = 30;       // of Newton's method for ν
constexpr double kRimError = 4e-16;  // of |l|: round-off

/// δ_n of the contact; its normal forces and pieces.
double solve_normal(const CompliantProblem& p, double b, CompliantSolution& s) {
  const CompliantPoint& point = p.points[0];
  ContactPieces& piece = s.pieces[0];
  const double gap = p.gap[0], elastic = point.own_normal ? point.own_force : b;
  if (!p.keep_pieces) piece.closed = elastic > 0;
  s.elastic_normal[0] = piece.closed ? elastic : 0.0;
  s.separation[0] = piece.closed ? 0.0 : point.own_normal ? std::max(0.0, gap) : -b / p.K(0, 0);
  const double force = s.elastic_normal[0] - point.normal_damping * p.normal_velocity[0];
  if (!p.keep_pieces) piece.pulls = piece.closed && !(force > 0);
  s.normal[0] = piece.closed && !piece.pulls ? force : 0.0;
  return s.separation[0] - gap;
}

/// l with G (l - z) + ν l = 0, |l| = |ρ|: the rim, from outside and inside (ν above -λ_min of G), and its smooth
/// continuation to ρ < 0, where ν has come through infinity and lies below -λ_max. `nu`: where to begin.
PlaneForce on_the_rim(double rho, const Metric& G, const PlaneForce& z, double nu) {
  const double size = std::hypot(z[0], z[1]);
  if (!(size > 0) || rho == 0) return {0, 0};
  if (G.g12 == 0 && G.g11 == G.g22) return {rho * z[0] / size, rho * z[1] / size};
  const double z1 = G.g11 * z[0] + G.g12 * z[1], z2 = G.g12 * z[0] + G.g22 * z[1], radius = std::abs(rho);
  const double mean = 0.5 * (G.g11 + G.g22), spread = std::hypot(0.5 * (G.g11 - G.g22), G.g12);
  if (rho > 0 ? nu <= spread - mean : nu >= -mean - spread) nu = std::hypot(z1, z2) / rho - mean;
  PlaneForce l{};
  for (int round = 0; round < kRimRounds; ++round) {
    const double a = G.g11 + nu, d = G.g22 + nu, det = a * d - G.g12 * G.g12;
    l = {(d * z1 - G.g12 * z2) / det, (a * z2 - G.g12 * z1) / det};
    const double length = std::hypot(l[0], l[1]);
    if (std::abs(length - radius) <= kRimError * radius) break;
    // |l(ν)| falls like 1/ν: its inverse is nearly straight.
    const double slope = -(l[0] * (d * l[0] - G.g12 * l[1]) + l[1] * (a * l[1] - G.g12 * l[0])) / (det * length);
    nu -= length / slope * (length / radius - 1);
  }
  return l;
}

/// l on the piece that is given.
PlaneForce on_piece(const CompliantPoint& point, const SectionPiece& piece, double rho, const Metric& G,
                    const PlaneForce& z) {
  if (piece.kind == Kind::inside) return z;
  if (piece.kind == Kind::vertex) {
    const PlaneForce& corner = point.section.vertex(piece.index);
    return {rho * corner[0], rho * corner[1]};
  }
  if (piece.kind == Kind::rim) return on_the_rim(rho, G, z, piece.nu);
  const PlaneForce& a = point.section.row(piece.index);  // z + C a (ρ - a·z)/(aᵀ C a)
  const PlaneForce Ca{G.g22 * a[0] - G.g12 * a[1], G.g11 * a[1] - G.g12 * a[0]};
  const double way = (rho - a[0] * z[0] - a[1] * z[1]) / (a[0] * Ca[0] + a[1] * Ca[1]);
  return {z[0] + way * Ca[0], z[1] + way * Ca[1]};
}

void solve_tangent(const CompliantProblem& p, double rho, double z, CompliantSolution& s) {
  SectionPiece& piece = s.pieces[0].tangential;
  if (!p.keep_pieces) {
    piece = project_on_interval(rho, z, s.tangential[0]);
  } else {
    s.tangential[0] = piece.kind == Kind::inside ? z : piece.index == 0 ? rho : -rho;
  }
}

void solve_plane(const CompliantProblem& p, double rho, const CompliantWorkspace& w, CompliantSolution& s) {
  SectionPiece& piece = s.pieces[0].tangential;
  const Metric G{w.metric(0, 0), 0.5 * (w.metric(0, 1) + w.metric(1, 0)), w.metric(1, 1)};
  const PlaneForce z{w.z[0], w.z[1]};
  PlaneForce l{};
  if (p.keep_pieces) {
    l = on_piece(p.points[0], piece, rho, G, z);
  } else {
    piece = p.points[0].section.project(rho, G, z, l);
  }
  s.tangential[0] = l[0];
  s.tangential[1] = l[1];
}

/// e, z, λ_T and the rates of the tangents.
void solve_tangents(const CompliantProblem& p, double delta_n, CompliantWorkspace& w, CompliantSolution& s) {
  const CompliantPoint& point = p.points[0];
  const Index T = point.tangents;
  ContactPieces& piece = s.pieces[0];
  for (Index c = 0; c < T; ++c) {
    double e = point.own_normal ? 0.0 : p.K(1 + c, 0) * delta_n, damped = 0;
    for (Index j = 0; j < T; ++j) {
      e += p.K(1 + c, 1 + j) * p.deformation[j];
      damped += p.C(c, j) * p.velocity[j];
    }
    s.elastic[c] = e;
    w.z[c] = e - damped;
  }
  if (p.keep_pieces && (!piece.closed || piece.pulls)) {
    s.tangential.setZero();
  } else {
    T == 1 ? solve_tangent(p, w.rho[0], w.z[0], s) : solve_plane(p, w.rho[0], w, s);
  }
  // Exact, where nothing slips: of λ_T - e a small C leaves round-off.
  const bool inside = piece.tangential.kind == Kind::inside;
  for (Index c = 0; c < T; ++c) {
    double rate = 0, slip = 0;
    for (Index j = 0; j < T; ++j) {
      rate += w.metric(c, j) * (s.tangential[j] - s.elastic[j]);
      slip += w.metric(c, j) * (s.tangential[j] - w.z[j]);
    }
    s.rate[c] = inside && piece.closed && !piece.pulls ? -p.velocity[c] : rate;
    s.slip[c] = inside ? 0.0 : slip;
  }
  if (p.keep_pieces && piece.tangential.kind == Kind::rim) {
    const double square = s.tangential.squaredNorm();
    if (square > 0) piece.tangential.nu = -s.slip.dot(s.tangential) / square;
  }
}

}  // namespace

SectionPiece piece_by_rate(const CompliantProblem& p, const CompliantWorkspace& w, const CompliantSolution& s,
                           const SectionPiece& before, const PlaneForce& rate) {
  const CompliantPoint& point = p.points[0];
  const double rho = w.rho[0];
  PlaneForce slip{}, l{};
  for (Index c = 0; c < point.tangents; ++c) {
    const auto i = static_cast<std::size_t>(c);
    slip[i] = rate[i] + p.velocity[c];
    l[i] = s.elastic[c];
    for (Index j = 0; j < point.tangents; ++j) l[i] += p.C(c, j) * rate[static_cast<std::size_t>(j)];
  }
  if (point.tangents == 1) {
    const double force = before.index == 0 ? rho : -rho;
    return project_on_interval(rho, force - p.C(0, 0) * slip[0], l[0]);
  }
  const Metric G{w.metric(0, 0), 0.5 * (w.metric(0, 1) + w.metric(1, 0)), w.metric(1, 1)};
  l = on_piece(point, before, rho, {1, 0, 1}, l);
  return point.section.project(
      rho, G, {l[0] - p.C(0, 0) * slip[0] - p.C(0, 1) * slip[1], l[1] - p.C(1, 0) * slip[0] - p.C(1, 1) * slip[1]}, l);
}

void solve_alone(const CompliantProblem& p, CompliantWorkspace& w, CompliantSolution& s) {
  const CompliantPoint& point = p.points[0];
  double b = -p.K(0, 0) * p.gap[0];
  for (Index c = 0; c < point.tangents; ++c) b += p.K(0, 1 + c) * p.deformation[c];
  w.b[0] = b;
  const double delta_n = solve_normal(p, b, s);
  w.closed[0] = s.pieces[0].closed;
  w.rho[0] = point.mu * s.normal[0];
  s.sweeps = 0;
  if (point.tangents > 0) solve_tangents(p, delta_n, w, s);
  s.energy = point.own_normal ? point.own_energy : 0.5 * delta_n * s.elastic_normal[0];
  for (Index c = 0; c < point.tangents; ++c) s.energy += 0.5 * p.deformation[c] * s.elastic[c];
  s.status = Status::success;
}

}  // namespace stickslip
