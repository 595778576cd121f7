// SPDX-License-Identifier: Apache-2.0
// The runs that the claims of paper 3 are judged by. Parameters are ours: the paper prints none.
#pragma once

#include <string>
#include <vector>

#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::paper3 {

/// Settings of models/block-on-plane-compliant.toml beyond Test S, which it is.
std::vector<std::string> drop();  ///< Test D: from 5 cm, T = 1
/// angle: of the first facet's normal, in parts of the angle between facets.
std::vector<std::string> cone(int facets, bool circumscribed, double angle = 0);
/// K = k [[1, a, 0], [a, 0.8, 0], [0, 0, 0.8]], C = √(0.8 k), straight slide, T = 1.2.
std::vector<std::string> rigid_limit(double k, double a);

Simulation run_block(std::vector<std::string> settings, double tolerance = 1e-11);
Simulation run_two_contacts(const std::string& integrator, double tolerance);
Simulation run_slider();
/// (q, v, δ_T) at the end.
Vector end_of(const Simulation& run);
/// Largest difference of the ends.
double distance(const Simulation& a, const Simulation& b);

/// Largest |Φ(x) - Φ(y)|/|x - y| over random pairs 1e-8 ... 1e-1 apart, of the block with the settings.
double lipschitz_estimate(const std::vector<std::string>& settings, int pairs);

/// Largest change of velocity and of force between rows h apart, for a list of h: order 1 where both are Lipschitz.
struct Increments {
  std::vector<double> h, velocity, force;
  double velocity_order = 0, force_order = 0;
};
Increments increments(const std::string& scheme);

/// Newton's method with the sensitivities of the run for (px, py)(2) = (0.6, 0.35).
struct ShootingStep {
  double vx = 0, vy = 0, residual = 0;
};
struct Shooting {
  std::vector<ShootingStep> steps;
  bool halved = false;  ///< some step was shortened
};
Shooting shoot(double vx, double vy);

/// Closed form of the slider.
struct SliderOnset {
  double time = 0, jump = 0;
};
SliderOnset slider_onset();

}  // namespace stickslip::paper3
