// SPDX-License-Identifier: Apache-2.0
// The periodic motions that the claims of paper 5 are judged by. Numbers of the toy are ours: the paper prints none
// that could be compared.
#pragma once

#include <string>
#include <vector>

#include "papers/papers.hpp"
#include "stickslip/periodic/solve_periodic.hpp"

namespace stickslip::paper5 {

/// f against the closed form of Den Hartog: b, f with their amplitude.
struct Oscillator {
  double b = 0, f = 0, X = 0;
};
inline constexpr Oscillator kSlides{0.8, 0.4, 2.5017878810};  ///< no stop
inline constexpr Oscillator kSticks{0.4, 0.4, 1.1111255139};  ///< two stops per period

PeriodicSolution solve_oscillator(const Oscillator& oscillator, std::vector<std::string> settings, StopRequest stop);
PeriodicSolution solve_toy(std::vector<std::string> settings, StopRequest stop);
PeriodicSolution solve_impacts(double omega, StopRequest stop);
PeriodicSolution solve_bounce(std::vector<std::string> settings, StopRequest stop);
double certificate(const PeriodicSolution& solution, std::string_view name);

/// Outcome of Newton's iteration from the linear response, H = 33, over four oscillators and rho = 0.1, 1, 10, 100.
struct NewtonCount {
  int plain = 0, homotopy = 0, cases = 0, most_iterations = 0;
};
NewtonCount count_newton();

/// Errors of the amplitude of an oscillator over the size of the basis.
struct BasisErrors {
  std::string name;
  std::vector<double> unknowns, error;
  double order = 0;  ///< fitted
};
BasisErrors basis_errors(const Oscillator& oscillator, const std::string& method, const std::vector<int>& sizes,
                         StopRequest stop);

struct Results {
  PeriodicSolution wrong_min, wrong_max, right;  ///< b = 0.8, H = 9: (4), (5), projection
  PeriodicSolution family;                       ///< toy without a condition
  std::vector<PeriodicSolution> members;         ///< toy, slip orbits of two periods
  PeriodicSolution grazing;                      ///< toy: where motions from outside end
  std::vector<double> harmonics, spectral;       ///< toy, prescribed period: errors of its extremes
  PeriodicSolution cycle;                        ///< toy with a static coefficient
  std::vector<int> bounce_harmonics;
  std::vector<double> bounce_error;  ///< relative, of y_max; not finite: it did not converge
  PeriodicSolution bounce;
  PeriodicSolution impacts, impacts_unstable;
  NewtonCount newton;
  std::vector<BasisErrors> sticks, slides;
  std::string refused_pair;
  PeriodicSolution polished_sticks, polished_slides, degenerate;
};

/// False: stopped.
bool run_all(Results& results, const ReproductionProgress& progress);
std::vector<Claim> claims_of(const Results& results);

}  // namespace stickslip::paper5
