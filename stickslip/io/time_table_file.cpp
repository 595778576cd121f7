// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/time_table_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stickslip/common/error.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip {

namespace {
constexpr std::size_t kLargestFile = 1024 * kMebibyte;

void split_row(std::string_view line, std::vector<std::string_view>& fields) {
  if (line.find(',') != std::string_view::npos) return split_fields(line, ',', fields);
  if (line.find(';') != std::string_view::npos) return split_fields(line, ';', fields);
  split_words(line, fields);
}
}  // namespace

TimeTable parse_time_table(std::string_view text, const std::string& path_for_messages, int column,
                           Interpolation interpolation) {
  LineReader lines(text);
  const auto fail = [&](const std::string& message) {
    throw InputError(fmt::format("{}:{}: {}", path_for_messages, std::max(1L, lines.number()), message));
  };
  std::vector<double> times, values;
  std::vector<std::string_view> fields;
  std::size_t columns = 0;
  const auto number = [&](std::size_t field) {
    const auto value = parse_finite_number(fields[field]);
    if (!value) fail(fmt::format("{} in column {} is not a finite number", in_quotes(fields[field]), field + 1));
    return *value;
  };
  for (std::string_view line; lines.next(line);) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r\v\f") == std::string_view::npos) continue;
    split_row(line, fields);
    const bool first = columns == 0;
    if (first) {
      columns = fields.size();
      if (columns < 2) fail("a table needs two columns or more: time, value");
      if (static_cast<std::size_t>(column) > columns)
        fail(fmt::format("column {} is asked for, but there are {} columns", column, columns));
      if (!parse_finite_number(fields[0])) continue;
    }
    if (fields.size() != columns)
      fail(fmt::format("this line has {} columns, the first one has {}", fields.size(), columns));
    const double t = number(0);
    if (!times.empty() && t < times.back())
      fail(fmt::format("time {} comes after {}; times must ascend", t, times.back()));
    if (times.size() > 1 && t == times[times.size() - 2])
      fail(fmt::format("time {} occurs three times; a jump takes two lines", t));
    times.push_back(t);
    values.push_back(number(static_cast<std::size_t>(column - 1)));
  }
  if (times.empty()) fail("the table holds no numbers");
  return TimeTable(std::move(times), std::move(values), path_for_messages, interpolation);
}

TimeTable read_time_table(const std::string& path, int column, Interpolation interpolation) {
  return parse_time_table(read_text_file(path, kLargestFile), path, column, interpolation);
}

}  // namespace stickslip
