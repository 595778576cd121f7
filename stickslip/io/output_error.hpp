// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace stickslip {

/// What was computed cannot be stored: a full disk, a file at its size limit. `what()` names the file and the reason.
/// (A place where nothing can be stored at all is an InputError: the call was wrong.)
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace stickslip
