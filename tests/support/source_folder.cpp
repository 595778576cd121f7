// SPDX-License-Identifier: Apache-2.0
#include "tests/support/source_folder.hpp"

namespace stickslip {

std::string source_folder() { return STICKSLIP_SOURCE_DIR; }

}  // namespace stickslip
