// SPDX-License-Identifier: Apache-2.0
// The default for contact with friction: one deterministic strategy made of the parts that can also be had by name.
//
//   1  accelerated_sweeps   cheap, and enough for most problems; left when it predicts too many further sweeps
//   1a from 800 contacts in space on: patches (contact_patches.hpp), each by 1 to 5, where few contacts do not settle,
//      and conjugate sweeps, as long as they bring something; then an interior point with long steps, and the central
//      path followed closely (contact_interior.hpp). From 4000 on these alone, until the limits are reached, and over
//      bodies only: the factors over contacts would not fit into them
//   2  proximal_newton      from where the sweeps stopped; exact to round-off in a few steps once the modes settle
//   2a interior points      from close by (contact_interior.hpp), finished by 2, where 2 cycles between sets of modes
//   3  smoothing_newton     after conjugate sweeps from where these stopped: a path of smoothed problems, finished by 2
//   4  restarts             of 2 and 3 from backward sweeps, with other residual functions, scales ρ_i, first weights
//   5  accelerated_sweeps   again, then 2 to 4 with other first values, until the limits are reached
//
// Everything happens in the units of problem_scale.hpp, so that no change of units changes the answer. The best point
// wins; what is reported is recomputed from r by residual.hpp. After the first round of 2 to 4 the normal reactions
// alone are tried for a certificate that no solution exists (certificate.hpp). Before any iteration: r = 0 where that
// solves the problem, and laws that nothing can move.
//
// Which solution, where there are several: docs/theory-contact-solver.md, "Existence and uniqueness".
#pragma once

#include <memory>

#include "stickslip/common/deadline.hpp"
#include "stickslip/solvers/body_factor.hpp"
#include "stickslip/solvers/problem.hpp"

namespace stickslip {

enum class ContactMethod { strategy, gauss_seidel, accelerated_gauss_seidel, proximal_newton, smoothing_newton };

struct ContactOptions {
  ContactMethod method = ContactMethod::strategy;
  StoppingMeasure measure = StoppingMeasure::inclusion;
  double tolerance = 1e-12;
  int max_iterations = 0;  ///< sweeps plus factorisations, those of a patch by its part of the laws; 0: 100000 for
                           ///< sweeps alone, 1000 for one Newton method, 10000 for the strategy
  double max_seconds = 0;  ///< wall clock; 0: no limit
  /// Looked at once per sweep and factorisation; once raised, the best point so far with status interrupted.
  StopRequest stop = nullptr;
  /// Error above the tolerance with which the strategy ends after 1 and 2, because 3 to 5 cost many times as much; the
  /// status then is not_converged. 0: none
  double acceptable = 0;
  ThreadPool* threads = nullptr;  ///< share problems of many contacts, with the same result; null: the caller's alone
  void validate() const;          ///< throws InputError
};

/// Memory of the parts; the ordering of the factorisation is kept while the pattern of D is the same.
class ContactWorkspace {
 public:
  ContactWorkspace();
  ~ContactWorkspace();
  ContactWorkspace(ContactWorkspace&&) noexcept;
  ContactWorkspace& operator=(ContactWorkspace&&) noexcept;
  struct Parts;
  Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

/// Every kind of set. Starts from solution.r if it has the right size, else from 0. Leaves the residuals of
/// residual.hpp to the caller; the strategy names its parts in solution.solver, in the order in which they were first
/// used, and adds the error after each to solution.history. bodies: D in parts (body_factor.hpp), null if not known.
void solve_contacts(const BlockSparseMatrix& D, const Vector& b, const std::vector<Set>& sets,
                    const ContactOptions& options, ContactWorkspace& workspace, InclusionSolution& solution,
                    const BodyBlocks* bodies = nullptr);

/// The same with a dense or block-sparse D, residuals and, where it applies, the certificate.
InclusionSolution solve_contacts(const DualProblem& problem, const ContactOptions& options = {},
                                 const Vector& start = {});

}  // namespace stickslip
