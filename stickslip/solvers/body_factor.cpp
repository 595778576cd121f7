// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/body_factor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stickslip {

namespace {
// Blocks of A belong to one node if they share at least this part of the laws that touch either.
constexpr double kShared = 0.5;
constexpr int kLargestNode = 12;  // coordinates
}  // namespace

int freedoms_of(const BodyBlocks& bodies) {
  std::vector<char> touched(bodies.component_starts.size() - 1, 0);
  for (const auto& e : bodies.incidences) touched[e.component] = 1;
  int freedoms = 0;
  for (std::size_t c = 0; c < touched.size(); ++c)
    if (touched[c]) freedoms += bodies.component_starts[c + 1] - bodies.component_starts[c];
  return freedoms;
}

template <int N>
void BodyFactor<N>::load(const ContactSystem<N>& system, const BodyBlocks* bodies) {
  system_ = &system;
  bodies_ = nullptr;
  const int n = system.laws();
  T_.resize(static_cast<std::size_t>(N) * N * n);
  unit_ = system.mobility_unit();
  if (bodies && unit_ > 0 && freedoms_of(*bodies) < system.size()) return load_bodies(*bodies);
  const auto entries = system.entries();
  bool same = columns_.size() == entries.size() && static_cast<int>(sizes_.size()) == n &&
              std::equal(rows_.begin(), rows_.end(), system.row_starts().begin(), system.row_starts().end());
  for (std::size_t e = 0; same && e < entries.size(); ++e) same = columns_[e] == entries[e].column;
  if (same) return;
  columns_.resize(entries.size());
  for (std::size_t e = 0; e < entries.size(); ++e) columns_[e] = entries[e].column;
  rows_.assign(system.row_starts().begin(), system.row_starts().end());
  sizes_.assign(n, N);
  active_.assign(n, 1);
  lu_.analyze(sizes_, rows_, columns_);
}

template <int N>
void BodyFactor<N>::group(const BodyBlocks& bodies) {
  const int components = static_cast<int>(bodies.component_starts.size()) - 1;
  std::vector<std::vector<int>> laws(components);
  for (const auto& e : bodies.incidences) laws[e.component].push_back(e.law);
  node_.assign(components, -1);
  place_.assign(components, 0);
  sizes_.clear();
  std::vector<int> common, both;
  for (int c = 0; c < components; ++c) {
    if (laws[c].empty()) continue;
    const int size = bodies.component_starts[c + 1] - bodies.component_starts[c];
    bool join = false;
    if (c > 0 && node_[c - 1] >= 0 && sizes_.back() + size <= kLargestNode) {
      common.clear();
      std::set_intersection(laws[c].begin(), laws[c].end(), both.begin(), both.end(), std::back_inserter(common));
      join = static_cast<double>(common.size()) >=
             kShared * static_cast<double>(laws[c].size() + both.size() - common.size());
    }
    if (!join) {
      sizes_.push_back(0);
      both = laws[c];
    }
    node_[c] = static_cast<int>(sizes_.size()) - 1;
    place_[c] = sizes_.back();
    sizes_.back() += size;
  }
}

template <int N>
void BodyFactor<N>::scale(const BodyBlocks& bodies) {
  directions_.assign(bodies.directions.begin(), bodies.directions.end());
  matrices_.assign(bodies.matrices.begin(), bodies.matrices.end());
  double unit = 0;  // a coordinate of A that the others are compared with
  auto factor = [&](int c, int i) {
    const int size = bodies.component_starts[c + 1] - bodies.component_starts[c];
    const double own = bodies.matrices[bodies.matrix_starts[c] + static_cast<std::size_t>(i) * (size + 1)];
    if (unit == 0) unit = own;
    const double ratio = own / unit;
    if (!(ratio > 0) || !std::isfinite(ratio)) return 1.0;
    return std::ldexp(1.0, -static_cast<int>(std::floor(0.5 * std::ilogb(ratio))));
  };
  for (std::size_t c = 0; c + 1 < bodies.component_starts.size(); ++c) {
    const int size = bodies.component_starts[c + 1] - bodies.component_starts[c];
    double* A = matrices_.data() + bodies.matrix_starts[c];
    for (int j = 0; j < size; ++j)
      for (int i = 0; i < size; ++i) A[i + j * size] *= factor(static_cast<int>(c), i) * factor(static_cast<int>(c), j);
  }
  for (const auto& e : bodies.incidences) {
    const int size = bodies.component_starts[e.component + 1] - bodies.component_starts[e.component];
    for (int i = 0; i < size; ++i) {
      const double s = factor(e.component, i);
      for (int c = 0; c < N; ++c) directions_[e.offset + static_cast<std::size_t>(c) * size + i] *= s;
    }
  }
}

template <int N>
void BodyFactor<N>::load_bodies(const BodyBlocks& bodies) {
  bodies_ = &bodies;
  scale(bodies);
  group(bodies);
  const int nodes = static_cast<int>(sizes_.size());
  starts_.assign(nodes + 1, 0);
  std::partial_sum(sizes_.begin(), sizes_.end(), starts_.begin() + 1);
  y_.resize(starts_[nodes]);
  std::vector<std::vector<int>> neighbours(nodes);
  for (int i = 0; i < nodes; ++i) neighbours[i].push_back(i);
  for (std::size_t k = 0; k + 1 < bodies.law_starts.size(); ++k)
    for (std::size_t e = bodies.law_starts[k]; e < bodies.law_starts[k + 1]; ++e)
      for (std::size_t f = bodies.law_starts[k]; f < bodies.law_starts[k + 1]; ++f) {
        const int a = node_[bodies.incidences[e].component], b = node_[bodies.incidences[f].component];
        if (a != b && (neighbours[a].size() < 2 || neighbours[a].back() != b)) neighbours[a].push_back(b);
      }
  std::vector<std::size_t> rows(1, 0);
  std::vector<int> columns;
  for (auto& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    columns.insert(columns.end(), list.begin(), list.end());
    rows.push_back(columns.size());
  }
  if (rows != rows_ || columns != columns_ || static_cast<int>(active_.size()) != nodes) {
    rows_ = rows;
    columns_ = columns;
    active_.assign(nodes, 1);
    lu_.analyze(sizes_, rows_, columns_);
  }
  block_starts_.assign(1, 0);
  for (int i = 0; i < nodes; ++i)
    for (std::size_t e = rows_[i]; e < rows_[i + 1]; ++e)
      block_starts_.push_back(block_starts_.back() + static_cast<std::size_t>(sizes_[i]) * sizes_[columns_[e]]);
  blocks_.resize(block_starts_.back());
  auto entry_of = [&](int a, int b) {
    const auto first = columns_.begin() + static_cast<std::ptrdiff_t>(rows_[a]);
    return static_cast<int>(std::lower_bound(first, columns_.begin() + static_cast<std::ptrdiff_t>(rows_[a + 1]), b) -
                            columns_.begin());
  };
  entry_.clear();
  pair_starts_.assign(1, 0);
  for (std::size_t k = 0; k + 1 < bodies.law_starts.size(); ++k) {
    for (std::size_t e = bodies.law_starts[k]; e < bodies.law_starts[k + 1]; ++e)
      for (std::size_t f = bodies.law_starts[k]; f < bodies.law_starts[k + 1]; ++f)
        entry_.push_back(entry_of(node_[bodies.incidences[e].component], node_[bodies.incidences[f].component]));
    pair_starts_.push_back(entry_.size());
  }
  own_entry_.assign(node_.size(), 0);
  for (std::size_t c = 0; c < node_.size(); ++c)
    if (node_[c] >= 0) own_entry_[c] = static_cast<std::size_t>(entry_of(node_[c], node_[c]));
}

/// A + W T Wᵀ, block by block.
template <int N>
void BodyFactor<N>::fill_bodies(const double* T) {
  const BodyBlocks& bodies = *bodies_;
  std::fill(blocks_.begin(), blocks_.end(), 0.0);
  for (std::size_t c = 0; c < node_.size(); ++c) {
    if (node_[c] < 0) continue;
    const int size = bodies.component_starts[c + 1] - bodies.component_starts[c], ld = sizes_[node_[c]];
    double* block =
        blocks_.data() + block_starts_[own_entry_[c]] + place_[c] + static_cast<std::size_t>(place_[c]) * ld;
    const double* A = matrices_.data() + bodies.matrix_starts[c];
    for (int j = 0; j < size; ++j)
      for (int i = 0; i < size; ++i) block[i + j * ld] += A[i + j * size];
  }
  for (std::size_t k = 0; k + 1 < bodies.law_starts.size(); ++k) {
    const double* Tk = T + N * N * k;
    std::size_t pair = pair_starts_[k];
    for (std::size_t e = bodies.law_starts[k]; e < bodies.law_starts[k + 1]; ++e) {
      const auto& in = bodies.incidences[e];
      const int rows = bodies.component_starts[in.component + 1] - bodies.component_starts[in.component];
      const double* W = directions_.data() + in.offset;  // W[c * rows + i]
      double WT[N * BodyBlocks::kLargestComponent];
      for (int i = 0; i < rows; ++i)
        for (int c = 0; c < N; ++c) {
          double sum = 0;
          for (int a = 0; a < N; ++a) sum += W[a * rows + i] * Tk[N * a + c];
          WT[N * i + c] = sum;
        }
      const int ld = sizes_[node_[in.component]];
      for (std::size_t f = bodies.law_starts[k]; f < bodies.law_starts[k + 1]; ++f, ++pair) {
        const auto& to = bodies.incidences[f];
        const int cols = bodies.component_starts[to.component + 1] - bodies.component_starts[to.component];
        const double* V = directions_.data() + to.offset;
        double* block = blocks_.data() + block_starts_[entry_[pair]] + place_[in.component] +
                        static_cast<std::size_t>(place_[to.component]) * ld;
        for (int j = 0; j < cols; ++j)
          for (int i = 0; i < rows; ++i) {
            double sum = 0;
            for (int c = 0; c < N; ++c) sum += WT[N * i + c] * V[c * cols + j];
            block[i + j * ld] += sum;
          }
      }
    }
  }
}

template <int N>
bool BodyFactor<N>::factorize(const double* T) {
  const std::size_t count = T_.size();
  if (!bodies_) {
    std::copy_n(T, count, T_.begin());
    return lu_.factorize(active_, [&](int entry, int row, int column, double* out, int ld, bool transposed) {
      const double* D = system_->block(static_cast<std::size_t>(entry));
      const double* slope = T_.data() + N * N * row;
      for (int a = 0; a < N; ++a)
        for (int c = 0; c < N; ++c) {
          double sum = row == column && a == c ? 1.0 : 0.0;
          for (int k = 0; k < N; ++k) sum += slope[N * a + k] * D[N * k + c];
          out[transposed ? c + a * ld : a + c * ld] += sum;
        }
    });
  }
  for (std::size_t k = 0; k < count; ++k) T_[k] = unit_ * T[k];
  fill_bodies(T_.data());
  return lu_.factorize(active_, [&](int entry, int row, int column, double* out, int ld, bool transposed) {
    const double* block = blocks_.data() + block_starts_[entry];
    const int rows = sizes_[row], cols = sizes_[column];
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) out[transposed ? j + i * ld : i + j * ld] += block[i + j * rows];
  });
}

template <int N>
void BodyFactor<N>::solve(double* g) {
  if (!bodies_) return lu_.solve(g);
  const BodyBlocks& bodies = *bodies_;
  std::fill(y_.begin(), y_.end(), 0.0);
  auto each = [&](auto&& f) {
    for (const auto& e : bodies.incidences)
      f(e.law, directions_.data() + e.offset, y_.data() + starts_[node_[e.component]] + place_[e.component],
        bodies.component_starts[e.component + 1] - bodies.component_starts[e.component]);
  };
  each([&](int law, const double* W, double* y, int size) {
    for (int c = 0; c < N; ++c)
      for (int i = 0; i < size; ++i) y[i] += W[c * size + i] * g[N * law + c];
  });
  lu_.solve(y_.data());
  work_.assign(static_cast<std::size_t>(system_->size()), 0.0);
  each([&](int law, const double* W, const double* y, int size) {
    for (int c = 0; c < N; ++c)
      for (int i = 0; i < size; ++i) work_[N * law + c] += W[c * size + i] * y[i];
  });
  for (int k = 0; k < system_->laws(); ++k)
    for (int a = 0; a < N; ++a)
      for (int c = 0; c < N; ++c) g[N * k + a] -= T_[N * N * k + N * a + c] * work_[N * k + c];
}

template class BodyFactor<2>;
template class BodyFactor<3>;

}  // namespace stickslip
