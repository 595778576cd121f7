// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

namespace {
const std::array<std::string, 2> kContactRules{"stabilised", "velocity"};
const std::array<std::string, 2> kRelaxations{"none", "convex"};
}  // namespace

std::string_view to_string(ContactRule rule) { return kContactRules[static_cast<std::size_t>(rule)]; }

ContactRule contact_rule_from(std::string_view name) {
  for (std::size_t i = 0; i < kContactRules.size(); ++i)
    if (kContactRules[i] == name) return static_cast<ContactRule>(i);
  throw InputError(fmt::format("unknown contact rule '{}'{}", name, name_hint(name, kContactRules)));
}

std::string_view to_string(ContactRelaxation relaxation) { return kRelaxations[static_cast<std::size_t>(relaxation)]; }

ContactRelaxation contact_relaxation_from(std::string_view name) {
  for (std::size_t i = 0; i < kRelaxations.size(); ++i)
    if (kRelaxations[i] == name) return static_cast<ContactRelaxation>(i);
  throw InputError(fmt::format("unknown relaxation '{}'{}", name, name_hint(name, kRelaxations)));
}

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
