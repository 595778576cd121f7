// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/moreau_options.hpp"

#include <fmt/format.h>

#include "stickslip/common/error.hpp"
#include "stickslip/common/words.hpp"

namespace stickslip {

namespace {
constexpr Words<ContactRule, 2> kContactRules{"contact rule", {"stabilised", "velocity"}};
constexpr Words<ContactRelaxation, 2> kRelaxations{"relaxation", {"none", "convex"}};
}  // namespace

std::string_view to_string(ContactRule rule) { return kContactRules.of(rule); }
ContactRule contact_rule_from(std::string_view name) { return kContactRules.from(name); }
std::string_view to_string(ContactRelaxation relaxation) { return kRelaxations.of(relaxation); }
ContactRelaxation contact_relaxation_from(std::string_view name) { return kRelaxations.from(name); }

void MoreauOptions::validate() const {
  if (!(theta >= 0.5 && theta <= 1)) throw InputError(fmt::format("run.moreau.theta = {} must lie in [0.5, 1]", theta));
  if (!(fixed_point_tolerance > 0))
    throw InputError(fmt::format("run.moreau.fixed_point_tolerance = {} must be > 0", fixed_point_tolerance));
  if (max_fixed_point < 1)
    throw InputError(fmt::format("run.moreau.max_fixed_point = {} must be >= 1", max_fixed_point));
  if (!(contact_tolerance > 0))
    throw InputError(fmt::format("run.moreau.contact_tolerance = {} must be > 0", contact_tolerance));
  if (!(start_penetration >= 0))
    throw InputError(fmt::format("run.moreau.start_penetration = {} must be >= 0", start_penetration));
  if (max_splits < 0) throw InputError(fmt::format("run.moreau.max_splits = {} must be >= 0", max_splits));
  solver.validate();
}

}  // namespace stickslip
