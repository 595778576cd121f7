// SPDX-License-Identifier: Apache-2.0
// Bad input is an exception that a person can act on. (Programmer errors are assertions; numerical outcomes are a
// Status, see status.hpp.)
#pragma once

#include <stdexcept>
#include <string>

namespace stickslip {

/// Something the user gave is wrong. `what()` is one complete message: where (file, line, key), what, and the remedy.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace stickslip
