// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/event_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/words.hpp"

namespace stickslip {

namespace {
constexpr Words<FlowKind, 3> kFlows{"flow", {"automatic", "exact", "integrator"}};
}  // namespace

std::string_view to_string(FlowKind kind) { return kFlows.of(kind); }
FlowKind flow_kind_from(std::string_view name) { return kFlows.from(name); }

void EventOptions::validate() const {
  if (!(absolute_tolerance >= 0) || !std::isfinite(absolute_tolerance))
    throw InputError(fmt::format("run.event.absolute_tolerance = {} must be >= 0", absolute_tolerance));
  if (!(accumulation_time >= 0) || !std::isfinite(accumulation_time))
    throw InputError(fmt::format("run.event.accumulation_time = {} must be a time >= 0", accumulation_time));
  if (max_events < 1) throw InputError(fmt::format("run.event.max_events = {} must be >= 1", max_events));
}

}  // namespace stickslip
