// SPDX-License-Identifier: Apache-2.0
// Counts every call of malloc, calloc, realloc and aligned_alloc in the program (Eigen calls malloc, not operator new).
// Defined in allocation_counter.cpp by interposing glibc's functions; with AddressSanitizer, which does the same, it
// counts nothing and `available` is false.
#pragma once

namespace stickslip {

struct AllocationCounter {
  static const bool available;
  static long count();
};

}  // namespace stickslip
