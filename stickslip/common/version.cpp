// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/version.hpp"

namespace stickslip {

std::string_view version() { return STICKSLIP_VERSION; }

}  // namespace stickslip
