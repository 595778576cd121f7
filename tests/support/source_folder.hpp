// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace stickslip {

/// The root of the project's sources, where tests find models/. Compiled in one place, so that the objects of all other
/// tests are the same in every clone and a compiler cache serves them.
std::string source_folder();

}  // namespace stickslip
