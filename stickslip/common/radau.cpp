// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/radau.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stickslip/common/square_sum.hpp"

namespace stickslip {
namespace {

const double kRoot6 = std::sqrt(6.0), kCube3 = std::cbrt(3.0), kCube9 = std::cbrt(9.0);

const double kNodes[3] = {(4 - kRoot6) / 10, (4 + kRoot6) / 10, 1};
// Eigenvalues of A⁻¹: γ and α ± iβ.
const double kGamma = 3 + kCube9 - kCube3;
const double kAlpha = 3 + 0.5 * (kCube3 - kCube9);
const double kBeta = 0.5 * (std::pow(3.0, 5.0 / 6) + std::pow(3.0, 7.0 / 6));
// Z = T W brings A⁻¹ to the form (γ), (α -β; β α).
constexpr double kT[3][3] = {{9.1232394870892942792e-02, -0.14125529502095420843, -3.0029194105147424492e-02},
                             {0.24171793270710701896, 0.20412935229379993199, 0.38294211275726193779},
                             {0.96604818261509293619, 1, 0}};
constexpr double kTInverse[3][3] = {{4.3255798900631553510, 0.33919925181580986954, 0.54177053993587487119},
                                    {-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196},
                                    {-0.50287263494578687595, 2.5719269498556054292, -0.59603920482822492497}};
const double kError[3] = {-(13 + 7 * kRoot6) / 3, (-13 + 7 * kRoot6) / 3, -1.0 / 3};
// u(s) = y + Σ_k sᵏ Σ_i Z_i kDense[i][k-1]: the cubic through (0, y) and (c_i, y + Z_i).
const double kDense[3][3] = {{(13 + 7 * kRoot6) / 3, -(23 + 22 * kRoot6) / 3, 10.0 / 3 + 5 * kRoot6},
                             {(13 - 7 * kRoot6) / 3, -(23 - 22 * kRoot6) / 3, 10.0 / 3 - 5 * kRoot6},
                             {1.0 / 3, -8.0 / 3, 10.0 / 3}};

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kSafety = 0.9, kLargestShrink = 5, kLargestGrowth = 8;
constexpr int kNewtonIterations = 7;
// A Jacobian is kept while Newton contracts faster than this; factors are kept while the step would grow by less than
// kKeepStep.
constexpr double kKeepJacobian = 1e-3, kKeepStep = 1.2;
// Factors of a step that differs by round-off of the clock are as good as new.
constexpr double kSameStep = 1e-9;
// Where Newton has failed, the step comes back slowly at first and then ever faster: its error estimate would ask for
// the same failure again in every second step.
constexpr double kFirstLimitGrowth = 1.02;
// An update of Newton that stalls below this part of the error weight is round-off of f.
constexpr double kStalled = 1e-2;

void transform(const double (&matrix)[3][3], const std::array<Vector, 3>& x, std::array<Vector, 3>& y) {
  for (Index i = 0; i < x[0].size(); ++i) {
    const double a = x[0][i], b = x[1][i], c = x[2][i];
    for (std::size_t row = 0; row < 3; ++row) y[row][i] = matrix[row][0] * a + matrix[row][1] * b + matrix[row][2] * c;
  }
}

}  // namespace

Radau::Radau(const OdeOptions& options, OdeJacobian jacobian) : OdeIntegrator(options), jacobian_(std::move(jacobian)) {
  const double ratio = absolute_ / relative_;
  relative_ = 0.1 * std::pow(relative_, 2.0 / 3);
  absolute_ = ratio * relative_;
  newton_tolerance_ = std::max(10 * kEpsilon / relative_, std::min(0.03, std::sqrt(relative_)));
}

Radau::Radau(const OdeOptions& options, OdePencil pencil) : Radau(options) { pencil_function_ = std::move(pencil); }

void Radau::resize(Index n) {
  for (Stages* stages : {&Z_, &W_, &F_})
    for (Vector& v : *stages) v.setZero(n);
  for (Vector* v : {&stage_y_, &weights_, &right_, &error_, &column_}) v->setZero(n);
  complex_right_.setZero(n);
  complex_update_.setZero(n);
  factor_.resize(n);
  if (!pencil_function_) {
    J_.setZero(n, n);
    factor_.factorise(J_, 1.0, 1.0);
  }
}

void Radau::forget() {
  factored_h_ = 0;
  jacobian_known_ = jacobian_current_ = have_past_ = rejected_before_ = false;
  first_ = true;
  newton_history_ = 1;
  contraction_ = kKeepJacobian;
  accepted_h_ = 0;
  newton_limit_ = std::numeric_limits<double>::infinity();
}

bool Radau::update_jacobian(OdeFunction f, double t, const Vector& y, const Vector& dydt) {
  ++counters_.jacobians;
  factored_h_ = 0;
  jacobian_known_ = jacobian_current_ = false;
  if (stopped()) return false;
  if (pencil_function_) {
    pencil_.slope.clear();
    pencil_.mass.clear();
    if (!pencil_function_(t, y, pencil_)) return false;
    double sum = 0;
    for (const MatrixEntries::Entry& entry : pencil_.slope.entries) sum += entry.value;
    if (!(sum * 0.0 == 0.0)) return false;
  } else {
    if (!(jacobian_ && jacobian_(t, y, J_)) && !difference_jacobian(f, t, y, dydt)) return false;
    if (!(J_.sum() * 0.0 == 0.0)) return false;
  }
  return jacobian_known_ = jacobian_current_ = true;
}

bool Radau::difference_jacobian(OdeFunction f, double t, const Vector& y, const Vector& dydt) {
  stage_y_ = y;
  for (Index j = 0; j < y.size(); ++j) {
    // Between a relative and an absolute increment: components near 0 are moved too.
    const double scale = options_.absolute_scale.size() ? options_.absolute_scale[j] : 1.0;
    const double size = std::sqrt(kEpsilon * scale * std::max(1e-5 * scale, std::abs(y[j])));
    double increment = 0;
    bool known = false;
    for (const double sign : {dydt[j] < 0 ? -1.0 : 1.0, dydt[j] < 0 ? 1.0 : -1.0}) {
      if (stopped()) return false;
      stage_y_[j] = y[j] + sign * size;
      increment = stage_y_[j] - y[j];
      if ((known = f(t, stage_y_, column_) && column_.sum() * 0.0 == 0.0)) break;
    }
    if (!known) return false;
    J_.col(j) = (column_ - dydt) / increment;
    stage_y_[j] = y[j];
  }
  return true;
}

bool Radau::factorise(double h) {
  ++counters_.factorisations;
  factored_h_ = 0;
  const double real = kGamma / h;
  const std::complex<double> complex(kAlpha / h, kBeta / h);
  if (!(pencil_function_ ? factor_.factorise(pencil_, real, complex) : factor_.factorise(J_, real, complex)))
    return false;
  factored_h_ = h;
  return true;
}

void Radau::start_values(double h) {
  if (!have_past_) {
    for (std::size_t stage = 0; stage < 3; ++stage) Z_[stage].setZero(), W_[stage].setZero();
    return;
  }
  for (std::size_t stage = 0; stage < 3; ++stage) {
    const double s = 1 + kNodes[stage] * h / accepted_h_;
    for (Index i = 0; i < y_.size(); ++i) {
      const double* c = dense_.col(i).data();
      Z_[stage][i] = ((c[3] * s + c[2]) * s + c[1]) * s + c[0] - y_[i];
    }
  }
  transform(kTInverse, Z_, W_);
}

Radau::Newton Radau::solve_stages(OdeFunction f, double t, const Vector& y, double h, double tolerance,
                                  int max_iterations) {
  const Index n = y.size();
  for (Index i = 0; i < n; ++i) weights_[i] = weight(i, y[i], y[i]);
  const double gamma = kGamma / h, alpha = kAlpha / h, beta = kBeta / h;
  double history = std::pow(std::max(newton_history_, kEpsilon), 0.8), last_size = 0, last_ratio = 0;
  contraction_ = kKeepJacobian;
  step_factor_ = 0.5;
  for (newton_iterations_ = 1; newton_iterations_ <= max_iterations; ++newton_iterations_) {
    ++counters_.newton_iterations;
    for (std::size_t stage = 0; stage < 3; ++stage) {
      stage_y_ = y + Z_[stage];
      if (!evaluate(f, t + kNodes[stage] * h, stage_y_, F_[stage])) return Newton::not_evaluable;
    }
    transform(kTInverse, F_, Z_);  // Z is free until the update
    for (Index i = 0; i < n; ++i) {
      right_[i] = Z_[0][i] - gamma * W_[0][i];
      complex_right_[i] = {Z_[1][i] - alpha * W_[1][i] + beta * W_[2][i],
                           Z_[2][i] - alpha * W_[2][i] - beta * W_[1][i]};
    }
    factor_.solve(right_, error_);
    factor_.solve(complex_right_, complex_update_);
    SquareSum sum;
    for (Index i = 0; i < n; ++i) {
      const double w = weights_[i], d0 = error_[i], d1 = complex_update_[i].real(), d2 = complex_update_[i].imag();
      for (const double d : {d0, d1, d2}) sum.add(d / w);
      W_[0][i] += d0;
      W_[1][i] += d1;
      W_[2][i] += d2;
    }
    const double size = sum.mean(static_cast<double>(3 * std::max<Index>(n, 1)));
    if (!std::isfinite(size)) return Newton::diverged;
    transform(kT, W_, Z_);
    if (size == 0) return Newton::converged;
    if (newton_iterations_ > 1) {
      const double ratio = size / last_size;
      contraction_ = newton_iterations_ == 2 ? ratio : std::sqrt(ratio * last_ratio);
      last_ratio = ratio;
      if (contraction_ >= 0.99) return size <= kStalled ? Newton::stalled : Newton::diverged;
      history = contraction_ / (1 - contraction_);
      // The size that the last permitted iteration would reach tells now whether to go on.
      const int left = max_iterations - newton_iterations_;
      const double predicted = history * size * std::pow(contraction_, left) / tolerance;
      if (predicted >= 1) {
        if (size <= kStalled && left == 0) return Newton::stalled;
        step_factor_ = 0.8 * std::pow(std::clamp(predicted, 1e-4, 20.0), -1.0 / (4 + left));
        if (size > kStalled) return Newton::diverged;
      }
    }
    last_size = size;
    if (history * size <= tolerance) {
      newton_history_ = history;
      return Newton::converged;
    }
  }
  return last_size <= kStalled ? Newton::stalled : Newton::diverged;
}

OdeIntegrator::Trial Radau::retry(double h_next) {
  h_ = h_next;
  rejected_before_ = true;
  newton_history_ = 1;
  if (wants_continuation()) jacobian_known_ = false;  // slopes of the other side of a kink
  return Trial::rejected;
}

OdeIntegrator::Trial Radau::attempt(OdeFunction f, double h) {
  for (bool solved = false; !solved;) {
    if (!jacobian_known_ && !update_jacobian(f, t_, y_, f_)) return retry(0.5 * h);
    const bool same = factored_h_ > 0 && std::abs(factored_h_ - h) <= kSameStep * h;
    if (!same && !factorise(h)) return retry(0.5 * h);
    start_values(h);
    const Newton outcome = solve_stages(f, t_, y_, h, newton_tolerance_, kNewtonIterations);
    // A stalled iteration with an old Jacobian may be slow instead of at round-off.
    solved = outcome == Newton::converged || (outcome == Newton::stalled && jacobian_current_);
    if (solved && wants_continuation()) {
      h_ = h;
      jacobian_known_ = false;
      return Trial::rejected;
    }
    if (solved) break;
    if (jacobian_current_) {
      newton_limit_ = step_factor_ * h;
      limit_growth_ = kFirstLimitGrowth;
      return retry(newton_limit_);
    }
    jacobian_known_ = false;
  }

  const double err = std::max(error(f, h, first_ || rejected_before_), 1e-10);
  if (!std::isfinite(err)) return retry(0.25 * h);
  const double safety =
      std::min(kSafety, kSafety * (1 + 2 * kNewtonIterations) / (newton_iterations_ + 2 * kNewtonIterations));
  double quotient = std::clamp(std::pow(err, 0.25) / safety, 1 / kLargestGrowth, kLargestShrink);
  if (err >= 1) {
    if (!jacobian_current_) jacobian_known_ = false;
    return retry(first_ ? 0.1 * h : h / quotient);
  }
  y_new_ = y_ + Z_[2];
  if (!evaluate(f, t_ + h, y_new_, f_new_)) return retry(0.5 * h);

  if (accepted_h_ > 0) {
    const double predictive = accepted_h_ / h * std::pow(err * err / accepted_error_, 0.25) / kSafety;
    quotient = std::max(quotient, std::clamp(predictive, 1 / kLargestGrowth, kLargestShrink));
  }
  if (rejected_before_) quotient = std::max(quotient, 1.0);
  make_dense();
  estimate_at_kinks_ = err * relative_ / options_.relative_tolerance;
  accepted_h_ = h;
  accepted_error_ = std::max(1e-2, err);
  first_ = rejected_before_ = jacobian_current_ = false;
  have_past_ = true;
  jacobian_known_ = contraction_ <= kKeepJacobian;
  const bool keep_factors = jacobian_known_ && quotient <= 1 && quotient * kKeepStep >= 1;
  h_ = keep_factors ? h : h / quotient;
  newton_limit_ *= limit_growth_;
  limit_growth_ = std::min(std::pow(limit_growth_, 1.5), kLargestGrowth);
  h_ = std::min(h_, std::max(newton_limit_, h));
  return Trial::accepted;
}

double Radau::error(OdeFunction f, double h, bool refine) {
  const Index n = y_.size();
  if (n == 0) return 0;
  for (Index i = 0; i < n; ++i) column_[i] = (kError[0] * Z_[0][i] + kError[1] * Z_[1][i] + kError[2] * Z_[2][i]) / h;
  const auto norm = [&] {
    SquareSum sum;
    for (Index i = 0; i < n; ++i) sum.add(error_[i] / weights_[i]);
    return sum.mean(static_cast<double>(n));
  };
  right_ = f_ + column_;
  factor_.solve(right_, error_);
  const double err = norm();
  if (!(err >= 1) || !refine) return err;
  stage_y_ = y_ + error_;
  if (!evaluate(f, t_, stage_y_, right_)) return err;
  right_ += column_;
  factor_.solve(right_, error_);
  return norm();
}

void Radau::make_dense() {
  for (Index i = 0; i < y_.size(); ++i) {
    double* c = dense_.col(i).data();
    c[0] = y_[i];
    for (int k = 0; k < 3; ++k) c[k + 1] = Z_[0][i] * kDense[0][k] + Z_[1][i] * kDense[1][k] + Z_[2][i] * kDense[2][k];
  }
}

void Radau::stage_rate(int i, double h, Vector& rate) const {
  rate.setZero(Z_[0].size());
  const double s = kNodes[i];
  for (std::size_t j = 0; j < 3; ++j)
    rate += (kDense[j][0] + s * (2 * kDense[j][1] + s * 3 * kDense[j][2])) / h * Z_[j];
}

bool Radau::single_step(OdeFunction f, double t0, const Vector& y0, double h, Vector& y1) {
  const double history = std::exchange(newton_history_, 1.0);
  bool solved = evaluate(f, t0, y0, right_) && update_jacobian(f, t0, y0, right_) && factorise(h);
  if (solved) {
    for (std::size_t stage = 0; stage < 3; ++stage) Z_[stage].setZero(), W_[stage].setZero();
    const Newton outcome = solve_stages(f, t0, y0, h, 10 * kEpsilon / relative_, 30);
    solved = outcome == Newton::converged || outcome == Newton::stalled;
    y1 = y0 + Z_[2];
  }
  newton_history_ = history;
  contraction_ = kKeepJacobian;
  factored_h_ = 0;
  jacobian_known_ = jacobian_current_ = false;
  return solved;
}

}  // namespace stickslip
