// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/scheme.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"

namespace stickslip {

namespace {
constexpr std::array<SchemeInfo, 2> kSchemes{{
    {SchemeKind::splitting, "splitting", "Glowinski, Shiau, Kuo, Nasser 2004 (paper 1)",
     "matrices with symmetric mass; friction (one component or planar, weakening, viscous, static limit, moving "
     "surface)",
     "order 1; friction law exact at V^{n+1/2}; energy balance to round-off (symmetric stiffness); creep in stick is "
     "reported, not bounded"},
    {SchemeKind::moreau, "moreau",
     "velocity-level theta step with elasticity, contact, impact and friction in one inclusion",
     "matrices, equations, free bodies; friction (one component or planar, weakening, viscous, static limit, moving "
     "surface); contact with friction and impact in 2D and 3D",
     "order 2 with theta = 1/2 and located reversals and break-aways (matrices with friction; 1 where planar slip "
     "turns, through contacts and impacts); exact sticking; energy balance to round-off (quadratic energies)"},
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

void require_supported(SchemeKind kind, const System& system) {
  if (kind == SchemeKind::splitting && !system.linear())
    throw InputError("scheme 'splitting' takes systems given by [matrices] only; use scheme = \"moreau\"");
  if (kind == SchemeKind::splitting && !system.contacts().empty())
    throw InputError("scheme 'splitting' takes no contacts; use scheme = \"moreau\"");
  if (kind == SchemeKind::splitting && system.applied_force_depends_on_state())
    throw InputError(
        "scheme 'splitting' takes forces that depend on time alone (its friction step holds the position fixed); use "
        "scheme = \"moreau\"");
}

}  // namespace stickslip
