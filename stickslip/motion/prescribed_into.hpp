// SPDX-License-Identifier: Apache-2.0
// What is said where constraints and prescribed motions leave a contact no way to end its approach.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace stickslip {

inline std::string prescribed_into(std::string_view contact, double t) {
  return fmt::format(
      "contact '{}' closes at t = {:.9g} s along a way that constraints or a prescribed motion leave no freedom: no "
      "force of it "
      "can stop that; end the motion before it, or drive by a motor with `position`, `stiffness` and `limit` instead "
      "of `motion`",
      contact, t);
}

}  // namespace stickslip
