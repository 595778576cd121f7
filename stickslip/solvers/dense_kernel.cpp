// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/dense_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define STICKSLIP_WIDE __attribute__((target_clones("avx2", "default")))
#define STICKSLIP_FUSED
#else
#define STICKSLIP_WIDE
#endif

namespace stickslip::dense_kernel {

namespace {
// Four numbers at any address; the compiler splits them where registers are narrower.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
}  // namespace

#ifdef STICKSLIP_FUSED
namespace {
// Tiles of C held in registers, and the part of B that is copied for them, in the second level of the cache; of A only
// what fills no tile is copied.
constexpr int kDepth = 128;
// Below this a product is over before the copies have paid.
constexpr int kFewestRows = 12, kSmallestDepth = 12, kFewestColumns = 4;

struct Tile256 {  // 12 x 4 of 16 registers
  typedef double Lanes __attribute__((vector_size(32), aligned(8), may_alias));
  static constexpr int lanes = 4, rows = 12, columns = 4, together = 64;
};
struct Tile512 {  // 24 x 6 of 32 registers: bodies have six coordinates
  typedef double Lanes __attribute__((vector_size(64), aligned(8), may_alias));
  static constexpr int lanes = 8, rows = 24, columns = 6, together = 60;
};

/// C -= A B for one tile; B copied row by row of the depth.
template <class Tile>
[[gnu::always_inline]] inline void subtract_tile(int depth, const double* A, int lda, const double* B, double* C,
                                                 int ldc) {
  using Lanes = typename Tile::Lanes;
  constexpr int vectors = Tile::rows / Tile::lanes;
  Lanes sum[Tile::columns][vectors] = {};
  for (int l = 0; l < depth; ++l, A += lda, B += Tile::columns) {
    Lanes x[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) x[v] = *reinterpret_cast<const Lanes*>(A + v * Tile::lanes);
#pragma GCC unroll 8
    for (int j = 0; j < Tile::columns; ++j)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sum[j][v] += x[v] * B[j];
  }
#pragma GCC unroll 8
  for (int j = 0; j < Tile::columns; ++j, C += ldc)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Lanes*>(C + v * Tile::lanes) -= sum[j][v];
}

template <class Tile>
[[gnu::always_inline]] inline void subtract_product_in_tiles(int m, int n, int k, const double* A, int lda,
                                                             const double* B, int row_step, int column_step, double* C,
                                                             int ldc) {
  double a[kDepth * Tile::rows], b[kDepth * Tile::together], edge[Tile::rows * Tile::columns];
  for (int first = 0; first < k; first += kDepth) {
    const int depth = std::min(kDepth, k - first);
    for (int left = 0; left < n; left += Tile::together) {
      const int columns = std::min(Tile::together, n - left);
      for (int j = 0; j < columns; j += Tile::columns) {
        double* to = b + static_cast<long>(j) * depth;
        const int here = std::min(Tile::columns, columns - j);
        const double* from = B + static_cast<long>(left + j) * column_step + static_cast<long>(first) * row_step;
        if (here < Tile::columns) std::fill_n(to, static_cast<long>(depth) * Tile::columns, 0.0);
        for (int c = 0; c < here; ++c)
          for (int l = 0; l < depth; ++l)
            to[l * Tile::columns + c] = from[static_cast<long>(l) * row_step + static_cast<long>(c) * column_step];
      }
      for (int i = 0; i < m; i += Tile::rows) {
        const int rows = std::min(Tile::rows, m - i);
        const double* from = A + i + static_cast<long>(first) * lda;
        int step = lda;
        if (rows < Tile::rows) {
          std::fill_n(a, depth * Tile::rows, 0.0);
          for (int l = 0; l < depth; ++l) std::copy_n(from + static_cast<long>(l) * lda, rows, a + l * Tile::rows);
          from = a;
          step = Tile::rows;
        }
        for (int j = 0; j < columns; j += Tile::columns) {
          const int here = std::min(Tile::columns, columns - j);
          double* c = C + i + static_cast<long>(left + j) * ldc;
          if (rows == Tile::rows && here == Tile::columns) {
            subtract_tile<Tile>(depth, from, step, b + static_cast<long>(j) * depth, c, ldc);
            continue;
          }
          std::fill_n(edge, Tile::rows * Tile::columns, 0.0);
          subtract_tile<Tile>(depth, from, step, b + static_cast<long>(j) * depth, edge, Tile::rows);
          for (int y = 0; y < here; ++y)
            for (int x = 0; x < rows; ++x) c[x + static_cast<long>(y) * ldc] += edge[x + Tile::rows * y];
        }
      }
    }
  }
}

__attribute__((target("avx2,fma"))) void subtract_product_256(int m, int n, int k, const double* A, int lda,
                                                              const double* B, int row_step, int column_step, double* C,
                                                              int ldc) {
  subtract_product_in_tiles<Tile256>(m, n, k, A, lda, B, row_step, column_step, C, ldc);
}

__attribute__((target("avx512f,avx2,fma"))) void subtract_product_512(int m, int n, int k, const double* A, int lda,
                                                                      const double* B, int row_step, int column_step,
                                                                      double* C, int ldc) {
  subtract_product_in_tiles<Tile512>(m, n, k, A, lda, B, row_step, column_step, C, ldc);
}

const bool has_fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
const bool has_512 = has_fused && __builtin_cpu_supports("avx512f");
}  // namespace
#endif

STICKSLIP_WIDE void subtract_product(int m, int n, int k, const double* A, int lda, const double* B, int row_step,
                                     int column_step, double* C, int ldc) {
#ifdef STICKSLIP_FUSED
  if (m >= kFewestRows && k >= kSmallestDepth && n >= kFewestColumns && has_fused) {
    if (has_512) return subtract_product_512(m, n, k, A, lda, B, row_step, column_step, C, ldc);
    return subtract_product_256(m, n, k, A, lda, B, row_step, column_step, C, ldc);
  }
#endif
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    const double* b0 = B + static_cast<long>(j) * column_step;
    const double *b1 = b0 + column_step, *b2 = b1 + column_step, *b3 = b2 + column_step;
    double *c0 = C + static_cast<long>(j) * ldc, *c1 = c0 + ldc, *c2 = c1 + ldc, *c3 = c2 + ldc;
    int i = 0;
    for (; i + 8 <= m; i += 8) {
      Four s00{}, s01{}, s10{}, s11{}, s20{}, s21{}, s30{}, s31{};
      const double* a = A + i;
      for (int l = 0; l < k; ++l, a += lda) {
        const long at = static_cast<long>(l) * row_step;
        const Four x = *reinterpret_cast<const Four*>(a), y = *reinterpret_cast<const Four*>(a + 4);
        s00 += x * b0[at];
        s01 += y * b0[at];
        s10 += x * b1[at];
        s11 += y * b1[at];
        s20 += x * b2[at];
        s21 += y * b2[at];
        s30 += x * b3[at];
        s31 += y * b3[at];
      }
      *reinterpret_cast<Four*>(c0 + i) -= s00;
      *reinterpret_cast<Four*>(c0 + i + 4) -= s01;
      *reinterpret_cast<Four*>(c1 + i) -= s10;
      *reinterpret_cast<Four*>(c1 + i + 4) -= s11;
      *reinterpret_cast<Four*>(c2 + i) -= s20;
      *reinterpret_cast<Four*>(c2 + i + 4) -= s21;
      *reinterpret_cast<Four*>(c3 + i) -= s30;
      *reinterpret_cast<Four*>(c3 + i + 4) -= s31;
    }
    for (; i < m; ++i) {
      double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      const double* a = A + i;
      for (int l = 0; l < k; ++l, a += lda) {
        const long at = static_cast<long>(l) * row_step;
        s0 += *a * b0[at];
        s1 += *a * b1[at];
        s2 += *a * b2[at];
        s3 += *a * b3[at];
      }
      c0[i] -= s0;
      c1[i] -= s1;
      c2[i] -= s2;
      c3[i] -= s3;
    }
  }
  for (; j < n; ++j) {
    const double* b = B + static_cast<long>(j) * column_step;
    double* c = C + static_cast<long>(j) * ldc;
    int i = 0;
    for (; i + 4 <= m; i += 4) {
      Four s{};
      const double* a = A + i;
      for (int l = 0; l < k; ++l, a += lda) s += *reinterpret_cast<const Four*>(a) * b[static_cast<long>(l) * row_step];
      *reinterpret_cast<Four*>(c + i) -= s;
    }
    for (; i < m; ++i) {
      double s = 0;
      const double* a = A + i;
      for (int l = 0; l < k; ++l, a += lda) s += *a * b[static_cast<long>(l) * row_step];
      c[i] -= s;
    }
  }
}

STICKSLIP_WIDE void subtract_columns(int m, int n, const double* A, int lda, const double* x, double* y) {
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    const double *a0 = A + static_cast<long>(j) * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    for (int i = 0; i < m; ++i) y[i] -= a0[i] * x0 + a1[i] * x1 + a2[i] * x2 + a3[i] * x3;
  }
  for (; j < n; ++j)
    for (int i = 0; i < m; ++i) y[i] -= A[i + static_cast<long>(j) * lda] * x[j];
}

STICKSLIP_WIDE void subtract_inner(int m, int n, const double* A, int lda, const double* x, double* y) {
  for (int j = 0; j < n; ++j, A += lda) {
    Four s{}, t{};
    int i = 0;
    for (; i + 8 <= m; i += 8) {
      s += *reinterpret_cast<const Four*>(A + i) * *reinterpret_cast<const Four*>(x + i);
      t += *reinterpret_cast<const Four*>(A + i + 4) * *reinterpret_cast<const Four*>(x + i + 4);
    }
    s += t;
    double sum = (s[0] + s[1]) + (s[2] + s[3]);
    for (; i < m; ++i) sum += A[i] * x[i];
    y[j] -= sum;
  }
}

void solve_right_upper(int m, int n, double* A, int lda, const double* T, int row_step, int column_step, bool unit) {
  if (m == 0) return;
  if (n > 8) {
    const int left = n > 16 ? n / 2 / 8 * 8 : 8, right = n - left;
    solve_right_upper(m, left, A, lda, T, row_step, column_step, unit);
    double* rest = A + static_cast<long>(left) * lda;
    subtract_product(m, right, left, A, lda, T + static_cast<long>(left) * column_step, row_step, column_step, rest,
                     lda);
    const double* corner = T + static_cast<long>(left) * (row_step + column_step);
    return solve_right_upper(m, right, rest, lda, corner, row_step, column_step, unit);
  }
  for (int j = 0; j < n; ++j) {
    double* column = A + static_cast<long>(j) * lda;
    if (j > 0)
      subtract_product(m, 1, j, A, lda, T + static_cast<long>(j) * column_step, row_step, column_step, column, lda);
    if (unit) continue;
    const double inverse = 1 / T[static_cast<long>(j) * (row_step + column_step)];
    for (int i = 0; i < m; ++i) column[i] *= inverse;
  }
}

namespace {
/// L X = B for X in place of B (n x m), L unit lower triangular.
STICKSLIP_WIDE void solve_few_left_unit_lower(int n, int m, const double* L, int ldl, double* B, int ldb) {
  for (int j = 0; j < m; ++j) {
    double* x = B + static_cast<long>(j) * ldb;
    for (int i = 0; i < n; ++i)
      for (int k = i + 1; k < n; ++k) x[k] -= L[k + static_cast<long>(i) * ldl] * x[i];
  }
}

void solve_left_unit_lower(int n, int m, const double* L, int ldl, double* B, int ldb) {
  if (n <= 8) return solve_few_left_unit_lower(n, m, L, ldl, B, ldb);
  const int top = n > 16 ? n / 2 / 8 * 8 : 8, rest = n - top;
  solve_left_unit_lower(top, m, L, ldl, B, ldb);
  subtract_product(rest, m, top, L + top, ldl, B, 1, ldb, B + top, ldb);
  solve_left_unit_lower(rest, m, L + top + static_cast<long>(top) * ldl, ldl, B + top, ldb);
}

/// Column j, whose pivot is in place, below its diagonal and from the columns up to `end`.
STICKSLIP_WIDE void eliminate(int m, int j, int end, double* A, int lda) {
  double* column = A + static_cast<long>(j) * lda;
  const double inverse = 1 / column[j];
  for (int i = j + 1; i < m; ++i) column[i] *= inverse;
  for (int k = j + 1; k < end; ++k) {
    double* other = A + static_cast<long>(k) * lda;
    const double x = other[j];
    for (int i = j + 1; i < m; ++i) other[i] -= column[i] * x;
  }
}

/// Columns first .. first+n of the m x m matrix, rows from `first`.
bool lu_columns(int m, int first, int n, double* A, int lda, int* pivots) {
  if (n > 8) {
    const int left = n > 16 ? n / 2 / 8 * 8 : 8, right = n - left, split = first + left;
    if (!lu_columns(m, first, left, A, lda, pivots)) return false;
    double* next = A + static_cast<long>(split) * lda;
    for (int j = 0; j < right; ++j) {
      double* column = next + static_cast<long>(j) * lda;
      for (int i = first; i < split; ++i) std::swap(column[i], column[pivots[i]]);
    }
    solve_left_unit_lower(left, right, A + static_cast<long>(first) * lda + first, lda, next + first, lda);
    subtract_product(m - split, right, left, A + static_cast<long>(first) * lda + split, lda, next + first, 1, lda,
                     next + split, lda);
    if (!lu_columns(m, split, right, A, lda, pivots)) return false;
    for (int j = first; j < split; ++j) {
      double* column = A + static_cast<long>(j) * lda;
      for (int i = split; i < split + right; ++i) std::swap(column[i], column[pivots[i]]);
    }
    return true;
  }
  for (int j = first; j < first + n; ++j) {
    double* column = A + static_cast<long>(j) * lda;
    int p = j;
    for (int i = j + 1; i < m; ++i)
      if (std::abs(column[i]) > std::abs(column[p])) p = i;
    pivots[j] = p;
    if (!(std::abs(column[p]) > 0) || !std::isfinite(column[p])) return false;
    if (p != j)
      for (int k = first; k < first + n; ++k)
        std::swap(A[static_cast<long>(k) * lda + j], A[static_cast<long>(k) * lda + p]);
    eliminate(m, j, first + n, A, lda);
  }
  return true;
}
}  // namespace

bool lu(int n, double* A, int lda, int* pivots) { return lu_columns(n, 0, n, A, lda, pivots); }

}  // namespace stickslip::dense_kernel
