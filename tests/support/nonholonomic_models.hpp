// SPDX-License-Identifier: Apache-2.0
// Ready-made systems that roll and skate, so that nobody has to derive their equations. The same as files:
// models/*.toml.
//
//   auto system = make_system(rolling_disc({.m = 2, .r = 0.4}));
//   State start;                                   // q and v in the order of the coordinates
//   start.q = ...; start.v = ...;                  // v on the constraints: simulate() refuses what is not
//   Simulation run = simulate(*system, start, options);
//
// Coordinates and constraints, all nonholonomic unless said otherwise (SI units, angles in rad):
//   skate            u1, u2, phi              blade: no velocity across the blade; u1 points down the slope
//   sleigh           x, y, phi of the blade   blade; centre of mass at a ahead of it
//   rolling_disc     X, Y, psi, theta, phi    along, across: the contact point rests; centre, heading, lean from the
//                                             vertical, spin
//   rolling_sphere   x, y, psi, theta, phi    along_x, along_y: rolls on a table that turns; Euler angles z-x-z,
//   singular
//                                             where sin(theta) = 0
//   steered_wheel    x, y, psi, delta         rear, front; delta: steering angle, free unless a constraint holds it
//   trailer          x, y, psi, theta, delta  rear, front, trailer; hitch on the rear axle
#pragma once

#include "stickslip/model/equation_model.hpp"

namespace stickslip {

struct SkateParameters {
  double m = 1, J = 1;         ///< [kg, kg m²]
  double g = 9.81, slope = 0;  ///< [m/s², rad]
};
EquationModel skate(const SkateParameters& p = {});

struct SleighParameters {
  double m = 1, J = 1;  ///< J about the centre of mass
  double a = 0.3;       ///< from the blade to the centre of mass [m]
};
EquationModel sleigh(const SleighParameters& p = {});

struct DiscParameters {
  double m = 1, r = 1;
  double I1 = 0.25, I3 = 0.5;  ///< about a diameter and about the axis; m r²/4 and m r²/2 for a uniform disc [kg m²]
  double g = 9.81;
};
EquationModel rolling_disc(const DiscParameters& p = {});

struct SphereParameters {
  double m = 1, a = 0.1, I = 0.004;  ///< radius, 2/5 m a²
  double table_rate = 0;             ///< of the table about the origin [rad/s]
};
EquationModel rolling_sphere(const SphereParameters& p = {});

struct VehicleParameters {
  double m = 1200, J = 1500;  ///< J about the vertical at the centre of mass
  double Js = 2;              ///< of the steered wheels about their vertical axis
  double b = 1.2, L = 2.6;    ///< from the rear axle to the centre of mass and to the front axle [m]
};
/// `steering`: angle as an expression of t, held by a holonomic constraint "steering"; empty: free.
EquationModel steered_wheel(const VehicleParameters& p = {}, const std::string& steering = "");

struct TrailerParameters {
  double m = 300, J = 200, l = 2.2;  ///< centre of mass on its axle, at l behind the hitch [m]
};
EquationModel trailer(const VehicleParameters& car = {}, const TrailerParameters& p = {},
                      const std::string& steering = "");

}  // namespace stickslip
