// SPDX-License-Identifier: Apache-2.0
// A periodic motion of a system: the weighted residual of the chosen basis, the event orbit that closes to round-off,
// stability, and certificates.
//
//   start      linear response, a run, or an orbit      →   weighted residual (fourier, spline)   →   orbit at samples
//   polish     event orbit from there (event_orbit.hpp): extremes, stick fractions and period are then exact
//   event      from a run or an orbit straight to the event orbit: impacts, static limits, constraints
//   certify    certificates.hpp; what fails one is `rejected`
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stickslip/motion/simulate.hpp"
#include "stickslip/periodic/certificates.hpp"
#include "stickslip/periodic/periodic_options.hpp"

namespace stickslip {

struct PeriodicProblem {
  const System& system;
  State initial;  ///< of a run; position also for scales
  PeriodicOptions options;
  double run_length = 0;  ///< of a run with start_periods = 0; 0: twenty periods [s]
  EventOptions event = {};
  const Orbit* start = nullptr;    ///< with start = file, or to go on from
  Vector start_coefficients = {};  ///< of an earlier solution of the same method and size; empty: none
};

struct PeriodicSolution {
  Status status = Status::not_converged;  ///< audit_failed: rejected by a certificate
  std::string message;
  std::string method;
  Orbit orbit;
  double period = 0;
  Eigen::VectorXcd multipliers;
  Eigen::VectorXcd hill;       ///< the same by Hill's method on the weighted residual (hill.hpp); empty: not computed
  std::optional<bool> stable;  ///< none: not known, or on the border
  double residual = 0;
  int iterations = 0;
  Index unknowns = 0;
  bool polished = false;
  bool family = false;
  Index held = 0, shifts = 0;   ///< positions that are open while the motion is not (indeterminacy.hpp)
  bool reactions_open = false;  ///< laws that share a freedom stick together
  std::vector<Certificate> certificates;
  std::vector<std::string> notes;
  Vector coefficients;  ///< of the weighted residual
  Vector amplitude() const { return orbit.maximum.size() ? Vector(0.5 * (orbit.maximum - orbit.minimum)) : Vector{}; }
};

/// "success", "rejected", "not converged", ...
std::string_view periodic_status_name(Status status);

struct PeriodicHooks {
  StopRequest stop = nullptr;
  std::function<void(double fraction)> progress;
  bool certify = true;  ///< false: neither certificates nor a second basis (points of a branch)
};

/// Throws InputError: nothing depends on time and autonomous is not set; something does and it is; the period does not
/// fit the forcing.
void require_periodic(const System& system, const PeriodicOptions& options, const State& state);

/// Bad input throws InputError; a numerical outcome is a status, with what was found kept.
PeriodicSolution solve_periodic(const PeriodicProblem& problem, const PeriodicHooks& hooks = {});

/// From multipliers: all inside the unit circle, but for `neutral` ones at 1: that along an autonomous motion, and
/// those of positions that laws are held at or that nothing refers to.
std::optional<bool> stability(const Eigen::VectorXcd& multipliers, Index neutral);

/// The last period of a run, as an orbit; autonomous: the period is that after which the motion comes back. The message
/// is empty, or says why there is none.
std::string orbit_of_run(const PeriodicProblem& problem, StopRequest stop, Orbit& orbit);

}  // namespace stickslip
