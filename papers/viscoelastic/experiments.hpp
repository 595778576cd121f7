// SPDX-License-Identifier: Apache-2.0
// The runs that the claims of paper 4 are judged by.
#pragma once

#include <string>
#include <vector>

#include "papers/viscoelastic/skate.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/viscoelastic/epsilon_study.hpp"

namespace stickslip::paper4 {

ModelFile skate_model(const Skate& skate, const SpringDamper& law);
/// Of models/rolling-disc.toml. Wobble: unsteady, psi' = 0.5, theta = 0.2, theta' = 0.1, phi' = 3.
ModelFile disc_model(bool wobble, bool prepared);

/// Convergence of the skate, set B (Λ(0) ≠ 0), over ε/c = 1e-4 ... 1e-8, T = 10.
EpsilonStudy skate_study(double c, double d, double kappa, bool prepared, StopRequest stop = nullptr);

/// Λ - Λ0 of the skate, set B, on the first `length` √ε.
struct Deviation {
  SpringDamper law;
  std::vector<double> t, value;
  double decay = 0;  ///< fitted rate of the envelope [1/s]
};
Deviation layer_deviation(const SpringDamper& law, double length);

/// Largest |Λ - Λ0| per √ε of explicit Euler steps h on the same problem, to T = 40 √ε.
struct EulerRun {
  double d = 0, h = 0;
  std::vector<double> t, value;
  double growth = 0;  ///< last over first
};
EulerRun explicit_euler(double d, double epsilon, double h);

/// Steady disc with prepared start: largest |q - exact| over 3 s.
double steady_disc_error(double epsilon);

/// Evaluations of the right-hand side on the wobbling disc, T = 1, at tolerance 1e-6.
std::vector<EpsilonRun> disc_cost(IntegratorKind integrator, const std::vector<double>& epsilons,
                                  StopRequest stop = nullptr);

/// The disc set down spinning: errors of the time at which it begins to roll and of its final speed.
struct RollingStart {
  std::string scheme;
  double epsilon = 0;  ///< 0: set-valued
  double time_error = 0, speed_error = 0;
};
std::vector<RollingStart> rolling_starts();

}  // namespace stickslip::paper4
