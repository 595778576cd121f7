// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/fit_residual.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

FitResidual::FitResidual(const FitProblem& problem, const ColumnLayout& layout, StopRequest stop)
    : problem_(&problem),
      segment_(problem.model, problem.unknowns, layout, stop),
      derivative_(make_segment_derivative()),
      weights_(problem.data.columns.size(), 1.0) {
  set_until(problem.data.times.back());
}

void FitResidual::set_until(double until) {
  const std::vector<double>& times = problem_->data.times;
  until_ = until;
  rows_ = static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), until) - times.begin());
  count_ = 0;
  for (const MeasuredColumn& column : problem_->data.columns)
    for (std::size_t k = 0; k < rows_; ++k) count_ += std::isfinite(column.values[k]);
}

void FitResidual::set_anchor(double rho, const Vector& anchor) {
  rho_ = rho;
  anchor_ = anchor;
}

SegmentPlan FitResidual::plan() const {
  const std::vector<double>& times = problem_->data.times;
  SegmentPlan plan{problem_->model.options().start_time, times[rows_ - 1], {times.begin(), times.begin() + rows_}};
  for (const MeasuredColumn& column : problem_->data.columns)
    for (const Index slot : column.model.variables_used()) plan.reactions |= segment_.layout().is_reaction(slot);
  return plan;
}

Vector FitResidual::sizes(const Vector& x) const {
  Vector s(x.size());
  for (Index j = 0; j < x.size(); ++j) s[j] = problem_->unknowns[static_cast<std::size_t>(j)].size(x[j]);
  return s;
}

bool FitResidual::value(const Vector& x, Vector& F) {
  run_ = segment_.run(plan(), x, std::nullopt);
  if (!run_.usable()) {
    message_ = run_.message;
    return false;
  }
  F.resize(count_ + (rho_ > 0 ? x.size() : 0));
  Index at = 0;
  for (std::size_t c = 0; c < problem_->data.columns.size(); ++c) {
    const MeasuredColumn& column = problem_->data.columns[c];
    for (std::size_t k = 0; k < rows_; ++k)
      if (std::isfinite(column.values[k])) {
        const Vector& row = run_.rows[k];
        F[at++] = (column.model({row.data(), static_cast<std::size_t>(row.size())}) - column.values[k]) * weights_[c];
      }
  }
  if (rho_ > 0) F.tail(x.size()) = rho_ * (x - anchor_).cwiseQuotient(sizes(anchor_));
  if (!F.allFinite()) message_ = "a column of the model is not a finite number";
  return F.allFinite();
}

bool FitResidual::slope(const Vector& x, DenseMatrix& J) {
  const Index n = x.size();
  std::vector<Variation> variations;
  const Vector s = sizes(x);
  for (Index j = 0; j < n; ++j) variations.push_back({.unknown = j, .size = s[j]});
  SegmentSlopes slopes;
  const auto plan_of = [&](const Vector&) { return plan(); };
  if (!derivative_->evaluate(segment_, plan_of, x, std::nullopt, run_, variations, slopes, message_)) return false;
  J.setZero(count_ + (rho_ > 0 ? n : 0), n);
  Index at = 0;
  std::vector<double> gradient;
  for (std::size_t c = 0; c < problem_->data.columns.size(); ++c) {
    const MeasuredColumn& column = problem_->data.columns[c];
    const std::vector<Index>& used = column.model.variables_used();
    gradient.resize(used.size());
    for (std::size_t k = 0; k < rows_; ++k) {
      if (!std::isfinite(column.values[k])) continue;
      const Vector& row = run_.rows[k];
      column.model.gradient({row.data(), static_cast<std::size_t>(row.size())}, gradient);
      for (std::size_t g = 0; g < used.size(); ++g)
        J.row(at) += weights_[c] * gradient[g] * slopes.rows[k].row(used[g]);
      ++at;
    }
  }
  if (rho_ > 0) J.bottomRows(n).diagonal() = rho_ * sizes(anchor_).cwiseInverse();
  return J.allFinite();
}

double FitResidual::data_size() const {
  double squares = 0;
  for (std::size_t c = 0; c < weights_.size(); ++c) {
    const MeasuredColumn& column = problem_->data.columns[c];
    const double size = weights_[c] * column.size();
    for (std::size_t k = 0; k < rows_; ++k) squares += std::isfinite(column.values[k]) ? size * size : 0.0;
  }
  return std::sqrt(squares);
}

std::vector<std::vector<double>> FitResidual::model() const {
  std::vector<std::vector<double>> values;
  for (const MeasuredColumn& column : problem_->data.columns) {
    values.emplace_back();
    for (const Vector& row : run_.rows)
      values.back().push_back(column.model({row.data(), static_cast<std::size_t>(row.size())}));
  }
  return values;
}

std::vector<double> FitResidual::column_rms() const {
  const std::vector<std::vector<double>> y = model();
  std::vector<double> rms;
  for (std::size_t c = 0; c < y.size(); ++c) {
    double squares = 0;
    long n = 0;
    for (std::size_t k = 0; k < y[c].size(); ++k)
      if (const double d = problem_->data.columns[c].values[k]; std::isfinite(d)) {
        squares += (y[c][k] - d) * (y[c][k] - d);
        ++n;
      }
    rms.push_back(n > 0 ? std::sqrt(squares / static_cast<double>(n)) : 0);
  }
  return rms;
}

}  // namespace stickslip
