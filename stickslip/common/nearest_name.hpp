// SPDX-License-Identifier: Apache-2.0
// "Did you mean ...": the known name nearest to a misspelt one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stickslip {

/// The name with the smallest edit distance (Levenshtein, with transpositions), or "" if none is near: distance above a
/// third of the length, at least 2, or above half of the longer of both ('q' is not meant as 't'). A name that begins
/// with two letters or more that were given is at distance 1: 'om' is meant as 'omega'.
std::string nearest_name(std::string_view misspelt, std::span<const std::string> known);

/// " (did you mean 'x'?)" or " (known: a, b, c)" to end an error message.
std::string name_hint(std::string_view misspelt, std::span<const std::string> known);

}  // namespace stickslip
