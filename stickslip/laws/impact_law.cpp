// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/impact_law.hpp"

#include "stickslip/common/words.hpp"

namespace stickslip {

namespace {
constexpr Words<ImpactLaw, 3> kImpactLaws{"impact law", {"newton", "poisson", "energetic"}};
}  // namespace

std::string_view to_string(ImpactLaw law) { return kImpactLaws.of(law); }
ImpactLaw impact_law_from(std::string_view name) { return kImpactLaws.from(name); }

}  // namespace stickslip
