// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/dead_unknown.hpp"

#include <algorithm>

namespace stickslip {

std::optional<double> value_with_effect(const Unknown& unknown, double at, bool whether, const EffectOf& effect) {
  constexpr double kAmounts[] = {0.1, -0.1, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 10.0, -10.0, 100.0, -100.0};
  const double size = unknown.size(at);
  std::optional<double> best;
  double least = 0;
  for (const double amount : kAmounts) {
    const double value = std::clamp(at + amount * size, unknown.min, unknown.max);
    if (value == at) continue;
    const std::optional<Effect> found = effect(value);
    if (!found || !found->changes || (best && found->residual >= least)) continue;
    best = value;
    least = found->residual;
    if (whether) break;
  }
  return best;
}

}  // namespace stickslip
