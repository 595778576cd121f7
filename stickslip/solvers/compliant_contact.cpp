// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/compliant_contact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/compliant_pieces.hpp"

namespace stickslip {

namespace {

constexpr double kRoundOff = 16 * std::numeric_limits<double>::epsilon();  // of the terms of a sum
constexpr int kMostSweeps = 2000, kNewtonEvery = 4, kNewtonSteps = 12;

using Kind = SectionPiece::Kind;

void require_definite(const DenseMatrix& A, const char* what, const char* which, Index size) {
  if (A.rows() != size || A.cols() != size)
    throw InputError(
        fmt::format("{}: the {} matrix is {} x {}, but there are {} rows", what, which, A.rows(), A.cols(), size));
  const double largest = size > 0 ? A.cwiseAbs().maxCoeff() : 1;
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < i; ++j)
      if (!(std::abs(A(i, j) - A(j, i)) <= 1e-12 * largest))
        throw InputError(fmt::format("{}: the {} matrix is not symmetric: entry ({}, {}) is {:g}, ({}, {}) is {:g}",
                                     what, which, i + 1, j + 1, A(i, j), j + 1, i + 1, A(j, i)));
  if (size == 0) return;
  // Of the matrix with a diagonal of ones: axes may be as unlike as they are.
  if ((A.diagonal().array() > 0).all()) {
    const Vector root = A.diagonal().cwiseSqrt().cwiseInverse();
    const DenseMatrix alike = root.asDiagonal() * A * root.asDiagonal();
    if (Eigen::SelfAdjointEigenSolver<DenseMatrix>(alike, Eigen::EigenvaluesOnly).eigenvalues()[0] >
        static_cast<double>(size) * kRoundOff)
      return;
  }
  const double smallest = Eigen::SelfAdjointEigenSolver<DenseMatrix>(A, Eigen::EigenvaluesOnly).eigenvalues()[0];
  throw InputError(smallest > 0
                       ? fmt::format("{}: the {} matrix is singular but for round-off: its smallest eigenvalue "
                                     "is {:.3g}, its largest entry {:.3g}",
                                     what, which, smallest, largest)
                       : fmt::format("{}: the {} matrix is not positive definite; its smallest eigenvalue is "
                                     "{:.6g}",
                                     what, which, smallest));
}

void resize(const CompliantProblem& p, CompliantWorkspace& w, CompliantSolution& s) {
  const auto N = static_cast<Index>(p.points.size()), T = p.deformation.size();
  for (Vector* x : {&s.normal, &s.elastic_normal, &s.separation, &w.b, &w.rho}) x->resize(N);
  for (Vector* x : {&s.tangential, &s.elastic, &s.rate, &s.slip, &w.z, &w.x, &w.w, &w.rest}) x->resize(T);
  if (s.pieces.size() != p.points.size()) s.pieces.assign(p.points.size(), {});
  if (w.closed.size() != p.points.size()) w.closed.assign(p.points.size(), 0);
}

/// (1) with its closed set given: λ_n and s_n.
void normals_of_set(const CompliantProblem& p, CompliantWorkspace& w, CompliantSolution& s) {
  const Index N = w.b.size();
  Index open = 0;
  for (Index i = 0; i < N; ++i) open += !w.closed[static_cast<std::size_t>(i)];
  s.separation.setZero();
  if (open > 0) {
    w.A.resize(open, open);
    w.x.resize(open);
    Index a = 0;
    for (Index i = 0; i < N; ++i) {
      if (w.closed[static_cast<std::size_t>(i)]) continue;
      w.x[a] = -w.b[i];
      Index c = 0;
      for (Index j = 0; j < N; ++j)
        if (!w.closed[static_cast<std::size_t>(j)]) w.A(a, c++) = p.K(i, j);
      ++a;
    }
    w.open_factor.compute(w.A);
    w.open_factor.solveInPlace(w.x);
    a = 0;
    for (Index i = 0; i < N; ++i)
      if (!w.closed[static_cast<std::size_t>(i)]) s.separation[i] = w.x[a++];
  }
  for (Index i = 0; i < N; ++i)
    s.elastic_normal[i] = w.closed[static_cast<std::size_t>(i)] ? w.b[i] + p.K.row(i).head(N).dot(s.separation) : 0.0;
}

/// Exchanges all that are wrong while their number falls, then the first one alone.
bool coupled_normals(const CompliantProblem& p, CompliantWorkspace& w, CompliantSolution& s) {
  const Index N = w.b.size();
  Index best = N + 1;
  int patience = 10;
  for (long round = 0; round < 1000 + 20 * N; ++round) {
    normals_of_set(p, w, s);
    Index wrong = 0;
    const auto is_wrong = [&](Index i) {
      const double terms = std::abs(w.b[i]) + p.K.row(i).head(N).cwiseAbs().dot(s.separation.cwiseAbs());
      return w.closed[static_cast<std::size_t>(i)] ? s.elastic_normal[i] < -kRoundOff * terms
                                                   : s.separation[i] * p.K(i, i) < -kRoundOff * terms;
    };
    for (Index i = 0; i < N; ++i) wrong += is_wrong(i);
    if (wrong == 0) {
      s.elastic_normal = s.elastic_normal.cwiseMax(0.0);
      s.separation = s.separation.cwiseMax(0.0);
      return true;
    }
    const bool all = wrong < best || patience-- > 0;
    if (wrong < best) best = wrong, patience = 10;
    bool exchanged = false;
    for (Index i = 0; i < N; ++i)
      if (is_wrong(i) && (all || !exchanged)) {
        exchanged = true;
        auto& closed = w.closed[static_cast<std::size_t>(i)];
        closed = !closed;
        if (!all) break;
      }
  }
  return false;
}

bool solve_normals(const CompliantProblem& p, CompliantWorkspace& w, CompliantSolution& s) {
  const Index N = w.b.size(), T = p.deformation.size();
  w.b.noalias() = -p.K.topLeftCorner(N, N) * p.gap;
  if (T > 0) w.b.noalias() += p.K.topRightCorner(N, T) * p.deformation;
  const bool solved = coupled_normals(p, w, s);
  for (Index i = 0; i < N; ++i) {
    const CompliantPoint& point = p.points[static_cast<std::size_t>(i)];
    ContactPieces& piece = s.pieces[static_cast<std::size_t>(i)];
    piece.closed = s.elastic_normal[i] > 0;
    const double force = s.elastic_normal[i] - point.normal_damping * p.normal_velocity[i];
    piece.pulls = piece.closed && !(force > 0);
    s.normal[i] = piece.closed ? std::max(0.0, force) : 0.0;
    w.rho[i] = point.mu * s.normal[i];
  }
  return solved;
}

/// Block i of (2) with the others as they are in s.tangential. Returns the change of the block.
double project_block(const CompliantProblem& p, Index i, CompliantWorkspace& w, CompliantSolution& s) {
  const CompliantPoint& point = p.points[static_cast<std::size_t>(i)];
  ContactPieces& piece = s.pieces[static_cast<std::size_t>(i)];
  const Index f = point.first;
  const double rho = w.rho[i];
  if (point.tangents == 1) {
    double rest = 0;
    for (Index j = 0; j < w.z.size(); ++j)
      if (j != f) rest += w.metric(f, j) * (s.tangential[j] - w.z[j]);
    const double z = w.z[f] - rest / w.metric(f, f), before = s.tangential[f];
    piece.tangential = project_on_interval(rho, z, s.tangential[f]);
    return std::abs(s.tangential[f] - before);
  }
  const Metric G{w.metric(f, f), 0.5 * (w.metric(f, f + 1) + w.metric(f + 1, f)), w.metric(f + 1, f + 1)};
  PlaneForce rest{0, 0};
  for (Index j = 0; j < w.z.size(); ++j)
    if (j != f && j != f + 1)
      for (int c = 0; c < 2; ++c) rest[static_cast<std::size_t>(c)] += w.metric(f + c, j) * (s.tangential[j] - w.z[j]);
  const double det = G.g11 * G.g22 - G.g12 * G.g12;
  const PlaneForce z{w.z[f] - (G.g22 * rest[0] - G.g12 * rest[1]) / det,
                     w.z[f + 1] - (G.g11 * rest[1] - G.g12 * rest[0]) / det};
  PlaneForce l{};
  piece.tangential = point.section.project(rho, G, z, l);
  const double change = std::max(std::abs(l[0] - s.tangential[f]), std::abs(l[1] - s.tangential[f + 1]));
  s.tangential[f] = l[0];
  s.tangential[f + 1] = l[1];
  return change;
}

/// ν of every rim at the present forces.
void read_rims(const CompliantProblem& p, CompliantWorkspace& w, CompliantSolution& s) {
  s.slip.noalias() = w.metric * (s.tangential - w.z);
  for (std::size_t k = 0; k < p.points.size(); ++k) {
    SectionPiece& piece = s.pieces[k].tangential;
    const Index f = p.points[k].first;
    if (piece.kind != Kind::rim) continue;
    const double square = s.tangential.segment<2>(f).squaredNorm();
    if (square > 0) piece.nu = -s.slip.segment<2>(f).dot(s.tangential.segment<2>(f)) / square;
  }
}

/// Newton's method on the equations of the pieces; leaves the forces it found.
void polish(const CompliantProblem& p, CompliantWorkspace& w, CompliantSolution& s) {
  for (int step = 0; step < kNewtonSteps; ++step) {
    read_rims(p, w, s);
    piece_rows(p, s, w);
    w.x.resize(w.z.size());
    for (std::size_t k = 0; k < p.points.size(); ++k) {
      const CompliantPoint& point = p.points[k];
      const Index f = point.first;
      const double rho = w.rho[static_cast<Index>(k)];
      const SectionPiece& piece = s.pieces[k].tangential;
      if (point.tangents == 0) continue;
      const auto l = s.tangential.segment(f, point.tangents);
      const auto g = s.slip.segment(f, point.tangents);
      if (piece.kind == Kind::inside) {
        w.x.segment(f, point.tangents) = -g;
      } else if (is_point(point, piece, s)) {
        w.x.segment<2>(f).setZero();
      } else if (piece.kind == Kind::vertex && point.tangents == 1) {
        w.x[f] = (piece.index == 0 ? rho : -rho) - l[0];
      } else if (piece.kind == Kind::vertex) {
        for (int c = 0; c < 2; ++c)
          w.x[f + c] = rho * point.section.vertex(piece.index)[static_cast<std::size_t>(c)] - l[c];
      } else if (piece.kind == Kind::facet) {
        const PlaneForce& a = point.section.row(piece.index);
        w.x[f] = a[1] * g[0] - a[0] * g[1];
        w.x[f + 1] = rho - a[0] * l[0] - a[1] * l[1];
      } else {
        w.x[f] = l[1] * g[0] - l[0] * g[1];
        w.x[f + 1] = 0.5 * (rho * rho - l.squaredNorm());
      }
    }
    w.lu.compute(w.A);
    w.w = w.lu.solve(w.x);
    if (!w.w.allFinite()) return;
    s.tangential += w.w;
    if (w.w.lpNorm<Eigen::Infinity>() <= kRoundOff * (s.tangential.lpNorm<Eigen::Infinity>() + 1e-300)) return;
  }
}

bool solve_tangents(const CompliantProblem& p, CompliantWorkspace& w, CompliantSolution& s) {
  const auto N = static_cast<Index>(p.points.size());
  s.sweeps = 0;
  s.tangential = w.z;
  const double size = w.z.lpNorm<Eigen::Infinity>();
  double change = 0;
  while (s.sweeps < kMostSweeps) {
    change = 0;
    for (Index i = 0; i < N; ++i)
      if (p.points[static_cast<std::size_t>(i)].tangents > 0) change = std::max(change, project_block(p, i, w, s));
    if (!(change > kRoundOff * size)) return true;
    if (++s.sweeps % kNewtonEvery == 0) {
      w.rest = s.tangential;
      polish(p, w, s);
      if (!s.tangential.allFinite()) s.tangential = w.rest;
    }
  }
  return change <= 1e3 * kRoundOff * size;
}

}  // namespace

void validate(const CompliantProblem& p, const char* what) {
  const auto N = static_cast<Index>(p.points.size());
  require_definite(p.K, what, "stiffness", N + p.deformation.size());
  require_definite(p.C, what, "damping", p.deformation.size());
}

void solve(const CompliantProblem& p, CompliantWorkspace& w, CompliantSolution& s) {
  const auto N = static_cast<Index>(p.points.size()), T = p.deformation.size();
  resize(p, w, s);
  if (T > 0 && (w.damping_version != p.damping_version || w.metric.rows() != T)) {
    w.damping.compute(p.C);
    w.metric.setIdentity(T, T);
    w.damping.solveInPlace(w.metric);
    w.damping_version = p.damping_version;
  }
  if (N == 1) {
    solve_alone(p, w, s);
    return;
  }
  bool solved = solve_normals(p, w, s);
  w.b = s.separation - p.gap;  // δ_n
  if (T > 0) {
    s.elastic.noalias() = p.K.bottomLeftCorner(T, N) * w.b;
    s.elastic.noalias() += p.K.bottomRightCorner(T, T) * p.deformation;
    w.z.noalias() = -p.C * p.velocity;
    w.z += s.elastic;
    solved = solve_tangents(p, w, s) && solved;
    s.rate.noalias() = w.metric * (s.tangential - s.elastic);
    s.slip.noalias() = w.metric * (s.tangential - w.z);
    for (std::size_t k = 0; k < p.points.size(); ++k)  // exact, where nothing slips
      if (const Index f = p.points[k].first, n = p.points[k].tangents; s.pieces[k].tangential.kind == Kind::inside) {
        s.slip.segment(f, n).setZero();
        if (s.pieces[k].closed && !s.pieces[k].pulls) s.rate.segment(f, n) = -p.velocity.segment(f, n);
      }
  }
  s.energy = 0.5 * p.deformation.dot(s.elastic);
  for (Index i = 0; i < N; ++i) {
    const CompliantPoint& point = p.points[static_cast<std::size_t>(i)];
    s.energy += point.own_normal ? point.own_energy : 0.5 * w.b[i] * s.elastic_normal[i];
  }
  s.status = solved ? Status::success : Status::not_converged;
}

double elastic_normal_if_closed(const CompliantProblem& p, const CompliantSolution& s, std::size_t point) {
  const auto N = static_cast<Index>(p.points.size()), T = p.deformation.size(), at = static_cast<Index>(point);
  const auto b = [&](Index i) {
    return (T > 0 ? p.K.row(i).tail(T).dot(p.deformation) : 0.0) - p.K.row(i).head(N).dot(p.gap);
  };
  if (p.points[point].own_normal) return -p.gap[at];
  std::vector<Index> open;
  for (Index i = 0; i < N; ++i)
    if (i != at && !s.pieces[static_cast<std::size_t>(i)].closed) open.push_back(i);
  if (open.empty()) return b(at);
  Vector free(static_cast<Index>(open.size()));
  for (Index i = 0; i < free.size(); ++i) free[i] = -b(open[static_cast<std::size_t>(i)]);
  const Vector separation = p.K(open, open).llt().solve(free);
  return b(at) + p.K.row(at)(open).dot(separation);
}

}  // namespace stickslip
