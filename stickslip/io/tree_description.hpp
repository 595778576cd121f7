// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "stickslip/io/model_file.hpp"

namespace stickslip {

/// The bodies of a tree with what they hang on: masses, and of each axis where it is and points to, where it starts,
/// springs, damping, stops, friction. Empty for other models.
std::vector<std::string> describe_tree(const ModelFile& model);

}  // namespace stickslip
