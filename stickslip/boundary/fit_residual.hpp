// SPDX-License-Identifier: Apache-2.0
// Inside of fit(): residuals of the model against the data up to some time, and their Jacobian.
//
//   F = ( (y_c(t_k; x) - d_ck) w_c  for every measured value with t_k <= until,   ρ (x_j - a_j) / s_j )
//
// The last rows, where ρ > 0, hold the unknowns near an anchor a.
#pragma once

#include <memory>

#include "stickslip/boundary/fit.hpp"
#include "stickslip/boundary/segment_slopes.hpp"

namespace stickslip {

class FitResidual {
 public:
  FitResidual(const FitProblem& problem, const ColumnLayout& layout, StopRequest stop);

  void set_weights(std::vector<double> weights) { weights_ = std::move(weights); }
  const std::vector<double>& weights() const { return weights_; }
  void set_until(double until);
  double until() const { return until_; }
  /// ρ and a; ρ = 0: no such rows.
  void set_anchor(double rho, const Vector& anchor);
  /// Values that are compared now.
  long count() const { return count_; }

  bool value(const Vector& x, Vector& F);
  bool slope(const Vector& x, DenseMatrix& J);
  /// Part of F that is about data.
  auto data_part(const Vector& F) const { return F.head(count_); }
  /// ‖F‖ of a model that is off by the size of each column.
  double data_size() const;
  /// y_c(t_k) of the last value(), up to `until`.
  std::vector<std::vector<double>> model() const;
  /// Root mean square of y - d of each column, there; 0 for a column without values.
  std::vector<double> column_rms() const;
  const std::string& message() const { return message_; }
  long runs() const { return segment_.runs(); }
  Vector sizes(const Vector& x) const;

 private:
  SegmentPlan plan() const;

  const FitProblem* problem_;
  Segment segment_;
  std::unique_ptr<SegmentDerivative> derivative_;
  std::vector<double> weights_;
  double until_ = 0, rho_ = 0;
  std::size_t rows_ = 0;  ///< times up to `until`
  long count_ = 0;
  Vector anchor_;
  SampledRun run_;  ///< of the last value()
  std::string message_;
};

}  // namespace stickslip
