// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/measurement_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip {

namespace {

constexpr std::size_t kLargestFile = 1024 * kMebibyte;

class MeasurementParser {
 public:
  MeasurementParser(std::string_view text, const std::string& path) : lines_(text) { table_.path = path; }

  MeasurementTable parse() {
    for (std::string_view line; lines_.next(line);) {
      line = line.substr(0, line.find('#'));
      if (line.find_first_not_of(" \t\r\v\f") == std::string_view::npos) continue;
      if (table_.names.empty()) {
        read_names(line);
      } else {
        read_row(line);
      }
    }
    if (table_.names.empty()) fail("the file is empty; its first line names the columns, as t, x, v_x");
    if (table_.times.empty()) fail("there are no measurements below the names of the columns");
    return std::move(table_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(fmt::format("{}:{}: {}", table_.path, std::max(1L, lines_.number()), message));
  }

  void split(std::string_view line) {
    if (separator_ == ' ') return split_words(line, fields_);
    split_fields(line, separator_, fields_);
  }

  void read_names(std::string_view line) {
    separator_ = line.find(',') != std::string_view::npos ? ',' : line.find(';') != std::string_view::npos ? ';' : ' ';
    split(line);
    columns_ = fields_.size();
    for (std::size_t k = 0; k < columns_; ++k) {
      std::string_view name = fields_[k];
      if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
      if (parse_finite_number(name))
        fail(fmt::format("{} is a number; the first line must name the columns, as t, x, v_x", in_quotes(name)));
      if (name == "t") {
        if (time_ < columns_) fail("two columns are named t");
        time_ = k;
        continue;
      }
      if (std::find(table_.names.begin(), table_.names.end(), name) != table_.names.end())
        fail(fmt::format("two columns are named {}", in_quotes(name)));
      table_.names.emplace_back(name);
    }
    if (time_ >= columns_) fail("no column is named t; one must hold the time in s");
    if (table_.names.empty()) fail("there is no column beside t");
    table_.values.resize(table_.names.size());
  }

  void read_row(std::string_view line) {
    split(line);
    if (fields_.size() != columns_)
      fail(fmt::format("this line has {} fields, the first one {}", fields_.size(), columns_));
    std::size_t column = 0;
    for (std::size_t k = 0; k < columns_; ++k) {
      const bool missing = fields_[k].empty() || fields_[k] == "nan" || fields_[k] == "NaN";
      const auto value = parse_finite_number(fields_[k]);
      if (!value && (!missing || k == time_))
        fail(fmt::format("{} in column {} is not a finite number", in_quotes(fields_[k]), k + 1));
      if (k != time_) {
        table_.values[column++].push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
        continue;
      }
      if (!table_.times.empty() && !(*value > table_.times.back()))
        fail(fmt::format("time {} comes after {}; times must ascend", *value, table_.times.back()));
      table_.times.push_back(*value);
    }
  }

  LineReader lines_;
  MeasurementTable table_;
  std::vector<std::string_view> fields_;
  std::size_t columns_ = 0, time_ = std::numeric_limits<std::size_t>::max();
  char separator_ = ',';
};

}  // namespace

MeasurementTable parse_measurements(std::string_view text, const std::string& path_for_messages) {
  return MeasurementParser(text, path_for_messages).parse();
}

MeasurementTable read_measurements(const std::string& path) {
  return parse_measurements(read_text_file(path, kLargestFile), path);
}

}  // namespace stickslip
