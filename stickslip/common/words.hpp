// SPDX-License-Identifier: Apache-2.0
// What model files, messages and results call the values of an enumeration.
//
//   constexpr Words<FlowKind, 3> kFlows{"flow", {"automatic", "exact", "integrator"}};     in the order of the values
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace stickslip {

/// Where `name` stands in `known`; throws InputError "unknown `what` 'name'" naming the nearest known word.
std::size_t find_word(std::string_view what, std::span<const std::string_view> known, std::string_view name);

/// Kind: an enumeration with the values 0 ... N - 1.
template <class Kind, std::size_t N>
struct Words {
  std::string_view what;
  std::array<std::string_view, N> names;

  constexpr std::string_view of(Kind kind) const { return names[static_cast<std::size_t>(kind)]; }
  Kind from(std::string_view name) const { return static_cast<Kind>(find_word(what, names, name)); }
};

}  // namespace stickslip
