// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string_view>

#include "stickslip/motion/simulate.hpp"

namespace stickslip {

/// The item of that name; throws if the audit has none.
inline const AuditItem& audit_item(const Simulation& simulation, std::string_view name) {
  for (const AuditItem& item : simulation.audit)
    if (item.name == name) return item;
  throw std::out_of_range("no such audit item");
}
inline double audit_value(const Simulation& simulation, std::string_view name) {
  return audit_item(simulation, name).value;
}

}  // namespace stickslip
