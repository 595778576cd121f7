// SPDX-License-Identifier: Apache-2.0
// Modes of a law, and the events between them. With u the relative velocity and c the limit, the force on the system is
//
//     r + c γ(u) - b u,      r = -c λ,  λ ∈ Sgn(u)
//
// r, the set-valued part, is the reaction of the interval [-c, c] (set.hpp); the rest is smooth (γ: weakening.hpp).
// While stuck, u = 0 and |r| <= c with c the static limit; while slipping, r = -c sgn(u) with c the dynamic limit. A
// static limit above the dynamic one is not a convex law: the mode of the law carries it, and selects the limit.
//
// Units: limits and forces in N (or N m), u in m/s (or rad/s), viscous coefficient b in N s/m (or N m s/rad).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stickslip {

/// What a law is doing. Dry friction on one axis: stick, slip_plus, slip_minus. Planar friction: stick, slip. Contact
/// without friction: open, closed. Contact with friction: open and the modes of its friction.
enum class Mode { open, stick, slip_plus, slip_minus, slip, closed };

/// "open", "stick", "slip+", "slip-", "slip", "closed"
std::string_view to_string(Mode mode);

/// Sign of the relative velocity: exactly 0 (of either sign) is stick. Stuck velocities are stored as exact zeros, so
/// no tolerance enters here.
Mode mode_of(double relative_velocity);

/// Planar friction: stick if both components are exactly 0, else slip.
Mode mode_of(double relative_velocity_1, double relative_velocity_2);

/// `facet`: the force of a law that slips comes to lie on other facets of its polygon.
enum class EventKind { stick, slip, reversal, open, close, impact, facet };
inline constexpr int kModeCount = 6, kEventKindCount = 7;

/// "stick", "slip", "reversal", "open", "close", "impact", "facet"
std::string_view to_string(EventKind kind);

/// What happened between two modes of one law:
///
///     any → open                     open          slip+, slip-, slip, closed → stick   stick
///     open → any                     close         stick → slip+, slip-, slip           slip
///     slip+ → slip-, slip- → slip+   reversal      anything else, or no change          nothing
///
/// An impact is a velocity jump and shows in no pair of modes: it is never returned, nor is a change of facets.
std::optional<EventKind> event_between(Mode before, Mode after);

/// Facets of a polygonal section that the tangential force of a law lies on, counted from 0 counter-clockwise: none
/// (inside, round, or open: a cone that is a point is no facet), one, or the two that meet in a vertex. -1: none.
struct ActiveFacets {
  int first = -1, second = -1;
  bool operator==(const ActiveFacets&) const = default;
};
/// "", "3", "3+4"
std::string to_string(const ActiveFacets& facets);

}  // namespace stickslip
