// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/panel_structure.hpp"

#include <algorithm>
#include <cassert>

#include "stickslip/solvers/elimination_order.hpp"

namespace stickslip {

namespace {

struct Relaxation {
  int columns;   // of the merged panel, at most
  double zeros;  // share of its entries that may be zeros
};
// The exact values matter little: on contact problems of 50 to 2000 contacts a factorisation takes between 0.9 and 1.1
// of its time without any merging or with the values of CHOLMOD (0.8 up to 4 columns, 0.1 up to 16, 0.05); merging pays
// on the largest (pyramid of 960 contacts: 1.10 without).
constexpr Relaxation kRelaxations[] = {{4, 0.5}, {12, 0.2}};
constexpr double kZerosOfWidePanels = 0.07;

double allowed_zeros(double columns) {
  for (const Relaxation& relaxation : kRelaxations)
    if (columns <= relaxation.columns) return relaxation.zeros;
  return kZerosOfWidePanels;
}

std::vector<int> fundamental_supernodes(const EliminationOrder& e) {
  std::vector<int> starts;
  const int n = static_cast<int>(e.order.size());
  for (int k = 0; k < n; ++k)
    if (k == 0 || e.parent[k - 1] != k || e.below[k - 1].size() != e.below[k].size() + 1) starts.push_back(k);
  starts.push_back(n);
  return starts;
}

std::vector<int> merged_with_last_children(const EliminationOrder& e, const std::vector<int>& starts) {
  std::vector<int> merged;  // first columns; the ends are implied
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    merged.push_back(starts[s]);
    const int end = starts[s + 1];
    while (merged.size() > 1) {
      const int b = merged.back(), a = merged[merged.size() - 2];
      if (e.parent[b - 1] < b || e.parent[b - 1] >= end) break;  // the panel before is not a child of this one
      const double wa = b - a, wb = end - b;
      const double ha = wa + static_cast<double>(e.below[b - 1].size());
      const double hb = wb + static_cast<double>(e.below[end - 1].size());
      const double before = wa * ha + wb * hb, after = (wa + wb) * (wa + hb);
      if (after - before > allowed_zeros(wa + wb) * after) break;
      merged.pop_back();
    }
  }
  merged.push_back(static_cast<int>(e.order.size()));
  return merged;
}

void list_rows(const EliminationOrder& e, PanelStructure& p) {
  p.panel_of.assign(e.order.size(), 0);
  p.row_starts.assign(1, 0);
  for (int s = 0; s < p.panels(); ++s) {
    for (int k = p.panel_starts[s]; k < p.panel_starts[s + 1]; ++k) {
      p.panel_of[k] = s;
      p.rows.push_back(k);
    }
    const auto& last = e.below[p.panel_starts[s + 1] - 1];
    p.rows.insert(p.rows.end(), last.begin(), last.end());
    p.row_starts.push_back(p.rows.size());
  }
}

/// Every entry as half of a pair, by the panel of the node eliminated first.
std::vector<std::vector<BlockPair>> halves_by_panel(const PanelStructure& p, std::span<const std::size_t> row_starts,
                                                    std::span<const int> columns) {
  std::vector<std::vector<BlockPair>> halves(p.panels());
  for (int i = 0; i < static_cast<int>(p.order.size()); ++i) {
    [[maybe_unused]] bool diagonal = false;
    for (std::size_t e = row_starts[i]; e < row_starts[i + 1]; ++e) {
      const int j = columns[e], entry = static_cast<int>(e);
      diagonal |= i == j;
      const bool lower = p.place[i] >= p.place[j];
      const int first = lower ? j : i, second = lower ? i : j;
      halves[p.panel_of[p.place[first]]].push_back(
          {second, first, lower ? entry : -1, lower ? -1 : entry, 0, p.place[first], false});
    }
    assert(diagonal);
  }
  return halves;
}

void list_pairs(std::span<const std::size_t> row_starts, std::span<const int> columns, PanelStructure& p) {
  std::vector<std::vector<BlockPair>> halves = halves_by_panel(p, row_starts, columns);
  std::vector<int> position(p.order.size(), -1);
  p.pair_starts.assign(1, 0);
  for (int s = 0; s < p.panels(); ++s) {
    std::sort(halves[s].begin(), halves[s].end(), [&](const BlockPair& a, const BlockPair& b) {
      return a.column_place != b.column_place ? a.column_place < b.column_place : p.place[a.row] < p.place[b.row];
    });
    for (std::size_t e = p.row_starts[s]; e < p.row_starts[s + 1]; ++e) position[p.rows[e]] = static_cast<int>(e);
    for (BlockPair& half : halves[s]) {
      const bool has_other_half = p.pairs.size() > p.pair_starts.back() && p.pairs.back().row == half.row &&
                                  p.pairs.back().column == half.column;
      if (has_other_half) {
        if (half.lower >= 0) p.pairs.back().lower = half.lower;
        if (half.upper >= 0) p.pairs.back().upper = half.upper;
        continue;
      }
      half.position = position[p.place[half.row]];
      half.below = p.place[half.row] >= p.panel_starts[s + 1];
      p.pairs.push_back(half);
    }
    p.pair_starts.push_back(p.pairs.size());
  }
}

}  // namespace

PanelStructure panel_structure(std::span<const std::size_t> row_starts, std::span<const int> columns) {
  EliminationOrder e = elimination_order(row_starts, columns);
  PanelStructure p;
  p.panel_starts = merged_with_last_children(e, fundamental_supernodes(e));
  list_rows(e, p);
  p.order = std::move(e.order);
  p.place = std::move(e.place);
  list_pairs(row_starts, columns, p);
  return p;
}

}  // namespace stickslip
