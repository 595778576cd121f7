// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/single_law.hpp"

#include <cmath>

#include "stickslip/solvers/one_law.hpp"

namespace stickslip {

namespace {
constexpr int kRow = SingleLaw::kCoordinates;

void solve_factored(int n, const double* lu, double* x) {
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < i; ++j) x[i] -= lu[kRow * i + j] * x[j];
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) x[i] -= lu[kRow * i + j] * x[j];
    x[i] *= lu[kRow * i + i];  // inverse pivots
  }
}
}  // namespace

bool SingleLaw::load(const PrimalProblem& problem) {
  n_ = static_cast<int>(problem.A->size());
  set_ = problem.sets[0];
  size_ = set_.size;
  lu_.fill(0);
  problem.A->for_each([&](Index i, Index j, double value) { lu_[kRow * i + j] = value; });
  for (int k = 0; k < n_; ++k) {
    if (!(lu_[kRow * k + k] > 0)) return false;
    const double inverse = lu_[kRow * k + k] = 1 / lu_[kRow * k + k];
    for (int i = k + 1; i < n_; ++i) {
      const double factor = lu_[kRow * i + k] *= inverse;
      for (int j = k + 1; j < n_; ++j) lu_[kRow * i + j] -= factor * lu_[kRow * k + j];
    }
  }
  direction_.fill(0);
  for (int c = 0; c < size_; ++c)
    for (SparseMatrix::InnerIterator entry(problem.Wt, c); entry; ++entry)
      direction_[kRow * c + entry.col()] += entry.value();
  response_ = direction_;
  for (int c = 0; c < size_; ++c) solve_factored(n_, lu_.data(), response_.data() + kRow * c);
  for (int a = 0; a < size_; ++a)
    for (int c = 0; c < size_; ++c) {
      double sum = 0;
      for (int i = 0; i < n_; ++i) sum += direction_[kRow * a + i] * response_[kRow * c + i];
      D_[size_ * a + c] = sum;
    }
  if (set_.kind == SetKind::friction_cone && size_ == 3) contact_ = contact_block(set_.limit, D_.data());
  version_ = problem.A_version;
  return true;
}

bool SingleLaw::solve(const PrimalProblem& problem, InclusionSolution& solution) {
  const Set& set = problem.sets[0];
  if (version_ != problem.A_version || n_ != problem.A->size() || set.kind != set_.kind || set.size != set_.size ||
      set.limit != set_.limit || set.facets != set_.facets) {
    version_ = kNoVersion;
    if (!load(problem)) return false;
  }
  std::array<double, kCoordinates> x;
  for (int i = 0; i < n_; ++i) x[i] = problem.g[i];
  solve_factored(n_, lu_.data(), x.data());
  std::array<double, 3> q, r{};
  for (int c = 0; c < size_; ++c) {
    double sum = -problem.w[c];
    for (int i = 0; i < n_; ++i) sum += direction_[kRow * c + i] * x[i];
    q[c] = sum;
    if (solution.r.size() == size_) r[c] = solution.r[c];
    if (!std::isfinite(sum)) return false;
  }
  ContactState state = ContactState::slide;
  if (set_.kind == SetKind::friction_cone && size_ == 3) {
    state = solve_contact(contact_, q.data(), r.data(), slip_);
    if (state == ContactState::none) return false;
  } else if (!solve_one_law(set_, D_.data(), q.data(), r.data())) {
    return false;
  }
  solution.r.resize(size_);
  solution.u.resize(size_);
  solution.v.resize(n_);
  for (int c = 0; c < size_; ++c) {
    double sum = q[c];
    for (int j = 0; j < size_; ++j) sum += D_[size_ * c + j] * r[j];
    solution.r[c] = r[c];
    solution.u[c] = sum;
  }
  // What the state says is exact, whatever round-off left in D r + q.
  if (state == ContactState::stick) solution.u.setZero();
  if (is_cone(set_.kind) && r[0] > 0) solution.u[0] = 0;
  for (int i = 0; i < n_; ++i) {
    double sum = x[i];
    for (int c = 0; c < size_; ++c) sum += response_[kRow * c + i] * r[c];
    solution.v[i] = sum;
  }
  solution.status = Status::success;
  solution.solver = "one_law";
  solution.message.clear();
  solution.iterations = 1;
  return true;
}

}  // namespace stickslip
