// SPDX-License-Identifier: Apache-2.0
#include "tests/support/allocation_counter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

namespace {
std::atomic<long> g_allocations{0};
}

#if defined(__SANITIZE_ADDRESS__)
namespace stickslip {
const bool AllocationCounter::available = false;
long AllocationCounter::count() { return g_allocations; }
}  // namespace stickslip
#else
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t size) {
  ++g_allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t n, std::size_t size) {
  ++g_allocations;
  return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t size) {
  ++g_allocations;
  return __libc_realloc(p, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++g_allocations;
  return __libc_memalign(alignment, size);
}
}
namespace stickslip {
const bool AllocationCounter::available = true;
long AllocationCounter::count() { return g_allocations; }
}  // namespace stickslip
#endif

namespace stickslip::allocation_counter_test {
namespace {

TEST(AllocationCounter, SeesAnAllocation) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  const long before = AllocationCounter::count();
  void* volatile p = std::malloc(16);
  std::free(p);
  EXPECT_EQ(AllocationCounter::count(), before + 1);
}

}  // namespace
}  // namespace stickslip::allocation_counter_test
