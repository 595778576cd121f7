// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/unknown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

/// Part of the start, or of the bounds, below which an unknown counts as small.
constexpr double kSmallPart = 1e-3;

/// 0: nothing tells.
double told_floor(const Unknown& unknown) {
  if (unknown.scale > 0) return unknown.scale;
  if (unknown.start != 0) return kSmallPart * std::abs(unknown.start);
  double bound = 0;
  for (const double limit : {unknown.min, unknown.max})
    if (std::isfinite(limit)) bound = std::max(bound, std::abs(limit));
  return kSmallPart * bound;
}

Vector gathered(std::span<const Unknown> unknowns, double Unknown::*member) {
  Vector values(static_cast<Index>(unknowns.size()));
  for (std::size_t k = 0; k < unknowns.size(); ++k) values[static_cast<Index>(k)] = unknowns[k].*member;
  return values;
}

}  // namespace

bool Unknown::has_size() const { return told_floor(*this) > 0; }

double Unknown::size(double x) const { return std::max(std::abs(x), has_size() ? told_floor(*this) : 1); }

void require_valid(std::span<const Unknown> unknowns) {
  if (unknowns.empty()) throw InputError("there are no unknowns; name what is looked for");
  std::set<std::string> names, keys;
  for (const Unknown& unknown : unknowns) {
    const auto fail = [&](const std::string& message) {
      throw InputError(fmt::format("unknown '{}': {}", unknown.name, message));
    };
    if (!names.insert(unknown.name).second) fail("two unknowns have this name");
    if (!keys.insert(unknown.key).second) fail(fmt::format("the key '{}' is that of another unknown", unknown.key));
    if (!std::isfinite(unknown.start)) fail("the start must be a finite number");
    if (!(unknown.min < unknown.max)) fail(fmt::format("min = {} must be below max = {}", unknown.min, unknown.max));
    if (unknown.start < unknown.min || unknown.start > unknown.max)
      fail(fmt::format("the start {} must lie in its bounds [{}, {}]", unknown.start, unknown.min, unknown.max));
    if (!(unknown.scale >= 0) || !std::isfinite(unknown.scale))
      fail(fmt::format("scale = {} must be > 0, or 0 for none", unknown.scale));
  }
}

Vector start_values(std::span<const Unknown> unknowns) { return gathered(unknowns, &Unknown::start); }
Vector lower_bounds(std::span<const Unknown> unknowns) { return gathered(unknowns, &Unknown::min); }
Vector upper_bounds(std::span<const Unknown> unknowns) { return gathered(unknowns, &Unknown::max); }

Case with_values(const Case& base, std::span<const Unknown> unknowns, const Vector& values) {
  std::vector<NamedNumber> changes;
  for (std::size_t k = 0; k < unknowns.size(); ++k)
    if (!unknowns[k].is_end_time()) changes.emplace_back(unknowns[k].key, values[static_cast<Index>(k)]);
  Case changed = base;
  if (!changes.empty()) changed.set(changes);
  return changed;
}

std::string listed(std::span<const std::string> names) {
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k)
    text += fmt::format("{}'{}'", k == 0 ? "" : k + 1 == names.size() ? " and " : ", ", names[k]);
  return text;
}

}  // namespace stickslip
