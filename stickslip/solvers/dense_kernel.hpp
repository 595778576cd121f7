// SPDX-License-Identifier: Apache-2.0
// The few dense operations of the sparse LU, on column-major data in place, without allocation. Where the processor has
// wide registers and fused multiply-add they are used (chosen when the program is loaded, so results differ between
// processors in the last bits only): larger products run in tiles of C that stay in registers, over copies of A and B
// on the stack (after Goto, van de Geijn, ACM Trans. Math. Softw. 34, 2008).
#pragma once

namespace stickslip::dense_kernel {

/// C -= A B: A m x k (leading dimension lda), C m x n (ldc), B(l, j) = B[l * row_step + j * column_step], k x n.
void subtract_product(int m, int n, int k, const double* A, int lda, const double* B, int row_step, int column_step,
                      double* C, int ldc);
/// y -= A x, A m x n.
void subtract_columns(int m, int n, const double* A, int lda, const double* x, double* y);
/// y -= Aᵀ x, A m x n.
void subtract_inner(int m, int n, const double* A, int lda, const double* x, double* y);
/// A = P L U in place, n x n, rows exchanged: step i swapped rows i and pivots[i]. False if a pivot vanishes.
bool lu(int n, double* A, int lda, int* pivots);
/// X T = A for X in place of A (m x n): T upper triangular with T(k, j) = T[k * row_step + j * column_step].
void solve_right_upper(int m, int n, double* A, int lda, const double* T, int row_step, int column_step, bool unit);

}  // namespace stickslip::dense_kernel
