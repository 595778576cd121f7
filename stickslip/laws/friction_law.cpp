// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/friction_law.hpp"

#include <cassert>
#include <cmath>

#include "stickslip/common/words.hpp"

namespace stickslip {
namespace {

constexpr Words<Mode, kModeCount> kModes{"mode", {"open", "stick", "slip+", "slip-", "slip", "closed"}};
constexpr Words<EventKind, kEventKindCount> kEventKinds{
    "event", {"stick", "slip", "reversal", "open", "close", "impact", "facet"}};

bool is_slip(Mode mode) { return mode == Mode::slip_plus || mode == Mode::slip_minus || mode == Mode::slip; }

}  // namespace

std::string_view to_string(Mode mode) { return kModes.of(mode); }

std::string_view to_string(EventKind kind) { return kEventKinds.of(kind); }

Mode mode_of(double relative_velocity) {
  assert(!std::isnan(relative_velocity));
  if (relative_velocity == 0.0) return Mode::stick;
  return relative_velocity > 0.0 ? Mode::slip_plus : Mode::slip_minus;
}

Mode mode_of(double relative_velocity_1, double relative_velocity_2) {
  assert(!std::isnan(relative_velocity_1) && !std::isnan(relative_velocity_2));
  return relative_velocity_1 == 0.0 && relative_velocity_2 == 0.0 ? Mode::stick : Mode::slip;
}

std::optional<EventKind> event_between(Mode before, Mode after) {
  if (before == after) return std::nullopt;
  if (after == Mode::open) return EventKind::open;
  if (before == Mode::open) return EventKind::close;
  if (after == Mode::stick) return EventKind::stick;
  if (before == Mode::stick && is_slip(after)) return EventKind::slip;
  const bool signed_slips = (before == Mode::slip_plus && after == Mode::slip_minus) ||
                            (before == Mode::slip_minus && after == Mode::slip_plus);
  return signed_slips ? std::optional(EventKind::reversal) : std::nullopt;
}

std::string to_string(const ActiveFacets& facets) {
  if (facets.first < 0) return "";
  const std::string first = std::to_string(facets.first);
  return facets.second < 0 ? first : first + "+" + std::to_string(facets.second);
}

}  // namespace stickslip
