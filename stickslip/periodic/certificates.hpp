// SPDX-License-Identifier: Apache-2.0
// What is checked of every periodic motion before it is handed out: a small residual proves nothing.
#pragma once

#include <string>
#include <vector>

#include "stickslip/model/system.hpp"
#include "stickslip/periodic/orbit.hpp"
#include "stickslip/periodic/periodic_options.hpp"

namespace stickslip {

struct Certificate {
  std::string name;
  double value = 0, limit = 0;
  bool ok = false;
  std::string meaning;
};

/// Limits of the size of the discretisation: of a weighted residual with a basis of `resolution` functions; 0: of an
/// event orbit, sharp. Laws hold in the mean there: reactions that jump converge like the root of the basis in the mean
/// square, and not at all at the jumps (Gibbs: harmonics overshoot by 9 % of the jump, however many). Excess over cones
/// and pull of contacts are therefore root mean squares over the period of a weighted residual, and largest values of
/// an event orbit; a square wave of height 1 has an excess of 0.32/√H.
struct CertificateLimits {
  double resolution = 0;
  /// Smaller motions are none: what the equations of a weighted residual leave of a displacement. 0: not known [m]
  double smallest = 0;
  double reaction() const { return resolution > 0 ? 2 / std::sqrt(resolution) : 1e-8; }
  double displacement() const { return resolution > 0 ? 4 / resolution : 1e-8; }
};

/// From the rows alone: sign of dissipation at all rows and over the period, normal force, penetration, cone.
void add_law_certificates(const System& system, const Orbit& orbit, const CertificateLimits& limits,
                          std::vector<Certificate>& certificates);

/// The fixed-step scheme from the orbit's first row, over one period, or three where the orbit is stable: distance from
/// the orbit, over its size. `growth`: the largest multiplier, by which unstable orbits are left.
void add_stepping_certificate(const System& system, const Orbit& orbit, double growth, const CertificateLimits& limits,
                              StopRequest stop, std::vector<Certificate>& certificates);

void add_certificate(std::vector<Certificate>& certificates, std::string name, double value, double limit,
                     std::string meaning);

}  // namespace stickslip
