// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/time_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"

namespace stickslip {

TimeTable::TimeTable(std::vector<double> times, std::vector<double> values, std::string source)
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
  }
}

double TimeTable::operator()(double t) const {
  const auto after = std::upper_bound(times_.begin(), times_.end(), t);
  if (after == times_.begin()) return values_.front();
  if (after == times_.end()) return values_.back();
  const std::size_t k = static_cast<std::size_t>(after - times_.begin());
  const double fraction = (t - times_[k - 1]) / (times_[k] - times_[k - 1]);
  return values_[k - 1] + fraction * (values_[k] - values_[k - 1]);
}

double TimeTable::slope_after(double t) const {
  const auto after = std::upper_bound(times_.begin(), times_.end(), t);
  if (after == times_.begin() || after == times_.end()) return 0;
  const std::size_t k = static_cast<std::size_t>(after - times_.begin());
  return (values_[k] - values_[k - 1]) / (times_[k] - times_[k - 1]);
}

}  // namespace stickslip
