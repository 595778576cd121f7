// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/elimination_order.hpp"

#include <Eigen/OrderingMethods>
#include <algorithm>

namespace stickslip {

namespace {

using Lists = std::vector<std::vector<int>>;

Lists symmetric_neighbours(std::span<const std::size_t> row_starts, std::span<const int> columns) {
  const int n = static_cast<int>(row_starts.size()) - 1;
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

Lists rows_below(const Lists& neighbours, const EliminationOrder& e) {
  const int n = static_cast<int>(e.order.size());
  Lists below(n), children(n);
  std::vector<int> mark(n, -1);
  for (int k = 0; k < n; ++k) {
    mark[k] = k;
    auto add = [&](int i) {
      if (i > k && mark[i] != k) {
        mark[i] = k;
        below[k].push_back(i);
      }
    };
    for (const int node : neighbours[e.order[k]]) add(e.place[node]);
    for (const int child : children[k])
      for (const int i : below[child]) add(i);
    std::sort(below[k].begin(), below[k].end());
    if (e.parent[k] >= 0) children[e.parent[k]].push_back(k);
  }
  return below;
}

}  // namespace

EliminationOrder elimination_order(std::span<const std::size_t> row_starts, std::span<const int> columns) {
  const Lists neighbours = symmetric_neighbours(row_starts, columns);
  const std::vector<int> by_degree = minimum_degree_order(neighbours);
  EliminationOrder e;
  for (const int k : postorder(elimination_tree(neighbours, by_degree, inverse(by_degree))))
    e.order.push_back(by_degree[k]);
  e.place = inverse(e.order);
  e.parent = elimination_tree(neighbours, e.order, e.place);
  e.below = rows_below(neighbours, e);
  return e;
}

}  // namespace stickslip
