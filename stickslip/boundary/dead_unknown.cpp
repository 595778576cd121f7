// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/dead_unknown.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace stickslip {

namespace {

std::optional<double> search(const Unknown& unknown, double at, bool whether, const EffectOf& effect) {
  constexpr double kAmounts[] = {0.1, -0.1, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 10.0, -10.0, 100.0, -100.0};
  constexpr double kFar[] = {1e3, -1e3, 1e4, -1e4};  // only where nothing nearer has an effect
  const double size = unknown.size(at);
  std::optional<double> best;
  double least = 0;
  const auto look = [&](double amount) {
    const double value = std::clamp(at + amount * size, unknown.min, unknown.max);
    if (value == at) return;
    const std::optional<Effect> found = effect(value);
    if (!found || !found->changes || (best && found->residual >= least)) return;
    best = value;
    least = found->residual;
  };
  for (const double amount : kAmounts)
    if (!best || !whether) look(amount);
  for (const double amount : kFar)
    if (!best) look(amount);
  return best;
}

}  // namespace

std::optional<double> size_by_effect(const Unknown& unknown, const ChangesMuch& changes_much) {
  constexpr int kMost = 12, kStride = 3;  // decades
  enum class Seen { nothing, much, failure };
  const auto seen = [&](int decade) {
    const double size = std::pow(10.0, decade);
    bool runs = false;
    for (const double value : {size, -size}) {
      if (value < unknown.min || value > unknown.max) continue;
      const std::optional<bool> much = changes_much(value);
      if (much.value_or(false)) return Seen::much;
      runs |= much.has_value();
    }
    return runs ? Seen::nothing : Seen::failure;
  };
  const bool up = seen(0) == Seen::nothing;
  const int step = up ? kStride : -kStride;
  int here = 0;
  while ((seen(here + step) == Seen::nothing) == up)
    if (here += step; std::abs(here) >= kMost) return std::nullopt;
  int without = up ? here : here + step, with = without + kStride;
  while (with - 1 > without && seen(without + 1) == Seen::nothing) ++without;
  with = std::min(with, without + 1);
  return seen(with) == Seen::much ? std::optional(std::pow(10.0, with)) : std::nullopt;
}

std::optional<double> value_with_effect(const Unknown& unknown, double at, const EffectOf& effect) {
  return search(unknown, at, true, effect);
}

std::optional<double> start_with_effect(const Unknown& unknown, double at, const EffectOf& effect,
                                        const HasSlope& has_slope) {
  const std::optional<double> best = search(unknown, at, false, effect);
  if (!best || has_slope(*best)) return best;
  constexpr int kHalvings = 20;  // the part with an effect may be a millionth of the way
  double without = at, with = *best;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (without + with);
    const std::optional<Effect> found = effect(middle);
    const bool changes = found && found->changes;
    if (changes && has_slope(middle)) return middle;
    (changes ? with : without) = middle;
  }
  return best;
}

}  // namespace stickslip
