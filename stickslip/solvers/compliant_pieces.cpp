// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/compliant_pieces.hpp"

#include <cmath>

namespace stickslip {

namespace {
using Kind = SectionPiece::Kind;
}

bool is_point(const CompliantPoint& point, const SectionPiece& piece, const CompliantSolution& s) {
  return piece.kind == Kind::rim && s.tangential[point.first] == 0 && s.tangential[point.first + 1] == 0;
}

PlaneForce direction_from_point(const CompliantPoint& point, const CompliantSolution& s) {
  const double s1 = s.slip[point.first], s2 = s.slip[point.first + 1], speed = std::hypot(s1, s2);
  if (!(speed > 0)) return {0, 0};
  return {-s1 / speed, -s2 / speed};
}

void piece_rows(const CompliantProblem& p, const CompliantSolution& s, CompliantWorkspace& w) {
  const Index T = w.z.size();
  w.A.setZero(T, T);
  for (std::size_t k = 0; k < p.points.size(); ++k) {
    const CompliantPoint& point = p.points[k];
    const Index f = point.first;
    const SectionPiece& piece = s.pieces[k].tangential;
    for (int c = 0; c < point.tangents; ++c) w.A.row(f + c) = w.metric.row(f + c);
    if (piece.kind == Kind::inside || point.tangents == 0) continue;
    if (piece.kind == Kind::vertex || is_point(point, piece, s)) {
      for (int c = 0; c < point.tangents; ++c) {
        w.A.row(f + c).setZero();
        w.A(f + c, f + c) = 1;
      }
    } else if (piece.kind == Kind::facet) {
      const PlaneForce& a = point.section.row(piece.index);
      w.A.row(f) = -a[1] * w.metric.row(f) + a[0] * w.metric.row(f + 1);  // along τ = (-a_2, a_1)
      w.A.row(f + 1).setZero();
      w.A(f + 1, f) = a[0];
      w.A(f + 1, f + 1) = a[1];
    } else {
      const double l1 = s.tangential[f], l2 = s.tangential[f + 1];
      w.A.row(f) = -l2 * w.metric.row(f) + l1 * w.metric.row(f + 1);
      w.A(f, f) -= piece.nu * l2;
      w.A(f, f + 1) += piece.nu * l1;
      w.A.row(f + 1).setZero();
      w.A(f + 1, f) = l1;
      w.A(f + 1, f + 1) = l2;
    }
  }
}

}  // namespace stickslip
