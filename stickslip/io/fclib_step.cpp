// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/fclib_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

/// Throws InputError for what FCLIB cannot say.
void require_contacts_alone(const StepProblem& step) {
  const auto& sets = step.problem.sets;
  for (std::size_t k = 0; k < step.friction_laws; ++k)
    if (sets[k].kind == SetKind::line || sets[k].limit != 0)
      throw InputError(
          fmt::format("the step to t = {:.9g} s has a friction law beside its contacts, which FCLIB has no place for; "
                      "set its limit "
                      "to 0, or leave it out of the model",
                      step.end));
  for (std::size_t k = step.friction_laws; k < sets.size(); ++k)
    if (sets[k].kind != SetKind::friction_cone && sets[k].kind != SetKind::half_line)
      throw InputError(fmt::format(
          "contact point {} in the step to t = {:.9g} s has a section with corners, which FCLIB does not know; leave "
          "'cone' of the contact out: it is round then",
          k - step.friction_laws + 1, step.end));
}

SparseMatrix from_triplets(Index rows, Index columns, const std::vector<Eigen::Triplet<double>>& entries) {
  SparseMatrix matrix(rows, columns);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

}  // namespace

FclibStep fclib_step(const StepProblem& step) {
  require_contacts_alone(step);
  const PrimalProblem& from = step.problem;
  const auto& sets = from.sets;
  const Index n = from.A->size();
  const auto contacts = static_cast<Index>(step.contacts());
  FclibStep out;
  GlobalContactProblem& to = out.problem;
  to.dimension = 2;
  for (std::size_t k = step.friction_laws; k < sets.size(); ++k) to.dimension = std::max(to.dimension, sets[k].size);
  const Index d = to.dimension;
  to.M = from.A->to_sparse();
  to.f = from.g;
  to.w.setZero(d * contacts);
  to.mu.setZero(contacts);
  out.solution.r.setZero(d * contacts);
  out.solution.u.setZero(d * contacts);
  out.solution.v = step.solution.v;
  std::vector<Eigen::Triplet<double>> entries;
  Index row = 0;
  for (std::size_t k = 0; k < step.friction_laws; ++k) row += sets[k].size;
  for (Index i = 0; i < contacts; ++i) {
    const Set& set = sets[step.friction_laws + static_cast<std::size_t>(i)];
    if (set.kind == SetKind::friction_cone) to.mu[i] = set.limit;
    for (int c = 0; c < set.size; ++c, ++row) {
      double u = -from.w[row];
      for (SparseMatrix::InnerIterator entry(from.Wt, row); entry; ++entry) {
        entries.emplace_back(static_cast<int>(entry.col()), static_cast<int>(d * i + c), entry.value());
        if (out.solution.v.size() == n) u += entry.value() * out.solution.v[entry.col()];
      }
      to.w[d * i + c] = -from.w[row];
      out.solution.u[d * i + c] = u;
      if (row < step.solution.r.size()) out.solution.r[d * i + c] = step.solution.r[row];
    }
  }
  to.H = from_triplets(n, d * contacts, entries);
  if (!step.G) return out;
  entries.clear();
  for (Index i = 0; i < step.G->rows(); ++i)
    for (Index j = 0; j < step.G->cols(); ++j)
      if ((*step.G)(i, j) != 0) entries.emplace_back(static_cast<int>(j), static_cast<int>(i), (*step.G)(i, j));
  to.G = from_triplets(n, step.G->rows(), entries);
  to.b = -*step.a;
  out.solution.l = *step.constraint_impulse;
  return out;
}

}  // namespace stickslip
