// SPDX-License-Identifier: Apache-2.0
// Named numbers of a model, in the order they were given.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stickslip {

using NamedNumber = std::pair<std::string, double>;

class Parameters {
 public:
  Parameters() = default;
  /// Throws InputError for a name that is given twice.
  Parameters(std::initializer_list<NamedNumber> values) : Parameters(std::vector<NamedNumber>(values)) {}
  Parameters(std::vector<NamedNumber> values);

  /// Both throw InputError with the nearest known name.
  double operator[](std::string_view name) const;
  void set(std::string_view name, double value);

  /// nullptr for an unknown name.
  const double* find(std::string_view name) const;
  std::vector<std::string> names() const;
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  std::size_t size() const { return values_.size(); }

 private:
  [[noreturn]] void refuse(std::string_view name) const;

  std::vector<NamedNumber> values_;
};

}  // namespace stickslip
