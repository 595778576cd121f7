// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace stickslip {

/// "major.minor.patch", from the one place that states it (CMakeLists.txt).
std::string_view version();

}  // namespace stickslip
