// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/condensation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/dense_kernel.hpp"

namespace stickslip {

namespace {
int find_root(std::vector<int>& root, int i) {
  while (root[i] != i) i = root[i] = root[root[i]];
  return i;
}
[[noreturn]] void not_positive_definite() {
  throw InputError("the symmetric part of the step matrix is not positive definite");
}
}  // namespace

void Condensation::find_components(const SystemMatrix& A) {
  const int n = static_cast<int>(A.size());
  root_.resize(n);
  std::iota(root_.begin(), root_.end(), 0);
  A.for_each([&](Index i, Index j, double value) {
    if (value == 0.0 || i == j) return;
    const int a = find_root(root_, static_cast<int>(i)), b = find_root(root_, static_cast<int>(j));
    if (a != b) root_[std::max(a, b)] = std::min(a, b);
  });
  component_.assign(n, -1);
  component_starts_.assign(1, 0);
  for (int i = 0; i < n; ++i) {  // the root of a component is its smallest member
    const int r = find_root(root_, i);
    if (r == i) {
      component_[i] = static_cast<int>(component_starts_.size()) - 1;
      component_starts_.push_back(0);
    } else {
      component_[i] = component_[r];
    }
    ++component_starts_[component_[i] + 1];
  }
  int largest = 0;
  for (std::size_t c = 1; c < component_starts_.size(); ++c) {
    largest = std::max(largest, component_starts_[c]);
    component_starts_[c] += component_starts_[c - 1];
  }
  local_.resize(n);
  members_.resize(n);
  pivots_.resize(n);
  std::vector<int>& fill = root_;  // not needed any more
  std::fill(fill.begin(), fill.end(), 0);
  for (int i = 0; i < n; ++i) {
    local_[i] = fill[component_[i]]++;
    members_[component_starts_[component_[i]] + local_[i]] = i;
  }
  whole_ = largest > kLargestComponent;
  gathered_.resize(std::max(1, largest));
}

void Condensation::factorize_components(const SystemMatrix& A) {
  const int count = static_cast<int>(component_starts_.size()) - 1;
  factor_starts_.assign(count + 1, 0);
  for (int c = 0; c < count; ++c) {
    const std::size_t n = static_cast<std::size_t>(component_starts_[c + 1] - component_starts_[c]);
    factor_starts_[c + 1] = factor_starts_[c] + n * n;
  }
  factors_.assign(factor_starts_[count], 0.0);
  A.for_each([&](Index i, Index j, double value) {
    const int c = component_[i];
    if (component_[j] != c) return;
    const int n = component_starts_[c + 1] - component_starts_[c];
    factors_[factor_starts_[c] + local_[i] + static_cast<std::size_t>(local_[j]) * n] = value;
  });
  for (int c = 0; c < count; ++c) {
    const int n = component_starts_[c + 1] - component_starts_[c];
    if (!dense_kernel::lu(n, factors_.data() + factor_starts_[c], n, pivots_.data() + component_starts_[c]))
      not_positive_definite();
  }
}

namespace {
/// x = (LU)⁻¹ x for one component.
void solve_lu(int n, const double* lu, const int* pivots, double* x) {
  for (int i = 0; i < n; ++i) std::swap(x[i], x[pivots[i]]);
  for (int j = 0; j < n; ++j) {
    const double* column = lu + static_cast<std::size_t>(j) * n;
    for (int i = j + 1; i < n; ++i) x[i] -= column[i] * x[j];
  }
  for (int j = n - 1; j >= 0; --j) {
    const double* column = lu + static_cast<std::size_t>(j) * n;
    x[j] /= column[j];
    for (int i = 0; i < j; ++i) x[i] -= column[i] * x[j];
  }
}
}  // namespace

void Condensation::solve_components(Vector& x) const {
  for (std::size_t c = 0; c + 1 < component_starts_.size(); ++c) {
    const int first = component_starts_[c], n = component_starts_[c + 1] - first;
    for (int i = 0; i < n; ++i) gathered_[i] = x[members_[first + i]];
    solve_lu(n, factors_.data() + factor_starts_[c], pivots_.data() + first, gathered_.data());
    for (int i = 0; i < n; ++i) x[members_[first + i]] = gathered_[i];
  }
}

void Condensation::collect_incidences(const PrimalProblem& problem, ThreadPool* threads) {
  const int laws = static_cast<int>(problem.sets.size());
  const std::size_t components = component_starts_.size() - 1;
  incidences_.clear();
  law_starts_.assign(1, 0);
  mark_.assign(std::max<std::size_t>(components, laws), -1);
  std::size_t offset = 0;
  Index row = 0;
  for (int k = 0; k < laws; ++k) {
    const int size = problem.sets[k].size;
    for (int r = 0; r < size; ++r)
      for (SparseMatrix::InnerIterator entry(problem.Wt, row + r); entry; ++entry) {
        const int c = component_[entry.col()];
        if (entry.value() == 0.0 || mark_[c] == k) continue;
        mark_[c] = k;
        incidences_.push_back({k, c, offset});
        offset += static_cast<std::size_t>(component_starts_[c + 1] - component_starts_[c]) * size;
      }
    row += size;
    law_starts_.push_back(incidences_.size());
  }
  directions_.assign(offset, 0.0);
  row = 0;
  position_.resize(std::max<std::size_t>(components, laws));
  for (int k = 0; k < laws; ++k) {
    for (std::size_t e = law_starts_[k]; e < law_starts_[k + 1]; ++e)
      position_[incidences_[e].component] = incidences_[e].offset;
    for (int r = 0; r < problem.sets[k].size; ++r, ++row)
      for (SparseMatrix::InnerIterator entry(problem.Wt, row); entry; ++entry) {
        if (entry.value() == 0.0) continue;
        const int c = component_[entry.col()], n = component_starts_[c + 1] - component_starts_[c];
        directions_[position_[c] + static_cast<std::size_t>(r) * n + local_[entry.col()]] += entry.value();
      }
  }
  responses_ = directions_;
  constexpr std::size_t kWorthAPart = 2000;  // incidences
  const int parts = part_count(threads, incidences_.size(), kWorthAPart);
  run_parts(threads, parts, [&](int part) {
    const auto [begin, end] = part_range(incidences_.size(), parts, part);
    for (std::size_t k = begin; k < end; ++k) {
      const Incidence& e = incidences_[k];
      const int first = component_starts_[e.component], n = component_starts_[e.component + 1] - first;
      for (int r = 0; r < problem.sets[e.law].size; ++r)
        solve_lu(n, factors_.data() + factor_starts_[e.component], pivots_.data() + first,
                 responses_.data() + e.offset + static_cast<std::size_t>(r) * n);
    }
  });
  by_component_starts_.assign(components + 1, 0);
  for (const Incidence& e : incidences_) ++by_component_starts_[e.component + 1];
  std::partial_sum(by_component_starts_.begin(), by_component_starts_.end(), by_component_starts_.begin());
  by_component_.resize(incidences_.size());
  std::copy(by_component_starts_.begin(), by_component_starts_.end() - 1, position_.begin());
  for (std::size_t e = 0; e < incidences_.size(); ++e)
    by_component_[position_[incidences_[e].component]++] = static_cast<int>(e);
}

void Condensation::build_blocks(const PrimalProblem& problem, ThreadPool* threads) {
  collect_incidences(problem, threads);
  const int laws = static_cast<int>(problem.sets.size());
  sizes_.resize(laws);
  for (int k = 0; k < laws; ++k) sizes_[k] = problem.sets[k].size;
  row_starts_.assign(1, 0);
  columns_.clear();
  std::fill(mark_.begin(), mark_.end(), -1);
  for (int k = 0; k < laws; ++k) {
    mark_[k] = k;
    columns_.push_back(k);
    for (std::size_t e = law_starts_[k]; e < law_starts_[k + 1]; ++e) {
      const int c = incidences_[e].component;
      for (std::size_t f = by_component_starts_[c]; f < by_component_starts_[c + 1]; ++f) {
        const int l = incidences_[by_component_[f]].law;
        if (mark_[l] == k) continue;
        mark_[l] = k;
        columns_.push_back(l);
      }
    }
    std::sort(columns_.begin() + static_cast<std::ptrdiff_t>(row_starts_.back()), columns_.end());
    row_starts_.push_back(columns_.size());
  }
  D_.set_structure(sizes_, row_starts_, columns_);
  constexpr std::size_t kWorthAPart = 200;  // laws
  const int parts = part_count(threads, static_cast<std::size_t>(laws), kWorthAPart);
  positions_.resize(std::max<std::size_t>(positions_.size(), static_cast<std::size_t>(parts)));
  run_parts(threads, parts, [&](int k) {
    std::vector<std::size_t>& position = positions_[static_cast<std::size_t>(k)];
    position.resize(static_cast<std::size_t>(laws));
    fill_rows(part_range(static_cast<std::size_t>(laws), parts, k), position);
  });
}

void Condensation::fill_rows(PartRange laws, std::vector<std::size_t>& position) {
  for (std::size_t k = laws.begin; k < laws.end; ++k) {
    for (std::size_t e = row_starts_[k]; e < row_starts_[k + 1]; ++e) position[columns_[e]] = e;
    for (std::size_t e = law_starts_[k]; e < law_starts_[k + 1]; ++e) {
      const int c = incidences_[e].component, n = component_starts_[c + 1] - component_starts_[c];
      const double* direction = directions_.data() + incidences_[e].offset;
      for (std::size_t f = by_component_starts_[c]; f < by_component_starts_[c + 1]; ++f) {
        const Incidence& other = incidences_[by_component_[f]];
        const double* response = responses_.data() + other.offset;
        double* block = D_.values(D_.entries()[position[other.law]]);
        for (int i = 0; i < sizes_[k]; ++i)
          for (int j = 0; j < sizes_[other.law]; ++j) {
            double sum = 0;
            for (int a = 0; a < n; ++a) sum += direction[i * n + a] * response[j * n + a];
            *block++ += sum;
          }
      }
    }
  }
}

void Condensation::build_whole(const PrimalProblem& problem) {
  none_pinned_.assign(problem.A->size(), 0);
  if (!factor_.factorize(*problem.A, none_pinned_)) not_positive_definite();
  const Index m = reaction_size(problem.sets);
  DenseMatrix dense(m, m);
  Vector x(problem.A->size());
  for (Index k = 0; k < m; ++k) {
    x.setZero();
    for (SparseMatrix::InnerIterator entry(problem.Wt, k); entry; ++entry) x[entry.col()] = entry.value();
    factor_.solve(x);
    dense.col(k) = problem.Wt * x;
  }
  D_ = BlockSparseMatrix::from_dense(block_sizes(problem.sets), dense);
}

void Condensation::set_weights() {
  weights_.resize(D_.blocks());
  double smallest = HUGE_VAL;
  for (int k = 0; k < D_.blocks(); ++k) {
    const int size = D_.block_size(k);
    double trace = 0;
    for (int c = 0; c < size; ++c) trace += D_.diagonal(k)[c * (size + 1)];
    weights_[k] = trace / size;
    if (trace > 0) smallest = std::min(smallest, weights_[k]);
  }
  for (double& d : weights_) d = 1 / (d > 0 ? d : smallest < HUGE_VAL ? smallest : 1.0);
}

void Condensation::refresh(const PrimalProblem& problem, ThreadPool* threads) {
  const Index n = problem.A->size(), m = problem.w.size();
  if (version_ != problem.A_version || coordinates_ != n || components_of_r_ != m ||
      D_.blocks() != static_cast<int>(problem.sets.size())) {
    version_ = kNoVersion;
    find_components(*problem.A);
    if (whole_) {
      build_whole(problem);
    } else {
      factorize_components(*problem.A);
      build_blocks(problem, threads);
    }
    set_weights();
    version_ = problem.A_version;
    coordinates_ = n;
    components_of_r_ = m;
  }
  free_ = problem.g;
  if (whole_) {
    factor_.solve(free_);
  } else {
    solve_components(free_);
  }
  b_.resize(m);
  for (Index k = 0; k < m; ++k) {
    double sum = -problem.w[k];
    for (SparseMatrix::InnerIterator entry(problem.Wt, k); entry; ++entry) sum += entry.value() * free_[entry.col()];
    b_[k] = sum;
  }
}

const BodyBlocks* Condensation::bodies(const PrimalProblem& problem) {
  if (whole_) return nullptr;
  matrices_.assign(factors_.size(), 0.0);
  problem.A->for_each([&](Index i, Index j, double value) {
    const int c = component_[i];
    if (component_[j] != c) return;
    const int n = component_starts_[c + 1] - component_starts_[c];
    matrices_[factor_starts_[c] + local_[i] + static_cast<std::size_t>(local_[j]) * n] = value;
  });
  bodies_ = {component_starts_, law_starts_, incidences_, directions_, factor_starts_, matrices_};
  return &bodies_;
}

void Condensation::velocity(const PrimalProblem& problem, const Vector& r, Vector& v) {
  if (whole_) {
    v = problem.g;
    for (Index k = 0; k < problem.Wt.rows(); ++k)
      for (SparseMatrix::InnerIterator entry(problem.Wt, k); entry; ++entry) v[entry.col()] += entry.value() * r[k];
    factor_.solve(v);
    return;
  }
  v = free_;
  Index first = 0;
  for (std::size_t k = 0; k < problem.sets.size(); ++k) {
    const int size = problem.sets[k].size;
    for (std::size_t e = law_starts_[k]; e < law_starts_[k + 1]; ++e) {
      const int c = incidences_[e].component, start = component_starts_[c], n = component_starts_[c + 1] - start;
      const double* response = responses_.data() + incidences_[e].offset;
      for (int i = 0; i < size; ++i)
        for (int a = 0; a < n; ++a) v[members_[start + a]] += response[i * n + a] * r[first + i];
    }
    first += size;
  }
}

}  // namespace stickslip
