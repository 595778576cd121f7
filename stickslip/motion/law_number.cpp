// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/law_number.hpp"

#include <algorithm>
#include <charconv>

namespace stickslip {

bool knows_coefficients(const SimulationOptions& options) {
  return options.scheme == SchemeKind::compliant && !options.compliant.quasistatic;
}

std::optional<std::size_t> contact_of_coefficient(const System& system, const std::string& name) {
  constexpr std::string_view kBefore = "contact.", kAfter = ".mu";
  const auto& laws = system.laws().contacts();
  if (!name.starts_with(kBefore) || !name.ends_with(kAfter) || name.size() <= kBefore.size() + kAfter.size()) return {};
  if (!system.laws().contact_source().points_stay() || !system.kinematics().flat()) return {};
  const std::string which = name.substr(kBefore.size(), name.size() - kBefore.size() - kAfter.size());
  std::size_t law = laws.size();
  const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), law);
  if (error != std::errc() || end != which.data() + which.size())
    law = static_cast<std::size_t>(
        std::find_if(laws.begin(), laws.end(), [&](const ContactElement& contact) { return contact.name == which; }) -
        laws.begin());
  if (law >= laws.size() || laws[law].mu_static) return {};
  return law;
}

}  // namespace stickslip
