// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/scheme.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"

namespace stickslip {

namespace {
constexpr std::array<SchemeInfo, 4> kSchemes{{
    {SchemeKind::splitting, "splitting", "Glowinski, Shiau, Kuo, Nasser 2004 (paper 1)",
     "matrices with symmetric mass; friction (one component or planar, weakening, viscous, static limit, moving "
     "surface)",
     "order 1; friction law exact at V^{n+1/2}; energy balance to round-off (symmetric stiffness); creep in stick is "
     "reported, not bounded"},
    {SchemeKind::moreau, "moreau",
     "velocity-level theta step with elasticity, contact, impact and friction in one inclusion",
     "matrices, equations, free bodies; friction (one component or planar, weakening, viscous, static limit, moving "
     "surface, limits that depend on reactions); contact with friction and impact in 2D and 3D; holonomic and "
     "nonholonomic constraints, redundant ones too",
     "order 2 with theta = 1/2 and located reversals and break-aways (1 where planar slip turns, through impacts and "
     "where contacts open or close); exact sticking; constraints to round-off at the end of each step; energy balance "
     "to round-off (quadratic energies)"},
    {SchemeKind::event, "event",
     "VanderVoort, Singh 1987 (paper 2), the mode decided for all laws at once; constraints by singular values",
     "matrices, equations; friction (one component or planar, weakening, viscous, static limit, moving surface); "
     "contact with friction and impact given by expressions; holonomic and nonholonomic constraints, redundant ones "
     "too",
     "round-off (linear systems with forces of time) or the tolerance, through all events; exact sticking; energy "
     "balance to the same"},
    {SchemeKind::viscoelastic, "viscoelastic",
     "Fidlin, Deppler, Braun (paper 4), with a prepared start; limits as in paper 3's tangential law",
     "matrices, equations; independent holonomic and nonholonomic constraints, with or without a force limit; friction "
     "(one component or planar) as the same spring-damper with its limit",
     "the exact motion up to O(epsilon), Lambda too after the initial layer; up to O(sqrt(epsilon)) from the first "
     "reversal of a slip or slip from rest by a sudden force on; energy balance to the tolerance; cost that hardly "
     "grows "
     "as epsilon -> 0"},
}};
}  // namespace

std::span<const SchemeInfo> scheme_table() { return kSchemes; }

std::string_view to_string(SchemeKind kind) { return kSchemes[static_cast<std::size_t>(kind)].name; }

SchemeKind scheme_from(std::string_view name) {
  std::vector<std::string> known;
  for (const SchemeInfo& info : kSchemes) {
    if (info.name == name) return info.kind;
    known.emplace_back(info.name);
  }
  throw InputError(fmt::format("unknown scheme '{}'{}", name, name_hint(name, known)));
}

bool is_above(const StateFunction& a, const StateFunction& b) {
  return !a.is_constant() || !b.is_constant() || a({}) > b({});
}

/// The key of a friction law that is more than Coulomb's with one limit and a disk; nullptr: it is no more.
const char* beyond_a_limit(const FrictionElement& element) {
  if (element.static_limit && is_above(*element.static_limit, element.limit)) return "static_limit";
  if (element.viscous != 0) return "viscous";
  if (element.weakening.shape != WeakeningShape::none) return "weakening";
  return element.size() == 2 && element.planar_set != SetKind::disk ? "cone" : nullptr;
}

namespace {
bool depends_on_reactions(const FrictionElement& element, const System& system) {
  const Index index_slot = 1 + system.info().nq() + system.info().nv();
  return element.limit.depends_on_reactions(index_slot) ||
         (element.static_limit && element.static_limit->depends_on_reactions(index_slot));
}

void require_viscoelastic(const System& system) {
  if (!system.laws().contacts().empty())
    throw InputError(
        fmt::format("scheme 'viscoelastic' takes no contacts, but there is contact '{}'; use scheme = "
                    "\"event\" or \"moreau\"",
                    system.laws().contacts().front().name));
  if (system.laws().constraints().empty() && system.laws().friction().empty())
    throw InputError(
        "scheme 'viscoelastic' replaces constraints and friction by spring-dampers, but the model has neither; use "
        "scheme = \"event\"");
  for (const FrictionElement& element : system.laws().friction())
    if (const char* key = beyond_a_limit(element))
      throw InputError(fmt::format(
          "scheme 'viscoelastic' takes Coulomb friction with a limit alone (an interval or a disk), not the "
          "`{}` of friction '{}'; use scheme = \"event\"{}",
          key, element.name, " or \"moreau\""));
}
}  // namespace

void require_supported(SchemeKind kind, const System& system) {
  if (kind == SchemeKind::splitting || kind == SchemeKind::viscoelastic)
    for (const FrictionElement& element : system.laws().friction())
      if (depends_on_reactions(element, system))
        throw InputError(
            fmt::format("scheme '{}' takes no limit that depends on a reaction, as that of friction '{}' does; use "
                        "scheme = \"moreau\" or \"event\"",
                        to_string(kind), element.name));
  if (kind == SchemeKind::viscoelastic) require_viscoelastic(system);
  if (kind == SchemeKind::splitting && !system.laws().constraints().empty())
    throw InputError("scheme 'splitting' takes no constraints; use scheme = \"moreau\" or \"event\"");
  if (kind == SchemeKind::event) {
    if (!system.laws().contact_source().points_stay())
      throw InputError(
          "scheme 'event' takes no contacts between shapes (points of contact between shapes appear and vanish); use scheme = "
          "\"moreau\"");
    for (const FrictionElement& element : system.laws().friction())
      if (element.size() == 2 && element.planar_set != SetKind::disk)
        throw InputError(
            fmt::format("scheme 'event' takes planar friction with the disk only, not friction '{}' with "
                        "a {}; use cone = \"disk\" or scheme = \"moreau\"",
                        element.name, to_string(element.planar_set)));
    for (const ContactElement& contact : system.laws().contacts())
      if (contact.tangents == 2 && contact.cone != SetKind::friction_cone)
        throw InputError(
            fmt::format("scheme 'event' takes the quadratic friction cone only, not contact '{}' with a "
                        "{}; use cone = \"disk\" or scheme = \"moreau\"",
                        contact.name, to_string(contact.cone)));
  }
  if (kind == SchemeKind::splitting && !system.linear())
    throw InputError("scheme 'splitting' takes systems given by [matrices] only; use scheme = \"moreau\"");
  if (kind == SchemeKind::splitting && !system.laws().contacts().empty())
    throw InputError("scheme 'splitting' takes no contacts; use scheme = \"moreau\"");
  if (kind == SchemeKind::splitting && system.forces().applied_depends_on_state())
    throw InputError(
        "scheme 'splitting' takes forces that depend on time alone (its friction step holds the position fixed); use "
        "scheme = \"moreau\"");
}

}  // namespace stickslip
