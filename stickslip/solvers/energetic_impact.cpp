// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/energetic_impact.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

constexpr int kMostPieces = 8;  // slip, stop, end of compression, end: four occur

}  // namespace

bool solve_planar_energetic(double mu, double restitution, int size, const double* D, const double* u0, double* p) {
  const bool friction = size == 2 && mu > 0;
  double u = u0[0], s = friction ? u0[1] : 0, taken = 0, left = HUGE_VAL;  // left: of the work to give back
  for (int c = 0; c < size; ++c) p[c] = 0;
  bool rebound = false;
  for (int piece = 0; piece < kMostPieces; ++piece) {
    double a = 0;
    if (friction && s != 0) a = s > 0 ? -mu : mu;
    if (friction && s == 0 && D[3] > 0) a = std::clamp(-D[2] / D[3], -mu, mu);
    const bool sticks = friction && s == 0 && std::abs(a) < mu;
    const double ds = friction && !sticks ? D[2] + D[3] * a : 0, du = D[0] + (friction ? D[1] * a : 0);
    double length = HUGE_VAL;
    bool stops = false, turns = false;
    if (s * ds < 0) {
      length = -s / ds;
      stops = true;
    }
    if (!rebound && du > 0 && -u / du <= length) {
      length = -u / du;
      turns = true;
      stops = stops && -s / ds <= length;
    }
    if (rebound) {
      const double root = std::sqrt(std::max(0.0, u * u + 2 * du * left)), end = 2 * left / (u + root);
      if (end <= length) {
        p[0] += end;
        if (size == 2) p[1] += a * end;
        return true;
      }
    }
    if (!(length < HUGE_VAL)) return false;
    const double work = length * (u + 0.5 * du * length);
    p[0] += length;
    if (size == 2) p[1] += a * length;
    u = turns ? 0 : u + du * length;
    s = stops ? 0 : s + ds * length;
    if (rebound) left -= work;
    if (!rebound) taken -= work;
    if (turns) {
      rebound = true;
      left = restitution * restitution * taken;
      if (!(left > 0)) return true;
    }
  }
  return false;
}

}  // namespace stickslip
