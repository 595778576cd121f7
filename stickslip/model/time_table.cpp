// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/time_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"

namespace stickslip {

TimeTable::TimeTable(std::vector<double> times, std::vector<double> values, std::string source,
                     Interpolation interpolation)
    : times_(std::move(times)), values_(std::move(values)), source_(std::move(source)) {
  if (times_.empty() || times_.size() != values_.size())
    throw InputError(fmt::format("{}: a table needs at least one row of two numbers (time, value)", source_));
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (!std::isfinite(times_[i]) || !std::isfinite(values_[i]))
      throw InputError(fmt::format("{}: row {} holds a number that is not finite", source_, i + 1));
    if (i > 0 && times_[i] < times_[i - 1])
      throw InputError(
          fmt::format("{}: row {}: time {} is before {}; times must ascend", source_, i + 1, times_[i], times_[i - 1]));
    if (i > 1 && times_[i] == times_[i - 2])
      throw InputError(
          fmt::format("{}: row {}: time {} occurs three times; a jump takes two rows", source_, i + 1, times_[i]));
    if (interpolation == Interpolation::cubic && i > 0 && times_[i] == times_[i - 1])
      throw InputError(
          fmt::format("{}: row {}: {} occurs twice; a cubic spline has no jumps, remove one of the rows or use "
                      "interpolation = \"linear\"",
                      source_, i + 1, times_[i]));
  }
  if (interpolation == Interpolation::cubic && times_.size() > 2) fit_spline();
}

/// Continuity of the first derivative at the inner points: h0 m0 + 2 (h0 + h1) m1 + h1 m2 = 6 (slope1 - slope0).
void TimeTable::fit_spline() {
  const std::size_t n = times_.size();
  bend_.assign(n, 0.0);
  std::vector<double> above(n, 0.0);
  for (std::size_t k = 1; k + 1 < n; ++k) {
    const double h0 = times_[k] - times_[k - 1], h1 = times_[k + 1] - times_[k];
    const double jump = (values_[k + 1] - values_[k]) / h1 - (values_[k] - values_[k - 1]) / h0;
    const double pivot = 2 * (h0 + h1) - h0 * above[k - 1];
    above[k] = h1 / pivot;
    bend_[k] = (6 * jump - h0 * bend_[k - 1]) / pivot;
  }
  for (std::size_t k = n - 2; k > 0; --k) bend_[k] -= above[k] * bend_[k + 1];
  for (std::size_t k = 0; k < n; ++k)
    if (!std::isfinite(bend_[k]))
      throw InputError(
          fmt::format("{}: row {}: the spline overflows there; points are too close together or values "
                      "too large",
                      source_, k + 1));
}

}  // namespace stickslip
