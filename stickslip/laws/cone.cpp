// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/cone.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "stickslip/common/plane_norm.hpp"

namespace stickslip {
namespace {

double tangential_norm(std::span<const double> z) { return z.size() == 2 ? std::abs(z[1]) : plane_norm(z[1], z[2]); }

/// J = value·I.
void set_diagonal(std::span<double> jacobian, std::size_t size, double value) {
  std::fill(jacobian.begin(), jacobian.end(), 0.0);
  for (std::size_t i = 0; i < size; ++i) jacobian[i * size + i] = value;
}

/// μ = 0: K is the normal half-line.
void half_line_jacobian(std::span<const double> z, std::span<double> jacobian) {
  set_diagonal(jacobian, z.size(), 0.0);
  jacobian[0] = z[0] >= 0.0 ? 1.0 : 0.0;
}

/// z seen from the facet in whose sector it lies, and the pieces of the projection.
struct ConePoint {
  enum class Piece { inside, facet, edge, apex } piece;
  Facet facet;
  double tangential;    ///< t
  double facet_height;  ///< n
  double edge_height;   ///< l
};

ConePoint locate(const Polygon& section, std::span<const double, 3> z) {
  using Piece = ConePoint::Piece;
  const double alpha = section.apothem, beta = section.half_edge;
  const Facet f = facet_towards(section, z[1], z[2]);
  const double a = f.n1 * z[1] + f.n2 * z[2];
  const double t = f.n1 * z[2] - f.n2 * z[1];
  const double n = (z[0] + alpha * a) / (1.0 + alpha * alpha);
  const double l = (z[0] + alpha * a + beta * std::abs(t)) / (1.0 + alpha * alpha + beta * beta);
  // z_N >= 0 is not implied when α z_N is zero. NaN falls through to the edge, which hands it on.
  Piece piece = Piece::edge;
  if (a <= alpha * z[0] && z[0] >= 0.0) {
    piece = Piece::inside;
  } else if (std::abs(t) <= beta * n && n >= 0.0) {
    piece = Piece::facet;
  } else if (l < 0.0) {
    piece = Piece::apex;
  }
  return {piece, f, t, n, l};
}

}  // namespace

void project_on_friction_cone(double mu, std::span<const double> z, std::span<double> p) {
  assert((z.size() == 2 || z.size() == 3) && p.size() == z.size());
  const double t = tangential_norm(z);
  if (t <= mu * z[0] && z[0] >= 0.0) {
    std::copy(z.begin(), z.end(), p.begin());
  } else if (mu * t <= -z[0]) {
    std::fill(p.begin(), p.end(), 0.0);
  } else {
    const double n = (z[0] + mu * t) / (1.0 + mu * mu);
    for (std::size_t i = 1; i < z.size(); ++i) p[i] = mu * n * (z[i] / t);
    p[0] = n;
  }
}

void friction_cone_jacobian(double mu, std::span<const double> z, std::span<double> jacobian) {
  const std::size_t size = z.size();
  assert((size == 2 || size == 3) && jacobian.size() == size * size);
  if (mu == 0.0) return half_line_jacobian(z, jacobian);
  const double t = tangential_norm(z);
  if (t <= mu * z[0] && z[0] >= 0.0) return set_diagonal(jacobian, size, 1.0);
  if (mu * t < -z[0]) return set_diagonal(jacobian, size, 0.0);
  // d n = (dz_N + μ e·dz_T)/(1+μ²),  d p_T = μ e dn + (μ n/t)(I - e eᵀ) dz_T,  e = z_T/t
  const double e1 = z[1] / t, e2 = size == 3 ? z[2] / t : 0.0;
  const double along = 1.0 / (1.0 + mu * mu);
  const double across = mu * along * (z[0] + mu * t) / t;
  const double ray[3] = {1.0, mu * e1, mu * e2};
  const double turn[3] = {0.0, -e2, e1};
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      jacobian[i * size + j] = along * ray[i] * ray[j] + (size == 3 ? across * turn[i] * turn[j] : 0.0);
    }
  }
}

void project_on_polygonal_cone(const Polygon& section, std::span<const double, 3> z, std::span<double, 3> p) {
  using Piece = ConePoint::Piece;
  const ConePoint at = locate(section, z);
  if (at.piece == Piece::inside) {
    std::copy(z.begin(), z.end(), p.begin());
    return;
  }
  double n = 0.0, t = 0.0;
  if (at.piece == Piece::facet) {
    n = at.facet_height;
    t = at.tangential;
  } else if (at.piece == Piece::edge) {
    n = at.edge_height;
    t = std::copysign(section.half_edge * n, at.tangential);
  }
  const double a = section.apothem * n;
  p[0] = n;
  p[1] = a * at.facet.n1 - t * at.facet.n2;
  p[2] = a * at.facet.n2 + t * at.facet.n1;
}

void polygonal_cone_jacobian(const Polygon& section, std::span<const double, 3> z, std::span<double, 9> jacobian) {
  using Piece = ConePoint::Piece;
  if (section.apothem == 0.0) return half_line_jacobian(z, jacobian);
  const ConePoint at = locate(section, z);
  if (at.piece == Piece::inside) return set_diagonal(jacobian, 3, 1.0);
  if (at.piece == Piece::apex) return set_diagonal(jacobian, 3, 0.0);
  const double alpha = section.apothem;
  const double beta = at.piece == Piece::edge ? std::copysign(section.half_edge, at.tangential) : 0.0;
  const double turn[3] = {0.0, -at.facet.n2, at.facet.n1};
  const double ray[3] = {1.0, alpha * at.facet.n1 + beta * turn[1], alpha * at.facet.n2 + beta * turn[2]};
  const double along = 1.0 / (1.0 + alpha * alpha + beta * beta);
  const double across = at.piece == Piece::facet ? 1.0 : 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      jacobian[3 * i + j] = along * ray[i] * ray[j] + across * turn[i] * turn[j];
    }
  }
}

}  // namespace stickslip
