// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/mode_decision.hpp"

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/motion/event/mode_enumeration.hpp"
#include "stickslip/motion/event/mode_inclusion.hpp"

namespace stickslip {

namespace {

/// A few laws that nearly (or do) depend on one another: the combinations are tried one by one, without forming D.
bool doubtful(const DecisionProblem& problem) {
  constexpr Index kMost = 8;
  constexpr double kNoDoubt = 1e-3;  // pivots of D with a diagonal of 1: all digits but three are left
  if (problem.rows.cols() != problem.D.cols() || problem.D.cols() > kMost) return false;
  const Vector scale = problem.D.diagonal().cwiseSqrt().cwiseInverse();
  if (!scale.allFinite()) return true;
  const Eigen::LDLT<DenseMatrix> factor(scale.asDiagonal() * problem.D * scale.asDiagonal());
  return !(factor.vectorD().minCoeff() >= kNoDoubt);
}

/// u' is the minimiser of a convex function.
bool convex(const DecisionProblem& problem) {
  constexpr double kSymmetric = 1e-12;  // of the entries of D: round-off
  if (!problem.monotone || problem.limits) return false;
  for (const DecisionLaw& law : problem.laws)
    if (law.static_limit > law.set.limit || (is_cone(law.set.kind) && law.set.limit > 0)) return false;
  return (problem.D - problem.D.transpose()).cwiseAbs().sum() <= kSymmetric * problem.D.cwiseAbs().sum();
}

/// Where the enumeration has found nothing and that proves nothing.
Decision search_in_turns(const DecisionProblem& problem, const DecisionOptions& options) {
  Decision decision;
  try {
    decision = solve_mode_inclusion(problem, options);
  } catch (const InputError&) {  // limits that grow beyond all bounds
    decision.status = Status::not_converged;
  }
  if (decision.status == Status::success || decision.status == Status::interrupted) return decision;
  decision.status = Status::not_converged;
  decision.message =
      "no combination of sticking and slipping laws was found whose limits belong to their own reactions, which does "
      "not "
      "prove that there is none: several laws with limits that follow reactions act on fewer free velocities. Combine "
      "them into one, or use scheme = \"moreau\"";
  return decision;
}

}  // namespace

Decision decide_modes(const DecisionProblem& problem, const DecisionOptions& options) {
  const double count = combinations(problem);
  const bool few = count > 0 && count <= static_cast<double>(options.most_enumerated);
  if (few && (!convex(problem) || doubtful(problem))) {
    Decision decision = enumerate_modes(problem, options);
    if (decision.status == Status::no_solution && !decision.proven) decision = search_in_turns(problem, options);
    return decision;
  }
  return solve_mode_inclusion(problem, options);
}

}  // namespace stickslip
