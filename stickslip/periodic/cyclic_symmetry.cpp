// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/cyclic_symmetry.hpp"

#include <fmt/format.h>

#include <set>

#include "stickslip/common/error.hpp"

namespace stickslip {

void CyclicSymmetry::validate(Index n) const {
  if (!any()) return;
  if (sectors < 1) throw InputError(fmt::format("periodic.cyclic.sectors = {} must be >= 1", sectors));
  if (diameter < 0 || diameter >= sectors)
    throw InputError(
        fmt::format("periodic.cyclic.diameter = {} must lie in [0, {}) for {} sectors", diameter, sectors, sectors));
  if (pairs.empty())
    throw InputError("periodic.cyclic: name the coordinates on the two cuts, left = [..] and right = [..]");
  std::set<Index> lefts, rights;
  for (const auto& [left, right] : pairs) {
    for (const Index i : {left, right})
      if (i < 0 || i >= n)
        throw InputError(fmt::format("periodic.cyclic: coordinate {} is not among the {} of the model", i, n));
    if (!lefts.insert(left).second || !rights.insert(right).second)
      throw InputError("periodic.cyclic: a coordinate stands twice on the same cut");
  }
  for (const Index left : lefts)
    if (rights.count(left)) throw InputError("periodic.cyclic: a coordinate stands on both cuts");
}

}  // namespace stickslip
