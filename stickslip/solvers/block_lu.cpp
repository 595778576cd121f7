// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/block_lu.hpp"

#include <algorithm>
#include <numeric>

#include "stickslip/solvers/dense_kernel.hpp"

namespace stickslip {

void BlockLu::analyze(std::span<const int> node_sizes, std::span<const std::size_t> row_starts,
                      std::span<const int> columns) {
  sizes_.assign(node_sizes.begin(), node_sizes.end());
  starts_.assign(sizes_.size() + 1, 0);
  std::partial_sum(sizes_.begin(), sizes_.end(), starts_.begin() + 1);
  structure_ = panel_structure(row_starts, columns);
  take_memory();
}

/// For the largest case: every node active.
void BlockLu::take_memory() {
  const std::size_t n = sizes_.size(), p = static_cast<std::size_t>(structure_.panels());
  active_.assign(n, 1);
  active_rows_.resize(structure_.rows.size());
  active_starts_.resize(p + 1);
  active_columns_.resize(p);
  offset_.resize(structure_.rows.size());
  active_offset_.resize(structure_.rows.size() + p);
  width_.resize(p);
  height_.resize(p);
  lower_start_.resize(p + 1);
  upper_start_.resize(p);
  scalar_start_.resize(n + 1);
  head_.resize(p);
  next_.resize(p);
  reach_.resize(p);
  map_.resize(n);
  start(active_);
  values_.resize(lower_start_[p]);
  pivots_.resize(scalar_start_[n]);
  std::size_t highest = 0, widest = 0;
  for (std::size_t s = 0; s < p; ++s) {
    highest = std::max<std::size_t>(highest, height_[s]);
    widest = std::max<std::size_t>(widest, width_[s]);
  }
  target_.resize(highest);
  work_x_.resize(static_cast<std::size_t>(scalar_start_[n]) + highest);  // the unknowns, and those below a panel
  update_.resize(highest * widest);
}

void BlockLu::start(std::span<const char> active) {
  if (active_.data() != active.data()) std::copy(active.begin(), active.end(), active_.begin());
  const int n = static_cast<int>(sizes_.size());
  scalar_start_[0] = 0;
  for (int k = 0; k < n; ++k)
    scalar_start_[k + 1] = scalar_start_[k] + (active_[structure_.order[k]] ? sizes_[structure_.order[k]] : 0);
  std::size_t at = 0, value = 0;
  for (int s = 0; s < structure_.panels(); ++s) {
    active_starts_[s] = at;
    int scalars = 0;
    width_[s] = 0;
    active_columns_[s] = 0;
    for (std::size_t e = structure_.row_starts[s]; e < structure_.row_starts[s + 1]; ++e) {
      const int k = structure_.rows[e];
      offset_[e] = scalars;
      if (!active_[structure_.order[k]]) continue;
      active_rows_[at] = k;
      active_offset_[at + s] = scalars;
      ++at;
      scalars += sizes_[structure_.order[k]];
      if (k < structure_.panel_starts[s + 1]) {
        width_[s] = scalars;
        ++active_columns_[s];
      }
    }
    active_offset_[at + s] = scalars;
    height_[s] = scalars;
    lower_start_[s] = value;
    value += static_cast<std::size_t>(height_[s]) * width_[s];
    upper_start_[s] = value;
    value += static_cast<std::size_t>(height_[s] - width_[s]) * width_[s];
    head_[s] = -1;
  }
  active_starts_[structure_.panels()] = at;
  lower_start_[structure_.panels()] = value;
}

void BlockLu::open_panel(int s) {
  std::fill(values_.begin() + static_cast<std::ptrdiff_t>(lower_start_[s]),
            values_.begin() + static_cast<std::ptrdiff_t>(lower_start_[s + 1]), 0.0);
}

double* BlockLu::lower_place(int s, const BlockPair& pair) {
  const int column = offset_[structure_.row_starts[s] + pair.column_place - structure_.panel_starts[s]];
  return values_.data() + lower_start_[s] + offset_[pair.position] + static_cast<std::size_t>(column) * height_[s];
}

double* BlockLu::upper_place(int s, const BlockPair& pair) {
  const int column = offset_[structure_.row_starts[s] + pair.column_place - structure_.panel_starts[s]];
  if (pair.below)
    return values_.data() + upper_start_[s] + offset_[pair.position] - width_[s] +
           static_cast<std::size_t>(column) * (height_[s] - width_[s]);
  return values_.data() + lower_start_[s] + column + static_cast<std::size_t>(offset_[pair.position]) * height_[s];
}

BlockLu::Rows BlockLu::active_rows(int s) const {
  return {active_rows_.data() + active_starts_[s], active_offset_.data() + active_starts_[s] + s,
          static_cast<int>(active_starts_[s + 1] - active_starts_[s])};
}

void BlockLu::hand_on(int d, int position) {
  reach_[d] = position;
  const int panel = structure_.panel_of[active_rows(d).places[position]];
  next_[d] = head_[panel];
  head_[panel] = d;
}

void BlockLu::update(int s, int d) {
  const auto [rows, offsets, count] = active_rows(d);
  const int p0 = reach_[d];
  int p1 = p0;
  while (p1 < count && rows[p1] < structure_.panel_starts[s + 1]) ++p1;
  const int w = width_[d], h = height_[d], m0 = offsets[p0], m1 = offsets[p1], n = m1 - m0, m = h - m0;
  for (int p = p0; p < count; ++p) {
    const int base = map_[rows[p]];
    for (int c = offsets[p]; c < offsets[p + 1]; ++c) target_[c - m0] = base + c - offsets[p];
  }
  const double* L = values_.data() + lower_start_[d];
  const double* U = values_.data() + upper_start_[d];
  double* lower = values_.data() + lower_start_[s];
  double* upper = values_.data() + upper_start_[s];
  const int hs = height_[s], us = height_[s] - width_[s];
  std::fill_n(update_.begin(), static_cast<std::size_t>(m) * n, 0.0);
  dense_kernel::subtract_product(m, n, w, L + m0, h, U + m0 - w, h - w, 1, update_.data(), m);
  for (int j = 0; j < n; ++j) {
    double* column = lower + static_cast<std::size_t>(target_[j]) * hs;
    const double* from = update_.data() + static_cast<std::size_t>(j) * m;
    for (int i = 0; i < m; ++i) column[target_[i]] += from[i];
  }
  if (m > n) {
    const int rest = m - n, ws = width_[s];
    std::fill_n(update_.begin(), static_cast<std::size_t>(rest) * n, 0.0);
    dense_kernel::subtract_product(rest, n, w, U + m1 - w, h - w, L + m0, h, 1, update_.data(), rest);
    for (int j = 0; j < n; ++j) {
      double* column = upper + static_cast<std::size_t>(target_[j]) * us;
      const double* from = update_.data() + static_cast<std::size_t>(j) * rest;
      for (int i = 0; i < rest; ++i) column[target_[n + i] - ws] += from[i];
    }
  }
  if (p1 < count) hand_on(d, p1);
}

bool BlockLu::close_panel(int s) {
  const int w = width_[s], h = height_[s];
  if (w == 0) return true;
  const auto [rows, offsets, count] = active_rows(s);
  for (int p = 0; p < count; ++p) map_[rows[p]] = offsets[p];
  for (int d = head_[s], following = -1; d >= 0; d = following) {
    following = next_[d];
    update(s, d);
  }
  double* L = values_.data() + lower_start_[s];
  double* U = values_.data() + upper_start_[s];
  int* pivots = pivots_.data() + scalar_start_[structure_.panel_starts[s]];
  if (!dense_kernel::lu(w, L, h, pivots)) return false;
  const int rest = h - w;
  if (rest > 0) {
    dense_kernel::solve_right_upper(rest, w, L + w, h, L, 1, h, false);
    for (int j = 0; j < w; ++j)
      if (pivots[j] != j)
        std::swap_ranges(U + static_cast<std::size_t>(j) * rest, U + static_cast<std::size_t>(j + 1) * rest,
                         U + static_cast<std::size_t>(pivots[j]) * rest);
    dense_kernel::solve_right_upper(rest, w, U, rest, L, h, 1, true);
    hand_on(s, active_columns_[s]);
  }
  return true;
}

int BlockLu::sign() const {
  bool negative = false;
  for (int s = 0; s < structure_.panels(); ++s) {
    const int* pivots = pivots_.data() + scalar_start_[structure_.panel_starts[s]];
    const double* L = values_.data() + lower_start_[s];
    for (int j = 0; j < width_[s]; ++j)
      negative ^= (pivots[j] != j) != (L[j + static_cast<std::size_t>(j) * height_[s]] < 0);
  }
  return negative ? -1 : 1;
}

void BlockLu::solve(double* x) const {
  const int n = static_cast<int>(sizes_.size());
  double* y = work_x_.data();
  for (int k = 0; k < n; ++k) {
    const int node = structure_.order[k];
    if (active_[node]) std::copy_n(x + starts_[node], sizes_[node], y + scalar_start_[k]);
  }
  for (int s = 0; s < structure_.panels(); ++s) solve_lower(s, y);
  for (int s = structure_.panels() - 1; s >= 0; --s) solve_upper(s, y);
  for (int k = 0; k < n; ++k) {
    const int node = structure_.order[k];
    if (active_[node]) std::copy_n(y + scalar_start_[k], sizes_[node], x + starts_[node]);
  }
}

void BlockLu::solve_lower(int s, double* y) const {
  const int w = width_[s], h = height_[s];
  if (w == 0) return;
  double* top = y + scalar_start_[structure_.panel_starts[s]];
  const int* pivots = pivots_.data() + scalar_start_[structure_.panel_starts[s]];
  const double* L = values_.data() + lower_start_[s];
  for (int j = 0; j < w; ++j) std::swap(top[j], top[pivots[j]]);
  for (int j = 0; j < w; ++j)
    for (int i = j + 1; i < w; ++i) top[i] -= L[i + static_cast<std::size_t>(j) * h] * top[j];
  const Rows rows = active_rows(s);
  double* below = work_x_.data() + scalar_start_.back();
  std::fill_n(below, h - w, 0.0);
  dense_kernel::subtract_columns(h - w, w, L + w, h, top, below);
  for (int p = active_columns_[s]; p < rows.count; ++p) {
    double* to = y + scalar_start_[rows.places[p]];
    for (int c = rows.offsets[p]; c < rows.offsets[p + 1]; ++c) *to++ += below[c - w];
  }
}

void BlockLu::solve_upper(int s, double* y) const {
  const int w = width_[s], h = height_[s], rest = h - w;
  if (w == 0) return;
  double* top = y + scalar_start_[structure_.panel_starts[s]];
  const double* L = values_.data() + lower_start_[s];
  const double* U = values_.data() + upper_start_[s];
  const Rows rows = active_rows(s);
  double* below = work_x_.data() + scalar_start_.back();
  for (int p = active_columns_[s]; p < rows.count; ++p)
    std::copy_n(y + scalar_start_[rows.places[p]], rows.offsets[p + 1] - rows.offsets[p], below + rows.offsets[p] - w);
  dense_kernel::subtract_inner(rest, w, U, rest, below, top);
  for (int j = w - 1; j >= 0; --j) {
    const double* column = L + static_cast<std::size_t>(j) * h;
    const double t = top[j] /= column[j];
    for (int i = 0; i < j; ++i) top[i] -= column[i] * t;
  }
}

}  // namespace stickslip
