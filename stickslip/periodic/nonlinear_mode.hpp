// SPDX-License-Identifier: Apache-2.0
// A nonlinear mode of a structure with friction: frequency and damping of its free decay over the amplitude (extended
// periodic motion).
//
//   M x'' + (B - ξ M) x' + K x = f(x, x') + W r,   laws;   x periodic, ω = 2π/T and ξ unknown
//   D = ξ/(2 ω)                      modal damping ratio: what the dampers and the friction take out in a period is put
//                                    back by -ξ M x', so that the motion repeats itself
//   |X_1,c| = A                      the fundamental of coordinate c has the amplitude A [m]
//
// Excitation by forces of time is left out, their mean stays. Fourier basis of weighted_residual.hpp, all coordinates
// kept; followed from A to A in equal ratios, halved where Newton fails.
//
// Response near the resonance without solving for it: with one mode in the fundamental,
//   (ω² - Ω² + 2 i D ω Ω) X_1ᴴ M X_1 = X_1ᴴ F e^{iθ}                       F: fundamental phasor of the excitation [N]
// so that every amplitude of the mode has up to two frequencies Ω of excitation: response().
//
// Small against large amplitudes: a rigid law sticks altogether below some amplitude, where a mode ends (its damping
// grows without bound); from large amplitudes downwards it is found easily.
//
// Source: M. Krack, J. Sound Vib. 332, 2013 and Comput. Struct. 154, 2015. Departure: set-valued friction by
// projection.
#pragma once

#include <string>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/status.hpp"
#include "stickslip/periodic/weighted_residual.hpp"

namespace stickslip {

/// Keys of periodic.mode.
struct NonlinearModeOptions {
  int number = 1;           ///< of the linear mode it is born from, from 1 by frequency; 0: no mode is asked for
  Index coordinate = -1;    ///< c; -1: the one that moves most in the linear mode
  double from = 0, to = 0;  ///< A, > 0 [m]
  int points = 40;          ///< >= 2
  bool sticking = false;    ///< born from the linear mode with all laws stuck, instead of free
  void validate() const;
};

struct NonlinearModePoint {
  double amplitude = 0;  ///< A
  double omega = 0, damping = 0;
  double modal_mass = 0;   ///< X_1ᴴ M X_1/A² [kg]
  double modal_force = 0;  ///< |X_1ᴴ F|/A [N]
  ComplexVector shape;     ///< X_1/A
  Vector maximum;          ///< half of max - min of every coordinate over the period [m]
  Vector stick_fraction;
  double residual = 0;
};

/// A point of a response curve that is made of the mode.
struct SynthesisedPoint {
  double omega = 0, amplitude = 0;  ///< of the excitation; A
};

struct NonlinearMode {
  Status status = Status::not_converged;
  std::string message;
  Index coordinate = 0;
  double linear_omega = 0;  ///< of the linear mode it is born from
  std::vector<NonlinearModePoint> points;
  /// Ascending in amplitude on the side below the resonance, then descending above it.
  std::vector<SynthesisedPoint> response() const;
};

/// options: harmonics, samples, rho, tolerance of the weighted residual; its period is that of the excitation, whose
/// fundamental F is taken for response(). Throws InputError where the system is not taken, with the reason.
NonlinearMode solve_nonlinear_mode(const System& system, const PeriodicOptions& options, const Vector& q_reference,
                                   const NonlinearModeOptions& mode, StopRequest stop = nullptr);

}  // namespace stickslip
