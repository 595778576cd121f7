// SPDX-License-Identifier: Apache-2.0
// A number of a case that is looked for.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "stickslip/common/vector.hpp"
#include "stickslip/motion/case.hpp"

namespace stickslip {

/// The key of the time at which a shooting ends, which is no number of the case itself.
inline constexpr std::string_view kEndTimeKey = "shoot.end_time";

struct Unknown {
  std::string name;  ///< in results and in conditions
  std::string key;   ///< whatever Case::set() takes, or kEndTimeKey
  double start = 0;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  /// Its size where it is 0, in its own unit; 0: a thousandth of |start|, else of the bounds, else 1.
  double scale = 0;

  /// Its scale, start or bounds tell how large it is.
  bool has_size() const;
  bool is_end_time() const { return key == kEndTimeKey; }
  /// Size of a value x for differences and tolerances: |x|, but not below `scale`.
  double size(double x) const;
};

/// Throws InputError that names the unknown: bounds that exclude the start, a name that occurs twice, no unknowns.
void require_valid(std::span<const Unknown> unknowns);

Vector start_values(std::span<const Unknown> unknowns);
Vector lower_bounds(std::span<const Unknown> unknowns);
Vector upper_bounds(std::span<const Unknown> unknowns);

/// The case with the values put in (but for the end time). Throws InputError as Case::set() does.
Case with_values(const Case& base, std::span<const Unknown> unknowns, const Vector& values);

/// "a", "a and b", "a, b and c", each in quotes.
std::string listed(std::span<const std::string> names);

}  // namespace stickslip
