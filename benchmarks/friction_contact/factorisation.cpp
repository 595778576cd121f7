// SPDX-License-Identifier: Apache-2.0

// Sparse LU of the Newton matrices of contact problems: BlockLu against Eigen's SparseLU and, where they were found,
// KLU and UMFPACK of SuiteSparse. One factorisation and one solution, the analysis of the pattern before them apart.
//
//   V = ρ_i (D + α diag(d_i)),   ρ_i = 10/d_i, α = 1e-2: all contacts stick;   `open`: rows of these contacts are those
//   of 1, as the proximal Newton method of the library has them. A library keeps the pattern and gets their zeros;
//   BlockLu leaves them out.
//
// factorisation FILE... [--pyramid N]: one line of JSON per matrix and share of open contacts.

#include <Eigen/SparseLU>
#ifdef STICKSLIP_HAS_SUITESPARSE
#include <Eigen/KLUSupport>
#include <Eigen/UmfPackSupport>
#endif
#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "harness.hpp"
#include "packing.hpp"
#include "stickslip/solvers/block_lu.hpp"

using namespace stickslip;

namespace {

constexpr double kScale = 10, kShift = 1e-2;
constexpr double kEnough = 0.2;  // [s] of repetitions

using Columns = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

/// The block-sparse V by value of (row, column) blocks, and the nodes that take part.
struct NewtonMatrix {
  const BlockSparseMatrix& D;
  std::vector<char> active;

  double unit(int k) const {
    double trace = 0;
    for (int c = 0; c < D.block_size(k); ++c) trace += D.diagonal(k)[c * (D.block_size(k) + 1)];
    return trace > 0 ? trace / D.block_size(k) : 1.0;
  }
  double value(int row, const BlockSparseMatrix::Entry& entry, int a, int c) const {
    const bool diagonal = entry.column == row && a == c;
    if (!active[row]) return diagonal;
    const double own = D.values(entry)[a * D.block_size(entry.column) + c];
    return kScale * (own / unit(row) + (diagonal ? kShift : 0.0));
  }
};

Columns assembled(const NewtonMatrix& V) {
  std::vector<Eigen::Triplet<double, int>> triplets;
  for (int row = 0; row < V.D.blocks(); ++row)
    for (const auto& entry : V.D.row(row))
      for (int a = 0; a < V.D.block_size(row); ++a)
        for (int c = 0; c < V.D.block_size(entry.column); ++c)
          triplets.emplace_back(V.D.start(row) + a, V.D.start(entry.column) + c, V.value(row, entry, a, c));
  Columns matrix(V.D.size(), V.D.size());
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return matrix;
}

/// Best CPU time of several calls.
double seconds(const std::function<void()>& call) {
  double best = HUGE_VAL;
  const double start = contact_benchmark::cpu_seconds();
  do {
    const double before = contact_benchmark::cpu_seconds();
    call();
    best = std::min(best, contact_benchmark::cpu_seconds() - before);
  } while (contact_benchmark::cpu_seconds() - start < kEnough);
  return best;
}

struct Result {
  double analysis, factorisation, error;
};

template <class Library>
Result run_library(const NewtonMatrix& V, const Vector& b) {
  const Columns matrix = assembled(V);
  Library lu;
  Vector x;
  Result result{};
  result.analysis = seconds([&] { lu.analyzePattern(matrix); });
  result.factorisation = seconds([&] {
    lu.factorize(matrix);
    x = lu.solve(b);
  });
  result.error = (matrix * x - b).norm() / b.norm();
  return result;
}

Result run_ours(const NewtonMatrix& V, const Vector& b) {
  const BlockSparseMatrix& D = V.D;
  std::vector<int> sizes, columns;
  for (int k = 0; k < D.blocks(); ++k) sizes.push_back(D.block_size(k));
  for (const auto& entry : D.entries()) columns.push_back(entry.column);
  BlockLu lu;
  Vector x;
  const auto fill = [&](int entry, int row, int column, double* out, int ld, bool transposed) {
    for (int a = 0; a < sizes[row]; ++a)
      for (int c = 0; c < sizes[column]; ++c)
        out[transposed ? c + a * ld : a + c * ld] += V.value(row, D.entries()[static_cast<std::size_t>(entry)], a, c);
  };
  Result result{};
  result.analysis = seconds([&] { lu.analyze(sizes, D.row_starts(), columns); });
  result.factorisation = seconds([&] {
    x = b;
    // Rows of open contacts: x = b there, which moves to the right-hand side of the others.
    for (int row = 0; row < D.blocks(); ++row)
      for (const auto& entry : D.row(row))
        if (V.active[row] && !V.active[entry.column])
          for (int a = 0; a < sizes[row]; ++a)
            for (int c = 0; c < sizes[entry.column]; ++c)
              x[D.start(row) + a] -= V.value(row, entry, a, c) * b[D.start(entry.column) + c];
    lu.factorize(V.active, fill);
    lu.solve(x.data());
  });
  const Columns matrix = assembled(V);
  result.error = (matrix * x - b).norm() / b.norm();
  return result;
}

void print(const char* name, const Result& result, const Result& ours) {
  std::printf(", \"%s\": {\"analysis\": %.3g, \"factorisation\": %.3g, \"over_ours\": %.3g, \"error\": %.1e}", name,
              result.analysis, result.factorisation, result.factorisation / ours.factorisation, result.error);
}

void compare(const std::string& name, const BlockSparseMatrix& D) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> unit(0, 1);
  for (const double open : {0.0, 0.5}) {
    NewtonMatrix V{D, {}};
    for (int k = 0; k < D.blocks(); ++k) V.active.push_back(unit(engine) >= open);
    Vector b(D.size());
    for (double& x : b) x = unit(engine) - 0.5;
    const Result ours = run_ours(V, b);
    std::printf("{\"problem\": \"%s\", \"contacts\": %d, \"blocks\": %zu, \"open\": %g", name.c_str(), D.blocks(),
                D.entries().size(), open);
    print("block_lu", ours, ours);
    print("eigen_sparse_lu", run_library<Eigen::SparseLU<Columns, Eigen::AMDOrdering<int>>>(V, b), ours);
#ifdef STICKSLIP_HAS_SUITESPARSE
    print("klu", run_library<Eigen::KLU<Columns>>(V, b), ours);
    print("umfpack", run_library<Eigen::UmfPackLU<Columns>>(V, b), ours);
#endif
    std::printf("}\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    LocalContactProblem local;
    std::string name = argument;
    if (argument == "--pyramid" && i + 1 < argc) {
      name = std::string("pyramid ") + argv[++i];
      local = condense(packing::contact_problem(packing::pyramid(std::stoi(argv[i]), 0.1), {}));
    } else {
      const FclibProblem problem = read_fclib(argument);
      const auto* global = std::get_if<GlobalContactProblem>(&problem);
      local = global ? condense(*global) : std::get<LocalContactProblem>(problem);
      name = name.substr(name.find_last_of('/') + 1);
    }
    compare(name, std::get<BlockSparseMatrix>(to_dual(local).D));
  }
  return 0;
}
