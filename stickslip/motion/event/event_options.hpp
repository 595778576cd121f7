// SPDX-License-Identifier: Apache-2.0
// Options of the scheme `event` (event.hpp), and its description.
#pragma once

#include <string_view>

#include "stickslip/motion/integrator_kind.hpp"

namespace stickslip {

struct SchemeDescription;

enum class FlowKind { automatic, exact, integrator };
std::string_view to_string(FlowKind kind);
/// Throws InputError naming the known words.
FlowKind flow_kind_from(std::string_view name);

/// Field names are the keys of [run.event].
struct EventOptions {
  FlowKind flow = FlowKind::automatic;                         ///< automatic: exact where the system allows it
  IntegratorKind integrator = IntegratorKind::dormand_prince;  ///< radau for stiff systems
  double absolute_tolerance = 0;                               ///< 0: a thousandth of the tolerance; see ode_flow.hpp
  double accumulation_time = 0;                                ///< [s]; 0: kAccumulation (event.hpp) of the run
  long max_events = 10'000'000;
  void validate() const;
};

/// Penetration that a start may have and is projected out of, of gap_size().
inline constexpr double kEventStartPenetration = 1e-6;

SchemeDescription event_description();

}  // namespace stickslip
