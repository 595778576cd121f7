// SPDX-License-Identifier: Apache-2.0
// Anderson acceleration of a fixed-point map x → g(x) (Anderson 1965; Walker and Ni, SIAM J. Numer. Anal. 49, 2011).
//
//   f_k = g(x_k) - x_k,      γ = argmin | f_k - ΔF γ |_w,      x_{k+1} = g(x_k) - ΔG γ
//
// over the last `memory` differences ΔF, ΔG; |.|_w with a weight per component. Normal equations, updated by one row
// per step, with a relative shift of 1e-12 against their own round-off. Sums are those of pieces of fixed length, added
// up in order, so that threads can share them without changing a bit.
#pragma once

#include <array>
#include <vector>

#include "stickslip/common/thread_pool.hpp"
#include "stickslip/common/vector.hpp"

namespace stickslip {

class Anderson {
 public:
  static constexpr int kMemory = 10;
  void resize(int size);
  void clear() {
    columns_ = 0;
    has_last_ = false;
  }
  /// x, g and the weighted norm's weights; writes the next point into `next` (which may be x). Returns |f|_w².
  /// `threads` may be null.
  double step(const double* x, const double* g, const double* weights, double* next, ThreadPool* threads = nullptr);

 private:
  using Coefficients = std::array<double, kMemory>;
  /// Of one piece: |f|_w², and the products of the newest difference and of f with all differences.
  struct Products {
    double norm = 0;
    Coefficients newest{}, f{};
  };
  /// Brings f and the newest differences up to date.
  Products update(const double* x, const double* g, const double* weights, Index first, Index count);
  bool solve(Coefficients& gamma) const;

  int size_ = 0, columns_ = 0, newest_ = 0;
  bool has_last_ = false;
  std::array<std::vector<double>, kMemory> df_, dg_;
  std::vector<double> f_, last_f_, last_g_;
  Vector weighted_;
  std::array<Coefficients, kMemory> gram_{};
  std::vector<Products> products_;  // of each piece
};

}  // namespace stickslip
