// SPDX-License-Identifier: Apache-2.0
// Inside of Expression: from text to the simplified syntax tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stickslip/model/expression.hpp"
#include "stickslip/model/expression_tree.hpp"

namespace stickslip::expression_detail {

/// Limits that keep a hostile text from using up stack or time; far above what a person writes.
inline constexpr std::size_t kLongestText = 65536;
inline constexpr int kDeepestNesting = 200;

/// Throws ExpressionError.
Tree parse_tree(std::string_view text, const SymbolTable& symbols);

struct Function {
  std::string_view name;
  Op op;
  std::uint32_t fewest_arguments;
  std::uint32_t most_arguments;
};

/// nullptr if there is none of this name.
const Function* find_function(std::string_view name);

/// Functions, `pi` and the words of the grammar: not available as names of variables.
std::vector<std::string> reserved_names();

/// As on the keyboard: "+", "sin", "if", ...
std::string_view spelling(Op op);

/// Length in bytes of the well-formed UTF-8 character at `byte`, or 1 for a byte that starts none.
std::size_t character_length(std::string_view text, std::size_t byte);

}  // namespace stickslip::expression_detail
