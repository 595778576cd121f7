// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/periodic_equations.hpp"

#include <cmath>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/interruptible_lu.hpp"
#include "stickslip/periodic/stepping_equations.hpp"
#include "stickslip/periodic/weighted_residual.hpp"

namespace stickslip {

namespace {
constexpr Index kMostDecomposed = 2000;  // unknowns: some ten seconds
constexpr double kSingular = 1e-13;      // reciprocal condition below which the shortest step is taken
}  // namespace

bool DenseEquations::newton_step(const Vector& F, Vector& step) {
  if (J_.rows() == J_.cols()) {
    InterruptibleLu lu;
    const bool regular = lu.compute(J_, stop_);
    if (raised(stop_)) return false;
    if (regular && lu.rcond() > kSingular) {
      step = lu.solve(-F).col(0);
      return step.allFinite();
    }
  }
  Eigen::CompleteOrthogonalDecomposition<DenseMatrix> qr(J_.rows(), J_.cols());
  qr.setThreshold(1e-11);
  qr.compute(J_);
  step = qr.solve(-F);
  return step.allFinite();
}

bool DenseEquations::damped_step(const Vector& F, double damping, Vector& step) {
  DenseMatrix A = J_.transpose() * J_;
  A.diagonal().array() += damping * A.diagonal().maxCoeff();
  step = A.ldlt().solve(-(J_.transpose() * F));
  return step.allFinite();
}

bool DenseEquations::null_space(DenseMatrix& N, double& condition) {
  if (J_.cols() > kMostDecomposed || raised(stop_)) return false;
  constexpr double kOpen = 1e-11;  // beside the largest: two digits above round-off
  const Eigen::BDCSVD<DenseMatrix> svd(J_, Eigen::ComputeFullV);
  const Vector& s = svd.singularValues();
  const Index rank = (s.array() > kOpen * s[0]).count();
  N = svd.matrixV().rightCols(J_.cols() - rank);
  condition = rank > 0 ? s[0] / s[rank - 1] : HUGE_VAL;
  return true;
}

std::unique_ptr<PeriodicEquations> make_equations(const System& system, const PeriodicOptions& options, double t0,
                                                  const Vector& q_reference, const PeriodicEquations* like) {
  if (options.method == PeriodicMethod::stepping)
    return std::make_unique<SteppingEquations>(system, options, t0, q_reference);
  return std::make_unique<WeightedResidual>(system, options, t0, q_reference,
                                            dynamic_cast<const WeightedResidual*>(like));
}

std::string equations_refusal(const System& system, PeriodicMethod method) {
  return method == PeriodicMethod::stepping ? stepping_refusal(system) : weighted_residual_refusal(system);
}

double DenseEquations::condition() {
  if (J_.rows() == J_.cols()) {
    InterruptibleLu lu;
    return lu.compute(J_, stop_) ? 1 / lu.rcond() : HUGE_VAL;
  }
  const Vector s = J_.jacobiSvd().singularValues();
  return s[0] / s[s.size() - 1];
}

}  // namespace stickslip
