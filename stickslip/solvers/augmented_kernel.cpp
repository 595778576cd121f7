// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/augmented_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/solvers/box_exchange.hpp"

namespace stickslip {

namespace {
constexpr double kSatisfied = 1e-9;  // of the largest momentum, of the largest velocity: far above round-off, far below
                                     // what a singular matrix leaves
}  // namespace

void AugmentedKernel::assemble() {
  const Index n = p.A->size(), m = lo.size();
  std::vector<Eigen::Triplet<double, int>> entries;
  p.A->for_each([&](Index i, Index j, double value) {
    if (value != 0.0 || i == j) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), value);
  });
  for (Index k = 0; k < m; ++k) {
    const int row = static_cast<int>(n + k);
    for (SparseMatrix::InnerIterator entry(p.Wt, k); entry; ++entry) {
      entries.emplace_back(static_cast<int>(entry.col()), row, -entry.value());
      entries.emplace_back(row, static_cast<int>(entry.col()), entry.value());
    }
    entries.emplace_back(row, row, 1.0);
  }
  a.matrix.resize(n + m, n + m);
  a.matrix.setFromTriplets(entries.begin(), entries.end());
  a.lu.analyzePattern(a.matrix);
  a.x.resize(n + m);
  a.gap.resize(n);
  a.version = p.A_version;
}

bool AugmentedKernel::solve(const std::vector<BoxStatus>& status, Vector& r, Vector& u) {
  const Index n = p.A->size(), m = lo.size();
  if (a.version != p.A_version || a.x.size() != n + m) assemble();
  for (Index k = 0; k < m; ++k) {
    const bool stuck = status[k] == BoxStatus::between;
    const int row = static_cast<int>(n + k);
    for (SparseMatrix::InnerIterator entry(p.Wt, k); entry; ++entry)
      a.matrix.coeffRef(row, static_cast<int>(entry.col())) = stuck ? entry.value() : 0.0;
    a.matrix.coeffRef(row, row) = stuck ? 0.0 : 1.0;
    a.x[row] = stuck ? p.w[k] : box_exchange::bound(status[k], lo[k], hi[k]);
  }
  a.lu.factorize(a.matrix);
  if (a.lu.info() != Eigen::Success) return false;
  a.x.head(n) = p.g;
  a.x = a.lu.solve(a.x);
  r = a.x.tail(m);
  u = p.Wt * a.x.head(n) - p.w;
  for (Index k = 0; k < m; ++k) {
    if (status[k] == BoxStatus::between) {
      u[k] = 0;
    } else {
      r[k] = box_exchange::bound(status[k], lo[k], hi[k]);
    }
  }
  scale_r = std::max(r.lpNorm<Eigen::Infinity>(), p.g.lpNorm<Eigen::Infinity>());
  return a.x.allFinite();
}

double AugmentedKernel::u_size(Index k) const {
  double sum = std::abs(p.w[k]);
  for (SparseMatrix::InnerIterator entry(p.Wt, k); entry; ++entry) sum += std::abs(entry.value() * a.x[entry.col()]);
  return sum;
}

bool AugmentedKernel::finish(const std::vector<BoxStatus>& status, InclusionSolution& solution) {
  solution.v = a.x.head(p.A->size());
  p.A->product(solution.v, a.gap);
  const double size = std::max(a.gap.lpNorm<Eigen::Infinity>(), p.g.lpNorm<Eigen::Infinity>());
  a.gap -= p.g;
  double slip = 0, speed = 0, force = 0;
  for (Index k = 0; k < lo.size(); ++k) {
    double u = -p.w[k];
    for (SparseMatrix::InnerIterator entry(p.Wt, k); entry; ++entry) {
      a.gap[entry.col()] -= entry.value() * solution.r[k];
      force = std::max(force, std::abs(entry.value() * solution.r[k]));
      u += entry.value() * solution.v[entry.col()];
    }
    if (status[k] == BoxStatus::between) slip = std::max(slip, std::abs(u));
    speed = std::max(speed, u_size(k));
  }
  const double gap = std::max(a.gap.lpNorm<Eigen::Infinity>(), std::numeric_limits<double>::epsilon() * force);
  return gap <= kSatisfied * size && slip <= kSatisfied * speed;
}

std::string AugmentedKernel::singular_message() const {
  return "active_set: the step matrix is singular, or stuck directions depend on each other; use solver = default";
}

}  // namespace stickslip
