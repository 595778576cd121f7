// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/block_lu.hpp"

#include <Eigen/OrderingMethods>
#include <algorithm>
#include <cassert>
#include <numeric>

#include "stickslip/solvers/dense_kernel.hpp"

namespace stickslip {

namespace {

using Lists = std::vector<std::vector<int>>;

Lists symmetric_neighbours(int n, std::span<const std::size_t> row_starts, std::span<const int> columns) {
  Lists neighbours(n);
  for (int i = 0; i < n; ++i)
    for (std::size_t e = row_starts[i]; e < row_starts[i + 1]; ++e)
      if (columns[e] != i) {
        neighbours[i].push_back(columns[e]);
        neighbours[columns[e]].push_back(i);
      }
  for (auto& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return neighbours;
}

std::vector<int> minimum_degree_order(const Lists& neighbours) {
  const int n = static_cast<int>(neighbours.size());
  Eigen::SparseMatrix<double, Eigen::ColMajor, int> pattern(n, n);
  std::vector<int> counts(n);
  for (int i = 0; i < n; ++i) counts[i] = static_cast<int>(neighbours[i].size()) + 1;
  pattern.reserve(counts);
  for (int i = 0; i < n; ++i) {
    pattern.insert(i, i) = 1;
    for (const int j : neighbours[i]) pattern.insert(j, i) = 1;
  }
  pattern.makeCompressed();
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
  Eigen::AMDOrdering<int>()(pattern, permutation);
  return {permutation.indices().data(), permutation.indices().data() + n};
}

std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<int>(k);
  return place;
}

/// Parents in the elimination tree of the ordered pattern (Liu 1990), -1 at roots.
std::vector<int> elimination_tree(const Lists& neighbours, const std::vector<int>& order,
                                  const std::vector<int>& place) {
  const int n = static_cast<int>(order.size());
  std::vector<int> parent(n, -1), ancestor(n, -1);
  for (int k = 0; k < n; ++k)
    for (const int node : neighbours[order[k]]) {
      int i = place[node];
      while (i >= 0 && i < k) {
        const int next = ancestor[i];
        ancestor[i] = k;
        if (next < 0) parent[i] = k;
        i = next;
      }
    }
  return parent;
}

std::vector<int> postorder(const std::vector<int>& parent) {
  const int n = static_cast<int>(parent.size());
  std::vector<int> first_child(n, -1), sibling(n, -1), stack, result;
  for (int k = n - 1; k >= 0; --k)
    if (parent[k] >= 0) {
      sibling[k] = first_child[parent[k]];
      first_child[parent[k]] = k;
    }
  for (int root = 0; root < n; ++root) {
    if (parent[root] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const int k = stack.back();
      if (first_child[k] >= 0) {
        stack.push_back(first_child[k]);
        first_child[k] = -1;
      } else {
        result.push_back(k);
        stack.pop_back();
        if (sibling[k] >= 0 && !stack.empty()) stack.push_back(sibling[k]);
      }
    }
  }
  return result;
}

}  // namespace

void BlockLu::analyze(std::span<const int> node_sizes, std::span<const std::size_t> entry_starts,
                      std::span<const int> columns) {
  const int n = static_cast<int>(node_sizes.size());
  sizes_.assign(node_sizes.begin(), node_sizes.end());
  starts_.assign(n + 1, 0);
  std::partial_sum(sizes_.begin(), sizes_.end(), starts_.begin() + 1);
  const Lists neighbours = symmetric_neighbours(n, entry_starts, columns);
  order_ = minimum_degree_order(neighbours);
  place_ = inverse(order_);
  {
    const std::vector<int> post = postorder(elimination_tree(neighbours, order_, place_));
    std::vector<int> reordered(n);
    for (int k = 0; k < n; ++k) reordered[k] = order_[post[k]];
    order_ = std::move(reordered);
    place_ = inverse(order_);
  }
  const std::vector<int> parent = elimination_tree(neighbours, order_, place_);

  // Column patterns below the diagonal: own entries and those of the children.
  Lists below(n);
  std::vector<int> mark(n, -1);
  Lists children(n);
  for (int k = 0; k < n; ++k) {
    mark[k] = k;
    auto add = [&](int i) {
      if (i > k && mark[i] != k) {
        mark[i] = k;
        below[k].push_back(i);
      }
    };
    for (const int node : neighbours[order_[k]]) add(place_[node]);
    for (const int child : children[k])
      for (const int i : below[child]) add(i);
    std::sort(below[k].begin(), below[k].end());
    if (parent[k] >= 0) children[parent[k]].push_back(k);
  }

  // Panels: fundamental supernodes, then last children merged where that adds few zeros.
  std::vector<int> firsts;
  for (int k = 0; k < n; ++k)
    if (k == 0 || parent[k - 1] != k || below[k - 1].size() != below[k].size() + 1) firsts.push_back(k);
  firsts.push_back(n);
  std::vector<int> merged{};  // stack of first columns, ends implied
  for (std::size_t s = 0; s + 1 < firsts.size(); ++s) {
    merged.push_back(firsts[s]);
    const int end = firsts[s + 1];
    while (merged.size() > 1) {
      const int b = merged.back(), a = merged[merged.size() - 2];
      if (parent[b - 1] < b || parent[b - 1] >= end) break;  // the panel before is not a child of this one
      const double wa = b - a, wb = end - b, hb = wb + static_cast<double>(below[end - 1].size());
      double ha = 0;  // entries of the panel before, as it stands
      ha = wa + static_cast<double>(below[b - 1].size());
      const double before = wa * ha + wb * hb, after = (wa + wb) * (wa + hb);
      if (after - before > (wa + wb <= 4 ? 0.5 : wa + wb <= 12 ? 0.2 : 0.07) * after) break;
      merged.pop_back();
    }
  }
  panel_starts_ = merged;
  panel_starts_.push_back(n);
  panel_of_.assign(n, 0);
  row_starts_.assign(1, 0);
  rows_.clear();
  for (int s = 0; s < panels(); ++s) {
    for (int k = panel_starts_[s]; k < panel_starts_[s + 1]; ++k) {
      panel_of_[k] = s;
      rows_.push_back(k);
    }
    const auto& last = below[panel_starts_[s + 1] - 1];
    rows_.insert(rows_.end(), last.begin(), last.end());
    row_starts_.push_back(rows_.size());
  }

  // Blocks of the matrix, by panel of the one eliminated first.
  std::vector<std::vector<Pair>> by_panel(panels());
  std::vector<int> position(n, -1);
  for (int i = 0; i < n; ++i) {
    bool diagonal = false;
    for (std::size_t e = entry_starts[i]; e < entry_starts[i + 1]; ++e) {
      const int j = columns[e];
      diagonal |= i == j;
      const bool lower = place_[i] >= place_[j];
      const int first = lower ? j : i, second = lower ? i : j;
      by_panel[panel_of_[place_[first]]].push_back(
          {second, first, lower ? static_cast<int>(e) : -1, lower ? -1 : static_cast<int>(e), 0, place_[first], false});
    }
    assert(diagonal);
    (void)diagonal;
  }
  pair_starts_.assign(1, 0);
  pairs_.clear();
  for (int s = 0; s < panels(); ++s) {
    auto& list = by_panel[s];
    std::sort(list.begin(), list.end(), [&](const Pair& a, const Pair& b) {
      return a.column_place != b.column_place ? a.column_place < b.column_place : place_[a.row] < place_[b.row];
    });
    for (std::size_t e = row_starts_[s]; e < row_starts_[s + 1]; ++e) position[rows_[e]] = static_cast<int>(e);
    for (Pair& pair : list) {
      if (pairs_.size() > pair_starts_.back() && pairs_.back().row == pair.row && pairs_.back().column == pair.column) {
        if (pair.lower >= 0) pairs_.back().lower = pair.lower;
        if (pair.upper >= 0) pairs_.back().upper = pair.upper;
        continue;
      }
      pair.position = position[place_[pair.row]];
      pair.below = place_[pair.row] >= panel_starts_[s + 1];
      pairs_.push_back(pair);
    }
    pair_starts_.push_back(pairs_.size());
  }

  // Memory for the largest case: every node active.
  const std::size_t p = static_cast<std::size_t>(panels());
  active_.assign(n, 1);
  active_rows_.resize(rows_.size());
  active_starts_.resize(p + 1);
  active_columns_.resize(p);
  offset_.resize(rows_.size());
  active_offset_.resize(rows_.size() + p);
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
  fill_ = lower_start_[p];
  values_.resize(fill_);
  pivots_.resize(scalar_start_[n]);
  work_x_.resize(scalar_start_[n]);
  work_ = 0;
  std::size_t highest = 0, widest = 0;
  for (std::size_t s = 0; s < p; ++s) {
    highest = std::max<std::size_t>(highest, height_[s]);
    widest = std::max<std::size_t>(widest, width_[s]);
    const double w = width_[s], h = height_[s];
    work_ += w * w * w / 3 + w * w * (h - w) + w * (h - w) * (h - w);
  }
  target_.resize(highest);
  update_.resize(highest * widest);
}

void BlockLu::start(std::span<const char> active) {
  if (active_.data() != active.data()) std::copy(active.begin(), active.end(), active_.begin());
  const int n = static_cast<int>(sizes_.size());
  scalar_start_[0] = 0;
  for (int k = 0; k < n; ++k) scalar_start_[k + 1] = scalar_start_[k] + (active_[order_[k]] ? sizes_[order_[k]] : 0);
  std::size_t at = 0, value = 0;
  for (int s = 0; s < panels(); ++s) {
    active_starts_[s] = at;
    int scalars = 0;
    width_[s] = 0;
    active_columns_[s] = 0;
    for (std::size_t e = row_starts_[s]; e < row_starts_[s + 1]; ++e) {
      const int k = rows_[e];
      offset_[e] = scalars;
      if (!active_[order_[k]]) continue;
      active_rows_[at] = k;
      active_offset_[at + s] = scalars;
      ++at;
      scalars += sizes_[order_[k]];
      if (k < panel_starts_[s + 1]) {
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
  active_starts_[panels()] = at;
  lower_start_[panels()] = value;
}

void BlockLu::open_panel(int s) {
  std::fill(values_.begin() + static_cast<std::ptrdiff_t>(lower_start_[s]),
            values_.begin() + static_cast<std::ptrdiff_t>(lower_start_[s + 1]), 0.0);
}

double* BlockLu::lower_place(int s, const Pair& pair) {
  const int column = offset_[row_starts_[s] + pair.column_place - panel_starts_[s]];
  return values_.data() + lower_start_[s] + offset_[pair.position] + static_cast<std::size_t>(column) * height_[s];
}

double* BlockLu::upper_place(int s, const Pair& pair) {
  const int column = offset_[row_starts_[s] + pair.column_place - panel_starts_[s]];
  if (pair.below)
    return values_.data() + upper_start_[s] + offset_[pair.position] - width_[s] +
           static_cast<std::size_t>(column) * (height_[s] - width_[s]);
  return values_.data() + lower_start_[s] + column + static_cast<std::size_t>(offset_[pair.position]) * height_[s];
}

void BlockLu::update(int s, int d) {
  const int* rows = active_rows_.data() + active_starts_[d];
  const int* offsets = active_offset_.data() + active_starts_[d] + d;
  const int count = static_cast<int>(active_starts_[d + 1] - active_starts_[d]);
  const int p0 = reach_[d];
  int p1 = p0;
  while (p1 < count && rows[p1] < panel_starts_[s + 1]) ++p1;
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
  dense::subtract_product(m, n, w, L + m0, h, U + m0 - w, h - w, 1, update_.data(), m);
  for (int j = 0; j < n; ++j) {
    double* column = lower + static_cast<std::size_t>(target_[j]) * hs;
    const double* from = update_.data() + static_cast<std::size_t>(j) * m;
    for (int i = 0; i < m; ++i) column[target_[i]] += from[i];
  }
  if (m > n) {
    const int rest = m - n, ws = width_[s];
    std::fill_n(update_.begin(), static_cast<std::size_t>(rest) * n, 0.0);
    dense::subtract_product(rest, n, w, U + m1 - w, h - w, L + m0, h, 1, update_.data(), rest);
    for (int j = 0; j < n; ++j) {
      double* column = upper + static_cast<std::size_t>(target_[j]) * us;
      const double* from = update_.data() + static_cast<std::size_t>(j) * rest;
      for (int i = 0; i < rest; ++i) column[target_[n + i] - ws] += from[i];
    }
  }
  reach_[d] = p1;
  if (p1 < count) {
    const int next_panel = panel_of_[rows[p1]];
    next_[d] = head_[next_panel];
    head_[next_panel] = d;
  }
}

bool BlockLu::close_panel(int s) {
  const int w = width_[s], h = height_[s];
  if (w == 0) return true;
  const int count = static_cast<int>(active_starts_[s + 1] - active_starts_[s]);
  const int* rows = active_rows_.data() + active_starts_[s];
  const int* offsets = active_offset_.data() + active_starts_[s] + s;
  for (int p = 0; p < count; ++p) map_[rows[p]] = offsets[p];
  for (int d = head_[s], following = -1; d >= 0; d = following) {
    following = next_[d];
    update(s, d);
  }
  double* L = values_.data() + lower_start_[s];
  double* U = values_.data() + upper_start_[s];
  int* pivots = pivots_.data() + scalar_start_[panel_starts_[s]];
  if (!dense::lu(w, L, h, pivots)) return false;
  const int rest = h - w;
  if (rest > 0) {
    dense::solve_right_upper(rest, w, L + w, h, L, 1, h, false);
    for (int j = 0; j < w; ++j)
      if (pivots[j] != j)
        std::swap_ranges(U + static_cast<std::size_t>(j) * rest, U + static_cast<std::size_t>(j + 1) * rest,
                         U + static_cast<std::size_t>(pivots[j]) * rest);
    dense::solve_right_upper(rest, w, U, rest, L, h, 1, true);
    reach_[s] = active_columns_[s];
    const int next_panel = panel_of_[rows[active_columns_[s]]];
    next_[s] = head_[next_panel];
    head_[next_panel] = s;
  }
  return true;
}

void BlockLu::solve(double* x) const {
  const int n = static_cast<int>(sizes_.size());
  double* y = work_x_.data();
  for (int k = 0; k < n; ++k) {
    const int node = order_[k];
    if (active_[node]) std::copy_n(x + starts_[node], sizes_[node], y + scalar_start_[k]);
  }
  for (int s = 0; s < panels(); ++s) {
    const int w = width_[s], h = height_[s];
    if (w == 0) continue;
    double* top = y + scalar_start_[panel_starts_[s]];
    const int* pivots = pivots_.data() + scalar_start_[panel_starts_[s]];
    const double* L = values_.data() + lower_start_[s];
    for (int j = 0; j < w; ++j) std::swap(top[j], top[pivots[j]]);
    const int* rows = active_rows_.data() + active_starts_[s];
    const int* offsets = active_offset_.data() + active_starts_[s] + s;
    const int count = static_cast<int>(active_starts_[s + 1] - active_starts_[s]);
    for (int j = 0; j < w; ++j, L += h) {
      const double t = top[j];
      if (t == 0) continue;
      for (int i = j + 1; i < w; ++i) top[i] -= L[i] * t;
      for (int p = active_columns_[s]; p < count; ++p) {
        double* to = y + scalar_start_[rows[p]];
        for (int c = offsets[p]; c < offsets[p + 1]; ++c) *to++ -= L[c] * t;
      }
    }
  }
  for (int s = panels() - 1; s >= 0; --s) {
    const int w = width_[s], h = height_[s], rest = h - w;
    if (w == 0) continue;
    double* top = y + scalar_start_[panel_starts_[s]];
    const double* L = values_.data() + lower_start_[s];
    const double* U = values_.data() + upper_start_[s];
    const int* rows = active_rows_.data() + active_starts_[s];
    const int* offsets = active_offset_.data() + active_starts_[s] + s;
    const int count = static_cast<int>(active_starts_[s + 1] - active_starts_[s]);
    for (int j = w - 1; j >= 0; --j) {
      double sum = top[j];
      const double* u = U + static_cast<std::size_t>(j) * rest - w;
      for (int p = active_columns_[s]; p < count; ++p) {
        const double* from = y + scalar_start_[rows[p]];
        for (int c = offsets[p]; c < offsets[p + 1]; ++c) sum -= u[c] * *from++;
      }
      top[j] = sum;
    }
    for (int j = w - 1; j >= 0; --j) {
      const double* column = L + static_cast<std::size_t>(j) * h;
      const double t = top[j] /= column[j];
      for (int i = 0; i < j; ++i) top[i] -= column[i] * t;
    }
  }
  for (int k = 0; k < n; ++k) {
    const int node = order_[k];
    if (active_[node]) std::copy_n(y + scalar_start_[k], sizes_[node], x + starts_[node]);
  }
}

}  // namespace stickslip
