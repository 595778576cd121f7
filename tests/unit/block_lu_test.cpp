// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/block_lu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "stickslip/solvers/delassus.hpp"
#include "stickslip/solvers/elimination_order.hpp"
#include "tests/unit/solver_samples.hpp"

namespace stickslip::block_lu_test {
namespace {

using samples::Engine;

struct Pattern {
  std::vector<std::size_t> row_starts{0};
  std::vector<int> columns;
};

/// The diagonal and up to `extra` more entries per row, not symmetric.
Pattern random_pattern(Engine& engine, int n, int extra) {
  Pattern pattern;
  for (int i = 0; i < n; ++i) {
    std::set<int> row{i};
    for (int e = 0; e < extra; ++e) row.insert(static_cast<int>(engine() % n));
    pattern.columns.insert(pattern.columns.end(), row.begin(), row.end());
    pattern.row_starts.push_back(pattern.columns.size());
  }
  return pattern;
}

TEST(EliminationOrder, ListsTheEntriesThatEliminationMakes) {
  Engine engine(410);
  for (int trial = 0; trial < 40; ++trial) {
    const int n = 1 + trial;
    const Pattern pattern = random_pattern(engine, n, trial % 3);
    const EliminationOrder e = elimination_order(pattern.row_starts, pattern.columns);
    Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic> filled;
    filled.setConstant(n, n, false);
    for (int i = 0; i < n; ++i)
      for (std::size_t k = pattern.row_starts[i]; k < pattern.row_starts[i + 1]; ++k) {
        const int a = e.place[i], b = e.place[pattern.columns[k]];
        filled(a, b) = filled(b, a) = true;
      }
    for (int k = 0; k < n; ++k) {
      std::vector<int> below;
      for (int i = k + 1; i < n; ++i)
        if (filled(i, k)) below.push_back(i);
      EXPECT_EQ(e.below[k], below);
      EXPECT_EQ(e.parent[k], below.empty() ? -1 : below.front());
      for (const int i : below)
        for (const int j : below) filled(i, j) = true;
    }
  }
}

TEST(PanelStructure, HoldsEveryEntryOfTheFactorsInOnePanel) {
  Engine engine(411);
  for (int trial = 0; trial < 40; ++trial) {
    const int n = 1 + 2 * trial;
    const Pattern pattern = random_pattern(engine, n, 1 + trial % 3);
    const EliminationOrder e = elimination_order(pattern.row_starts, pattern.columns);
    const PanelStructure p = panel_structure(pattern.row_starts, pattern.columns);
    ASSERT_EQ(p.panel_starts.front(), 0);
    ASSERT_EQ(p.panel_starts.back(), n);
    for (int k = 0; k < n; ++k) {
      const int s = p.panel_of[k];
      const auto first = p.rows.begin() + static_cast<std::ptrdiff_t>(p.row_starts[s]);
      const auto last = p.rows.begin() + static_cast<std::ptrdiff_t>(p.row_starts[s + 1]);
      EXPECT_TRUE(std::is_sorted(first, last));
      EXPECT_TRUE(std::binary_search(first, last, k));
      EXPECT_TRUE(std::includes(first, last, e.below[k].begin(), e.below[k].end()));
    }
    std::vector<int> met(pattern.columns.size(), 0);
    for (const BlockPair& pair : p.pairs) {
      EXPECT_EQ(p.rows[pair.position], p.place[pair.row]);
      for (const int entry : {pair.lower, pair.upper})
        if (entry >= 0) ++met[entry];
    }
    for (const int times : met) EXPECT_EQ(times, 1);
  }
}

TEST(BlockLu, SolvesWithAndWithoutTheNodesThatAreLeftOut) {
  Engine engine(412);
  for (int trial = 0; trial < 40; ++trial) {
    const int n = 1 + trial;
    std::vector<int> sizes;
    for (int i = 0; i < n; ++i) sizes.push_back(1 + static_cast<int>(engine() % 3));
    const int m = std::accumulate(sizes.begin(), sizes.end(), 0);
    DenseMatrix V = 8 * DenseMatrix::Identity(m, m);
    std::vector<int> starts(1, 0);
    for (const int size : sizes) starts.push_back(starts.back() + size);
    for (int e = 0; e < 2 * n; ++e) {
      const int i = static_cast<int>(engine() % n), j = static_cast<int>(engine() % n);
      V.block(starts[i], starts[j], sizes[i], sizes[j]) +=
          samples::random_spd(engine, 3).block(0, 0, sizes[i], sizes[j]);
    }
    const BlockSparseMatrix blocks = BlockSparseMatrix::from_dense(sizes, V);
    std::vector<int> columns;
    for (const auto& entry : blocks.entries()) columns.push_back(entry.column);
    BlockLu lu;
    lu.analyze(sizes, blocks.row_starts(), columns);
    for (int round = 0; round < 3; ++round) {
      std::vector<char> active(n, 1);
      for (char& a : active) a = round == 0 || engine() % 3 != 0;
      ASSERT_TRUE(lu.factorize(active, [&](int entry, int row, int column, double* out, int ld, bool transposed) {
        const double* a = blocks.values(blocks.entries()[entry]);
        for (int i = 0; i < sizes[row]; ++i)
          for (int j = 0; j < sizes[column]; ++j) out[transposed ? j + i * ld : i + j * ld] += *a++;
      }));
      const Vector load = samples::random_vector(engine, m);
      Vector x = load;
      lu.solve(x.data());
      Vector in = Vector::Zero(m);
      for (int i = 0; i < n; ++i)
        if (active[i]) in.segment(starts[i], sizes[i]) = x.segment(starts[i], sizes[i]);
      const Vector product = V * in;
      for (int i = 0; i < n; ++i) {
        const auto rows = Eigen::seqN(starts[i], sizes[i]);
        if (active[i]) {
          EXPECT_LE((product(rows) - load(rows)).lpNorm<Eigen::Infinity>(), 1e-12);
        } else {
          EXPECT_EQ(x(rows), load(rows));
        }
      }
    }
  }
}

TEST(BlockLu, KnowsTheSignOfTheDeterminant) {
  Engine engine(413);
  int negative = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const int n = 2 + trial % 7;
    const std::vector<int> sizes(static_cast<std::size_t>(n), 2);
    DenseMatrix V(2 * n, 2 * n);
    for (double& value : V.reshaped()) value = samples::draw(engine, -1, 1);
    const BlockSparseMatrix blocks = BlockSparseMatrix::from_dense(sizes, V);
    std::vector<int> columns;
    for (const auto& entry : blocks.entries()) columns.push_back(entry.column);
    BlockLu lu;
    lu.analyze(sizes, blocks.row_starts(), columns);
    ASSERT_TRUE(lu.factorize(std::vector<char>(static_cast<std::size_t>(n), 1),
                             [&](int, int row, int column, double* out, int ld, bool transposed) {
                               for (int a = 0; a < 2; ++a)
                                 for (int c = 0; c < 2; ++c)
                                   out[transposed ? c + a * ld : a + c * ld] += V(2 * row + a, 2 * column + c);
                             }));
    EXPECT_EQ(lu.sign(), V.determinant() < 0 ? -1 : 1) << trial;
    negative += lu.sign() < 0;
  }
  EXPECT_GT(negative, 0);
  EXPECT_LT(negative, 40);
}

}  // namespace
}  // namespace stickslip::block_lu_test
