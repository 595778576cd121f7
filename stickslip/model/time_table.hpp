// SPDX-License-Identifier: Apache-2.0
// A function of one variable (time, or any other) given by points: between them a line, or a natural cubic spline
// (twice continuously differentiable, second derivative 0 at both ends); constant before the first and after the last
// point. With lines, two points with the same abscissa are a jump, and the value there is the later one.
//
// Derivatives at a point are those of the piece after it. A spline has a kink at its two ends, where the constant
// begins, and its third derivative jumps at every point.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "stickslip/common/dual.hpp"
#include "stickslip/common/vector.hpp"

namespace stickslip {

enum class Interpolation { linear, cubic };

class TimeTable {
 public:
  /// Throws InputError (mentioning `source`) unless times ascend, at most two are equal (none for a spline), and all
  /// numbers are finite.
  TimeTable(std::vector<double> times, std::vector<double> values, std::string source,
            Interpolation interpolation = Interpolation::linear);
  double operator()(double t) const { return evaluate(t); }
  /// For double, Dual, SecondDual, Taylor and Enclosure, which decide the piece by primal(t).
  template <class Scalar>
  Scalar evaluate(const Scalar& t) const;
  double slope_after(double t) const { return evaluate(Dual(t, 1.0)).slope; }  ///< of the piece that follows t

  /// Number of points at or before t: which piece holds there.
  std::size_t piece(double t) const {
    return static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), t) - times_.begin());
  }
  const std::vector<double>& times() const { return times_; }
  Interpolation interpolation() const { return bend_.empty() ? Interpolation::linear : Interpolation::cubic; }
  const std::string& source() const { return source_; }

 private:
  void fit_spline();

  std::vector<double> times_, values_;
  std::vector<double> bend_;  ///< second derivatives at the points; empty: lines
  std::string source_;
};

template <class Scalar>
Scalar TimeTable::evaluate(const Scalar& t) const {
  using stickslip::primal;
  const std::size_t k = piece(primal(t));
  if (k == 0) return values_.front();
  if (k == times_.size()) return values_.back();
  const double width = times_[k] - times_[k - 1];
  const Scalar s = (t - times_[k - 1]) / width;
  const Scalar line = s * (values_[k] - values_[k - 1]) + values_[k - 1];
  if (bend_.empty()) return line;
  const Scalar rest = 1.0 - s;
  return line - s * rest * ((rest + 1.0) * bend_[k - 1] + (s + 1.0) * bend_[k]) * (width * width / 6.0);
}

}  // namespace stickslip
