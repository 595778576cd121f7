// SPDX-License-Identifier: Apache-2.0
// The exchange loop of active_set.hpp, shared by its kernels.
//
// A kernel offers
//   solve(status, r, u)       the linear system of a guess; false if it is singular
//   r_size(i), u_size(i)      the terms that r_i and u_i were computed from
//   finish(status, solution)  the last word on a guess without violations; false if it was none
//   data_finite(), singular_message()
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "stickslip/solvers/active_set.hpp"

namespace stickslip::box_exchange {

constexpr double kRoundOff = 16 * std::numeric_limits<double>::epsilon();
constexpr double kTie = 1e-12;  // violations that are accepted when the exchanges make no progress

/// Throws InputError unless every set is a box.
void require_boxes(const std::vector<Set>& sets);
/// Bounds of the boxes; a start status that does not fit them is repaired.
void load_boxes(const std::vector<Set>& sets, Vector& lo, Vector& hi, std::vector<BoxStatus>& status);

inline double bound(BoxStatus status, double lo, double hi) { return status == BoxStatus::upper ? hi : lo; }

template <class Kernel>
class Exchange {
 public:
  Exchange(Kernel& kernel, const Vector& lo, const Vector& hi, std::vector<BoxStatus>& status,
           const ActiveSetOptions& options, InclusionSolution& solution)
      : kernel_(kernel), lo_(lo), hi_(hi), status_(status), options_(options), solution_(solution) {}

  void run() {
    const Index m = lo_.size();
    const int limit = options_.max_iterations > 0 ? options_.max_iterations : 1000 + 20 * static_cast<int>(m);
    Index fewest = m + 1;
    int patience = options_.patience;
    solution_.solver = "active_set";
    solution_.message.clear();
    for (solution_.iterations = 1; solution_.iterations <= limit; ++solution_.iterations) {
      if (!solve_guess()) return;
      const Violations found = violations();
      if (found.count == 0 || (patience < 0 && found.worst <= kTie)) return finish();
      if (found.count < fewest) {
        fewest = found.count;
        patience = options_.patience;
      } else {
        --patience;
      }
      if (patience < 0) {
        status_[found.least] = exchanged(found.least);
      } else {
        for (Index i = found.least; i < m; ++i)
          if (violation(i) > kRoundOff) status_[i] = exchanged(i);
      }
    }
    solution_.iterations = limit;
    solution_.status = Status::not_converged;
    solution_.message =
        fmt::format("active_set: {} linear solves did not settle which laws stick; raise max_iterations", limit);
  }

 private:
  struct Violations {
    Index count = 0, least = -1;  // how many, the first
    double worst = 0;
  };

  bool solve_guess() {
    const bool solved = !raised(options_.stop) && kernel_.solve(status_, solution_.r, solution_.u);
    if (raised(options_.stop)) {
      solution_.status = Status::interrupted;
      solution_.message = "active_set: stopped on request";
      return false;
    }
    if (solved) return true;
    const bool data = kernel_.data_finite();
    solution_.status = data ? Status::refused : Status::not_finite;
    solution_.message = data ? kernel_.singular_message() : "active_set: a number of the problem is not finite";
    return false;
  }

  /// Relative to its terms.
  double violation(Index i) const {
    const double r = solution_.r[i], u = solution_.u[i];
    switch (status_[i]) {
      case BoxStatus::between:
        return r < lo_[i] ? (lo_[i] - r) / kernel_.r_size(i) : r > hi_[i] ? (r - hi_[i]) / kernel_.r_size(i) : 0.0;
      case BoxStatus::lower:
        return u < 0 ? -u / kernel_.u_size(i) : 0.0;
      case BoxStatus::upper:
        return u > 0 ? u / kernel_.u_size(i) : 0.0;
      case BoxStatus::fixed:
        break;
    }
    return 0.0;
  }

  Violations violations() const {
    Violations found;
    for (Index i = 0; i < lo_.size(); ++i)
      if (const double size = violation(i); size > kRoundOff) {
        ++found.count;
        found.worst = std::max(found.worst, size);
        if (found.least < 0) found.least = i;
      }
    return found;
  }

  BoxStatus exchanged(Index i) const {
    if (status_[i] != BoxStatus::between) return BoxStatus::between;
    return solution_.r[i] < lo_[i] ? BoxStatus::lower : BoxStatus::upper;
  }

  void finish() {
    for (Index i = 0; i < lo_.size(); ++i) solution_.r[i] = std::min(std::max(solution_.r[i], lo_[i]), hi_[i]);
    solution_.status = kernel_.finish(status_, solution_) ? Status::success : Status::refused;
    if (solution_.status == Status::refused) solution_.message = kernel_.singular_message();
  }

  Kernel& kernel_;
  const Vector& lo_;
  const Vector& hi_;
  std::vector<BoxStatus>& status_;
  const ActiveSetOptions& options_;
  InclusionSolution& solution_;
};

}  // namespace stickslip::box_exchange
