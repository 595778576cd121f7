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

/// What is being written is no longer what its path names: someone renamed, removed or replaced it. Whatever stands
/// there now is not ours, and nothing more is written.
class LostOutput : public OutputError {
 public:
  using OutputError::OutputError;
};

}  // namespace stickslip
