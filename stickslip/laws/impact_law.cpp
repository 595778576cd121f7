// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/impact_law.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"

namespace stickslip {

namespace {
constexpr std::array<std::string_view, 3> kNames{"newton", "poisson", "energetic"};
}  // namespace

std::string_view to_string(ImpactLaw law) { return kNames[static_cast<std::size_t>(law)]; }

ImpactLaw impact_law_from(std::string_view name) {
  for (std::size_t k = 0; k < kNames.size(); ++k)
    if (kNames[k] == name) return static_cast<ImpactLaw>(k);
  throw InputError(fmt::format("unknown impact law '{}'{}", name,
                               name_hint(name, std::vector<std::string>(kNames.begin(), kNames.end()))));
}

}  // namespace stickslip
