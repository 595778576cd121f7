// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/constrained_step.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/model/matrix_layout.hpp"
#include "stickslip/motion/dependent_rows.hpp"

namespace stickslip {

namespace {
// Rows that hold something, if loosely, have larger singular values (a governor that turns 0.02 rad in a step).
constexpr double kLooselyHeld = 1e-5;
}  // namespace

void ConstrainedStep::begin(double t0, const Vector& q0, const SystemMatrix& M, SystemWorkspace& workspace) {
  source_.evaluate(t0, q0, workspace, first_rows_);
  redundant_ = mass_.refresh(M, first_rows_.A) && mass_.rank() < first_rows_.A.rows();
}

bool ConstrainedStep::place(double t, const Vector& q, const SystemMatrix& M, SystemWorkspace& workspace) {
  source_.evaluate(t, q, workspace, rows_);
  if (asked_.size() != rows_.rate.size()) asked_ = rows_.rate;
  if (!redundant_ || first_rows_.A.rows() != rows_.A.rows()) return mass_.refresh(M, rows_.A);
  const double turned = turned_rows(M, rows_.A, first_rows_.A);
  return mass_.refresh(M, without_small_values(M, rows_.A, std::min(turned * turned, kLooselyHeld), independent_));
}

void ConstrainedStep::ask(double t1, const Vector& q1, const Vector& v1, SystemWorkspace& workspace) {
  ask(t1, q1, workspace);
  asked_.noalias() += (rows_.A - end_rows_.A) * v1;
}

void ConstrainedStep::ask(double t1, const Vector& q1, SystemWorkspace& workspace) {
  source_.evaluate(t1, q1, workspace, end_rows_);
  asked_ = end_rows_.rate;
}

double ConstrainedStep::turning() {
  turn_.noalias() = mass_.weighted_inverse() * (rows_.A - end_rows_.A);
  return mass_.norm_of_map(turn_);
}

void ConstrainedStep::reduce(const PrimalProblem& problem) {
  const DenseMatrix& N = mass_.free_directions();
  const Index n = N.rows(), freedoms = N.cols(), m = problem.Wt.rows();
  mass_.correction(asked_, given_);
  if (reduced_matrix_.storage() != Storage::dense || reduced_matrix_.size() != freedoms)
    reduced_matrix_ = SystemMatrix(DenseMatrix(DenseMatrix::Zero(freedoms, freedoms)));
  AN_.resize(n, freedoms);
  balance_.resize(n);
  for (Index j = 0; j < freedoms; ++j) {
    column_ = N.col(j);
    problem.A->product(column_, balance_);
    AN_.col(j) = balance_;
  }
  Eigen::Map<DenseMatrix> matrix(MatrixLayout::numbers(reduced_matrix_), freedoms, freedoms);
  matrix.noalias() = N.transpose() * AN_;
  balance_ = problem.g;
  problem.A->add_product(-1.0, given_, balance_);
  reduced_.g.resize(freedoms);
  reduced_.g.noalias() = N.transpose() * balance_;
  reduced_.A = &reduced_matrix_;
  ++reduced_.A_version;
  reduced_.sets = problem.sets;
  ++reduced_.sets_version;
  reduced_.Wt.resize(m, freedoms);
  reduced_.Wt.reserve(m * freedoms);
  reduced_.w.resize(m);
  column_.resize(freedoms);
  for (Index i = 0; i < m; ++i) {
    reduced_.Wt.startVec(i);
    column_.setZero(freedoms);
    double given = 0;
    for (SparseMatrix::InnerIterator entry(problem.Wt, i); entry; ++entry) {
      column_.noalias() += entry.value() * N.row(entry.col()).transpose();
      given += entry.value() * given_[entry.col()];
    }
    for (Index j = 0; j < freedoms; ++j) reduced_.Wt.insertBack(i, j) = column_[j];
    reduced_.w[i] = problem.w[i] - given;
  }
  reduced_.Wt.finalize();
}

void ConstrainedStep::free_velocity(Vector& v) {
  v = given_;
  if (reduced_.g.size() == 0) return;
  factor_.compute(reduced_matrix_.dense());
  column_ = factor_.solve(reduced_.g);
  v.noalias() += mass_.free_directions() * column_;
}

namespace {

/// Nothing can move: every law has the velocity it is given.
void solve_without_freedom(const PrimalProblem& problem, InclusionSolution& solution) {
  solution.status = Status::success;
  solution.u = -problem.w;
  solution.r.setZero(problem.w.size());
  solution.v.resize(0);
  Index i = 0;
  for (const Set& set : problem.sets) {
    if (set.kind == SetKind::interval && solution.u[i] != 0) solution.r[i] = -std::copysign(set.limit, solution.u[i]);
    i += set.size;
  }
}

}  // namespace

void ConstrainedStep::solve(const PrimalProblem& problem, const SolveOptions& options, InclusionSolution& solution) {
  // The caller may have changed limits and impulses on the right-hand side since reduce().
  reduce(problem);
  reduced_solution_.r = solution.r;
  if (reduced_.g.size() == 0) {
    solve_without_freedom(reduced_, reduced_solution_);
  } else {
    stickslip::solve(reduced_, options, solver_, reduced_solution_);
  }
  solution.status = reduced_solution_.status;
  solution.message = reduced_solution_.message;
  solution.iterations = reduced_solution_.iterations;
  solution.r = reduced_solution_.r;
  solution.u = reduced_solution_.u;
  solution.v = given_;
  if (reduced_.g.size() > 0) solution.v.noalias() += mass_.free_directions() * reduced_solution_.v;
  find_impulse(problem, solution);
}

void ConstrainedStep::impulse_terms(const Vector& load, Vector& terms) const {
  const DenseMatrix& G = mass_.weighted_inverse();
  terms.setZero(G.cols());
  for (Index i = 0; i < G.cols(); ++i)
    for (Index j = 0; j < G.rows(); ++j) terms[i] += std::abs(G(j, i)) * load[j];
}

double ConstrainedStep::velocity_terms(Index i) const {
  const auto length = [&](Index k) {
    double sum = 0;
    for (SparseMatrix::InnerIterator entry(reduced_.Wt, k); entry; ++entry) sum += entry.value() * entry.value();
    return std::sqrt(sum);
  };
  if (reduced_.g.size() == 0) return 0.0;
  double momentum = reduced_.g.norm();
  for (Index k = 0; k < reduced_solution_.r.size(); ++k)
    if (reduced_solution_.r[k] != 0) momentum += length(k) * std::abs(reduced_solution_.r[k]);
  return length(i) * momentum;
}

void ConstrainedStep::find_impulse(const PrimalProblem& problem, const InclusionSolution& solution) {
  balance_ = -problem.g;
  problem.A->add_product(1.0, solution.v, balance_);
  for (Index k = 0; k < problem.Wt.rows(); ++k)
    for (SparseMatrix::InnerIterator entry(problem.Wt, k); entry; ++entry)
      balance_[entry.col()] -= entry.value() * solution.r[k];
  impulse_.resize(rows_.A.rows());
  impulse_.noalias() = mass_.weighted_inverse().transpose() * balance_;
}

double ConstrainedStep::work(double theta, double t0, const Vector& q0, SystemWorkspace& workspace) {
  if (rows_.rate.isZero(0) && end_rows_.rate.isZero(0)) return 0;
  source_.evaluate(t0, q0, workspace, start_rows_);
  return theta * impulse_.dot(end_rows_.rate) + (1 - theta) * impulse_.dot(start_rows_.rate);
}

}  // namespace stickslip
