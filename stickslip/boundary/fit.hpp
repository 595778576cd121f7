// SPDX-License-Identifier: Apache-2.0
// Numbers of a case from measurements, by least squares:
//
//   minimise  Σ_c Σ_k [ (y_c(t_k; x) - d_ck) w_c ]²  over  min <= x <= max
//
//   d_ck   measured value of column c at t_k;   y_c  what the model has there (measurement.hpp)
//   w_c    weight_c / size of the column at first. Where no sigma and no weights are given and there are several
//          columns, then 1 / (root mean square of what is left of the column), until it stays: each column counts by
//          its noise. With sigma: 1 / sigma_c.
//
// Solved by the Levenberg-Marquardt method (common/least_squares.hpp) on derivatives of the run (segment_slopes.hpp).
//
// Statistics, at the solution with N values and n unknowns:
//
//   covariance       C = s² (JᵀJ)⁻¹,   s² = Σ (..)² / (N - n);  s = 1 where every column has its sigma
//   standard error   sqrt(C_jj)
//
// which is right for independent errors of equal variance within a column and a model that is smooth over a few
// standard errors. Directions in the unknowns that the data do not determine have an infinite error, by name.
//
// The sum of squares of an oscillation has a minimum for every cycle by which model and data are out of step. So the
// time of the data is taken in by and by (`horizons`): with an eighth, a quarter, half and all of it the phase is never
// far off. On the way a change of an unknown by its own size counts like an error as large as what is left, so that
// what a short time does not determine stays where it was. And where `starts` > 0, so many further starts between the
// bounds (without them: between half and twice the start) are tried, and the best of them goes the same way.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stickslip/boundary/measurement.hpp"
#include "stickslip/boundary/unknown.hpp"
#include "stickslip/common/deadline.hpp"
#include "stickslip/motion/case.hpp"

namespace stickslip {

struct FitProblem {
  Case model;
  std::vector<Unknown> unknowns;
  Measurement data;  ///< expressions made with ColumnLayout(model.system(), model.parameters(), unknowns)
};

/// Field names are keys of [fit] in model files.
struct FitOptions {
  double tolerance = 1e-8;  ///< relative change of the unknowns that ends the iteration
  int max_iterations = 50;  ///< of each solution
  int horizons = 4;         ///< 1: all data at once
  int starts = 0;
  StopRequest stop = nullptr;                 ///< heard inside every run
  std::function<void(double)> progress = {};  ///< fraction, roughly; after every run
  void validate() const;
};

struct FitIterate {
  double rms = 0;    ///< of the weighted residuals
  double until = 0;  ///< end of the data taken in [s]
  Vector unknowns;
};

struct FitSolution {
  Status status = Status::success;
  std::string message;
  Vector unknowns;
  Vector standard_errors;          ///< infinite where the data say nothing
  DenseMatrix correlation;         ///< NaN likewise
  double rms = 0;                  ///< of y - d over all values, as they are
  std::vector<double> column_rms;  ///< of each column, in its unit
  double chi_square = 0;           ///< Σ (..)² / (N - n) with the weights used last
  int iterations = 0;              ///< all solutions together
  long runs = 0;
  std::vector<FitIterate> history;
  std::vector<std::vector<double>> model;  ///< y_c(t_k), one list per column
  std::vector<std::string> notes;
};

/// Throws InputError: bounds that exclude the start, keys that the case does not know, fewer values than unknowns,
/// data before the start of the run, unknowns that no column depends on.
FitSolution fit(const FitProblem& problem, const FitOptions& options = {});

}  // namespace stickslip
