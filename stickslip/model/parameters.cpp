// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"

namespace stickslip {

Parameters::Parameters(std::vector<NamedNumber> values) : values_(std::move(values)) {
  for (auto it = values_.begin(); it != values_.end(); ++it)
    if (std::any_of(values_.begin(), it, [&](const NamedNumber& known) { return known.first == it->first; }))
      throw InputError(fmt::format("the parameter '{}' is given twice", it->first));
}

const double* Parameters::find(std::string_view name) const {
  const auto it = std::ranges::find(values_, name, &NamedNumber::first);
  return it == values_.end() ? nullptr : &it->second;
}

double Parameters::operator[](std::string_view name) const {
  if (const double* value = find(name)) return *value;
  refuse(name);
}

void Parameters::set(std::string_view name, double value) {
  const auto it = std::ranges::find(values_, name, &NamedNumber::first);
  if (it == values_.end()) refuse(name);
  it->second = value;
}

std::vector<std::string> Parameters::names() const {
  std::vector<std::string> result;
  for (const auto& [name, value] : values_) result.push_back(name);
  return result;
}

void Parameters::refuse(std::string_view name) const {
  throw InputError(fmt::format("there is no parameter '{}'{}", name, name_hint(name, names())));
}

}  // namespace stickslip
