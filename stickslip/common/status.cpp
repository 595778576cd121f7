// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/status.hpp"

#include "stickslip/common/words.hpp"

namespace stickslip {

namespace {
constexpr Words<Status, 7> kStatuses{
    "status", {"success", "not converged", "no solution", "refused", "not finite", "interrupted", "audit failed"}};
}  // namespace

std::string_view to_string(Status status) { return kStatuses.of(status); }

}  // namespace stickslip
