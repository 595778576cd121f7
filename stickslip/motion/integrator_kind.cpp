// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/integrator_kind.hpp"

#include "stickslip/common/words.hpp"

namespace stickslip {

namespace {
constexpr Words<IntegratorKind, 2> kIntegrators{"integrator", {"dormand_prince", "radau"}};
}  // namespace

std::string_view to_string(IntegratorKind kind) { return kIntegrators.of(kind); }
IntegratorKind integrator_from(std::string_view name) { return kIntegrators.from(name); }

}  // namespace stickslip
