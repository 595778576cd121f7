// SPDX-License-Identifier: Apache-2.0
// How the motion over a period is followed (period_map.hpp): apart from it, so that who asks for an orbit does not
// compile the event scheme.
#pragma once

#include "stickslip/common/deadline.hpp"
#include "stickslip/motion/event/event_options.hpp"

namespace stickslip {

struct PeriodMapOptions {
  double tolerance = 1e-12;  ///< of the integrator, where the flow is not exact
  EventOptions event = {};
  StopRequest stop = nullptr;
};

}  // namespace stickslip
