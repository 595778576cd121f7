// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/compliant_adjoint.hpp"

#include <cmath>
#include <span>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/dormand_prince_table.hpp"
#include "stickslip/motion/compliant/radau_nodes.hpp"

namespace stickslip {

namespace {

using dop853::Term;

constexpr double kTogether = 1e-6;  // of a shift of time: jumps that stay at one instant

/// Explicit Runge-Kutta method: nodes, a_ij by rows, and the weights of the step as the row behind the last stage.
struct Tableau {
  std::span<const double> nodes;
  std::span<const std::span<const Term>> rows;
  std::size_t stages() const { return rows.size() - 1; }
};

constexpr double kHeunNodes[] = {0, 1}, kClassicalNodes[] = {0, 0.5, 0.5, 1};
constexpr Term kHeun1[] = {{0, 1}}, kHeun2[] = {{0, 0.5}, {1, 0.5}};
constexpr Term kClassical1[] = {{0, 0.5}}, kClassical2[] = {{1, 0.5}}, kClassical3[] = {{2, 1}},
               kClassical4[] = {{0, 1.0 / 6}, {1, 1.0 / 3}, {2, 1.0 / 3}, {3, 1.0 / 6}};
constexpr std::span<const Term> kHeunRows[] = {{}, kHeun1, kHeun2};
constexpr std::span<const Term> kClassicalRows[] = {{}, kClassical1, kClassical2, kClassical3, kClassical4};
constexpr std::size_t kDormandPrinceStages = 12;

Tableau tableau_of(TapeMethod method) {
  if (method == TapeMethod::heun) return {kHeunNodes, kHeunRows};
  if (method == TapeMethod::rk4) return {kClassicalNodes, kClassicalRows};
  return {dop853::kNodes, std::span<const std::span<const Term>>(dop853::kRows).first(kDormandPrinceStages + 1)};
}

}  // namespace

bool CompliantAdjoint::place(double t, const Vector& y) {
  return dynamics_.place(stretch_.inside(t), y) && dynamics_.accelerate(stretch_.inside(t));
}

/// κᵀ ∂Φ/∂p at the placed state, data_ being the weights on the data there.
void CompliantAdjoint::add_parameters(double t) {
  const Index friction = dynamics_.contacts().friction_laws();
  for (Index j = 0; j < neighbours_.unknowns(); ++j) {
    if (const int law = neighbours_.coefficient_of(j); law >= 0) {  // contacts that stay have a slot each, in order
      for (Index i = 0; i < w_.cols(); ++i)
        gradient_(i, j) += data_[static_cast<std::size_t>(i)].contacts.mu[friction + law];
      continue;
    }
    const CompliantDynamics::DataChange* change = neighbours_.slope(stretch_.inside(t), j);
    if (!change) continue;
    if (const double stretched = neighbours_.shift(stretch_.inside(t), j).slope; stretched != 0) {
      dynamics_.motion_rate(motion_);
      gradient_.col(j).noalias() += stretched * (kappa_.transpose() * motion_);
    }
    for (Index i = 0; i < w_.cols(); ++i)
      gradient_(i, j) += CompliantDynamics::product(data_[static_cast<std::size_t>(i)], *change);
  }
}

bool CompliantAdjoint::back_explicit(const TapeStep& step) {
  const Tableau method = tableau_of(step.method);
  const std::size_t s = method.stages();
  stage_.resize(std::max(stage_.size(), s));
  rate_.resize(std::max(rate_.size(), s));
  back_.resize(std::max(back_.size(), s));
  const auto time = [&](std::size_t i) { return step.t + method.nodes[i] * step.h; };
  for (std::size_t i = 0; i < s; ++i) {
    stage_[i] = step.y;
    for (const Term& term : method.rows[i])
      stage_[i] += step.h * term.weight * rate_[static_cast<std::size_t>(term.stage)];
    rate_[i].resize(step.y.size());
    if (i + 1 < s && !dynamics_.derivative(stretch_.inside(time(i)), stage_[i], rate_[i])) return false;
  }
  for (std::size_t i = s; i-- > 0;) {
    kappa_.setZero(w_.rows(), w_.cols());
    for (std::size_t j = i + 1; j <= s; ++j)
      for (const Term& term : method.rows[j])
        if (static_cast<std::size_t>(term.stage) == i) kappa_ += step.h * term.weight * (j == s ? w_ : back_[j]);
    back_[i].setZero(w_.rows(), w_.cols());
    if (kappa_.isZero(0)) continue;
    if (!place(time(i), stage_[i])) return false;
    dynamics_.pull_back(stretch_.inside(time(i)), kappa_, back_[i], data_);
    add_parameters(time(i));
  }
  for (std::size_t i = 0; i < s; ++i) w_ += back_[i];
  return true;
}

/// The κ of all stages from one system: κ_j = h b_j w⁺ + h Σ_i a_ij (∂Φ/∂y)ᵀ(Y_i) κ_i.
bool CompliantAdjoint::back_implicit(const TapeStep& step) {
  constexpr std::size_t s = 3;
  const Index n = w_.rows(), m = w_.cols();
  std::array<DenseMatrix, s> slope;
  DenseMatrix A = DenseMatrix::Identity(s * n, s * n), right(s * n, m);
  for (std::size_t i = 0; i < s; ++i) {
    const double t = step.t + radau5::kNodes[i] * step.h;
    slope[i].resize(n, n);
    if (!dynamics_.jacobian(stretch_.inside(t), step.stages[i], slope[i])) return false;
    for (std::size_t j = 0; j < s; ++j)
      A.block(static_cast<Index>(j) * n, static_cast<Index>(i) * n, n, n) -=
          step.h * radau5::matrix()(static_cast<Index>(i), static_cast<Index>(j)) * slope[i].transpose();
    right.middleRows(static_cast<Index>(i) * n, n) = step.h * radau5::kWeights[i] * w_;
  }
  const DenseMatrix kappa = A.partialPivLu().solve(right);
  for (std::size_t i = 0; i < s; ++i) {
    const double t = step.t + radau5::kNodes[i] * step.h;
    kappa_ = kappa.middleRows(static_cast<Index>(i) * n, n);
    w_.noalias() += slope[i].transpose() * kappa_;
    if (neighbours_.unknowns() == 0) continue;
    if (!place(t, step.stages[i])) return false;
    dynamics_.pull_back_data(kappa_, data_);
    add_parameters(t);
  }
  return kappa.allFinite();
}

bool CompliantAdjoint::back(const TapeStep& step) {
  stretch_.enter(step.t);
  if (!step.kept.empty()) dynamics_.contacts().keep_pieces(step.kept);
  const bool known = step.method == TapeMethod::radau ? back_implicit(step) : back_explicit(step);
  dynamics_.contacts().let_go();
  return known;
}

bool CompliantAdjoint::back(const TapeJump& jump) {
  const DenseMatrix& by = jump.by_state;
  if (jump.alone) {
    const DenseMatrix share = jump.change.transpose() * w_;
    w_.noalias() += by * share;
    gradient_.noalias() += share.transpose() * jump.by_unknown.transpose();
    return true;
  }
  const Eigen::RowVectorXd share = jump.change.rowwise().sum().transpose() * w_;
  for (Index k = 1; k < by.cols(); ++k)
    exists_ &= (by.col(k) - by.col(0)).norm() <= kTogether * by.col(0).norm() &&
               (jump.by_unknown.col(k) - jump.by_unknown.col(0)).norm() <= kTogether * jump.by_unknown.col(0).norm();
  w_.noalias() += by.col(0) * share;
  gradient_.noalias() += share.transpose() * jump.by_unknown.col(0).transpose();
  return true;
}

bool CompliantAdjoint::back(const TapeKink& kink) {
  const DenseMatrix after = w_;
  DenseMatrix by_state;
  stretch_.enter(kink.t);
  for (const PiecesInTime& part : kink.parts) {
    kappa_ = part.time * after;
    dynamics_.contacts().keep_pieces(part.pieces);
    dynamics_.contacts().take_mean_slopes(part.mean);
    const bool known = place(kink.t, kink.y);
    if (known) {
      dynamics_.pull_back(stretch_.inside(kink.t), kappa_, by_state, data_);
      add_parameters(kink.t);
      w_ += by_state;
    }
    dynamics_.contacts().let_go();
    if (!known) return false;
  }
  return true;
}

bool CompliantAdjoint::back(const TapeSlots& slots) {
  const Index T = slots.moved.rows(), rest = w_.rows() - T;
  DenseMatrix before(rest + slots.moved.cols(), w_.cols());
  before.topRows(rest) = w_.topRows(rest);
  before.bottomRows(slots.moved.cols()) = slots.moved.transpose() * w_.bottomRows(T);
  w_ = std::move(before);
  dynamics_.contacts().follow(slots.before);
  neighbours_.follow();
  return true;
}

bool CompliantAdjoint::back(const TapeMark& mark) {
  w_.col(mark.functional).head(mark.weights.size()) += mark.weights;
  if (mark.by_unknown.size() > 0) gradient_.row(mark.functional) += mark.by_unknown.transpose();
  return true;
}

bool CompliantAdjoint::sweep(const CompliantTape& tape, Index functionals, StopRequest stop, DenseMatrix& gradient,
                             DenseMatrix& start) {
  dynamics_.set_layout(false, 0);
  w_.setZero(dynamics_.motion_size(), functionals);
  gradient_.setZero(functionals, neighbours_.unknowns());
  for (auto entry = tape.rbegin(); entry != tape.rend(); ++entry) {
    if (raised(stop)) return false;
    if (!std::visit([this](const auto& what) { return back(what); }, *entry)) return false;
  }
  gradient = gradient_;
  start = w_;
  return gradient.allFinite() && start.allFinite();
}

}  // namespace stickslip
