// SPDX-License-Identifier: Apache-2.0
// The chain that every program of this folder moves, and how each is clocked.
//
// N links i = 0 .. N-1: boxes 0.1 x 0.02 x 0.02 m along x, 0.1 kg, centre at (0.05, 0, 0); hinge 0 at the origin, hinge
// i at the end of link i-1; axes y (even i) and z (odd i) of the link. Gravity -9.81 m/s² along z.
//
//   steps      q_i(0) = 0.3 sin(1 + i), at rest; Coulomb limit 0.02 N m in every hinge; 2000 steps of 1 ms
//   dynamics   q_i = 0.3 sin(1 + i), q'_i = 0.5 cos(2 i): accelerations under gravity alone, friction left out
#pragma once

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace chain {

inline constexpr double kLength = 0.1, kWidth = 0.02, kMass = 0.1, kGravity = 9.81;  // m, m, kg, m/s²
inline constexpr double kLimit = 0.02, kStep = 1e-3;                                 // N m, s
inline constexpr int kSteps = 2000;
inline constexpr double kInertiaAlong = kMass * 2 * kWidth * kWidth / 12;
inline constexpr double kInertiaAcross = kMass * (kLength * kLength + kWidth * kWidth) / 12;

inline double position(int i) { return 0.3 * std::sin(1.0 + i); }
inline double velocity(int i) { return 0.5 * std::cos(2.0 * i); }

inline double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Arguments {
  bool steps = true;  ///< false: dynamics
  int n = 6;
  std::string variant;  ///< of the program, may be empty
};

inline Arguments parse(int argc, char** argv) {
  Arguments arguments;
  const std::string what = argc > 1 ? argv[1] : "";
  arguments.steps = what == "steps";
  if (argc > 2) arguments.n = std::atoi(argv[2]);
  if (argc > 3) arguments.variant = argv[3];
  if ((what != "steps" && what != "dynamics") || arguments.n < 1) {
    std::fprintf(stderr, "usage: %s steps|dynamics N [VARIANT]\n", argv[0]);
    std::exit(2);
  }
  return arguments;
}

inline void print(const char* program, const Arguments& arguments, double per_second, double first, double last) {
  std::printf(
      "{\"program\": \"%s\", \"variant\": \"%s\", \"what\": \"%s\", \"n\": %d, \"per_second\": %.6g, \"first\": %.15g, "
      "\"last\": %.15g}\n",
      program, arguments.variant.c_str(), arguments.steps ? "steps" : "dynamics", arguments.n, per_second, first, last);
}

/// Calls per second of evaluate(), best of several batches of about 20 ms.
template <class Evaluate>
double rate_of(Evaluate&& evaluate) {
  constexpr double kBatch = 0.02;
  constexpr int kBatches = 10;
  long calls = 1;
  double best = 0;
  for (int batch = 0; batch < kBatches;) {
    const double start = cpu_seconds();
    for (long k = 0; k < calls; ++k) evaluate();
    const double seconds = cpu_seconds() - start;
    if (seconds < 0.5 * kBatch) {
      calls *= 2;
      continue;
    }
    best = std::max(best, static_cast<double>(calls) / seconds);
    ++batch;
  }
  return best;
}

/// Steps per second of run(), which returns the seconds that its steps took: best of as many runs as fit into half a
/// second, two at least.
template <class Run>
double best_steps_per_second(Run&& run) {
  constexpr double kTime = 0.5;
  double least = HUGE_VAL, sum = 0;
  for (int k = 0; k < 2 || (sum < kTime && k < 100); ++k) {
    const double seconds = run();
    least = std::min(least, seconds);
    sum += seconds;
  }
  return kSteps / least;
}

}  // namespace chain
