// SPDX-License-Identifier: Apache-2.0
// The schemes there are, and what their descriptions share.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/motion/compliant/compliant_options.hpp"
#include "stickslip/motion/event/event_options.hpp"
#include "stickslip/motion/moreau/moreau_options.hpp"
#include "stickslip/motion/scheme.hpp"
#include "stickslip/motion/simulate.hpp"
#include "stickslip/motion/splitting/splitting_options.hpp"
#include "stickslip/motion/viscoelastic/viscoelastic_options.hpp"

namespace stickslip {

namespace {

/// In the order of SchemeKind.
const std::array<SchemeDescription, 5>& schemes() {
  static const std::array<SchemeDescription, 5> table{
      splitting_description(), moreau_description(),       event_description(),
      compliant_description(), viscoelastic_description(),
  };
  return table;
}

}  // namespace

std::span<const SchemeDescription> scheme_table() { return schemes(); }

const SchemeDescription& describe(SchemeKind kind) { return schemes()[static_cast<std::size_t>(kind)]; }

bool chooses_own_steps(const SimulationOptions& options) {
  const SchemeDescription& kind = describe(options.scheme);
  return kind.own_steps && !(kind.fixed_steps && kind.fixed_steps(options));
}

SchemeKind scheme_from(std::string_view name) {
  std::vector<std::string> known;
  for (const SchemeDescription& scheme : schemes()) {
    if (scheme.name == name) return scheme.kind;
    known.emplace_back(scheme.name);
  }
  throw InputError(fmt::format("unknown scheme '{}'{}", name, name_hint(name, known)));
}

void require_sensitivities(SchemeKind kind) {
  if (describe(kind).derivatives != Derivatives::none) return;
  std::string others;
  for (const SchemeDescription& scheme : schemes())
    if (scheme.derivatives != Derivatives::none)
      others += fmt::format("{}\"{}\"", others.empty() ? "" : " or ", scheme.name);
  throw InputError(
      fmt::format("run.sensitivities: scheme '{}' has no derivatives, because it steps over the instants at which the "
                  "motion changes its form; use scheme = {}",
                  describe(kind).name, others));
}

void require_supported(SchemeKind kind, const System& system) { describe(kind).require(system); }

double integration_limit(double tolerance, double round_off) {
  constexpr double kAddedUp = 1e3, kResolved = 1e-2;
  return std::max(round_off, std::min(kAddedUp * tolerance, kResolved));
}

void refuse_other_polygons(std::string_view scheme, const System& system) {
  for (const ContactElement& contact : system.laws().contacts())
    if (contact.polygon)
      throw InputError(
          fmt::format("scheme '{}' takes inscribed polygons of an even number of facets with a vertex on the first "
                      "tangent; contact '{}' "
                      "has another one. Give facets = n alone, or use scheme = \"compliant\"",
                      scheme, contact.name));
}

void refuse_reaction_limits(std::string_view scheme, const System& system) {
  const Index index_slot = 1 + system.info().nq() + system.info().nv();
  for (const FrictionElement& element : system.laws().friction())
    if (element.limit.depends_on_reactions(index_slot) ||
        (element.static_limit && element.static_limit->depends_on_reactions(index_slot)))
      throw InputError(
          fmt::format("scheme '{}' takes no limit that depends on a reaction, as that of friction '{}' does; use "
                      "scheme = \"moreau\" or \"event\"",
                      scheme, element.name));
}

}  // namespace stickslip
