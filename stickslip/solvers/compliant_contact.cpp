// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/compliant_contact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

constexpr double kRoundOff = 16 * std::numeric_limits<double>::epsilon();  // of the terms of a sum
constexpr int kMostSweeps = 2000, kNewtonEvery = 4, kNewtonSteps = 12;

using Kind = SectionPiece::Kind;

void require_definite(const DenseMatrix& A, const char* what, const char* which, Index size) {
  if (A.rows() != size || A.cols() != size)
    throw InputError(fmt::format("{}: the {} matrix is {} x {}, but there are {} rows", what, which, A.rows(), A.cols(),
                                 size));
  const double largest = size > 0 ? A.cwiseAbs().maxCoeff() : 1;
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < i; ++j)
      if (!(std::abs(A(i, j) - A(j, i)) <= 1e-12 * largest))
        throw InputError(fmt::format("{}: the {} matrix is not symmetric: entry ({}, {}) is {:g}, ({}, {}) is {:g}",
                                     what, which, i + 1, j + 1, A(i, j), j + 1, i + 1, A(j, i)));
  if (size == 0) return;
  const Eigen::SelfAdjointEigenSolver<DenseMatrix> eigen(A, Eigen::EigenvaluesOnly);
  const double smallest = eigen.eigenvalues()[0];
  if (!(smallest > size * kRoundOff * largest))
    throw InputError(fmt::format("{}: the {} matrix is not positive definite; its smallest eigenvalue is {:.6g}", what,
                                 which, smallest));
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
    s.elastic_normal[i] =
        w.closed[static_cast<std::size_t>(i)] ? w.b[i] + p.K.row(i).head(N).dot(s.separation) : 0.0;
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
  bool solved = true;
  if (N == 1 && p.points[0].own_normal) {
    s.elastic_normal[0] = p.points[0].own_force;
    s.separation[0] = std::max(0.0, p.gap[0]);
    w.closed[0] = p.points[0].own_force > 0;
  } else if (N == 1) {
    w.closed[0] = w.b[0] > 0;
    s.elastic_normal[0] = std::max(0.0, w.b[0]);
    s.separation[0] = w.closed[0] ? 0.0 : -w.b[0] / p.K(0, 0);
  } else {
    solved = coupled_normals(p, w, s);
  }
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
  const bool alone = p.points.size() == 1;
  if (point.tangents == 1) {
    double rest = 0;
    if (!alone)
      for (Index j = 0; j < w.z.size(); ++j)
        if (j != f) rest += w.metric(f, j) * (s.tangential[j] - w.z[j]);
    const double z = w.z[f] - rest / w.metric(f, f), before = s.tangential[f];
    piece.tangential = project_on_interval(rho, z, s.tangential[f]);
    return std::abs(s.tangential[f] - before);
  }
  const Metric G{w.metric(f, f), 0.5 * (w.metric(f, f + 1) + w.metric(f + 1, f)), w.metric(f + 1, f + 1)};
  PlaneForce rest{0, 0};
  if (!alone)
    for (Index j = 0; j < w.z.size(); ++j)
      if (j != f && j != f + 1)
        for (int c = 0; c < 2; ++c)
          rest[static_cast<std::size_t>(c)] += w.metric(f + c, j) * (s.tangential[j] - w.z[j]);
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

/// The rim of an empty cone.
bool is_point(const CompliantPoint& point, const SectionPiece& piece, const CompliantSolution& s) {
  return piece.kind == Kind::rim && s.tangential[point.first] == 0 && s.tangential[point.first + 1] == 0;
}

/// Rows of the equations that hold on the pieces: A dl = (given by the caller per row kind).
/// For every tangent row: `inside` metric row; else per block the two rows of the piece.
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
  if (N == 1) {
    project_block(p, 0, w, s);
    return true;
  }
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
  bool solved = solve_normals(p, w, s);
  w.b = s.separation - p.gap;  // δ_n
  if (T > 0) {
    if (w.damping_version != p.damping_version || w.metric.rows() != T) {
      w.damping.compute(p.C);
      w.metric.setIdentity(T, T);
      w.damping.solveInPlace(w.metric);
      w.damping_version = p.damping_version;
    }
    s.elastic.noalias() = p.K.bottomLeftCorner(T, N) * w.b;
    if (N == 1 && p.points[0].own_normal) s.elastic.setZero();
    s.elastic.noalias() += p.K.bottomRightCorner(T, T) * p.deformation;
    w.z.noalias() = -p.C * p.velocity;
    w.z += s.elastic;
    solved = solve_tangents(p, w, s) && solved;
    s.rate.noalias() = w.metric * (s.tangential - s.elastic);
    s.slip.noalias() = w.metric * (s.tangential - w.z);
    for (std::size_t k = 0; k < p.points.size(); ++k)  // exact, where nothing slips
      if (s.pieces[k].tangential.kind == Kind::inside)
        s.slip.segment(p.points[k].first, p.points[k].tangents).setZero();
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

namespace {

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
      w.x.segment<2>(f).setZero();
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
      w.x[f + 1] = std::hypot(l1, l2) * change;
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
    d.normal[0] = s.pieces[0].closed ? -p.points[0].own_slope * d.gap[0] + (d.own_force.size() ? d.own_force[0] : 0.0) : 0;
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
}

}  // namespace stickslip
