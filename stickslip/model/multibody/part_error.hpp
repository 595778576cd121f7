// SPDX-License-Identifier: Apache-2.0
// What is wrong with one body, hinge or loop, so that who read it from a file can say where it stands.
#pragma once

#include <string>

#include "stickslip/common/error.hpp"

namespace stickslip {

/// `list`: "body", "hinge", "loop"; `name`: of the part; `key`: what of it is wrong, empty: the whole.
class PartError : public InputError {
 public:
  PartError(std::string of_list, std::string of_name, std::string of_key, const std::string& message)
      : InputError(message), list(std::move(of_list)), name(std::move(of_name)), key(std::move(of_key)) {}
  std::string list, name, key;
};

}  // namespace stickslip
