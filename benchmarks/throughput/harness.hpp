// SPDX-License-Identifier: Apache-2.0
#pragma once

// The throughput problem that every program of this folder steps, and the one way they are timed.
//
//   M q'' + K q = f(t) + r,     r_i ∈ -c Sgn(q'_i),     i = 0 .. N-1
//
//   N = 2    M = [2 1; 1 2],  K = [2 -1; -1 2]
//   else     M = I,           K = tridiag(-1, 2, -1)
//   f_i = cos(0.7 t + i) N,   c = 0.3 N,   q(0) drawn uniformly from (-5, 5) m,   q'(0) = 0
//
// Reference scheme, θ = 1/2, step h = 0.003 s, force at the end of the step:
//
//   (M + h²θ² K) v⁺ = M v - h K q - h² θ(1-θ) K v + h f(t+h) + h r,     r_i ∈ -c Sgn(v⁺_i)                        (1)
//   q⁺ = q + h (θ v⁺ + (1-θ) v)
//
// The bouncing ball: q'' = -g above q = 0, Newton's impact law with restitution e, step kBallStep.
//
// Every program evaluates f by N calls of std::cos in each step, so that its cost is the same for all of them.

#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace throughput {

inline constexpr double kStep = 0.003;  // h, s
inline constexpr double kTheta = 0.5;   // θ
inline constexpr double kLimit = 0.3;   // c, N

inline constexpr double kBallStep = 0.005;   // h, s
inline constexpr double kBallHeight = 1.0;   // q(0), m
inline constexpr double kGravity = 9.81;     // g, m/s²
inline constexpr double kRestitution = 0.9;  // e

// The draw is reproducible because libstdc++ fixes the distribution's algorithm; the check values depend on it.
inline std::vector<double> initial_positions(int n) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> uniform(-5.0, 5.0);
  std::vector<double> q(n);
  for (double& value : q) value = uniform(engine);
  return q;
}

inline double force(double t, int i) { return std::cos(0.7 * t + i); }

inline double mass(int n, int i, int j) { return n == 2 ? (i == j ? 2.0 : 1.0) : (i == j ? 1.0 : 0.0); }

inline double stiffness(int i, int j) { return i == j ? 2.0 : (std::abs(i - j) == 1 ? -1.0 : 0.0); }

struct Arguments {
  int n = 2;
  long steps = 0;  // 0: the program's own choice for n
  std::string formulation;
};

// Reads --n, --steps, --formulation; the first of `formulations` is the default. A wrong call ends the program with 2.
inline Arguments parse(int argc, char** argv, const std::vector<std::string>& formulations) {
  Arguments arguments;
  arguments.formulation = formulations.front();
  bool valid = argc % 2 == 1;
  for (int k = 1; valid && k + 1 < argc; k += 2) {
    if (std::strcmp(argv[k], "--n") == 0) {
      arguments.n = std::atoi(argv[k + 1]);
    } else if (std::strcmp(argv[k], "--steps") == 0) {
      arguments.steps = std::atol(argv[k + 1]);
    } else if (std::strcmp(argv[k], "--formulation") == 0) {
      arguments.formulation = argv[k + 1];
    } else {
      valid = false;
    }
  }
  bool known = false;
  for (const std::string& name : formulations) known = known || name == arguments.formulation;
  if (!valid || !known || arguments.n < 1 || arguments.steps < 0) {
    std::fprintf(stderr, "usage: %s [--n N] [--steps S] [--formulation", argv[0]);
    for (const std::string& name : formulations) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "]\n");
    std::exit(2);
  }
  return arguments;
}

inline double thread_cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The one JSON line of a program.
inline void print_result(const char* program, const Arguments& arguments, long steps, double seconds, double x0) {
  std::printf(
      "{\"program\": \"%s\", \"formulation\": \"%s\", \"n\": %d, \"steps\": %ld, \"seconds\": %.9g, "
      "\"steps_per_second\": %.6g, \"x0\": %.17g}\n",
      program, arguments.formulation.c_str(), arguments.n, steps, seconds, static_cast<double>(steps) / seconds, x0);
}

// Steps a fresh simulation `steps` times and prints the one JSON line. make() returns a pointer to an object with
// step(t_end), which advances to t_end, and x0(). A tenth of the steps is run before on another simulation, unclocked,
// to warm caches and libraries (none if there are fewer than ten steps). Set-up is not clocked.
template <class Make>
void measure(const char* program, const Arguments& arguments, double step, Make make) {
  {
    auto warm_up = make();
    for (long k = 0; k < arguments.steps / 10; ++k) warm_up->step((k + 1) * step);
  }
  auto simulation = make();
  const double start = thread_cpu_seconds();
  for (long k = 0; k < arguments.steps; ++k) simulation->step((k + 1) * step);
  const double seconds = thread_cpu_seconds() - start;
  print_result(program, arguments, arguments.steps, seconds, simulation->x0());
}

}  // namespace throughput
