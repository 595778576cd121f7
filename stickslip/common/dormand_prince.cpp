// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/dormand_prince.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/common/dormand_prince_table.hpp"
#include "stickslip/common/square_sum.hpp"

namespace stickslip {
namespace {

using dop853::Term;

constexpr double kSafety = 0.9, kShrink = 1.0 / 3, kGrow = 6, kBeta = 0.04, kExponent = 1.0 / 8 - 0.2 * kBeta;

}  // namespace

void DormandPrince::resize(Index n) {
  for (Vector& k : k_) k.resize(n);
  stage_y_.resize(n);
}

void DormandPrince::forget() {
  last_error_ = 1e-4;
  rejected_before_ = false;
}

void DormandPrince::combine(const Vector& y0, double h, int row, Vector& y) const {
  y = y0;
  for (const Term& term : dop853::kRows[static_cast<std::size_t>(row)])
    y += (h * term.weight) * k_[static_cast<std::size_t>(term.stage)];
}

bool DormandPrince::stages(OdeFunction f, double t0, const Vector& y0, double h, int first, int end) {
  for (int i = first; i < end; ++i) {
    combine(y0, h, i, stage_y_);
    const auto stage = static_cast<std::size_t>(i);
    if (!evaluate(f, t0 + dop853::kNodes[stage] * h, stage_y_, k_[stage])) return false;
  }
  return true;
}

double DormandPrince::error(double h) const {
  const Index n = y_.size();
  SquareSum e5, e3;
  for (Index i = 0; i < n; ++i) {
    double s5 = 0, s3 = 0;
    for (const Term& term : dop853::kError5) s5 += term.weight * k_[static_cast<std::size_t>(term.stage)][i];
    for (const Term& term : dop853::kError3) s3 += term.weight * k_[static_cast<std::size_t>(term.stage)][i];
    const double w = weight(i, y_[i], y_new_[i]);
    e5.add(s5 / w);
    e3.add(s3 / w);
  }
  const double denominator = e5.sum() + 0.01 * e3.sum();
  if (std::isinf(denominator)) return h * e5.largest();
  return denominator > 0 ? h * e5.sum() / std::sqrt(static_cast<double>(n) * denominator) : 0.0;
}

OdeIntegrator::Trial DormandPrince::reject(double h_next) {
  h_ = h_next;
  rejected_before_ = true;
  return Trial::rejected;
}

OdeIntegrator::Trial DormandPrince::attempt(OdeFunction f, double h) {
  k_[0] = f_;
  if (!stages(f, t_, y_, h, 1, kStages)) return reject(0.25 * h);
  combine(y_, h, kStages, y_new_);
  const double err = error(h);
  if (!std::isfinite(err)) return reject(0.25 * h);
  if (err > 1) return reject(h * std::max(kShrink, kSafety * std::pow(err, -kExponent)));

  if (!evaluate(f, t_ + h, y_new_, f_new_)) return reject(0.5 * h);
  if (options_.dense_output && !make_dense(f, h)) return reject(0.5 * h);
  double factor = err > 0 ? kSafety * std::pow(err, -kExponent) * std::pow(last_error_, kBeta) : kGrow;
  factor = std::clamp(factor, kShrink, rejected_before_ ? 1.0 : kGrow);
  last_error_ = std::max(err, 1e-4);
  rejected_before_ = false;
  h_ = h * factor;
  return Trial::accepted;
}

bool DormandPrince::make_dense(OdeFunction f, double h) {
  k_[kStages] = f_new_;
  if (!stages(f, t_, y_, h, kStages + 1, kDenseStages)) return false;
  for (Index i = 0; i < y_.size(); ++i) {
    const double rise = y_new_[i] - y_[i];
    double F[7] = {rise, h * f_[i] - rise, 2 * rise - h * (f_new_[i] + f_[i])};
    for (std::size_t row = 0; row < 4; ++row) {
      double sum = 0;
      for (const Term& term : dop853::kDense[row]) sum += term.weight * k_[static_cast<std::size_t>(term.stage)][i];
      F[3 + row] = h * sum;
    }
    // y + s (F_0 + (1-s) (F_1 + s (F_2 + (1-s) (F_3 + s (F_4 + (1-s) (F_5 + s F_6)))))), from the inside to the
    // outside.
    double* c = dense_.col(i).data();
    std::fill_n(c, 8, 0.0);
    c[0] = F[6];
    for (int j = 5; j >= -1; --j) {
      const bool times_s = (j % 2) != 0;
      for (int k = 6 - j; k > 0; --k) c[k] = times_s ? c[k - 1] : c[k] - c[k - 1];
      if (times_s) c[0] = 0;
      c[0] += j >= 0 ? F[j] : y_[i];
    }
  }
  return true;
}

bool DormandPrince::single_step(OdeFunction f, double t0, const Vector& y0, double h, Vector& y1) {
  if (!evaluate(f, t0, y0, k_[0]) || !stages(f, t0, y0, h, 1, kStages)) return false;
  y1.resize(y0.size());
  combine(y0, h, kStages, y1);
  return true;
}

}  // namespace stickslip
