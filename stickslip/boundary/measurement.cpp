// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

double largest_of(const MeasuredColumn& column) {
  double largest = 0;
  for (const double value : column.values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

double MeasuredColumn::size() const {
  double sum = 0, squares = 0;
  const double largest = largest_of(*this);
  const long n = count();
  if (n == 0 || largest == 0) return 1;
  for (const double value : values)
    if (std::isfinite(value)) sum += value;
  const double mean = sum / static_cast<double>(n);
  for (const double value : values)
    if (std::isfinite(value)) squares += (value - mean) * (value - mean);
  constexpr double kConstant = 1e-9;  // of the largest: round-off of what was written down
  const double spread = std::sqrt(squares / static_cast<double>(n));
  return spread > kConstant * largest ? spread : largest;
}

long MeasuredColumn::count() const {
  return std::count_if(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

long Measurement::count() const {
  long all = 0;
  for (const MeasuredColumn& column : columns) all += column.count();
  return all;
}

void require_valid(const Measurement& data) {
  if (data.columns.empty()) throw InputError("the data have no column to compare with");
  for (std::size_t k = 1; k < data.times.size(); ++k)
    if (!(data.times[k] > data.times[k - 1]))
      throw InputError(
          fmt::format("times of the data must ascend; {} comes after {}", data.times[k], data.times[k - 1]));
  for (const MeasuredColumn& column : data.columns) {
    assert(column.values.size() == data.times.size());
    if (column.count() == 0) throw InputError(fmt::format("column '{}' of the data holds no number", column.name));
    if (!std::isfinite(column.size()))
      throw InputError(fmt::format(
          "column '{}' of the data holds numbers up to {:.3g}, whose squares are no finite numbers; correct them, or "
          "leave their cells empty",
          column.name, largest_of(column)));
    if (!(column.sigma >= 0) || !std::isfinite(column.sigma))
      throw InputError(fmt::format("sigma of '{}' = {} must be > 0", column.name, column.sigma));
    if (!(column.weight > 0) || !std::isfinite(column.weight))
      throw InputError(fmt::format("the weight of '{}' = {} must be > 0", column.name, column.weight));
  }
}

}  // namespace stickslip
