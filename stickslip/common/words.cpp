// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"

namespace stickslip {

std::size_t find_word(std::string_view what, std::span<const std::string_view> known, std::string_view name) {
  const auto found = std::find(known.begin(), known.end(), name);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  throw InputError(fmt::format("unknown {} '{}'{}", what, name,
                               name_hint(name, std::vector<std::string>(known.begin(), known.end()))));
}

}  // namespace stickslip
